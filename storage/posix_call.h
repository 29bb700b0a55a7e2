// What a file call of the operating system comes to.
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

/// What there may be more of later, without anybody having to look after the device.
inline bool is_shortage(int error) noexcept {
    return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EMFILE ||
           error == ENFILE || error == ENOMEM;
}

/// What `call` of `path` failed with.
inline Error os_error(std::string_view call, std::string_view path, int error) {
    const Errc code = is_shortage(error) ? Errc::no_store
                      : error == ENOENT  ? Errc::not_found
                                         : Errc::io;
    return {code, fmt::format("{} {}: {}", call, path, std::generic_category().message(error)), {}};
}

/// The result of `call`, which is made again as long as a signal interrupts it.
template <typename Call>
auto retried(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR) {
        result = call();
    }
    return result;
}

}  // namespace annals::storage
