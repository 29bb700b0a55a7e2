// SearchRun: an immutable, sorted piece of the search index of one resource type.
//
// The search index of a type is a log-structured merge tree: pending documents become a small run, runs of similar size are
// merged, and a reader searches all of them. A document is one version; the documents of a run ascend by position.
//
// Layer:   storage.
// Memory:  flat arrays of exactly the size needed, and compressed bitmaps (CRoaring) for what many documents share; bytes()
//          counts. Positions and documents are 32 bits, as in the index.
// Threads: any. Immutable, except for atomics: when each document died, and how many died or were erased.

#pragma once

#include "core/base/ids.h"
#include "core/base/owned.h"
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
#include <string_view>
#include <tuple>
#include <vector>

namespace annals::storage {

/// One version with its search entries, including those that the store adds to the extractor's: the interval of `_lastUpdated`
/// and the term of the resource's identity.
struct IndexedDocument {
    Position position;
    std::uint64_t key = 0;  ///< resource_key().low
    SearchEntriesView entries;
};

/// died_at() of a document that is still current.
inline constexpr Position kNotDied{~std::uint64_t{0}};

/// The documents that share a term or a text, ascending: as a list or a bitmap. Lifetime: the run's.
struct Postings {
    std::span<const std::uint32_t> list;       ///< if `bitmap` is null
    const roaring_bitmap_t* bitmap = nullptr;  ///< else this

    std::uint32_t size() const noexcept;
    bool contains(std::uint32_t document) const noexcept;

    /// Sets their bits in `words`, which have one for each document of the run.
    void set_in(std::span<std::uint64_t> words) const;
};

/// Intervals as parallel arrays of equal size.
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

/// The intervals of one column. A document may have several. Lifetime: the run's.
struct IntervalColumn {
    /// The shorter ones, then the longer ones, each group ascending by low.
    Intervals all;
    std::uint32_t shorter_count = 0;
    /// Upper bound of a shorter one's length (high - low): one that contains a point begins at most this far before it.
    std::uint64_t short_span = 0;
    /// Indexes into `all`, ascending by document.
    std::span<const std::uint32_t> by_document;

    /// Ascending by low; those that overlap a range begin near it.
    Intervals shorter() const noexcept { return all.part(0, shorter_count); }

    /// Ascending by low; includes those with an open end. Must be scanned from one end.
    Intervals longer() const noexcept {
        return all.part(shorter_count, all.size() - shorter_count);
    }

    /// The intervals of a document, as indexes into `all`. Cost: a binary search.
    std::span<const std::uint32_t> of(std::uint32_t document) const noexcept;
};

/// The references of one column, ascending by document, as parallel arrays. Lifetime: the run's.
struct LinkColumn {
    std::span<const std::uint32_t> document;
    std::span<const std::uint32_t> target;  ///< indexes into `targets`
    /// SearchRun::key() of what the whole run's links refer to: distinct, ascending.
    std::span<const std::uint64_t> targets;

    std::size_t size() const noexcept { return document.size(); }

    /// What a document refers to, as indexes into `targets`. Cost: a binary search.
    std::span<const std::uint32_t> of(std::uint32_t document) const noexcept;
};

using SearchBitmap = Owned<roaring_bitmap_t, roaring_bitmap_free>;

/// Where a column of texts, intervals or links ends in a run's arrays; it begins where the one before ends.
struct SearchRunColumn {
    std::uint64_t column = 0;
    std::uint64_t short_span = 0;       ///< of intervals
    std::uint32_t shorter_count = 0;    ///< of intervals
    std::uint32_t end = 0;              ///< in the arrays of texts, intervals or links
    std::uint32_t by_document_end = 0;  ///< of texts: in their arrays by document
    std::uint32_t unused = 0;
};

struct SearchRunParts;

/// Frees a block of a search run's memory.
struct FreeBlock {
    std::uint64_t pages_bytes = 0;  ///< 0: not from allocate_pages()
    void operator()(std::byte* block) const noexcept;
};

class SearchRun {
  public:
    /// A run of `documents`, at least one, which ascend by position. A term that a document has twice counts once.
    static std::shared_ptr<const SearchRun> build(std::span<const IndexedDocument> documents);

    struct Merged {
        std::shared_ptr<const SearchRun> run;  ///< null if no document is left
        Position dropped_through;              ///< the latest death of a dropped document
    };

