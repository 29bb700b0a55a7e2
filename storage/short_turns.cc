#include "storage/short_turns.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace annals::storage {
namespace {

constexpr std::uint64_t kTurnNs = 100'000;  // The shortest that the kernel accepts.

/// sched_setattr(2), which the C library of Debian 12 does not declare.
struct SchedulingAttributes {
    std::uint32_t size = sizeof(SchedulingAttributes);
    std::uint32_t policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0;
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};

}  // namespace

void take_short_turns() noexcept {
    const auto self = static_cast<pid_t>(::gettid());
    SchedulingAttributes attributes;
    if (::syscall(SYS_sched_getattr, self, &attributes, sizeof attributes, 0U) == 0) {
        attributes.runtime = kTurnNs;
        (void)::syscall(SYS_sched_setattr, self, &attributes, 0U);
    }
}

}  // namespace annals::storage
