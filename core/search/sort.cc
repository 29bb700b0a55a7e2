#include "core/search/sort.h"

#include "codec/schema/search_type.h"
#include "core/base/digest.h"
#include "core/search/parameter_values.h"
#include "core/search/sort_values.h"
#include "core/search/terms.h"

#include <algorithm>
#include <utility>

namespace annals::core::search {

namespace {

using schema::SearchType;
using storage::SearchRun;

// Below this share of a column, documents are looked up individually.
constexpr std::size_t kLookUpShare = 20;
constexpr std::size_t kSortBodiesFetched = 256;  // at a time
// How many matches are given values from the index, or are placed, between two checks of the clock.
constexpr std::size_t kTakenAtOnce = 16'384;
constexpr std::size_t kPlacedAtOnce = 1024;

// The kind of value that a key is sorted by.
enum class By : std::uint8_t { low_or_high, text, id, body_text, body_number };

By by_of(const SortKey& key) {
    if (key.parameter == nullptr) {
        return key.code == "_id" ? By::id : By::low_or_high;
    }
    switch (key.parameter->type) {
        case SearchType::date:
        case SearchType::number:
            return By::low_or_high;
        case SearchType::string:
            return By::text;
        case SearchType::quantity:
            return By::body_number;
        case SearchType::token:
        case SearchType::reference:
        case SearchType::composite:
        case SearchType::uri:
        case SearchType::special:
            break;
    }
    return By::body_text;
}

bool parses_bodies(By by) noexcept {
    return by == By::body_text || by == By::body_number;
}

bool reads_bodies(By by) noexcept {
    return by == By::id || parses_bodies(by);
}

const Parameter& parameter_for(const SortKey& key, TypeId type) {
    const auto own = std::ranges::find_if(
        key.of_types, [&](const auto& of_type) { return of_type.first == type; });
    return own == key.of_types.end() ? *key.parameter : *own->second;
}

}  // namespace

std::uint64_t mix_sort(std::uint64_t digest, std::span<const SortKey> keys) {
    for (const SortKey& key : keys) {
        for (const auto& [type, parameter] : key.of_types) {
            if (!parameter->standard) {
                digest = hash64(parameter->expression,
                                hash64(schema::search_type_name(parameter->type), digest));
            }
        }
    }
    return digest;
}

std::span<const SortKey> default_order() {
    static const SortKey kLatestFirst = {
        .code = "_lastUpdated", .descending = true, .without_first = true};
    return {&kLatestFirst, 1};
}

// The values of one key, by match.
struct Sorter::Values {
    By by = By::low_or_high;
    bool descending = false;
    bool without_first = false;
    bool by_time = false;  // `_lastUpdated`: positions order what has the same instant
    std::vector<std::int64_t> numbers;
    std::vector<std::string> texts;
    std::vector<bool> missing;

    bool has_numbers() const noexcept { return by == By::low_or_high || by == By::body_number; }

    // Takes `value` for a match if it comes before the match's values so far, in this direction.
    template <typename Value>
    void offer(std::vector<Value>& all, std::size_t match, Value value) {
        Value& best = all[match];
        if (missing[match] || (descending ? value > best : value < best)) {
            best = std::move(value);
            missing[match] = false;
        }
    }

    // The same for an item of a body, if it has a value.
    void offer(const fhirpath::Item& item, std::size_t match) {
        if (by == By::body_number) {
            if (const auto number = sort_number(item, descending)) {
                offer(numbers, match, ordered(*number));
            }
        } else if (std::string text = sort_text(item, descending); !text.empty()) {
            offer(texts, match, std::move(text));
        }
    }

    // Keeps only what belongs to these matches, which are in ascending order, and makes room for what bodies have.
    void keep(std::span<const std::uint32_t> kept) {
        for (std::size_t i = 0; i < kept.size(); ++i) {
            missing[i] = missing[kept[i]];
            if (!numbers.empty()) {
                numbers[i] = numbers[kept[i]];
            } else if (!texts.empty() && i != kept[i]) {
                texts[i] = std::move(texts[kept[i]]);
            }
        }
        missing.resize(kept.size());
        grow(kept.size());
    }

