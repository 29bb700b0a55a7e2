#include "core/validation/walk.h"

#include "codec/schema/structure.h"
#include "core/validation/profile.h"
#include "core/validation/terminology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace annals::validation {

namespace {

// ele-1: check_content(). The shape of contained resources: the structure check. ext-1, ref-1, dom-3, txt-1, txt-2:
// data_types.cc and references.cc, at lower cost. que-7 and que-12 don't express what they mean: resource_rules.cc. dom-6 and
// con-3 are best practice according to R4, not rules.
constexpr auto kElsewhere =
    std::to_array<std::string_view>({"ele-1", "ext-1", "ref-1", "dom-2", "dom-3", "dom-4", "dom-5",
                                     "dom-6", "txt-1", "txt-2", "que-7", "que-12", "con-3"});

/// R4's expression as it is meant. Those corrected here are about the value of an optional element, but empty, hence not true, if
/// it is absent. HL7's validator corrects the same ones.
std::string_view corrected(std::string_view expression) {
    if (expression == "fullUrl.contains('/_history/').not()") {  // bdl-8
        return "fullUrl.hasValue() implies fullUrl.contains('/_history/').not()";
    }
    if (expression == "name.matches('[A-Z]([A-Za-z0-9_]){0,254}')") {  // inv-0, and those like it
        return "name.exists() implies name.matches('[A-Z]([A-Za-z0-9_]){0,254}')";
    }
    if (expression == "probability is decimal implies (probability as decimal) <= 100") {  // ras-2
        return "probability.exists() implies "
               "(probability is decimal implies (probability as decimal) <= 100)";
    }
    return expression;
}

using MaybeRule = std::optional<fhirpath::Expression>;

/// R4's own invariants by their indexes, parsed once; none for those that other code checks, or that are only advice.
const std::vector<MaybeRule>& rules() {
    static const std::vector<MaybeRule> all = [] {
        std::vector<MaybeRule> made;
        const auto add = [&made](schema::Invariant invariant) {
            if (invariant.index() >= made.size()) {
                made.resize(invariant.index() + std::size_t{1});
            }
            MaybeRule& rule = made[invariant.index()];
            const bool elsewhere = std::find(kElsewhere.begin(), kElsewhere.end(),
                                             invariant.key()) != kElsewhere.end();
            if (rule || elsewhere) {
                return;
            }
            if (Result<fhirpath::Expression> parsed =
                    fhirpath::Expression::parse(corrected(invariant.expression()))) {
                rule = *std::move(parsed);
            }
        };
        for (const schema::Type type : schema::types()) {
            for (const schema::Invariant invariant : type.invariants()) {
                add(invariant);
            }
            for (const schema::Element element : type.elements()) {
                for (const schema::Invariant invariant : element.invariants()) {
                    add(invariant);
                }
            }
        }
        return made;
    }();
    return all;
}

void check_invariants(Context& context, const Frame& frame, const Spot& spot,
                      schema::List<schema::Invariant> invariants) {
    for (const schema::Invariant invariant : invariants) {
        const MaybeRule& rule = rules()[invariant.index()];
        if (!rule || !context.spend()) {
            continue;
        }
        if (holds(context, frame, spot, *rule) == false) {
            context.tell(invariant.is_error() ? Severity::error : Severity::warning, "invariant",
                         spot,
                         fmt::format("The rule {} is violated: {}", invariant.key(),
                                     invariant.expression()));
        }
    }
}

/// ele-1, for an element with only an id. Empty elements, References and Extensions are checked elsewhere.
void check_content(Context& context, const Spot& spot) {
    const json::Value object = spot.object();
    const bool has_value = spot.value() && !spot.value().is_object();
    if (!has_value && object.size() == 1 && object["id"] && spot.type != schema::reference_type() &&
        spot.type != schema::extension_type()) {
        context.error(
            "invariant", spot,
            "The rule ele-1 is violated: an element must have a value, or more than an id");
    }
}

/// R4's own bindings with a maximum value set, which the schema does not have: those to languages, and those of the types Age,
/// Distance and Duration, whose rules (age-1, dis-1, drt-1) say so in words only. That of Expression.language is not available.
void check_max_bindings(Context& context, const Spot& spot) {
    static const schema::Type age = schema::find_type("Age");
    static const schema::Type distance = schema::find_type("Distance");
    static const schema::Type duration = schema::find_type("Duration");
    const schema::Strength strength = spot.element.strength();
    if (strength == schema::Strength::preferred &&
        spot.element.value_set().url() == "http://hl7.org/fhir/ValueSet/languages") {
        check_max_binding(context, spot, strength, "http://hl7.org/fhir/ValueSet/all-languages");
    } else if (spot.type == age || spot.type == duration) {
        check_max_binding(context, spot, schema::Strength::extensible,
                          "http://hl7.org/fhir/ValueSet/all-time-units");
    } else if (spot.type == distance) {
        check_max_binding(context, spot, schema::Strength::extensible,
                          "http://hl7.org/fhir/ValueSet/all-distance-units");
    }
}

void check_element(Context& context, const Frame& frame, const Spot& spot, const Spot& parent);

void check_children(Context& context, const Frame& frame, const Spot& spot) {
    for_each_child(spot, [&](const Spot& child) {
        context.path.push_back(child.element.name());
        check_element(context, frame, child, spot);
        context.path.pop_back();
    });
}

void check_element(Context& context, const Frame& frame, const Spot& spot, const Spot& parent) {
    if (!spot.type || !context.spend()) {
        return;
    }
    if (spot.type.is_resource()) {
        check_resource(context, frame_of(frame, spot, parent));
        return;
    }
    if (context.options.references_alone) {
        if (spot.type == schema::reference_type()) {
            check_reference(context, frame, spot);
        }
        if (spot.object()) {
            check_children(context, frame, spot);
        }
        return;
    }
    check_content(context, spot);
    check_invariants(context, frame, spot, spot.type.invariants());
    check_invariants(context, frame, spot, spot.element.invariants());
    check_binding(context, spot, spot.element.strength(), spot.element.value_set().url());
    check_max_bindings(context, spot);
    check_data_type(context, spot);
    if (spot.type == schema::extension_type()) {
        check_extension(context, frame, spot, parent);
    } else if (spot.type == schema::reference_type()) {
        check_reference(context, frame, spot);
    }
    if (spot.object()) {
        check_children(context, frame, spot);
    }
}

/// Checks everything that applies to a resource and its content.
void check_whole(Context& context, const Frame& frame) {
    const Spot& spot = frame.resource;
    check_invariants(context, frame, spot, spot.type.invariants());
    check_children(context, frame, spot);
    check_contained(context, frame);
    check_resource_rules(context, frame);
    if (spot.type.name() == "Bundle") {
        check_bundle(context, frame);
    }
    const Spot meta = child(spot, "meta");
    std::vector<Spot> profiles;
    collect(meta, "profile", profiles);
    for (const Spot& profile : profiles) {
        const std::string url = profile.value().string();
        if (!url.empty()) {
            check_profile(context, frame, spot, url, Severity::warning);
        }
    }
}

/// memberOf() in a rule.
std::optional<bool> is_member(Context& context, const fhirpath::Item& item,
                              std::string_view value_set) {
    if (item.kind() == fhirpath::Item::Kind::string) {
        return member_of(context, value_set, Code{std::nullopt, std::string(item.as_string()), {}});
    }
    return item.value() ? value_in(context, Spot{item.place(), item.type(), {}}, value_set)
                        : std::nullopt;
}

/// resolve() in a rule, beyond the rule's own resource. If the target isn't available, its type if the reference shows it.
std::optional<fhirpath::Item> referred_to(Context& context, std::string_view reference) {
    const Target target = resolve(context, *context.rule_frame, reference);
    if (target.resource.type) {
        return target.resource.item();
    }
    context.rule_leads_away = true;
    return target.type ? std::optional(fhirpath::Item::of_type(target.type)) : std::nullopt;
}

/// Whether all structural faults are missing or unknown elements or invalid values of the right JSON kind; further checks rely
/// on the kinds.
bool has_its_kinds(json::Value resource) {
    const Result<void> sound = schema::check_structure(resource, {.as_stored = true});
    if (sound) {
        return true;
    }
    // The content of a resource without a type has not been checked.
    const auto keeps_them = [](const Error& fault) {
        return (fault.code == Errc::required || fault.code == Errc::value) &&
               !fault.expression.ends_with("resourceType");
    };
    const std::vector<Error>& others = sound.error().others;
    return others.size() + 1 < schema::kFaultsMax && keeps_them(sound.error()) &&
           std::all_of(others.begin(), others.end(), keeps_them);
}

}  // namespace

