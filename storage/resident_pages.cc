#include "storage/resident_pages.h"

#include <algorithm>
#include <ctime>
#include <new>

namespace annals::storage {
namespace {

/// How long a mark is valid, at most.
constexpr std::int64_t kMarkSeconds = 8;

}  // namespace

ResidentPages::ResidentPages(const FileSystem& fs)
    // Untouched zeroed memory: what is not used takes no space.
    : fs_(fs), marks_(static_cast<Mark*>(std::calloc(std::size_t{1} << kMarksLog2, sizeof(Mark)))) {
    if (marks_ == nullptr) {
        throw std::bad_alloc();
    }
}

ResidentPages::Time ResidentPages::time() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    // Wraps after about half an hour.
    return static_cast<Time>(now.tv_sec / kMarkSeconds) & ((1U << kTimeBits) - 1);
}

bool ResidentPages::ask(std::string_view bytes, Time now) noexcept {
    if (bytes.empty()) {
        return true;
    }
    const char* const end = bytes.data() + bytes.size();
    const std::uintptr_t last = page_of(end - 1);
    std::uintptr_t page = page_of(bytes.data());
    while (page <= last && is_marked(page, now)) {
        ++page;
    }
    if (page > last) {
        return true;
    }
    const char* const begin =
        std::max(bytes.data(), reinterpret_cast<const char*>(page * kPageBytes));
    if (!fs_.in_memory({begin, static_cast<std::size_t>(end - begin)})) {
        return false;
    }
    for (; page <= last; ++page) {
        mark(page, now);
    }
    return true;
}

void ResidentPages::will_read(std::string_view bytes) const noexcept {
    if (!bytes.empty()) {
        fs_.will_read(bytes);
    }
}

void ResidentPages::bring_in(std::string_view bytes) noexcept {
    if (bytes.empty()) {
        return;
    }
    // A page fault would also read pages that the system considers near, which may be megabytes.
    fs_.will_read(bytes);
    const Time now = time();
    const char* const end = bytes.data() + bytes.size();
    for (const char* at = bytes.data(); at < end;
         at = reinterpret_cast<const char*>((page_of(at) + 1) * kPageBytes)) {
        static_cast<void>(*static_cast<const volatile char*>(at));
        mark(page_of(at), now);
    }
}

}  // namespace annals::storage
