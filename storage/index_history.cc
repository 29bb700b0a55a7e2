// The history scans: pages and totals over the store, a type or a resource, and the store as of an instant.

#include "storage/index_impl.h"

namespace annals::storage {

namespace {

/// Place of a version in an order by instant: ascending, whichever way the order goes.
struct Rank {
    std::int64_t instant = 0;
    std::uint64_t position = 0;

    auto operator<=>(const Rank&) const = default;
};

Rank rank_of(std::int64_t instant, std::uint64_t position, bool reverse) noexcept {
    // Complement turns an order of integers round and cannot overflow.
    return reverse ? Rank{~instant, ~position} : Rank{instant, position};
}

bool by_instant(HistoryOrder order) noexcept {
    return order == HistoryOrder::last_updated || order == HistoryOrder::last_updated_reverse;
}

bool downwards(HistoryOrder order) noexcept {
    return order == HistoryOrder::newest_first || order == HistoryOrder::last_updated_reverse;
}

/// Takes what a scan offers in its order: leaves out `skip`, keeps `count`, notices one more.
class PageFiller {
  public:
    PageFiller(const HistoryQuery& query, HistoryPage& page)
        : page_(page), skip_(query.skip), count_(query.count) {}

    /// True as long as more is wanted.
    bool wants_more() const noexcept { return !page_.more; }

    /// True if `matching` versions at once are left out.
    bool skips_all(std::uint64_t matching) noexcept {
        if (matching > skip_) {
            return false;
        }
        skip_ -= matching;
        return true;
    }

    template <typename MakeInfo>
    void offer(MakeInfo&& make_info) {
        if (skip_ > 0) {
            --skip_;
        } else if (page_.versions.size() == count_) {
            page_.more = true;
        } else {
            page_.versions.push_back(make_info());
        }
    }

