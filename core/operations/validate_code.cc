#include "core/operations/validate_code.h"

#include "core/operations/coded_input.h"
#include "core/operations/designations.h"
#include "core/operations/parameters_writer.h"
#include "core/operations/terminology.h"
#include "core/terminology/grammar.h"
#include "core/terminology/names.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

using terminology::CodeSystem;
using terminology::Member;
using terminology::Session;

struct ValidateCodeAsked {
    bool of_value_set = true;
    std::optional<Meant> meant;
    std::vector<GivenCode> codes;
    bool abstract_allowed = false;
    std::string language;
};

/// What is known about a code.
struct Known {
    terminology::CodeSystemPointer system;
    std::optional<CodeSystem::Number> number;
    json::Value listed;  ///< in the value set
    std::string listed_display;

    json::Value item() const { return number ? system->item(*number) : json::Value(); }
};

struct Verdict {
    bool valid = false;
    std::string message;
    std::string display;
};

Result<ValidateCodeAsked> read_validate_code_asked(const Service& service, const Request& request,
                                                   const Target& target) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(check_date(input));
    ValidateCodeAsked asked;
    asked.of_value_set = resource_type_name(target.type) == "ValueSet";
    CodedNames names;
    if (asked.of_value_set) {
        ANNALS_TRY_VOID(input.only_beside_resource(
            {"url", "valueSet", "valueSetVersion", "code", "system", "systemVersion", "display",
             "coding", "codeableConcept", "abstract", "displayLanguage", "context", "date",
             "inferSystem"}));
        // From R5, where a code without a system is looked up in all systems only if this is set.
        ANNALS_TRY([[maybe_unused]] const auto infers, input.boolean("inferSystem"));
        ANNALS_TRY(asked.meant,
                   read_meant(service, target, input, "valueSet", "url", "valueSetVersion"));
        names.version = "systemVersion";
        if (!asked.meant) {
            return nothing_meant(input);
        }
    } else {
        ANNALS_TRY_VOID(input.only_beside_resource(
            {"url", "codeSystem", "code", "version", "display", "coding", "codeableConcept",
             "abstract", "displayLanguage", "system", "date"}));
        // At instance level, `version` is that of the code, and is validated with it.
        const std::string_view by_version =
            target.level == Level::instance_operation ? "" : "version";
        ANNALS_TRY(asked.meant,
                   read_meant(service, target, input, "codeSystem", "url", by_version));
        if (!asked.meant) {
            ANNALS_TRY(asked.meant,
                       read_meant(service, target, input, "codeSystem", "system", "version"));
        }
    }
    ANNALS_TRY(asked.codes, read_codes(input, names));
    ANNALS_TRY(asked.abstract_allowed, input.flag("abstract"));
    ANNALS_TRY(const auto language, input.text("displayLanguage"));
    asked.language = language.value_or("");
    return asked;
}

/// The value set's entry for a code if it has names for it; also looks in the value sets that it includes.
Result<json::Value> listed_in(Session& session, const terminology::ValueSet& value_set,
                              const GivenCode& code, std::size_t depth) {
    if (depth > terminology::kValueSetDepthMax) {
        return json::Value();
    }
    for (const terminology::Include& include : value_set.includes()) {
        ANNALS_TRY_VOID(
            session.effort().spend(terminology::kStepsPerPart * (1 + include.value_sets.size())));
        if (const auto found = include.by_code.find(code.code);
            found != include.by_code.end() && (!code.system || *code.system == include.system)) {
            const json::Value item = include.concepts[found->second].item;
            if (item["display"] || item["designation"]) {
                return item;
            }
        }
        for (const std::string& name : include.value_sets) {
            ANNALS_TRY(const auto other, session.readable_value_set(name));
            if (other != nullptr) {
                ANNALS_TRY(const json::Value item, listed_in(session, *other, code, depth + 1));
                if (item) {
                    return item;
                }
            }
        }
    }
    const auto [first, last] = value_set.contained_by_code().equal_range(code.code);
    for (auto at = first; at != last; ++at) {
        const terminology::Contained& own = value_set.contained()[at->second];
        if (!code.system || own.system == *code.system) {
            return own.item;
        }
    }
    return json::Value();
}