    /// Merges `runs`, which ascend by position and are disjoint, except for documents that were erased or died at or before
    /// `horizon`. The result has the deaths that its inputs had at the time of the call or a little later. The run is null,
    /// too, if `stop` is requested. Requires: fits_one().
    static Merged merge(std::span<const std::shared_ptr<const SearchRun>> runs, Position horizon,
                        const std::stop_token& stop = {});

    /// Whether everything in `runs` fits into one run, whose numbers have 32 bits.
    static bool fits_one(std::span<const std::shared_ptr<const SearchRun>> runs) noexcept;

    /// Writes the run without its deaths, part by part; a part is valid until `take` returns. Format: versioned; see
    /// search_run_file.cc.
    void write(const std::function<void(std::string_view part)>& take) const;

    /// Reads what write() wrote, with the arrays left in place; no document has died. The caller must know, by a checksum, that
    /// `bytes` are what was written; others do no harm, but yield something else. Requires: `bytes` begin at a multiple of 8.
    /// Lifetime: the run keeps `memory`, which contains `bytes`. Errors: corrupt; usage: another version of the format.
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

    /// The document was current from its own position up to, but excluding, this one; kNotDied if it still is, 0 if it was
    /// erased.
    Position died_at(std::uint32_t document) const noexcept {
        const std::uint32_t at = died_[document].load(std::memory_order_relaxed);
        return at == kCurrent ? kNotDied : Position{at};
    }

    /// The only mutation; an erased document stays erased. Any thread, but for one document one at a time.
    void mark_died(std::uint32_t document, Position at) const noexcept;

    /// How many have died or were erased. While it is 0, there is no need to check died_at(). A later died_at() tells of all
    /// of them.
    std::uint32_t died_count() const noexcept {
        return died_count_.load(std::memory_order_acquire);
    }

    bool any_died() const noexcept { return died_count() != 0; }

    /// So many consecutive documents are a block; the last one may have fewer.
    static constexpr std::uint32_t kBlock = 1024;

    std::uint32_t blocks() const noexcept { return (size() + kBlock - 1) / kBlock; }

    /// died_count() of the documents of one block, to find those that have died since the last look.
    std::uint32_t died_count_in(std::uint32_t block) const noexcept {
        return died_in_[block].load(std::memory_order_acquire);
    }

    /// How many were erased.
    std::uint32_t erased_count() const noexcept {
        return erased_count_.load(std::memory_order_acquire);
    }

    /// How many documents are at or before `position`; these are the first ones.
    std::uint32_t size_at(Position position) const noexcept;

    /// The document at exactly this position, or size().
    std::uint32_t find(Position position) const noexcept;

    Postings postings(std::uint64_t term) const noexcept;

    /// The distinct texts of a column are [first, last), ascending bytewise.
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

    /// Memory in use, in bytes.
    std::uint64_t bytes() const noexcept { return bytes_; }

  private:
    class Merger;
    class Checker;
    using Column = SearchRunColumn;

    static constexpr std::uint32_t kCurrent = 0xffff'ffff;

    SearchRun() = default;

    /// Copies the parts into arrays of exact size and takes over their bitmaps. Empties the parts; with `again` they keep their
    /// memory.
    static std::shared_ptr<SearchRun> make(SearchRunParts& parts, bool again);
    template <typename T>
    std::span<const T> keep(std::vector<T>& part, bool again);
    void add_block(std::uint64_t bytes);
    void add_what_is_derived();
    void index_terms();
    void count_bytes() noexcept;

    /// All arrays, in the order of memory and file: those of 8-byte elements first.
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
    std::unique_ptr<std::atomic<std::uint32_t>[]> died_in_;  ///< for each block, how many
    mutable std::atomic<std::uint32_t> died_count_ = 0;
    mutable std::atomic<std::uint32_t> erased_count_ = 0;

    // Terms ascend; term_postings_[i] refers to the documents of terms_[i] (postings_of). directory_[b] is where the terms
    // whose upper bits are b begin.
    std::span<const std::uint64_t> terms_;
    std::span<const std::uint32_t> term_postings_;
    std::span<const std::uint32_t> directory_;
    unsigned directory_shift_ = 0;
    std::span<const std::uint32_t> lists_;  ///< each preceded by its size
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

    std::shared_ptr<const char> memory_;  ///< with read(): what the spans view
    std::vector<std::unique_ptr<std::byte, FreeBlock>> blocks_;  ///< else: what they view
    std::byte* free_ = nullptr;                                  ///< the rest of the last block
    std::uint64_t free_bytes_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace annals::storage
