#include "core/operations/translate.h"

#include "core/canonical.h"
#include "core/definitions.h"
#include "core/operations/coded_input.h"
#include "core/operations/parameters_writer.h"
#include "core/operations/terminology.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace annals::core {

namespace {

using terminology::Session;

constexpr std::size_t kMapsMax = 8;  // in a chain of maps

/// The most maps tried if none is named, and the steps that each costs in addition to its contents.
constexpr std::size_t kMapsLookedAtMax = 1000;
constexpr std::uint64_t kStepsPerMap = 100;
constexpr std::size_t kMapBytesPerStep = 64;

struct Dependency {
    std::string element;
    std::vector<GivenCode> codings;
    std::string text;  ///< of a concept without codings
};

struct TranslateAsked {
    std::optional<Meant> meant;
    std::vector<std::string> maps;  ///< urls of candidates if none is meant
    std::vector<GivenCode> codes;
    std::string source;         ///< value set; empty: any
    std::string target;         ///< value set; empty: any
    std::string target_system;  ///< empty: any
    std::vector<Dependency> dependencies;
    std::size_t dependency_codes = 0;  ///< codings and texts, in total
    bool reverse = false;
};

/// All maps that may map these codes. Errors: required (a code that could be of any system), answer_too_costly.
Result<std::vector<std::string>> maps_known(const Service& service,
                                            const std::vector<GivenCode>& codes) {
    if (!std::all_of(codes.begin(), codes.end(),
                     [](const GivenCode& code) { return code.system && !code.system->empty(); })) {
        return Error{Errc::required,
                     "One of url and conceptMap is required, or the system of each code"};
    }
    std::vector<std::string> maps =
        service.definitions().canonicals("ConceptMap", kMapsLookedAtMax + 1);
    if (maps.size() > kMapsLookedAtMax) {
        return Error{
            Errc::answer_too_costly,
            fmt::format("There are more than {} concept maps: name one", kMapsLookedAtMax)};
    }
    return maps;
}

Result<TranslateAsked> read_translate_asked(const Service& service, const Request& request,
                                            const Target& target) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only_beside_resource(
        {"url", "conceptMap", "conceptMapVersion", "code", "system", "version", "source", "coding",
         "codeableConcept", "target", "targetsystem", "dependency", "reverse"}));
    TranslateAsked asked;
    ANNALS_TRY(asked.meant,
               read_meant(service, target, input, "conceptMap", "url", "conceptMapVersion"));
    ANNALS_TRY(asked.codes, read_codes(input));
    if (!asked.meant) {
        ANNALS_TRY(asked.maps, maps_known(service, asked.codes));
    }
    for (const auto& [name, into] :
         {std::pair("source", &asked.source), std::pair("target", &asked.target),
          std::pair("targetsystem", &asked.target_system)}) {
        ANNALS_TRY(auto text, input.text(name));
        *into = text.value_or("");
    }
    ANNALS_TRY(asked.reverse, input.flag("reverse"));
    ANNALS_TRY(const std::vector<json::Value> dependencies, input.parts("dependency"));
    for (const json::Value part : dependencies) {
        Dependency dependency;
        dependency.element = text_of(part_of(part, "element")).value_or("");
        const json::Value concept_value = value_of(part_of(part, "concept"));
        for (const json::Value coding : concept_value["coding"].elements()) {
            dependency.codings.push_back(given_coding(coding));
        }
        dependency.text = concept_value["text"].string();
        asked.dependency_codes += dependency.codings.size() + 1;
        if (dependency.element.empty() || !concept_value) {
            return Error{Errc::required, "A dependency needs an element and a concept"};
        }
        asked.dependencies.push_back(std::move(dependency));
    }
    return asked;
}

/// Whether the request satisfies all dependencies of a target.
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

/// Versions are compared if both have one.
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

    /// Takes the map's entries for each code, and where it refers to another map, that one's.
    Result<void> use(const terminology::Definition& map) {
        for (const GivenCode& code : asked_.codes) {
            led_to_ = 0;
            ANNALS_TRY_VOID(use_for(map, code));
        }
        return {};
    }

    std::string answer(std::string_view whose) const;

  private:
    Result<void> use_for(const terminology::Definition& map, const GivenCode& code);
    bool is_of_sets(json::Value map) const;
    Result<bool> by_group(json::Value map, json::Value group, const GivenCode& code);
    Result<void> by_unmapped(json::Value map, json::Value group, const GivenCode& code);
    bool is_asked(json::Value group) const;
    Result<void> add(json::Value map, std::string_view equivalence, const std::string& coding,
                     json::Value products);

    Session& session_;
    const TranslateAsked& asked_;
    // Which map was used for which code, because maps can refer to each other.
    std::set<std::pair<const json::Document*, const GivenCode*>> used_;
    std::size_t led_to_ = 0;  // maps, for the current code
    ParametersWriter matches_;
    bool found_ = false;
};

