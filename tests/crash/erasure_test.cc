// Power cuts at every write and sync boundary while bodies are erased: there is never
// damage, nothing comes back, and no byte is left of what was acknowledged as erased.

#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/packed_files.h"
#include "tests/support/store_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::expect_sound;
using test::kDirectory;
using test::on_disk;
using test::SimFileSystem;
using test::type_of;
using Scope = Erase::Scope;

constexpr std::uint64_t kSegmentBytes = 8 << 10;
constexpr int kSeeds = 5;

/// Whether compaction also packs segments.
enum class Packing : bool { off, on };

StoreOptions options(Packing packing = Packing::off) {
    StoreOptions options;
    options.segment_bytes = kSegmentBytes;
    options.prepare_segments = false;
    options.pack_segments = packing == Packing::on;
    return options;
}

/// A text that is in the body of one version of one resource, and nowhere else.
std::string marker(int resource, int version) {
    return fmt::format("marker-{}-{};", resource, version);
}

/// What the store acknowledged.
struct Answered {
    std::set<std::string> written;  ///< markers
    std::set<std::string> erased;
    std::set<std::string> begun;  ///< requested to be erased
    std::size_t from_packed = 0;  ///< of them, in a packed segment until then
};

bool in_packed_segment(const SimFileSystem& fs, const std::string& text) {
    return std::ranges::any_of(fs.paths(), [&](const std::string& path) {
        if (!path.ends_with(".seg")) {
            return false;  // Others may be renamed meanwhile.
        }
        const std::string file = fs.content(path);
        return test::is_packed(file) && test::unpacked(file).find(text) != std::string::npos;
    });
}

class Script {
  public:
    /// Runs until the store refuses a commit. With the store's `files`, counts what is erased from packed segments.
    static Answered run(Store& store, const SimFileSystem* files = nullptr) {
        Answered answered;
        const auto step = [&](CommitBuilder& builder, std::set<std::string> written,
                              std::set<std::string> erased) {
            answered.begun.insert(erased.begin(), erased.end());
            const Submission submission = store.submit(builder.commit());
            if (submission.status != Submission::Status::accepted ||
                !store.wait(submission.ticket)) {
                return false;
            }
            answered.written.insert(written.begin(), written.end());
            if (!erased.empty()) {
                if (!store.wait_erased(submission.ticket)) {
                    return false;
                }
                answered.erased.insert(erased.begin(), erased.end());
            }
            return true;
        };
        const std::string text(700, 't');
        for (int i = 0; i < 12; ++i) {
            // Two versions side by side in one frame, one of which will be erased.
            CommitBuilder pair;
            pair.put("Patient", fmt::format("p{}", 2 * i), marker(2 * i, 1) + text);
            pair.put("Patient", fmt::format("p{}", 2 * i + 1), marker(2 * i + 1, 1));
            // The request's id is erased with the first of them.
            pair.request(marker(2 * i, 1) + marker(2 * i + 1, 1));
            CommitBuilder second;
            second.put("Patient", fmt::format("p{}", 2 * i), marker(2 * i, 2));
            second.request(marker(2 * i, 2));
            if (!step(pair, {marker(2 * i, 1), marker(2 * i + 1, 1)}, {}) ||
                !step(second, {marker(2 * i, 2)}, {})) {
                return answered;
            }
            CommitBuilder erase;
            std::set<std::string> gone;
            if (i % 3 == 0) {
                erase.erase("Patient", fmt::format("p{}", 2 * i));
                gone = {marker(2 * i, 1), marker(2 * i, 2)};
            } else if (i % 3 == 1) {
                erase.erase("Patient", fmt::format("p{}", 2 * i), Scope::version, {1});
                gone = {marker(2 * i, 1)};
            } else {
                // A resource from an earlier step; later on from so early a step that its segment may be packed.
                const int resource = i < 8 ? 2 * i - 1 : 2 * i - 11;
                erase.erase("Patient", fmt::format("p{}", resource));
                gone = {marker(resource, 1)};
            }
            if (files != nullptr) {
                answered.from_packed += static_cast<std::size_t>(std::ranges::count_if(
                    gone, [&](const auto& mark) { return in_packed_segment(*files, mark); }));
            }
            if (!step(erase, {}, gone)) {
                return answered;
            }
            if (i % 4 == 3) {
                store.compact(true);
                (void)store.wait_compacted();
            }
        }
        return answered;
    }
};

void expect_kept_and_gone(SimFileSystem& fs, const Answered& answered, Packing packing) {
    auto store = Store::open(fs, kDirectory, options(packing));
    ASSERT_TRUE(store) << store.error().detail;
    for (int resource = 0; resource < 24; ++resource) {
        for (int version = 1; version <= 2; ++version) {
            const std::string mark = marker(resource, version);
            const auto info = (*store)->version(type_of("Patient"), fmt::format("p{}", resource),
                                                {static_cast<std::uint64_t>(version)});
            const bool erased = answered.erased.contains(mark);
            EXPECT_TRUE(info || !answered.written.contains(mark) || answered.begun.contains(mark))
                << mark;
            if (info) {
                EXPECT_FALSE(erased) << mark;
                const auto stored = (*store)->load(*info);
                ASSERT_TRUE(stored) << stored.error().detail;
                EXPECT_NE(stored->body.find(mark), std::string_view::npos);
            } else {
                EXPECT_FALSE(on_disk(fs, mark)) << mark;
            }
        }
    }
    store->reset();
    for (const std::string& path : fs.paths()) {
        EXPECT_FALSE(path.ends_with(".tmp")) << path;
    }
}

