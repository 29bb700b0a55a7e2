// SearchRun: an immutable, sorted piece of the search index of one resource type.
//
// The search index of a type is a log-structured merge tree: each batch of commits brings a small run, runs of
// like size are merged, and a reader looks into all of them. A document is one version; the documents of a run
// ascend by position.
//
// Layer:   storage.
// Memory:  flat arrays of exactly the size needed, and compressed bitmaps (CRoaring) for what many documents
//          have; bytes() counts. Positions and documents are 32 bits, as in the index.
// Threads: immutable but for when documents died, one atomic for each document; from any thread.

#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "storage/search_entries.h"

#include <roaring/roaring.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace annals::storage {

/// One version, to be found by its entries. Whoever makes it (the store) has added to what the extractor found: the
/// interval of `_lastUpdated` and the term of the resource's identity.
struct IndexedDocument {
    Position position;
    std::uint64_t key = 0;  ///< resource_key().low
    SearchEntriesView entries;
};

/// Said of a document that is what its resource is now.
inline constexpr Position kNotDied{~std::uint64_t{0}};

/// The documents that have something in common, ascending: a list or a bitmap. Lifetime: of the run.
struct Postings {
    std::span<const std::uint32_t> list;       ///< if `bitmap` is null
    const roaring_bitmap_t* bitmap = nullptr;  ///< else this

    std::uint32_t size() const noexcept;
    bool contains(std::uint32_t document) const noexcept;
};

/// Intervals side by side: arrays of one size.
struct Intervals {
    std::span<const std::int64_t> low;
    std::span<const std::int64_t> high;  ///< never below `low`
    std::span<const std::uint32_t> document;

    std::size_t size() const noexcept { return low.size(); }

    Intervals part(std::size_t begin, std::size_t count) const noexcept {
        return {low.subspan(begin, count), high.subspan(begin, count),
                document.subspan(begin, count)};
    }
};

/// The intervals of one column. A document may have several. Lifetime: of the run.
struct IntervalColumn {
    /// The shorter ones and after them the longer ones, each of them ascending by low.
    Intervals all;
    std::uint32_t shorter_count = 0;
    /// No shorter one is longer than this (high - low): one that reaches to a point begins at most so far before it.
    std::uint64_t short_span = 0;
    /// Indexes into `all`, ascending by document.
    std::span<const std::uint32_t> by_document;

    /// Ascending by low; what reaches into a stretch is found near it.
    Intervals shorter() const noexcept { return all.part(0, shorter_count); }

    /// Ascending by low; open ends are among these. To be looked through from one end.
    Intervals longer() const noexcept {
        return all.part(shorter_count, all.size() - shorter_count);
    }

    /// The intervals of a document, as indexes into `all`. Cost: a binary search.
    std::span<const std::uint32_t> of(std::uint32_t document) const noexcept;
};

/// The references of one column, ascending by document; arrays of one size. Lifetime: of the run.
struct LinkColumn {
    std::span<const std::uint32_t> document;
    std::span<const std::uint32_t> target;   ///< indexes into `targets`
    std::span<const std::uint64_t> targets;  ///< of the whole run: distinct, ascending

    std::size_t size() const noexcept { return document.size(); }

    /// SearchRun::key() of the resource that the link refers to.
    std::uint64_t key(std::size_t link) const noexcept { return targets[target[link]]; }

    /// What a document refers to, as indexes into `targets`. Cost: a binary search.
    std::span<const std::uint32_t> of(std::uint32_t document) const noexcept;
};

struct FreeBitmap {
    void operator()(roaring_bitmap_t* bitmap) const noexcept { roaring_bitmap_free(bitmap); }
};

using SearchBitmap = std::unique_ptr<roaring_bitmap_t, FreeBitmap>;

/// A column of texts, intervals or links within a run's arrays: where it ends; it begins where the one before ends.
struct SearchRunColumn {
    std::uint64_t column = 0;
    std::uint64_t short_span = 0;       ///< of intervals
    std::uint32_t shorter_count = 0;    ///< of intervals
    std::uint32_t end = 0;              ///< in the arrays of texts, intervals or links
    std::uint32_t by_document_end = 0;  ///< of texts: in their arrays by document
    std::uint32_t unused = 0;
};

struct SearchRunParts;

/// Frees memory that search runs lie in.
struct FreeBlock {
    std::uint64_t pages_bytes = 0;  ///< 0: it isn't pages
    void operator()(std::byte* block) const noexcept;
};

class SearchRun {
  public:
    /// A run of `documents`, one at least, ascending by position. Terms that a document has twice count once.
    static std::shared_ptr<const SearchRun> build(std::span<const IndexedDocument> documents);

    struct Merged {
        std::shared_ptr<const SearchRun> run;  ///< null if no document is left
        Position dropped_through;              ///< the last death of a document that was dropped
    };

    /// A run of all that is in `runs`, which ascend by position and are disjoint, but for the documents that were
    /// erased or died at or before `horizon`. It says of its documents that they died when the others said so
    /// at the time of the call or a little later. Null too when `stop` asks for it. Requires: fits_one().
    static Merged merge(std::span<const std::shared_ptr<const SearchRun>> runs, Position horizon,
                        const std::stop_token& stop = {});

    /// Whether one run has room for all that is in `runs` (its numbers are 32 bits).
    static bool fits_one(std::span<const std::shared_ptr<const SearchRun>> runs) noexcept;

    /// Gives all of the run but for what died when, part after part; a part lasts until `take` returns. Format: versioned;
    /// search_run_file.cc.
    void write(const std::function<void(std::string_view part)>& take) const;

