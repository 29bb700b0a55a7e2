// A patch in a request or in a bundle's entry: its format, and applying it to a version.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#patch, fhirpatch.html; RFC 6902; docs/api/patch.md.
// Threads: plain values; parses with the calling thread's parser.

#pragma once

#include "codec/json/document.h"
#include "codec/patch/edit_tree.h"
#include "core/base/result.h"
#include "core/config/config.h"
#include "core/exchange.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace annals::core {

struct Unfinished;

/// The formats that PATCH accepts, for Accept-Patch.
inline constexpr std::string_view kPatchTypes =
    "application/json-patch+json, application/fhir+json, application/fhir+xml";

/// A patch, parsed once and applied as often as necessary. Copies share what was parsed.
class PatchDocument {
  public:
    /// Reads the body of `request` by its Content-Type: a JSON Patch, or Parameters in FHIR JSON (a FHIRPath
    /// Patch). Errors: unsupported_media (another Content-Type, or none), invalid.
    Result<void> read(const Request& request);

    /// The stored `body` with the patch applied; not validated.
    ///
    /// Errors: processing (a test failed); invalid: anything else that is wrong with the patch, including a
    /// change of resourceType, id, meta.versionId or meta.lastUpdated; a meaningless one if `unfinished.any()`.
    Result<json::Document> apply(const Config& config, std::string_view body,
                                 Unfinished& unfinished) const;

  private:
    enum class Format : std::uint8_t { json_patch, fhirpath_patch };

    Result<std::string> apply_to(json::Value before, const patch::Limits& limits) const;

    /// The text of `before`, the parsed `body`, with the patch applied.
    Result<std::string> patched(json::Value before, std::string_view body, patch::Limits limits,
                                Unfinished& unfinished) const;

    Format format_ = Format::json_patch;
    std::shared_ptr<const json::Document> document_;  ///< the worker's, too
};

/// Converts a fault of a resource that was not sent but computed, as by a patch: the client's body is not at fault, but
/// what it would result in. The 400s of a PUT become business_rule (422); other errors are unchanged.
Error fault_of_patched(Error error);

}  // namespace annals::core
