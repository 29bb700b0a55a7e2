// The one file that compiles Asio's own sources (ASIO_SEPARATE_COMPILATION).

#include <asio/impl/src.hpp>
