// bitmap_of(): a bitmap of the search index, from the documents that it has.
//
// Layer:   storage; private to search_run*.cc.
// Threads: each has scratch memory of its own.

#pragma once

#include "storage/search_run.h"

#include <cstdint>
#include <span>

namespace annals::storage {

/// The bitmap of `documents`, at least one, which ascend. Made by way of the public portable format, which takes a few
/// instructions per document; roaring_bitmap_of_ptr() and roaring_bitmap_run_optimize() give the same in about fifty.
SearchBitmap bitmap_of(std::span<const std::uint32_t> documents);

}  // namespace annals::storage