/// The result for a code that is contained, in a value set or code system.
Verdict judged(const ValidateCodeAsked& asked, const Known& known, const GivenCode& code) {
    Verdict verdict{true, "", known.listed_display};
    if (known.number && verdict.display.empty()) {
        verdict.display = known.system->display(*known.number);
    } else if (verdict.display.empty() &&
               terminology::judge_code(known.system.get(), code.system.value_or(""), code.code) ==
                   Member::yes) {
        verdict.display = code.code;
    }
    if (!asked.language.empty()) {
        const std::string own =
            known.number ? known.system->root()["language"].string() : std::string();
        if (std::string other = display_in(asked.language, known.listed, known.item(), own);
            !other.empty()) {
            verdict.display = std::move(other);
        }
    }
    if (known.number && known.system->is_abstract(*known.number) && !asked.abstract_allowed) {
        verdict.valid = false;
        verdict.message = fmt::format("The code {} is abstract", described(code));
        return verdict;
    }
    if (!code.display.empty() &&
        !terminology::is_called(code.display, {known.listed, known.item()})) {
        verdict.valid = false;
        verdict.message =
            fmt::format("The display of the code {} is not '{}' but '{}'", described(code),
                        code.display.substr(0, 200), verdict.display);
    }
    return verdict;
}

Result<Verdict> in_value_set(Session& session, const ValidateCodeAsked& asked,
                             const terminology::ValueSet& value_set, const GivenCode& code) {
    terminology::Code wanted{std::nullopt, code.code, code.version};
    if (code.system) {
        wanted.system = *code.system;
    }
    ANNALS_TRY(const Member member, terminology::member_of(session, value_set, wanted));
    const std::string name = value_set.root()["url"].string().substr(0, 300);
    if (member == Member::no) {
        return Verdict{false,
                       fmt::format("The code {} is not in the value set {}", described(code), name),
                       ""};
    }
    if (member == Member::unknown) {
        return Verdict{
            false,
            fmt::format("Whether the code {} is in the value set {} cannot be determined: not "
                        "everything that the value set consists of is available",
                        described(code), name),
            ""};
    }
    GivenCode found = code;
    if (!found.system) {
        ANNALS_TRY(const std::vector<std::string_view> systems,
                   terminology::systems_with(session, value_set, code.code));
        for (std::size_t i = 0; i < systems.size() && !found.system; ++i) {
            wanted.system = systems[i];
            ANNALS_TRY(const Member in, terminology::member_of(session, value_set, wanted));
            if (in == Member::yes && !systems[i].empty()) {
                found.system = systems[i];
            }
        }
    }
    Known known;
    if (found.system) {
        std::string_view version = found.version;
        if (version.empty()) {
            ANNALS_TRY(version, terminology::version_of(session, value_set, wanted));
        }
        ANNALS_TRY(known.system, session.code_system(*found.system, version));
        if (known.system == nullptr) {
            // For a listed code, another version of the system is better than none.
            ANNALS_TRY(known.system, session.code_system(*found.system, found.version));
        }
        known.number = known.system ? known.system->find(found.code) : std::nullopt;
    }
    ANNALS_TRY(known.listed, listed_in(session, value_set, found, 0));
    known.listed_display = known.listed["display"].string();
    return judged(asked, known, found);
}

