// DocumentSet: a set of documents of one run, as a list while they are few and as a bitmap when they are many.
//
// Layer:   core/search.
// Threads: belongs to one thread, which reuses its memory (DocumentSetPool).

#pragma once

#include "storage/search_run.h"

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace annals::core::search {

/// Documents below `universe`. Filled by add() in any order, then sealed; may be read once it is sealed.
class DocumentSet {
  public:
    /// How many documents a set of a run of `universe` has at most as a list; larger ones are bits.
    static std::size_t list_max(std::uint32_t universe) noexcept;

    /// Clears it, for a run of `universe` documents.
    void reset(std::uint32_t universe);

    void add(std::uint32_t document) {
        if (dense_) {
            words_[document / 64] |= std::uint64_t{1} << (document % 64);
        } else {
            list_.push_back(document);
            if (list_.size() > list_max_) {
                become_dense();
            }
        }
    }

    /// Documents [first, last).
    void add_range(std::uint32_t first, std::uint32_t last);

    void add(const storage::Postings& postings);
    void add(const DocumentSet& other);

    /// Makes it dense even if it is small.
    void make_dense() {
        if (!dense_) {
            become_dense();
        }
    }

    /// Must be called after the last add().
    void seal();

    bool contains(std::uint32_t document) const noexcept;

    std::uint32_t size() const noexcept;

    /// Keeps only what is also in `other`.
    void intersect(const DocumentSet& other);

    /// Keeps only what is also in `postings`.
    void intersect(const storage::Postings& postings);

    /// Removes what is in `postings`.
    void remove(const storage::Postings& postings);

    /// Becomes its complement.
    void complement();

    /// Keeps only those for which `keep(document)` holds.
    template <typename Keep>
    void filter(Keep keep) {
        if (!dense_) {
            std::erase_if(list_, [&](std::uint32_t document) { return !keep(document); });
            return;
        }
        for (std::size_t i = 0; i < words_.size(); ++i) {
            for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
                const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
                if (!keep(static_cast<std::uint32_t>(i * 64) + bit)) {
                    words_[i] &= ~(std::uint64_t{1} << bit);
                }
            }
        }
    }

    bool dense() const noexcept { return dense_; }

    /// Sorted; only of a set that is not dense.
    std::span<const std::uint32_t> list() const noexcept { return list_; }

    /// A bit for each document; only of a dense set.
    std::span<const std::uint64_t> words() const noexcept { return words_; }

  private:
    void become_dense();

    std::uint32_t universe_ = 0;
    std::size_t list_max_ = 0;
    bool dense_ = false;
    std::vector<std::uint32_t> list_;
    std::vector<std::uint64_t> words_;
};

/// Lends sets whose memory is reused.
class DocumentSetPool {
  public:
    struct Return {
        DocumentSetPool* pool = nullptr;
        void operator()(DocumentSet* set) const noexcept;
    };

    using Handle = std::unique_ptr<DocumentSet, Return>;

    /// An empty set. Lifetime: the pool outlives it.
    Handle take(std::uint32_t universe);

    /// The calling thread's pool.
    static DocumentSetPool& of_thread();

  private:
    std::vector<std::unique_ptr<DocumentSet>> free_;
};

/// Iterates over documents of a run within bounds, upwards or downwards.
class DocumentWalk {
  public:
    DocumentWalk() = default;

    /// Every document in [first, last).
    static DocumentWalk everything(std::uint32_t first, std::uint32_t last, bool upwards);
    /// Those of `postings`. Lifetime: that of the run.
    static DocumentWalk of(const storage::Postings& postings, std::uint32_t first,
                           std::uint32_t last, bool upwards);
    /// Those of `set`. Lifetime: `set` outlives this and must not change.
    static DocumentWalk of(const DocumentSet& set, std::uint32_t first, std::uint32_t last,
                           bool upwards);

    /// The next one; false at the end.
    bool next(std::uint32_t& document) noexcept {
        switch (kind_) {
            case Kind::everything:
                if (first_ == last_) {
                    return false;
                }
                document = upwards_ ? first_++ : --last_;
                return true;
            case Kind::list:
                if (begin_ == end_) {
                    return false;
                }
                document = upwards_ ? *begin_++ : *--end_;
                return true;
            case Kind::words:
                return next_in_words(document);
            case Kind::bitmap:
                return next_in_bitmap(document);
        }
        return false;
    }

  private:
    enum class Kind : std::uint8_t { everything, list, words, bitmap };

    static DocumentWalk of(std::span<const std::uint32_t> list, std::uint32_t first,
                           std::uint32_t last, bool upwards);
    bool next_in_words(std::uint32_t& document) noexcept;
    bool next_in_bitmap(std::uint32_t& document) noexcept;

    Kind kind_ = Kind::everything;
    bool upwards_ = false;
    std::uint32_t first_ = 0;  // remaining: [first_, last_)
    std::uint32_t last_ = 0;
    const std::uint32_t* begin_ = nullptr;
    const std::uint32_t* end_ = nullptr;
    std::span<const std::uint64_t> words_;
    roaring_uint32_iterator_t bits_{};
};

}  // namespace annals::core::search
