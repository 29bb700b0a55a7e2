// The footer of a sealed segment: a hint per record, so that opening needs no data.
//
// Layer:   storage.
// Format:  docs/format.md, "Footer".
// Threads: FooterBuilder on the log writer's; the rest plain functions.

#pragma once

#include "core/base/digest.h"
#include "storage/format.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

inline constexpr std::size_t kFooterHeaderBytes = 72;
inline constexpr std::size_t kHintBytes = 48;
inline constexpr std::size_t kTrailerBytes = 24;

/// What a footer, or a scan in its place, knows of one record.
struct Hint {
    RecordKind kind = RecordKind::version;
    Hash128 key;
    TypeId type;
    Method method = Method::put;
    Erase::Scope scope = Erase::Scope::everything;
    bool deletion = false;
    VersionNumber version;
    Instant instant;
    Position position;         ///< of an erase: that of the next version
    std::uint64_t offset = 0;  ///< in the file
    std::uint32_t size = 0;    ///< with padding
    std::span<const std::uint64_t> terms;
};

/// The hint of `record`, without its place. Lifetime: the terms are the record's.
inline Hint hint_of(const Record& record, TypeId type, const Hash128& key) noexcept {
    Hint hint;
    hint.kind = record.kind;
    hint.key = key;
    hint.type = type;
    hint.method = record.method;
    hint.scope = record.scope;
    hint.deletion = record.deletion;
    hint.version = record.version;
    hint.instant = record.instant;
    hint.terms = record.terms;
    return hint;
}

/// Collects hints while a segment fills and makes its footer.
class FooterBuilder {
  public:
    explicit FooterBuilder(Position first_position) : first_position_(first_position) {}

    /// Adds the hint of the next record of the segment, in the order of the records, with its own copy of the terms.
    /// Requires: room for it, as SegmentWriter::fits() says, and `hint.offset` below 32 GiB.
    void add(const Hint& hint);

    /// Size of footer and trailer if built now.
    std::uint64_t bytes() const noexcept;

    /// Upper bound of what `records` more records without terms add to bytes().
    static std::uint64_t bytes_for(std::uint64_t records) noexcept;

    /// Footer and trailer for a segment whose frames end at `offset`.
    std::string build(std::uint64_t offset, Instant last_instant, std::uint64_t salt) const;

  private:
    std::uint16_t type_index(TypeId type);
    std::uint64_t dead_bytes() const;

    Position first_position_;
    std::string hints_;
    std::vector<std::uint64_t> terms_;
    std::vector<TypeId> types_;
    std::string type_table_;
    std::uint64_t versions_ = 0;
    std::uint64_t erases_ = 0;
    std::uint64_t first_versions_ = 0;
};

struct Segment;

/// A footer, read in place from its segment's mapping or unpacked from it.
class FooterReader {
  public:
    /// Finds and verifies the footer of the segment `bytes` (the whole file).
    /// Errors: corrupt (no whole footer), usage (a resource type that this program doesn't know).
    static Result<FooterReader> open(std::string_view bytes, const SegmentHeader& header);

    /// As open(), for a segment that may be packed.
    static Result<FooterReader> open(const Segment& segment);

    std::uint64_t offset() const noexcept { return offset_; }  ///< where the frames end

    std::uint64_t versions() const noexcept { return versions_; }

    std::uint64_t erases() const noexcept { return erases_; }

    std::uint64_t first_versions() const noexcept { return first_versions_; }

    Instant last_instant() const noexcept { return last_instant_; }

    /// Calls `f(const Hint&)` for each record in order.
    template <typename F>
    void for_each(F&& f) const {
        std::size_t terms = 0;
        for (std::uint64_t i = 0; i < versions_ + erases_; ++i) {
            const Hint hint = at(i, terms);
            terms += hint.terms.size();
            f(hint);
        }
    }

  private:
    FooterReader() = default;
    static Result<FooterReader> parse(std::string_view footer, std::uint64_t offset,
                                      const SegmentHeader& header);
    std::string_view fault_of_hints() const;
    Hint at(std::uint64_t index, std::size_t terms_before) const noexcept;

    Position first_position_;
    std::uint64_t offset_ = 0;
    std::uint64_t versions_ = 0;
    std::uint64_t erases_ = 0;
    std::uint64_t first_versions_ = 0;
    Instant last_instant_;
    std::vector<TypeId> types_;
    const char* hints_ = nullptr;
    std::span<const std::uint64_t> terms_;
    std::shared_ptr<const std::string> unpacked_;
};

}  // namespace annals::storage
