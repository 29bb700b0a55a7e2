#include "core/validation/terminology.h"

#include "codec/fhirpath/ucum.h"
#include "core/base/ascii.h"
#include "core/canonical.h"
#include "core/terminology/grammar.h"
#include "core/terminology/names.h"

#include <fmt/format.h>

namespace annals::validation {

using core::Canonical;
using core::split_canonical;

/// The terminology session of one validation.
class Terminology {
  public:
    Terminology(const Source& source, std::uint64_t steps)
        : effort_(steps), session_(source, effort_) {}

    terminology::Session& session() noexcept { return session_; }

  private:
    terminology::Effort effort_;
    terminology::Session session_;
};

namespace {

terminology::Session& session_of(Context& context) {
    if (context.terminology == nullptr) {
        context.terminology = std::make_shared<Terminology>(context.source, context.options.steps);
    }
    return context.terminology->session();
}

/// Ends the validation if its terminology lookups have used up their steps: nothing more could be decided.
void end_if_exhausted(Context& context) {
    if (session_of(context).effort().exhausted()) {
        context.spend(context.steps_left);
    }
}

/// The code system's content if it is known; null otherwise.
terminology::CodeSystemPointer content_of(Context& context, std::string_view system,
                                          std::string_view version) {
    auto content = session_of(context).code_system(system, version);
    end_if_exhausted(context);
    return content ? *std::move(content) : nullptr;
}

std::optional<bool> either(std::optional<bool> a, std::optional<bool> b) {
    if (a == true || b == true) {
        return true;
    }
    return a && b ? std::optional(false) : std::nullopt;
}

/// Whether the value set consists of units; it then applies to quantities only, even if bound to a choice that may be a
/// concept.
bool of_units_only(Context& context, std::string_view value_set) {
    const Canonical name = split_canonical(value_set);
    const Definition definition =
        find_definition(context.source, "ValueSet", name.url, name.version);
    if (!definition) {
        return false;
    }
    const json::Value includes = definition->root()["compose"]["include"];
    for (const json::Value include : includes.elements()) {
        if (!include["system"].equals(fhirpath::kUcum)) {
            return false;
        }
    }
    return includes.size() > 0;
}

Code code_of(json::Value coding) {
    Code code;
    if (const json::Value system = coding["system"]) {
        code.system = system.string();
    }
    code.code = coding["code"].string();
    code.display = coding["display"].string();
    return code;
}

std::string described(const Code& code) {
    return code.system ? fmt::format("'{}' of {}", code.code, *code.system)
                       : fmt::format("'{}'", code.code);
}

/// Whether the code is in the value set; a Coding without a system is looked up with an empty system.
std::optional<bool> coding_in(Context& context, std::string_view value_set, json::Value coding) {
    Code code = code_of(coding);
    if (!code.system) {
        const Code other{std::string(), code.code, {}};
        return member_of(context, value_set, other);
    }
    const std::optional<bool> found = member_of(context, value_set, code);
    code.version = coding["version"].string();
    if (found != false || code.version.empty() ||
        content_of(context, *code.system, code.version) == nullptr) {
        return found;
    }
    // It may be from an older version than the one that the value set implies.
    return member_of(context, value_set, code);
}

// The Verhoeff check digit, which protects SNOMED CT identifiers.
bool has_check_digit(std::string_view digits) {
    static constexpr int kNext[10][10] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 0, 6, 7, 8, 9, 5},
        {2, 3, 4, 0, 1, 7, 8, 9, 5, 6}, {3, 4, 0, 1, 2, 8, 9, 5, 6, 7},
        {4, 0, 1, 2, 3, 9, 5, 6, 7, 8}, {5, 9, 8, 7, 6, 0, 4, 3, 2, 1},
        {6, 5, 9, 8, 7, 1, 0, 4, 3, 2}, {7, 6, 5, 9, 8, 2, 1, 0, 4, 3},
        {8, 7, 6, 5, 9, 3, 2, 1, 0, 4}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}};
    static constexpr int kStep[10] = {1, 5, 7, 6, 2, 8, 3, 0, 9, 4};
    int check = 0;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        int digit = digits[digits.size() - 1 - i] - '0';
        for (std::size_t turn = 0; turn < i % 8; ++turn) {
            digit = kStep[digit];
        }
        check = kNext[check][digit];
    }
    return check == 0;
}

}  // namespace

bool is_snomed_code(std::string_view code) {
    if (is_digits(code)) {
        return code.size() >= 6 && code.size() <= 18 && code.front() != '0' &&
               has_check_digit(code);
    }
    // For a postcoordinated expression, only the beginning is checked.
    const std::size_t end = code.find_first_not_of("0123456789");
    const char next = end == std::string_view::npos ? '\0' : code[end];
    if (end == 0 || end == std::string_view::npos) {
        return code.starts_with("===") || code.starts_with("<<<") || code.starts_with('(');
    }
    return next == ':' || next == '+' || next == ' ' || next == '|' || next == '{';
}

