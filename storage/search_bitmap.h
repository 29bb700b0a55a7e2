// Bitmaps of the search index, made of the documents that they have, and turned into plain bits.
//
// Both go by way of the public portable format of CRoaring, which takes a few instructions per document or less. By its
// own functions, making a bitmap takes dozens, and reading one 17.
//
// Layer:   storage; private to search_run*.cc.
// Threads: each has scratch memory of its own.

#pragma once

#include "storage/search_run.h"

#include <cstdint>
#include <span>

namespace annals::storage {

/// The bitmap of `documents`, at least one, which ascend: what roaring_bitmap_of_ptr() and roaring_bitmap_run_optimize() make.
SearchBitmap bitmap_of(std::span<const std::uint32_t> documents);

/// Sets the bit of each document of `bitmap` in `words`, which have one for each.
void set_bits_of(const roaring_bitmap_t& bitmap, std::span<std::uint64_t> words);

}  // namespace annals::storage
