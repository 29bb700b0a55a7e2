// The journal of erasures, and the number of syncs that an erasure costs.

#include "storage/erasure_journal.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "storage/file_system.h"
#include "storage/format.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/support/commits.h"
#include "tests/support/files.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::kDirectory;
using test::SimFileSystem;

/// Segments are created only when needed.
StoreOptions segments_on_demand() {
    StoreOptions options;
    options.segment_bytes = 64 << 10;
    options.prepare_segments = false;
    return options;
}

Submission submit_erase(Store& store, std::string_view id) {
    CommitBuilder builder;
    builder.erase("Patient", std::string(id));
    return store.submit(builder.commit());
}

TEST(ErasureJournal, IsThereAfterAPowerCutAlsoIfItsFirstWriteFailed) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    ErasureJournal journal(fs, kDirectory, 0);
    ErasureJournal::Content content;
    content.blankings.push_back({.segment = 7});
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store);
    ASSERT_FALSE(journal.write(content));
    ASSERT_TRUE(journal.write(content));
    const auto after = fs.after_power_cut(0);
    const auto read = ErasureJournal::read(*after, kDirectory);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->sequence, 1U);
    ASSERT_EQ(read->blankings.size(), 1U);
    EXPECT_EQ(read->blankings.front().segment, 7U);
}

TEST(ErasureJournal, SyncsAlsoWhatHoldsItsFolderThoughAnAttemptBeforeCameToMakeThat) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    ErasureJournal journal(fs, kDirectory, 0);
    fs.fail_next(SimFileSystem::Call::sync_directory, Errc::no_store);
    ASSERT_FALSE(journal.write({}));
    const std::uint64_t before = fs.calls(SimFileSystem::Call::sync_directory);
    ASSERT_TRUE(journal.write({}));
    EXPECT_EQ(fs.calls(SimFileSystem::Call::sync_directory), before + 2);
}

TEST(ErasureJournal, CopiesOnlyASegmentThatHasNotAllOfItYet) {
    SimFileSystem fs;
    const auto store = *Store::open(fs, kDirectory, segments_on_demand());
    test::put(*store, "Patient", "a", "marker-a");
    const std::string path = kDirectory + "/segments/" + segment_name(1);
    const std::string before = fs.content(path);
    const Ticket ticket = submit_erase(*store, "a").ticket;
    ASSERT_TRUE(store->wait(ticket));
    ASSERT_TRUE(store->wait_erased(ticket));
    const std::string after = fs.content(path);
    const auto journal = ErasureJournal::read(fs, kDirectory);
    ASSERT_TRUE(journal);
    ASSERT_EQ(journal->blankings.size(), 1U);
    const Blanking& blanking = journal->blankings.front();
    const auto copies = [&](const std::string& bytes) {
        const std::shared_ptr<const char> data(bytes.data(), [](const char*) {});
        return journal->applied(1, data, bytes.size()) != data;
    };
    EXPECT_TRUE(copies(before));
    EXPECT_FALSE(copies(after));
    for (const std::uint64_t at :
         {blanking.frame_offset, blanking.record_offset,
          blanking.record_offset + blanking.record_bytes - blanking.body_bytes}) {
        std::string half = after;
        half.replace(at, 8, before, at, 8);
        EXPECT_TRUE(copies(half)) << at;
    }
}

TEST(ErasureJournal, ThatWasReplayedIsNeededNoMoreAfterAPowerCut) {
    for (const bool shared : {false, true}) {
        SimFileSystem fs;
        const auto store = *Store::open(fs, kDirectory, segments_on_demand());
        test::put(*store, "Patient", "a", "marker-a");
        const std::string path = kDirectory + "/segments/" + segment_name(1);
        const std::string before = fs.content(path);
        const Ticket ticket = submit_erase(*store, "a").ticket;
        ASSERT_TRUE(store->wait(ticket));
        ASSERT_TRUE(store->wait_erased(ticket));
        const auto journal = ErasureJournal::read(fs, kDirectory);
        ASSERT_TRUE(journal);

        SimFileSystem other;
        ASSERT_TRUE(other.make_directory(kDirectory + "/segments"));
        other.set_content(path, before);
        if (shared) {
            other.add_name(path, kDirectory + "/backup");
        }
        const auto whole = replay(other, kDirectory + "/segments", *journal);
        ASSERT_TRUE(whole && *whole);
        const auto after = other.after_power_cut(0);
        EXPECT_EQ(after->content(path).size(), before.size());
        EXPECT_EQ(after->content(path).find("marker-a"), std::string::npos) << shared;
    }
}

