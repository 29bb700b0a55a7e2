// bitmap_of(): a bitmap of the search index, from the documents that it has.
//
// Layer:   storage; private to search_run*.cc.
// Threads: each has scratch memory of its own.

#pragma once

#include "storage/search_run.h"

#include <cstdint>
#include <span>

namespace annals::storage {

/// The bitmap of ascending documents, one at least, put together by the public portable format: a document takes a few
/// instructions, and by roaring_bitmap_of_ptr() and roaring_bitmap_run_optimize(), which come to the same, some fifty.
SearchBitmap bitmap_of(std::span<const std::uint32_t> documents);

}  // namespace annals::storage
