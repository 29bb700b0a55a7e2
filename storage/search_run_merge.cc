// SearchRun::merge: makes one run of several, by linear merges of their sorted arrays.
//
// Layer:   storage.
// Threads: one; the inputs are only read.

#include "core/base/sort_unique.h"
#include "storage/merge_heads.h"
#include "storage/search_run_parts.h"

#include <algorithm>

namespace annals::storage {

namespace {

constexpr std::uint32_t kDropped = 0xffff'ffff;

/// How one run's documents are renumbered.
struct Source {
    const SearchRun* run = nullptr;
    std::uint32_t first = 0;  ///< the new number of its first document, if none is dropped
    std::vector<std::uint32_t> numbers;  ///< otherwise the new number of each, or kDropped

    std::uint32_t number(std::uint32_t document) const noexcept {
        return numbers.empty() ? first + document : numbers[document];
    }
};

/// Gathers the new numbers of the remaining documents of several postings.
class Gatherer {
  public:
    void add(const Source& source, const Postings& postings) {
        std::span<const std::uint32_t> documents = postings.list;
        if (postings.bitmap != nullptr) {
            unpacked_.resize(postings.size());
            roaring_bitmap_to_uint32_array(postings.bitmap, unpacked_.data());
            documents = unpacked_;
        }
        const std::size_t before = gathered_.size();
        gathered_.resize(before + documents.size());
        std::uint32_t* to = gathered_.data() + before;
        if (source.numbers.empty()) {
            for (const std::uint32_t document : documents) {
                *to++ = source.first + document;
            }
            return;
        }
        for (const std::uint32_t document : documents) {
            *to = source.numbers[document];
            to += *to != kDropped ? 1 : 0;
        }
        gathered_.resize(static_cast<std::size_t>(to - gathered_.data()));
    }

    void clear() noexcept { gathered_.clear(); }

    std::span<const std::uint32_t> documents() const noexcept { return gathered_; }

  private:
    std::vector<std::uint32_t> unpacked_;
    std::vector<std::uint32_t> gathered_;
};

/// The distinct columns of all runs, ascending.
template <typename ColumnsOf>
std::vector<std::uint64_t> all_columns(std::span<const Source> sources, ColumnsOf columns_of) {
    std::vector<std::uint64_t> all;
    for (const Source& source : sources) {
        for (const SearchRunColumn& column : columns_of(*source.run)) {
            all.push_back(column.column);
        }
    }
    sort_unique(all);
    return all;
}

}  // namespace

/// One merge; a member class for access to the run's arrays.
class SearchRun::Merger {
  public:
    explicit Merger(const std::stop_token& stop) : stop_(stop) {}

    Merged merge(std::span<const std::shared_ptr<const SearchRun>> runs, Position horizon);

  private:
    void number_documents(std::span<const std::shared_ptr<const SearchRun>> runs, Position horizon);
    void merge_terms();
    void merge_texts();
    void merge_intervals();
    void merge_interval_column(std::uint64_t column);
    void merge_targets();
    void merge_links();

    const std::stop_token& stop_;
    SearchRunParts parts_;
    std::vector<Source> sources_;
    std::uint32_t dropped_through_ = 0;
    std::vector<std::uint32_t> died_;
    Gatherer gatherer_;
    std::vector<std::vector<std::uint32_t>> new_targets_;  ///< by source, by target
};

void SearchRun::Merger::number_documents(std::span<const std::shared_ptr<const SearchRun>> runs,
                                         Position horizon) {
    std::size_t documents = 0;
    for (const auto& run : runs) {
        documents += run->size();
    }
    parts_.positions.reserve(documents);
    parts_.keys.reserve(documents);
    died_.reserve(documents);
    const auto horizon_bits =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(horizon.value, kCurrent - 1));
    for (const auto& run : runs) {
        Source source{run.get(), static_cast<std::uint32_t>(died_.size()), {}};
        // Checked once: documents that die during the merge are kept.
        const bool some_died = run->any_died();
        for (std::uint32_t document = 0; document < run->size(); ++document) {
            const std::uint32_t died =
                some_died ? run->died_[document].load(std::memory_order_relaxed) : kCurrent;
            if (died <= horizon_bits) {
                if (source.numbers.empty()) {
                    source.numbers.resize(run->size());
                    for (std::uint32_t before = 0; before < document; ++before) {
                        source.numbers[before] = source.first + before;
                    }
                }
                source.numbers[document] = kDropped;
                dropped_through_ = std::max(dropped_through_, died);
                continue;
            }
            if (!source.numbers.empty()) {
                source.numbers[document] = static_cast<std::uint32_t>(died_.size());
            }
            parts_.positions.push_back(run->positions_[document]);
            parts_.keys.push_back(run->keys_[document]);
            died_.push_back(died);
        }
        if (died_.size() != source.first) {
            sources_.push_back(std::move(source));
        }
    }
}

