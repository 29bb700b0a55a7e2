// Values: the index entries of one value of a resource, by its data type and the type of the parameter.
//
// Layer:   core/search, inside extraction; sorting and queries for URIs share some of it.
// Spec:    FHIR R4 search.html; docs/search.md, "What a resource can be found by".
// Threads: a ValueWriter belongs to one thread.

#pragma once

#include "codec/json/document.h"
#include "core/search/ranges.h"
#include "core/search/terms.h"
#include "core/search/value_kind.h"
#include "storage/search_entries.h"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace annals::core::search {

class Container;

/// The columns of one parameter, computed once.
struct Columns {
    explicit Columns(Column of) noexcept;

    Column column;
    Column text;
    Column units;
    Column identifier;
    Column latitude;
    Column longitude;
    Term present;
};

/// The entries of the two components of a composite for one element, until they are combined.
struct Pairs {
    explicit Pairs(Column of) noexcept : columns(of) {}

    /// A code of the token component. Lifetime of the texts: until the walk over the resource ends.
    struct Key {
        TextHash system_hash;
        TextHash code_hash;
        std::string_view code;
        std::string_view system;
        std::string copy;  ///< of both, if they can't point into the resource
    };

    Columns columns;       ///< of the composite
    std::deque<Key> keys;  ///< the first key_count are used; the others keep their memory
    std::size_t key_count = 0;
    /// The entries of the other component, in the composite's columns. An interval's column is 1 + the index of its
    /// unit among the texts, or 0 without a unit.
    storage::SearchEntries values;
    bool has_key = false;  ///< the key component has any value
    bool has_value = false;
};

/// A parameter that a value is indexed for.
struct Use {
    const Columns* columns = nullptr;
    std::optional<TypeId> refers_to;  ///< for a reference: only if it leads to this type
    Pairs* pairs = nullptr;           ///< set for a composite, whose `columns` these are
    bool is_key = false;              ///< for its key component
};

/// Limits of one version's entries; what exceeds them can't be found. A member of a Group takes a link and at most four terms.
inline constexpr std::size_t kTermsMax = 250'000;
inline constexpr std::size_t kIntervalsMax = 250'000;
inline constexpr std::size_t kLinksMax = 250'000;
inline constexpr std::size_t kTextBytesMax = 1 << 20;
/// A longer uri is only found as a whole, not by a part of it.
inline constexpr std::size_t kUriBytesMax = 1000;
/// Keys, and values, of one element for a composite.
inline constexpr std::size_t kPairedMax = 100;

/// The parts of a reference's text.
struct ReferenceText {
    std::optional<TypeId> type;    ///< of Type/id, whatever precedes it
    std::string_view local;        ///< Type/id, relative or below the base URL; else empty
    std::string_view unversioned;  ///< without /_history/n
    bool versioned = false;
};

ReferenceText read_reference(std::string_view text, std::string_view base_url) noexcept;

/// The smallest and the largest value of a SampledData.
struct SampledBounds {
    double low = 0;
    double high = 0;
};

/// None if it has no values or no origin.
std::optional<SampledBounds> sampled_bounds(json::Value sampled);

class ValueWriter {
  public:
    /// `seed` and `base_url`: as for Extractor. `zone`: of dates without a time zone; null: UTC. Lifetime: it outlives this.
    ValueWriter(std::uint64_t seed, std::string base_url, const TimeZone* zone);

    /// Begins a resource: the entries of its values go to `entries`. `container`: where its references `#id` are resolved.
    void begin(Container& container, storage::SearchEntries& entries) noexcept {
        container_ = &container;
        out_ = &entries;
    }

    /// Writes the entries of `value` for each of `uses`. `system`: of a bare code, or empty.
    void write(ValueKind kind, json::Value value, std::span<const Use> uses,
               std::string_view system);

