#include "core/validation/terminology.h"

#include "core/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace annals::validation {

using core::Canonical;
using core::split_canonical;

namespace {

constexpr std::size_t kConceptsMax = 200'000;
constexpr std::size_t kValueSetDepthMax = 16;
constexpr std::string_view kSnomed = "http://snomed.info/sct";

}  // namespace

/// The codes of a CodeSystem, with the code that each stands below.
class CodeSystemContent {
  public:
    explicit CodeSystemContent(Definition definition) : definition_(std::move(definition)) {
        const json::Value root = definition_->root();
        complete_ = root["content"].equals("complete") && root["concept"];
        ignores_case_ = root["caseSensitive"].raw() == "false";
        add(root["concept"], {}, 0);
    }

    bool is_complete() const noexcept { return complete_; }

    bool contains(std::string_view code) const { return concepts_.contains(key(code)); }

    /// Is `display` one of the names of `code`, whatever its case? Also if it has none, or isn't known.
    bool names(std::string_view code, std::string_view display) const {
        const auto found = concepts_.find(key(code));
        if (found == concepts_.end() || !found->second.definition["display"]) {
            return true;
        }
        const json::Value definition = found->second.definition;
        const std::string wanted = lowered(display);
        if (lowered(definition["display"].string()) == wanted) {
            return true;
        }
        for (const json::Value designation : definition["designation"].elements()) {
            if (lowered(designation["value"].string()) == wanted) {
                return true;
            }
        }
        return false;
    }

    /// Is `code` below `ancestor`, or the same?
    bool is_below(std::string_view code, std::string_view ancestor) const {
        std::string at = key(code);
        const std::string top = key(ancestor);
        for (std::size_t i = 0; i < kJsonDepthMax && !at.empty(); ++i) {
            if (at == top) {
                return true;
            }
            const auto found = concepts_.find(at);
            if (found == concepts_.end()) {
                return false;
            }
            at = found->second.parent;
        }
        return false;
    }

  private:
    struct Concept {
        std::string parent;
        json::Value definition;
    };

    static std::string lowered(std::string_view text) {
        std::string lower(text);
        std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
            return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
        });
        return lower;
    }

    std::string key(std::string_view code) const {
        return ignores_case_ ? lowered(code) : std::string(code);
    }

    void add(json::Value concepts, const std::string& parent, std::size_t depth) {
        for (const json::Value item : concepts.elements()) {
            if (concepts_.size() >= kConceptsMax || depth > kJsonDepthMax) {
                complete_ = false;
                return;
            }
            const std::string code = key(item["code"].string());
            concepts_.emplace(code, Concept{parent, item});
            add(item["concept"], code, depth + 1);
        }
    }

    Definition definition_;
    std::unordered_map<std::string, Concept> concepts_;
    bool complete_ = false;
    bool ignores_case_ = false;
};

