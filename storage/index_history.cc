// The history scans: pages and totals over the store, a type or a resource, and the store as of an instant.

#include "storage/history_walk.h"
#include "storage/index_impl.h"

namespace annals::storage {

namespace {

using Rank = HistoryRank;

Rank rank_of(std::int64_t instant, std::uint64_t position, bool reverse) noexcept {
    // The complement reverses the order of integers and cannot overflow.
    return reverse ? Rank{~instant, ~position} : Rank{instant, position};
}

Rank rank_of(const VersionInfo& info, bool reverse) noexcept {
    return rank_of(info.instant.us, info.position.value, reverse);
}

bool by_instant(HistoryOrder order) noexcept {
    return order == HistoryOrder::last_updated || order == HistoryOrder::last_updated_reverse;
}

bool downwards(HistoryOrder order) noexcept {
    return order == HistoryOrder::newest_first || order == HistoryOrder::last_updated_reverse;
}

/// Takes what a scan offers, in order: leaves out `skip`, keeps `count`, and notes whether there is more.
class PageFiller {
  public:
    PageFiller(const HistoryQuery& query, HistoryPage& page)
        : page_(page), skip_(query.skip), count_(query.count) {}

    /// How many are still to be left out.
    std::uint64_t skip() const noexcept { return skip_; }

    /// Whether more is wanted.
    bool wants_more() const noexcept { return !page_.more; }

