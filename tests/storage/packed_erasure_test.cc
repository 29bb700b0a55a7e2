// Erasing from packed segments: nothing of an erased body is left in any file.

#include "storage/packed_segment.h"
#include "storage/store.h"
#include "tests/storage/packed_store.h"
#include "tests/support/packed_files.h"
#include "tests/support/store_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::expect_sound;
using test::kDirectory;
using test::on_disk;
using test::SimFileSystem;
using test::type_of;

TEST(PackedSegment, IsErasedFromOnceTheDeviceHasSpaceAgain) {
    SimFileSystem fs;
    {
        const auto store = open_packing(fs, packing_options());
        fill_store(*store);
        pack_all(*store);
        fs.fail_next(SimFileSystem::Call::create, Errc::no_store);
        CommitBuilder builder;
        builder.erase("Patient", id_of(7));
        const Submission submission = store->submit(builder.commit());
        ASSERT_TRUE(store->wait(submission.ticket));
        const auto erased = store->wait_erased(submission.ticket);
        ASSERT_FALSE(erased);
        EXPECT_EQ(erased.error().code, Errc::no_store);
        EXPECT_TRUE(on_disk(fs, marker(7)));
    }
    EXPECT_FALSE(on_disk(fs, marker(7)));
    expect_sound(fs, kDirectory);
}

TEST(PackedSegment, LosesTheBodiesThatAreErased) {
    SimFileSystem fs;
    const auto store = open_packing(fs, packing_options());
    fill_store(*store);
    pack_all(*store);
    ASSERT_TRUE(on_disk(fs, marker(10)));
    const auto held = store->load(*store->current(type_of("Patient"), id_of(10)));
    ASSERT_TRUE(held);
    const std::string before(held->body);
    for (int i = 0; i < kPackedResources; i += 10) {
        EXPECT_TRUE(test::erase(*store, "Patient", id_of(i)));
        EXPECT_FALSE(on_disk(fs, marker(i))) << i;
    }
    EXPECT_EQ(held->body, before);
    const auto tenth = [](int i) { return i % 10 == 0; };
    expect_all(*store, tenth);
    expect_sound(fs, kDirectory);
    pack_all(*store);
    expect_all(*store, tenth);
    expect_sound(fs, kDirectory);
    for (int i = 0; i < kPackedResources; i += 10) {
        EXPECT_FALSE(on_disk(fs, marker(i))) << i;
    }
}

class PackedTooOften : public testing::Test {
  protected:
    /// Erases from the first segment as often as it is packed again: the next erasure is to unpack it.
    void SetUp() override {
        store_ = open_packing(fs_, packing_options());
        fill_store(*store_);
        pack_all(*store_);
        ids_ = apart_from_dictionary(fs_);
        ASSERT_GT(ids_.size(), kTimes + 1);
        for (std::size_t i = 0; i < kTimes; ++i) {
            EXPECT_TRUE(test::erase(*store_, "Patient", ids_[i]));
            ASSERT_TRUE(test::is_packed(fs_.content(segment_path(1)))) << i;
        }
    }

    std::string marker_of(const std::string& id) const { return marker(std::stoi(id.substr(1))); }

    static constexpr std::size_t kTimes = 8;

    SimFileSystem fs_;
    std::unique_ptr<Store> store_;
    std::vector<std::string> ids_;
};

TEST_F(PackedTooOften, StaysPackedWhereTheDeviceHasNoSpaceForAPlainOne) {
    // The write after the log's.
    fs_.fail_next(SimFileSystem::Call::write, Errc::no_store, 1, 1);
    EXPECT_TRUE(test::erase(*store_, "Patient", ids_[kTimes]));
    EXPECT_FALSE(on_disk(fs_, marker_of(ids_[kTimes])));
    EXPECT_TRUE(test::is_packed(fs_.content(segment_path(1))));
    EXPECT_TRUE(test::erase(*store_, "Patient", ids_[kTimes + 1]));
    EXPECT_FALSE(on_disk(fs_, marker_of(ids_[kTimes + 1])));
    EXPECT_FALSE(test::is_packed(fs_.content(segment_path(1))));
    expect_all(*store_, [&](int i) {
        return std::ranges::find(ids_, id_of(i)) < ids_.begin() + kTimes + 2;
    });
    store_.reset();
    expect_sound(fs_, kDirectory);
}

