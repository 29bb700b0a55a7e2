// The job of an import: reads ndjson files line by line.
//
// Layer:   core/bulk.
// Spec:    docs/api/import.md.
// Threads: the job's.

#pragma once

#include "core/jobs/job.h"

namespace annals::core {

/// The JobWork of "import".
Result<JobResult> import_job(const Service& service, JobRun& run);

}  // namespace annals::core
