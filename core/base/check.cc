#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace annals {

void check_failed(const char* file, int line, const char* condition,
                  std::string_view detail) noexcept {
    std::fprintf(stderr, "%s:%d: check failed: %s %.*s\n", file, line, condition,
                 static_cast<int>(detail.size()), detail.data());
    std::abort();
}

}  // namespace annals
