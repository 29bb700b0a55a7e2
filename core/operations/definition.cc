#include "core/operations/definition.h"

#include "codec/json/document.h"
#include "core/base/ascii.h"
#include "core/base/parts.h"
#include "core/descriptions.h"
#include "core/operations/signatures.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

constexpr std::string_view kOwn = "urn:x-annals:OperationDefinition:";
constexpr std::string_view kIdPrefix = "annals-";

// "InstallPackage" for "install-package".
std::string computable_name(std::string_view code) {
    std::string out;
    bool upper = true;
    for (const char c : code) {
        if (c == '-') {
            upper = true;
            continue;
        }
        out += upper ? ascii_upper(c) : c;
        upper = false;
    }
    return out;
}

std::string parameters_json(std::string_view parameters, std::string_view use) {
    std::string out;
    while (const auto parameter = next_parameter(parameters)) {
        out += fmt::format(R"({}{{"name":"{}","use":"{}","min":{},"max":"{}")",
                           out.empty() ? "" : ",", parameter->name, use,
                           parameter->required ? 1 : 0, parameter->repeats ? "*" : "1");
        out += parameter->type.empty()
                   ? fmt::format(R"(,"part":[{}]}})", parameters_json(parameter->parts, use))
                   : fmt::format(R"(,"type":"{}"}})", parameter->type);
    }
    return out;
}

}  // namespace

std::string definition_url(const Operation& operation) {
    const std::string_view definition = operation.definition;
    return definition.starts_with(kOwn) ? fmt::format("{}/OperationDefinition/{}{}", kBaseUrlMark,
                                                      kIdPrefix, definition.substr(kOwn.size()))
                                        : std::string(definition);
}

std::optional<std::string> operation_definition(std::string_view id, std::string_view base_url,
                                                const Config& config) {
    if (!id.starts_with(kIdPrefix)) {
        return {};
    }
    const Operation* first = nullptr;
    std::uint8_t levels = 0;
    for (const Operation& row : operations()) {
        if (is_on(row, config) && row.definition.starts_with(kOwn) &&
            row.definition.substr(kOwn.size()) == id.substr(kIdPrefix.size())) {
            first = first == nullptr ? &row : first;
            levels |= row.levels;
        }
    }
    if (first == nullptr) {
        return {};
    }
    const Signature* const signature = find_signature(first->definition);
    const std::string_view code = first->name.substr(1);
    const auto has = [&](std::uint8_t level) { return (levels & level) != 0 ? "true" : "false"; };

    std::string out = fmt::format(
        R"({{"resourceType":"OperationDefinition","id":"{}","url":"{}","version":"{}","name":"{}",)"
        R"("title":"{}","status":"active","kind":"operation","publisher":"Annals","affectsState":{},)"
        R"("code":"{}")",
        id, definition_url(*first), ANNALS_VERSION, computable_name(code), first->name,
        first->affects_state, code);
    if (signature != nullptr) {
        out += R"(,"description":)";
        json::append_quoted(out, signature->summary);
    }
    if ((levels & ~kOnSystem) != 0) {
        out += R"(,"resource":[)";
        std::string_view types = first->types.empty() ? "Resource" : first->types;
        while (!types.empty()) {
            out += fmt::format(R"({}"{}")", out.ends_with('[') ? "" : ",", take_until(types, ' '));
        }
        out += ']';
    }
    out += fmt::format(R"(,"system":{},"type":{},"instance":{})", has(kOnSystem), has(kOnType),
                       has(kOnInstance));
    if (signature != nullptr) {
        std::string parameters = parameters_json(signature->parameters, "in");
        if (!signature->result.empty()) {
            parameters += parameters.empty() ? "" : ",";
            parameters +=
                fmt::format(R"({{"name":"return","use":"out","min":1,"max":"1","type":"{}"}})",
                            signature->result);
        }
        if (!parameters.empty()) {
            out += fmt::format(R"(,"parameter":[{}])", parameters);
        }
    }
    return with_base_url(out + "}", base_url);
}

}  // namespace annals::core