TEST(ErasureJournal, IsPutOffOnlyWhereNothingWasWrittenYet) {
    SimFileSystem fs;
    const auto store = *Store::open(fs, kDirectory, segments_on_demand());
    test::put(*store, "Patient", "a", "marker-a");
    const Ticket ticket = submit_erase(*store, "a").ticket;
    ASSERT_TRUE(store->wait(ticket));
    ASSERT_TRUE(store->wait_erased(ticket));
    const auto journal = ErasureJournal::read(fs, kDirectory);
    ASSERT_TRUE(journal);
    const std::string segments = kDirectory + "/segments";
    // The segment's file has no other name, so it is edited in place and may be half erased already.
    fs.set_descriptors(fs.open_files());
    const auto refused = replay(fs, segments, *journal);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_store);
    fs.add_name(segments + "/" + segment_name(1), kDirectory + "/backup");
    fs.set_descriptors({});
    fs.set_space(0);
    const auto put_off = replay(fs, segments, *journal);
    ASSERT_TRUE(put_off);
    EXPECT_FALSE(*put_off);
}

TEST(ErasureJournal, ACopyHasAllBytesBeforeItHasTheNameOfTheSegment) {
    SimFileSystem fs;
    const std::string segments = kDirectory + "/segments";
    ASSERT_TRUE(fs.make_directory(segments));
    const std::string path = segments + "/" + segment_name(1);
    const std::string bytes(10'000, 'x');
    fs.set_content(path, bytes);
    fs.add_name(path, kDirectory + "/backup");
    const auto copied = break_links(fs, segments, 1);
    ASSERT_TRUE(copied && *copied);
    EXPECT_EQ(fs.after_power_cut(0)->content(path), bytes);
}

TEST(ErasureJournal, KeepsTheOneBeforeUntilTheNextIsWhole) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    {
        ErasureJournal journal(fs, kDirectory, 0);
        ErasureJournal::Content content;
        for (content.erases_done = 1; content.erases_done <= 3; ++content.erases_done) {
            ASSERT_TRUE(journal.write(content));
        }
        content.erases_done = 4;
        content.blankings.resize(1000);  // many blocks
        fs.power_off_at(1);
        ASSERT_FALSE(journal.write(content));
    }
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto after = fs.after_power_cut(seed);
        const auto read = ErasureJournal::read(*after, kDirectory);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->erases_done, read->sequence);
        EXPECT_GE(read->sequence, 3U);
    }
}

TEST(ErasureJournal, IsMadeDurableByTheNextProcessBeforeTheOneBeforeGoes) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    ErasureJournal::Content content;
    {
        ErasureJournal journal(fs, kDirectory, 0);
        for (content.erases_done = 1; content.erases_done <= 2; ++content.erases_done) {
            ASSERT_TRUE(journal.write(content));
        }
        fs.fail_next(SimFileSystem::Call::sync, Errc::no_store);
        ASSERT_FALSE(journal.write(content));
    }
    auto found = ErasureJournal::read_durably(fs, kDirectory);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->erases_done, 3U);
    found->erases_done = 4;
    fs.power_off_at(1);
    ASSERT_FALSE(ErasureJournal(fs, kDirectory, found->sequence).write(*found));
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto read = ErasureJournal::read(*fs.after_power_cut(seed), kDirectory);
        ASSERT_TRUE(read);
        EXPECT_GE(read->erases_done, 3U);
    }
}

TEST(ErasureJournal, CountsForNothingWhereItIsNotWhole) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    ErasureJournal journal(fs, kDirectory, 0);
    ErasureJournal::Content content{.erases_done = 5, .blankings = {}, .dead_bytes = {{1, 2}}};
    content.blankings.resize(3);
    ASSERT_TRUE(journal.write(content));
    const std::string path = kDirectory + "/" + ErasureJournal::path_of(1);
    const std::string whole = fs.content(path);
    ASSERT_EQ(ErasureJournal::read(fs, kDirectory)->erases_done, 5U);
    // The rest of the block is zeros.
    const std::size_t end = whole.find_last_not_of('\0') + 1;
    ASSERT_GT(end, 100U);
    for (std::size_t at = 0; at < end; ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        fs.set_content(path, damaged);
        const auto read = ErasureJournal::read(fs, kDirectory);
        if (!read) {
            EXPECT_TRUE(at >= 8 && at < 12) << at;  // the version
            continue;
        }
        EXPECT_EQ(read->sequence, 0U) << at;
        fs.set_content(path, whole.substr(0, at));
        EXPECT_EQ(ErasureJournal::read(fs, kDirectory)->sequence, 0U) << at;
    }
}

