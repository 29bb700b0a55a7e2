// Reads that fail, at each call of an opening: nothing that exists is taken for absent.

#include "storage/store.h"
#include "tests/support/search_store.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/store_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace annals::storage {
namespace {

using test::searchable;
using test::SearchableCommit;
using test::SimFileSystem;
using Call = SimFileSystem::Call;

const std::vector<std::string> kColours = {"red", "green"};

/// Two sealed segments, one of them packed; an open one, closed in order; erased versions; a search checkpoint.
std::unique_ptr<SimFileSystem> lived_in() {
    auto fs = std::make_unique<SimFileSystem>();
    StoreOptions options = searchable();
    options.pack_segments = true;
    const auto store = test::open_store(*fs, options);
    const auto write = [&](const std::function<void(SearchableCommit&)>& add) {
        SearchableCommit commit(*store);
        add(commit);
        const Ticket ticket = store->submit(commit.builder.commit()).ticket;
        EXPECT_TRUE(store->wait(ticket));
        EXPECT_TRUE(store->wait_erased(ticket));
    };
    for (int i = 0; store->metrics().segments < 3; ++i) {
        write([&](SearchableCommit& commit) {
            commit.put("Patient", fmt::format("p{}", i), "red " + std::string(300, 'x'));
            commit.put("Observation", fmt::format("o{}", i), "green");
        });
        if (store->metrics().segments == 2 && store->metrics().segments_packed == 0) {
            store->compact(true);
            EXPECT_TRUE(store->wait_compacted());
        }
    }
    write([](SearchableCommit& commit) { commit.builder.erase("Patient", "p0"); });
    return fs;
}

std::string content_and_matches(const Store& store) {
    std::string text = fmt::format("{}\n", store.last_position().value);
    for (std::uint64_t p = 1; p <= store.last_position().value; ++p) {
        if (const auto info = store.at({p})) {
            const auto loaded = store.load(*info);
            EXPECT_TRUE(loaded) << loaded.error().detail;
            text += loaded ? std::string(loaded->body) + "\n" : "?\n";
        }
    }
    return text + test::describe_search(store, kColours, store.last_position());
}

TEST(ReadFaults, OfAnOpeningLoseNothing) {
    const auto before = lived_in();
    const std::string all = content_and_matches(*test::open_store(*before->after_power_cut(1)));
    for (const Call call : {Call::open, Call::list, Call::read, Call::map}) {
        for (const std::uint64_t count : {1U, 1000U}) {
            for (std::uint64_t n = 0;; ++n) {
                SCOPED_TRACE(
                    fmt::format("{} from call {} of kind {}", count, n, static_cast<int>(call)));
                const auto fs = before->after_power_cut(1);
                fs->fail_next(call, Errc::io, count, n);
                const std::uint64_t calls_before = fs->calls(call);
                auto store = Store::open(*fs, "/data", searchable());
                const bool failed = fs->calls(call) - calls_before > n;
                fs->fail_next(call, Errc::io, 0);
                if (store) {
                    EXPECT_EQ(content_and_matches(**store), all);
                    store->reset();
                } else {
                    EXPECT_EQ(store.error().code, Errc::io) << store.error().detail;
                }
                const auto again = test::open_store(*fs);
                ASSERT_NE(again, nullptr);
                EXPECT_EQ(content_and_matches(*again), all);
                if (!failed) {
                    EXPECT_GT(n, 0U);
                    break;
                }
            }
        }
    }
}

}  // namespace
}  // namespace annals::storage
