// NoThreads: while it lives, this process can't start threads, as under a limit on tasks.
//
// Threads: the test's; those that run already go on.

#pragma once

#include <pthread.h>

#include <cstddef>

namespace annals::test {

class NoThreads {
  public:
    NoThreads() {
        pthread_getattr_default_np(&before_);
        pthread_attr_t larger_than_memory;
        pthread_getattr_default_np(&larger_than_memory);
        pthread_attr_setstacksize(&larger_than_memory, std::size_t{1} << 48);
        pthread_setattr_default_np(&larger_than_memory);
        pthread_attr_destroy(&larger_than_memory);
    }

    ~NoThreads() {
        pthread_setattr_default_np(&before_);
        pthread_attr_destroy(&before_);
    }

    NoThreads(const NoThreads&) = delete;
    NoThreads& operator=(const NoThreads&) = delete;

  private:
    pthread_attr_t before_;
};

}  // namespace annals::test
