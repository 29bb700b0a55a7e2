// NoDescriptors: while it lives, this process can open only a few more files or sockets, as under a limit on them.
//
// Threads: the test's; no other may open anything meanwhile.

#pragma once

#include "core/base/check.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace annals::test {

/// The number that the next descriptor would have.
inline int next_descriptor() {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(fd);
    return fd;
}

class NoDescriptors {
  public:
    /// `left`: how many more may be opened.
    explicit NoDescriptors(unsigned left = 0) {
        ANNALS_CHECK(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
        const rlimit none{static_cast<rlim_t>(next_descriptor()) + left, before_.rlim_max};
        ANNALS_CHECK(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    }

    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

  private:
    rlimit before_{};
};

}  // namespace annals::test