std::optional<bool> holds(Context& context, const Frame& frame, const Spot& spot,
                          const fhirpath::Expression& rule) {
    fhirpath::Environment environment;
    environment.resource = frame.resource.item();
    environment.root_resource = frame.container.item();
    environment.context = spot.item();
    environment.hooks = &context.hooks;
    environment.limits.steps = std::min<std::uint64_t>(context.steps_left + 1, 2'000'000);
    context.rule_frame = &frame;
    context.rule_leads_away = false;
    const Result<std::optional<bool>> result =
        context.evaluator.evaluate_boolean(rule, spot.item(), environment);
    context.spend(context.evaluator.steps());
    if (!result) {
        return std::nullopt;
    }
    // If a reference leads out of the document, it can't be told whether the rule is broken.
    const bool is_true = result->value_or(false);
    const bool is_open = context.rule_leads_away || (!*result && context.evaluator.is_undecided());
    return is_open && !is_true ? std::nullopt : std::optional(is_true);
}

void check_resource(Context& context, const Frame& frame) {
    if (!frame.resource.type || context.depth > kJsonDepthMax || !context.spend()) {
        return;
    }
    ++context.depth;
    std::vector<std::string_view> around = std::exchange(context.path, {});
    if (context.options.references_alone) {
        check_children(context, frame, frame.resource);
    } else {
        check_whole(context, frame);
    }
    context.path = std::move(around);
    --context.depth;
}

