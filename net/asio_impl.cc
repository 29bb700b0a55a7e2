// The one file that compiles Asio's own sources (ASIO_SEPARATE_COMPILATION).

// A standard header goes first, as the precompiled one does elsewhere: by its macros Asio chooses between
// aligned_alloc and operator new, and what one file allocates another frees.
// clang-format off
#include <cstddef>
#include <asio/impl/src.hpp>
// clang-format on
