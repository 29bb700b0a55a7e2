#include "tests/storage/search_model.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace annals::storage {

std::vector<std::uint32_t> listed(const Postings& postings) {
    std::vector<std::uint32_t> documents(postings.list.begin(), postings.list.end());
    if (postings.bitmap != nullptr) {
        documents.resize(postings.size());
        roaring_bitmap_to_uint32_array(postings.bitmap, documents.data());
    }
    EXPECT_EQ(postings.size(), documents.size());
    return documents;
}

namespace {

using Numbers = std::vector<std::uint32_t>;
using Interval = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;

/// The truth, as maps.
struct Truth {
    std::map<std::uint64_t, std::set<std::uint32_t>> terms;
    std::map<std::uint64_t, std::map<std::string, std::set<std::uint32_t>>> texts;
    std::map<std::uint64_t, std::multiset<Interval>> intervals;
    std::map<std::uint64_t, std::set<std::pair<std::uint32_t, std::uint64_t>>> links;
};

Truth truth_of(const std::vector<const ModelDocument*>& documents) {
    Truth truth;
    for (std::uint32_t i = 0; i < documents.size(); ++i) {
        const SearchEntries& entries = documents[i]->entries;
        for (const std::uint64_t term : entries.terms) {
            truth.terms[term].insert(i);
        }
        for (const auto& text : entries.texts) {
            truth.texts[text.column][std::string(entries.text(text))].insert(i);
        }
        for (const auto& interval : entries.intervals) {
            truth.intervals[interval.column].insert({interval.low, interval.high, i});
        }
        for (const auto& link : entries.links) {
            truth.links[link.column].insert({i, link.target});
        }
    }
    return truth;
}

void expect_terms(const SearchRun& run, const Truth& truth) {
    std::uint64_t before = 0;
    for (const auto& [term, documents] : truth.terms) {
        const Postings postings = run.postings(term);
        ASSERT_EQ(listed(postings), Numbers(documents.begin(), documents.end()));
        for (std::uint32_t i = 0; i < std::min(run.size(), 20U); ++i) {
            ASSERT_EQ(postings.contains(i), documents.contains(i));
        }
        for (const std::uint64_t absent : {term + 1, term - 1, before + (term - before) / 2}) {
            ASSERT_TRUE(truth.terms.contains(absent) || run.postings(absent).size() == 0);
        }
        before = term;
    }
    ASSERT_TRUE(truth.terms.contains(0) || run.postings(0).size() == 0);
    ASSERT_TRUE(truth.terms.contains(~0ULL) || run.postings(~0ULL).size() == 0);
}

void expect_texts(const SearchRun& run, const Truth& truth) {
    for (const auto& [column, texts] : truth.texts) {
        const SearchRun::TextRange range = run.texts(column);
        ASSERT_EQ(range.last - range.first, texts.size());
        std::uint32_t index = range.first;
        std::map<std::uint32_t, Numbers> of;
        for (const auto& [text, documents] : texts) {
            ASSERT_EQ(run.text(index), text);
            ASSERT_EQ(listed(run.text_postings(index)),
                      Numbers(documents.begin(), documents.end()));
            for (const std::uint32_t document : documents) {
                of[document].push_back(index);
            }
            ++index;
        }
        for (std::uint32_t i = 0; i < run.size(); ++i) {
            const auto said = run.texts_of(column, i);
            ASSERT_EQ(Numbers(said.begin(), said.end()), of[i]);
        }
        for (const std::string prefix : {"", "a", "b", "ba", "text 1", "zz", "\xff"}) {
            std::uint32_t first = range.first;
            while (first < range.last && run.text(first) < prefix) {
                ++first;
            }
            std::uint32_t last = first;
            while (last < range.last && run.text(last).starts_with(prefix)) {
                ++last;
            }
            const SearchRun::TextRange found = run.texts(column, prefix);
            ASSERT_EQ(found.first, first) << prefix;
            ASSERT_EQ(found.last, last) << prefix;
        }
    }
    ASSERT_EQ(run.texts(999).first, run.texts(999).last);
    ASSERT_TRUE(run.texts_of(999, 0).empty());
}

void expect_intervals(const SearchRun& run, const Truth& truth) {
    for (const auto& [column, intervals] : truth.intervals) {
        const IntervalColumn said = run.intervals(column);
        const Intervals& all = said.all;
        ASSERT_EQ(all.size(), intervals.size());
        ASSERT_TRUE(std::ranges::is_sorted(said.shorter().low));
        ASSERT_TRUE(std::ranges::is_sorted(said.longer().low));
        std::multiset<Interval> there;
        for (std::size_t i = 0; i < all.size(); ++i) {
            there.insert({all.low[i], all.high[i], all.document[i]});
            const std::uint64_t length =
                static_cast<std::uint64_t>(all.high[i]) - static_cast<std::uint64_t>(all.low[i]);
            ASSERT_EQ(length <= said.short_span, i < said.shorter_count);
        }
        ASSERT_EQ(there, intervals);
        std::size_t found = 0;
        for (std::uint32_t i = 0; i < run.size(); ++i) {
            for (const std::uint32_t index : said.of(i)) {
                ASSERT_EQ(all.document[index], i);
                ++found;
            }
        }
        ASSERT_EQ(found, all.size());
        ASSERT_EQ(std::set(said.by_document.begin(), said.by_document.end()).size(), all.size());
    }
    ASSERT_EQ(run.intervals(999).all.size(), 0U);
    ASSERT_TRUE(run.intervals(999).of(0).empty());
}

void expect_links(const SearchRun& run, const Truth& truth) {
    std::set<std::uint64_t> targets;
    LinkColumn any;
    for (const auto& [column, links] : truth.links) {
        const LinkColumn said = run.links(column);
        std::set<std::pair<std::uint32_t, std::uint64_t>> there;
        for (std::size_t i = 0; i < said.size(); ++i) {
            there.insert({said.document[i], said.targets[said.target[i]]});
            targets.insert(said.targets[said.target[i]]);
        }
        ASSERT_EQ(there.size(), said.size());
        ASSERT_EQ(there, links);
        ASSERT_TRUE(std::ranges::is_sorted(said.document));
        for (std::uint32_t i = 0; i < run.size(); ++i) {
            std::set<std::pair<std::uint32_t, std::uint64_t>> of;
            for (const std::uint32_t target : said.of(i)) {
                of.insert({i, said.targets[target]});
            }
            ASSERT_TRUE(std::ranges::includes(links, of));
            ASSERT_EQ(of.size(), static_cast<std::size_t>(std::ranges::count(said.document, i)));
        }
        any = said;
    }
    // Only those that are referred to.
    ASSERT_TRUE(std::ranges::equal(targets, any.targets));
    ASSERT_EQ(run.links(999).size(), 0U);
}

void expect_documents(const SearchRun& run, const std::vector<const ModelDocument*>& documents) {
    std::uint32_t died = 0;
    for (std::uint32_t i = 0; i < documents.size(); ++i) {
        const ModelDocument& document = *documents[i];
        ASSERT_EQ(run.position(i), document.position);
        ASSERT_EQ(run.key(i), document.key);
        ASSERT_EQ(run.died_at(i), document.died);
        died += document.died != kNotDied ? 1 : 0;
        ASSERT_EQ(run.find(document.position), i);
        ASSERT_EQ(run.size_at(document.position), i + 1);
        const Position before{document.position.value - 1};
        if (i == 0 || documents[i - 1]->position != before) {
            ASSERT_EQ(run.find(before), run.size());
            ASSERT_EQ(run.size_at(before), i);
        }
    }
    ASSERT_EQ(run.died_count(), died);
    std::uint32_t died_in_blocks = 0;
    for (std::uint32_t block = 0; block < run.blocks(); ++block) {
        died_in_blocks += run.died_count_in(block);
    }
    ASSERT_EQ(died_in_blocks, died);
    ASSERT_EQ(run.any_died(), died != 0);
    ASSERT_EQ(run.size_at({0}), 0U);
    ASSERT_EQ(run.size_at({~0ULL}), run.size());
    ASSERT_EQ(run.find({0}), run.size());
    ASSERT_EQ(run.find({~0ULL}), run.size());
}

}  // namespace

