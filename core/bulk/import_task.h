// ImportTask: what the kick-off request of an import asks for.
//
// Layer:   core/bulk.
// Spec:    docs/api/import.md.
// Threads: plain values and functions.

#pragma once

#include "core/base/result.h"
#include "core/jobs/jobs.h"
#include "core/service.h"

#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

struct ImportTask {
    struct Input {
        std::string name;       ///< of the file
        std::string type;       ///< of the resources in it; empty: any
        bool uploaded = false;  ///< it is in the job's folder; else in the import folder
    };

    std::vector<Input> inputs;
    bool keep_versions = false;  ///< ids, version numbers and instants of resources are kept
};

/// The folder of the files to import.
std::string import_folder(const Config& config);

/// Reads a kick-off request: Parameters that name files, or ndjson, which is added to `uploads` as a file of the job. Errors:
/// invalid, required (no file is named), not_found (a file does not exist), too_costly (too many files).
Result<ImportTask> read_import_task(const Service& service, const Request& request,
                                    std::vector<JobInput>& uploads);

/// The task as it is stored with the job.
std::string task_json(const ImportTask& task);

/// Reads the output of task_json(). Errors: corrupt.
Result<ImportTask> parse_import_task(std::string_view json);

}  // namespace annals::core
