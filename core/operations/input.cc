#include "core/operations/input.h"

#include "core/base/sort_unique.h"
#include "core/base/text.h"
#include "core/interactions/history_parameters.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/submitted_resource.h"
#include "core/search/result_parameters.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

bool is_among(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_primitive(json::Value value) {
    return value && !value.is_object() && !value.is_array() && !value.is(json::Kind::null);
}

std::string primitive_text(json::Value value) {
    return value.is_string() ? value.string() : std::string(value.raw());
}

Error parameter_fault(std::string_view name, std::string_view what) {
    return {Errc::invalid, fmt::format("The parameter '{}' {}", name, what)};
}

Error not_parameters() {
    return {Errc::invalid, "The body must be a Parameters resource"};
}

/// Checks that it has a name, and exactly one of value[x], resource and parts.
Result<void> check_parameter(json::Value parameter, std::size_t index) {
    const auto refused = [&](std::string_view what) {
        Error error = parameter_fault(parameter["name"].string(), what);
        error.expression = fmt::format("Parameters.parameter[{}]", index);
        return error;
    };
    if (!parameter["name"].is_string() || parameter["name"].raw_string().empty()) {
        return refused("has no name");
    }
    std::size_t contents = 0;
    for (const auto [key, member] : parameter.members()) {
        if (key.raw_string().starts_with("value")) {
            const bool empty = member.is_string() && member.raw_string().empty();
            if (empty || (!is_primitive(member) && !member.is_object())) {
                return refused("has no value");
            }
            ++contents;
        } else if (key.equals("resource")) {
            if (!member.is_object()) {
                return refused("has a resource that is not valid");
            }
            ++contents;
        } else if (key.equals("part")) {
            if (!member.is_array() || member.size() == 0) {
                return refused("has no parts");
            }
            ++contents;
        }
    }
    if (contents != 1) {
        return refused(contents == 0 ? "has no value" : "has several values");
    }
    return {};
}

Result<void> check_each(json::Value parameters) {
    if (parameters.size() > kParametersMax) {
        return Error{Errc::too_costly,
                     fmt::format("There are more than {} parameters", kParametersMax),
                     "Parameters.parameter"};
    }
    std::size_t index = 0;
    for (const json::Value parameter : parameters.elements()) {
        ANNALS_TRY_VOID(check_parameter(parameter, index++));
    }
    return {};
}

}  // namespace

Result<OperationInput> OperationInput::read(const Request& request) {
    OperationInput input;
    ANNALS_TRY_VOID(input.read_body(request));
    if (input.bare_ && !input.body_.root()["resourceType"].is_string()) {
        return Error{Errc::invalid, "The body is not a resource: it has no resourceType"};
    }
    if (input.bare_ && input.body_.root()["resourceType"].equals("Parameters")) {
        const json::Value parameters = input.body_.root()["parameter"];
        if (parameters && !parameters.is_array()) {
            return Error{Errc::invalid, "Parameters.parameter is not an array",
                         "Parameters.parameter"};
        }
        ANNALS_TRY_VOID(check_each(parameters));
        input.parameters_ = parameters;
        input.bare_ = false;
    }
    return input;
}

Result<OperationInput> OperationInput::read_any(const Request& request,
                                                std::initializer_list<std::string_view> known) {
    OperationInput input;
    ANNALS_TRY_VOID(input.read_body(request));
    const json::Value root = input.body_.root();
    const json::Value parameters = root["parameter"];
    if (!root["resourceType"].equals("Parameters") || (parameters && !parameters.is_array())) {
        return input;
    }
    for (const json::Value parameter : parameters.elements()) {
        if (!is_among(parameter["name"].string(), known)) {
            return input;
        }
    }
    ANNALS_TRY_VOID(check_each(parameters));
    input.parameters_ = parameters;
    input.bare_ = false;
    return input;
}

Result<void> OperationInput::read_body(const Request& request) {
    ANNALS_TRY(query_, parse_query(request.query));
    for (const auto& [name, value] : query_) {
        // Clients with auto-completion send the filter of $expand as typed, which is empty at first.
        if (value.empty() && !search::is_about_the_answer(name) && name != "filter") {
            return parameter_fault(name, "has no value");
        }
    }
    if (request.body.empty()) {
        return {};
    }
    ANNALS_TRY_VOID(check_content_type(request));
    // Parameters contain resources.
    thread_local json::Parser parser(kJsonWrappedDepthMax);
    ANNALS_TRY(body_, parse_plain(parser, request.body));
    bare_ = true;
    return {};
}

std::size_t OperationInput::count(std::string_view name) const {
    std::size_t found = 0;
    for (const auto& [key, value] : query_) {
        found += key == name ? 1 : 0;
    }
    for (const json::Value parameter : parameters_.elements()) {
        found += parameter["name"].equals(name) ? 1 : 0;
    }
    return found;
}

bool OperationInput::has(std::string_view name) const {
    return count(name) != 0;
}

Result<std::vector<std::string>> OperationInput::texts(std::string_view name) const {
    std::vector<std::string> found;
    for (const auto& [key, value] : query_) {
        if (key == name) {
            found.push_back(value);
        }
    }
    for (const json::Value parameter : parameters_.elements()) {
        if (parameter["name"].equals(name)) {
            std::optional<std::string> text = text_of(parameter);
            if (!text) {
                return parameter_fault(name, "is of the wrong type");
            }
            found.push_back(*std::move(text));
        }
    }
    return found;
}