    // Makes room for the values of the first `count` matches.
    void grow(std::size_t count) {
        if (has_numbers()) {
            numbers.resize(count);
        } else {
            texts.resize(count);
        }
    }
};

Sorter::Sorter(Snapshot& snapshot, std::span<const SortKey> keys, std::span<const Match> matches)
    : snapshot_(snapshot), keys_(keys), matches_(matches) {
    known_keys_ = static_cast<std::size_t>(
        std::ranges::find_if(keys, [](const SortKey& key) { return reads_bodies(by_of(key)); }) -
        keys.begin());
    for (const SortKey& key : keys) {
        Values& values = values_.emplace_back();
        values.by = by_of(key);
        values.descending = key.descending;
        values.without_first = key.without_first;
        values.by_time = key.parameter == nullptr && key.code == "_lastUpdated";
        values.missing.assign(matches.size(), true);
        if (reads_bodies(values.by)) {
            continue;  // They have room once the contenders are known.
        }
        // Only reserved: for millions, the memory is touched gradually.
        if (values.has_numbers()) {
            values.numbers.reserve(matches.size());
        } else {
            values.texts.reserve(matches.size());
        }
    }
}

Sorter::~Sorter() = default;

void Sorter::want(Position edge, bool backwards, std::size_t count) {
    edge_ = edge;
    backwards_ = backwards;
    count_ = count;
}

Result<bool> Sorter::advance(const Pace& pace) {
    if (!take_from_index(pace) || !find_edge(pace)) {
        return false;
    }
    if (!found_edge()) {
        return true;
    }
    if (known_keys_ < keys_.size()) {
        ANNALS_TRY(const bool are_found, find_contenders(pace));
        if (!are_found || !take_bodies(pace)) {
            return false;
        }
    }
    return find_page(pace);
}

// True when all values in the index have been taken.
bool Sorter::take_from_index(const Pace& pace) {
    for (; next_key_ < keys_.size(); ++next_key_, next_match_ = 0) {
        const SortKey& key = keys_[next_key_];
        Values& values = values_[next_key_];
        if (reads_bodies(values.by)) {
            continue;
        }
        while (next_match_ < matches_.size()) {
            const std::size_t end = std::min(matches_.size(), next_match_ + kTakenAtOnce);
            values.grow(end);
            if (values.by == By::low_or_high) {
                take_dates(key, values, end);
            } else {
                take_texts(key, values, end);
            }
            next_match_ = end;
            if (end < matches_.size() && pace.is_over()) {
                return false;
            }
        }
    }
    return true;
}

// Ascending order goes by the earliest date, descending order by the latest.
void Sorter::take_dates(const SortKey& key, Values& values, std::size_t all_end) {
    if (key.parameter == nullptr && key.code != "_lastUpdated") {
        return;  // `_score`: all matches are equally good.
    }
    const Column column =
        key.parameter != nullptr ? key.parameter->column : column_of("_lastUpdated");
    const auto take = [&](const storage::IntervalColumn& intervals, std::uint32_t interval,
                          std::size_t match) {
        values.offer(
            values.numbers, match,
            values.descending ? intervals.all.high[interval] : intervals.all.low[interval]);
    };
    for (std::size_t begin = next_match_; begin < all_end;) {
        // The matches of a run are contiguous, in ascending or descending order.
        const SearchRun* const run = matches_[begin].run;
        std::size_t end = begin + 1;
        while (end < all_end && matches_[end].run == run) {
            ++end;
        }
        const storage::IntervalColumn intervals = run->intervals(column);
        const bool upwards = matches_[begin].document < matches_[end - 1].document;
        std::size_t match = upwards ? begin : end - 1;
        const std::uint32_t lowest = matches_[match].document;
        const std::uint32_t highest = matches_[upwards ? end - 1 : begin].document;
        const auto document_of = [&](std::uint32_t interval) {
            return intervals.all.document[interval];
        };
        const auto first = std::ranges::lower_bound(intervals.by_document, lowest, {}, document_of);
        const auto last =
            std::ranges::upper_bound(first, intervals.by_document.end(), highest, {}, document_of);
        if ((end - begin) * kLookUpShare < static_cast<std::size_t>(last - first)) {
            for (std::size_t one = begin; one < end; ++one) {
                for (const std::uint32_t interval : intervals.of(matches_[one].document)) {
                    take(intervals, interval, one);
                }
            }
        } else {
            for (auto interval = first; interval != last; ++interval) {
                const std::uint32_t document = document_of(*interval);
                // None is beyond the highest, which is a match.
                while (matches_[match].document < document) {
                    match = upwards ? match + 1 : match - 1;
                }
                if (matches_[match].document == document) {
                    take(intervals, *interval, match);
                }
            }
        }
        begin = end;
    }
}

void Sorter::take_texts(const SortKey& key, Values& values, std::size_t end) {
    for (std::size_t match = next_match_; match < end; ++match) {
        const SearchRun& run = *matches_[match].run;
        const auto texts = run.texts_of(key.parameter->column, matches_[match].document);
        if (!texts.empty()) {
            // The indexes of a run's texts are in the order of their bytes.
            values.texts[match] = run.text(values.descending ? texts.back() : texts.front());
            values.missing[match] = false;
        }
    }
}

// Whether the next bodies are only on the device, which ends the turn.
bool Sorter::must_fetch(const Pace& pace) {
    if (!pace.defers()) {
        return false;
    }
    const auto next = matches_.subspan(asked_about_);
    std::vector<Position> positions;
    for (const Match& match : next.first(std::min(next.size(), kSortBodiesFetched))) {
        positions.push_back(match.position());
    }
    asked_about_ += positions.size();
    return pace.defer(snapshot_.unread(positions));
}

bool Sorter::take_bodies(const Pace& pace) {
    BodyReader reader(snapshot_);
    const bool parses =
        std::ranges::any_of(values_, [](const Values& values) { return parses_bodies(values.by); });
    // Expressions may take long, so the clock is checked after every body.
    for (const std::size_t first = next_body_; next_body_ < matches_.size(); ++next_body_) {
        if (next_body_ != first && pace.is_over()) {
            return false;
        }
        if (next_body_ == asked_about_ && must_fetch(pace)) {
            return false;
        }
        const Match& match = matches_[next_body_];
        const Position position = match.position();
        const json::Value body = parses ? reader.read(position) : json::Value();
        const std::string_view id = parses ? reader.id() : reader.read_id(position);
        ExpressionBudget budget;
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            Values& values = values_[i];
            if (values.by == By::id && !id.empty()) {
                values.offer(values.texts, next_body_, std::string(id));
            } else if (body && parses_bodies(values.by)) {
                const Parameter& parameter = parameter_for(keys_[i], match.type);
                for_each_parameter_item(parameter, body, budget, [&](const fhirpath::Item& item) {
                    values.offer(item, next_body_);
                });
            }
        }
    }
    return true;
}

