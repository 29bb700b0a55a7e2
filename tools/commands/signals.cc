#include "tools/commands/signals.h"

#include <csignal>

namespace annals::tools {

void handle_unless_ignored(std::initializer_list<int> signals, void (*handler)(int)) {
    struct sigaction handling{};  // without SA_RESTART
    handling.sa_handler = handler;
    for (const int signal : signals) {
        struct sigaction before{};
        if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
            ::sigaction(signal, &handling, nullptr);
        }
    }
}

}  // namespace annals::tools
