// The number of cores that this process can use.
//
// Layer:   core/base.
// Threads: any.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace annals {

/// Cores that this process can keep busy, at least 1: those it may run on (taskset, a cpuset), or fewer if its control group
/// has a smaller quota of processor time (systemd's CPUQuota, a container's CPUs). Reads files each time.
unsigned available_cores() noexcept;

/// Cores that a cpu.max of control groups (cgroup v2) allows, rounded up: 2 for "150000 100000". None: it says "max", or is not
/// a quota and a period.
std::optional<unsigned> cores_of_quota(std::string_view cpu_max) noexcept;

/// The fewest cores that cpu.max allows in the control group that `self_cgroup` names ("0::/system.slice/annals.service", a
/// line of /proc/self/cgroup) and in those above it, whose files are below `root`. None: no group has a quota, or `self_cgroup`
/// has no line of cgroup v2.
std::optional<unsigned> cores_of_group(const std::string& root, std::string_view self_cgroup);

}  // namespace annals
