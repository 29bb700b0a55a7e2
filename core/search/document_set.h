// DocumentSet: some documents of one run, a list while they are few and a bit each when they are many.
//
// Layer:   core/search.
// Threads: belongs to one thread, which reuses its memory (DocumentSetPool).

#pragma once

#include "storage/search_run.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace annals::core::search {

/// Documents below `universe`. Filled by add() in any order, then sealed; read when it is sealed.
class DocumentSet {
  public:
    /// Empties it for a run of so many documents.
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

    /// Makes it dense, be it small.
    void make_dense() {
        if (!dense_) {
            become_dense();
        }
    }

    /// Ends the filling.
    void seal();

    bool contains(std::uint32_t document) const noexcept;

    std::uint32_t size() const noexcept;

    /// Leaves what is in `other`, too.
    void intersect(const DocumentSet& other);

    /// Leaves what is in `postings`, too.
    void intersect(const storage::Postings& postings);

    /// Takes out those of `documents`, which ascend, for which `goes(document)`.
    template <typename Goes>
    void remove(std::span<const std::uint32_t> documents, Goes goes) {
        if (!dense_) {
            std::erase_if(list_, [&](std::uint32_t document) {
                return std::binary_search(documents.begin(), documents.end(), document) &&
                       goes(document);
            });
            return;
        }
        for (const std::uint32_t document : documents) {
            if (goes(document)) {
                words_[document / 64] &= ~(std::uint64_t{1} << (document % 64));
            }
        }
    }

    /// Becomes all that it was not.
    void complement();

    /// Leaves those for which `keep(document)`.
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

    /// Ascending; of a set that is not dense.
    std::span<const std::uint32_t> list() const noexcept { return list_; }

    /// A bit for each document; of a dense set.
    std::span<const std::uint64_t> words() const noexcept { return words_; }

    std::uint32_t universe() const noexcept { return universe_; }

  private:
    void become_dense();

    std::uint32_t universe_ = 0;
    std::size_t list_max_ = 0;
    bool dense_ = false;
    std::vector<std::uint32_t> list_;
    std::vector<std::uint64_t> words_;
};

/// Lends sets, whose memory is used again.
class DocumentSetPool {
  public:
    struct Return {
        DocumentSetPool* pool = nullptr;
        void operator()(DocumentSet* set) const noexcept;
    };

    using Handle = std::unique_ptr<DocumentSet, Return>;

    /// An empty set. Lifetime: the pool outlives it.
    Handle take(std::uint32_t universe);

    /// This thread's.
    static DocumentSetPool& of_thread();

  private:
    std::vector<std::unique_ptr<DocumentSet>> free_;
};

/// Goes through documents of a run within bounds, up or down.
class DocumentWalk {
  public:
    DocumentWalk() = default;

    /// Every document in [first, last).
    static DocumentWalk everything(std::uint32_t first, std::uint32_t last, bool upwards);
    /// Those of `postings`. Lifetime: of the run.
    static DocumentWalk of(const storage::Postings& postings, std::uint32_t first,
                           std::uint32_t last, bool upwards);
    /// Those of `set`, which outlives this and stays as it is.
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
    std::uint32_t first_ = 0;  // what is left: [first_, last_)
    std::uint32_t last_ = 0;
    const std::uint32_t* begin_ = nullptr;
    const std::uint32_t* end_ = nullptr;
    std::span<const std::uint64_t> words_;
    roaring_uint32_iterator_t bits_{};
};

}  // namespace annals::core::search
