#include "core/terminology_capabilities.h"

#include "codec/json/document.h"
#include "core/definitions.h"
#include "core/operations/signatures.h"
#include "core/terminology/grammar.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace annals::core {

namespace {

using terminology::ListedCodeSystem;

/// The code systems with the same url; the first takes precedence.
using Same = std::vector<const ListedCodeSystem*>;

void append_code_system(std::string& out, const Same& same, bool default_known) {
    std::set<std::string_view> versions;
    Same told;
    for (const ListedCodeSystem* const one : same) {
        if (versions.insert(one->version).second && one->has_codes) {
            told.push_back(one);
        }
    }
    // A code system without a version can only be used as the default, and can't be listed beside others (tcp-1).
    const bool several = told.size() > 1;
    std::erase_if(told, [&](const ListedCodeSystem* one) {
        return one->version.empty() && (several || one != same.front());
    });
    if (told.empty()) {
        return;
    }
    out += out.ends_with('[') ? R"({"uri":)" : R"(,{"uri":)";
    json::append_quoted(out, same.front()->url);
    out += R"(,"version":[)";
    const bool has_grammar = terminology::grammar_of(same.front()->url) != nullptr;
    for (const ListedCodeSystem* const one : told) {
        out += one == told.front() ? "{" : ",{";
        if (!one->version.empty()) {
            out += R"("code":)";
            json::append_quoted(out, one->version);
            out += ',';
        }
        out += default_known && one == same.front() ? R"("isDefault":true,)" : "";
        out += has_grammar ? R"("compositional":true})" : R"("compositional":false})";
    }
    out += has_grammar ? R"(],"subsumption":false})" : R"(],"subsumption":true})";
}

std::string code_systems(const Definitions& definitions, bool stored) {
    std::vector<ListedCodeSystem> systems = definitions.code_systems(stored);
    for (ListedCodeSystem& one : systems) {
        one.has_codes = one.has_codes || terminology::grammar_of(one.url) != nullptr;
    }
    for (const terminology::Grammar& grammar : terminology::grammars()) {
        systems.push_back({std::string(grammar.system), "", true});
    }
    std::map<std::string_view, Same> by_url;
    for (const ListedCodeSystem& one : systems) {
        by_url[one.url].push_back(&one);
    }
    std::string out = "[";
    for (const auto& [url, same] : by_url) {
        append_code_system(out, same, stored);
    }
    return out + "]";
}

std::string expansion_parameters() {
    std::string_view list =
        find_signature("http://hl7.org/fhir/OperationDefinition/ValueSet-expand")->parameters;
    std::string out = "[";
    while (const auto parameter = next_parameter(list)) {
        out += fmt::format(R"({}{{"name":"{}"}})", out.ends_with('[') ? "" : ",", parameter->name);
    }
    return out + "]";
}

std::string make(const Described& described, bool stored) {
    return fmt::format(
        R"({{"resourceType":"TerminologyCapabilities","status":"active","date":"{}",)"
        R"("publisher":"Annals","kind":"instance",)"
        R"("software":{{"name":"Annals","version":"{}"}},)"
        R"("implementation":{{"description":"A versioned FHIR R4 resource store","url":"{}"}},)"
        R"("codeSystem":{},)"
        R"("expansion":{{"hierarchical":true,"paging":true,"incomplete":false,"parameter":{},)"
        R"("textFilter":"Leaves the codes whose code or display has all words of the filter, each )"
        R"(anywhere in it, whatever case and accents."}},)"
        R"("codeSearch":"explicit","validateCode":{{"translations":true}},)"
        R"("translation":{{"needsMap":false}},"closure":{{"translation":false}}}})",
        format_instant(described.started), ANNALS_VERSION, kBaseUrlMark,
        code_systems(described.definitions, stored), expansion_parameters());
}

}  // namespace

std::string make_carried_terminology(const Described& described) {
    return make(described, false);
}

std::string make_whole_terminology(const Described& described) {
    return make(described, true);
}

}  // namespace annals::core
