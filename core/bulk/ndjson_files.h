// NdjsonFiles: the files of an export while they are written: one type of resource each, of bounded size.
//
// Layer:   core/bulk.
// Spec:    http://ndjson.org; Bulk Data Access IG STU2, "Output Files".
// Threads: one.

#pragma once

#include "codec/json/document.h"
#include "core/jobs/job.h"
#include "storage/file_system.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// Whether a format is called so in requests and headers.
bool is_ndjson(std::string_view name) noexcept;

class NdjsonFiles {
  public:
    /// Files in a job's folder; a new one is begun where a line would make one larger than `bytes_max`.
    /// Lifetime: `run` outlives this.
    NdjsonFiles(const JobRun& run, std::uint64_t bytes_max) : run_(run), bytes_max_(bytes_max) {}

    /// The files of one part of the manifest ("output") and one type, as they go on.
    struct Series {
        std::string part;
        std::string type;
        std::string stem;          ///< its files are called stem-1.ndjson, stem-2.ndjson...
        std::uint64_t number = 0;  ///< of its newest file
        std::unique_ptr<storage::File> file;  ///< null: none is open
        std::uint64_t written = 0;            ///< bytes in it
        std::uint64_t count = 0;              ///< lines in it
        std::string buffer;                   ///< what comes next
        bool unsynced = false;
    };

    /// Lifetime: of this.
    Series& series(std::string_view part, std::string_view type, std::string_view stem);

    /// Adds a line, a line feed after it. Errors: no_store, io.
    Result<void> add(Series& series, std::string_view line);

    /// Makes all that was added durable; what restore() needs to go on from here. Errors: no_store, io.
    Result<std::string> checkpoint();

    /// Takes up what checkpoint() said; what was written after it is cut off. Errors: io; corrupt (it is
    /// none).
    Result<void> restore(json::Value checkpoint);

    /// Ends all files; none is empty. Ascending by type. Errors: no_store, io.
    Result<std::vector<JobFile>> finish();

    std::uint64_t bytes() const noexcept { return bytes_; }

    std::size_t file_count() const noexcept { return done_.size() + open_count_; }

  private:
    Result<void> open(Series& series);
    Result<void> flush(Series& series);
    Result<void> close(Series& series);

    const JobRun& run_;
    std::uint64_t bytes_max_;
    std::vector<std::unique_ptr<Series>> series_;
    std::vector<JobFile> done_;
    std::uint64_t bytes_ = 0;  // all that was added
    std::size_t open_count_ = 0;
};

}  // namespace annals::core
