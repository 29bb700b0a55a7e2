// SearchRun::build: from documents to sorted arrays.
//
// Terms, which are most of it, are sorted by their bits. For the rest, equal keys are found by hashing and only distinct ones
// are sorted.
//
// Layer:   storage.
// Threads: any; each has scratch memory of its own.

#include "core/base/digest.h"
#include "storage/search_run_parts.h"

#include <algorithm>
#include <array>
#include <bit>

namespace annals::storage {

namespace {

/// Scratch memory of larger batches is freed.
constexpr std::size_t kKeptDocumentsMax = 16'384;

/// Numbers distinct keys in order of appearance.
class Groups {
  public:
    void clear(std::size_t expected) {
        keys_.clear();
        resize(std::bit_ceil(std::clamp<std::size_t>(expected, 32, 1024)));
    }

    std::size_t size() const noexcept { return keys_.size(); }

    std::uint64_t key(std::uint32_t group) const noexcept { return keys_[group]; }

    /// The group of `key`; a new one has the previous size() as its number.
    std::uint32_t add(std::uint64_t key) {
        std::uint32_t& slot = find(key);
        if (slot != kNone) {
            return slot;
        }
        const auto group = static_cast<std::uint32_t>(keys_.size());
        slot = group;
        keys_.push_back(key);
        if (keys_.size() * 2 > slots_.size()) {
            resize(slots_.size() * 2);
        }
        return group;
    }

    /// The groups, ascending by key.
    std::span<const std::uint32_t> ordered() {
        sorted_.clear();
        for (std::uint32_t group = 0; group < keys_.size(); ++group) {
            sorted_.push_back({keys_[group], group});
        }
        std::ranges::sort(sorted_, {}, &Sorted::key);
        order_.clear();
        for (const Sorted& sorted : sorted_) {
            order_.push_back(sorted.group);
        }
        return order_;
    }

  private:
    struct Sorted {
        std::uint64_t key;
        std::uint32_t group;
    };

    static constexpr std::uint32_t kNone = 0xffff'ffff;

    std::uint32_t& find(std::uint64_t key) noexcept {
        std::size_t at = (key * 0x9e37'79b9'7f4a'7c15) >> shift_;
        while (slots_[at] != kNone && keys_[slots_[at]] != key) {
            at = (at + 1) & (slots_.size() - 1);
        }
        return slots_[at];
    }

    void resize(std::size_t slots) {
        slots_.assign(slots, kNone);
        shift_ = 64 - std::countr_zero(slots);
        for (std::uint32_t group = 0; group < keys_.size(); ++group) {
            find(keys_[group]) = group;
        }
    }

    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> slots_;
    int shift_ = 0;
    std::vector<Sorted> sorted_;
    std::vector<std::uint32_t> order_;
};

/// Groups values by key, in the order in which they came.
template <typename Value>
class Grouped {
  public:
    void clear(std::size_t expected) {
        groups_.clear(expected);
        members_.clear();
    }

    void add(std::uint64_t key, const Value& value) {
        members_.push_back({groups_.add(key), value});
    }

    /// Calls use(key, values) for each key, ascending. The values may be changed.
    template <typename Use>
    void for_each(Use use) {
        const std::span<const std::uint32_t> order = groups_.ordered();
        ends_.assign(groups_.size(), 0);
        for (const Member& member : members_) {
            ++ends_[member.group];
        }
        std::uint32_t end = 0;
        for (const std::uint32_t group : order) {
            end += std::exchange(ends_[group], end);
        }
        values_.resize(members_.size());
        for (const Member& member : members_) {
            values_[ends_[member.group]++] = member.value;
        }
        std::uint32_t begin = 0;
        for (const std::uint32_t group : order) {
            use(groups_.key(group), std::span(values_).subspan(begin, ends_[group] - begin));
            begin = ends_[group];
        }
    }

  private:
    struct Member {
        std::uint32_t group;
        Value value;
    };

    Groups groups_;
    std::vector<Member> members_;
    std::vector<std::uint32_t> ends_;
    std::vector<Value> values_;
};

struct TermOf {
    std::uint64_t term;
    std::uint32_t document;

