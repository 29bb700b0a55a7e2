#include "core/operations/designations.h"

#include "core/base/text.h"

#include <algorithm>

namespace annals::core {

namespace {

/// Whether a language ("de-CH") matches the requested one ("de", "de-CH, en;q=0.5": only the first counts).
bool is_language(std::string_view own, std::string_view asked) {
    asked = asked.substr(0, asked.find_first_of(",; "));
    if (asked.empty() || own.size() < asked.size()) {
        return false;
    }
    return equal_ignoring_case(own.substr(0, asked.size()), asked) &&
           (own.size() == asked.size() || own[asked.size()] == '-');
}

/// Whether one of the tokens matches the designation.
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

}  // namespace

std::string display_in(std::string_view language, json::Value listed, json::Value item,
                       std::string_view own) {
    // Designations in the concept's own language are other names, so the display takes precedence.
    const auto find_in = [&](json::Value from) {
        for (const json::Value designation : from["designation"].elements()) {
            if (is_language(designation["language"].string(), language)) {
                return designation["value"].string();
            }
        }
        return std::string();
    };
    if (std::string found = find_in(listed); !found.empty()) {
        return found;
    }
    if (is_language(own, language) && item["display"]) {
        return item["display"].string();
    }
    if (std::string found = find_in(item); !found.empty()) {
        return found;
    }
    // For de-AT, de will do.
    const std::string_view asked = language.substr(0, language.find_first_of(",; "));
    std::string nearest;
    std::size_t nearest_size = 0;
    const auto take = [&](std::string_view its, json::Value value) {
        if (is_language(asked, its) && its.size() > nearest_size) {
            nearest_size = its.size();
            nearest = value.string();
        }
    };
    for (const json::Value designation : listed["designation"].elements()) {
        take(designation["language"].string(), designation["value"]);
    }
    take(own, item["display"]);
    for (const json::Value designation : item["designation"].elements()) {
        take(designation["language"].string(), designation["value"]);
    }
    return nearest;
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
