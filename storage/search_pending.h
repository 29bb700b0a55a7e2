// SearchPending: documents of one type that become a run on demand, or once there are many.
//
// Layer:   storage; private to search_index.
// Threads: add() and died() from one thread at a time, fold() and the rest from any. add() never waits for a run being made;
//          fold() waits for another fold().

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
#include <vector>

namespace annals::storage {

/// Documents, with their entries in parallel.
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

/// Empty buffers with allocated memory, for reuse.
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

    /// Adds documents, with copies of their entries. Returns their size in bytes. Requires: positions ascend.
    std::size_t add(std::span<const IndexedDocument> documents, SearchPendingSpares& spares);

    /// The document at `position` stopped being current at `at` (0: it was erased). If it isn't pending, calls `elsewhere`
    /// before anything pending is published.
    template <typename Elsewhere>
    void died(Position position, Position at, Elsewhere elsewhere) {
        const std::lock_guard lock(gathering_);
        if (SearchPendingBuffer::Document* const document = find(position)) {
            document->died = document->died.value == 0 ? Position{} : at;
        } else {
            elsewhere();
        }
    }

    /// Makes runs of everything pending, except what was erased, and passes them to `publish`, if any are left. Dead documents
    /// stay, for readers at an earlier position. Everything added before the call is published when it returns. Returns how
    /// many bytes were removed.
    std::size_t fold(const std::function<void(Runs)>& publish, SearchPendingSpares& spares);

    /// How many documents are not published yet.
    std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }

  private:
    SearchPendingBuffer::Document* find(Position position) noexcept;

    std::mutex folding_;    ///< held while folding
    std::mutex gathering_;  ///< guards the two below; held briefly
    SearchPendingBuffer open_;
    SearchPendingBuffer folded_;  ///< what is becoming a run
    std::atomic<std::size_t> size_ = 0;
};

}  // namespace annals::storage
