#include "core/base/instant.h"
#include "tools/bench/bench.h"

#include <fmt/format.h>

#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fstream>

namespace annals::bench {
namespace {

std::string cpu_model() {
    std::ifstream info("/proc/cpuinfo");
    std::string line;
    while (std::getline(info, line)) {
        if (line.starts_with("model name")) {
            const std::size_t colon = line.find(": ");
            return colon == std::string::npos ? line : line.substr(colon + 2);
        }
    }
    return "unknown";
}

std::string file_system_of(const std::string& directory) {
    struct statfs about{};

    if (::statfs(directory.c_str(), &about) != 0) {
        return "unknown";
    }

    struct Name {
        std::uint64_t magic;
        std::string_view name;
    };

    constexpr Name kNames[] = {
        {0xef53, "ext4"},        {0x58465342, "xfs"}, {0x9123683e, "btrfs"}, {0x01021994, "tmpfs"},
        {0x794c7630, "overlay"}, {0x2fc12fc1, "zfs"}, {0xf2f52010, "f2fs"},  {0x6969, "nfs"}};
    const auto magic = static_cast<std::uint64_t>(about.f_type);
    for (const Name& row : kNames) {
        if (row.magic == magic) {
            return std::string(row.name);
        }
    }
    return fmt::format("type {:#x}", magic);
}

std::string build_name() {
    std::string name = "clang " __clang_version__;
    while (name.ends_with(' ')) {
        name.pop_back();
    }
#ifdef __OPTIMIZE__
    name += ", optimized";
#else
    name += ", not optimized";
#endif
#if __has_feature(address_sanitizer)
    name += ", address sanitizer";
#endif
#if __has_feature(thread_sanitizer)
    name += ", thread sanitizer";
#endif
    return name;
}

}  // namespace

Machine describe_machine(const std::string& directory) {
    utsname about{};
    ::uname(&about);
    return {.cpu = cpu_model(),
            .cores = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN)),
            .memory_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                            static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
            .kernel = fmt::format("{} {}", about.sysname, about.release),
            .file_system = file_system_of(directory),
            .build = build_name(),
            .version = ANNALS_VERSION,
            .date = format_instant(now())};
}

}  // namespace annals::bench
