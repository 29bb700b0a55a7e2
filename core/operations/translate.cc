#include "core/operations/translate.h"

#include "core/canonical.h"
#include "core/definitions.h"
#include "core/operations/coded_input.h"
#include "core/operations/parameters_writer.h"
#include "core/operations/terminology.h"
#include "core/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace annals::core {

namespace {

using terminology::Session;

constexpr std::size_t kMapsMax = 8;  // that one leads to, one after the other

/// Maps that are looked at where none is named, and what one costs in steps besides what stands in it.
constexpr std::size_t kMapsLookedAtMax = 1000;
constexpr std::uint64_t kStepsPerMap = 100;
constexpr std::size_t kBytesPerStep = 64;

struct Dependency {
    std::string element;
    std::vector<GivenCode> codings;
    std::string text;  ///< of a concept without codings
};

struct TranslateAsked {
    std::optional<Meant> meant;
    std::vector<std::string> maps;  ///< urls of those that may do where none is meant
    std::vector<GivenCode> codes;
    std::string source;         ///< value set; empty: any
    std::string target;         ///< value set; empty: any
    std::string target_system;  ///< empty: any
    std::vector<Dependency> dependencies;
    bool reverse = false;
};

/// All maps of which one may say something of these codes. Errors: required (a code that could be of any system),
/// answer_too_costly.
Result<std::vector<std::string>> maps_known(const Service& service,
                                            const std::vector<GivenCode>& codes) {
    if (!std::all_of(codes.begin(), codes.end(),
                     [](const GivenCode& code) { return code.system && !code.system->empty(); })) {
        return Error{Errc::required,
                     "One of url and conceptMap is required, or the system of each code", ""};
    }
    std::vector<std::string> maps =
        service.definitions().canonicals("ConceptMap", kMapsLookedAtMax + 1);
    if (maps.size() > kMapsLookedAtMax) {
        return Error{
            Errc::answer_too_costly,
            fmt::format("More than {} concept maps are known here: name one", kMapsLookedAtMax),
            ""};
    }
    return maps;
}

Result<std::shared_ptr<const TranslateAsked>> read_translate_asked(const Service& service,
                                                                   const Request& request,
                                                                   const Target& target) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only_beside_resource(
        {"url", "conceptMap", "conceptMapVersion", "code", "system", "version", "source", "coding",
         "codeableConcept", "target", "targetsystem", "dependency", "reverse"}));
    auto asked = std::make_shared<TranslateAsked>();
    ANNALS_TRY(asked->meant,
               read_meant(service, target, input, "conceptMap", "url", "conceptMapVersion"));
    ANNALS_TRY(asked->codes, read_codes(input));
    if (!asked->meant) {
        ANNALS_TRY(asked->maps, maps_known(service, asked->codes));
    }
    for (const auto& [name, into] :
         {std::pair("source", &asked->source), std::pair("target", &asked->target),
          std::pair("targetsystem", &asked->target_system)}) {
        ANNALS_TRY(auto text, input.text(name));
        *into = text.value_or("");
    }
    ANNALS_TRY(const auto reverse, input.boolean("reverse"));
    asked->reverse = reverse.value_or(false);
    for (const json::Value part : input.parts("dependency")) {
        Dependency dependency;
        dependency.element = text_of(part_of(part, "element")).value_or("");
        const json::Value concept_value = value_of(part_of(part, "concept"));
        for (const json::Value coding : concept_value["coding"].elements()) {
            dependency.codings.push_back(given_coding(coding));
        }
        dependency.text = concept_value["text"].string();
        if (dependency.element.empty() || !concept_value) {
            return Error{Errc::required, "A dependency has an element and a concept", ""};
        }
        asked->dependencies.push_back(std::move(dependency));
    }
    return std::shared_ptr<const TranslateAsked>(asked);
}

/// Does what was sent fulfil all that a target depends on?
bool fulfils(const TranslateAsked& asked, json::Value depends_on) {
    for (const json::Value one : depends_on.elements()) {
        const auto fits = [&](const Dependency& dependency) {
            return one["property"].equals(dependency.element) &&
                   (std::any_of(dependency.codings.begin(), dependency.codings.end(),
                                [&](const GivenCode& coding) {
                                    return one["value"].equals(coding.code) &&
                                           (!one["system"] || !coding.system ||
                                            one["system"].equals(*coding.system));
                                }) ||
                    (!dependency.text.empty() && one["value"].equals(dependency.text)));
        };
        if (std::none_of(asked.dependencies.begin(), asked.dependencies.end(), fits)) {
            return false;
        }
    }
    return true;
}