void SearchRun::Merger::merge_terms() {
    MergeHeads<std::uint64_t> heads;
    std::vector<std::size_t> next(sources_.size(), 0);
    std::size_t terms = 0;
    std::size_t lists = 0;
    for (std::uint32_t i = 0; i < sources_.size(); ++i) {
        const SearchRun& run = *sources_[i].run;
        terms += run.terms_.size();
        lists += run.lists_.size();
        if (!run.terms_.empty()) {
            heads.add(run.terms_[0], i);
        }
    }
    parts_.terms.reserve(terms);
    parts_.term_postings.reserve(terms);
    parts_.lists.reserve(lists + lists / 2);
    while (!heads.empty() && !stop_.stop_requested()) {
        const std::uint64_t term = heads.key();
        gatherer_.clear();
        do {
            const std::uint32_t i = heads.sequence();
            const SearchRun& run = *sources_[i].run;
            gatherer_.add(sources_[i], run.postings_of(run.term_postings_[next[i]]));
            if (++next[i] < run.terms_.size()) {
                heads.replace(run.terms_[next[i]]);
            } else {
                heads.drop();
            }
        } while (!heads.empty() && heads.key() == term);
        if (!gatherer_.documents().empty()) {
            parts_.add_term(term, gatherer_.documents());
        }
    }
}

void SearchRun::Merger::merge_texts() {
    MergeHeads<std::string_view> heads;
    std::vector<TextRange> left(sources_.size());
    std::vector<std::vector<std::uint32_t>> indexes(sources_.size());  // new indexes, of one column
    for (const std::uint64_t column :
         all_columns(sources_, [](const SearchRun& run) { return run.text_columns_; })) {
        if (stop_.stop_requested()) {
            return;
        }
        heads.clear();
        std::vector<std::uint32_t> first(sources_.size());
        for (std::uint32_t i = 0; i < sources_.size(); ++i) {
            const SearchRun& run = *sources_[i].run;
            left[i] = run.texts(column);
            first[i] = left[i].first;
            indexes[i].clear();
            if (left[i].first != left[i].last) {
                heads.add(run.text(left[i].first), i);
            }
        }
        while (!heads.empty()) {
            const std::string_view text = heads.key();
            gatherer_.clear();
            do {
                const std::uint32_t i = heads.sequence();
                const SearchRun& run = *sources_[i].run;
                gatherer_.add(sources_[i], run.text_postings(left[i].first));
                indexes[i].push_back(parts_.text_count());
                if (++left[i].first < left[i].last) {
                    heads.replace(run.text(left[i].first));
                } else {
                    heads.drop();
                }
            } while (!heads.empty() && heads.key() == text);
            if (!gatherer_.documents().empty()) {
                parts_.add_text(text, gatherer_.documents());
            }
        }
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const SearchRun& run = *sources_[i].run;
            const Column* const found = find_column(run.text_columns_, column);
            if (found == nullptr) {
                continue;
            }
            const std::size_t begin =
                found == run.text_columns_.data() ? 0 : found[-1].by_document_end;
            for (std::size_t at = begin; at < found->by_document_end; ++at) {
                const std::uint32_t number = sources_[i].number(run.text_documents_[at]);
                if (number != kDropped) {
                    parts_.text_documents.push_back(number);
                    parts_.text_indexes.push_back(indexes[i][run.text_indexes_[at] - first[i]]);
                }
            }
        }
        const std::uint32_t before =
            parts_.text_columns.empty() ? 0 : parts_.text_columns.back().end;
        if (parts_.text_count() != before) {
            parts_.end_text_column(column, parts_.text_count());
        }
    }
}

