// SearchPending: documents of one type that are to become a run: when they are asked for, or when they are many.
//
// Layer:   storage; private to search_index.
// Threads: add() and died() from one thread at a time, fold() and the rest from any. Nobody who adds waits for a run
//          that is being made; who folds waits for the one who is folding.

#pragma once

#include "storage/search_entries_list.h"
#include "storage/search_run.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace annals::storage {

/// Documents side by side with what they are found by.
struct SearchPendingBuffer {
    struct Document {
        Position position;
        std::uint64_t key = 0;
        Position died = kNotDied;
    };

    std::vector<Document> documents;
    SearchEntriesList entries;

    std::size_t bytes() const noexcept {
        return documents.size() * sizeof(Document) + entries.bytes();
    }

    void clear() noexcept {
        documents.clear();
        entries.clear();
    }
};

/// Empty buffers with memory, for whoever needs one next.
class SearchPendingSpares {
  public:
    SearchPendingBuffer take();
    void give(SearchPendingBuffer buffer);

  private:
    std::mutex mutex_;
    std::vector<SearchPendingBuffer> spares_;
};

class SearchPending {
  public:
    using Runs = std::vector<std::shared_ptr<const SearchRun>>;

    /// Positions ascend. Copies the entries. Returns for how many bytes.
    std::size_t add(std::span<const IndexedDocument> documents, SearchPendingSpares& spares);

    /// The document at `position` stopped being current at `at` (0: it was erased). If it isn't here, calls `elsewhere`
    /// before anything of what is here is published.
    template <typename Elsewhere>
    void died(Position position, Position at, Elsewhere elsewhere) {
        const std::lock_guard lock(gathering_);
        if (SearchPendingBuffer::Document* const document = find(position)) {
            document->died = document->died.value == 0 ? Position{} : at;
        } else {
            elsewhere();
        }
    }

    /// Publishes runs of all that is here, but for what was erased, by a call of `publish`; none if nothing is left.
    /// What died stays: somebody may look at a position before. Afterwards everything that was added before the call is
    /// published. Returns how many bytes are gone.
    std::size_t fold(const std::function<void(Runs)>& publish, SearchPendingSpares& spares);

    /// How many documents are not published yet.
    std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }

  private:
    SearchPendingBuffer::Document* find(Position position) noexcept;

    std::mutex folding_;    ///< held by the one who folds
    std::mutex gathering_;  ///< guards the two below; held briefly
    SearchPendingBuffer open_;
    SearchPendingBuffer folded_;  ///< what is becoming a run
    std::atomic<std::size_t> size_ = 0;
};

}  // namespace annals::storage