Result<std::optional<std::string>> OperationInput::text(std::string_view name) const {
    const std::size_t there = count(name);
    if (there == 0) {
        return std::optional<std::string>();
    }
    if (there > 1) {
        return parameter_fault(name, "is given more than once");
    }
    ANNALS_TRY(std::vector<std::string> found, texts(name));
    return std::optional<std::string>(std::move(found.front()));
}

Result<std::string> OperationInput::required_text(std::string_view name) const {
    ANNALS_TRY(std::optional<std::string> found, text(name));
    if (!found) {
        return Error{Errc::required, fmt::format("The parameter {} is required", name)};
    }
    return *std::move(found);
}

Result<std::optional<bool>> OperationInput::boolean(std::string_view name) const {
    ANNALS_TRY(const std::optional<std::string> found, text(name));
    if (!found) {
        return std::optional<bool>();
    }
    if (*found != "true" && *found != "false") {
        return parameter_fault(name, "is neither true nor false");
    }
    return std::optional<bool>(*found == "true");
}

Result<bool> OperationInput::flag(std::string_view name) const {
    ANNALS_TRY(const std::optional<bool> found, boolean(name));
    return found.value_or(false);
}

Result<std::optional<std::uint64_t>> OperationInput::number(std::string_view name) const {
    ANNALS_TRY(const std::optional<std::string> found, text(name));
    if (!found) {
        return std::optional<std::uint64_t>();
    }
    const auto number = parse_number(*found);
    if (!number) {
        return parameter_fault(name, "is not an integer of at least 0, or is too large");
    }
    return number;
}

Result<std::optional<std::uint64_t>> OperationInput::positive(std::string_view name) const {
    ANNALS_TRY(const auto found, number(name));
    if (found == 0U) {
        return Error{Errc::invalid, fmt::format("{} must be at least 1", name)};
    }
    return found;
}

Result<std::optional<Instant>> OperationInput::instant(std::string_view name) const {
    ANNALS_TRY(const std::optional<std::string> found, text(name));
    if (!found) {
        return std::optional<Instant>();
    }
    const Result<InstantRange> range = parse_date_time(*found);
    if (!range) {
        return parameter_fault(name, "is not a date and time");
    }
    return std::optional<Instant>(within_years(range->begin));
}

json::Value OperationInput::resource(std::string_view name) const {
    for (const json::Value parameter : parameters_.elements()) {
        if (parameter["name"].equals(name) && parameter["resource"]) {
            return parameter["resource"];
        }
    }
    return {};
}

json::Value OperationInput::value(std::string_view name) const {
    for (const json::Value parameter : parameters_.elements()) {
        if (parameter["name"].equals(name) && value_of(parameter).is_object()) {
            return value_of(parameter);
        }
    }
    return {};
}

Result<std::vector<json::Value>> OperationInput::parts(std::string_view name) const {
    if (std::ranges::find(query_, name, &Parameters::value_type::first) != query_.end()) {
        return parameter_fault(name, "must be in a Parameters resource");
    }
    std::vector<json::Value> found;
    for (const json::Value parameter : parameters_.elements()) {
        if (parameter["name"].equals(name)) {
            found.push_back(parameter);
        }
    }
    return found;
}

json::Value OperationInput::bare_resource() const {
    return bare_ ? body_.root() : json::Value();
}

Result<void> OperationInput::only(std::initializer_list<std::string_view> known) const {
    if (bare_) {
        return not_parameters();
    }
    return only_beside_resource(known);
}

Result<std::vector<std::string>> OperationInput::names() const {
    if (bare_) {
        return not_parameters();
    }
    std::vector<std::string> found;
    const auto add = [&](std::string name) {
        if (!search::is_about_the_answer(name)) {
            found.push_back(std::move(name));
        }
    };
    for (const auto& [name, value] : query_) {
        add(name);
    }
    for (const json::Value parameter : parameters_.elements()) {
        add(parameter["name"].string());
    }
    sort_unique(found);
    return found;
}

Result<void> OperationInput::none(const Request& request) {
    ANNALS_TRY(const OperationInput input, read(request));
    return input.only({});
}

Result<void> OperationInput::only_beside_resource(
    std::initializer_list<std::string_view> known) const {
    const auto check = [&](std::string_view name) -> Result<void> {
        if (!is_among(name, known) && !search::is_about_the_answer(name)) {
            return Error{Errc::invalid, fmt::format("There is no parameter '{}'", name)};
        }
        return {};
    };
    for (const auto& [name, value] : query_) {
        ANNALS_TRY_VOID(check(name));
    }
    for (const json::Value parameter : parameters_.elements()) {
        ANNALS_TRY_VOID(check(parameter["name"].string()));
    }
    return {};
}

Result<void> OperationInput::once(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
        if (count(name) > 1) {
            return parameter_fault(name, "is given more than once");
        }
    }
    return {};
}

json::Value value_of(json::Value parameter) {
    for (const auto [key, member] : parameter.members()) {
        if (key.raw_string().starts_with("value")) {
            return member;
        }
    }
    return {};
}

std::optional<std::string> text_of(json::Value parameter) {
    const json::Value value = value_of(parameter);
    if (!is_primitive(value)) {
        return {};
    }
    return primitive_text(value);
}

json::Value part_of(json::Value parameter, std::string_view name) {
    for (const json::Value part : parameter["part"].elements()) {
        if (part["name"].equals(name)) {
            return part;
        }
    }
    return {};
}

}  // namespace annals::core
