#include "core/base/cores.h"

#include "core/base/parts.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

namespace annals {
namespace {

constexpr std::size_t kCoresMax = 8192;  // The most that Linux can be built for.

std::string content(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Removes the number at the start of `text`, and returns it.
std::optional<std::uint64_t> take_number(std::string_view& text) noexcept {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

unsigned allowed_cores() {
    const std::unique_ptr<cpu_set_t, decltype([](cpu_set_t* set) { CPU_FREE(set); })> set(
        CPU_ALLOC(kCoresMax));
    const std::size_t bytes = CPU_ALLOC_SIZE(kCoresMax);
    if (set == nullptr || ::sched_getaffinity(0, bytes, set.get()) != 0) {
        return std::max(1U, std::thread::hardware_concurrency());
    }
    return static_cast<unsigned>(std::max(1, CPU_COUNT_S(bytes, set.get())));
}

}  // namespace

std::optional<unsigned> cores_of_quota(std::string_view cpu_max) noexcept {
    const auto quota = take_number(cpu_max);
    if (!quota || !cpu_max.starts_with(' ')) {
        return std::nullopt;
    }
    cpu_max.remove_prefix(1);
    const auto period = take_number(cpu_max);
    if (!period || *period == 0) {
        return std::nullopt;
    }
    const std::uint64_t whole = *quota / *period + (*quota % *period != 0 ? 1 : 0);
    return static_cast<unsigned>(std::clamp<std::uint64_t>(whole, 1, kCoresMax));
}

std::optional<unsigned> cores_of_group(const std::string& root, std::string_view self_cgroup) {
    constexpr std::string_view kVersion2 = "0::";
    while (!self_cgroup.empty() && !self_cgroup.starts_with(kVersion2)) {
        take_until(self_cgroup, '\n');
    }
    if (self_cgroup.empty()) {
        return std::nullopt;
    }
    self_cgroup = self_cgroup.substr(0, self_cgroup.find('\n')).substr(kVersion2.size());
    std::optional<unsigned> fewest;
    while (true) {
        const auto cores = cores_of_quota(content(root + std::string(self_cgroup) + "/cpu.max"));
        if (cores && (!fewest || *cores < *fewest)) {
            fewest = cores;
        }
        const std::size_t parent = self_cgroup.rfind('/');
        if (parent == std::string_view::npos) {
            return fewest;
        }
        self_cgroup = self_cgroup.substr(0, parent);
    }
}

unsigned available_cores() noexcept {
    try {
        const unsigned allowed = allowed_cores();
        return std::min(
            allowed,
            cores_of_group("/sys/fs/cgroup", content("/proc/self/cgroup")).value_or(allowed));
    } catch (const std::exception&) {
        return 1;  // No memory for a file name.
    }
}

}  // namespace annals
