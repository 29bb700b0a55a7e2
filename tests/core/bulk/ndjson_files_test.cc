// The files of an export that is stopped while they are synced.

#include "core/bulk/ndjson_files.h"

#include "core/bulk/stop_grace.h"
#include "core/config/config.h"
#include "core/jobs/job.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// Writes five lines of each of three types, with a checkpoint after two of them and after four.
class Writing {
  public:
    Writing() { EXPECT_TRUE(disk_.make_directory("j")); }

    /// Goes on from the last checkpoint. It is to stop once so many files have been synced, and has no more time then.
    Result<std::vector<JobFile>> go_on(std::uint64_t syncs) {
        const std::uint64_t begun = disk_.file_syncs();
        const JobOrder order;
        const JobRun run("j", order, "j", "", disk_,
                         {.stopping = [&] { return disk_.file_syncs() - begun >= syncs; },
                          .say = [](const std::string&) {}});
        Config config;
        config.shutdown_timeout = std::chrono::milliseconds(0);
        StopGrace grace(run, config);
        NdjsonFiles files(run, 1 << 20, &grace);
        json::Parser parser;
        if (!saved_.empty()) {
            ANNALS_TRY(const json::Document saved, parser.parse(saved_));
            ANNALS_TRY_VOID(files.restore(saved.root()));
        }
        for (int line = saved_lines_; line < 5; ++line) {
            for (const std::string_view type : {"Patient", "Device", "Encounter"}) {
                ANNALS_TRY_VOID(files.add(files.series("output", type, type),
                                          fmt::format("the {} {}", type, line)));
            }
            if (line % 2 == 1) {
                ANNALS_TRY(saved_, files.checkpoint());
                saved_lines_ = line + 1;
            }
        }
        return files.finish();
    }

    std::uint64_t syncs() const { return disk_.file_syncs(); }

    std::string content(const JobFile& file) const { return disk_.content("j/" + file.name); }

  private:
    test::SimFileSystem disk_;
    std::string saved_;
    int saved_lines_ = 0;  ///< of each type
};

TEST(NdjsonFiles, AreWholeWhereverTheirTimeToStopEnds) {
    Writing once;
    const auto expected = once.go_on(kNever);
    ASSERT_TRUE(expected);
    ASSERT_EQ(expected->size(), 3U);
    ASSERT_EQ(once.syncs(), 9U) << "of each file for two checkpoints and at the end";
    for (std::uint64_t syncs = 0; syncs < once.syncs(); ++syncs) {
        SCOPED_TRACE(syncs);
        Writing stopped;
        const auto none = stopped.go_on(syncs);
        ASSERT_FALSE(none);
        EXPECT_EQ(none.error().code, job_stopped().code);
        EXPECT_EQ(stopped.syncs(), syncs) << "none without time";
        const auto files = stopped.go_on(kNever);
        ASSERT_TRUE(files) << files.error().detail;
        ASSERT_EQ(files->size(), expected->size());
        for (std::size_t i = 0; i < files->size(); ++i) {
            const JobFile& file = files->at(i);
            EXPECT_EQ(file.name, expected->at(i).name);
            EXPECT_EQ(file.count, 5U);
            EXPECT_EQ(stopped.content(file), once.content(expected->at(i)));
        }
    }
}

}  // namespace
}  // namespace annals::core
