// The parts of the OpenAPI document that its paths refer to.
//
// Layer:   core.
// Spec:    OpenAPI 3.1.0, "Components Object".
// Threads: plain functions; SearchComponents belongs to its maker.

#pragma once

#include "core/config/config.h"
#include "core/search/parameters.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace annals::core {

/// Search parameters, of which many types share one: same name, same kind.
class SearchComponents {
  public:
    /// The key below components/parameters.
    const std::string& key(const search::Parameter& parameter);

    /// Members of components/parameters.
    const std::string& json() const noexcept { return json_; }

  private:
    std::unordered_map<std::string, std::string> keys_;  // by code and kind
    std::unordered_set<std::string> taken_;
    std::string json_;
};

/// components: parameters, requestBodies, responses, schemas and securitySchemes.
std::string openapi_components(const SearchComponents& parameters, const Config& config);

/// "security" of what needs credentials, and of what doesn't: alternatives.
std::string openapi_security(const Config& config, bool everybody);

}  // namespace annals::core
