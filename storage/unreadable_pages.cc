#include "storage/unreadable_pages.h"

#include "core/base/check.h"
#include "storage/file_system.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace annals::storage {
namespace {

/// Empty if `end` is 0.
struct Range {
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::uintptr_t> end{0};
};

/// A list that a signal handler can traverse: its elements are never freed.
struct Ranges {
    std::array<Range, 512> ranges;
    std::atomic<Ranges*> more{nullptr};
};

constinit Ranges first_ranges;
constinit std::mutex changes;
struct sigaction handler_before;

bool is_guarded(std::uintptr_t address) noexcept {
    for (Ranges* some = &first_ranges; some != nullptr; some = some->more.load()) {
        for (const Range& range : some->ranges) {
            // The end first: once it is set, so is the beginning.
            if (address < range.end.load() && address >= range.begin.load()) {
                return true;
            }
        }
    }
    return false;
}

/// Async-signal-safe: uses the bare system call, since mmap() isn't guaranteed to be.
void on_bus_error(int, siginfo_t* info, void*) {
    const int errno_before = errno;
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (info->si_code == BUS_ADRERR && is_guarded(address)) {
        const std::uintptr_t page = address / kPageBytes * kPageBytes;
        const long mapped = ::syscall(SYS_mmap, page, kPageBytes, PROT_READ,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (static_cast<std::uintptr_t>(mapped) == page) {
            errno = errno_before;
            return;
        }
    }
    constexpr std::string_view kLastWords =
        "annals: a mapped page can no longer be read, because of the device or because its file "
        "was truncated; the next start checks what was in it\n";
    static_cast<void>(::syscall(SYS_write, STDERR_FILENO, kLastWords.data(), kLastWords.size()));
    // The instruction runs again and faults again, for the handler that was there before.
    ::sigaction(SIGBUS, &handler_before, nullptr);
    errno = errno_before;
}

/// Requires: `changes` is held.
Range& empty_range() {
    Ranges* some = &first_ranges;
    for (;;) {
        for (Range& range : some->ranges) {
            if (range.end.load() == 0) {
                return range;
            }
        }
        if (some->more.load() == nullptr) {
            some->more.store(new Ranges);
        }
        some = some->more.load();
    }
}

}  // namespace

void guard_mapping(const char* begin, std::size_t bytes) {
    static const bool installed = [] {
        struct sigaction action = {};
        action.sa_sigaction = on_bus_error;
        action.sa_flags = SA_SIGINFO;
        return ::sigaction(SIGBUS, &action, &handler_before) == 0;
    }();
    ANNALS_CHECK(installed);
    const std::lock_guard lock(changes);
    Range& range = empty_range();
    range.begin.store(reinterpret_cast<std::uintptr_t>(begin));
    range.end.store(reinterpret_cast<std::uintptr_t>(begin) + bytes);
}

void unguard_mapping(const char* begin) noexcept {
    const std::lock_guard lock(changes);
    for (Ranges* some = &first_ranges; some != nullptr; some = some->more.load()) {
        for (Range& range : some->ranges) {
            if (range.end.load() != 0 &&
                range.begin.load() == reinterpret_cast<std::uintptr_t>(begin)) {
                range.end.store(0);
                return;
            }
        }
    }
    ANNALS_CHECK(false);
}

}  // namespace annals::storage