void SearchRun::Merger::merge_intervals() {
    std::size_t intervals = 0;
    for (const Source& source : sources_) {
        intervals += source.run->interval_lows_.size();
    }
    parts_.interval_lows.reserve(intervals);
    parts_.interval_highs.reserve(intervals);
    parts_.interval_documents.reserve(intervals);
    parts_.intervals_by_document.reserve(intervals);
    for (const std::uint64_t column :
         all_columns(sources_, [](const SearchRun& run) { return run.interval_columns_; })) {
        if (!stop_.stop_requested()) {
            merge_interval_column(column);
        }
    }
}

void SearchRun::Merger::merge_interval_column(std::uint64_t column) {
    // Each run has two sequences: its shorter and its longer ones.
    struct Sequence {
        std::uint32_t source;
        std::uint32_t next;
        std::uint32_t end;
    };

    std::vector<IntervalColumn> columns(sources_.size());
    std::vector<std::vector<std::uint32_t>> indexes(sources_.size());  // new indexes, or kDropped
    std::vector<Sequence> sequences;
    MergeHeads<std::int64_t> heads;
    ShortSpan short_span;
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < sources_.size(); ++i) {
        columns[i] = sources_[i].run->intervals(column);
        const Intervals& all = columns[i].all;
        indexes[i].assign(all.size(), kDropped);
        for (std::size_t at = 0; at < all.size(); ++at) {
            if (sources_[i].number(all.document[at]) != kDropped) {
                short_span.add(all.low[at], all.high[at]);
                ++count;
            }
        }
        const auto size = static_cast<std::uint32_t>(all.size());
        for (const auto [begin, end] :
             {std::pair{0U, columns[i].shorter_count}, std::pair{columns[i].shorter_count, size}}) {
            if (begin != end) {
                heads.add(all.low[begin], static_cast<std::uint32_t>(sequences.size()));
                sequences.push_back({i, begin, end});
            }
        }
    }
    if (count == 0) {
        return;
    }
    short_span.decide();

    const std::size_t first = parts_.interval_lows.size();
    parts_.interval_lows.resize(first + count);
    parts_.interval_highs.resize(first + count);
    parts_.interval_documents.resize(first + count);
    std::uint32_t shorter = 0;
    std::uint32_t longer = short_span.shorter_count();
    // Of equal ones, those of earlier sources come first, so that points ascend by document, which OrderedWalk relies on.
    while (!heads.empty()) {
        Sequence& sequence = sequences[heads.sequence()];
        const Intervals& all = columns[sequence.source].all;
        const std::size_t at = sequence.next;
        const std::uint32_t number = sources_[sequence.source].number(all.document[at]);
        if (number != kDropped) {
            const bool is_short = ShortSpan::length(all.low[at], all.high[at]) <= short_span.span();
            const std::uint32_t to = is_short ? shorter++ : longer++;
            parts_.interval_lows[first + to] = all.low[at];
            parts_.interval_highs[first + to] = all.high[at];
            parts_.interval_documents[first + to] = number;
            indexes[sequence.source][at] = to;
        }
        if (++sequence.next < sequence.end) {
            heads.replace(all.low[sequence.next]);
        } else {
            heads.drop();
        }
    }
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        for (const std::uint32_t index : columns[i].by_document) {
            if (indexes[i][index] != kDropped) {
                parts_.intervals_by_document.push_back(indexes[i][index]);
            }
        }
    }
    parts_.end_interval_column(column, short_span.span(), short_span.shorter_count());
}

