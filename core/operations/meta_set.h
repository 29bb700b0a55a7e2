// Meta as sets: tags and security labels by system and code, profiles by URL.
//
// Layer:   core/operations.
// Spec:    FHIR R4 resource.html#Meta, resource-operation-meta-add.html, resource-operation-meta-delete.html.
// Threads: plain functions and values.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace annals::core {

inline constexpr std::size_t kMetaChangeMax = 10'000;  ///< profiles, tags or labels in a change
inline constexpr std::size_t kMetaUnionMax = 10'000;   ///< different ones in a union
inline constexpr std::size_t kMetaUnionBytesMax = 16 << 20;

enum class MetaChange : std::uint8_t { add, remove };

/// The JSON of `meta` with the profiles, tags and labels of `change` added or removed; none if nothing changes.
/// Everything else stays as it is. Errors: structure (`change` is not a Meta, as far as it is read here); too_costly (more than
/// kMetaChangeMax of one kind).
Result<std::optional<std::string>> change_meta(json::Value meta, json::Value change,
                                               MetaChange what);

/// The union of several.
class MetaUnion {
  public:
    /// Errors: too_costly (more than kMetaUnionMax different values, or kMetaUnionBytesMax).
    Result<void> add(json::Value meta);

    /// A Meta with all values, ordered by URL, system and code.
    std::string json() const;

  private:
    // Profiles, security labels and tags: key to JSON.
    std::array<std::map<std::string, std::string>, 3> sets_;
    std::size_t size_ = 0;   ///< of all of them
    std::size_t bytes_ = 0;  ///< of their JSON
};

}  // namespace annals::core
