#include "core/operations/lookup.h"

#include "core/canonical.h"
#include "core/operations/coded_input.h"
#include "core/operations/designations.h"
#include "core/operations/parameters_writer.h"
#include "core/operations/terminology.h"
#include "core/terminology/grammar.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

using terminology::CodeSystem;
using terminology::CodeSystemPointer;
using terminology::Grammar;
using terminology::Member;
using terminology::Session;

constexpr std::size_t kRelativesMax = 10'000;  // parents or children of a code in a response

Error unknown_system(std::string_view system) {
    return {Errc::not_found,
            fmt::format("The code system {} is not known here", system.substr(0, 300))};
}

Error no_such_code(std::string_view system, std::string_view code) {
    return {Errc::not_found,
            fmt::format("The code system {} has no code '{}'", system, code.substr(0, 200))};
}

/// The grammar by which a code system has a code that it does not list. `system`: null if none of it is available. Errors:
/// not_found; not_computable (none of its codes is available).
Result<const Grammar*> grammar_with(const CodeSystem* system, std::string_view url,
                                    std::string_view code) {
    const std::string_view bare_url = split_canonical(url).url;
    const Grammar* const grammar = terminology::grammar_of(bare_url);
    if (grammar == nullptr && system == nullptr) {
        return unknown_system(url);
    }
    if (grammar == nullptr && system->size() == 0) {
        return Error{Errc::not_computable,
                     fmt::format("The codes of {} are not available", system->url())};
    }
    const Member in = terminology::judge_code(system, bare_url, code);
    if (grammar != nullptr && in == Member::unknown) {
        return Error{Errc::not_found,
                     fmt::format("Whether the code system {} has a code '{}' cannot be determined",
                                 url, code.substr(0, 200))};
    }
    if (in != Member::yes) {
        return no_such_code(bare_url, code);
    }
    return grammar;
}

// ---- $lookup ----

struct Lookup {
    GivenCode code;
    std::vector<std::string> properties;  ///< ascending; none: all
    std::string language;

    bool wants(std::string_view property) const {
        return properties.empty() ||
               std::binary_search(properties.begin(), properties.end(), property);
    }

    /// Requested by `designation`, or by `lang.de` for de or de-AT.
    bool wants_designation(std::string_view its_language) const {
        return wants("designation") || wants(fmt::format("lang.{}", its_language)) ||
               wants(fmt::format("lang.{}", its_language.substr(0, its_language.find('-'))));
    }
};

Result<Lookup> read_lookup(const Service& /*service*/, const Request& request,
                           const Target& /*target*/) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"code", "system", "version", "coding", "date", "displayLanguage",
                                "language", "property"}));
    ANNALS_TRY_VOID(check_date(input));
    Lookup lookup;
    ANNALS_TRY(std::vector<GivenCode> codes, read_codes(input, {.concept_name = ""}));
    lookup.code = std::move(codes.front());
    if (lookup.code.system.value_or("").empty()) {
        return Error{Errc::required, "The system of the code is required"};
    }
    ANNALS_TRY(lookup.properties, input.texts("property"));
    std::sort(lookup.properties.begin(), lookup.properties.end());
    ANNALS_TRY(const auto display_language, input.text("displayLanguage"));
    ANNALS_TRY(const auto language, input.text("language"));  // HAPI's validator uses this name
    lookup.language = display_language.value_or(language.value_or(""));
    return lookup;
}

void add_property(ParametersWriter& out, std::string_view code, std::string_view type,
                  std::string_view value) {
    out.begin_parts("property");
    out.add_text("code", "valueCode", code);
    out.add("value", type, value);
    out.end_parts();
}

void add_relatives(ParametersWriter& out, std::string_view name, const CodeSystem& system,
                   std::span<const CodeSystem::Number> others) {
    for (const CodeSystem::Number other : others.first(std::min(others.size(), kRelativesMax))) {
        add_property(out, name, "valueCode", json::quoted(system.code(other)));
    }
}

void add_designation(ParametersWriter& out, json::Value designation) {
    out.begin_parts("designation");
    if (const json::Value language = designation["language"]) {
        out.add("language", "valueCode", language.raw());
    }
    if (const json::Value use = designation["use"]) {
        out.add("use", "valueCoding", use.raw());
    }
    out.add("value", "valueString", designation["value"].raw());
    out.end_parts();
}

std::string describe(const CodeSystem& system, CodeSystem::Number number, const Lookup& lookup) {
    const json::Value item = system.item(number);
    ParametersWriter out;
    const std::string name = system.root()["name"].string();
    out.add_text("name", "valueString", name.empty() ? std::string(system.url()) : name);
    if (!system.version().empty()) {
        out.add_text("version", "valueString", system.version());
    }
    const std::string other =
        lookup.language.empty()
            ? std::string()
            : display_in(lookup.language, {}, item, system.root()["language"].string());
    const std::string_view display = other.empty() ? system.display(number) : other;
    out.add_text("display", "valueString", display.empty() ? system.code(number) : display);
    for (const json::Value designation : item["designation"].elements()) {
        if (designation["value"].is_string() &&
            lookup.wants_designation(designation["language"].string())) {
            add_designation(out, designation);
        }
    }
    if (lookup.wants("definition") && item["definition"].is_string()) {
        add_property(out, "definition", "valueString", item["definition"].raw());
    }
    if (lookup.wants("inactive")) {
        add_property(out, "inactive", "valueBoolean",
                     system.is_inactive(number) ? "true" : "false");
    }
    if (lookup.wants("parent")) {
        add_relatives(out, "parent", system, system.parents(number));
    }
    if (lookup.wants("child")) {
        add_relatives(out, "child", system, system.children(number));
    }
    for (const json::Value property : item["property"].elements()) {
        const std::string code = property["code"].string();
        // Those have been written already.
        if (code == "parent" || code == "child" || code == "inactive" || !lookup.wants(code)) {
            continue;
        }
        for (const auto [key, value] : property.members()) {
            if (key.raw_string().starts_with("value")) {
                add_property(out, code, key.raw_string(), value.raw());
            }
        }
    }
    return out.resource();
}