  private:
    HistoryPage& page_;
    std::uint64_t skip_;
    std::size_t count_;
};

/// The members of a list within one block and below the list's visible size.
struct BlockSpan {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    bool whole() const noexcept { return end - begin == kBlock; }
};

BlockSpan block_span(std::uint64_t block, std::uint64_t size) noexcept {
    return {block * kBlock, std::min((block + 1) * kBlock, size)};
}

std::uint64_t erased_in(const BlockSummary& block) noexcept {
    return std::min(load_relaxed(block.erased), kBlock);
}

}  // namespace

bool Index::Impl::matches(std::uint64_t position, const HistoryQuery& query) const noexcept {
    return !erased(position) && (!query.since || entry(position).instant >= query.since->us);
}

namespace {

/// Of the first `size` members of `list`, how many match; whole blocks are counted, not visited.
template <typename Matches>
std::uint64_t count_matching(const VersionList& list, std::uint64_t size,
                             const std::optional<Instant>& since, Matches&& matches) {
    const std::uint64_t all_erased = list.erased.load(std::memory_order_relaxed);
    const bool to_the_end = size == list.size.load(std::memory_order_relaxed);
    if (!since && (all_erased == 0 || to_the_end)) {
        return size - std::min(all_erased, size);
    }
    std::uint64_t count = 0;
    for (std::uint64_t number = 0; number * kBlock < size; ++number) {
        const BlockSpan span = block_span(number, size);
        const BlockSummary& block = list.blocks[number];
        if (since && load_relaxed(block.max) < since->us) {
            continue;
        }
        const bool all_recent = !since || load_relaxed(block.min) >= since->us;
        if (all_recent && (span.whole() || erased_in(block) == 0)) {
            count += span.end - span.begin - erased_in(block);
            continue;
        }
        for (std::uint64_t i = span.begin; i < span.end; ++i) {
            count += matches(list.position(i)) ? 1 : 0;
        }
    }
    return count;
}

}  // namespace

HistoryPage Index::Impl::list_history(const HistoryQuery& query, const VersionList& list,
                                      std::uint64_t bound) const {
    HistoryPage page;
    const std::uint64_t size = list.count_through(bound);
    const auto match = [&](std::uint64_t position) { return matches(position, query); };
    page.total = count_matching(list, size, query.since, match);
    if (query.count == 0) {
        return page;
    }
    if (by_instant(query.order) && !list.instants_ascend.load(std::memory_order_relaxed)) {
        fill_by_instant(query, list, size, page);
        return page;
    }

    PageFiller filler(query, page);
    const auto passes_over = [&](const BlockSpan& span, const BlockSummary& block) {
        if (query.since && load_relaxed(block.max) < query.since->us) {
            return true;
        }
        const bool all_recent = !query.since || load_relaxed(block.min) >= query.since->us;
        return span.whole() && all_recent && filler.skips_all(kBlock - erased_in(block));
    };
    const auto offer = [&](std::uint64_t index) {
        const std::uint32_t position = list.position(index);
        if (match(position)) {
            filler.offer([&] { return info(position); });
        }
    };
    if (downwards(query.order)) {
        std::uint64_t end = size;
        if (query.after && query.after->position.value <= bound) {
            end = std::min(size, list.count_through(query.after->position.value - 1));
        }
        while (end > 0 && filler.wants_more()) {
            const std::uint64_t number = (end - 1) / kBlock;
            const BlockSpan span{number * kBlock, end};
            if (!passes_over(span, list.blocks[number])) {
                while (end > span.begin && filler.wants_more()) {
                    offer(--end);
                }
            }
            end = span.begin;
        }
        return page;
    }
    std::uint64_t begin = query.after ? list.count_through(query.after->position.value) : 0;
    while (begin < size && filler.wants_more()) {
        const std::uint64_t number = begin / kBlock;
        const BlockSpan span{begin, block_span(number, size).end};
        if (!passes_over(span, list.blocks[number])) {
            while (begin < span.end && filler.wants_more()) {
                offer(begin++);
            }
        }
        begin = span.end;
    }
    return page;
}

void Index::Impl::fill_by_instant(const HistoryQuery& query, const VersionList& list,
                                  std::uint64_t size, HistoryPage& page) const {
    const bool reverse = downwards(query.order);
    const std::optional<Rank> after =
        query.after
            ? std::optional(rank_of(query.after->instant.us, query.after->position.value, reverse))
            : std::nullopt;

    struct Block {
        std::int64_t first;  ///< no member's rank has a smaller instant
        std::uint64_t number;
    };

    std::vector<Block> blocks;
    for (std::uint64_t number = 0; number * kBlock < size; ++number) {
        const BlockSummary& block = list.blocks[number];
        const std::int64_t min = load_relaxed(block.min);
        const std::int64_t max = load_relaxed(block.max);
        const std::int64_t last = reverse ? ~min : max;
        if ((query.since && max < query.since->us) || (after && last < after->instant)) {
            continue;
        }
        blocks.push_back({reverse ? ~max : min, number});
    }
    const auto later = [](const Block& a, const Block& b) { return a.first > b.first; };
    std::make_heap(blocks.begin(), blocks.end(), later);

    // The best so far, the worst of them on top: one more than the page, to know whether more is there.
    const std::uint64_t wanted =
        std::min({query.skip, size}) + std::min<std::uint64_t>(query.count, size) + 1;
    std::vector<Rank> best;
    while (!blocks.empty() &&
           (best.size() < wanted || blocks.front().first <= best.front().instant)) {
        const BlockSpan span = block_span(blocks.front().number, size);
        std::pop_heap(blocks.begin(), blocks.end(), later);
        blocks.pop_back();
        for (std::uint64_t i = span.begin; i < span.end; ++i) {
            const std::uint32_t position = list.position(i);
            const Rank rank = rank_of(entry(position).instant, position, reverse);
            if ((after && rank <= *after) || (best.size() == wanted && rank >= best.front()) ||
                !matches(position, query)) {
                continue;
            }
            if (best.size() == wanted) {
                std::pop_heap(best.begin(), best.end());
                best.pop_back();
            }
            best.push_back(rank);
            std::push_heap(best.begin(), best.end());
        }
    }
    std::sort_heap(best.begin(), best.end());
    PageFiller filler(query, page);
    for (const Rank& rank : best) {
        filler.offer([&] {
            return info(static_cast<std::uint32_t>(reverse ? ~rank.position : rank.position));
        });
    }
}

HistoryPage Index::Impl::resource_history(const HistoryQuery& query, const Chain& chain) const {
    HistoryPage page;
    if (chain.newest == 0) {
        return page;
    }
    const bool in_chain_order =
        !by_instant(query.order) || (flags(chain.newest) & kInstantsAscend) != 0;
    if (!query.since && in_chain_order && chain.holes() == 0) {
        // Every ordinal of the range is there, so that the page is a range of ordinals.
        const std::int64_t first = first_ordinal(chain);
        const std::int64_t last = link_of(chain.newest).ordinal;
        page.total = static_cast<std::uint64_t>(last - first + 1);
        const auto skip = static_cast<std::int64_t>(std::min(query.skip, page.total));
        const auto count =
            static_cast<std::int64_t>(std::min<std::uint64_t>(query.count, page.total));
        // The ordinal of the newest version at or before `after`, or just before it, in the order asked for.
        const auto ordinal_through = [&](const VersionInfo& after, bool itself) -> std::int64_t {
            const std::uint32_t found = walk_back(chain.newest, [&](std::uint32_t position) {
                const Rank rank{by_instant(query.order) ? entry(position).instant : 0, position};
                const Rank mark{by_instant(query.order) ? after.instant.us : 0,
                                after.position.value};
                return itself ? rank <= mark : rank < mark;
            });
            return found == 0 ? -1 : std::int64_t{link_of(found).ordinal};
        };
        if (count == 0) {
            return page;
        }
        std::int64_t low = first;
        std::int64_t high = last;
        if (downwards(query.order)) {
            high = query.after ? ordinal_through(*query.after, false) : last;
            high = std::min(high, last) - skip;
            low = std::max(first, high - count + 1);
            page.more = low > first && high >= low;
        } else {
            low = query.after ? ordinal_through(*query.after, true) + 1 : first;
            low = std::max(low, first) + skip;
            high = std::min(last, low + count - 1);
            page.more = high < last && high >= low;
        }
        if (high < low) {
            return page;
        }
        std::uint32_t position = find_ordinal(chain.newest, static_cast<std::uint64_t>(high));
        for (std::int64_t ordinal = high; ordinal >= low; --ordinal) {
            page.versions.push_back(info(position));
            position = link_of(position).previous;
        }
        if (!downwards(query.order)) {
            std::reverse(page.versions.begin(), page.versions.end());
        }
        return page;
    }

    std::vector<Rank> ranks;
    const bool reverse = downwards(query.order);
    const auto rank_in_order = [&](std::int64_t instant, std::uint64_t position) {
        return rank_of(by_instant(query.order) ? instant : 0, position, reverse);
    };
    for (std::uint32_t position = chain.newest; position != 0 && position >= chain.oldest;
         position = link_of(position).previous) {
        if (matches(position, query)) {
            ranks.push_back(rank_in_order(entry(position).instant, position));
        }
    }
    page.total = ranks.size();
    if (query.count == 0) {
        return page;
    }
    std::sort(ranks.begin(), ranks.end());
    auto from = ranks.begin();
    if (query.after) {
        from =
            std::upper_bound(ranks.begin(), ranks.end(),
                             rank_in_order(query.after->instant.us, query.after->position.value));
    }
    PageFiller filler(query, page);
    for (; from != ranks.end() && filler.wants_more(); ++from) {
        filler.offer([&] {
            return info(static_cast<std::uint32_t>(reverse ? ~from->position : from->position));
        });
    }
    return page;
}

HistoryPage Index::history(const HistoryQuery& query, const std::optional<Hash128>& key) const {
    const std::uint64_t bound = impl_->bound_of(query.bound);
    return key ? impl_->resource_history(query, impl_->chain(*key, bound))
               : impl_->list_history(query, impl_->list_of(query.type), bound);
}

std::vector<VersionInfo> Index::current_at(std::optional<TypeId> type, Instant instant,
                                           Position bound, std::uint32_t& from,
                                           std::uint32_t count_scanned) const {
    const std::uint64_t through = impl_->bound_of(bound);
    const auto end = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(resource_count(), std::uint64_t{from} + count_scanned));
    std::vector<VersionInfo> found;
    for (; from < end; ++from) {
        const Chain chain = impl_->chain(from, through);
        if (chain.newest == 0 || (type && impl_->resources[from].type != type->value)) {
            continue;
        }
        const std::uint32_t position = impl_->standing_at(chain, instant);
        if (position != 0 && !impl_->deletion(position)) {
            found.push_back(impl_->info(position));
        }
    }
    return found;
}

void Index::scan(const LogScan& what, Position& after, std::uint64_t count_scanned,
                 std::vector<VersionInfo>& found) const {
    found.clear();
    const std::uint64_t through = impl_->bound_of(what.bound);
    const std::uint64_t end = std::min(through, after.value + count_scanned);
    for (auto position = static_cast<std::uint32_t>(after.value + 1); position <= end; ++position) {
        const VersionEntry& there = impl_->entry(position);
        if (impl_->erased(position) || (what.since && there.instant < what.since->us) ||
            (what.before && there.instant >= what.before->us)) {
            continue;
        }
        if (!what.every_version) {
            const Chain chain = impl_->chain(there.resource, through);
            if (impl_->standing(chain, chain.newest) != position) {
                continue;
            }
        }
        found.push_back(impl_->info(position));
    }
    after = {std::max(after.value, end)};
}

}  // namespace annals::storage
