// MergeHeads: merges several sorted sequences.
//
// Layer:   storage.
// Threads: one.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace annals::storage {

/// The heads of several ascending sequences, least first; equal heads in the order of their sequences.
template <typename Key>
class MergeHeads {
  public:
    void clear() noexcept { heap_.clear(); }

    bool empty() const noexcept { return heap_.empty(); }

    const Key& key() const noexcept { return heap_.front().key; }

    std::uint32_t sequence() const noexcept { return heap_.front().sequence; }

    void add(Key key, std::uint32_t sequence) {
        heap_.push_back({key, sequence});
        std::ranges::push_heap(heap_, above);
    }

    /// The sequence of the least head continues with `key`.
    void replace(Key key) noexcept {
        heap_.front().key = key;
        sink();
    }

    /// The sequence of the least head has ended.
    void drop() noexcept {
        heap_.front() = heap_.back();
        heap_.pop_back();
        sink();
    }

  private:
    struct Head {
        Key key;
        std::uint32_t sequence;
    };

    static bool above(const Head& a, const Head& b) noexcept {
        return b.key < a.key || (b.key == a.key && b.sequence < a.sequence);
    }

    void sink() noexcept {
        const std::size_t count = heap_.size();
        if (count < 2) {
            return;
        }
        const Head sinking = heap_.front();
        std::size_t at = 0;
        for (std::size_t child = 1; child < count; child = 2 * at + 1) {
            if (child + 1 < count && above(heap_[child], heap_[child + 1])) {
                ++child;
            }
            if (!above(sinking, heap_[child])) {
                break;
            }
            heap_[at] = heap_[child];
            at = child;
        }
        heap_[at] = sinking;
    }

    std::vector<Head> heap_;
};

}  // namespace annals::storage
