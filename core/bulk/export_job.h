// The job of an export: writes the resources in its scope at one position to ndjson files.
//
// Layer:   core/bulk.
// Spec:    Bulk Data Access IG STU2; docs/api/export.md.
// Threads: the job's.

#pragma once

#include "core/jobs/job.h"

namespace annals::core {

/// The JobWork of "export".
Result<JobResult> export_job(const Service& service, JobRun& run);

}  // namespace annals::core
