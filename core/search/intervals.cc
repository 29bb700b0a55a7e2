#include "core/search/intervals.h"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

namespace annals::core::search {

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kAnySpan = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kSamples = 32;

// A range of lower ends, inclusive; empty if first > last.
struct Lows {
    std::int64_t first = kMin;
    std::int64_t last = kMax;
};

std::int64_t minus(std::int64_t a, std::uint64_t b) noexcept {
    const std::uint64_t room = static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(kMin);
    return room < b ? kMin : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - b);
}

std::int64_t before(std::int64_t a) noexcept {
    return minus(a, 1);
}

std::int64_t after(std::int64_t a) noexcept {
    return a == kMax ? kMax : a + 1;
}

constexpr Lows kNoLows{kMax, kMin};

// The possible lower ends of intervals that match and are at most `span` long. Open-ended ones are longer than a signed
// number can say.
Lows candidates(Comparison comparison, Range asked, std::uint64_t span) noexcept {
    switch (comparison) {
        case Comparison::eq:
            return {asked.low, asked.high};
        case Comparison::ne:
            return {};
        case Comparison::gt:
            return {minus(asked.high, span), kMax};
        case Comparison::lt:
            return {kMin, before(asked.low)};
        case Comparison::ge:
            return {minus(asked.low, span), kMax};
        case Comparison::le:
            return {kMin, asked.high};
        case Comparison::sa:
            return asked.high == kMax ? kNoLows : Lows{after(asked.high), kMax};
        case Comparison::eb:
            return {kMin, before(asked.low)};
        case Comparison::ap:
            return {minus(asked.low, span), asked.high};
        case Comparison::co:
            return {minus(asked.high, span), asked.low};
    }
    return kNoLows;
}

// The lower ends of intervals that match wherever they end.
Lows sure(Comparison comparison, Range asked, std::uint64_t span) noexcept {
    switch (comparison) {
        case Comparison::eq:
            return {asked.low, minus(asked.high, span)};
        case Comparison::ne:
        case Comparison::co:
            return kNoLows;
        case Comparison::gt:
            return asked.high == kMax ? kNoLows : Lows{after(asked.high), kMax};
        case Comparison::lt:
            return asked.low == kMin ? kNoLows : Lows{kMin, before(asked.low)};
        case Comparison::ge:
            return {asked.low, kMax};
        case Comparison::le:
            return {kMin, asked.high};
        case Comparison::sa:
            return candidates(comparison, asked, span);
        case Comparison::eb: {
            // If none can begin so early that it must end before, an open beginning proves nothing.
            const std::int64_t first = minus(asked.low, span);
            return first == kMin ? kNoLows : Lows{kMin, before(first)};
        }
        case Comparison::ap:
            return {asked.low, asked.high};
    }
    return kNoLows;
}

// The indexes of the sorted `lows` that lie in a range.
std::pair<std::uint32_t, std::uint32_t> find(std::span<const std::int64_t> lows,
                                             Lows wanted) noexcept {
    if (wanted.first > wanted.last || lows.empty()) {
        return {0, 0};
    }
    // Most ranges are open at one end or share an end with `lows`, which needs no search.
    const auto first = wanted.first <= lows.front()
                           ? lows.begin()
                           : std::lower_bound(lows.begin(), lows.end(), wanted.first);
    const auto last =
        wanted.last >= lows.back() ? lows.end() : std::upper_bound(first, lows.end(), wanted.last);
    return {static_cast<std::uint32_t>(first - lows.begin()),
            static_cast<std::uint32_t>(last - lows.begin())};
}

// Estimates how many of [first, last) pass, by a sample.
template <typename Test>
std::uint32_t sample(std::uint32_t first, std::uint32_t last, Test test) noexcept {
    const std::uint32_t size = last - first;
    if (size <= kSamples) {
        std::uint32_t count = 0;
        for (std::uint32_t i = first; i < last; ++i) {
            count += test(i) ? 1 : 0;
        }
        return count;
    }
    std::uint64_t passed = 0;
    for (std::uint32_t i = 0; i < kSamples; ++i) {
        passed += test(first + static_cast<std::uint32_t>(std::uint64_t{size} * i / kSamples));
    }
    // None in the sample doesn't mean none at all.
    return static_cast<std::uint32_t>((passed * 2 + 1) * size / (kSamples * 2));
}

}  // namespace

