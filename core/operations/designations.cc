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
    return {};
}

void append_designations(std::string& out, json::Value listed, json::Value item) {
    std::string_view separator = R"(,"designation":[)";
    for (const json::Value from : {listed, item}) {
        for (const json::Value designation : from["designation"].elements()) {
            out.append(separator).append(designation.raw());
            separator = ",";
        }
    }
    out += separator == "," ? "]" : "";
}

}  // namespace annals::core