namespace {

constexpr std::size_t kContentsMax = 128;  // code systems that a thread keeps

/// The content of a CodeSystem; made once, as long as the thread keeps it.
std::shared_ptr<const CodeSystemContent> content_of(const Definition& definition) {
    thread_local std::unordered_map<const json::Document*, std::shared_ptr<const CodeSystemContent>>
        kept;  // each keeps its document, so that no other can be at its place
    auto& content = kept[definition.get()];
    if (!content) {
        auto made = std::make_shared<const CodeSystemContent>(definition);
        if (kept.size() > kContentsMax) {
            kept.clear();
        }
        kept[definition.get()] = made;
        return made;
    }
    return content;
}

/// The code system's content if it is known; null otherwise.
std::shared_ptr<const CodeSystemContent> content_of(Context& context, std::string_view system,
                                                    std::string_view version) {
    std::string key(system);
    key.append("|").append(version);
    const auto known = context.code_systems.find(key);
    if (known != context.code_systems.end()) {
        return known->second;
    }
    std::shared_ptr<const CodeSystemContent> content;
    if (const Definition definition = context.source.find("CodeSystem", system, version)) {
        content = content_of(definition);
    }
    context.code_systems.emplace(std::move(key), content);
    return content;
}

std::optional<bool> either(std::optional<bool> a, std::optional<bool> b) {
    if (a == true || b == true) {
        return true;
    }
    return a && b ? std::optional(false) : std::nullopt;
}

std::optional<bool> both(std::optional<bool> a, std::optional<bool> b) {
    if (a == false || b == false) {
        return false;
    }
    return a && b ? std::optional(true) : std::nullopt;
}

bool in_expansion(json::Value contains, const Code& code, std::size_t depth) {
    if (depth > kJsonDepthMax) {
        return false;
    }
    for (const json::Value item : contains.elements()) {
        const bool same =
            item["code"].equals(code.code) && (!code.system || item["system"].equals(*code.system));
        if ((same && item["abstract"].raw() != "true") ||
            in_expansion(item["contains"], code, depth + 1)) {
            return true;
        }
    }
    return false;
}

std::optional<bool> member_of(Context& context, std::string_view value_set, const Code& code,
                              std::size_t depth);

std::optional<bool> passes(const CodeSystemContent& content, json::Value filter, const Code& code) {
    const std::string op = filter["op"].string();
    const std::string value = filter["value"].string();
    const std::string property = filter["property"].string();
    if (!content.is_complete() || property != "concept") {
        return std::nullopt;
    }
    if (op == "is-a") {
        return content.is_below(code.code, value);
    }
    if (op == "descendent-of") {
        return code.code != value && content.is_below(code.code, value);
    }
    if (op == "is-not-a") {
        return content.contains(code.code) && !content.is_below(code.code, value);
    }
    return std::nullopt;
}

std::optional<bool> included(Context& context, json::Value include, const Code& code,
                             std::size_t depth) {
    const std::string system = include["system"].string();
    if (!system.empty() && code.system && *code.system != system) {
        return false;
    }
    std::optional<bool> found = true;
    for (const json::Value value_set : include["valueSet"].elements()) {
        found = both(found, member_of(context, value_set.string(), code, depth + 1));
    }
    if (system.empty()) {
        return found;
    }
    if (const json::Value concepts = include["concept"]) {
        for (const json::Value item : concepts.elements()) {
            if (item["code"].equals(code.code)) {
                return found;
            }
        }
        return false;
    }
    const auto content = content_of(context, system, include["version"].string());
    if (!content) {
        return both(found, std::nullopt);
    }
    if (content->contains(code.code)) {
        for (const json::Value filter : include["filter"].elements()) {
            found = both(found, passes(*content, filter, code));
        }
        return found;
    }
    return content->is_complete() ? std::optional(false) : both(found, std::nullopt);
}

std::optional<bool> member_of(Context& context, std::string_view value_set, const Code& code,
                              std::size_t depth) {
    const Canonical name = split_canonical(value_set);
    if (const schema::ValueSet own = schema::find_value_set(name.url); own && own.enumerated()) {
        return code.system ? own.contains(code.code, *code.system) : own.contains(code.code);
    }
    if (depth > kValueSetDepthMax || !context.spend()) {
        return std::nullopt;
    }
    const Definition definition = context.source.find("ValueSet", name.url, name.version);
    if (!definition) {
        return std::nullopt;
    }
    const json::Value root = definition->root();
    const json::Value compose = root["compose"];
    if (!compose) {
        const json::Value expansion = root["expansion"];
        return expansion ? std::optional(in_expansion(expansion["contains"], code, 0))
                         : std::nullopt;
    }
    std::optional<bool> found = false;
    for (const json::Value include : compose["include"].elements()) {
        context.spend(include["concept"].size());
        found = either(found, included(context, include, code, depth));
    }
    if (found == false) {
        return false;
    }
    for (const json::Value exclude : compose["exclude"].elements()) {
        const std::optional<bool> out = included(context, exclude, code, depth);
        found = both(found, out ? std::optional(!*out) : std::nullopt);
    }
    return found;
}

/// A value set of units is about quantities, also where it is bound to a choice that may be a concept.
bool of_units_only(Context& context, std::string_view value_set) {
    const Canonical name = split_canonical(value_set);
    const Definition definition = context.source.find("ValueSet", name.url, name.version);
    if (!definition) {
        return false;
    }
    const json::Value includes = definition->root()["compose"]["include"];
    for (const json::Value include : includes.elements()) {
        if (!include["system"].equals("http://unitsofmeasure.org")) {
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

/// Is the code in? A Coding without a system is in no value set that can be told.
std::optional<bool> coding_in(Context& context, std::string_view value_set, json::Value coding) {
    const Code code = code_of(coding);
    if (!code.system) {
        const Code other{std::string(), code.code, {}};
        return member_of(context, value_set, other, 0);
    }
    return member_of(context, value_set, code, 0);
}

// The check digit of Verhoeff's method, by which SNOMED CT guards its identifiers.
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

bool is_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_snomed_code(std::string_view code) {
    if (is_digits(code)) {
        return code.size() >= 6 && code.size() <= 18 && code.front() != '0' &&
               has_check_digit(code);
    }
    // A postcoordinated expression: only its beginning is looked at.
    const std::size_t end = code.find_first_not_of("0123456789");
    const char next = end == std::string_view::npos ? '\0' : code[end];
    if (end == 0 || end == std::string_view::npos) {
        return code.starts_with("===") || code.starts_with("<<<") || code.starts_with('(');
    }
    return next == ':' || next == '+' || next == ' ' || next == '|' || next == '{';
}

std::optional<bool> member_of(Context& context, std::string_view value_set, const Code& code) {
    return member_of(context, value_set, code, 0);
}

std::optional<bool> value_in(Context& context, const Spot& spot, std::string_view value_set) {
    const json::Value value = spot.value();
    if (!value) {
        return std::nullopt;
    }
    if (value.is_string()) {
        return member_of(context, value_set, Code{std::nullopt, value.string(), {}}, 0);
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
    if (value_set.empty() || !spot.value()) {
        return;
    }
    const bool is_required = strength == schema::Strength::required;
    const bool is_complex = spot.value().is_object();
    if (is_complex && !is_required && !spot.value()["coding"] && !spot.value()["code"]) {
        return;  // extensible: text alone will do
    }
    if (spot.type.is_a(schema::find_type("Quantity")) && !spot.value()["code"]) {
        return;  // a quantity need not say its unit in code
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

void check_coding(Context& context, const Spot& spot) {
    const json::Value value = spot.value();
    if (!value["code"].is_string() || !value["system"].is_string()) {
        return;
    }
    const Code code = code_of(value);
    if (*code.system == kSnomed) {
        if (!is_snomed_code(code.code)) {
            context.tell_unknown_code(spot.node(),
                                      fmt::format("'{}' is no code of SNOMED CT", code.code));
        }
        return;
    }
    if (code.system->find("/ValueSet/") != std::string::npos) {
        const Definition value_set = context.source.find("ValueSet", *code.system, {});
        if (value_set || schema::find_value_set(*code.system)) {
            context.error(
                "invalid", spot,
                fmt::format("The system is a value set, and no code system: {}", *code.system));
        }
        return;
    }
    const auto content = content_of(context, *code.system, value["version"].string());
    if (content && content->is_complete() && !content->contains(code.code)) {
        context.tell_unknown_code(spot.node(),
                                  fmt::format("The code system has no code {}", described(code)));
    } else if (content && !code.display.empty() && !content->names(code.code, code.display)) {
        context.tell(context.options.refuse_wrong_displays ? Severity::error : Severity::warning,
                     "invalid", spot,
                     fmt::format("The code {} is not called '{}'", described(code), code.display));
    }
}

}  // namespace annals::validation