    /// The same for a computed value; only kinds *_text and token_boolean.
    void write(ValueKind kind, std::string_view text, std::span<const Use> uses,
               std::string_view system);

    /// Writes what `pairs` has collected for an element, each key with each value, and clears it.
    void write(Pairs& pairs);

    /// Whether a `presence` was written since the last call.
    bool take_presence() noexcept { return std::exchange(presence_, false); }

  private:
    static constexpr std::size_t kScratch = 6;

    std::string_view text_of(json::Value value, std::size_t scratch);
    void term(Term term);
    void term(const Use& use, Term term);
    void key(Pairs& pairs, std::string_view system, std::string_view code, TextHash system_hash,
             TextHash code_hash);
    void terms_present(std::span<const Use> uses);
    void interval(Column column, std::int64_t low, std::int64_t high);
    void interval(const Use& use, std::int64_t low, std::int64_t high);
    void interval(std::span<const Use> uses, std::int64_t low, std::int64_t high);
    void link(const Use& use, std::uint64_t target);
    void text(Column column, std::string_view text);
    void text(const Use& use, Column column, std::string_view text);
    void with_key(const Pairs::Key& key, Pairs& pairs);
    void folded_text(std::string_view text, std::span<const Use> uses, Column Columns::* column);
    void bare_code(std::string_view code, std::span<const Use> uses, Column Columns::* column);
    void coded(std::optional<std::string_view> system, std::string_view code,
               std::span<const Use> uses, Column Columns::* column);

    void coding(json::Value value, std::span<const Use> uses);
    void concept_codes(json::Value value, std::span<const Use> uses);
    void identifier(json::Value value, std::span<const Use> uses, Column Columns::* column);
    void contact(json::Value value, std::span<const Use> uses);
    void string_value(std::string_view text, std::span<const Use> uses);
    void string_parts(json::Value value, std::span<const Use> uses,
                      std::span<const std::string_view> parts);
    void string_display(json::Value value, std::string_view member, std::span<const Use> uses);
    void reference(json::Value value, std::span<const Use> uses);
    /// The key of a local reference's target.
    std::uint64_t key_of(const ReferenceText& target) const;
    void reference_text(std::string_view text, const ReferenceText& target, std::uint64_t key,
                        std::span<const Use> uses);
    /// Adds a link to whatever has the url.
    void canonical(std::string_view text, std::span<const Use> uses);
    void reference_resource(json::Value value, std::span<const Use> uses);
    /// From the beginning of the start to the end of the end. None if it has neither, or ends before it starts.
    std::optional<Range> period_range(json::Value period);
    void period(json::Value value, std::span<const Use> uses);
    void timing(json::Value value, std::span<const Use> uses);
    void date(std::string_view text, std::span<const Use> uses);
    void number_bounds(json::Value value, std::span<const Use> uses);

    /// The members of a Quantity.
    struct QuantityParts {
        json::Value value;
        json::Value comparator;
        json::Value unit;
        json::Value system;
        json::Value code;
    };

    QuantityParts parts_of(json::Value quantity);
    /// `system\x1Fcode\x1Funit` of a Quantity, in unit_.
    std::string_view unit_of(const QuantityParts& quantity);
    void in_unit(std::string_view unit, std::int64_t low, std::int64_t high,
                 std::span<const Use> uses);
    void quantity(json::Value value, std::span<const Use> uses);
    void money(json::Value value, std::span<const Use> uses);
    void quantity_range(json::Value value, std::span<const Use> uses);
    void sampled(json::Value value, std::span<const Use> uses);
    void position(json::Value value, std::span<const Use> uses);

    std::uint64_t seed_;
    std::string base_url_;
    Container* container_ = nullptr;
    storage::SearchEntries* out_ = nullptr;
    bool presence_ = false;
    std::array<std::string, kScratch> scratch_;
    std::string unit_;
    std::string column_text_;
    std::string folded_;
    const TimeZone* zone_;
};

}  // namespace annals::core::search
