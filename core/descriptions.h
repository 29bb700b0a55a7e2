// Descriptions: the CapabilityStatement, the TerminologyCapabilities and the OpenAPI document of the server.
//
// Layer:   core.
// Spec:    FHIR R4 capabilitystatement.html, terminologycapabilities.html; OpenAPI 3.1; docs/api/metadata.md, docs/api/openapi.md.
// Threads: every member from any thread.

#pragma once

#include "core/base/ids.h"
#include "core/config/config.h"
#include "core/exchange.h"
#include "core/packages/package.h"
#include "core/search/parameters.h"
#include "storage/types.h"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

class Definitions;
class Service;

/// What a description is made from.
struct Described {
    const Config& config;
    const search::ParameterSet& parameters;
    const std::vector<packages::PackagePointer>& packages;
    Instant started;
    const Definitions& definitions;
};

/// Placeholder for {base_url} inside JSON strings, in the texts that makers return.
inline constexpr char kBaseUrlMark = '\x01';

/// The same, with the scheme of a websocket: ws for http, wss for https.
inline constexpr char kWebsocketBaseMark = '\x02';

/// Each is made once, and again when search parameters, packages or the code systems in it have changed; the rest of the
/// configuration is constant while the server runs.
class Descriptions {
  public:
    struct Description {
        std::string text;
        VersionNumber etag;
    };

    using Pointer = std::shared_ptr<const Description>;

    /// Lifetime: `service` outlives it.
    explicit Descriptions(const Service& service) : service_(service) {}

    Pointer capability_statement(std::string_view base_url) const;
    Pointer openapi(std::string_view base_url) const;

    /// `stored`: includes the stored code systems, for callers that may know of them; waits for the device if need be.
    Pointer terminology_capabilities(std::string_view base_url, bool stored) const;

  private:
    using Maker = std::string (*)(const Described&);

    struct Kept {
        std::shared_ptr<const search::ParameterSet> parameters;  ///< that it was made from
        std::size_t packages = 0;      ///< their number; packages are never removed
        storage::Totals code_systems;  ///< of those that are stored
        std::string unbased;           ///< with marks
        std::string base_url;
        Pointer description;  ///< for base_url
    };

    Pointer get(Kept& kept, Maker make, std::string_view base_url,
                const storage::Totals& code_systems = {}) const;

    const Service& service_;
    mutable std::mutex mutex_;
    mutable Kept statement_;            // guarded by mutex_
    mutable Kept openapi_;              // guarded by mutex_
    mutable Kept whole_terminology_;    // guarded by mutex_
    mutable Kept carried_terminology_;  // guarded by mutex_
};

/// Returns `unbased` with `base_url` in place of the marks.
std::string with_base_url(std::string_view unbased, std::string_view base_url);

}  // namespace annals::core
