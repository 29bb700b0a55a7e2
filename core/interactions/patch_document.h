// A patch as a request or a bundle's entry brings it: which format it has, and what it makes of a version.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#patch, fhirpatch.html; RFC 6902; docs/api/patch.md.
// Threads: plain values; parses with the calling thread's parser.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "core/config/config.h"
#include "core/exchange.h"

namespace annals::core {

/// What a PATCH takes, for Accept-Patch.
inline constexpr std::string_view kPatchTypes =
    "application/json-patch+json, application/fhir+json, application/fhir+xml";

/// A patch, parsed once and applied to as many versions as it takes.
class PatchDocument {
  public:
    /// Reads the body of `request` by its Content-Type: a JSON Patch, or FHIR JSON: Parameters that are a FHIRPath
    /// Patch. Errors: unsupported_media (another Content-Type, or none), invalid.
    Result<void> read(const Request& request);

    /// The resource that the patch makes of the stored `body`; not validated.
    ///
    /// Errors: processing (a test failed); invalid: anything else that is wrong with the patch, also if it
    ///         would change resourceType, id, meta.versionId or meta.lastUpdated.
    Result<json::Document> apply(const Config& config, std::string_view body) const;

  private:
    enum class Format : std::uint8_t { json_patch, fhirpath_patch };

    Format format_ = Format::json_patch;
    json::Document document_;
};

/// What a fault of a resource is to a client that did not send it, but a patch or what else makes it of the one before:
/// not its body is wrong, but what it would leave. The 400s of a PUT become business_rule (422), all else stays.
Error fault_of_patched(Error error);

}  // namespace annals::core
