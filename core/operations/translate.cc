#include "core/operations/translate.h"

#include "core/operations/coded_input.h"
#include "core/operations/terminology.h"
#include "core/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace annals::core {

namespace {

using terminology::Session;

constexpr std::size_t kMapsMax = 8;  // that one leads to, one after the other

struct Dependency {
    std::string element;
    std::vector<GivenCode> codings;
    std::string text;  ///< of a concept without codings
};

struct Asked {
    Meant meant;
    std::vector<GivenCode> codes;
    std::string source;         ///< value set; empty: any
    std::string target;         ///< value set; empty: any
    std::string target_system;  ///< empty: any
    std::vector<Dependency> dependencies;
    bool reverse = false;
};

Result<std::shared_ptr<const Asked>> read_asked(const Service& service, const Request& request,
                                                const Target& target) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"url", "conceptMap", "conceptMapVersion", "code", "system",
                                "version", "source", "coding", "codeableConcept", "target",
                                "targetsystem", "dependency", "reverse"}));
    auto asked = std::make_shared<Asked>();
    ANNALS_TRY(auto meant,
               read_meant(service, target, input, "conceptMap", "url", "conceptMapVersion"));
    if (!meant) {
        return Error{Errc::required, "One of url and conceptMap is required", ""};
    }
    asked->meant = *std::move(meant);
    ANNALS_TRY(asked->codes, read_codes(input));
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
    return std::shared_ptr<const Asked>(asked);
}

/// Does what was sent fulfil all that a target depends on?
bool fulfils(const Asked& asked, json::Value depends_on) {
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
    Translation(Session& session, const Asked& asked) : session_(session), asked_(asked) {}

    Result<void> use(const terminology::Definition& map);
    std::string answer(std::string_view url) const;

  private:
    Result<bool> by_group(json::Value group, const GivenCode& code);
    Result<void> by_unmapped(json::Value group, const GivenCode& code);
    bool is_asked(json::Value group) const;
    bool add(std::string_view equivalence, const std::string& coding, json::Value products);

    Session& session_;
    const Asked& asked_;
    std::string map_;  // url of the map in use
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
        own.add("element", "valueUri", product["property"].raw());
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
    if ((from && code.system && !from.equals(*code.system)) ||
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
            ANNALS_TRY_VOID(session_.effort().spend(2));
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
        ANNALS_TRY(const auto other, session_.find("ConceptMap", unmapped["url"].string(), ""));
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
        return wanted.empty() || !own || own.equals(wanted);
    };
    if (!is("sourceUri", "sourceCanonical", asked_.reverse ? asked_.target : asked_.source) ||
        !is("targetUri", "targetCanonical", asked_.reverse ? asked_.source : asked_.target)) {
        return {};
    }
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

std::string Translation::answer(std::string_view url) const {
    ParametersWriter out;
    out.add_flag("result", found_);
    if (!found_) {
        out.add_text("message", "valueString",
                     fmt::format("The concept map {} has no translation of {}", url.substr(0, 300),
                                 described(asked_.codes.front())));
    }
    out.append(matches_);
    return out.resource();
}

Result<std::string> answer(Session& session, const Asked& asked) {
    ANNALS_TRY(const auto map, find_meant(session, asked.meant, "ConceptMap"));
    Translation translation(session, asked);
    ANNALS_TRY_VOID(translation.use(map));
    return translation.answer(map->root()["url"].string());
}

}  // namespace

asio::awaitable<Response> translate_operation(const Service& service, const Request& request,
                                              const Target& target) {
    Response response =
        co_await answer_asked(service, request, read_asked(service, request, target), answer);
    co_return response;
}

}  // namespace annals::core