IntervalCondition::IntervalCondition(const storage::IntervalColumn& column, Comparison comparison,
                                     Range asked) noexcept
    : column_(column), comparison_(comparison), asked_(asked) {
    const std::uint64_t span = column.short_span;
    const std::span<const std::int64_t> lows = column.shorter().low;
    std::tie(stretch_.first, stretch_.last) = find(lows, candidates(comparison, asked, span));
    const auto [sure_first, sure_last] =
        find(lows.subspan(stretch_.first, stretch_.last - stretch_.first),
             sure(comparison, asked, span));
    stretch_.sure_first = stretch_.first + sure_first;
    stretch_.sure_last = stretch_.first + sure_last;
    const auto [first, last] = find(column.longer().low, candidates(comparison, asked, kAnySpan));
    stretch_.longer_first = column.shorter_count + first;
    stretch_.longer_last = column.shorter_count + last;
}

bool IntervalCondition::holds(std::uint32_t document) const noexcept {
    const storage::Intervals& all = column_.all;
    return std::ranges::any_of(column_.of(document), [&](std::uint32_t i) {
        return compares(comparison_, {all.low[i], all.high[i]}, asked_);
    });
}

std::uint32_t IntervalCondition::estimate() const noexcept {
    const auto test = [&](std::uint32_t i) {
        return compares(comparison_, {column_.all.low[i], column_.all.high[i]}, asked_);
    };
    return stretch_.sure_last - stretch_.sure_first +
           sample(stretch_.first, stretch_.sure_first, test) +
           sample(stretch_.sure_last, stretch_.last, test) +
           sample(stretch_.longer_first, stretch_.longer_last, test);
}

std::uint32_t IntervalCondition::count(const DocumentSet* without) const noexcept {
    const std::uint64_t* const gone = without == nullptr ? nullptr : without->words().data();
    const auto stays = [&](std::uint32_t i) {
        const std::uint32_t document = column_.all.document[i];
        return gone == nullptr || (gone[document / 64] >> (document % 64) & 1) == 0;
    };
    std::uint32_t found = 0;
    const auto add_tested = [&](std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t i = first; i < last; ++i) {
            const Range own{column_.all.low[i], column_.all.high[i]};
            found += compares(comparison_, own, asked_) && stays(i) ? 1 : 0;
        }
    };
    add_tested(stretch_.first, stretch_.sure_first);
    if (gone == nullptr) {
        found += stretch_.sure_last - stretch_.sure_first;
    } else {
        for (std::uint32_t i = stretch_.sure_first; i < stretch_.sure_last; ++i) {
            found += stays(i) ? 1 : 0;
        }
    }
    add_tested(stretch_.sure_last, stretch_.last);
    add_tested(stretch_.longer_first, stretch_.longer_last);
    return found;
}

void IntervalCondition::add_to(DocumentSet& documents) const {
    // By value, since the compiler can't know that adding to `documents` doesn't change this.
    const auto add_tested = [all = column_.all, comparison = comparison_, asked = asked_,
                             &documents](std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t i = first; i < last; ++i) {
            if (compares(comparison, {all.low[i], all.high[i]}, asked)) {
                documents.add(all.document[i]);
            }
        }
    };
    add_tested(stretch_.first, stretch_.sure_first);
    for (const std::uint32_t document : column_.all.document.subspan(
             stretch_.sure_first, stretch_.sure_last - stretch_.sure_first)) {
        documents.add(document);
    }
    add_tested(stretch_.sure_last, stretch_.last);
    add_tested(stretch_.longer_first, stretch_.longer_last);
}

}  // namespace annals::core::search
