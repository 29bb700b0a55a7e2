// What $purge leaves in the files: nothing once it is answered, and all or nothing after a power cut.

#include "storage/verify.h"
#include "tests/core/operations/purge_fixture.h"
#include "tests/support/files.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {
namespace {

using test::SimFileSystem;
using testing::ElementsAre;

/// A patient with members of several types, in several versions, all of which contain `marker`, among others in the same
/// segments.
class PurgedFiles : public PurgeTest {
  protected:
    void fill(const std::string& marker) {
        const std::string text(500, 't');
        put("Patient", "q", fmt::format(R"("name":[{{"family":"kept","text":"{}"}}])", text));
        for (int round = 0; round < 2; ++round) {
            put("Patient", "p",
                fmt::format(R"("name":[{{"family":"{}","text":"{}{}"}}])", marker, text, round));
            for (int i = 0; i < 6; ++i) {
                put("Observation", fmt::format("o{}", i),
                    subject("p", fmt::format(R"(,"valueString":"{} {} {}")", marker, text, round)));
            }
            put("Observation", fmt::format("kept{}", round), subject("q"));
        }
        put("Observation", "moved", subject("p", fmt::format(R"(,"valueString":"{}")", marker)));
        put("Observation", "moved", subject("q"));
        put("DocumentReference", "d",
            fmt::format(R"("status":"current","subject":{{"reference":"Patient/p"}},)"
                        R"("content":[{{"attachment":{{"title":"{}"}}}}])",
                        marker));
        remove("DocumentReference/d");
    }

    static constexpr std::size_t kGone = 8;  ///< resources that are erased as a whole
};

TEST_F(PurgedFiles, HaveNothingOfItOnceItIsAnswered) {
    const std::string marker = "unmistakable";
    fill(marker);
    restart(Config());  // writes the search index
    const auto files_with_it = [&] {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(data())) {
            if (entry.is_regular_file() &&
                test::read_whole_file(entry.path()).find(marker) != std::string::npos) {
                found.push_back(entry.path());
            }
        }
        return found;
    };
    EXPECT_GE(files_with_it().size(), 2U);
    EXPECT_EQ(purge("p").whole.size(), kGone);
    EXPECT_THAT(files_with_it(), ElementsAre());
    restart(Config());
    EXPECT_THAT(files_with_it(), ElementsAre());
    EXPECT_EQ(status("Observation/kept0"), 200);
    EXPECT_EQ(status("Observation/moved"), 200);
    EXPECT_EQ(status("Observation/moved/_history/1"), 404);
}

TEST_F(PurgedFiles, AreAllOfItOrNothingAfterAPowerCut) {
    const std::string marker = "unmistakable";
    storage::StoreOptions options;
    options.segment_bytes = 4 << 10;
    options.prepare_segments = false;
    bool answered = false;
    for (std::uint64_t n = 1; !answered && !HasFailure(); ++n) {
        SCOPED_TRACE(n);
        const auto disk = std::make_shared<SimFileSystem>();
        store_options_ = options;
        restart_on(disk);
        fill(marker);
        disk->power_off_at(n);
        answered = send("POST", "/Patient/p/$purge").status == 200;
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            SCOPED_TRACE(seed);
            const auto after = disk->after_power_cut(seed);
            const auto report = storage::verify(*after, data());
            ASSERT_TRUE(report) << report.error().detail;
            EXPECT_TRUE(report->damages.empty()) << report->damages.front().reason;
            auto opened = storage::Store::open(*after, data(), options);
            ASSERT_TRUE(opened) << opened.error().detail;
            const storage::Store& store = **opened;
            const auto there = [&](std::string_view type, std::string_view id) {
                return store.current(*find_resource_type(type), id).has_value();
            };
            const bool kept = there("Patient", "p");
            EXPECT_FALSE(kept && answered);
            for (int i = 0; i < 6; ++i) {
                EXPECT_EQ(there("Observation", fmt::format("o{}", i)), kept) << i;
            }
            EXPECT_EQ(there("DocumentReference", "d"), kept);
            EXPECT_EQ(store.version(*find_resource_type("Observation"), "moved", {1}).has_value(),
                      kept);
            EXPECT_TRUE(there("Observation", "moved"));
            EXPECT_TRUE(there("Observation", "kept0"));
            for (const std::string& path : after->paths()) {
                EXPECT_TRUE(kept || after->content(path).find(marker) == std::string::npos) << path;
            }
        }
    }
    EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace annals::core
