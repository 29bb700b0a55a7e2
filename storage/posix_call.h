// Results of the operating system's file calls.
//
// Layer:   storage; for those that make such calls.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"

#include <fmt/format.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace annals::storage {

/// Whether `error` is a shortage that may end by itself, without anybody looking after the device.
inline bool is_shortage(int error) noexcept {
    return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EMFILE ||
           error == ENFILE || error == ENOMEM;
}

/// The error with which `call` on `path` failed.
inline Error os_error(std::string_view call, std::string_view path, int error) {
    const Errc code = is_shortage(error) ? Errc::no_store
                      : error == ENOENT  ? Errc::not_found
                                         : Errc::io;
    return {code, fmt::format("{} {}: {}", call, path, std::generic_category().message(error)), {}};
}

/// The result of `call`, which is repeated as long as a signal interrupts it.
template <typename Call>
auto retried(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR) {
        result = call();
    }
    return result;
}

}  // namespace annals::storage
