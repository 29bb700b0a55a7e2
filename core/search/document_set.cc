#include "core/search/document_set.h"

#include "core/base/sort_unique.h"

#include <algorithm>

namespace annals::core::search {

namespace {

// Sorting a list entry takes about as long as clearing and scanning this many bits.
constexpr std::uint32_t kBitsPerEntry = 1024;
constexpr std::size_t kListMin = 64;
constexpr std::size_t kPooledMax = 16;

std::uint64_t bits_below(std::uint32_t count) noexcept {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

std::size_t DocumentSet::list_max(std::uint32_t universe) noexcept {
    return std::max<std::size_t>(kListMin, universe / kBitsPerEntry);
}

void DocumentSet::reset(std::uint32_t universe) {
    universe_ = universe;
    list_max_ = list_max(universe);
    dense_ = false;
    list_.clear();
    words_.clear();
}

void DocumentSet::become_dense() {
    words_.assign((universe_ + 63) / 64, 0);
    dense_ = true;
    for (const std::uint32_t document : list_) {
        words_[document / 64] |= std::uint64_t{1} << (document % 64);
    }
    list_.clear();
}

void DocumentSet::add_range(std::uint32_t first, std::uint32_t last) {
    if (!dense_ && last - first > list_max_ - std::min(list_max_, list_.size())) {
        become_dense();
    }
    if (!dense_) {
        for (std::uint32_t document = first; document < last; ++document) {
            list_.push_back(document);
        }
        return;
    }
    for (std::uint32_t word = first / 64; word * 64 < last; ++word) {
        std::uint64_t bits = ~std::uint64_t{0};
        if (word == first / 64) {
            bits &= ~bits_below(first % 64);
        }
        if (last - word * 64 < 64) {
            bits &= bits_below(last - word * 64);
        }
        words_[word] |= bits;
    }
}

void DocumentSet::add(const storage::Postings& postings) {
    if (!dense_ && list_.size() + postings.size() > list_max_) {
        become_dense();
    }
    if (dense_) {
        postings.set_in(words_);
        return;
    }
    list_.insert(list_.end(), postings.list.begin(), postings.list.end());
    if (postings.bitmap != nullptr) {
        const std::size_t before = list_.size();
        list_.resize(before + postings.size());
        roaring_bitmap_to_uint32_array(postings.bitmap, list_.data() + before);
    }
}

void DocumentSet::add(const DocumentSet& other) {
    if (!other.dense_) {
        for (const std::uint32_t document : other.list_) {
            add(document);
        }
        return;
    }
    if (!dense_) {
        become_dense();
    }
    for (std::size_t i = 0; i < words_.size(); ++i) {
        words_[i] |= other.words_[i];
    }
}

void DocumentSet::seal() {
    if (!dense_ &&
        std::adjacent_find(list_.begin(), list_.end(), std::greater_equal<>()) != list_.end()) {
        sort_unique(list_);
    }
}

bool DocumentSet::contains(std::uint32_t document) const noexcept {
    if (dense_) {
        return (words_[document / 64] >> (document % 64) & 1) != 0;
    }
    return std::binary_search(list_.begin(), list_.end(), document);
}

std::uint32_t DocumentSet::size() const noexcept {
    if (!dense_) {
        return static_cast<std::uint32_t>(list_.size());
    }
    std::uint64_t count = 0;
    for (const std::uint64_t word : words_) {
        count += static_cast<std::uint64_t>(std::popcount(word));
    }
    return static_cast<std::uint32_t>(count);
}

void DocumentSet::intersect(const DocumentSet& other) {
    if (dense_ && other.dense_) {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            words_[i] &= other.words_[i];
        }
    } else if (dense_) {
        std::vector<std::uint32_t> kept(other.list_);
        std::erase_if(kept, [&](std::uint32_t document) { return !contains(document); });
        list_ = std::move(kept);
        dense_ = false;
        words_.clear();
    } else {
        filter([&](std::uint32_t document) { return other.contains(document); });
    }
}

void DocumentSet::intersect(const storage::Postings& postings) {
    if (!dense_) {
        filter([&](std::uint32_t document) { return postings.contains(document); });
        return;
    }
    const DocumentSetPool::Handle other = DocumentSetPool::of_thread().take(universe_);
    other->add(postings);
    other->seal();
    intersect(*other);
}

void DocumentSet::remove(const storage::Postings& postings) {
    if (!dense_) {
        filter([&](std::uint32_t document) { return !postings.contains(document); });
        return;
    }
    const DocumentSetPool::Handle other = DocumentSetPool::of_thread().take(universe_);
    other->make_dense();
    other->add(postings);
    for (std::size_t i = 0; i < words_.size(); ++i) {
        words_[i] &= ~other->words_[i];
    }
}

void DocumentSet::complement() {
    if (!dense_) {
        become_dense();
    }
    for (std::uint64_t& word : words_) {
        word = ~word;
    }
    if (universe_ % 64 != 0) {
        words_.back() &= bits_below(universe_ % 64);
    }
}

void DocumentSetPool::Return::operator()(DocumentSet* set) const noexcept {
    if (pool->free_.size() < kPooledMax) {
        pool->free_.emplace_back(set);
    } else {
        delete set;
    }
}

DocumentSetPool::Handle DocumentSetPool::take(std::uint32_t universe) {
    std::unique_ptr<DocumentSet> set;
    if (free_.empty()) {
        set = std::make_unique<DocumentSet>();
    } else {
        set = std::move(free_.back());
        free_.pop_back();
    }
    set->reset(universe);
    return {set.release(), Return{this}};
}

DocumentSetPool& DocumentSetPool::of_thread() {
    thread_local DocumentSetPool pool;
    return pool;
}

DocumentWalk DocumentWalk::everything(std::uint32_t first, std::uint32_t last, bool upwards) {
    DocumentWalk walk;
    walk.upwards_ = upwards;
    walk.first_ = first;
    walk.last_ = std::max(first, last);
    return walk;
}

DocumentWalk DocumentWalk::of(std::span<const std::uint32_t> list, std::uint32_t first,
                              std::uint32_t last, bool upwards) {
    DocumentWalk walk = everything(first, last, upwards);
    walk.kind_ = Kind::list;
    const auto begin = std::lower_bound(list.begin(), list.end(), walk.first_);
    const auto end = std::lower_bound(begin, list.end(), walk.last_);
    walk.begin_ = list.data() + (begin - list.begin());
    walk.end_ = list.data() + (end - list.begin());
    return walk;
}

DocumentWalk DocumentWalk::of(const storage::Postings& postings, std::uint32_t first,
                              std::uint32_t last, bool upwards) {
    if (postings.bitmap == nullptr) {
        return of(postings.list, first, last, upwards);
    }
    DocumentWalk walk = everything(first, last, upwards);
    walk.kind_ = Kind::bitmap;
    roaring_init_iterator(postings.bitmap, &walk.bits_);
    if (upwards) {
        roaring_move_uint32_iterator_equalorlarger(&walk.bits_, walk.first_);
    } else if (roaring_move_uint32_iterator_equalorlarger(&walk.bits_, walk.last_)) {
        roaring_previous_uint32_iterator(&walk.bits_);
    } else {
        roaring_init_iterator_last(postings.bitmap, &walk.bits_);
    }
    return walk;
}

DocumentWalk DocumentWalk::of(const DocumentSet& set, std::uint32_t first, std::uint32_t last,
                              bool upwards) {
    if (!set.dense()) {
        return of(set.list(), first, last, upwards);
    }
    DocumentWalk walk = everything(first, last, upwards);
    walk.kind_ = Kind::words;
    walk.words_ = set.words();
    return walk;
}

bool DocumentWalk::next_in_words(std::uint32_t& document) noexcept {
    while (first_ < last_) {
        const std::uint32_t at = upwards_ ? first_ : last_ - 1;
        const std::uint64_t word = words_[at / 64];
        const std::uint64_t bits =
            upwards_ ? word & ~bits_below(at % 64) : word & bits_below(at % 64 + 1);
        if (bits == 0) {
            if (upwards_) {
                first_ = std::min(last_, (at / 64 + 1) * 64);
            } else {
                last_ = std::max(first_, at / 64 * 64);
            }
            continue;
        }
        const auto bit = static_cast<std::uint32_t>(upwards_ ? std::countr_zero(bits)
                                                             : 63 - std::countl_zero(bits));
        document = at / 64 * 64 + bit;
        if (upwards_ ? document >= last_ : document < first_) {
            return false;
        }
        (upwards_ ? first_ : last_) = upwards_ ? document + 1 : document;
        return true;
    }
    return false;
}

bool DocumentWalk::next_in_bitmap(std::uint32_t& document) noexcept {
    if (!bits_.has_value) {
        return false;
    }
    document = bits_.current_value;
    if (document < first_ || document >= last_) {
        return false;
    }
    if (upwards_) {
        roaring_advance_uint32_iterator(&bits_);
    } else {
        roaring_previous_uint32_iterator(&bits_);
    }
    return true;
}

}  // namespace annals::core::search
