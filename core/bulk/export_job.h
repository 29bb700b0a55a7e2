// The job of an export: writes what its scope has at one position as files of ndjson.
//
// Layer:   core/bulk.
// Spec:    Bulk Data Access IG STU2; docs/api/export.md.
// Threads: the job's.

#pragma once

#include "core/jobs/job.h"

namespace annals::core {

/// JobWork of "export".
Result<JobResult> export_job(const Service& service, JobRun& run);

}  // namespace annals::core
