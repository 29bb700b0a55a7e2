#include "core/base/ids.h"
#include "core/base/text.h"
#include "core/search/fold.h"
#include "core/search/reading.h"
#include "core/search/value_sets.h"

#include <fmt/format.h>

#include <memory>

namespace annals::core::search {

namespace {

Term term_of(Column column, const TokenText& token) {
    if (!token.system) {
        return search::token(column, token.code);
    }
    return token.code.empty() ? token_system(column, *token.system)
                              : search::token(column, *token.system, token.code);
}

// The error of a code system or value set, as one of the parameter.
Error of_parameter(const Asked& asked, Error error) {
    error.detail = asked.bad(error.detail).detail;
    return error;
}

// search.html#token: the name of a value set is the place where it is, if it is here, or else its canonical URL.
Result<std::shared_ptr<const Expansion>> expand_named(const Asked& asked, std::string_view name) {
    const StoredResources& stored = asked.reading.context.stored;
    const auto local = read_local(name, asked.reading.context.base_url);
    if (local && local->version.empty()) {
        const std::string place = fmt::format("{}/{}", resource_type_name(local->type), local->id);
        auto expansion = expand(stored, place);
        if (expansion || place == name || expansion.error().lacks != place) {
            return expansion;
        }
    }
    return expand(stored, name);
}

Result<Plan> in_value_set(const Asked& asked, std::string_view value) {
    const auto name = unescape(value);
    if (!name) {
        return asked.bad("unknown escape");
    }
    const auto expanded = expand_named(asked, *name);
    if (!expanded) {
        return of_parameter(asked, expanded.error());
    }
    const Expansion& expansion = **expanded;
    ANNALS_TRY_VOID(asked.reading.spend(expansion.codes.size() + expansion.systems.size()));
    std::vector<Term> terms;
    for (const Coding& coding : expansion.codes) {
        terms.push_back(token(asked.parameter.column, coding.system, coding.code));
    }
    for (const std::string& system : expansion.systems) {
        terms.push_back(token_system(asked.parameter.column, system));
    }
    return carrying(std::move(terms));
}

// Whether it is an element of MIME types, such as Attachment.contentType.
bool is_media_type_element(schema::Element element) {
    return element.value_set() &&
           element.value_set().url() == "http://hl7.org/fhir/ValueSet/mimetypes";
}

// Whether `own` is the MIME type `asked`, with or without further parameters. Neither distinguishes case (RFC 2045).
bool is_media_type(std::string_view own, std::string_view asked) {
    if (own.size() < asked.size() || !equal_ignoring_case(own.substr(0, asked.size()), asked)) {
        return false;
    }
    const std::size_t behind = own.find_first_not_of(' ', asked.size());
    return behind == std::string_view::npos || own[behind] == ';';
}

// search.html#mimetype
Result<Plan> by_media_type(const Asked& asked, std::string media_type) {
    // Without the separator of parameters that don't follow.
    media_type.erase(media_type.find_last_not_of(" ;") + 1);
    return with_value(asked, carrying({present(asked.parameter.column)}),
                      [media_type = std::move(media_type)](json::Value own) {
                          return is_media_type(own.string(), media_type);
                      });
}

Result<Plan> by_code_hierarchy(const Asked& asked, std::string_view value) {
    ANNALS_TRY(TokenText token, read_token(asked, value));
    if (asked.modifier == "below" && !token.system && finds_element(asked, is_media_type_element)) {
        return by_media_type(asked, std::move(token.code));
    }
    if (!token.system || token.system->empty() || token.code.empty()) {
        return asked.bad("system|code is needed");
    }
    const StoredResources& stored = asked.reading.context.stored;
    const auto reached = asked.modifier == "above" ? codes_above(stored, *token.system, token.code)
                                                   : codes_below(stored, *token.system, token.code);
    if (!reached) {
        return of_parameter(asked, reached.error());
    }
    const Codes& codes = **reached;
    ANNALS_TRY_VOID(asked.reading.spend(codes.size()));
    std::vector<Term> terms;
    for (const std::string& code : codes) {
        terms.push_back(search::token(asked.parameter.column, *token.system, code));
    }
    return carrying(std::move(terms));
}

Result<Plan> by_type(const Asked& asked, std::string_view value) {
    const auto parts = split_unescaped(value, '|');
    if (parts.size() != 3) {
        return asked.bad("system|code|value is needed");
    }
    const auto system = unescape(parts[0]);
    const auto code = unescape(parts[1]);
    const auto identifier = unescape(parts[2]);
    if (!system || !code || !identifier) {
        return asked.bad("unknown escape");
    }
    if (system->empty() || code->empty() || identifier->empty()) {
        return asked.bad("system, code and value must not be empty");
    }
    return carrying({token_of_type(asked.parameter.column, *system, *code, *identifier)});
}

// search.html#id: only a code, without what other tokens have.
Result<Plan> id_plan(const Asked& asked, std::string_view id) {
    if (!asked.modifier.empty() && asked.modifier != "not") {
        return asked.unsupported();
    }
    if (!is_resource_id(id)) {
        return asked.bad("an id has 1 to 64 of A-Z a-z 0-9 - .");
    }
    return carrying({identity(asked.reading.context.stored.key(asked.type, id))});
}

}  // namespace

Result<TokenText> read_token(const Asked& asked, std::string_view value) {
    const auto parts = split_unescaped(value, '|');
    if (parts.size() > 2) {
        return asked.bad("code, system|code, |code or system| is needed");
    }
    auto code = unescape(parts.back());
    auto system = unescape(parts.front());
    if (!code || !system) {
        return asked.bad("unknown escape");
    }
    TokenText token;
    token.code = *std::move(code);
    if (parts.size() == 2) {
        token.system = *std::move(system);
    }
    if (token.code.empty() && (!token.system || token.system->empty())) {
        return asked.bad("a code or a system is needed");
    }
    return token;
}

Result<Plan> token_in(const Asked& asked, Column column, std::string_view value) {
    ANNALS_TRY(const TokenText token, read_token(asked, value));
    return carrying({term_of(column, token)});
}

// search.html#token. For `:not` and `:not-in`, the caller negates the result.
Result<Plan> token_plan(const Asked& asked, std::string_view value) {
    if (asked.parameter.code == "_id") {
        return id_plan(asked, value);
    }
    const std::string_view modifier = asked.modifier;
    if (modifier.empty() || modifier == "not") {
        return token_in(asked, asked.parameter.column, value);
    }
    if (modifier == "text") {
        const auto text = unescape(value);
        if (!text) {
            return asked.bad("unknown escape");
        }
        std::string folded = fold(*text);
        if (folded.empty()) {
            return asked.bad(kFoldsToNothing);
        }
        return begins_with(beside(asked.parameter.column, ":text"), std::move(folded));
    }
    if (modifier == "in" || modifier == "not-in") {
        return in_value_set(asked, value);
    }
    if (modifier == "above" || modifier == "below") {
        return by_code_hierarchy(asked, value);
    }
    if (modifier == "of-type") {
        return by_type(asked, value);
    }
    return asked.unsupported();
}

}  // namespace annals::core::search
