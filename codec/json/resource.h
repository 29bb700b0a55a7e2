// What storing a FHIR resource needs from its JSON: its identity, the places of id and meta, its references.
//
// Layer:   codec; depends on core/base only.
// Spec:    FHIR R4 resource.html, json.html, http.html#trules.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "core/base/body_piece.h"
#include "core/base/instant.h"
#include "core/base/resource_types.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::json {

/// The facts of one resource inside a Document, found in one walk over its top level.
///
/// Lifetime: views and Values point into the Document; views of strings that had escapes into `resolved`.
struct ResourceFacts {
    Value resource;
    TypeId type;
    /// With escapes resolved; not checked otherwise.
    std::optional<std::string_view> id;
    Value meta;                                    ///< missing, or an object
    std::optional<std::string_view> version_id;    ///< meta.versionId, as `id`
    std::optional<std::string_view> last_updated;  ///< meta.lastUpdated, as `id`
    /// What these three point into if they have escapes.
    std::shared_ptr<const std::array<std::string, 3>> resolved;

    // Their places; missing if absent.
    Value type_value;
    Value id_value;
    Value version_value;
    Value updated_value;
};

/// Reads the facts of `resource`.
///
/// Errors: structure (no object; resourceType, id, meta, versionId or lastUpdated of the wrong JSON kind,
///         null included), required (no resourceType), value (a resourceType that R4 does not have); each with
///         `expression`.
Result<ResourceFacts> read_facts(Value resource);

/// A replacement of the bytes of one value, for rewriting references.
struct Edit {
    std::uint32_t begin = 0;  ///< offsets into Document::text()
    std::uint32_t end = 0;
    std::string text;  ///< the new bytes (of a string: with its quotes)
};

/// The final body of a version as pieces over the document's text: `id` set, meta.versionId and
/// meta.lastUpdated left to the store or, where given, text; `edits` (ascending, disjoint, outside of id and
/// meta.versionId/lastUpdated) applied; everything else verbatim. Existing members keep their place; otherwise
/// id follows resourceType, meta follows id, versionId is first in meta and lastUpdated follows it.
///
/// Lifetime: the pieces point into the document, `id`, `keep` and `edits`.
class BodyPlan {
  public:
    struct Keep {
        std::optional<std::string_view> version;       ///< digits
        std::optional<std::string_view> last_updated;  ///< FHIR instant text
    };

    BodyPlan(const ResourceFacts& facts, std::string_view id, const Keep& keep,
             std::span<const Edit> edits = {});

    const std::vector<BodyPiece>& pieces() const noexcept { return pieces_; }

  private:
    std::vector<BodyPiece> pieces_;
};

/// A string inside a resource that may name another resource.
struct ReferenceSite {
    enum class Kind : std::uint8_t {
        reference,  ///< Reference.reference: literal, relative, conditional, urn:
        uri,        ///< a value of uri or url type by its element name (valueUri, valueUrl, ...)
        narrative,  ///< text.div: contains a@href or img@src
    };
    Kind kind = Kind::reference;
    Value value;             ///< the string
    std::uint32_t path = 0;  ///< node index, for expression_of()
};

/// Finds every place in the resource, contained resources included, at which http.html#trules demands that links be
/// rewritten, in text order: Reference.reference and the uri elements of that name; links of narratives; and
/// elements of type uri and url as far as names alone, without a schema, identify them:
/// - valueUri, valueUrl (extensions, parameters, inputs and outputs);
/// - names that R4 uses for nothing else: instantiatesUri, definitionUri, derivedFromUri,
///   authorizationUrl, onlineInformation, rendering, policy, endpoint (the last two when strings);
/// - `url` of an Attachment: an object that has only members of Attachment and is not an extension.
/// Never canonicals (profile, instantiatesCanonical...), nor elements that name a thing rather than link to one:
/// system, the url of an extension or definition, identifier values, meta.source, implicitRules, fullUrl. Nor valueOid
/// and valueUuid, which #trules names as well: neither type can have "Patient/1" as a value.
void find_references(Value resource, std::vector<ReferenceSite>& sites);

/// The FHIRPath-like name of a value's place: Patient.name[0].family; of a resource inside a Bundle when
/// `resource` is the Bundle: Bundle.entry[3].resource.id. Walks the document; for errors.
std::string expression_of(Value resource, std::uint32_t node_index);

}  // namespace annals::json
