// The kinds of jobs, one row each.

#include "core/bulk/export_job.h"
#include "core/bulk/import_job.h"
#include "core/interactions/bundle_job.h"
#include "core/jobs/job.h"

#include <utility>

namespace annals::core {

namespace {

constexpr std::pair<std::string_view, JobWork> kKinds[] = {
    {"export", export_job},
    {"import", import_job},
    {"bundle", bundle_job},
};

}  // namespace

JobWork job_work(std::string_view kind) noexcept {
    for (const auto& [name, work] : kKinds) {
        if (name == kind) {
            return work;
        }
    }
    return nullptr;
}

}  // namespace annals::core
