// The completion token of net: awaiting an operation gives a tuple of its results.
//
// Layer:   net. In Asio 1.22 as_tuple is experimental; only this file and tools/bench/responder.cc name it.
// Threads: constant data.

#pragma once

#include <asio/awaitable.hpp>
#include <asio/error_code.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>

#include <cstddef>
#include <tuple>

namespace annals::net {

inline constexpr auto use_tuple = asio::experimental::as_tuple(asio::use_awaitable);

using Waited = std::tuple<asio::error_code>;
using Moved = std::tuple<asio::error_code, std::size_t>;  ///< bytes read or written

}  // namespace annals::net