/// `system`: null if only the grammar of `url` may be known.
Verdict in_code_system(const ValidateCodeAsked& asked, const terminology::CodeSystemPointer& system,
                       std::string_view url, const GivenCode& code) {
    if (code.system && *code.system != url) {
        return Verdict{
            false,
            fmt::format("The code {} is from a different system than {}", described(code), url),
            ""};
    }
    const bool of_any_version =
        system == nullptr || (!system->is_complete() && terminology::grammar_of(url) != nullptr);
    if (!of_any_version && !code.version.empty() && code.version != system->version()) {
        return Verdict{false,
                       fmt::format("The code {} is from version '{}' of {}, which is not available",
                                   described(code), code.version.substr(0, 200), system->url()),
                       ""};
    }
    const auto number = system ? system->find(code.code) : std::nullopt;
    const Member in = terminology::judge_code(system.get(), url, code.code);
    if (in == Member::yes) {
        GivenCode own = code;
        own.system = url;
        return judged(asked, {system, number, {}, {}}, own);
    }
    if (in == Member::no) {
        return Verdict{
            false,
            fmt::format("The code system {} has no code '{}'", url, code.code.substr(0, 200)), ""};
    }
    return Verdict{
        false,
        system == nullptr && terminology::grammar_of(url) == nullptr
            ? fmt::format("The code system '{}' is not known here", url.substr(0, 300))
            : fmt::format("Whether the code system {} has a code '{}' cannot be determined: not "
                          "all of it is available",
                          url, code.code.substr(0, 200)),
        ""};
}

Result<Verdict> judge(Session& session, const ValidateCodeAsked& asked, const GivenCode& code,
                      const terminology::Definition& definition) {
    if (asked.of_value_set) {
        ANNALS_TRY(const auto value_set, terminology::value_set_of(definition, session.effort()));
        return in_value_set(session, asked, *value_set, code);
    }
    if (definition != nullptr) {
        ANNALS_TRY(const auto system, terminology::code_system_of(definition, session.effort()));
        return in_code_system(asked, system, system->url(), code);
    }
    if (asked.meant) {
        return in_code_system(asked, nullptr, asked.meant->url, code);
    }
    const std::string given = code.system.value_or("");
    const std::string_view url = given;
    ANNALS_TRY(const auto system, session.code_system(url, code.version));
    // A url with a version, as in a canonical, finds the system but is not its url.
    return in_code_system(asked, system, system != nullptr ? system->url() : url, code);
}

/// The definition that is meant; null if it is that of a code system of which only the grammar is known.
Result<terminology::Definition> find_asked(Session& session, const ValidateCodeAsked& asked) {
    if (!asked.meant) {
        return terminology::Definition();
    }
    if (asked.of_value_set) {
        return find_meant(session, *asked.meant, "ValueSet");
    }
    Result<terminology::Definition> found = find_meant(session, *asked.meant, "CodeSystem");
    if (!found && found.error().code == Errc::not_found &&
        terminology::grammar_of(asked.meant->url) != nullptr) {
        return terminology::Definition();
    }
    return found;
}

Result<std::string> validate_code_answer(Session& session, const ValidateCodeAsked& asked) {
    session.takes_abstract = asked.abstract_allowed;
    ANNALS_TRY(const terminology::Definition definition, find_asked(session, asked));
    Verdict verdict;
    for (const GivenCode& code : asked.codes) {
        ANNALS_TRY(Verdict one, judge(session, asked, code, definition));
        if (one.valid || verdict.message.empty()) {
            verdict = std::move(one);
        }
        if (verdict.valid) {
            break;
        }
    }
    ParametersWriter parameters;
    parameters.add_flag("result", verdict.valid);
    if (!verdict.message.empty()) {
        parameters.add_text("message", "valueString", verdict.message);
    }
    if (!verdict.display.empty()) {
        parameters.add_text("display", "valueString", verdict.display);
    }
    return parameters.resource();
}

}  // namespace

asio::awaitable<Response> validate_code_operation(const Service& service, const Request& request,
                                                  const Target& target) {
    return answer_asked(service, request, target, read_validate_code_asked, validate_code_answer);
}

}  // namespace annals::core
