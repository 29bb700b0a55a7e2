#include "core/operations/designations.h"

#include <algorithm>

namespace annals::core {

namespace {

bool same_letters(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return (x | 32) == (y | 32); });
}

}  // namespace

bool is_language(std::string_view own, std::string_view asked) {
    asked = asked.substr(0, asked.find_first_of(",; "));
    if (asked.empty() || own.size() < asked.size()) {
        return false;
    }
    return same_letters(own.substr(0, asked.size()), asked) &&
           (own.size() == asked.size() || own[asked.size()] == '-');
}

std::string display_in(std::string_view language, json::Value listed, json::Value item) {
    for (const json::Value from : {listed, item}) {
        for (const json::Value designation : from["designation"].elements()) {
            if (is_language(designation["language"].string(), language)) {
                return designation["value"].string();
            }
        }
    }
    // Who reads de-AT reads de.
    const std::string_view asked = language.substr(0, language.find_first_of(",; "));
    json::Value nearest;
    for (const json::Value from : {listed, item}) {
        for (const json::Value designation : from["designation"].elements()) {
            const std::string own = designation["language"].string();
            if (is_language(asked, own) && own.size() > nearest["language"].string().size()) {
                nearest = designation;
            }
        }
    }
    return nearest["value"].string();
}

bool is_wanted(json::Value designation, std::span<const std::string> tokens) {
    const json::Value use = designation["use"];
    return std::ranges::any_of(tokens, [&](std::string_view token) {
        const std::size_t bar = token.find('|');
        const bool has_system = bar != std::string_view::npos;
        const std::string_view system = has_system ? token.substr(0, bar) : std::string_view();
        const std::string_view code = has_system ? token.substr(bar + 1) : token;
        if ((!has_system || system == "urn:ietf:bcp:47") &&
            is_language(designation["language"].string(), code)) {
            return true;
        }
        return use["code"].equals(code) && (!has_system || use["system"].string() == system);
    });
}

void append_designations(std::string& out, json::Value listed, json::Value item,
                         std::span<const std::string> tokens) {
    std::string_view separator = R"(,"designation":[)";
    for (const json::Value from : {listed, item}) {
        for (const json::Value designation : from["designation"].elements()) {
            if (!tokens.empty() && !is_wanted(designation, tokens)) {
                continue;
            }
            out.append(separator).append(designation.raw());
            separator = ",";
        }
    }
    out += separator == "," ? "]" : "";
}

}  // namespace annals::core
