// Functions that call the caller's hooks: terminology, profiles, trace().
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Utility functions"; FHIR R4 fhirpath.html.

#include "codec/fhirpath/machine.h"

#include <algorithm>

namespace annals::fhirpath {

bool Machine::trace(const Node& node, const Scope& scope, Range input) {
    std::optional<std::string_view> name;
    if (!string_argument(node, 0, scope, name)) {
        return false;
    }
    const std::uint32_t mark = top_;
    if (node.count > 1) {
        for (std::uint32_t i = input.begin; i < input.end; ++i) {
            if (!evaluate(argument_node(node, 1), lambda(scope, input, i))) {
                return false;
            }
        }
    }
    if (environment_->hooks != nullptr && environment_->hooks->trace) {
        const Range shown = node.count > 1 ? Range{mark, top_} : input;
        environment_->hooks->trace(name.value_or(std::string_view()),
                                   {&stack_[shown.begin], shown.size()});
    }
    top_ = mark;
    return push_all(input);
}

bool Machine::check_modifiers(const Node& node, const Scope& scope, Range input) {
    std::vector<std::string_view> known;
    for (std::uint32_t i = 0; i < node.count; ++i) {
        std::optional<std::string_view> url;
        if (!string_argument(node, i, scope, url)) {
            return false;
        }
        known.push_back(url.value_or(std::string_view()));
    }
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        for (const json::Value extension : at(i).value()["modifierExtension"].elements()) {
            const json::Value url = extension["url"];
            if (!step() ||
                std::ranges::none_of(known, [&](std::string_view k) { return url.equals(k); })) {
                return fail("an unknown modifier extension");
            }
        }
        if (!push(at(i))) {
            return false;
        }
    }
    return true;
}

// Functions that only the caller can answer.
bool Machine::outside(const Node& node, const Scope& scope, Range input) {
    if (input.size() == 0) {
        return true;
    }
    if (input.size() > 1) {
        return fail("several items where one is expected");
    }
    if (node.function == Function::subsumes || node.function == Function::subsumed_by) {
        return subsumes(node, scope, input);
    }
    std::optional<std::string_view> url;
    if (!string_argument(node, 0, scope, url)) {
        return false;
    }
    if (!url) {
        return true;
    }
    const Item item = at(input.begin);
    return node.function == Function::member_of ? member_of(item, *url) : conforms_to(item, *url);
}

bool Machine::subsumes(const Node& node, const Scope& scope, Range input) {
    const std::uint32_t mark = top_;
    if (!evaluate(argument_node(node, 0), scope)) {
        return false;
    }
    const Range other{mark, top_};
    if (other.size() != 1) {
        return other.size() == 0 || fail("several items where one is expected");
    }
    const Hooks* const hooks = environment_->hooks;
    if (hooks == nullptr || !hooks->subsumes) {
        return fail(Errc::not_implemented, "subsumes() needs a terminology service");
    }
    const bool turned = node.function == Function::subsumed_by;
    Result<std::optional<bool>> answer = hooks->subsumes(at(turned ? other.begin : input.begin),
                                                         at(turned ? input.begin : other.begin));
    top_ = mark;
    return push_answer(std::move(answer));
}

bool Machine::member_of(const Item& item, std::string_view value_set) {
    const Hooks* const hooks = environment_->hooks;
    if (hooks == nullptr || !hooks->member_of) {
        return fail(Errc::not_implemented, "memberOf() needs a terminology service");
    }
    return push_answer(hooks->member_of(item, value_set));
}

bool Machine::conforms_to(const Item& item, std::string_view profile) {
    constexpr std::string_view kBase = "http://hl7.org/fhir/StructureDefinition/";
    if (profile.starts_with(kBase)) {
        const schema::Type type = schema::find_type(profile.substr(kBase.size()));
        if (type && type.kind() != schema::TypeKind::backbone) {
            return push(Item::boolean(item.is_element() && item.type().is_a(type)));
        }
    }
    const Hooks* const hooks = environment_->hooks;
    if (hooks == nullptr || !hooks->conforms_to) {
        return fail("conformsTo() does not know the profile " +
                    std::string(profile.substr(0, 200)));
    }
    return push_answer(hooks->conforms_to(item, profile));
}

bool Machine::push_answer(Result<std::optional<bool>> answer) {
    if (!answer) {
        return fail(std::move(answer.error()));
    }
    undecided_ = undecided_ || !*answer;
    return !*answer || push(Item::boolean(**answer));
}

}  // namespace annals::fhirpath
