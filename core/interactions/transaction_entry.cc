#include "core/interactions/transaction_entry.h"

#include "core/base/random.h"
#include "core/interactions/write.h"
#include "core/outcome.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

/// Characters of a URL that a message shows.
constexpr std::size_t kUrlCharsShown = 200;

Error not_here(const EntryRequest& asked, std::string_view why) {
    return {Errc::method_not_allowed,
            fmt::format("{} {} is not supported in a transaction{}", method_name(asked.method),
                        asked.path.empty() ? "/" : asked.path.substr(1), why),
            {}};
}

/// Kind and criteria, by method and target.
Result<void> read_kind(TransactionEntry& entry) {
    const EntryRequest& asked = entry.asked;
    const Level level = entry.target.level;
    switch (asked.method) {
        case HttpMethod::get:
        case HttpMethod::head:
            entry.kind = EntryKind::read;
            return {};
        case HttpMethod::post:
            entry.kind = EntryKind::create;
            if (level != Level::type) {
                return not_here(asked, "");
            }
            if (asked.if_none_exist) {
                ANNALS_TRY(entry.criteria,
                           parse_if_none_exist(entry.target.type, *asked.if_none_exist));
            }
            return {};
        case HttpMethod::put:
        case HttpMethod::delete_:
            entry.kind = asked.method == HttpMethod::put ? EntryKind::update : EntryKind::remove;
            if (level == Level::type) {
                ANNALS_TRY(entry.criteria, parse_criteria(entry.target.type, asked.query));
            } else if (level != Level::instance) {
                return not_here(asked, "");
            }
            return {};
        case HttpMethod::patch:
        case HttpMethod::options:
        case HttpMethod::other:
            break;
    }
    return not_here(asked, "");
}

Result<void> read_resource(TransactionEntry& entry) {
    const TypeId type = entry.target.type;
    const std::string_view name = resource_type_name(type);
    const json::Value resource = entry.value["resource"];
    if (!resource) {
        return Error{Errc::required, "resource is missing", {}};
    }
    ANNALS_TRY(entry.facts, json::read_facts(resource));
    if (entry.facts.type != type) {
        return Error{Errc::invalid,
                     fmt::format("the resource's type is {}, the URL's {}",
                                 resource_type_name(entry.facts.type), name),
                     {}};
    }
    if (name == "Parameters") {
        return Error{Errc::invalid, "Parameters resources are sent, not stored", {}};
    }
    if (entry.kind == EntryKind::update && !entry.criteria) {
        if (!entry.facts.id) {
            return Error{Errc::required,
                         fmt::format("the resource has no id, expected '{}'", entry.target.id),
                         {}};
        }
        if (*entry.facts.id != entry.target.id) {
            return Error{Errc::invalid,
                         fmt::format("the resource's id is '{}', expected '{}'", *entry.facts.id,
                                     entry.target.id),
                         {}};
        }
    } else if (entry.kind == EntryKind::update && entry.facts.id &&
               !is_resource_id(*entry.facts.id)) {
        return Error{Errc::value, "the resource's id is not a valid id", {}};
    }
    ANNALS_TRY(entry.terms, identifier_terms(type, resource));
    json::find_references(resource, entry.sites);
    if (entry.kind == EntryKind::create || entry.criteria) {
        entry.new_id = make_uuid();
    }
    const json::Value full_url = entry.value["fullUrl"];
    if (full_url && !full_url.is_string()) {
        return Error{Errc::structure, "fullUrl must be a string", {}};
    }
    entry.full_url = full_url.string();
    return {};
}

}  // namespace

Result<void> read_transaction_entry(json::Value value, const Request& outer,
                                    TransactionEntry& entry) {
    entry.value = value;
    ANNALS_TRY(entry.asked, read_entry_request(value, outer.base_url));
    entry.request = request_of_entry(entry.asked, outer, {});
    ANNALS_TRY(entry.target, parse_target(entry.asked.path));
    ANNALS_TRY_VOID(read_kind(entry));
    if (entry.kind == EntryKind::read) {
        return {};
    }
    ANNALS_TRY(entry.if_match, read_entity_tags(entry.request, "If-Match"));
    ANNALS_TRY(entry.if_none_match, read_entity_tags(entry.request, "If-None-Match"));
    return entry.kind == EntryKind::remove ? Result<void>() : read_resource(entry);
}

Response transaction_failed(const TransactionFault& fault, json::Value entry,
                            const Request& request) {
    const ErrorMeaning meaning = meaning_of(fault.error.code);
    Response response = outcome_response(fault.error, request);
    if (meaning.status >= 500) {
        return response;
    }
    const json::Value asked = entry["request"];
    std::string url = asked["url"].string();
    if (url.size() > kUrlCharsShown) {
        url = url.substr(0, kUrlCharsShown) + "...";
    }
    const std::string place = fmt::format("Bundle.entry[{}]", fault.entry);
    const std::string& detail = response.failure->detail;
    std::string diagnostics =
        fmt::format("{}{}{}{}{}: {} {}{}{}; transaction rolled back", place,
                    asked["method"].is_string() ? " " : "", asked["method"].string(),
                    url.empty() ? "" : " ", url, meaning.status, detail,
                    fault.error.expression.empty() ? "" : " at ", fault.error.expression);
    response.status = 400;
    response.body = Body(outcome_json({{"error", meaning.issue_code, diagnostics, place}}));
    response.failure = Error{fault.error.code, std::move(diagnostics), place};
    return response;
}

}  // namespace annals::core
