// NdjsonFiles: writes the files of an export, each with one type of resource and of bounded size.
//
// Layer:   core/bulk.
// Spec:    http://ndjson.org; Bulk Data Access IG STU2, "Output Files".
// Threads: belongs to one thread.

#pragma once

#include "codec/json/document.h"
#include "core/bulk/stop_grace.h"
#include "core/jobs/job.h"
#include "storage/file_system.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// Whether `name` denotes ndjson in requests and headers.
bool is_ndjson(std::string_view name) noexcept;

class NdjsonFiles {
  public:
    /// Writes to files in the job's folder; begins a new one if a line would make the current one larger than `bytes_max`.
    /// `grace`: after which no further file is synced; null: all are, as suits few files. Lifetime: `run` and `grace` outlive it.
    NdjsonFiles(const JobRun& run, std::uint64_t bytes_max, StopGrace* grace = nullptr)
        : run_(run), bytes_max_(bytes_max), grace_(grace) {}

    /// The consecutive files of one part of the manifest (such as "output") and one type.
    struct Series {
        std::string part;
        std::string type;
        std::string stem;          ///< its files are called stem-1.ndjson, stem-2.ndjson...
        std::uint64_t number = 0;  ///< of the newest file
        std::unique_ptr<storage::File> file;  ///< null: none is open
        std::uint64_t written = 0;            ///< bytes in it
        std::uint64_t count = 0;              ///< lines in it
        std::string buffer;                   ///< bytes still to be written
        bool unsynced = false;
    };

    /// The series, created if it is new. Lifetime: as long as this.
    Series& series(std::string_view part, std::string_view type, std::string_view stem);

    /// Appends a line and a line feed. Errors: no_store, io.
    Result<void> add(Series& series, std::string_view line);

    /// Makes everything added so far durable. Returns what restore() needs to continue from here. Errors: no_store, io;
    /// job_stopped() once the grace is over.
    Result<std::string> checkpoint();

    /// Continues from a checkpoint; what was written after it is cut off. Errors: no_store, io; corrupt (no valid
    /// checkpoint).
    Result<void> restore(json::Value checkpoint);

    /// Closes all files and returns them, ascending by type; none is empty. Errors: those of checkpoint().
    Result<std::vector<JobFile>> finish();

    std::uint64_t bytes() const noexcept { return bytes_; }

    std::size_t file_count() const noexcept { return done_.size() + open_count_; }

  private:
    bool is_grace_over() const { return grace_ != nullptr && grace_->is_over(); }

    Result<void> open(Series& series);
    Result<void> flush(Series& series);
    Result<void> close(Series& series);

    const JobRun& run_;
    std::uint64_t bytes_max_;
    StopGrace* grace_;
    std::vector<std::unique_ptr<Series>> series_;
    std::vector<JobFile> done_;
    std::uint64_t bytes_ = 0;  // of all lines added
    std::size_t open_count_ = 0;
};

}  // namespace annals::core
