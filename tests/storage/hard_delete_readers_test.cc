// Hard deletes beside readers: they wait for those who are quick, and nobody sees half of a version.

#include "storage/file_system.h"
#include "storage/format.h"
#include "storage/store.h"
#include "tests/storage/erasure_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace annals::storage {
namespace {

/// How long an erasure waits for readers. A machine that takes longer to look can't tell whether the erasure waited.
constexpr auto kReadersGrace = std::chrono::milliseconds(250);

TEST(HardDelete, LeavesWhatIsBeingReadUntilThatIsDone) {
    const test::TemporaryDirectory directory;
    StoreOptions options = segments_on_demand();
    options.pack_segments = false;
    auto store = *Store::open(posix_file_system(), directory.path(), options);
    test::put(*store, "Patient", "a", "marker-a");
    const VersionInfo info = *store->current(test::type_of("Patient"), "a");
    auto read = store->load(info);
    ASSERT_TRUE(read);
    const auto begin = std::chrono::steady_clock::now();
    const Submission submission = submit_erase(*store, "a");
    ASSERT_TRUE(store->wait(submission.ticket));
    EXPECT_FALSE(store->current(test::type_of("Patient"), "a"));
    auto erased =
        std::async(std::launch::async, [&] { return store->wait_erased(submission.ticket); });
    // Once the erasure has begun, nobody else can read the version.
    while (store->load(info)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(store->load(info).error().code, Errc::not_found);
    const std::string body(read->body);
    const bool waits =
        erased.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout;
    if (std::chrono::steady_clock::now() - begin < kReadersGrace) {
        EXPECT_TRUE(body.ends_with("marker-a")) << body;
        EXPECT_TRUE(waits);
    }
    read = Error{Errc::not_found, {}, {}};
    EXPECT_TRUE(erased.get());
    EXPECT_EQ(test::read_whole_file(directory / ("segments/" + segment_name(1))).find("marker-a"),
              std::string::npos);
}

TEST(HardDelete, WaitsForNobodyWhoIsSlow) {
    const test::TemporaryDirectory directory;
    StoreOptions options = segments_on_demand();
    options.pack_segments = false;
    auto store = *Store::open(posix_file_system(), directory.path(), options);
    test::put(*store, "Patient", "a", "marker-a");
    const auto read = store->load(*store->current(test::type_of("Patient"), "a"));
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->body.ends_with("marker-a")) << read->body;
    EXPECT_TRUE(test::erase(*store, "Patient", "a"));
    EXPECT_EQ(read->body, std::string(read->body.size(), '\0'));
}

TEST(HardDelete, ShowsNobodyHalfOfAVersion) {
    const test::TemporaryDirectory directory;
    StoreOptions options = segments_on_demand();
    options.pack_segments = false;
    auto store = *Store::open(posix_file_system(), directory.path(), options);
    const std::string text(2'000, 'x');
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> found{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; ++i) {
        readers.emplace_back([&] {
            while (!done) {
                const auto info = store->current(test::type_of("Patient"), "a");
                if (!info) {
                    continue;
                }
                const auto begin = std::chrono::steady_clock::now();
                if (const auto read = store->load(*info)) {
                    const bool whole = read->body.ends_with(text);
                    EXPECT_TRUE(whole || std::chrono::steady_clock::now() - begin >= kReadersGrace);
                    ++found;
                } else {
                    EXPECT_EQ(read.error().code, Errc::not_found);
                }
            }
        });
    }
    for (int i = 0; i < 200 || found < 200; ++i) {
        test::put(*store, "Patient", "a", text);
        EXPECT_TRUE(test::erase(*store, "Patient", "a"));
    }
    done = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
}

}  // namespace
}  // namespace annals::storage
