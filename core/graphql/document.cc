#include "core/graphql/document.h"

#include "codec/json/document.h"

#include <algorithm>

namespace annals::core::graphql {

namespace {

void write(const Value& value, std::string& out) {
    switch (value.kind) {
        case Value::Kind::null:
            out += "null";
            return;
        case Value::Kind::string:
            json::append_quoted(out, value.text);
            return;
        case Value::Kind::variable:
            out += '$';
            [[fallthrough]];
        case Value::Kind::boolean:
        case Value::Kind::integer:
        case Value::Kind::real:
        case Value::Kind::name:
            out += value.text;
            return;
        case Value::Kind::list:
            out += '[';
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                out += i == 0 ? "" : ",";
                write(value.items[i], out);
            }
            out += ']';
            return;
        case Value::Kind::object:
            out += '{';
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                out.append(i == 0 ? "" : ",").append(value.names[i]).append(":");
                write(value.items[i], out);
            }
            out += '}';
            return;
    }
}

}  // namespace

std::string written(const Value& value) {
    std::string out;
    write(value, out);
    return out;
}

const FragmentDefinition* Document::fragment(std::string_view name) const noexcept {
    const auto found =
        std::find_if(fragments.begin(), fragments.end(),
                     [&](const FragmentDefinition& one) { return one.name == name; });
    return found == fragments.end() ? nullptr : &*found;
}

}  // namespace annals::core::graphql
