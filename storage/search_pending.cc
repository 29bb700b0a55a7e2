#include "storage/search_pending.h"

#include <algorithm>
#include <utility>

namespace annals::storage {

namespace {

constexpr std::size_t kSparesMax = 4;
/// The memory of larger buffers isn't kept.
constexpr std::size_t kSpareBytesMax = 16 << 20;

/// Heavier batches become several runs, so that none outgrows its 32-bit numbers.
constexpr std::size_t kRunWeightMax = 16 << 20;

std::size_t weight_of(const SearchEntriesView& entries) noexcept {
    return entries.terms.size() + entries.intervals.size() + entries.links.size() +
           entries.texts.size() + entries.characters.size();
}

/// How many of the documents go into one run.
std::size_t run_size_of(std::span<const IndexedDocument> documents) noexcept {
    std::size_t weight = 0;
    std::size_t count = 0;
    while (count < documents.size() && weight < kRunWeightMax) {
        weight += weight_of(documents[count++].entries);
    }
    return count;
}

SearchPending::Runs runs_of(std::span<const IndexedDocument> documents) {
    SearchPending::Runs runs;
    while (!documents.empty()) {
        const std::size_t count = run_size_of(documents);
        runs.push_back(SearchRun::build(documents.first(count)));
        documents = documents.subspan(count);
    }
    return runs;
}

}  // namespace

SearchPendingBuffer SearchPendingSpares::take() {
    const std::lock_guard lock(mutex_);
    if (spares_.empty()) {
        return {};
    }
    SearchPendingBuffer buffer = std::move(spares_.back());
    spares_.pop_back();
    return buffer;
}

void SearchPendingSpares::give(SearchPendingBuffer buffer) {
    buffer.clear();
    if (buffer.entries.capacity_bytes() > kSpareBytesMax) {
        return;
    }
    const std::lock_guard lock(mutex_);
    if (spares_.size() < kSparesMax) {
        spares_.push_back(std::move(buffer));
    }
}

std::size_t SearchPending::add(std::span<const IndexedDocument> documents,
                               SearchPendingSpares& spares) {
    const std::lock_guard lock(gathering_);
    if (open_.documents.empty()) {
        open_ = spares.take();
    }
    const std::size_t before = open_.bytes();
    for (const IndexedDocument& document : documents) {
        open_.documents.push_back({.position = document.position, .key = document.key});
        open_.entries.add(document.entries);
    }
    size_.fetch_add(documents.size(), std::memory_order_release);
    return open_.bytes() - before;
}

SearchPendingBuffer::Document* SearchPending::find(Position position) noexcept {
    for (SearchPendingBuffer* const buffer : {&open_, &folded_}) {
        const auto found = std::ranges::lower_bound(buffer->documents, position, {},
                                                    &SearchPendingBuffer::Document::position);
        if (found != buffer->documents.end() && found->position == position) {
            return &*found;
        }
    }
    return nullptr;
}

std::size_t SearchPending::fold(const std::function<void(Runs)>& publish,
                                SearchPendingSpares& spares) {
    if (size() == 0) {
        return 0;
    }
    const std::lock_guard folding(folding_);
    std::vector<IndexedDocument> documents;
    std::vector<std::size_t> numbers;
    {
        const std::lock_guard lock(gathering_);
        if (open_.documents.empty()) {
            return 0;  // Whoever held `folding_` before has done it.
        }
        std::swap(open_, folded_);
        documents.reserve(folded_.documents.size());
        for (std::size_t i = 0; i < folded_.documents.size(); ++i) {
            const SearchPendingBuffer::Document& document = folded_.documents[i];
            if (document.died.value != 0) {
                documents.push_back({.position = document.position,
                                     .key = document.key,
                                     .entries = folded_.entries[i]});
                numbers.push_back(i);
            }
        }
    }
    Runs runs = runs_of(documents);
    SearchPendingBuffer done;
    {
        const std::lock_guard lock(gathering_);
        auto number = numbers.begin();
        for (const auto& run : runs) {
            for (std::uint32_t document = 0; document < run->size(); ++document) {
                if (const Position died = folded_.documents[*number++].died; died != kNotDied) {
                    run->mark_died(document, died);
                }
            }
        }
        if (!runs.empty()) {
            publish(std::move(runs));
        }
        done = std::exchange(folded_, {});
        size_.fetch_sub(done.documents.size(), std::memory_order_release);
    }
    const std::size_t bytes = done.bytes();
    spares.give(std::move(done));
    return bytes;
}

}  // namespace annals::storage