TEST_F(PackedTooOften, IsNotErasedFromWhereItCannotBeReplaced) {
    fs_.fail_next(SimFileSystem::Call::write, Errc::io, 1, 1);
    CommitBuilder builder;
    builder.erase("Patient", ids_[kTimes]);
    const Submission submission = store_->submit(builder.commit());
    ASSERT_TRUE(store_->wait(submission.ticket));
    const auto erased = store_->wait_erased(submission.ticket);
    ASSERT_FALSE(erased);
    EXPECT_EQ(erased.error().code, Errc::io);
    EXPECT_TRUE(on_disk(fs_, marker_of(ids_[kTimes])));
    store_.reset();
    store_ = open_packing(fs_, packing_options());
    EXPECT_FALSE(on_disk(fs_, marker_of(ids_[kTimes])));
    store_.reset();
    expect_sound(fs_, kDirectory);
}

TEST(PackedSegment, GivesUpItsDictionaryWithABodyThatHasPiecesInIt) {
    SimFileSystem fs;
    const auto store = open_packing(fs, packing_options());
    fill_store(*store);
    pack_all(*store);
    const auto packed = packed_at(fs, segment_path(1));
    ASSERT_FALSE(packed->sources().empty());
    const auto part = packed->read(packed->sources().front());
    ASSERT_TRUE(part);
    const auto source = parse_record(part->view(), packed->sources().front() - part->offset);
    ASSERT_TRUE(source);
    const auto dictionary = packed->dictionary();
    ASSERT_TRUE(dictionary);
    const std::string id(source->id);
    const int number = std::stoi(id.substr(1));
    EXPECT_NE(dictionary->find(source->body.substr(source->body.size() - 40)), std::string::npos);

    // First one that is no source: the dictionary stays.
    int other = 0;
    for (const std::uint64_t at : packed->sources()) {
        const auto where = packed->read(at);
        ASSERT_TRUE(where);
        const auto record = parse_record(where->view(), at - where->offset);
        ASSERT_TRUE(record);
        other += record->id == id_of(other) ? 1 : 0;
    }
    EXPECT_TRUE(test::erase(*store, "Patient", id_of(other)));
    EXPECT_TRUE(test::is_packed(fs.content(segment_path(1))));
    EXPECT_FALSE(on_disk(fs, marker(other)));
    expect_sound(fs, kDirectory);

    EXPECT_TRUE(test::erase(*store, "Patient", id));
    EXPECT_FALSE(test::is_packed(fs.content(segment_path(1))));
    EXPECT_FALSE(on_disk(fs, marker(number)));
    // What was erased from the packed segment takes up space again in the plain one, and is counted.
    ASSERT_TRUE(store->wait_compacted());
    EXPECT_EQ(store->compaction().dead_bytes, store->measure_compaction().dead_bytes);
    const auto gone = [&](int i) { return i == other || i == number; };
    expect_all(*store, gone);
    expect_sound(fs, kDirectory);
    pack_all(*store);
    EXPECT_TRUE(test::is_packed(fs.content(segment_path(1))));
    EXPECT_FALSE(on_disk(fs, marker(number)));
    expect_all(*store, gone);
    expect_sound(fs, kDirectory);
}

TEST(PackedSegment, IsNotMadeAgainWhileMoreMayBeErasedFromIt) {
    SimFileSystem fs;
    AgeingSegments ageing(fs);
    fill_store(ageing.store());
    ageing.pass(2 * std::chrono::hours(1));
    ageing.reopen();
    ageing.await_packed(ageing.store().metrics().segments - 1);
    ageing.reopen();
    const std::uint64_t packed = ageing.store().metrics().segments_packed;
    fill_store(ageing.store());
    ASSERT_GT(ageing.store().metrics().segments, packed + 3) << "these are too young";

    EXPECT_TRUE(
        test::erase(ageing.store(), "Patient", id_of(source_of(*packed_at(fs, segment_path(1))))));
    EXPECT_FALSE(test::is_packed(fs.content(segment_path(1))));
    const std::uint64_t looks = ageing.looks();
    // The first segment comes before those that are too young.
    ageing.await_looks(looks + 2);
    EXPECT_EQ(ageing.store().metrics().compaction.pack_bytes_read, 0U);
    pack_all(ageing.store());
    EXPECT_TRUE(test::is_packed(fs.content(segment_path(1)))) << "asked for";
}

}  // namespace
}  // namespace annals::storage