std::uint64_t ModelMaker::mix(std::uint64_t number) noexcept {
    number = (number ^ (number >> 31)) * 0x9e37'79b9'7f4a'7c15;
    number = (number ^ (number >> 29)) * 0xbf58'476d'1ce4'e5b9;
    return number ^ (number >> 32);
}

ModelDocument ModelMaker::next() {
    position_ += 1 + below(3);
    ModelDocument document{.position = {position_}, .key = mix(position_ << 8), .entries = {}};
    SearchEntries& entries = document.entries;
    entries.terms.push_back(mix(position_));  // its own
    for (std::uint64_t i = 0; i < 8; ++i) {
        if (below(3) != 0) {
            entries.terms.push_back(mix(1000 + i));  // of most documents
        }
        entries.terms.push_back(mix(10'000 + below(40) * (i + 1)));
        entries.terms.push_back(mix(100'000 + position_ / 16 + i));  // of its neighbours
    }
    entries.terms.push_back(below(8));  // values that are not spread like hashes
    entries.terms.push_back(~below(8));
    entries.terms.push_back(entries.terms[below(entries.terms.size())]);  // twice
    for (std::uint64_t column = 1; column < 4; ++column) {
        for (std::uint64_t i = below(3); i > 0; --i) {
            switch (below(4)) {
                case 0:
                    entries.add_text(column,
                                     std::string(1 + below(3), static_cast<char>('a' + below(3))));
                    break;
                case 1:
                    entries.add_text(column, "text " + std::to_string(below(500)));
                    break;
                case 2:
                    entries.add_text(column, "");
                    break;
                default:
                    entries.add_text(column, "\xff\xff");
                    break;
            }
        }
        constexpr std::int64_t kDay = 86'400'000'000;
        for (std::uint64_t i = below(3); i > 0; --i) {
            const auto low = static_cast<std::int64_t>(below(100)) * kDay;
            switch (below(6)) {
                case 0:
                    entries.intervals.push_back({column, low, low});
                    break;
                case 1:
                    entries.intervals.push_back({column, low, low + kDay - 1});
                    break;
                case 2:
                    entries.intervals.push_back({column, low, low + 400 * kDay});
                    break;
                case 3:
                    entries.intervals.push_back({column, low, INT64_MAX});
                    break;
                case 4:
                    entries.intervals.push_back({column, INT64_MIN, low});
                    break;
                default:
                    entries.intervals.push_back({column * 7, -low, low});
                    break;
            }
        }
        for (std::uint64_t i = below(3); i > 0; --i) {
            entries.links.push_back({column, mix(below(2) != 0 ? below(50) : position_ / 4)});
        }
    }
    return document;
}

std::vector<IndexedDocument> indexed(const std::vector<const ModelDocument*>& documents) {
    std::vector<IndexedDocument> all;
    for (const ModelDocument* document : documents) {
        all.push_back({document->position, document->key, &document->entries});
    }
    return all;
}

std::vector<const ModelDocument*> pointers(const std::deque<ModelDocument>& documents) {
    std::vector<const ModelDocument*> all;
    for (const ModelDocument& document : documents) {
        all.push_back(&document);
    }
    return all;
}

std::deque<ModelDocument> documents_of(ModelMaker& maker, std::size_t count) {
    std::deque<ModelDocument> documents;
    for (std::size_t i = 0; i < count; ++i) {
        documents.push_back(maker.next());
    }
    return documents;
}

std::string written(const SearchRun& run) {
    std::string bytes;
    run.write([&](std::string_view part) { bytes += part; });
    return bytes;
}

Result<std::shared_ptr<const SearchRun>> read_copy(std::string_view bytes) {
    // Exactly as large as needed, so that sanitizers detect reads beyond the end.
    const auto words = std::make_shared<std::uint64_t[]>((bytes.size() + 7) / 8);
    char* const begin = reinterpret_cast<char*>(words.get());
    std::memcpy(begin, bytes.data(), bytes.size());
    return SearchRun::read({begin, bytes.size()}, {words, begin});
}

void expect_says(const SearchRun& run, const std::vector<const ModelDocument*>& documents) {
    ASSERT_EQ(run.size(), documents.size());
    expect_documents(run, documents);
    const Truth truth = truth_of(documents);
    expect_terms(run, truth);
    expect_texts(run, truth);
    expect_intervals(run, truth);
    expect_links(run, truth);
}

}  // namespace annals::storage
