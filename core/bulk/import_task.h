// ImportTask: what an import is to take in, as its kick-off said.
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
        bool uploaded = false;  ///< it lies in the job's folder, else in the import folder
    };

    std::vector<Input> inputs;
    bool keep_versions = false;  ///< ids, version numbers and instants of resources are kept
};

/// Where files to import lie.
std::string import_folder(const Config& config);

/// Reads a kick-off: Parameters that name files, or ndjson, which becomes a file of the job's in `uploads`.
/// Errors: invalid, not_found (a file that isn't there).
Result<ImportTask> read_import_task(const Service& service, const Request& request,
                                    std::vector<JobInput>& uploads);

/// The task as a job keeps it.
std::string task_json(const ImportTask& task);

/// What task_json() has written. Errors: corrupt.
Result<ImportTask> parse_import_task(std::string_view json);

}  // namespace annals::core
