// ResidentPages: which pages of mapped files can be read without waiting for the device.
//
// Layer:   storage.
// Memory:  up to 8 MiB, in proportion to the pages that were asked about.
// Threads: any; takes no lock.

#pragma once

#include "core/base/owned.h"
#include "storage/file_system.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace annals::storage {

/// A network thread that touches a page which is not in memory blocks until the device has read it, and with it everybody it
/// serves. So it asks first. The kernel's answer for a page is used for a few seconds, because asking it each time would cost more
/// than the look-up that a read consists of.
class ResidentPages {
  public:
    /// Lifetime: `fs` outlives it.
    explicit ResidentPages(const FileSystem& fs);

    using Time = std::uint32_t;

    /// A coarse clock whose unit is some seconds. Read it once for pages that are looked at together.
    static Time time() noexcept;

    /// Whether all of `bytes`, part of a mapping, are in memory at `now`. A page that the kernel has evicted within the current
    /// time unit is still reported as present.
    bool have(std::string_view bytes, Time now) noexcept {
        // Most reads are within a single page that was checked a moment ago.
        return (!bytes.empty() &&
                page_of(bytes.data()) == page_of(bytes.data() + bytes.size() - 1) &&
                is_marked(page_of(bytes.data()), now)) ||
               ask(bytes, now);
    }

    /// Starts reading them from the device, without read-ahead.
    void will_read(std::string_view bytes) const noexcept;

    /// The same, and blocks until they are in memory.
    void bring_in(std::string_view bytes) noexcept;

  private:
    /// What is known of one page: which one, and when it was found in memory. Its place is given by the hash of its number.
    using Mark = std::uint32_t;
    static constexpr unsigned kMarksLog2 = 21;
    static constexpr unsigned kTimeBits = 8;

    static std::uintptr_t page_of(const char* at) noexcept {
        return reinterpret_cast<std::uintptr_t>(at) / kPageBytes;
    }

    static std::uint64_t hash_of(std::uintptr_t page) noexcept {
        return page * 0x9e37'79b9'7f4a'7c15;
    }

    std::atomic_ref<Mark> place_of(std::uint64_t hash) const noexcept {
        return std::atomic_ref<Mark>(marks_[hash >> (64 - kMarksLog2)]);
    }

    static Mark mark_of(std::uint64_t hash, Time now) noexcept {
        const auto who = static_cast<Mark>(hash >> (64 - kMarksLog2 - 24)) & 0xff'ffff;
        // The lowest bit of `who` is set, so that no mark equals an unused place.
        return (who | 1) << kTimeBits | now;
    }

    bool is_marked(std::uintptr_t page, Time now) const noexcept {
        const std::uint64_t hash = hash_of(page);
        return place_of(hash).load(std::memory_order_relaxed) == mark_of(hash, now);
    }

    void mark(std::uintptr_t page, Time now) noexcept {
        const std::uint64_t hash = hash_of(page);
        place_of(hash).store(mark_of(hash, now), std::memory_order_relaxed);
    }

    bool ask(std::string_view bytes, Time now) noexcept;

    const FileSystem& fs_;
    const Owned<Mark[], std::free> marks_;
};

}  // namespace annals::storage