    /// What write() wrote, whose arrays stay where they are; no document has died. Requires: `bytes` begin at a multiple
    /// of 8. Whether they are those that were written is the caller's to know (by a checksum); others do no harm, but
    /// say something else. Lifetime: the run keeps `memory`, in which they lie. Errors: corrupt, also for another
    /// version of the format.
    static Result<std::shared_ptr<const SearchRun>> read(std::string_view bytes,
                                                         std::shared_ptr<const char> memory);

    SearchRun(const SearchRun&) = delete;
    SearchRun& operator=(const SearchRun&) = delete;
    ~SearchRun() = default;

    /// Documents: every number below this.
    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(positions_.size()); }

    Position position(std::uint32_t document) const noexcept { return {positions_[document]}; }

    /// Of all documents.
    std::span<const std::uint32_t> positions() const noexcept { return positions_; }

    /// resource_key().low of the document's resource.
    std::uint64_t key(std::uint32_t document) const noexcept { return keys_[document]; }

    /// The document is what its resource was at every position from its own up to but without this one; kNotDied
    /// while it is current, 0 if it was erased.
    Position died_at(std::uint32_t document) const noexcept {
        const std::uint32_t at = died_[document].load(std::memory_order_relaxed);
        return at == kCurrent ? kNotDied : Position{at};
    }

    /// The one thing that changes; an erased document stays erased. From any thread, but of one document one at a time.
    void mark_died(std::uint32_t document, Position at) const noexcept;

    /// How many have died or were erased. While it is 0, died_at() need not be looked at.
    std::uint32_t died_count() const noexcept {
        return died_count_.load(std::memory_order_relaxed);
    }

    bool any_died() const noexcept { return died_count() != 0; }

    /// How many were erased.
    std::uint32_t erased_count() const noexcept {
        return erased_count_.load(std::memory_order_relaxed);
    }

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
    /// The texts of one document in a column, by index, ascending; for sorting. Cost: a binary search.
    std::span<const std::uint32_t> texts_of(std::uint64_t column,
                                            std::uint32_t document) const noexcept;

    IntervalColumn intervals(std::uint64_t column) const noexcept;

    LinkColumn links(std::uint64_t column) const noexcept;

    /// All of its memory.
    std::uint64_t bytes() const noexcept { return bytes_; }

  private:
    class Merger;
    class Checker;
    using Column = SearchRunColumn;

    static constexpr std::uint32_t kCurrent = 0xffff'ffff;

    SearchRun() = default;

    /// Copies the parts into arrays of exactly their size, and takes their bitmaps. Empties them; with `again`
    /// they keep their memory.
    static std::shared_ptr<SearchRun> make(SearchRunParts& parts, bool again);
    template <typename T>
    std::span<const T> keep(std::vector<T>& part, bool again);
    void add_block(std::uint64_t bytes);
    void add_what_is_derived();
    void index_terms();
    void count_bytes() noexcept;

    /// All arrays in the order in which they lie and are written, those of 8 bytes first.
    template <typename Run>
    static auto arrays(Run& run) noexcept {
        return std::tie(run.keys_, run.terms_, run.text_columns_, run.interval_columns_,
                        run.interval_lows_, run.interval_highs_, run.link_columns_, run.targets_,
                        run.positions_, run.term_postings_, run.lists_, run.text_ends_,
                        run.text_postings_, run.text_documents_, run.text_indexes_,
                        run.interval_documents_, run.intervals_by_document_, run.link_documents_,
                        run.link_targets_, run.characters_);
    }

    Postings postings_of(const std::uint32_t& reference) const noexcept;

    // Documents.
    std::span<const std::uint32_t> positions_;
    std::span<const std::uint64_t> keys_;
    std::unique_ptr<std::atomic<std::uint32_t>[]> died_;
    mutable std::atomic<std::uint32_t> died_count_ = 0;
    mutable std::atomic<std::uint32_t> erased_count_ = 0;

    // Terms ascend; the one at i is carried by what term_postings_[i] refers to (postings_of). Where the terms
    // whose upper bits are b begin is directory_[b].
    std::span<const std::uint64_t> terms_;
    std::span<const std::uint32_t> term_postings_;
    std::span<const std::uint32_t> directory_;
    unsigned directory_shift_ = 0;
    std::span<const std::uint32_t> lists_;  ///< each after its size
    std::vector<SearchBitmap> bitmaps_;

    std::span<const Column> text_columns_;
    std::span<const std::uint32_t> text_ends_;  ///< in characters_
    std::span<const std::uint32_t> text_postings_;
    std::span<const char> characters_;
    std::span<const std::uint32_t> text_documents_;  ///< by document, with text_indexes_
    std::span<const std::uint32_t> text_indexes_;

    std::span<const Column> interval_columns_;
    std::span<const std::int64_t> interval_lows_;
    std::span<const std::int64_t> interval_highs_;
    std::span<const std::uint32_t> interval_documents_;
    std::span<const std::uint32_t> intervals_by_document_;

    std::span<const Column> link_columns_;
    std::span<const std::uint32_t> link_documents_;
    std::span<const std::uint32_t> link_targets_;
    std::span<const std::uint64_t> targets_;

    std::shared_ptr<const char> memory_;  ///< what the spans lie in, where it is others'
    std::vector<std::unique_ptr<std::byte, FreeBlock>> blocks_;  ///< what they lie in else
    std::byte* free_ = nullptr;                                  ///< the rest of the last block
    std::uint64_t free_bytes_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace annals::storage
