// The components that the paths of the OpenAPI document refer to.
//
// Layer:   core.
// Spec:    OpenAPI 3.1.0, "Components Object".
// Threads: plain functions; a SearchComponents belongs to one thread.

#pragma once

#include "core/base/text_map.h"
#include "core/config/config.h"
#include "core/search/parameters.h"

#include <string>

namespace annals::core {

/// The search parameters. Those with the same name and kind are shared by all types that have them.
class SearchComponents {
  public:
    /// The key of `parameter` in components/parameters; adds it if it is new.
    const std::string& key(const search::Parameter& parameter);

    /// The members of components/parameters.
    const std::string& json() const noexcept { return json_; }

  private:
    TextMap<std::string> keys_;  // by code and kind
    TextSet<> taken_;
    std::string json_;
};

/// components: parameters, requestBodies, responses, schemas and securitySchemes.
std::string openapi_components(const SearchComponents& parameters, const Config& config);

/// The "security" of an operation, a list of alternatives. `everybody`: it needs no credentials.
std::string openapi_security(const Config& config, bool everybody);

}  // namespace annals::core
