// SearchRun::build: from documents to sorted arrays.
//
// Layer:   storage.
// Threads: each has scratch memory of its own.

#include "storage/search_run_parts.h"

#include <algorithm>
#include <tuple>

namespace annals::storage {

namespace {

/// Scratch memory of larger batches is given back.
constexpr std::size_t kKeptDocumentsMax = 4096;

struct TermOf {
    std::uint64_t term;
    std::uint32_t document;
};

struct TextOf {
    std::uint64_t column;
    std::string_view text;
    std::uint32_t document;
};

struct IntervalOf {
    std::uint64_t column;
    std::int64_t low;
    std::int64_t high;
    std::uint32_t document;
};

struct LinkOf {
    std::uint64_t column;
    std::uint64_t target;
    std::uint32_t document;
};

struct Scratch {
    SearchRunParts parts;
    std::vector<TermOf> terms;
    std::vector<TextOf> texts;
    std::vector<IntervalOf> intervals;
    std::vector<LinkOf> links;
    std::vector<std::uint32_t> documents;
    std::vector<std::uint64_t> pairs;  ///< a document in the upper half, an index in the lower

    void collect(std::span<const IndexedDocument> batch);
    void make_terms();
    void make_texts();
    void make_intervals();
    void make_links();
};

constexpr std::uint64_t pair(std::uint32_t document, std::uint32_t index) noexcept {
    return std::uint64_t{document} << 32 | index;
}

void Scratch::collect(std::span<const IndexedDocument> batch) {
    terms.clear();
    texts.clear();
    intervals.clear();
    links.clear();
    std::uint32_t number = 0;
    for (const IndexedDocument& document : batch) {
        ANNALS_CHECK(document.position.value < 0xffff'ffff &&
                     (number == 0 || parts.positions.back() < document.position.value));
        parts.positions.push_back(static_cast<std::uint32_t>(document.position.value));
        parts.keys.push_back(document.key);
        const SearchEntries& entries = *document.entries;
        for (const std::uint64_t term : entries.terms) {
            terms.push_back({term, number});
        }
        for (const SearchEntries::Text& text : entries.texts) {
            texts.push_back({text.column, entries.text(text), number});
        }
        for (const SearchEntries::Interval& interval : entries.intervals) {
            // What ends before it begins (a period can say so) is found nowhere.
            if (interval.low <= interval.high) {
                intervals.push_back({interval.column, interval.low, interval.high, number});
            }
        }
        for (const SearchEntries::Link& link : entries.links) {
            links.push_back({link.column, link.target, number});
        }
        ++number;
    }
}

void Scratch::make_terms() {
    std::ranges::sort(terms, [](const TermOf& a, const TermOf& b) {
        return a.term != b.term ? a.term < b.term : a.document < b.document;
    });
    for (std::size_t at = 0; at < terms.size();) {
        const std::uint64_t term = terms[at].term;
        documents.clear();
        for (; at < terms.size() && terms[at].term == term; ++at) {
            if (documents.empty() || documents.back() != terms[at].document) {
                documents.push_back(terms[at].document);
            }
        }
        parts.add_term(term, documents);
    }
}

void Scratch::make_texts() {
    std::ranges::sort(texts, [](const TextOf& a, const TextOf& b) {
        if (a.column != b.column) {
            return a.column < b.column;
        }
        const int order = a.text.compare(b.text);
        return order != 0 ? order < 0 : a.document < b.document;
    });
    for (std::size_t at = 0; at < texts.size();) {
        const std::uint64_t column = texts[at].column;
        pairs.clear();
        while (at < texts.size() && texts[at].column == column) {
            const std::string_view text = texts[at].text;
            documents.clear();
            for (; at < texts.size() && texts[at].column == column && texts[at].text == text;
                 ++at) {
                if (documents.empty() || documents.back() != texts[at].document) {
                    documents.push_back(texts[at].document);
                    pairs.push_back(pair(texts[at].document, parts.text_count()));
                }
            }
            parts.add_text(text, documents);
        }
        std::ranges::sort(pairs);
        for (const std::uint64_t of : pairs) {
            parts.text_documents.push_back(static_cast<std::uint32_t>(of >> 32));
            parts.text_indexes.push_back(static_cast<std::uint32_t>(of));
        }
        parts.end_text_column(column);
    }
}

void Scratch::make_intervals() {
    std::ranges::sort(intervals, {}, [](const IntervalOf& interval) {
        return std::tie(interval.column, interval.low, interval.high, interval.document);
    });
    for (std::size_t at = 0; at < intervals.size();) {
        const std::uint64_t column = intervals[at].column;
        const std::size_t begin = at;
        ShortSpan short_span;
        for (; at < intervals.size() && intervals[at].column == column; ++at) {
            short_span.add(intervals[at].low, intervals[at].high);
        }
        short_span.decide();
        const std::span<const IntervalOf> all(&intervals[begin], at - begin);
        pairs.clear();
        for (const bool shorter : {true, false}) {
            for (const IntervalOf& interval : all) {
                if ((ShortSpan::length(interval.low, interval.high) <= short_span.span()) ==
                    shorter) {
                    pairs.push_back(
                        pair(interval.document, static_cast<std::uint32_t>(pairs.size())));
                    parts.interval_lows.push_back(interval.low);
                    parts.interval_highs.push_back(interval.high);
                    parts.interval_documents.push_back(interval.document);
                }
            }
        }
        std::ranges::sort(pairs);
        for (const std::uint64_t of : pairs) {
            parts.intervals_by_document.push_back(static_cast<std::uint32_t>(of));
        }
        parts.end_interval_column(column, short_span.span(), short_span.shorter_count());
    }
}

void Scratch::make_links() {
    for (const LinkOf& link : links) {
        parts.targets.push_back(link.target);
    }
    std::ranges::sort(parts.targets);
    const auto repeated = std::ranges::unique(parts.targets);
    parts.targets.erase(repeated.begin(), repeated.end());
    std::ranges::sort(links, {}, [](const LinkOf& link) {
        return std::tie(link.column, link.document, link.target);
    });
    for (std::size_t at = 0; at < links.size(); ++at) {
        const LinkOf& link = links[at];
        const bool repeats = at != 0 && links[at - 1].column == link.column &&
                             links[at - 1].document == link.document &&
                             links[at - 1].target == link.target;
        if (!repeats) {
            parts.link_documents.push_back(link.document);
            parts.link_targets.push_back(static_cast<std::uint32_t>(
                std::ranges::lower_bound(parts.targets, link.target) - parts.targets.begin()));
        }
        if (at + 1 == links.size() || links[at + 1].column != link.column) {
            parts.end_link_column(link.column);
        }
    }
}

}  // namespace

std::shared_ptr<const SearchRun> SearchRun::build(std::span<const IndexedDocument> documents) {
    ANNALS_CHECK(!documents.empty());
    static thread_local Scratch scratch;
    scratch.collect(documents);
    scratch.make_terms();
    scratch.make_texts();
    scratch.make_intervals();
    scratch.make_links();
    std::shared_ptr<SearchRun> run = make(scratch.parts, true);
    if (documents.size() > kKeptDocumentsMax) {
        scratch = {};
    }
    return run;
}

}  // namespace annals::storage
