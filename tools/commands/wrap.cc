#include "tools/commands/wrap.h"

namespace annals::tools {

std::string wrapped(std::string_view text, std::size_t columns, std::string_view indent) {
    std::string lines;
    for (std::size_t room = columns; text.size() > room; room = columns - indent.size()) {
        std::size_t blank = text.rfind(' ', room);
        if (blank == std::string_view::npos) {
            blank = text.find(' ');  // a long word
        }
        if (blank == std::string_view::npos) {
            break;
        }
        lines.append(text.substr(0, blank)).append("\n").append(indent);
        text.remove_prefix(blank + 1);
    }
    return lines.append(text);
}

}  // namespace annals::tools