TEST(ErasureJournal, WhoseNewestWritingIsDamagedDamagesNoFrameThatIsWhole) {
    for (const bool sealed : {false, true}) {
        SimFileSystem fs;
        const auto store = *Store::open(fs, kDirectory, segments_on_demand());
        CommitBuilder together;
        for (const char* const id : {"a", "b", "c"}) {
            together.put("Patient", id, "marker");
        }
        ASSERT_TRUE(store->wait(store->submit(together.commit()).ticket));
        while (sealed && store->metrics().segments < 2) {
            test::put(*store, "Patient", "other", std::string(9000, 'x'));
        }
        for (const char* const id : {"a", "b"}) {
            const Ticket ticket = submit_erase(*store, id).ticket;
            ASSERT_TRUE(store->wait(ticket));
            ASSERT_TRUE(store->wait_erased(ticket));
        }
        // The process is killed, so that the writing before the newest still has its blanking.
        const auto killed = fs.after_power_cut(1);
        const auto journal = ErasureJournal::read(*killed, kDirectory);
        ASSERT_TRUE(journal);
        const std::string path = kDirectory + "/" + ErasureJournal::path_of(journal->sequence);
        std::string damaged = killed->content(path);
        damaged[60] = static_cast<char>(damaged[60] ^ 4);
        killed->set_content(path, damaged);
        StoreOptions reading = segments_on_demand();
        reading.read_only = true;
        EXPECT_TRUE(Store::open(*killed, kDirectory, reading));
        const auto torn = verify(*killed, kDirectory);
        ASSERT_TRUE(torn);
        EXPECT_TRUE(torn->damages.empty());
        EXPECT_TRUE(torn->torn_journal);
        {
            const auto again = Store::open(*killed, kDirectory, segments_on_demand());
            ASSERT_TRUE(again) << again.error().detail;
            const auto info = (*again)->current(test::type_of("Patient"), "c");
            ASSERT_TRUE(info);
            EXPECT_TRUE((*again)->load(*info));
        }
        const auto report = verify(*killed, kDirectory);
        ASSERT_TRUE(report);
        EXPECT_TRUE(report->damages.empty());
        EXPECT_FALSE(report->torn_journal);
    }
}

TEST(ErasureJournal, OfWhichNeitherFileIsWholeIsDamage) {
    SimFileSystem fs;
    const auto store = *Store::open(fs, kDirectory, segments_on_demand());
    test::put(*store, "Patient", "a", "marker");
    ErasureJournal journal(fs, kDirectory, 0);
    ASSERT_TRUE(journal.write({}));
    ASSERT_TRUE(journal.write({}));
    for (const std::uint64_t which : {0U, 1U}) {
        EXPECT_TRUE(verify(fs, kDirectory)->damages.empty());
        const std::string path = kDirectory + "/" + ErasureJournal::path_of(which);
        fs.set_content(path, "X" + fs.content(path).substr(1));
    }
    const auto report = verify(fs, kDirectory);
    ASSERT_TRUE(report);
    ASSERT_EQ(report->damages.size(), 1U);
    EXPECT_EQ(report->damages.front().segment, "erase/0.journal");
}

TEST(ErasureJournal, OfANewerFormatRefusesTheStoreAndTouchesNothing) {
    SimFileSystem fs;
    {
        ASSERT_TRUE(Store::open(fs, kDirectory, {}));
    }
    ErasureJournal journal(fs, kDirectory, 0);
    ASSERT_TRUE(journal.write({}));
    const std::string path = kDirectory + "/erase/1.journal";
    std::string bytes = fs.content(path);
    store_le(bytes.data() + 8, std::uint32_t{2});
    fs.set_content(path, bytes);
    const auto store = Store::open(fs, kDirectory, {});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::usage);
    EXPECT_NE(store.error().detail.find(path), std::string::npos) << store.error().detail;
    EXPECT_EQ(fs.content(path), bytes);
    const auto report = verify(fs, kDirectory);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::usage);
}