    auto operator<=>(const TermOf&) const = default;
};

/// Sorts pairs, whose documents ascend, by term: two passes, each by a part of the upper bits. Terms are hashes, so few agree
/// in these bits and differ in the rest.
class TermSorter {
  public:
    void sort(std::vector<TermOf>& pairs) {
        if (pairs.size() < kFewPairs) {
            std::ranges::sort(pairs);
            return;
        }
        for (Counts& counts : counts_) {
            counts.fill(0);
        }
        for (const TermOf& pair : pairs) {
            for (std::size_t pass = 0; pass < kPasses; ++pass) {
                ++counts_[pass][digit(pair.term, pass)];
            }
        }
        other_.resize(pairs.size());
        for (std::size_t pass = 0; pass < kPasses; ++pass) {
            Counts& places = counts_[pass];
            std::uint32_t place = 0;
            for (std::uint32_t& count : places) {
                place += std::exchange(count, place);
            }
            for (const TermOf& pair : pairs) {
                other_[places[digit(pair.term, pass)]++] = pair;
            }
            pairs.swap(other_);
        }
        sort_rest(pairs);
    }

  private:
    static constexpr std::size_t kFewPairs = 2048;
    static constexpr std::size_t kPasses = 2;
    static constexpr unsigned kDigitBits = 11;
    static constexpr unsigned kRestBits = 64 - kPasses * kDigitBits;
    using Counts = std::array<std::uint32_t, 1U << kDigitBits>;

    static std::size_t digit(std::uint64_t term, std::size_t pass) noexcept {
        return (term >> (kRestBits + kDigitBits * pass)) & ((1U << kDigitBits) - 1);
    }

    /// Sorts those that agree only in their upper bits.
    static void sort_rest(std::vector<TermOf>& pairs) {
        const auto alike = [](const TermOf& a, const TermOf& b) {
            return a.term >> kRestBits == b.term >> kRestBits;
        };
        for (std::size_t i = 1; i < pairs.size(); ++i) {
            if (pairs[i].term < pairs[i - 1].term) {
                std::size_t begin = i;
                while (begin > 0 && alike(pairs[begin - 1], pairs[i])) {
                    --begin;
                }
                std::size_t end = i;
                while (end < pairs.size() && alike(pairs[end], pairs[i])) {
                    ++end;
                }
                std::sort(pairs.begin() + static_cast<std::ptrdiff_t>(begin),
                          pairs.begin() + static_cast<std::ptrdiff_t>(end));
                i = end - 1;
            }
        }
    }

    std::vector<TermOf> other_;
    std::array<Counts, kPasses> counts_;
};

struct Interval {
    std::int64_t low;
    std::int64_t high;
    std::uint32_t document;

    auto operator<=>(const Interval&) const = default;
};

struct Text {
    std::uint64_t column;
    std::string_view text;

    auto operator<=>(const Text&) const = default;
};

/// A document and an index in one number, which sorts by document first.
constexpr std::uint64_t pair(std::uint32_t document, std::uint32_t index) noexcept {
    return std::uint64_t{document} << 32 | index;
}

constexpr std::uint32_t document_of(std::uint64_t pair) noexcept {
    return static_cast<std::uint32_t>(pair >> 32);
}

constexpr std::uint32_t index_of(std::uint64_t pair) noexcept {
    return static_cast<std::uint32_t>(pair);
}

/// Most arrive in order already.
template <typename Value>
void sort_if_needed(std::span<Value> values) {
    if (!std::ranges::is_sorted(values)) {
        std::ranges::sort(values);
    }
}

template <typename Value>
std::span<Value> without_repeats(std::span<Value> sorted) {
    const auto repeats = std::ranges::unique(sorted);
    return sorted.first(sorted.size() - repeats.size());
}

class Builder {
  public:
    SearchRunParts& build(std::span<const IndexedDocument> batch);

  private:
    void build_terms(std::span<const IndexedDocument> batch);
    void number_texts(std::span<const IndexedDocument> batch);
    void build_texts(std::span<const IndexedDocument> batch);
    void build_intervals(std::span<const IndexedDocument> batch);
    void build_interval_column(std::uint64_t column, std::span<const Interval> intervals);
    void build_links(std::span<const IndexedDocument> batch);