// Compares by the first `keys` keys: less than 0 if `a` comes before `b`.
int Sorter::compare(std::uint32_t a, std::uint32_t b, std::size_t keys) const {
    for (const Values& values : std::span(values_).first(keys)) {
        if (values.missing[a] != values.missing[b]) {
            return values.missing[b] != values.without_first ? -1 : 1;
        }
        if (values.missing[a]) {
            continue;
        }
        int order = 0;
        if (values.numbers.empty()) {
            order = values.texts[a].compare(values.texts[b]);
        } else if (values.numbers[a] != values.numbers[b]) {
            order = values.numbers[a] < values.numbers[b] ? -1 : 1;
        } else if (values.by_time && a != b) {
            order = matches_[a].position() < matches_[b].position() ? -1 : 1;
        }
        if (order != 0) {
            return (order < 0) != values.descending ? -1 : 1;
        }
    }
    return 0;
}

bool Sorter::before(std::uint32_t a, std::uint32_t b) const {
    const int order = compare(a, b, keys_.size());
    return order != 0 ? order < 0 : matches_[a].position() > matches_[b].position();
}

// before(), in the direction in which the page is found.
bool Sorter::is_sooner(std::uint32_t a, std::uint32_t b) const {
    return backwards_ ? before(b, a) : before(a, b);
}