/// Runs the script once, then again with a power cut at each call.
void run_with_power_cuts(Packing packing) {
    std::uint64_t calls = 0;
    {
        SimFileSystem fs;
        auto store = Store::open(fs, kDirectory, options(packing));
        ASSERT_TRUE(store);
        const std::uint64_t before = fs.changing_calls();
        const Answered all = Script::run(**store, &fs);
        EXPECT_EQ(all.erased.size(), 16U);
        EXPECT_EQ(all.from_packed > 0, packing == Packing::on);
        for (const std::string& mark : all.erased) {
            EXPECT_FALSE(on_disk(fs, mark)) << mark;
        }
        store->reset();
        calls = fs.changing_calls() - before;
        expect_sound(fs, kDirectory);
        expect_kept_and_gone(fs, all, packing);
    }
    for (std::uint64_t n = 1; n <= calls && !testing::Test::HasFailure(); ++n) {
        SCOPED_TRACE(n);
        SimFileSystem fs;
        Answered answered;
        {
            auto store = Store::open(fs, kDirectory, options(packing));
            ASSERT_TRUE(store);
            fs.power_off_at(n);
            answered = Script::run(**store);
        }
        for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
            SCOPED_TRACE(seed);
            const auto after = fs.after_power_cut(seed);
            expect_sound(*after, kDirectory);
            // Power fails again while opening finishes what had begun.
            const auto again = after->after_power_cut(1);
            again->power_off_at(1 + n % 7);
            (void)Store::open(*again, kDirectory, options(packing));
            const auto last = again->after_power_cut(seed + 2);
            expect_sound(*last, kDirectory);
            expect_kept_and_gone(*last, answered, packing);
            expect_kept_and_gone(*after, answered, packing);
            expect_sound(*after, kDirectory);
        }
    }
}

TEST(ErasureUnderPowerCuts, NeitherDamagesNorForgetsNorLeavesAnything) {
    run_with_power_cuts(Packing::off);
}

TEST(ErasureUnderPowerCuts, NeitherDamagesNorForgetsNorLeavesAnythingOfPackedSegments) {
    run_with_power_cuts(Packing::on);
}

TEST(Erasure, LeavesABackupsNameOfASegmentAlone) {
    SimFileSystem fs;
    auto store = Store::open(fs, kDirectory, options());
    ASSERT_TRUE(store);
    const Answered answered = Script::run(**store);
    CommitBuilder builder;
    builder.put("Patient", "old", marker(99, 1));
    const Submission submission = (*store)->submit(builder.commit());
    ASSERT_TRUE((*store)->wait(submission.ticket));
    store->reset();
    const std::string first = kDirectory + "/segments/0000000001.seg";
    std::string kept = marker(1, 1);
    ASSERT_NE(fs.content(first).find(kept), std::string::npos);
    fs.add_name(first, "/backup/0000000001.seg");
    store = Store::open(fs, kDirectory, options());
    ASSERT_TRUE(store);
    const auto before = (*store)->current(type_of("Patient"), "p1");
    ASSERT_TRUE(before);
    const auto held = (*store)->load(*before);
    CommitBuilder erase;
    erase.erase("Patient", "p1");
    const Submission erased = (*store)->submit(erase.commit());
    ASSERT_TRUE((*store)->wait(erased.ticket));
    ASSERT_TRUE((*store)->wait_erased(erased.ticket));
    EXPECT_EQ(fs.content(first).find(kept), std::string::npos);
    EXPECT_NE(fs.content("/backup/0000000001.seg").find(kept), std::string::npos);
    EXPECT_NE(held->body.find(kept), std::string_view::npos);
    // The segment's other contents are read from its new file.
    const auto other = (*store)->current(type_of("Patient"), "p2");
    ASSERT_TRUE(other);
    EXPECT_TRUE((*store)->load(*other));
    store->reset();
    expect_sound(fs, kDirectory);
}

TEST(Erasure, IsTriedAgainWhenTheDeviceWasFull) {
    SimFileSystem fs;
    auto store = Store::open(fs, kDirectory, options());
    ASSERT_TRUE(store);
    const std::string mark = marker(1, 1);
    test::put(**store, "Patient", "a", mark);
    CommitBuilder erase;
    erase.erase("Patient", "a");
    fs.fail_next(SimFileSystem::Call::create, Errc::no_store);
    const Submission submission = (*store)->submit(erase.commit());
    ASSERT_TRUE((*store)->wait(submission.ticket));
    const auto erased = (*store)->wait_erased(submission.ticket);
    ASSERT_FALSE(erased);
    EXPECT_EQ(erased.error().code, Errc::no_store);
    EXPECT_TRUE(on_disk(fs, mark));
    store->reset();
    EXPECT_FALSE(on_disk(fs, mark));
}

}  // namespace
}  // namespace annals::storage