    SearchRunParts parts_;
    std::vector<TermOf> terms_;
    TermSorter term_sorter_;
    std::vector<std::uint32_t> documents_;  ///< of one term
    Groups text_hashes_;
    std::vector<Text> texts_;                   ///< distinct, by group
    std::vector<std::uint32_t> text_order_;     ///< groups, ascending
    std::vector<std::uint32_t> ranks_;          ///< by group: its place in the order
    std::vector<std::uint32_t> group_of_;       ///< of each text of each document
    Grouped<std::uint32_t> documents_by_text_;  ///< by rank
    Grouped<std::uint64_t> texts_by_document_;  ///< by column: pairs with ranks
    Grouped<Interval> intervals_;               ///< by column
    Groups targets_;
    Grouped<std::uint64_t> links_;  ///< by column: pairs with ranks of targets
    std::vector<std::uint64_t> pairs_;
};

SearchRunParts& Builder::build(std::span<const IndexedDocument> batch) {
    for (const IndexedDocument& document : batch) {
        ANNALS_CHECK(
            document.position.value < 0xffff'ffff &&
            (parts_.positions.empty() || parts_.positions.back() < document.position.value));
        parts_.positions.push_back(static_cast<std::uint32_t>(document.position.value));
        parts_.keys.push_back(document.key);
    }
    build_terms(batch);
    build_texts(batch);
    build_intervals(batch);
    build_links(batch);
    return parts_;
}

void Builder::build_terms(std::span<const IndexedDocument> batch) {
    std::size_t count = 0;
    for (const IndexedDocument& document : batch) {
        count += document.entries.terms.size();
    }
    terms_.resize(count);
    TermOf* to = terms_.data();
    for (std::uint32_t document = 0; document < batch.size(); ++document) {
        for (const std::uint64_t term : batch[document].entries.terms) {
            *to++ = {term, document};
        }
    }
    term_sorter_.sort(terms_);
    documents_.resize(batch.size());
    for (auto pair = terms_.cbegin(); pair != terms_.cend();) {
        const std::uint64_t term = pair->term;
        std::size_t documents = 0;
        for (; pair != terms_.cend() && pair->term == term; ++pair) {
            // A document that has the term twice overwrites itself.
            documents -= documents != 0 && documents_[documents - 1] == pair->document ? 1 : 0;
            documents_[documents++] = pair->document;
        }
        parts_.add_term(term, std::span(documents_).first(documents));
    }
}

/// Finds the distinct texts and their order.
void Builder::number_texts(std::span<const IndexedDocument> batch) {
    text_hashes_.clear(batch.size());
    texts_.clear();
    group_of_.clear();
    for (const IndexedDocument& document : batch) {
        for (const SearchEntries::Text& entry : document.entries.texts) {
            const Text text{entry.column, document.entries.text(entry)};
            std::uint64_t hash = hash64(text.text, text.column);
            std::uint32_t group = text_hashes_.add(hash);
            while (group < texts_.size() && texts_[group] != text) {
                group = text_hashes_.add(++hash);  // another text has this hash
            }
            if (group == texts_.size()) {
                texts_.push_back(text);
            }
            group_of_.push_back(group);
        }
    }
    text_order_.resize(texts_.size());
    for (std::uint32_t group = 0; group < texts_.size(); ++group) {
        text_order_[group] = group;
    }
    std::ranges::sort(text_order_, {}, [this](std::uint32_t group) { return texts_[group]; });
    ranks_.resize(texts_.size());
    for (std::uint32_t rank = 0; rank < texts_.size(); ++rank) {
        ranks_[text_order_[rank]] = rank;
    }
}

void Builder::build_texts(std::span<const IndexedDocument> batch) {
    number_texts(batch);
    documents_by_text_.clear(texts_.size());
    texts_by_document_.clear(0);
    const std::uint32_t* group = group_of_.data();
    for (std::uint32_t document = 0; document < batch.size(); ++document) {
        for (const SearchEntries::Text& entry : batch[document].entries.texts) {
            const std::uint32_t rank = ranks_[*group++];
            documents_by_text_.add(rank, document);
            texts_by_document_.add(entry.column, pair(document, rank));
        }
    }
    documents_by_text_.for_each([this](std::uint64_t rank, std::span<std::uint32_t> documents) {
        parts_.add_text(texts_[text_order_[rank]].text, without_repeats(documents));
    });
    std::uint32_t end = 0;
    texts_by_document_.for_each([&](std::uint64_t column, std::span<std::uint64_t> pairs) {
        sort_if_needed(pairs);
        for (const std::uint64_t of : without_repeats(pairs)) {
            parts_.text_documents.push_back(document_of(of));
            parts_.text_indexes.push_back(index_of(of));
            end = std::max(end, index_of(of) + 1);
        }
        parts_.end_text_column(column, end);
    });
}

void Builder::build_intervals(std::span<const IndexedDocument> batch) {
    intervals_.clear(0);
    for (std::uint32_t document = 0; document < batch.size(); ++document) {
        for (const SearchEntries::Interval& interval : batch[document].entries.intervals) {
            // An interval that ends before it begins (a period can say so) is never found.
            if (interval.low <= interval.high) {
                intervals_.add(interval.column, {interval.low, interval.high, document});
            }
        }
    }
    intervals_.for_each([this](std::uint64_t column, std::span<Interval> intervals) {
        sort_if_needed(intervals);
        build_interval_column(column, intervals);
    });
}

void Builder::build_interval_column(std::uint64_t column, std::span<const Interval> intervals) {
    ShortSpan short_span;
    for (const Interval& interval : intervals) {
        short_span.add(interval.low, interval.high);
    }
    short_span.decide();
    pairs_.clear();
    const auto add = [&](bool shorter) {
        for (const Interval& interval : intervals) {
            const std::uint64_t length = ShortSpan::length(interval.low, interval.high);
            if ((length <= short_span.span()) == shorter) {
                pairs_.push_back(
                    pair(interval.document, static_cast<std::uint32_t>(pairs_.size())));
                parts_.interval_lows.push_back(interval.low);
                parts_.interval_highs.push_back(interval.high);
                parts_.interval_documents.push_back(interval.document);
            }
        }
    };
    add(true);
    add(false);
    sort_if_needed(std::span(pairs_));
    for (const std::uint64_t of : pairs_) {
        parts_.intervals_by_document.push_back(index_of(of));
    }
    parts_.end_interval_column(column, short_span.span(), short_span.shorter_count());
}

void Builder::build_links(std::span<const IndexedDocument> batch) {
    targets_.clear(batch.size());
    for (const IndexedDocument& document : batch) {
        for (const SearchEntries::Link& link : document.entries.links) {
            targets_.add(link.target);
        }
    }
    ranks_.resize(targets_.size());
    for (const std::uint32_t group : targets_.ordered()) {
        ranks_[group] = static_cast<std::uint32_t>(parts_.targets.size());
        parts_.targets.push_back(targets_.key(group));
    }
    links_.clear(0);
    for (std::uint32_t document = 0; document < batch.size(); ++document) {
        for (const SearchEntries::Link& link : batch[document].entries.links) {
            links_.add(link.column, pair(document, ranks_[targets_.add(link.target)]));
        }
    }
    links_.for_each([this](std::uint64_t column, std::span<std::uint64_t> pairs) {
        sort_if_needed(pairs);
        for (const std::uint64_t of : without_repeats(pairs)) {
            parts_.link_documents.push_back(document_of(of));
            parts_.link_targets.push_back(index_of(of));
        }
        parts_.end_link_column(column);
    });
}

}  // namespace

std::shared_ptr<const SearchRun> SearchRun::build(std::span<const IndexedDocument> documents) {
    ANNALS_CHECK(!documents.empty());
    static thread_local Builder builder;
    std::shared_ptr<SearchRun> run = make(builder.build(documents), true);
    if (documents.size() > kKeptDocumentsMax) {
        builder = {};
    }
    return run;
}

}  // namespace annals::storage
