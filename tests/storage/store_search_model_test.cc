// Random commits to a store that is searched, against plain lists of what must be found.

#include "storage/store.h"
#include "tests/support/search_store.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace annals::storage {
namespace {

using test::describe_search;
using test::find_term;
using test::open_store;
using test::searchable;
using test::SearchableCommit;
using test::SimFileSystem;
using test::type_of;
using test::word_term;
using Found = std::set<std::uint64_t>;

/// Random commits, and plain lists of the words that must be found.
class RandomStore : public testing::TestWithParam<std::uint64_t> {
  protected:
    struct Version {
        std::string type;
        std::string id;
        std::set<std::string> words;
        bool deletion = false;
        bool erased = false;
    };

    RandomStore() : random_(GetParam()) {
        for (int w = 0; w < 12; ++w) {
            words_.push_back("w" + std::to_string(w));
        }
    }

    std::uint64_t pick(std::uint64_t below) { return random_() % below; }

    /// Submits one commit, leaving out resources with a hard delete in flight.
    Ticket commit(Store& store) {
        SearchableCommit commit(store);
        std::vector<Version> added;
        std::map<std::string, bool> used;
        for (std::uint64_t n = 1 + pick(3); n > 0; --n) {
            const std::string type = pick(3) == 0 ? "Observation" : "Patient";
            const std::string id = "r" + std::to_string(pick(15));
            if (used[type + id]) {
                continue;
            }
            used[type + id] = true;
            Version version;
            version.type = type;
            version.id = id;
            const Head head = store.head(type_of(type), id);
            if (pick(12) == 0 && head.exists && head.ticket.value == 0) {
                commit.builder.erase(type, id);
                for (Version& old : versions_) {
                    old.erased = old.erased || (old.type == type && old.id == id);
                }
                erased_[type + id] = true;
                continue;
            }
            if (head.ticket.value != 0 && erased_[type + id]) {
                continue;
            }
            erased_[type + id] = false;
            if (pick(5) == 0 && head.exists && !head.deletion) {
                commit.builder.remove(type, id);
                version.deletion = true;
            } else {
                std::string text;
                for (std::uint64_t w = pick(5); w > 0; --w) {
                    const std::string& word = words_[pick(words_.size())];
                    version.words.insert(word);
                    text += word + " ";
                }
                VersionWrite& write = commit.put(type, id, text);
                if (pick(6) == 0) {
                    write.version =
                        VersionNumber{head.version.value + head.erased_through.value + 1 + pick(5)};
                    write.instant = Instant{static_cast<std::int64_t>(1 + pick(1000)) * 1000};
                    write.expect = Expect::older;
                }
            }
            added.push_back(version);
        }
        versions_.insert(versions_.end(), added.begin(), added.end());
        const Submission submission = store.submit(commit.builder.commit());
        EXPECT_EQ(submission.status, Submission::Status::accepted);
        return submission.ticket;
    }

    void check(const Store& store) {
        const std::uint64_t last = store.last_position().value;
        ASSERT_EQ(last, versions_.size());
        for (const std::uint64_t snapshot : {last, last - pick(last / 8 + 1)}) {
            std::map<std::string, std::map<std::string, Found>> expected;
            std::map<std::string, std::uint64_t> newest;
            for (std::uint64_t p = 1; p <= snapshot; ++p) {
                newest[versions_[p - 1].type + "/" + versions_[p - 1].id] = p;
            }
            for (const auto& [resource, p] : newest) {
                const Version& version = versions_[p - 1];
                if (!version.erased && !version.deletion) {
                    for (const std::string& word : version.words) {
                        expected[version.type][word].insert(p);
                    }
                }
            }
            for (const std::string type : {"Patient", "Observation"}) {
                for (const std::string& word : words_) {
                    ASSERT_EQ(find_term(store, type_of(type), word_term(word), {snapshot}),
                              expected[type][word])
                        << type << " " << word << " at " << snapshot << " of " << last;
                }
            }
        }
    }

    std::mt19937_64 random_;
    std::vector<std::string> words_;
    std::vector<Version> versions_;
    std::map<std::string, bool> erased_;
};

TEST_P(RandomStore, FindsWhatAListOfVersionsDoes) {
    SimFileSystem fs;
    StoreOptions options = searchable();
    options.segment_bytes = 16 << 10;
    auto store = open_store(fs, options);
    for (int step = 0; step < 300; ++step) {
        Ticket ticket;
        for (std::uint64_t n = 1 + pick(4); n > 0; --n) {
            ticket = std::max(ticket, commit(*store));
        }
        ASSERT_TRUE(store->wait(ticket));
        switch (pick(4)) {
            case 0:
            case 1:
                break;
            default:
                check(*store);
        }
        if (HasFatalFailure()) {
            return;
        }
        if (pick(40) == 0) {
            store.reset();
            if (pick(3) == 0) {
                (void)fs.remove("/data/search/manifest");
            }
            if (pick(3) == 0) {
                options.read_only = true;
                check(*open_store(fs, options));
                options.read_only = false;
            }
            store = open_store(fs, options);
            check(*store);
            StoreOptions anew = searchable(99);
            anew.read_only = true;
            ASSERT_EQ(describe_search(*store, words_, store->last_position()),
                      describe_search(*open_store(fs, anew), words_, store->last_position()));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomStore, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace annals::storage