/// A version counts where both name one.
bool is_same_set(std::string_view a, std::string_view b) {
    const Canonical own = split_canonical(a);
    const Canonical wanted = split_canonical(b);
    return own.url == wanted.url &&
           (own.version.empty() || wanted.version.empty() || own.version == wanted.version);
}

std::string_view reversed(std::string_view equivalence) {
    return equivalence == "wider"         ? "narrower"
           : equivalence == "narrower"    ? "wider"
           : equivalence == "subsumes"    ? "specializes"
           : equivalence == "specializes" ? "subsumes"
                                          : equivalence;
}

std::string coding_json(json::Value system, json::Value version, json::Value code,
                        json::Value display) {
    std::string out = "{";
    for (const auto& [name, value] : {std::pair("system", system), std::pair("version", version),
                                      std::pair("code", code), std::pair("display", display)}) {
        if (value.is_string()) {
            out.append(out.size() > 1 ? "," : "").append("\"").append(name).append("\":");
            out.append(value.raw());
        }
    }
    return out + "}";
}

class Translation {
  public:
    Translation(Session& session, const TranslateAsked& asked) : session_(session), asked_(asked) {}

    Result<void> use(const terminology::Definition& map);

    /// The same of a map that nobody named; what it leads to counts anew.
    Result<void> try_map(const terminology::Definition& map) {
        depth_ = 0;
        return use(map);
    }

    std::string answer(std::string_view whose) const;

  private:
    Result<bool> by_group(json::Value group, const GivenCode& code);
    Result<void> by_unmapped(json::Value group, const GivenCode& code);
    bool is_asked(json::Value group) const;
    bool add(std::string_view equivalence, const std::string& coding, json::Value products);

    Session& session_;
    const TranslateAsked& asked_;
    std::vector<const json::Document*> used_;  // what one map leads to may be another one of them
    std::string map_;                          // url of the map in use
    std::size_t depth_ = 0;
    ParametersWriter matches_;
    bool found_ = false;
};

bool Translation::add(std::string_view equivalence, const std::string& coding,
                      json::Value products) {
    ParametersWriter parts;
    parts.add_text("equivalence", "valueCode", equivalence);
    if (coding != "{}") {
        parts.add("concept", "valueCoding", coding);
    }
    for (const json::Value product : products.elements()) {
        ParametersWriter own;
        if (product["property"].is_string()) {
            own.add("element", "valueUri", product["property"].raw());
        }
        own.add("concept", "valueCoding",
                coding_json(product["system"], {}, product["value"], product["display"]));
        parts.add_parts("product", own);
    }
    if (!map_.empty()) {
        parts.add_text("source", "valueUri", map_);
    }
    matches_.add_parts("match", parts);
    const bool matches = equivalence != "unmatched" && equivalence != "disjoint";
    found_ = found_ || matches;
    return matches;
}

bool Translation::is_asked(json::Value group) const {
    const json::Value to = group[asked_.reverse ? "source" : "target"];
    return asked_.target_system.empty() || !to || to.equals(asked_.target_system);
}

// Whether the group has the code.
Result<bool> Translation::by_group(json::Value group, const GivenCode& code) {
    const json::Value from = group[asked_.reverse ? "target" : "source"];
    const json::Value from_version = group[asked_.reverse ? "targetVersion" : "sourceVersion"];
    if ((!asked_.meant && !from) || (from && code.system && !from.equals(*code.system)) ||
        (from_version && !code.version.empty() && !from_version.equals(code.version))) {
        return true;  // it isn't the group's to say anything of it
    }
    bool has = false;
    for (const json::Value element : group["element"].elements()) {
        ANNALS_TRY_VOID(session_.effort().spend(2));
        if (!asked_.reverse && !element["code"].equals(code.code)) {
            continue;
        }
        for (const json::Value target : element["target"].elements()) {
            ANNALS_TRY_VOID(session_.effort().spend(2 + target["dependsOn"].size() *
                                                            (1 + asked_.dependencies.size())));
            if ((asked_.reverse && !target["code"].equals(code.code)) ||
                !fulfils(asked_, target["dependsOn"])) {
                continue;
            }
            has = true;
            if (!is_asked(group)) {
                continue;
            }
            const std::string equivalence = target["equivalence"].string();
            if (asked_.reverse) {
                add(reversed(equivalence),
                    coding_json(group["source"], group["sourceVersion"], element["code"],
                                element["display"]),
                    {});
            } else {
                add(equivalence,
                    target["code"] ? coding_json(group["target"], group["targetVersion"],
                                                 target["code"], target["display"])
                                   : "{}",
                    target["product"]);
            }
        }
        has = has || !asked_.reverse;
    }
    return has;
}

