#include "codec/json/indent.h"

#include "codec/json/string_stop.h"

namespace annals::json {

void Indenter::break_line(std::string& out) const {
    out += '\n';
    out.append(2 * depth_, ' ');
}

void Indenter::add(std::string_view portion, std::string& out) {
    std::size_t at = 0;
    while (at < portion.size()) {
        if (in_string_) {
            const std::size_t begin = at;
            if (escaped_) {
                escaped_ = false;
                ++at;
            }
            at = find_string_stop(portion, at);
            if (at == std::string_view::npos) {
                out.append(portion.substr(begin));
                return;
            }
            escaped_ = portion[at] == '\\';
            in_string_ = escaped_;
            ++at;
            out.append(portion.substr(begin, at - begin));
            continue;
        }

        const char c = portion[at++];
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
            continue;
        }
        const bool closes = c == '}' || c == ']';
        if (closes) {
            --depth_;
        }
        if (opened_ != closes) {
            break_line(out);
        }
        opened_ = c == '{' || c == '[';
        out += c;
        if (opened_) {
            ++depth_;
        } else if (c == ',') {
            break_line(out);
        } else if (c == ':') {
            out += ' ';
        } else if (c == '"') {
            in_string_ = true;
        }
    }
}

}  // namespace annals::json
