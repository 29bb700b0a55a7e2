#include "storage/index_arrays.h"

#include <sys/mman.h>

namespace annals::storage {

namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr int kPopulateWrite =
    23;  // MADV_POPULATE_WRITE, which the C library of Debian 12 may not declare.

}  // namespace

void* allocate_pages(std::uint64_t bytes) {
    // Maps more than needed and unmaps what exceeds the aligned range.
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

std::shared_ptr<char> allocate_shared_pages(std::uint64_t bytes, SharedPages& pages) {
    const std::uint64_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    std::shared_ptr<char> memory(static_cast<char*>(allocate_pages(rounded)),
                                 [rounded](char* begin) { free_pages(begin, rounded); });
    pages = {memory, rounded};
    return memory;
}

void SharedPages::touch() const noexcept {
    if (const auto there = memory.lock()) {
        touch_pages(there.get(), bytes);
    }
}

void touch_pages(void* memory, std::uint64_t bytes) noexcept {
    const auto begin = std::bit_cast<std::uintptr_t>(memory) / kPage * kPage;
    const auto end = std::bit_cast<std::uintptr_t>(memory) + bytes;
    // Older kernels refuse; the pages are then provided when the memory is filled.
    (void)madvise(std::bit_cast<void*>(begin), (end - begin + kPage - 1) / kPage * kPage,
                  kPopulateWrite);
}

}  // namespace annals::storage
