#include "tools/bench/search_mix.h"

#include "codec/json/document.h"
#include "core/base/sort_unique.h"
#include "core/search/query.h"
#include "core/target.h"
#include "tools/commands/bundle_answers.h"
#include "tools/commands/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace annals::bench {
namespace {

constexpr std::size_t kPatientPagesMax = 50;  // of 200
constexpr std::size_t kChartsMax = 64;
constexpr unsigned kAbsentPerMille = 50;

// Dates use all of them, quantities the first six.
constexpr std::string_view kPrefixes[] = {"", "eq", "lt", "gt", "ge", "le", "sa", "eb"};
constexpr std::span<const std::string_view> kDatePrefixes(kPrefixes);
constexpr std::span<const std::string_view> kQuantityPrefixes(kPrefixes, 6);

using Values = std::vector<SearchValue>;

// Values that no resource has.
const SearchValue& absent(ParameterType type) {
    static const SearchValue kText{"absent", "", "0"};
    static const SearchValue kDate{"2070-01-01", "", ""};
    static const SearchValue kNumber{"99999", "", ""};
    static const SearchValue kReference{"Patient/absent", "", ""};
    switch (type) {
        case ParameterType::date:
            return kDate;
        case ParameterType::quantity:
            return kNumber;
        case ParameterType::reference:
            return kReference;
        default:
            return kText;
    }
}

void add_text(Values& values, json::Value text) {
    if (const std::string value = text.string(); !value.empty()) {
        values.push_back({search_text(value), {}, {}});
    }
}

// "system|code", or nothing if there is no system. Takes text, returns it encoded.
std::string with_system(std::string_view head, const std::string& system, const std::string& code) {
    return system.empty() || code.empty()
               ? std::string()
               : fmt::format("{}{}%7C{}", head, search_text(system), search_text(code));
}

SearchValue token_of(json::Value coding) {
    const std::string code = coding["code"].string();
    return {search_text(code), with_system({}, coding["system"].string(), code), {}};
}

void add_token(Values& values, json::Value coding) {
    if (coding["code"].is_string()) {
        values.push_back(token_of(coding));
    }
}

json::Value first_of(json::Value list) {
    for (const json::Value element : list.elements()) {
        return element;
    }
    return {};
}

// Adds a quantity, and its code for composites; `element` is an Observation or a component.
void add_quantity(Values& quantities, Values& composites, json::Value element) {
    const json::Value quantity = element["valueQuantity"];
    if (!quantity["value"].is(json::Kind::number)) {
        return;
    }
    const std::string number = core::percent_encode(quantity["value"].raw());
    const std::string unit = quantity["code"].string();
    quantities.push_back(
        {number, with_system(number + "%7C", quantity["system"].string(), unit), {}});
    const json::Value coding = first_of(element["code"]["coding"]);
    if (coding["code"].is_string()) {
        composites.push_back(token_of(coding));
        composites.back().number = number;
    }
}

// Reads resources from the server, page after page.
class Asker {
  public:
    explicit Asker(const Site& site) : site_(site), client_(site.url(site.base)) {}

    // Passes each resource of `type` that `query` finds to `take`, from at most `pages_max` pages.
    template <typename Take>
    Result<void> each(std::string_view type, std::string_view query, std::size_t pages_max,
                      Take take) {
        tools::HttpRequest request;
        request.target = fmt::format("{}/{}?{}", site_.base, type, query);
        request.headers = site_.header_fields();
        for (std::size_t page = 0; page < pages_max && !request.target.empty(); ++page) {
            ANNALS_TRY(const tools::HttpReply reply, client_.send(request));
            if (reply.status != 200) {
                return Error{Errc::io, fmt::format("GET {}: {} {}", request.target, reply.status,
                                                   tools::outcome_text(parser_, reply.body))};
            }
            ANNALS_TRY(const json::Document bundle, parser_.parse(reply.body));
            for (const json::Value entry : bundle.root()["entry"].elements()) {
                if (entry["resource"]["resourceType"].equals(type)) {
                    take(entry["resource"]);
                }
            }
            request.target.clear();
            for (const json::Value link : bundle.root()["link"].elements()) {
                if (link["relation"].equals("next")) {
                    request.target = tools::request_target(link["url"].string());
                }
            }
        }
        return {};
    }

  private:
    const Site& site_;
    tools::HttpClient client_;
    json::Parser parser_;
};

// Values found in the store.
struct Found {
    Values names, addresses, birth_dates, organizations;
    Values categories, codes, observation_dates;
    Values quantities, component_quantities, composites, component_composites;
    Values statuses, classes, encounter_dates;
    Values patients, encounters;

    void take_patient(json::Value patient) {
        patients.push_back({"Patient/" + patient["id"].string(), {}, {}});
        for (const json::Value name : patient["name"].elements()) {
            add_text(names, name["family"]);
            add_text(names, first_of(name["given"]));
        }
        for (const json::Value address : patient["address"].elements()) {
            add_text(addresses, address["city"]);
        }
        add_text(birth_dates, patient["birthDate"]);
    }

