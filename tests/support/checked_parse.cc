#include "tests/support/checked_parse.h"

#include "codec/schema/structure.h"

#include <string>

namespace annals::test {

namespace {

bool same(const json::Node& a, const json::Node& b) {
    return a.begin == b.begin && a.end == b.end && a.next == b.next && a.count == b.count &&
           a.kind == b.kind && a.escaped == b.escaped && a.control == b.control;
}

}  // namespace

std::string_view disagreement_with_checked_parse(json::Parser& parser, std::string_view text) {
    const auto plain = parser.parse(text);
    const auto checked = parser.parse_resource(text);
    if (!plain || !checked) {
        return !plain && !checked && plain.error().detail == checked.error().detail
                   ? ""
                   : "only one of them refuses it, or not for the same reason";
    }
    const auto nodes = checked->nodes();
    if (nodes.size() != plain->nodes().size()) {
        return "another number of nodes";
    }
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        if (!same(nodes[i], plain->nodes()[i])) {
            return "another node";
        }
        if (nodes[i].sound &&
            !schema::check_structure(json::Value(*plain, i),
                                     {.allow_unknown_elements = false, .as_stored = true})) {
            return "what was found sound has faults";
        }
    }
    // White space before a text has it parsed from its tokens.
    const auto from_tokens = parser.parse_resource(" " + std::string(text));
    if (!from_tokens || from_tokens->nodes().size() != nodes.size()) {
        return "its tokens make other nodes";
    }
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        const json::Node& other = from_tokens->nodes()[i];
        if (!same(nodes[i], other) || nodes[i].sound != other.sound) {
            return "its tokens make another node";
        }
    }
    return "";
}

}  // namespace annals::test
