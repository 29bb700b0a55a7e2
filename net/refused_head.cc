#include "net/refused_head.h"

#include "core/base/parts.h"
#include "core/base/text.h"

namespace annals::net {

void read_refused_head(std::string_view head, core::Request& request) {
    const bool line_ended = head.find('\n') != std::string_view::npos;
    std::string_view line = take_until(head, '\n');
    if (take_until(line, ' ') == "HEAD") {
        request.method = core::HttpMethod::head;
    }
    const bool target_ended = line_ended || line.find(' ') != std::string_view::npos;
    std::string_view target = trimmed(take_until(line, ' '));
    take_until(target, '?');
    if (!target_ended) {
        const std::size_t last = target.rfind('&');
        target = target.substr(0, last == std::string_view::npos ? 0 : last);
    }
    request.query = target;

    request.headers.clear();
    while (head.find('\n') != std::string_view::npos) {
        line = trimmed(take_until(head, '\n'));
        if (line.empty()) {
            return;
        }
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos) {
            request.headers.push_back(
                {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))});
        }
    }
}

}  // namespace annals::net
