#include "core/search/sort.h"

#include "core/search/parameter_values.h"
#include "core/search/ranges.h"
#include "core/search/values.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace annals::core::search {

namespace {

using schema::SearchType;
using storage::SearchRun;

// Below this share of a column each document is looked up by itself.
constexpr std::size_t kLookUpShare = 20;
constexpr std::size_t kBodiesFetched = 256;  // at once

// What a key is sorted by.
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

bool reads_bodies(By by) noexcept {
    return by == By::id || by == By::body_text || by == By::body_number;
}

std::optional<double> read_number(json::Value number) {
    return number.is(json::Kind::number) ? number_value(number.raw()) : std::nullopt;
}

// The value of a Quantity; of a Range and SampledData the end that counts in this direction.
std::optional<double> number_in(json::Value value, bool descending) {
    if (!value.is_object()) {
        return read_number(value);
    }
    if (const auto own = read_number(value["value"])) {
        return own;
    }
    const auto low = read_number(value["low"]["value"]);
    const auto high = read_number(value["high"]["value"]);
    if (low && high) {
        return descending ? high : low;
    }
    if (low || high) {
        return low ? low : high;
    }
    const auto sampled = sampled_bounds(value);
    if (!sampled) {
        return {};
    }
    return descending ? sampled->high : sampled->low;
}

// The same of what an expression gives, which may be computed.
std::optional<double> number_in(const fhirpath::Item& item, bool descending) {
    return item.is_element() ? number_in(item.value(), descending)
                             : number_value(fhirpath::to_text(item));
}

// What a token, reference or uri is sorted by: its code, of several the first in this direction, else its text.
std::string text_in(json::Value value, bool descending) {
    if (!value.is_object()) {
        return value.is_string() ? value.string() : std::string(value.raw());
    }
    std::string best;
    for (const json::Value coding : value["coding"].elements()) {
        std::string code = coding["code"].string();
        if (!code.empty() && (best.empty() || (descending ? code > best : code < best))) {
            best = std::move(code);
        }
    }
    if (!best.empty()) {
        return best;
    }
    for (const char* const name : {"code", "reference", "value", "text", "display"}) {
        if (value[name].is_string()) {
            return value[name].string();
        }
    }
    return {};
}

std::string text_in(const fhirpath::Item& item, bool descending) {
    if (!item.is_element()) {
        return fhirpath::to_text(item);
    }
    return item.value() ? text_in(item.value(), descending) : std::string();
}

const Parameter& parameter_for(const SortKey& key, TypeId type) {
    const auto own = std::ranges::find_if(
        key.of_types, [&](const auto& of_type) { return of_type.first == type; });
    return own == key.of_types.end() ? *key.parameter : *own->second;
}

}  // namespace

// The values of one key, by match.
struct Sorter::Values {
    By by = By::low_or_high;
    bool descending = false;
    bool by_time =
        false;  // `_lastUpdated`: what came in one instant came in the order of positions
    std::vector<std::int64_t> numbers;
    std::vector<std::string> texts;
    std::vector<bool> missing;
};

Sorter::Sorter(Snapshot& snapshot, std::span<const SortKey> keys, std::span<const Match> matches)
    : snapshot_(snapshot), keys_(keys), matches_(matches) {
    for (const SortKey& key : keys) {
        Values& values = values_.emplace_back();
        values.by = by_of(key);
        values.descending = key.descending;
        values.by_time = key.parameter == nullptr && key.code == "_lastUpdated";
        values.missing.assign(matches.size(), true);
        if (values.by == By::low_or_high || values.by == By::body_number) {
            values.numbers.resize(matches.size());
        } else {
            values.texts.resize(matches.size());
        }
    }
}

Sorter::~Sorter() = default;

Result<bool> Sorter::advance(const Pace& pace) {
    if (!prepared_) {
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            if (values_[i].by == By::low_or_high) {
                take_dates(keys_[i], values_[i]);
            } else if (values_[i].by == By::text) {
                take_texts(keys_[i], values_[i]);
            }
        }
        prepared_ = true;
    }
    if (std::none_of(values_.begin(), values_.end(),
                     [](const Values& values) { return reads_bodies(values.by); })) {
        return true;
    }
    if (matches_.size() > kSortedBodiesMax) {
        return Error{Errc::too_costly,
                     "_sort: too many resources match to be sorted by this; narrow the search down",
                     ""};
    }
    return take_bodies(pace);
}

// Ascending by the earliest, descending by the latest.
void Sorter::take_dates(const SortKey& key, Values& values) {
    if (key.parameter == nullptr && key.code != "_lastUpdated") {
        return;  // `_score`: nothing here matches more or less.
    }
    const Column column =
        key.parameter != nullptr ? key.parameter->column : column_of("_lastUpdated");
    const auto take = [&](const storage::IntervalColumn& intervals, std::uint32_t interval,
                          std::size_t match) {
        const std::int64_t value =
            values.descending ? intervals.all.high[interval] : intervals.all.low[interval];
        const bool better =
            values.missing[match] ||
            (values.descending ? value > values.numbers[match] : value < values.numbers[match]);
        if (better) {
            values.numbers[match] = value;
            values.missing[match] = false;
        }
    };
    for (std::size_t begin = 0; begin < matches_.size();) {
        // The matches of one run stand together, all up or all down.
        const SearchRun* const run = matches_[begin].run;
        std::size_t end = begin + 1;
        while (end < matches_.size() && matches_[end].run == run) {
            ++end;
        }
        const storage::IntervalColumn intervals = run->intervals(column);
        if ((end - begin) * kLookUpShare < intervals.all.size()) {
            for (std::size_t match = begin; match < end; ++match) {
                for (const std::uint32_t interval : intervals.of(matches_[match].document)) {
                    take(intervals, interval, match);
                }
            }
        } else {
            const bool upwards = matches_[begin].document < matches_[end - 1].document;
            std::size_t match = upwards ? begin : end - 1;
            std::size_t left = end - begin;
            for (const std::uint32_t interval : intervals.by_document) {
                const std::uint32_t document = intervals.all.document[interval];
                while (left > 0 && matches_[match].document < document) {
                    --left;
                    match = upwards ? match + 1 : match - 1;
                }
                if (left == 0) {
                    break;
                }
                if (matches_[match].document == document) {
                    take(intervals, interval, match);
                }
            }
        }
        begin = end;
    }
}

