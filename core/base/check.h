// ANNALS_CHECK: an invariant that only a bug can break; active in every build.
//
// Layer:   core/base.
// Threads: any.

#pragma once

#include <string_view>

namespace annals {

/// Writes place and condition to stderr and aborts the process.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view detail = {}) noexcept;

}  // namespace annals

#define ANNALS_CHECK(condition, ...)                                                           \
    do {                                                                                       \
        if (!(condition)) [[unlikely]] {                                                       \
            ::annals::check_failed(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__); \
        }                                                                                      \
    } while (false)
