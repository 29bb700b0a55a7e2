#include "tests/support/search_store.h"

#include "core/base/digest.h"
#include "storage/index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

namespace annals::test {

using storage::Postings;
using storage::SearchEntries;
using storage::SearchRun;
using storage::SearchSetup;
using storage::Store;

namespace {

constexpr std::uint64_t kTextColumn = 1;
constexpr std::uint64_t kNumberColumn = 2;
constexpr std::uint64_t kLinkColumn = 3;

std::vector<std::uint32_t> documents(const Postings& postings, const SearchRun& run) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t document = 0; document < run.size(); ++document) {
        if (postings.contains(document)) {
            found.push_back(document);
        }
    }
    return found;
}

}  // namespace

std::uint64_t word_term(std::string_view word) {
    return hash64(word, 20260101);
}

SearchEntries entries_of(std::uint64_t seed, TypeId type, std::string_view text) {
    SearchEntries entries;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        std::int64_t number = 0;
        const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (word.empty()) {
            continue;
        }
        if (word.front() == '>') {
            entries.links.push_back(
                {kLinkColumn, storage::resource_key(seed, type, word.substr(1)).low});
        } else if (error == std::errc() && rest == word.data() + word.size()) {
            entries.intervals.push_back({kNumberColumn, number, number + 1});
        } else {
            entries.add_text(kTextColumn, word);
        }
        entries.terms.push_back(word_term(word));
    }
    std::ranges::sort(entries.terms);
    const auto repeated = std::ranges::unique(entries.terms);
    entries.terms.erase(repeated.begin(), repeated.end());
    return entries;
}

SearchSetup word_setup(const Store& store, std::uint64_t fingerprint) {
    SearchSetup setup;
    setup.fingerprints.fill(fingerprint);
    setup.last_updated_column = kLastUpdatedColumn;
    setup.identity = [](std::uint64_t key) { return ~key; };
    setup.extractor = [seed = store.search_seed()] {
        return [seed](TypeId type, std::string_view, std::string_view body,
                      SearchEntries& entries) -> Result<void> {
            const std::size_t head = body.find(": ");
            if (head == std::string_view::npos) {
                return Error{Errc::corrupt, "no head", {}};
            }
            entries = entries_of(seed, type, body.substr(head + 2));
            return {};
        };
    };
    return setup;
}

storage::StoreOptions searchable(std::uint64_t fingerprint) {
    storage::StoreOptions options;
    options.segment_bytes = 16 << 10;
    options.prepare_segments = false;
    options.search = [fingerprint](const Store& store) { return word_setup(store, fingerprint); };
    return options;
}

std::unique_ptr<Store> open_store(storage::FileSystem& fs, storage::StoreOptions options,
                                  storage::OpenReport* report) {
    auto store = Store::open(fs, "/data", std::move(options), report);
    EXPECT_TRUE(store) << store.error().detail;
    return store ? *std::move(store) : nullptr;
}

storage::VersionWrite& SearchableCommit::put(std::string_view type, std::string_view id,
                                             std::string_view text) {
    storage::VersionWrite& write = builder.put(type, id, text);
    write.search = &entries_.emplace_back(entries_of(seed_, type_of(type), text));
    return write;
}

std::set<std::uint64_t> find_term(const Store& store, TypeId type, std::uint64_t term,
                                  Position snapshot) {
    std::set<std::uint64_t> found;
    const auto runs = store.search(type);
    for (const auto& run : runs->runs) {
        for (const std::uint32_t document : documents(run->postings(term), *run)) {
            if (run->position(document) <= snapshot && run->died_at(document) > snapshot) {
                found.insert(run->position(document).value);
            }
        }
    }
    return found;
}

std::set<std::uint64_t> find_word(const Store& store, std::string_view type,
                                  std::string_view word) {
    const Position snapshot = store.last_position();
    return find_term(store, type_of(type), word_term(word), snapshot);
}

std::string describe_search(const Store& store, std::span<const std::string> words,
                            Position since) {
    std::string out;
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        const TypeId type{static_cast<std::uint16_t>(t)};
        const auto runs = store.search(type);
        for (const auto& run : runs->runs) {
            for (std::uint32_t document = 0; document < run->size(); ++document) {
                const Position died = run->died_at(document);
                if (died.value == 0 || died <= since) {
                    continue;
                }
                out += fmt::format("{} {} key {:x} died {}:", resource_type_name(type),
                                   run->position(document).value, run->key(document),
                                   died == storage::kNotDied ? 0 : died.value);
                for (const std::string& word : words) {
                    if (run->postings(word_term(word)).contains(document)) {
                        out += " " + word;
                    }
                }
                for (const std::uint32_t text : run->texts_of(kTextColumn, document)) {
                    out += fmt::format(" \"{}\"", run->text(text));
                }
                for (const std::uint64_t column : {kNumberColumn, kLastUpdatedColumn}) {
                    const auto intervals = run->intervals(column);
                    for (const std::uint32_t i : intervals.of(document)) {
                        out += fmt::format(" {}..{}", intervals.all.low[i], intervals.all.high[i]);
                    }
                }
                const auto links = run->links(kLinkColumn);
                for (const std::uint32_t target : links.of(document)) {
                    out += fmt::format(" >{:x}", links.targets[target]);
                }
                out +=
                    run->postings(~run->key(document)).contains(document) ? "\n" : " no identity\n";
            }
        }
    }
    return out;
}

}  // namespace annals::test
