// SearchRun: an immutable, sorted piece of the search index of one resource type.
//
// The search index of a type is a log-structured merge tree: each batch of commits brings a small run, runs of
// like size are merged, and a reader looks into all of them. A document is one version; the documents of a run
// ascend by position.
//
// Layer:   storage.
// Memory:  flat sorted arrays, and compressed bitmaps (CRoaring) for what many documents have; bytes() counts.
// Threads: immutable but for when documents died, one atomic for each document; from any thread.

#pragma once

#include "core/base/ids.h"
#include "storage/search_entries.h"

#include <roaring/roaring.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace annals::storage {

/// The documents that have something in common, ascending: a list or a bitmap. Lifetime: of the run.
struct Postings {
    std::span<const std::uint32_t> list;       ///< if `bitmap` is null
    const roaring_bitmap_t* bitmap = nullptr;  ///< else this

    std::uint32_t size() const noexcept;
    bool contains(std::uint32_t document) const noexcept;
};

/// One interval of one document.
struct DocumentInterval {
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::uint32_t document = 0;
};

/// Thirty-two days in microseconds: longer intervals are kept apart, so that those that reach into a stretch are
/// found near it.
inline constexpr std::int64_t kShortSpan = 32LL * 24 * 3600 * 1'000'000;

/// The intervals of one column. A document may have several. Lifetime: of the run.
struct IntervalColumn {
    /// Ascending by low, those of at most kShortSpan; arrays of one size.
    std::span<const std::int64_t> low;
    std::span<const std::int64_t> high;
    std::span<const std::uint32_t> document;
    /// Ascending by low, the longer ones, open ends included.
    std::span<const DocumentInterval> longer;
    /// All of them again, ascending by document: what one document has is found by a binary search.
    std::span<const DocumentInterval> by_document;

    /// The intervals of a document.
    std::span<const DocumentInterval> of(std::uint32_t document) const noexcept;
};

struct DocumentLink {
    std::uint32_t document = 0;
    std::uint64_t target = 0;  ///< SearchRun::key() of the resource that is referred to
};

class SearchRun {
  public:
    /// Documents: every number below this.
    std::uint32_t size() const noexcept;

    Position position(std::uint32_t document) const noexcept;

    /// resource_key().low of the document's resource.
    std::uint64_t key(std::uint32_t document) const noexcept;

    /// The document is what its resource was at every position from its own up to but without this one; the
    /// largest number while it is current, 0 if it was erased.
    Position died_at(std::uint32_t document) const noexcept;

    /// False while no document has died: then died_at() need not be looked at.
    bool any_died() const noexcept;

    /// How many documents stand at or before `position`: they are the first ones.
    std::uint32_t size_at(Position position) const noexcept;

    /// The document at exactly this position, or size().
    std::uint32_t find(Position position) const noexcept;

    Postings postings(std::uint64_t term) const noexcept;

    /// The distinct texts of a column stand in [first, last), ascending by bytes.
    struct TextRange {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
    };

    TextRange texts(std::uint64_t column) const noexcept;
    /// Those of them that begin with `prefix`.
    TextRange texts(std::uint64_t column, std::string_view prefix) const noexcept;
    std::string_view text(std::uint32_t index) const noexcept;
    Postings text_postings(std::uint32_t index) const noexcept;
    /// The texts of one document in a column, by index; for sorting. Cost: a binary search.
    std::span<const std::uint32_t> texts_of(std::uint64_t column,
                                            std::uint32_t document) const noexcept;

    IntervalColumn intervals(std::uint64_t column) const noexcept;

    /// The references of a column, ascending by document.
    std::span<const DocumentLink> links(std::uint64_t column) const noexcept;

    std::uint64_t bytes() const noexcept;
};

}  // namespace annals::storage