Result<void> Translation::by_unmapped(json::Value group, const GivenCode& code) {
    const json::Value unmapped = group["unmapped"];
    const std::string mode = unmapped["mode"].string();
    if (mode == "other-map") {
        const std::string canonical = unmapped["url"].string();
        const Canonical named = split_canonical(canonical);
        ANNALS_TRY(const auto other, session_.find("ConceptMap", named.url, named.version));
        if (other != nullptr && ++depth_ <= kMapsMax) {
            ANNALS_TRY_VOID(use(other));
        }
    } else if (is_asked(group) && mode == "fixed") {
        add("inexact",
            coding_json(group["target"], group["targetVersion"], unmapped["code"],
                        unmapped["display"]),
            {});
    } else if (is_asked(group) && mode == "provided") {
        std::string coding = coding_json(group["target"], group["targetVersion"], {}, {});
        coding.pop_back();
        coding.append(coding.size() > 1 ? "," : "").append(R"("code":)");
        coding.append(json::quoted(code.code)).append("}");
        add("equal", coding, {});
    }
    return {};
}

Result<void> Translation::use(const terminology::Definition& map) {
    const json::Value root = map->root();
    const auto is = [&](std::string_view uri, std::string_view canonical,
                        const std::string& wanted) {
        const json::Value own = root[uri] ? root[uri] : root[canonical];
        return wanted.empty() || !own || is_same_set(own.string(), wanted);
    };
    if (std::find(used_.begin(), used_.end(), map.get()) != used_.end()) {
        return {};
    }
    if (!is("sourceUri", "sourceCanonical", asked_.reverse ? asked_.target : asked_.source) ||
        !is("targetUri", "targetCanonical", asked_.reverse ? asked_.source : asked_.target)) {
        return {};
    }
    used_.push_back(map.get());
    map_ = root["url"].string();
    for (const GivenCode& code : asked_.codes) {
        for (const json::Value group : root["group"].elements()) {
            ANNALS_TRY(const bool has, by_group(group, code));
            if (!has && !asked_.reverse) {
                ANNALS_TRY_VOID(by_unmapped(group, code));
            }
        }
    }
    return {};
}

std::string Translation::answer(std::string_view whose) const {
    ParametersWriter out;
    out.add_flag("result", found_);
    if (!found_) {
        out.add_text("message", "valueString",
                     fmt::format("{} has no translation of {}", whose.substr(0, 300),
                                 described(asked_.codes.front())));
    }
    out.append(matches_);
    return out.resource();
}

Result<std::string> answer(Session& session, const TranslateAsked& asked) {
    Translation translation(session, asked);
    if (asked.meant) {
        ANNALS_TRY(const auto map, find_meant(session, *asked.meant, "ConceptMap"));
        ANNALS_TRY_VOID(translation.use(map));
        return translation.answer("The concept map " + map->root()["url"].string());
    }
    for (const std::string& url : asked.maps) {
        ANNALS_TRY(const auto map, session.find("ConceptMap", url, ""));
        if (map == nullptr) {
            continue;  // it went a moment ago
        }
        ANNALS_TRY_VOID(session.effort().spend(kStepsPerMap + map->text().size() / kBytesPerStep));
        ANNALS_TRY_VOID(translation.try_map(map));
    }
    return translation.answer("What is known here, of these value sets and systems,");
}

}  // namespace

asio::awaitable<Response> translate_operation(const Service& service, const Request& request,
                                              const Target& target) {
    co_await fetch_definitions(service, request, target);
    Response response = co_await answer_asked(
        service, request, read_translate_asked(service, request, target), answer);
    co_return response;
}

}  // namespace annals::core
