// The job of an import: takes in files of ndjson, a line at a time.
//
// Layer:   core/bulk.
// Spec:    docs/api/import.md.
// Threads: the job's.

#pragma once

#include "core/jobs/job.h"

namespace annals::core {

/// JobWork of "import".
Result<JobResult> import_job(const Service& service, JobRun& run);

}  // namespace annals::core