/// What is known about a code that its system does not list: its display is the code itself.
std::string describe_by_grammar(const Grammar& grammar, std::string_view code) {
    ParametersWriter out;
    out.add_text("name", "valueString", grammar.name);
    out.add_text("display", "valueString", code);
    return out.resource();
}

Result<std::string> look_up(Session& session, const Lookup& lookup) {
    const std::string& url = *lookup.code.system;
    const std::string& code = lookup.code.code;
    ANNALS_TRY(const CodeSystemPointer system, session.code_system(url, lookup.code.version));
    if (const auto number = system ? system->find(code) : std::nullopt) {
        return describe(*system, *number, lookup);
    }
    ANNALS_TRY(const Grammar* const grammar, grammar_with(system.get(), url, code));
    return describe_by_grammar(*grammar, code);
}

// ---- $subsumes ----

struct Subsumes {
    std::optional<Meant> meant;
    std::string system;
    std::string version;
    std::string a;
    std::string b;
};

Result<Subsumes> read_subsumes(const Service& service, const Request& request,
                               const Target& target) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"codeA", "codeB", "system", "version", "codingA", "codingB"}));
    Subsumes subsumes;
    if (target.level == Level::instance_operation) {
        ANNALS_TRY(subsumes.meant, read_meant(service, target, input, "", "", ""));
    }
    const auto read = [&](std::string_view code, std::string_view coding) {
        return read_codes(input, {.code = code, .coding = coding, .concept_name = ""});
    };
    ANNALS_TRY(const std::vector<GivenCode> a, read("codeA", "codingA"));
    ANNALS_TRY(const std::vector<GivenCode> b, read("codeB", "codingB"));
    subsumes.a = a.front().code;
    subsumes.b = b.front().code;
    subsumes.system = a.front().system.value_or("");
    subsumes.version = a.front().version.empty() ? b.front().version : a.front().version;
    if (subsumes.system != b.front().system.value_or("")) {
        return Error{Errc::invalid, "Both codes must be from the same system"};
    }
    if (!b.front().version.empty() && subsumes.version != b.front().version) {
        return Error{Errc::invalid, "Both codes must be from the same version of their system"};
    }
    if (subsumes.system.empty() && !subsumes.meant) {
        return Error{Errc::required, "The system of the codes is required"};
    }
    return subsumes;
}

/// For codes of which the system does not list both.
Result<std::string_view> relation_by_grammar(const CodeSystem* system, const Subsumes& asked) {
    const Grammar* grammar = nullptr;
    for (const std::string& code : {asked.a, asked.b}) {
        if (system == nullptr || !system->find(code)) {
            ANNALS_TRY(grammar, grammar_with(system, system ? system->url() : asked.system, code));
        }
    }
    const bool same = asked.a == asked.b;
    if (!same && !grammar->is_flat) {
        return Error{Errc::not_computable,
                     fmt::format("Whether one of the codes of {} subsumes the other cannot be "
                                 "determined",
                                 grammar->system)};
    }
    return std::string_view(same ? "equivalent" : "not-subsumed");
}

Result<std::string_view> relation_of(Session& session, const CodeSystem* system,
                                     const Subsumes& asked) {
    const auto a = system ? system->find(asked.a) : std::nullopt;
    const auto b = system ? system->find(asked.b) : std::nullopt;
    if (!a || !b) {
        return relation_by_grammar(system, asked);
    }
    ANNALS_TRY(const bool above, system->is_below(*b, *a, session.effort()));
    ANNALS_TRY(const bool below, system->is_below(*a, *b, session.effort()));
    return std::string_view(a == b  ? "equivalent"
                            : above ? "subsumes"
                            : below ? "subsumed-by"
                                    : "not-subsumed");
}

Result<std::string> subsume(Session& session, const Subsumes& asked) {
    CodeSystemPointer system;
    if (asked.meant) {
        ANNALS_TRY(system, terminology::code_system_of(asked.meant->definition, session.effort()));
        if (!asked.system.empty() && asked.system != system->url()) {
            return Error{Errc::invalid, "The codes are from a different code system"};
        }
        if (!asked.version.empty() && asked.version != system->version()) {
            return Error{Errc::invalid,
                         "The codes are from a different version of the code system"};
        }
    } else {
        ANNALS_TRY(system, session.code_system(asked.system, asked.version));
    }
    ANNALS_TRY(const std::string_view outcome, relation_of(session, system.get(), asked));
    ParametersWriter out;
    out.add_text("outcome", "valueCode", outcome);
    return out.resource();
}

}  // namespace

asio::awaitable<Response> lookup_operation(const Service& service, const Request& request,
                                           const Target& target) {
    return answer_asked(service, request, target, read_lookup, look_up);
}

asio::awaitable<Response> subsumes_operation(const Service& service, const Request& request,
                                             const Target& target) {
    return answer_asked(service, request, target, read_subsumes, subsume);
}

}  // namespace annals::core
