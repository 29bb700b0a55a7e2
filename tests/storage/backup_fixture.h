// Stores of a few segments, their content, and backups of them.

#pragma once

#include "storage/backup.h"
#include "storage/file_system.h"
#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace annals::storage {

inline constexpr std::uint64_t kBackedUpSegmentBytes = 16 << 10;

inline std::unique_ptr<Store> open_store(FileSystem& fs, const std::string& directory,
                                         bool read_only = false) {
    StoreOptions options;
    options.segment_bytes = kBackedUpSegmentBytes;
    options.prepare_segments = false;
    options.read_only = read_only;
    options.clock = [instant = Instant{1'700'000'000'000'000}]() mutable {
        instant.us += 1'000'000;
        return instant;
    };
    auto store = Store::open(fs, directory, std::move(options));
    EXPECT_TRUE(store) << store.error().detail;
    return store ? *std::move(store) : nullptr;
}

/// Every version of the store, by position.
inline std::string content(const Store& store, Position through = {~0ULL}) {
    std::string text;
    for (std::uint64_t i = 1; i <= std::min(store.last_position(), through).value; ++i) {
        const auto info = store.at({i});
        if (!info) {
            continue;
        }
        const auto loaded = store.load(*info);
        EXPECT_TRUE(loaded) << loaded.error().detail;
        if (loaded) {
            text += fmt::format("{} {} {} {} {}\n", i, loaded->id, info->version.value,
                                info->instant.us, loaded->body);
        }
    }
    return text;
}

inline void commit(Store& store, const std::vector<std::string>& ids, const std::string& text) {
    test::CommitBuilder builder;
    for (const std::string& id : ids) {
        builder.put("Patient", id, text);
    }
    const Submission done = store.submit(builder.commit());
    ASSERT_EQ(done.status, Submission::Status::accepted);
    ASSERT_TRUE(store.wait(done.ticket));
}

/// Fills about three segments; of every ten commits, one has three versions.
inline void fill_segments(Store& store, int round = 0) {
    const std::string text(700, 'x');
    for (int i = 0; i < 60; ++i) {
        const std::string id = fmt::format("p{}-{}", round, i);
        if (i % 10 == 5) {
            commit(store, {id, id + "b", id + "c"}, text);
        } else {
            commit(store, {id}, text);
        }
    }
}

/// A new store in "/data", filled by fill_segments().
inline std::unique_ptr<Store> open_filled_store(FileSystem& fs) {
    EXPECT_TRUE(fs.make_directory("/data"));
    auto store = open_store(fs, "/data");
    fill_segments(*store);
    return store;
}

inline Result<BackupReport> back_up_store(FileSystem& fs, const Store& store,
                                          const std::string& from, const std::string& to) {
    BackupOptions options;
    options.files = &store.segment_files();
    return back_up(fs, from, to, [&] { return Result<LogEnd>(*store.log_end()); }, options);
}

inline void erase_from(Store& store, const std::string& id) {
    test::CommitBuilder builder;
    builder.erase("Patient", id);
    const Submission done = store.submit(builder.commit());
    ASSERT_EQ(done.status, Submission::Status::accepted);
    ASSERT_TRUE(store.wait(done.ticket));
    ASSERT_TRUE(store.wait_erased(done.ticket));
}

class BackupTest : public ::testing::Test {
  protected:
    BackupTest() : store_(open_store(fs_, data_)) { fill_segments(*store_); }

    Result<BackupReport> back_up_now() { return back_up_store(fs_, *store_, data_, backup_); }

    std::string content_of_backup() {
        const auto opened = open_store(fs_, backup_, true);
        return opened == nullptr ? "does not open" : content(*opened);
    }

    test::TemporaryDirectory directory_;
    FileSystem& fs_ = posix_file_system();
    const std::string data_ = directory_ / "data";
    const std::string backup_ = directory_ / "backup";
    std::unique_ptr<Store> store_;
};

}  // namespace annals::storage
