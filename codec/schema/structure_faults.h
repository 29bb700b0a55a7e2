// StructureFaults: messages about what is wrong with a resource's structure, and where.
//
// Layer:   codec, inside codec/schema.
// Threads: one thread.

#pragma once

#include "codec/json/document.h"
#include "codec/schema/structure.h"
#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace annals::schema {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// The most bytes of a name or a wrong value that a message shows.
inline constexpr std::size_t kShownMax = 80;

/// The position of a value in the object around it.
struct Site {
    std::uint32_t key = kNone;       ///< node; none: it is the object itself
    std::uint32_t position = kNone;  ///< in the array, if it is in one
};

/// An object that is being walked, and its position.
struct Place {
    const Place* parent;
    Site site;
    std::uint32_t index;  ///< node
};

/// The position of a value: the object around it (null: the outermost resource), and its site in that.
struct Spot {
    const Place* place;
    Site site;
};

/// The faults of one resource, in the order they are found. Lifetime: `tree` and `prefix` outlive it.
class StructureFaults {
  public:
    /// `prefix` begins the expressions; if it is empty, the resource's type does.
    StructureFaults(const json::Tree& tree, const StructureRules& rules,
                    std::string_view prefix) noexcept
        : tree_(tree), as_stored_(rules.as_stored), prefix_(prefix) {}

    /// Sets the name of the resource's type. Lifetime: as for `prefix`.
    void name_resource(std::string_view name) noexcept {
        prefix_ = prefix_.empty() ? name : prefix_;
    }

    /// True if kFaultsMax were reported: further ones are dropped.
    bool are_enough() const noexcept { return enough_; }

    /// `below`: a member of the value at `spot`.
    void report(Spot spot, Errc code, std::string detail, std::string_view below = {});

    /// The value `index` is not `expected` ("an object", "an array"...), or it is, but empty.
    void report_kind(Spot spot, std::uint32_t index, std::string_view expected);

    /// The value `index` is not a `type`. Ignored if the server will replace the value.
    void report_primitive(Spot spot, std::uint32_t index, std::uint16_t type);

    /// Errors: the first fault, with all others; success if there is none.
    Result<void> take();

  private:
    bool is_given_by_server(Spot spot) const;
    std::string_view name_at(std::uint32_t key) const;
    void append_site(std::string& expression, Site site) const;
    void append_place(std::string& expression, const Place* place) const;

    const json::Tree& tree_;
    const bool as_stored_;
    std::string_view prefix_;
    bool enough_ = false;
    std::vector<Error> faults_;
};

}  // namespace annals::schema