bool Sorter::find_edge(const Pace& pace) {
    while (edge_.value != 0 && !edge_index_ && next_edge_ < matches_.size()) {
        if (matches_[next_edge_].position() == edge_) {
            edge_index_ = static_cast<std::uint32_t>(next_edge_);
        }
        if (pace.is_over_after(++next_edge_, kTakenAtOnce)) {
            return false;
        }
    }
    return true;
}

// Puts the first `count_` of the next matches behind the edge on the page, as a heap with the last one on top.
template <typename Sooner>
bool Sorter::place(const Pace& pace, Sooner sooner) {
    while (next_placed_ < matches_.size()) {
        const auto one = static_cast<std::uint32_t>(next_placed_);
        const bool is_full = page_.size() == count_;
        if ((!edge_index_ || sooner(*edge_index_, one)) &&
            (!is_full || sooner(one, page_.front()))) {
            if (is_full) {
                std::ranges::pop_heap(page_, sooner);
                page_.pop_back();
            }
            page_.push_back(one);
            std::ranges::push_heap(page_, sooner);
        }
        if (pace.is_over_after(++next_placed_, kPlacedAtOnce)) {
            return false;
        }
    }
    return true;
}

// Finds the matches that may be on the page by the keys before the first one that needs bodies, so that only their bodies are
// read. Whatever equals the edge or the last one on the page may be on either side.
Result<bool> Sorter::find_contenders(const Pace& pace) {
    const auto sooner = [this](std::uint32_t a, std::uint32_t b) {
        const int order = compare(a, b, known_keys_);
        return backwards_ ? order > 0 : order < 0;
    };
    if (are_chosen_) {
        return true;
    }
    if (count_ > 0 && !place(pace, sooner)) {
        return false;
    }
    const bool is_full = !page_.empty() && page_.size() == count_;
    while (next_judged_ < matches_.size()) {
        const auto one = static_cast<std::uint32_t>(next_judged_);
        if (!(edge_index_ && sooner(one, *edge_index_)) &&
            !(is_full && sooner(page_.front(), one))) {
            if (contenders_.size() == kSortedBodiesMax) {
                return Error{
                    Errc::too_costly,
                    "_sort: too many resources match to be sorted by this; narrow the search down"};
            }
            contenders_.push_back(one);
        }
        if (pace.is_over_after(++next_judged_, kPlacedAtOnce)) {
            return false;
        }
    }
    keep_contenders();
    return true;
}

// From here on the contenders are the matches, so that there is room for the values of their bodies alone.
void Sorter::keep_contenders() {
    for (const std::uint32_t match : contenders_) {
        chosen_.push_back(matches_[match]);
    }
    for (Values& values : values_) {
        values.keep(contenders_);
    }
    if (edge_index_) {
        const auto edge = std::ranges::lower_bound(contenders_, *edge_index_);
        edge_index_ = static_cast<std::uint32_t>(edge - contenders_.begin());
    }
    matches_ = chosen_;
    are_chosen_ = true;
    page_.clear();
    next_placed_ = 0;
}

bool Sorter::find_page(const Pace& pace) {
    const auto sooner = [this](std::uint32_t a, std::uint32_t b) { return is_sooner(a, b); };
    if (count_ == 0) {
        return true;
    }
    if (!place(pace, sooner)) {
        return false;
    }
    std::ranges::sort_heap(page_, sooner);
    if (backwards_) {
        std::ranges::reverse(page_);
    }
    if (are_chosen_) {
        for (std::uint32_t& match : page_) {
            match = contenders_[match];
        }
    }
    return true;
}

}  // namespace annals::core::search
