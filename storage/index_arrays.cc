#include "storage/index_arrays.h"

#include <sys/mman.h>

namespace annals::storage {

void* allocate_pages(std::uint64_t bytes) {
    // Mapped with room to align, and what stands out cut off.
    void* const mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        throw std::bad_alloc();
    }
    char* const begin = static_cast<char*>(mapped);
    const std::uint64_t before =
        (kHugePage - std::bit_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
    if (before != 0) {
        munmap(begin, before);
    }
    munmap(begin + before + bytes, kHugePage - before);
    madvise(begin + before, bytes, MADV_HUGEPAGE);
    return begin + before;
}

void free_pages(void* memory, std::uint64_t bytes) noexcept {
    munmap(memory, bytes);
}

}  // namespace annals::storage