// Errors: answer_too_costly.
Result<void> Translation::add(json::Value map, std::string_view equivalence,
                              const std::string& coding, json::Value products) {
    const std::size_t before = matches_.size();
    matches_.begin_parts("match");
    matches_.add_text("equivalence", "valueCode", equivalence);
    if (coding != "{}") {
        matches_.add("concept", "valueCoding", coding);
    }
    for (const json::Value product : products.elements()) {
        matches_.begin_parts("product");
        if (product["property"].is_string()) {
            matches_.add("element", "valueUri", product["property"].raw());
        }
        matches_.add("concept", "valueCoding",
                     coding_json(product["system"], {}, product["value"], product["display"]));
        matches_.end_parts();
    }
    if (const std::string url = map["url"].string(); !url.empty()) {
        matches_.add_text("source", "valueUri", url);
    }
    matches_.end_parts();
    found_ = found_ || (equivalence != "unmatched" && equivalence != "disjoint");
    return count_written(session_.effort(), before, matches_.size());
}

bool Translation::is_asked(json::Value group) const {
    const json::Value to = group[asked_.reverse ? "source" : "target"];
    return asked_.target_system.empty() || !to || to.equals(asked_.target_system);
}

// Whether the group contains the code.
Result<bool> Translation::by_group(json::Value map, json::Value group, const GivenCode& code) {
    const json::Value from = group[asked_.reverse ? "target" : "source"];
    const json::Value from_version = group[asked_.reverse ? "targetVersion" : "sourceVersion"];
    if ((!asked_.meant && !from) || (from && code.system && !from.equals(*code.system)) ||
        (from_version && !code.version.empty() && !from_version.equals(code.version))) {
        return true;  // this group does not apply to it
    }
    bool has = false;
    for (const json::Value element : group["element"].elements()) {
        ANNALS_TRY_VOID(session_.effort().spend(2));
        if (!asked_.reverse && !element["code"].equals(code.code)) {
            continue;
        }
        for (const json::Value target : element["target"].elements()) {
            ANNALS_TRY_VOID(session_.effort().spend(2 + target["dependsOn"].size() *
                                                            (1 + asked_.dependency_codes)));
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
                ANNALS_TRY_VOID(add(map, reversed(equivalence),
                                    coding_json(group["source"], group["sourceVersion"],
                                                element["code"], element["display"]),
                                    {}));
            } else {
                ANNALS_TRY_VOID(add(map, equivalence,
                                    target["code"]
                                        ? coding_json(group["target"], group["targetVersion"],
                                                      target["code"], target["display"])
                                        : "{}",
                                    target["product"]));
            }
        }
        has = has || !asked_.reverse;
    }
    return has;
}

Result<void> Translation::by_unmapped(json::Value map, json::Value group, const GivenCode& code) {
    const json::Value unmapped = group["unmapped"];
    const std::string mode = unmapped["mode"].string();
    if (mode == "other-map") {
        const std::string canonical = unmapped["url"].string();
        const Canonical named = split_canonical(canonical);
        ANNALS_TRY(const auto other, session_.find("ConceptMap", named.url, named.version));
        if (other != nullptr && ++led_to_ <= kMapsMax) {
            ANNALS_TRY_VOID(use_for(other, code));
        }
    } else if (is_asked(group) && mode == "fixed") {
        return add(map, "inexact",
                   coding_json(group["target"], group["targetVersion"], unmapped["code"],
                               unmapped["display"]),
                   {});
    } else if (is_asked(group) && mode == "provided") {
        std::string coding = coding_json(group["target"], group["targetVersion"], {}, {});
        coding.pop_back();
        coding.append(coding.size() > 1 ? "," : "").append(R"("code":)");
        coding.append(json::quoted(code.code)).append("}");
        return add(map, "equal", coding, {});
    }
    return {};
}

// Whether the map has the requested value sets.
bool Translation::is_of_sets(json::Value map) const {
    const auto is = [&](std::string_view uri, std::string_view canonical,
                        const std::string& wanted) {
        const json::Value own = map[uri] ? map[uri] : map[canonical];
        return wanted.empty() || !own || is_same_set(own.string(), wanted);
    };
    return is("sourceUri", "sourceCanonical", asked_.reverse ? asked_.target : asked_.source) &&
           is("targetUri", "targetCanonical", asked_.reverse ? asked_.source : asked_.target);
}

Result<void> Translation::use_for(const terminology::Definition& map, const GivenCode& code) {
    const json::Value root = map->root();
    if (!is_of_sets(root) || !used_.emplace(map.get(), &code).second) {
        return {};
    }
    for (const json::Value group : root["group"].elements()) {
        ANNALS_TRY(const bool has, by_group(root, group, code));
        if (!has && !asked_.reverse) {
            ANNALS_TRY_VOID(by_unmapped(root, group, code));
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

Result<std::string> translate_answer(Session& session, const TranslateAsked& asked) {
    Translation translation(session, asked);
    if (asked.meant) {
        ANNALS_TRY(const auto map, find_meant(session, *asked.meant, "ConceptMap"));
        ANNALS_TRY_VOID(translation.use(map));
        return translation.answer("The concept map " + map->root()["url"].string());
    }
    for (const std::string& url : asked.maps) {
        ANNALS_TRY(const auto map, session.find("ConceptMap", url, ""));
        if (map == nullptr) {
            continue;  // it has just been removed
        }
        ANNALS_TRY_VOID(
            session.effort().spend(kStepsPerMap + map->text().size() / kMapBytesPerStep));
        ANNALS_TRY_VOID(translation.use(map));
    }
    return translation.answer("What is known about these value sets and systems");
}

}  // namespace

asio::awaitable<Response> translate_operation(const Service& service, const Request& request,
                                              const Target& target) {
    return answer_asked(service, request, target, read_translate_asked, translate_answer);
}

}  // namespace annals::core