    /// Skips `matching` versions at once if all of them are to be left out; returns whether they were.
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

HistoryWalk::HistoryWalk(const Index& index, const HistoryQuery& query,
                         const std::optional<Hash128>& key)
    : index_(index), list_(index.impl_->list_of(query.type)), query_(query) {
    const std::uint64_t bound = index.impl_->bound_of(query.bound);
    if (key) {
        page_ = index.impl_->resource_history(query, index.impl_->chain(*key, bound));
        return;
    }
    size_ = list_.count_through(bound);
    by_instant_ = by_instant(query.order) && !list_.instants_ascend.load(std::memory_order_relaxed);
    const std::uint64_t erased = list_.erased.load(std::memory_order_relaxed);
    const bool to_the_end = size_ == list_.size.load(std::memory_order_relaxed);
    if (query.total) {
        page_.total = *query.total;
        counted_ = size_;
    } else if (!query.since && (erased == 0 || to_the_end)) {
        page_.total = size_ - std::min(erased, size_);
        counted_ = size_;
    }
    if (!query.after) {
        next_ = downwards(query.order) ? size_ : 0;
    } else if (!downwards(query.order)) {
        next_ = list_.count_through(query.after->position.value);
    } else {
        next_ = query.after->position.value > bound
                    ? size_
                    : std::min(size_, list_.count_through(query.after->position.value - 1));
    }
}

bool HistoryWalk::advance(std::uint64_t looks) {
    if (!count(looks)) {
        return false;
    }
    if (query_.count == 0) {
        return true;
    }
    return by_instant_ ? find_blocks(looks) && fill_by_instant(looks) : fill_by_position(looks);
}

// Counts whole blocks without visiting their members.
bool HistoryWalk::count(std::uint64_t& looks) {
    const std::optional<Instant>& since = query_.since;
    for (; counted_ < size_; counted_ += kBlock) {
        if (looks == 0) {
            return false;
        }
        --looks;
        const BlockSpan span = block_span(counted_ / kBlock, size_);
        const BlockSummary& block = list_.blocks[counted_ / kBlock];
        if (since && load_relaxed(block.max) < since->us) {
            continue;
        }
        const bool all_recent = !since || load_relaxed(block.min) >= since->us;
        if (all_recent && (span.whole() || erased_in(block) == 0)) {
            page_.total += span.end - span.begin - erased_in(block);
            continue;
        }
        std::uint64_t matching = 0;
        for (std::uint64_t i = span.begin; i < span.end; ++i) {
            matching += index_.impl_->matches(list_.position(i), query_) ? 1 : 0;
        }
        page_.total += matching;
        looks -= std::min(looks, span.end - span.begin);
    }
    return true;
}

bool HistoryWalk::fill_by_position(std::uint64_t& looks) {
    const Index::Impl& impl = *index_.impl_;
    PageFiller filler(query_, page_);
    const auto passes_over = [&](const BlockSpan& span, const BlockSummary& block) {
        if (query_.since && load_relaxed(block.max) < query_.since->us) {
            return true;
        }
        const bool all_recent = !query_.since || load_relaxed(block.min) >= query_.since->us;
        return span.whole() && all_recent && filler.skips_all(kBlock - erased_in(block));
    };
    const auto offer = [&](std::uint64_t index) {
        const std::uint32_t position = list_.position(index);
        if (impl.matches(position, query_)) {
            filler.offer([&] { return impl.info(position); });
        }
    };
    const bool down = downwards(query_.order);
    while ((down ? next_ > 0 : next_ < size_) && filler.wants_more()) {
        if (looks == 0) {
            query_.skip = filler.skip();
            return false;
        }
        --looks;
        const std::uint64_t number = (down ? next_ - 1 : next_) / kBlock;
        const BlockSpan whole = block_span(number, size_);
        const BlockSpan span = down ? BlockSpan{whole.begin, next_} : BlockSpan{next_, whole.end};
        if (!passes_over(span, list_.blocks[number])) {
            for (std::uint64_t i = span.begin; i < span.end && filler.wants_more(); ++i) {
                offer(down ? span.begin + span.end - 1 - i : i);
            }
            looks -= std::min(looks, span.end - span.begin);
        }
        next_ = down ? span.begin : span.end;
    }
    return true;
}

bool HistoryWalk::find_blocks(std::uint64_t& looks) {
    const bool reverse = downwards(query_.order);
    for (; searched_ < size_; searched_ += kBlock) {
        if (looks == 0) {
            return false;
        }
        --looks;
        const std::uint64_t number = searched_ / kBlock;
        const BlockSummary& block = list_.blocks[number];
        const std::int64_t min = load_relaxed(block.min);
        const std::int64_t max = load_relaxed(block.max);
        const std::int64_t last = reverse ? ~min : max;
        if ((query_.since && max < query_.since->us) ||
            (query_.after && last < rank_of(*query_.after, reverse).instant)) {
            continue;
        }
        blocks_.push_back({reverse ? ~max : min, number});
        std::push_heap(blocks_.begin(), blocks_.end(), is_later);
    }
    return true;
}

bool HistoryWalk::fill_by_instant(std::uint64_t& looks) {
    const Index::Impl& impl = *index_.impl_;
    const bool reverse = downwards(query_.order);
    const std::optional<Rank> after =
        query_.after ? std::optional(rank_of(*query_.after, reverse)) : std::nullopt;

    // One more than the page, to know whether there are more.
    const std::uint64_t wanted =
        std::min({query_.skip, size_}) + std::min<std::uint64_t>(query_.count, size_) + 1;
    while (!blocks_.empty() &&
           (best_.size() < wanted || blocks_.front().first <= best_.front().instant)) {
        if (looks == 0) {
            return false;
        }
        const BlockSpan span = block_span(blocks_.front().number, size_);
        looks -= std::min(looks, span.end - span.begin);
        std::pop_heap(blocks_.begin(), blocks_.end(), is_later);
        blocks_.pop_back();
        for (std::uint64_t i = span.begin; i < span.end; ++i) {
            const std::uint32_t position = list_.position(i);
            const Rank rank = rank_of(impl.entry(position).instant, position, reverse);
            if ((after && rank <= *after) || (best_.size() == wanted && rank >= best_.front()) ||
                !impl.matches(position, query_)) {
                continue;
            }
            if (best_.size() == wanted) {
                std::pop_heap(best_.begin(), best_.end());
                best_.pop_back();
            }
            best_.push_back(rank);
            std::push_heap(best_.begin(), best_.end());
        }
    }
    std::sort_heap(best_.begin(), best_.end());
    PageFiller filler(query_, page_);
    for (const Rank& rank : best_) {
        filler.offer([&] {
            return impl.info(static_cast<std::uint32_t>(reverse ? ~rank.position : rank.position));
        });
    }
    blocks_.clear();
    best_.clear();  // They are on the page: called again, this adds nothing.
    return true;
}

HistoryPage Index::Impl::resource_history(const HistoryQuery& query, const Chain& chain) const {
    if (chain.newest == 0) {
        return {};
    }
    const bool by_ordinal =
        (!by_instant(query.order) && !query.since) || (flags(chain.newest) & kInstantsAscend) != 0;
    return by_ordinal && chain.holes() == 0 ? whole_history(query, chain)
                                            : ranked_history(query, chain);
}

// Without holes the page is a range of ordinals. If `since` is set, instants ascend.
HistoryPage Index::Impl::whole_history(const HistoryQuery& query, const Chain& chain) const {
    HistoryPage page;
    std::int64_t first = first_ordinal(chain);
    const std::int64_t last = link_of(chain.newest).ordinal;
    if (query.since) {
        const std::uint32_t before = walk_back(chain.newest, [&](std::uint32_t position) {
            return entry(position).instant < query.since->us;
        });
        first = before == 0 ? first : std::max(first, std::int64_t{link_of(before).ordinal} + 1);
    }
    page.total = static_cast<std::uint64_t>(last - first + 1);
    const auto skip = static_cast<std::int64_t>(std::min(query.skip, page.total));
    const auto count = static_cast<std::int64_t>(std::min<std::uint64_t>(query.count, page.total));
    // The ordinal of the newest version at or before `after`, or just before it, in the order asked for.
    const auto ordinal_through = [&](const VersionInfo& after, bool itself) -> std::int64_t {
        const std::uint32_t found = walk_back(chain.newest, [&](std::uint32_t position) {
            const Rank rank{by_instant(query.order) ? entry(position).instant : 0, position};
            const Rank mark{by_instant(query.order) ? after.instant.us : 0, after.position.value};
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

// Examines and sorts everything that matches.
HistoryPage Index::Impl::ranked_history(const HistoryQuery& query, const Chain& chain) const {
    HistoryPage page;
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
    if (key) {
        return impl_->resource_history(query, impl_->chain(*key, impl_->bound_of(query.bound)));
    }
    HistoryWalk walk(*this, query, {});
    static_cast<void>(walk.advance(std::numeric_limits<std::uint64_t>::max()));
    return std::move(walk.page());
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

Position Index::before(Instant instant) const {
    HistoryQuery query;
    query.order = HistoryOrder::oldest_first;
    query.since = instant;
    query.bound = last_position();
    query.count = 1;
    query.total = 0;  // Not needed.
    const HistoryPage page = history(query, {});
    std::uint64_t position =
        page.versions.empty() ? query.bound.value : page.versions.front().position.value - 1;
    const Impl& my = *impl_;
    while (position > 0 && my.erased(position) && my.entry(position).instant >= instant.us) {
        const BlockSummary& block = my.all.blocks[(position - 1) / kBlock];
        const bool passes_over = position % kBlock == 0 && erased_in(block) == kBlock &&
                                 load_relaxed(block.min) >= instant.us;
        position -= passes_over ? kBlock : 1;
    }
    return {position};
}

bool Index::was_live_at(const VersionInfo& info, Instant instant, Position bound) const {
    if (info.deletion || info.instant > instant) {
        return false;
    }
    const Chain chain = impl_->chain(info.resource, impl_->bound_of(bound));
    return impl_->standing_at(chain, instant) == info.position.value;
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