Options strict_options(const Source& source) {
    constexpr std::string_view kOneOfR4 =
        "http://hl7.org/fhir/StructureDefinition/data-absent-reason";
    Options options;
    options.refuse_unknown_elements = true;
    options.refuse_wrong_displays = true;
    options.refuse_unknown_extensions =
        find_definition(source, "StructureDefinition", kOneOfR4, {}) != nullptr;
    return options;
}

Report validate(json::Value resource, const Source& source, const Options& options) {
    Report report;
    if (!options.structure_is_checked) {
        schema::StructureRules structure;
        structure.allow_unknown_elements = !options.refuse_unknown_elements;
        structure.as_stored = true;
        if (Result<void> sound = schema::check_structure(resource, structure); !sound) {
            report.valid = false;
            const auto tell = [&](const Error& error) {
                if (report.issues.size() < options.issues_max) {
                    report.issues.push_back({"error", core::meaning_of(error.code).issue_code,
                                             error.detail, error.expression});
                }
            };
            tell(sound.error());
            std::for_each(sound.error().others.begin(), sound.error().others.end(), tell);
            if (!has_its_kinds(resource)) {
                return report;
            }
        }
    }
    thread_local fhirpath::Evaluator evaluator;
    Context context{source, options, report, resource, evaluator};
    context.steps_left = options.steps;
    context.hooks.member_of = [&context](const fhirpath::Item& item, std::string_view value_set)
        -> Result<std::optional<bool>> { return is_member(context, item, value_set); };
    context.hooks.resolve =
        [&context](std::string_view reference) -> Result<std::optional<fhirpath::Item>> {
        return referred_to(context, reference);
    };
    Frame frame;
    frame.resource = resource_spot(resource);
    frame.container = frame.resource;
    check_resource(context, frame);
    for (const std::string& profile : options.profiles) {
        check_profile(context, frame, frame.resource, profile, Severity::error);
    }
    return report;
}

}  // namespace annals::validation
