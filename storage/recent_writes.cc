#include "storage/recent_writes.h"

#include <algorithm>

namespace annals::storage {

namespace {

/// For more terms, a search in them for each value is cheaper.
constexpr std::size_t kFewTerms = 4;

/// Without an early exit: then several values are compared at once.
bool contains(std::span<const std::uint64_t> values, std::uint64_t term) noexcept {
    bool found = false;
    for (const std::uint64_t value : values) {
        found |= value == term;
    }
    return found;
}

/// Whether any of `terms`, which ascend, is among `values`.
bool meet(std::span<const std::uint64_t> terms, std::span<const std::uint64_t> values) noexcept {
    if (terms.size() <= kFewTerms) {
        return std::ranges::any_of(terms,
                                   [&](std::uint64_t term) { return contains(values, term); });
    }
    return std::ranges::any_of(
        values, [&](std::uint64_t value) { return std::ranges::binary_search(terms, value); });
}

}  // namespace

void RecentWrites::add(TypeId type, Ticket ticket, std::uint64_t identity,
                       const SearchEntries* entries) {
    if (chunks_.empty() || chunks_.back().writes.size() >= kChunkWrites ||
        chunks_.back().values.size() >= kChunkValues) {
        // As much as the one before took, so that nothing is copied as it grows.
        spare_.writes.reserve(kChunkWrites);
        spare_.values.reserve(
            chunks_.empty() ? 0 : std::min(chunks_.back().values.size(), 2 * kChunkValues));
        chunks_.push_back(std::move(spare_));
        spare_ = {};
        chunks_.back().first = next_;
    }
    Chunk& chunk = chunks_.back();
    const std::size_t before = chunk.values.size();
    chunk.values.push_back(identity);
    if (entries != nullptr) {
        chunk.values.insert(chunk.values.end(), entries->terms.begin(), entries->terms.end());
        for (const SearchEntries::Link& link : entries->links) {
            chunk.values.push_back(link.target);
        }
    }
    chunk.writes.push_back({ticket, type, static_cast<std::uint32_t>(chunk.values.size())});
    values_ += chunk.values.size() - before;
    ++writes_;
    ++next_.value;
}

void RecentWrites::forget_oldest() {
    Chunk& oldest = chunks_.front();
    writes_ -= oldest.writes.size();
    values_ -= oldest.values.size();
    if (oldest.values.capacity() <= 2 * kChunkValues) {
        spare_ = std::move(oldest);
        spare_.writes.clear();
        spare_.values.clear();
    }
    chunks_.pop_front();
}

void RecentWrites::settle(Position through) {
    while (chunks_.size() > 1 && chunks_[1].first.value <= through.value + 1 &&
           (writes_ - chunks_.front().writes.size() >= kWritesKept || values_ > kValuesKept)) {
        forget_oldest();
    }
}

void RecentWrites::drop_after(Position last) {
    while (!chunks_.empty() && next_.value > last.value + 1) {
        Chunk& chunk = chunks_.back();
        const std::uint64_t kept =
            last.value + 1 > chunk.first.value ? last.value + 1 - chunk.first.value : 0;
        const std::size_t values_kept = kept == 0 ? 0 : chunk.writes[kept - 1].values_end;
        writes_ -= chunk.writes.size() - kept;
        values_ -= chunk.values.size() - values_kept;
        next_ = {chunk.first.value + kept};
        chunk.writes.resize(kept);
        chunk.values.resize(values_kept);
        if (kept == 0) {
            chunks_.pop_back();
        }
    }
}

std::optional<RecentWrites::Hit> RecentWrites::find(const Guard& guard) const {
    const std::uint64_t begin = guard.as_of.value + 1;
    if (begin < (chunks_.empty() ? next_ : chunks_.front().first).value) {
        return Hit{};
    }
    for (auto chunk = chunks_.rbegin();
         chunk != chunks_.rend() && chunk->first.value + chunk->writes.size() > begin; ++chunk) {
        for (std::size_t i = chunk->writes.size(); i-- > 0 && chunk->first.value + i >= begin;) {
            const Write& write = chunk->writes[i];
            if (guard.type && write.type != *guard.type) {
                continue;
            }
            const auto values = std::span(chunk->values).first(write.values_end);
            const std::size_t from = i == 0 ? 0 : chunk->writes[i - 1].values_end;
            if (guard.terms.empty() || meet(guard.terms, values.subspan(from))) {
                return Hit{{chunk->first.value + i}, write.ticket};
            }
        }
    }
    return std::nullopt;
}

}  // namespace annals::storage