/// A segment with one frame whose header claims to be `length` long, and a record after it.
std::string segment_of_one_frame(std::uint64_t salt, std::uint64_t length) {
    std::string bytes(kSegmentHeaderBytes, '\0');
    SegmentHeader header;
    header.salt = salt;
    encode_segment_header(header, bytes.data());
    std::string frame(kFrameHeaderBytes, '\0');
    FrameHeader whole;
    whole.length = frame.size();
    finish_frame(whole, salt, frame.data());
    store_le(frame.data() + 16, length);
    store_le(frame.data() + 52,
             static_cast<std::uint32_t>(hash64(std::string_view(frame).substr(8, 44), salt)));
    return bytes + frame + std::string(kRecordHeaderBytes + 16, 'r');
}

TEST(ErasureJournal, OfSomebodyElsesMakingTouchesNothingOutsideOfARecord) {
    constexpr std::uint64_t kSalt = 5;
    constexpr std::uint64_t kFrame = kSegmentHeaderBytes;
    constexpr std::uint64_t kRecord = kFrame + kFrameHeaderBytes;
    constexpr std::uint32_t kBytes = kRecordHeaderBytes + 16;
    constexpr std::uint64_t kFar = ~std::uint64_t{0};
    const std::vector<Blanking> wrong = {
        {.frame_offset = kFrame, .record_offset = kRecord + kBytes},
        {.frame_offset = kFrame, .record_offset = kRecord + kBytes, .record_bytes = kBytes},
        {.frame_offset = kFrame, .record_offset = kRecord, .record_bytes = kBytes + 1},
        {.frame_offset = kFrame,
         .record_offset = kRecord,
         .record_bytes = kBytes,
         .body_bytes = 17},
        {.frame_offset = kFrame, .record_offset = kRecord, .record_bytes = ~0U, .body_bytes = 1},
        {.frame_offset = kFrame, .record_offset = kFrame, .record_bytes = kBytes},
        {.frame_offset = kFrame, .record_offset = kFar - 8, .record_bytes = kBytes},
        {.frame_offset = kFar, .record_offset = kRecord, .record_bytes = kBytes},
        {.frame_offset = kFar - 100, .record_offset = kFar, .record_bytes = kBytes},
        {.frame_offset = kFrame + 1, .record_offset = kRecord + 1, .record_bytes = kBytes},
    };
    for (const std::uint64_t length : {std::uint64_t{kFrameHeaderBytes + kBytes}, kFar}) {
        const std::string bytes = segment_of_one_frame(kSalt, length);
        const std::shared_ptr<const char> data(bytes.data(), [](const char*) {});
        SimFileSystem fs;
        fs.set_content("/1.seg", bytes);
        const auto file = fs.open("/1.seg", FileSystem::Mode::read_write);
        ASSERT_TRUE(file);
        for (Blanking blanking : wrong) {
            blanking.segment = 1;
            blanking.salt = kSalt;
            ErasureJournal::Content content;
            content.blankings = {blanking};
            EXPECT_EQ(content.applied(1, data, bytes.size()), data);
            EXPECT_TRUE(apply_blankings(**file, content.blankings));
            EXPECT_EQ(fs.content("/1.seg"), bytes);
        }
        ErasureJournal::Content right;
        right.blankings = {{.segment = 1,
                            .salt = kSalt,
                            .frame_offset = kFrame,
                            .record_offset = kRecord,
                            .record_bytes = kBytes,
                            .body_bytes = 16}};
        EXPECT_NE(right.applied(1, data, bytes.size()), data);
        EXPECT_TRUE(apply_blankings(**file, right.blankings));
        EXPECT_EQ(fs.content("/1.seg").substr(kRecord + kRecordHeaderBytes), std::string(16, '\0'));
    }
}

/// The number of syncs of a lone hard delete, after a few others.
std::uint64_t syncs_of_a_hard_delete(Durability durability) {
    SimFileSystem fs;
    StoreOptions options = segments_on_demand();
    options.durability = durability;
    auto store = Store::open(fs, kDirectory, options);
    EXPECT_TRUE(store);
    std::uint64_t before = 0;
    for (const char* id : {"a", "b", "c"}) {
        test::put(**store, "Patient", id, "text");
        before = fs.file_syncs();
        CommitBuilder erase;
        erase.erase("Patient", id);
        const Submission submission = (*store)->submit(erase.commit());
        EXPECT_TRUE((*store)->wait(submission.ticket));
        EXPECT_TRUE((*store)->wait_erased(submission.ticket));
    }
    return fs.file_syncs() - before;
}