    void take_encounter(json::Value encounter) {
        encounters.push_back({"Encounter/" + encounter["id"].string(), {}, {}});
        add_text(statuses, encounter["status"]);
        add_token(classes, encounter["class"]);
        const std::string start = encounter["period"]["start"].string();
        if (start.size() >= 10) {
            encounter_dates.push_back({start.substr(0, 10), {}, {}});
        }
    }

    void take_observation(json::Value observation) {
        for (const json::Value category : observation["category"].elements()) {
            add_token(categories, first_of(category["coding"]));
        }
        add_token(codes, first_of(observation["code"]["coding"]));
        add_text(observation_dates, observation["effectiveDateTime"]);
        add_quantity(quantities, composites, observation);
        for (const json::Value component : observation["component"].elements()) {
            add_quantity(component_quantities, component_composites, component);
        }
    }
};

Values both(const Values& a, const Values& b) {
    Values all = a;
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

SearchMix mix_of(const Found& found) {
    using enum ParameterType;
    SearchMix mix;
    const auto add = [&](std::string_view target, ParameterType type, Values values) {
        sort_unique(values);
        if (!values.empty()) {
            mix.push_back({target, type, std::move(values)});
        }
    };
    add("/Patient?name", string, found.names);
    add("/Patient?address", string, found.addresses);
    add("/Organization?name", string, found.organizations);
    add("/Patient?birthdate", date, found.birth_dates);
    add("/Observation?date", date, found.observation_dates);
    add("/Encounter?date", date, found.encounter_dates);
    add("/Observation?category", token, found.categories);
    add("/Observation?code", token, found.codes);
    add("/Encounter?status", token, found.statuses);
    add("/Encounter?class", token, found.classes);
    add("/Observation?value-quantity", quantity, found.quantities);
    add("/Observation?component-value-quantity", quantity, found.component_quantities);
    add("/Observation?combo-value-quantity", quantity,
        both(found.quantities, found.component_quantities));
    add("/Observation?code-value-quantity", composite, found.composites);
    add("/Observation?component-code-value-quantity", composite, found.component_composites);
    add("/Observation?combo-code-value-quantity", composite,
        both(found.composites, found.component_composites));
    add("/Observation?subject", reference, found.patients);
    add("/Observation?patient", reference, found.patients);
    add("/Observation?encounter", reference, found.encounters);
    add("/Encounter?subject", reference, found.patients);
    add("/Encounter?patient", reference, found.patients);
    add("/MedicationRequest?subject", reference, found.patients);
    add("/MedicationRequest?patient", reference, found.patients);
    add("/MedicationRequest?encounter", reference, found.encounters);
    return mix;
}

}  // namespace

std::string search_text(std::string_view value) {
    return core::percent_encode(core::search::escape_value(value));
}

Result<SearchMix> sample_search_mix(const Site& site) {
    Asker asker(site);
    Found found;
    ANNALS_TRY_VOID(asker.each("Patient", "_count=200", kPatientPagesMax,
                               [&](json::Value patient) { found.take_patient(patient); }));
    ANNALS_TRY_VOID(asker.each("Organization", "_count=200", 1, [&](json::Value organization) {
        add_text(found.organizations, organization["name"]);
    }));
    if (found.patients.empty()) {
        return Error{Errc::io, "there are no patients to search for"};
    }
    const std::size_t charts = std::min(kChartsMax, found.patients.size());
    for (std::size_t i = 0; i < charts; ++i) {
        const std::string& patient = found.patients[i * found.patients.size() / charts].plain;
        ANNALS_TRY_VOID(
            asker.each("Encounter", fmt::format("subject={}&_count=100", patient), 1,
                       [&](json::Value encounter) { found.take_encounter(encounter); }));
        ANNALS_TRY_VOID(
            asker.each("Observation", fmt::format("subject={}&_count=200", patient), 1,
                       [&](json::Value observation) { found.take_observation(observation); }));
    }
    return mix_of(found);
}

void put_search(std::string& target, const SearchParameter& parameter, generate::Dice& dice) {
    const auto draw = [&]() -> const SearchValue& {
        return dice.chance(kAbsentPerMille)
                   ? absent(parameter.type)
                   : dice.pick(std::span<const SearchValue>(parameter.values));
    };
    const auto form = [&](const SearchValue& value) -> const std::string& {
        return value.full.empty() || dice.chance(500) ? value.plain : value.full;
    };
    target.append(parameter.target);
    switch (parameter.type) {
        case ParameterType::string:
            target.append(dice.chance(500) ? ":contains=" : "=").append(draw().plain);
            break;
        case ParameterType::date:
            target.append("=").append(dice.pick(kDatePrefixes)).append(draw().plain);
            break;
        case ParameterType::token: {
            const std::uint64_t values = dice.chance(333) ? 2 + dice.below(2) : 1;
            for (std::uint64_t i = 0; i < values; ++i) {
                target.append(i == 0 ? "=" : ",").append(form(draw()));
            }
            break;
        }
        case ParameterType::quantity:
            target.append("=").append(dice.pick(kQuantityPrefixes)).append(form(draw()));
            break;
        case ParameterType::composite: {
            const SearchValue& value = draw();
            target.append("=").append(form(value)).append("$");
            target.append(dice.pick(kQuantityPrefixes)).append(value.number);
            break;
        }
        case ParameterType::reference:
            target.append("=").append(draw().plain);
            break;
    }
}

}  // namespace annals::bench
