// Stores whose segments are packed when a test says so, and the resources in them.

#pragma once

#include "storage/file_system.h"
#include "storage/format.h"
#include "storage/packed_segment.h"
#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::storage {

inline constexpr int kPackedResources = 300;

inline std::string segment_path(int number) {
    return fmt::format("{}/segments/{}", test::kDirectory,
                       segment_name(static_cast<std::uint64_t>(number)));
}

inline StoreOptions packing_options(bool packed = true) {
    StoreOptions options;
    options.segment_bytes = 64 << 10;
    options.prepare_segments = false;
    options.pack_segments = packed;
    options.pack_after = std::chrono::hours(24);  // none by itself; pack_all() doesn't wait
    return options;
}

inline std::unique_ptr<Store> open_packing(FileSystem& fs, const StoreOptions& options,
                                           const std::string& directory = test::kDirectory) {
    auto store = Store::open(fs, directory, options);
    EXPECT_TRUE(store) << store.error().detail;
    return store ? *std::move(store) : nullptr;
}

inline std::string id_of(int i) {
    return fmt::format("p{}", i);
}

/// A text that is in the body of one resource, and nowhere else.
inline std::string marker(int i) {
    return fmt::format("marker-{}-{};", i, i * 7919);
}

/// A long part that all have in common, and a short one of this resource only.
inline std::string text_of(int i) {
    return fmt::format(
        R"({}"name":[{{"use":"official","family":"Family{}","given":["Given{}"]}}],"telecom":[{{"system":"phone",)"
        R"("value":"555-{}","use":"home"}}],"address":[{{"line":["{} Main Street"],"city":"Springfield","state":"MA",)"
        R"("postalCode":"{}","country":"US"}}],"maritalStatus":{{"coding":[{{"system":)"
        R"("http://terminology.hl7.org/CodeSystem/v3-MaritalStatus","code":"M","display":"Married"}}]}})",
        marker(i), i * 13 % 97, i * 31 % 89, i * 1237 % 10'000, i, 10'000 + i * 17 % 9000);
}

inline void fill_store(Store& store) {
    for (int i = 0; i < kPackedResources; ++i) {
        test::put(store, "Patient", id_of(i), text_of(i));
    }
}

inline void pack_all(Store& store) {
    store.compact(true);
    const auto done = store.wait_compacted();
    ASSERT_TRUE(done) << done.error().detail;
}

/// Expects every resource to be as it was written, except those that are `erased`.
template <typename Erased>
void expect_all(const Store& store, Erased&& erased) {
    for (int i = 0; i < kPackedResources; ++i) {
        const auto info = store.current(test::type_of("Patient"), id_of(i));
        ASSERT_EQ(info.has_value(), !erased(i)) << i;
        if (info) {
            EXPECT_EQ(info->position.value, static_cast<std::uint64_t>(i) + 1);
            const auto stored = store.load(*info);
            ASSERT_TRUE(stored) << stored.error().detail;
            EXPECT_EQ(stored->id, id_of(i));
            EXPECT_EQ(stored->body, test::expected_body("Patient", id_of(i), text_of(i),
                                                        info->version, info->instant));
        }
    }
}

inline constexpr auto kNone = [](int) { return false; };

/// The packed segment in a file of `fs`. Lifetime: `fs` outlives it.
inline std::shared_ptr<const PackedSegment> packed_at(test::SimFileSystem& fs,
                                                      const std::string& path) {
    const auto file = fs.open(path, FileSystem::Mode::read);
    const std::uint64_t bytes = *(*file)->size();
    auto data = *(*file)->map(bytes);
    const auto header = decode_segment_header({data.get(), bytes}, path);
    auto packed = PackedSegment::open(*header, data, bytes);
    EXPECT_TRUE(packed) << packed.error().detail;
    return *packed;
}

/// The number of the last resource with pieces in the dictionary of a packed segment.
inline int source_of(const PackedSegment& packed) {
    const std::shared_ptr<const char> image = *packed.image();
    const auto record = decode_record({image.get(), packed.frames_end()}, packed.sources().back());
    EXPECT_TRUE(record);
    return std::stoi(std::string(record->id.substr(1)));
}

/// Resources of the first segment with no pieces in its dictionary: after their erasure, it is still packed.
inline std::vector<std::string> apart_from_dictionary(test::SimFileSystem& fs) {
    const auto packed = packed_at(fs, segment_path(1));
    const std::shared_ptr<const char> image = *packed->image();
    const std::string_view frames(image.get(), packed->frames_end());
    std::set<std::string> sources;
    for (const std::uint64_t offset : packed->sources()) {
        sources.insert(std::string(decode_record(frames, offset)->id));
    }
    std::vector<std::string> others;
    for (int i = 0; i < kPackedResources && frames.find(marker(i)) != std::string_view::npos; ++i) {
        if (!sources.contains(id_of(i))) {
            others.push_back(id_of(i));
        }
    }
    return others;
}

/// A store that packs segments by itself once they are an hour old, by a clock that stands still.
class AgeingSegments {
  public:
    /// Lifetime: `fs` outlives this.
    explicit AgeingSegments(FileSystem& fs) : fs_(fs) { reopen(); }

    void reopen() {
        StoreOptions with = packing_options();
        with.pack_after = std::chrono::hours(1);
        with.clock = [this] {
            // Commits ask on the test's thread; the housekeeper asks whether a segment is old enough.
            looks_ += std::this_thread::get_id() == test_ ? 0 : 1;
            return Instant{clock_.load()};
        };
        store_.reset();
        looks_ = 0;
        store_ = open_packing(fs_, with);
    }

    Store& store() { return *store_; }

    void pass(std::chrono::microseconds time) { clock_ += time.count(); }

    /// How often it was asked since reopen() whether a plain segment is old enough.
    std::uint64_t looks() const { return looks_; }

    /// Waits for that many looks, or for something to be packed.
    void await_looks(std::uint64_t count) {
        while (looks_ < count && store_->metrics().compaction.pack_bytes_read == 0) {
            std::this_thread::sleep_for(
                std::chrono::milliseconds(5));  // the test's timeout ends this
        }
    }

    void await_packed(std::uint64_t segments) {
        while (store_->metrics().segments_packed < segments) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

  private:
    FileSystem& fs_;
    const std::thread::id test_ = std::this_thread::get_id();
    std::atomic<std::int64_t> clock_{1'767'323'045'678'000};
    std::atomic<std::uint64_t> looks_{0};
    std::unique_ptr<Store> store_;
};

}  // namespace annals::storage
