#include "core/operations/docref.h"

#include "core/base/ids.h"
#include "core/interactions/first_page.h"
#include "core/interactions/search_bundle.h"
#include "core/operations/coded_input.h"
#include "core/operations/each_match.h"
#include "core/search/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace annals::core {

namespace {

/// When the reference was made.
Instant document_made_at(json::Value document, Instant written, const TimeZone* zone) {
    const auto date = search::date_range(document["date"].string(), zone);
    return date ? Instant{date->low} : written;
}

/// A key that distinguishes kinds of documents.
std::string kind_of(json::Value type) {
    for (const json::Value coding : type["coding"].elements()) {
        if (coding["code"].is_string()) {
            return coding_key(coding);
        }
    }
    return text_key(type);
}

struct DocrefAsked {
    std::vector<search::QueryPair> criteria;
    bool newest = false;  ///< of each kind
    std::string url;
};

Result<std::string> read_patient(const OperationInput& input) {
    ANNALS_TRY(std::string patient, input.required_text("patient"));
    constexpr std::string_view kType = "Patient/";
    patient.erase(0, patient.starts_with(kType) ? kType.size() : 0);
    if (!is_resource_id(patient)) {
        return Error{Errc::invalid, "The parameter 'patient' is not the id of a Patient"};
    }
    return patient;
}

/// A token as in a search: matches any coding of a CodeableConcept. Empty: any type.
Result<std::string> read_type(const OperationInput& input) {
    const json::Value given = input.value("type");
    if (!given) {
        ANNALS_TRY(const std::optional<std::string> token, input.text("type"));
        return token.value_or("");
    }
    ANNALS_TRY_VOID(input.once({"type"}));
    std::string tokens;
    const auto add = [&](json::Value coding) {
        if (!coding["code"].is_string()) {
            return;
        }
        tokens += tokens.empty() ? "" : ",";
        if (coding["system"].is_string()) {
            tokens += search::escape_value(coding["system"].string()) + "|";
        }
        tokens += search::escape_value(coding["code"].string());
    };
    if (given["coding"]) {
        for (const json::Value coding : given["coding"].elements()) {
            add(coding);
        }
    } else {
        add(given);
    }
    if (tokens.empty()) {
        return Error{Errc::invalid, "The parameter 'type' has no code"};
    }
    return tokens;
}

/// A criterion for care that does not lie beyond `date`; without a time of care, for when the document was made.
search::QueryPair bound(std::string_view comparison, const std::string& date) {
    return {"_filter", fmt::format("(period {0} {1}) or ((period pr false) and (date {0} {1}))",
                                   comparison, date)};
}

Result<DocrefAsked> read_docref_asked(const Request& request) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"patient", "start", "end", "type", "on-demand"}));
    DocrefAsked asked;
    asked.url = fmt::format("{}/DocumentReference/$docref", request.base_url);
    const auto keep = [&](std::string_view name, std::string_view value) {
        asked.url +=
            fmt::format("{}{}={}", name == "patient" ? "?" : "&", name, percent_encode(value));
    };
    ANNALS_TRY(const std::string patient, read_patient(input));
    keep("patient", patient);
    asked.criteria.emplace_back("patient", "Patient/" + patient);
    asked.criteria.emplace_back("status", "current");
    asked.newest = true;
    for (const auto& [name, comparison] : {std::pair("start", "ge"), std::pair("end", "le")}) {
        ANNALS_TRY_VOID(input.instant(name));
        ANNALS_TRY(const std::optional<std::string> date, input.text(name));
        if (date) {
            keep(name, *date);
            asked.criteria.push_back(bound(comparison, *date));
            asked.newest = false;
        }
    }
    ANNALS_TRY(const std::string type, read_type(input));
    if (input.has("type")) {
        keep("type", type);
        asked.criteria.emplace_back("type", type);
    }
    // There are none that could be generated.
    ANNALS_TRY_VOID(input.boolean("on-demand"));
    return asked;
}

asio::awaitable<Response> find_documents(const Service& service, const Request& request,
                                         const Target& target, Turns& turns) {
    const Result<DocrefAsked> asked = read_docref_asked(request);
    if (!asked) {
        co_return asked.error();
    }
    std::vector<Made> documents;
    std::map<std::string, std::size_t> newest;  // by kind: its index among them
    const auto parameters = service.indexing().parameters();
    const TakeMatch take = [&](json::Value document, const storage::VersionInfo& info) {
        const Made one{document_made_at(document, info.instant, parameters->zone()), info};
        std::size_t place = documents.size();
        if (asked->newest) {
            place = newest.try_emplace(kind_of(document["type"]), place).first->second;
        }
        if (place == documents.size()) {
            documents.push_back(one);
        } else if (made_later(one, documents[place])) {
            documents[place] = one;
        }
        return Result<void>();
    };
    const Result<void> done =
        co_await for_each_match(service, request, target.type, asked->criteria, turns, take);
    if (!done) {
        co_return done.error();
    }
    std::ranges::sort(documents, made_later);
    SearchBundleContent content;
    content.links.emplace_back("self", asked->url);
    for (const Made& document : documents) {
        content.matches.push_back(document.info);
    }
    content.total = content.matches.size();
    co_return answer_search(service, request.base_url, std::move(content));
}

}  // namespace

asio::awaitable<Response> docref_operation(const Service& service, const Request& request,
                                           const Target& target) {
    Response response = co_await answer_as_first_page(service, request, target, find_documents);
    co_return response;
}

}  // namespace annals::core