std::optional<bool> member_of(Context& context, std::string_view value_set, const Code& code) {
    const Canonical name = split_canonical(value_set);
    if (const schema::ValueSet own = schema::find_value_set(name.url); own && own.enumerated()) {
        return code.system ? own.contains(code.code, *code.system) : own.contains(code.code);
    }
    if (!context.spend()) {
        return std::nullopt;
    }
    terminology::Code asked{std::nullopt, code.code, code.version};
    if (code.system) {
        asked.system = *code.system;
    }
    const auto member = terminology::member_of(session_of(context), value_set, asked);
    end_if_exhausted(context);
    if (!member || *member == terminology::Member::unknown) {
        return std::nullopt;
    }
    return *member == terminology::Member::yes;
}

std::optional<bool> value_in(Context& context, const Spot& spot, std::string_view value_set) {
    const json::Value value = spot.value();
    if (!value) {
        return std::nullopt;
    }
    if (value.is_string()) {
        return member_of(context, value_set, Code{std::nullopt, value.string(), {}});
    }
    const std::string_view type = spot.type.name();
    if (type == "CodeableConcept" && of_units_only(context, value_set)) {
        return std::nullopt;
    }
    if (type == "CodeableConcept") {
        std::optional<bool> found = false;
        for (const json::Value coding : value["coding"].elements()) {
            found = either(found, coding_in(context, value_set, coding));
        }
        return found;
    }
    if (type == "Coding" || spot.type.is_a(schema::find_type("Quantity"))) {
        return value["code"] ? coding_in(context, value_set, value) : std::optional(false);
    }
    return std::nullopt;
}

void check_binding(Context& context, const Spot& spot, schema::Strength strength,
                   std::string_view value_set) {
    const bool is_required = strength == schema::Strength::required;
    if (!(is_required || strength == schema::Strength::extensible) || value_set.empty() ||
        !spot.value()) {
        return;
    }
    const bool is_complex = spot.value().is_object();
    if (is_complex && !is_required && !spot.value()["coding"] && !spot.value()["code"]) {
        return;  // extensible: text alone is enough
    }
    if (spot.type.is_a(schema::find_type("Quantity")) && !spot.value()["code"]) {
        return;  // a quantity need not have a coded unit
    }
    if (value_in(context, spot, value_set) != false) {
        return;
    }
    std::string what = "no code";
    if (!is_complex) {
        what = fmt::format("'{}'", spot.value().string());
    } else if (spot.value()["code"].is_string()) {
        what = described(code_of(spot.value()));
    } else if (spot.value()["coding"].size() > 0) {
        what = described(code_of(*spot.value()["coding"].elements().begin()));
    }
    context.tell(is_required ? Severity::error : Severity::warning, "code-invalid", spot,
                 is_required ? fmt::format("A code of {} is required, found {}", value_set, what)
                             : fmt::format("A code of {} is expected, found {}", value_set, what));
}

void check_max_binding(Context& context, const Spot& spot, schema::Strength strength,
                       std::string_view value_set) {
    const json::Value value = spot.value();
    const bool is_coded = !value.is_object() || value["coding"] || value["code"];
    if (strength == schema::Strength::extensible ||
        (strength == schema::Strength::preferred && is_coded)) {
        check_binding(context, spot, schema::Strength::required, value_set);
    }
}

void check_coding(Context& context, const Spot& spot) {
    const json::Value value = spot.value();
    if (!value["code"].is_string() || !value["system"].is_string()) {
        return;
    }
    Code code = code_of(value);
    code.version = value["version"].string();
    if (code.system->find("/ValueSet/") != std::string::npos) {
        const Definition value_set = find_definition(context.source, "ValueSet", *code.system, {});
        if (value_set || schema::find_value_set(*code.system)) {
            context.error(
                "invalid", spot,
                fmt::format("The system is a value set, not a code system: {}", *code.system));
        }
        return;
    }
    check_code(context, spot.node(), code);
}

void check_code(Context& context, std::uint32_t node, const Code& code) {
    if (*code.system == kSnomed) {
        if (!is_snomed_code(code.code)) {
            context.tell_unknown_code(node,
                                      fmt::format("'{}' is not a code of SNOMED CT", code.code));
        }
        return;
    }
    const auto content = content_of(context, *code.system, code.version);
    const auto number = content ? content->find(code.code) : std::nullopt;
    if (terminology::judge_code(content.get(), *code.system, code.code) ==
        terminology::Member::no) {
        context.tell_unknown_code(node,
                                  fmt::format("The code system has no code {}", described(code)));
    } else if (number && !code.display.empty() &&
               !terminology::is_called(code.display, {content->item(*number)})) {
        context.tell(
            context.options.refuse_wrong_displays ? Severity::error : Severity::warning, "invalid",
            node,
            fmt::format("The display of the code {} is not '{}'", described(code), code.display));
    }
}

}  // namespace annals::validation