TEST(HardDelete, SyncsTheLogTheJournalAndTheSegmentOnceEach) {
    EXPECT_EQ(syncs_of_a_hard_delete(Durability::commit), 3U);
    EXPECT_EQ(syncs_of_a_hard_delete(Durability::none), 3U);
}

TEST(HardDelete, ErasesNothingWhereTheLogCouldNotBeSynced) {
    SimFileSystem fs;
    StoreOptions options = segments_on_demand();
    options.durability = Durability::none;
    const auto store = *Store::open(fs, kDirectory, options);
    test::put(*store, "Patient", "a", "marker-a");
    fs.fail_next(SimFileSystem::Call::sync, Errc::io);
    EXPECT_FALSE(store->wait(submit_erase(*store, "a").ticket));
    EXPECT_EQ(store->write_state(), WriteState::failed);
    const auto info = store->current(test::type_of("Patient"), "a");
    ASSERT_TRUE(info);
    const auto read = store->load(*info);
    ASSERT_TRUE(read) << read.error().detail;
    EXPECT_TRUE(read->body.ends_with("marker-a"));
}

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
    const Submission submission = submit_erase(*store, "a");
    ASSERT_TRUE(store->wait(submission.ticket));
    EXPECT_TRUE(store->wait_erased(submission.ticket));
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
        const Submission submission = submit_erase(*store, "a");
        EXPECT_TRUE(store->wait(submission.ticket));
        EXPECT_TRUE(store->wait_erased(submission.ticket));
    }
    done = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
}

