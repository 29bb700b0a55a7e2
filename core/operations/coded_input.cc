#include "core/operations/coded_input.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

constexpr std::size_t kCodingsMax = 100;

}  // namespace

GivenCode given_coding(json::Value coding) {
    GivenCode given;
    if (const json::Value system = coding["system"]) {
        given.system = system.string();
    }
    given.version = coding["version"].string();
    given.code = coding["code"].string();
    given.display = coding["display"].string();
    return given;
}

// The size tells where the system ends, even if it contains a line break, which only validation prevents.
std::string coding_key(std::string_view system, std::string_view code) {
    return fmt::format("{}\n{}\n{}", system, code, system.size());
}

std::string coding_key(json::Value coding) {
    return coding_key(coding["system"].string(), coding["code"].string());
}

// A code's key ends with a digit.
std::string text_key(std::string_view text) {
    return fmt::format("{}\n", text);
}

std::string text_key(json::Value codeable_concept) {
    std::string text = codeable_concept["text"].string();
    for (const json::Value coding : codeable_concept["coding"].elements()) {
        if (!text.empty()) {
            break;
        }
        text = coding["display"].string();
    }
    return text_key(text);
}

Result<std::vector<GivenCode>> read_codes(const OperationInput& input, const CodedNames& names) {
    std::vector<GivenCode> codes;
    ANNALS_TRY(const auto code, input.text(names.code));
    ANNALS_TRY_VOID(input.once({names.coding, names.concept_name}));
    if ((code ? 1 : 0) + (input.has(names.coding) ? 1 : 0) +
            (input.has(names.concept_name) ? 1 : 0) >
        1) {
        return Error{Errc::invalid, "The code is given in more than one way"};
    }
    if (code) {
        GivenCode given;
        given.code = *code;
        ANNALS_TRY(given.system, input.text(names.system));
        if (!names.version.empty()) {
            ANNALS_TRY(const auto version, input.text(names.version));
            given.version = version.value_or("");
        }
        if (names.code == "code") {
            ANNALS_TRY(const auto display, input.text("display"));
            given.display = display.value_or("");
        }
        codes.push_back(std::move(given));
    }
    if (const json::Value coding = input.value(names.coding)) {
        codes.push_back(given_coding(coding));
    }
    if (!names.concept_name.empty()) {
        const json::Value codings = input.value(names.concept_name)["coding"];
        for (const json::Value coding : codings.elements()) {
            // A coding may have only a display.
            if (coding["code"]) {
                codes.push_back(given_coding(coding));
            }
        }
    }
    if (codes.size() > kCodingsMax) {
        return Error{Errc::invalid,
                     fmt::format("{} has more than {} codings", names.concept_name, kCodingsMax)};
    }
    if (codes.empty()) {
        return Error{Errc::required,
                     names.concept_name.empty()
                         ? fmt::format("One of {} and {} is required", names.code, names.coding)
                         : fmt::format("One of {}, {} and {} is required", names.code, names.coding,
                                       names.concept_name)};
    }
    for (const GivenCode& given : codes) {
        if (given.code.empty()) {
            return Error{Errc::required, "A code is empty"};
        }
    }
    return codes;
}

std::string described(const GivenCode& code) {
    return code.system && !code.system->empty()
               ? fmt::format("'{}' of {}", code.code.substr(0, 200), code.system->substr(0, 200))
               : fmt::format("'{}'", code.code.substr(0, 200));
}

}  // namespace annals::core
