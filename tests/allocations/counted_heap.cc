#include "tests/allocations/counted_heap.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

std::atomic<std::size_t> annals::test::allocations{0};
std::atomic<std::int64_t> annals::test::held_bytes{0};
std::atomic<std::size_t> annals::test::largest_allocation{0};

namespace {

using annals::test::allocations;
using annals::test::held_bytes;
using annals::test::largest_allocation;

void* allocate(std::size_t size) noexcept {
    allocations.fetch_add(1, std::memory_order_relaxed);
    std::size_t largest = largest_allocation.load();
    while (size > largest && !largest_allocation.compare_exchange_weak(largest, size)) {
    }
    void* const memory = std::malloc(size == 0 ? 1 : size);
    if (memory != nullptr) {
        held_bytes.fetch_add(static_cast<std::int64_t>(malloc_usable_size(memory)));
    }
    return memory;
}

}  // namespace

void* operator new(std::size_t size) {
    if (void* memory = allocate(size)) {
        return memory;
    }
    throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
    if (memory != nullptr) {
        held_bytes.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(memory)));
    }
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}

// The other forms, too: a linked allocator may define its own, whose calls would not be counted.
void* operator new[](std::size_t size) {
    return operator new(size);
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size);
}

void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size);
}

void operator delete[](void* memory) noexcept {
    operator delete(memory);
}

void operator delete[](void* memory, std::size_t) noexcept {
    operator delete(memory);
}