void SearchRun::Merger::merge_targets() {
    new_targets_.resize(sources_.size());
    MergeHeads<std::uint64_t> heads;
    std::vector<std::size_t> next(sources_.size(), 0);
    // If documents are dropped, kDropped marks the targets that only they refer to.
    for (std::uint32_t i = 0; i < sources_.size(); ++i) {
        const SearchRun& run = *sources_[i].run;
        const bool all = sources_[i].numbers.empty();
        new_targets_[i].assign(run.targets_.size(), all ? 0 : kDropped);
        if (!all) {
            for (std::size_t at = 0; at < run.link_documents_.size(); ++at) {
                if (sources_[i].number(run.link_documents_[at]) != kDropped) {
                    new_targets_[i][run.link_targets_[at]] = 0;
                }
            }
        }
        if (!run.targets_.empty()) {
            heads.add(run.targets_[0], i);
        }
    }
    while (!heads.empty()) {
        const std::uint64_t target = heads.key();
        const std::uint32_t i = heads.sequence();
        const SearchRun& run = *sources_[i].run;
        std::uint32_t& renamed = new_targets_[i][next[i]];
        if (renamed != kDropped) {
            if (parts_.targets.empty() || parts_.targets.back() != target) {
                parts_.targets.push_back(target);
            }
            renamed = static_cast<std::uint32_t>(parts_.targets.size() - 1);
        }
        if (++next[i] < run.targets_.size()) {
            heads.replace(run.targets_[next[i]]);
        } else {
            heads.drop();
        }
    }
}

void SearchRun::Merger::merge_links() {
    merge_targets();
    std::size_t links = 0;
    for (const Source& source : sources_) {
        links += source.run->link_documents_.size();
    }
    parts_.link_documents.reserve(links);
    parts_.link_targets.reserve(links);
    for (const std::uint64_t column :
         all_columns(sources_, [](const SearchRun& run) { return run.link_columns_; })) {
        const std::size_t before = parts_.link_documents.size();
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const LinkColumn found = sources_[i].run->links(column);
            for (std::size_t at = 0; at < found.size(); ++at) {
                const std::uint32_t number = sources_[i].number(found.document[at]);
                if (number != kDropped) {
                    parts_.link_documents.push_back(number);
                    parts_.link_targets.push_back(new_targets_[i][found.target[at]]);
                }
            }
        }
        if (parts_.link_documents.size() != before) {
            parts_.end_link_column(column);
        }
    }
}

SearchRun::Merged SearchRun::Merger::merge(std::span<const std::shared_ptr<const SearchRun>> runs,
                                           Position horizon) {
    number_documents(runs, horizon);
    const Position dropped_through{dropped_through_};
    if (sources_.empty()) {
        return {nullptr, dropped_through};
    }
    merge_terms();
    merge_texts();
    merge_intervals();
    merge_links();
    if (stop_.stop_requested()) {
        return {};
    }
    std::shared_ptr<SearchRun> run = make(parts_, false);
    for (std::uint32_t document = 0; document < run->size(); ++document) {
        if (died_[document] != kCurrent) {
            run->mark_died(document, {died_[document]});
        }
    }
    return {std::move(run), dropped_through};
}

SearchRun::Merged SearchRun::merge(std::span<const std::shared_ptr<const SearchRun>> runs,
                                   Position horizon, const std::stop_token& stop) {
    return Merger(stop).merge(runs, horizon);
}

bool SearchRun::fits_one(std::span<const std::shared_ptr<const SearchRun>> runs) noexcept {
    const auto sum = [&runs](auto of) {
        std::uint64_t all = 0;
        for (const auto& run : runs) {
            all += of(*run);
        }
        return all;
    };
    const std::uint64_t documents = sum([](const SearchRun& run) { return run.size(); });
    // Single documents of the same key become a list with its size; a bitmap may shrink to one.
    const std::uint64_t lists = sum([](const SearchRun& run) {
        return run.lists_.size() + 2 * (run.terms_.size() + run.text_ends_.size()) +
               (kListMax + 1) * run.bitmaps_.size();
    });
    const std::uint64_t most =
        std::max({sum([](const SearchRun& run) { return run.terms_.size(); }),
                  sum([](const SearchRun& run) { return run.characters_.size(); }),
                  sum([](const SearchRun& run) { return run.text_documents_.size(); }),
                  sum([](const SearchRun& run) { return run.interval_lows_.size(); }),
                  sum([](const SearchRun& run) { return run.link_documents_.size(); })});
    return documents <= kRunDocumentsMax && lists <= kRunListsMax && most < kRunItemsMax;
}

}  // namespace annals::storage