/// Erases two resources in a frame from which a third was erased before, while one file system call fails.
void erase_where_a_call_fails(SimFileSystem::Call call, Errc code, std::uint64_t passed,
                              bool linked) {
    SCOPED_TRACE(testing::Message()
                 << "call " << static_cast<int>(call) << " after " << passed
                 << (code == Errc::io ? ", io" : "") << (linked ? ", linked" : ""));
    const std::string elsewhere = "/backup/1";
    StoreOptions options = segments_on_demand();
    options.pack_segments = false;
    SimFileSystem fs;
    auto store = *Store::open(fs, kDirectory, options);
    const auto erase = [&](const char* id) {
        const Submission submission = submit_erase(*store, id);
        if (submission.status != Submission::Status::accepted || !store->wait(submission.ticket)) {
            return false;
        }
        (void)store->wait_erased(submission.ticket);
        return true;
    };
    CommitBuilder builder;
    for (const char* id : {"a", "b", "c", "d"}) {
        builder.put("Patient", id, "marker-" + std::string(id));
    }
    ASSERT_TRUE(store->wait(store->submit(builder.commit()).ticket));
    ASSERT_TRUE(erase("b"));
    // Moves the log on to the next segment.
    for (int i = 0; i < 4; ++i) {
        test::put(*store, "Observation", "o", std::string(20'000, 'x'));
    }
    if (linked) {
        fs.add_name(kDirectory + "/segments/" + segment_name(1), elsewhere);
    }
    fs.fail_next(call, code, 1, passed);
    if (!erase("c") || !erase("d")) {
        return;  // the call was one of the log's own
    }
    store->compact(true);
    (void)store->wait_compacted();
    fs.fail_next(call, code, 0);
    if (code == Errc::io) {
        store.reset();
        store = *Store::open(fs, kDirectory, options);
    }
    EXPECT_TRUE(store->load(*store->current(test::type_of("Patient"), "a")));
    store.reset();
    for (const std::string& path : fs.paths()) {
        if (path != elsewhere) {
            EXPECT_EQ(fs.content(path).find("marker-c"), std::string::npos) << path;
            EXPECT_EQ(fs.content(path).find("marker-d"), std::string::npos) << path;
        }
    }
    const auto report = verify(fs, kDirectory);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty());
    EXPECT_EQ(report->bodies_left, 0U);
}

TEST(HardDelete, OfWhichACallFailsIsDoneWholeBeforeAnythingElse) {
    using Call = SimFileSystem::Call;
    for (const Errc code : {Errc::no_store, Errc::io}) {
        for (const bool linked : {false, true}) {
            for (const Call call :
                 {Call::write, Call::sync, Call::create, Call::rename, Call::sync_directory}) {
                for (std::uint64_t passed = 0; passed < 6; ++passed) {
                    erase_where_a_call_fails(call, code, passed, linked);
                }
            }
        }
    }
}

TEST(HardDelete, OutlivesAPowerCutAlsoIfTheNameOfACopyWasNotDurableAtFirst) {
    const std::string elsewhere = "/backup/1";
    StoreOptions options = segments_on_demand();
    SimFileSystem fs;
    auto store = *Store::open(fs, kDirectory, options);
    const auto erase = [&](const char* id) {
        const Ticket ticket = submit_erase(*store, id).ticket;
        EXPECT_TRUE(store->wait(ticket));
        return ticket;
    };
    for (const char* id : {"a", "b", "c"}) {
        test::put(*store, "Patient", id, "marker-" + std::string(id));
    }
    // Moves the log on to the next segment.
    for (int i = 0; i < 4; ++i) {
        test::put(*store, "Observation", "o", std::string(20'000, 'x'));
    }
    // From here on, both files of the journal exist.
    ASSERT_TRUE(store->wait_erased(erase("a")));
    ASSERT_TRUE(store->wait_erased(erase("b")));
    fs.add_name(kDirectory + "/segments/" + segment_name(1), elsewhere);
    fs.fail_next(SimFileSystem::Call::sync_directory, Errc::no_store);
    const Ticket last = erase("c");
    ASSERT_FALSE(store->wait_erased(last));
    for (int i = 0; i < 1000 && !store->wait_erased(last); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ASSERT_TRUE(store->wait_erased(last));
    const auto after = fs.after_power_cut(0);
    const std::string bytes = after->content(kDirectory + "/segments/" + segment_name(1));
    EXPECT_EQ(bytes.find("marker-c"), std::string::npos);
    EXPECT_NE(after->content(elsewhere).find("marker-c"), std::string::npos);
}

/// Cuts the power at the `n`th call of an opening that finishes an erasure whose
/// journal may not be durable yet. False if the opening makes fewer calls.
bool cut_while_an_erasure_is_finished(std::uint64_t n, std::uint64_t seed) {
    SimFileSystem fs;
    auto store = *Store::open(fs, kDirectory, segments_on_demand());
    CommitBuilder builder;
    builder.put("Patient", "a", "marker-a");
    builder.put("Patient", "b", std::string(2000, 'b'));
    EXPECT_TRUE(store->wait(store->submit(builder.commit()).ticket));
    fs.fail_next(SimFileSystem::Call::sync_directory, Errc::io);  // the journal's last call
    const Ticket ticket = submit_erase(*store, "b").ticket;
    EXPECT_TRUE(store->wait(ticket));
    EXPECT_FALSE(store->wait_erased(ticket));
    store.reset();
    const std::uint64_t calls = fs.changing_calls();
    fs.power_off_at(n);
    (void)Store::open(fs, kDirectory, segments_on_demand());
    const auto after = fs.after_power_cut(seed);
    const auto report = verify(*after, kDirectory);
    EXPECT_TRUE(report && report->damages.empty()) << n << ", seed " << seed;
    const auto again = Store::open(*after, kDirectory, segments_on_demand());
    EXPECT_TRUE(again && (*again)->load(*(*again)->current(test::type_of("Patient"), "a")));
    return fs.changing_calls() >= calls + n;
}

TEST(HardDelete, OutlivesAPowerCutWhileItIsFinishedByAJournalThatWasNotDurable) {
    std::uint64_t n = 1;
    for (bool reached = true; reached; ++n) {
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            reached = cut_while_an_erasure_is_finished(n, seed);
        }
    }
    EXPECT_GT(n, 8U);
}

TEST(HardDelete, SaysOnceThatItWaits) {
    SimFileSystem fs;
    const auto store = *Store::open(fs, kDirectory, segments_on_demand());
    test::put(*store, "Patient", "a", "marker-a");
    testing::internal::CaptureStderr();
    fs.fail_next(SimFileSystem::Call::create, Errc::no_store, 2);  // of the journal
    const Ticket ticket = submit_erase(*store, "a").ticket;
    ASSERT_TRUE(store->wait(ticket));
    EXPECT_FALSE(store->wait_erased(ticket));
    for (int i = 0; i < 1000 && !store->wait_erased(ticket); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(store->wait_erased(ticket));
    const std::size_t first = told.find("its bytes are still there");
    ASSERT_NE(first, std::string::npos) << told;
    EXPECT_EQ(told.find("its bytes are still there", first + 1), std::string::npos) << told;
    EXPECT_NE(told.find("the remaining bytes are removed", first), std::string::npos) << told;
}

TEST(HardDelete, ThatAnOpeningCouldNotFinishIsDoneBeforeAnythingElse) {
    using Call = SimFileSystem::Call;
    StoreOptions options = segments_on_demand();
    int openings = 0;
    for (std::uint64_t passed = 0; passed < 10; ++passed) {
        SCOPED_TRACE(passed);
        SimFileSystem fs;
        auto store = *Store::open(fs, kDirectory, options);
        test::put(*store, "Patient", "a", "marker-a");
        test::put(*store, "Patient", "b", "marker-b");
        fs.fail_next(Call::create, Errc::io);  // of the journal
        const Ticket ticket = submit_erase(*store, "b").ticket;
        ASSERT_TRUE(store->wait(ticket));
        ASSERT_FALSE(store->wait_erased(ticket));
        store.reset();
        fs.fail_next(Call::write, Errc::no_store, 1, passed);
        auto opened = Store::open(fs, kDirectory, options);
        if (!opened) {
            continue;  // opening itself needed that call
        }
        ++openings;
        store = *std::move(opened);
        store->compact(true);
        EXPECT_TRUE(store->wait_compacted());
        EXPECT_TRUE(store->load(*store->current(test::type_of("Patient"), "a")));
        store.reset();
        for (const std::string& path : fs.paths()) {
            EXPECT_EQ(fs.content(path).find("marker-b"), std::string::npos) << path;
        }
        const auto report = verify(fs, kDirectory);
        ASSERT_TRUE(report);
        EXPECT_TRUE(report->damages.empty());
        EXPECT_EQ(report->bodies_left, 0U);
    }
    EXPECT_GE(openings, 5);
}

TEST(HardDelete, WaitsForRoomForACopyAndKeepsNoStoreFromOpening) {
    const std::string elsewhere = "/backup/1";
    const std::string path = kDirectory + "/segments/" + segment_name(1);
    const StoreOptions options = segments_on_demand();
    SimFileSystem fs;
    auto store = *Store::open(fs, kDirectory, options);
    for (const char* id : {"a", "b", "c", "d"}) {
        test::put(*store, "Patient", id, "marker-" + std::string(id));
    }
    // Moves the log on to the next segment.
    for (int i = 0; i < 4; ++i) {
        test::put(*store, "Observation", "o", std::string(20'000, 'x'));
    }
    // From here on, both files of the journal exist.
    for (const char* id : {"a", "b"}) {
        const Ticket ticket = submit_erase(*store, id).ticket;
        ASSERT_TRUE(store->wait(ticket));
        ASSERT_TRUE(store->wait_erased(ticket));
    }
    fs.add_name(path, elsewhere);
    fs.set_space(0);
    const Ticket last = submit_erase(*store, "c").ticket;
    ASSERT_TRUE(store->wait(last));
    ASSERT_FALSE(store->wait_erased(last));
    store.reset();

    auto opened = Store::open(fs, kDirectory, options);
    ASSERT_TRUE(opened) << opened.error().detail;
    store = *std::move(opened);
    EXPECT_FALSE(store->current(test::type_of("Patient"), "c"));
    EXPECT_TRUE(store->load(*store->current(test::type_of("Patient"), "d")));
    EXPECT_NE(fs.content(path).find("marker-c"), std::string::npos);

    fs.set_space({});
    for (int i = 0; i < 1000 && fs.content(path).find("marker-c") != std::string::npos; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_EQ(fs.content(path).find("marker-c"), std::string::npos);
    EXPECT_NE(fs.content(elsewhere).find("marker-c"), std::string::npos);
    EXPECT_TRUE(store->load(*store->current(test::type_of("Patient"), "d")));
    store.reset();
    const auto report = verify(fs, kDirectory);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty());
    EXPECT_EQ(report->bodies_left, 0U);
}

}  // namespace
}  // namespace annals::storage