void Sorter::take_texts(const SortKey& key, Values& values) {
    for (std::size_t match = 0; match < matches_.size(); ++match) {
        const SearchRun& run = *matches_[match].run;
        const auto texts = run.texts_of(key.parameter->column, matches_[match].document);
        if (!texts.empty()) {
            // The texts of a run ascend by bytes with their indexes.
            values.texts[match] = run.text(values.descending ? texts.back() : texts.front());
            values.missing[match] = false;
        }
    }
}

// Whether the next bodies are on the device only; then the turn is over.
bool Sorter::must_fetch(const Pace& pace) {
    if (!pace.defers()) {
        return false;
    }
    const auto next = matches_.subspan(asked_about_);
    std::vector<Position> positions;
    for (const Match& match : next.first(std::min(next.size(), kBodiesFetched))) {
        positions.push_back(match.position());
    }
    asked_about_ += positions.size();
    return pace.defer(snapshot_.unread(positions));
}

bool Sorter::take_bodies(const Pace& pace) {
    BodyReader reader(snapshot_);
    // An expression may take long, so the clock is looked at after every body.
    for (const std::size_t first = next_body_; next_body_ < matches_.size(); ++next_body_) {
        if (next_body_ != first && pace.is_over()) {
            return false;
        }
        if (next_body_ == asked_about_ && must_fetch(pace)) {
            return false;
        }
        const json::Value body = reader.read(matches_[next_body_].position());
        for (std::size_t i = 0; body && i < keys_.size(); ++i) {
            Values& values = values_[i];
            if (values.by == By::id) {
                values.texts[next_body_] = reader.id();
                values.missing[next_body_] = false;
            } else if (values.by == By::body_text) {
                const Parameter& parameter = parameter_for(keys_[i], matches_[next_body_].type);
                for_each_parameter_item(parameter, body, [&](const fhirpath::Item& item) {
                    std::string text = text_in(item, values.descending);
                    std::string& best = values.texts[next_body_];
                    if (!text.empty() && (values.missing[next_body_] ||
                                          (values.descending ? text > best : text < best))) {
                        best = std::move(text);
                        values.missing[next_body_] = false;
                    }
                });
            } else if (values.by == By::body_number) {
                const Parameter& parameter = parameter_for(keys_[i], matches_[next_body_].type);
                for_each_parameter_item(parameter, body, [&](const fhirpath::Item& item) {
                    const auto number = number_in(item, values.descending);
                    if (!number) {
                        return;
                    }
                    std::int64_t& best = values.numbers[next_body_];
                    const std::int64_t own = ordered(*number);
                    if (values.missing[next_body_] ||
                        (values.descending ? own > best : own < best)) {
                        best = own;
                        values.missing[next_body_] = false;
                    }
                });
            }
        }
    }
    return true;
}

bool Sorter::before(std::uint32_t a, std::uint32_t b) const {
    for (const Values& values : values_) {
        if (values.missing[a] != values.missing[b]) {
            return values.missing[b];
        }
        if (values.missing[a]) {
            continue;
        }
        if (!values.numbers.empty()) {
            if (values.numbers[a] != values.numbers[b]) {
                return (values.numbers[a] < values.numbers[b]) != values.descending;
            }
            if (values.by_time && a != b) {
                return (matches_[a].position() < matches_[b].position()) != values.descending;
            }
        } else if (const int order = values.texts[a].compare(values.texts[b]); order != 0) {
            return (order < 0) != values.descending;
        }
    }
    return matches_[a].position() > matches_[b].position();
}

std::vector<std::uint32_t> Sorter::page(Position edge, bool backwards, std::size_t count,
                                        bool& found_edge) const {
    std::vector<std::uint32_t> order(matches_.size());
    std::iota(order.begin(), order.end(), 0);
    found_edge = true;
    if (edge.value != 0) {
        const auto at = std::find_if(matches_.begin(), matches_.end(),
                                     [&](const Match& match) { return match.position() == edge; });
        found_edge = at != matches_.end();
        if (!found_edge) {
            return {};
        }
        const auto index = static_cast<std::uint32_t>(at - matches_.begin());
        std::erase_if(order, [&](std::uint32_t one) {
            return !(backwards ? before(one, index) : before(index, one));
        });
    }
    const auto wanted = static_cast<std::ptrdiff_t>(std::min(count, order.size()));
    if (backwards) {
        std::partial_sort(order.begin(), order.begin() + wanted, order.end(),
                          [&](std::uint32_t a, std::uint32_t b) { return before(b, a); });
        order.resize(static_cast<std::size_t>(wanted));
        std::reverse(order.begin(), order.end());
    } else {
        std::partial_sort(order.begin(), order.begin() + wanted, order.end(),
                          [&](std::uint32_t a, std::uint32_t b) { return before(a, b); });
        order.resize(static_cast<std::size_t>(wanted));
    }
    return order;
}

}  // namespace annals::core::search
