#include "core/base/thread_name.h"

#include <sys/prctl.h>

namespace annals {

void name_thread(const char* name) noexcept {
    static_cast<void>(::prctl(PR_SET_NAME, name));
}

}  // namespace annals
