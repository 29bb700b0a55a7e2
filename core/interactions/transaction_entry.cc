#include "core/interactions/transaction_entry.h"

#include "core/base/random.h"
#include "core/interactions/answer.h"
#include "core/interactions/query_needs.h"
#include "core/interactions/submitted_resource.h"
#include "core/outcome.h"
#include "core/subscriptions/subscriber.h"

#include <fmt/format.h>

#include <charconv>

namespace annals::core {

namespace {

/// How many characters of a URL a message shows.
constexpr std::size_t kUrlCharsShown = 200;

// "Bundle.entry[3].resource"
constexpr std::string_view kEntryPlace = "Bundle.entry[";
constexpr std::string_view kResource = "].resource";

Error not_here(const EntryRequest& asked, std::string_view why) {
    return {Errc::method_not_allowed,
            fmt::format("{} {} is not supported in a transaction{}", method_name(asked.method),
                        asked.path.empty() ? "/" : asked.path.substr(1), why)};
}

/// Reads the criteria, and whether any reference in them may be a link to another entry.
Result<void> read_criteria(const Service& service, TransactionEntry& entry, QueryNeeds& needs) {
    entry.criteria_link = false;
    const search::Links note = [&entry](std::string_view text) -> std::optional<std::string> {
        entry.criteria_link = entry.criteria_link || text.find(':') != std::string_view::npos;
        return std::nullopt;
    };
    ANNALS_TRY(entry.criteria, read_entry_criteria(service, entry, needs, note));
    return {};
}

/// Determines kind and criteria, by method and target.
Result<void> read_kind(const Service& service, TransactionEntry& entry, QueryNeeds& needs) {
    const EntryRequest& asked = entry.asked;
    const Level level = entry.target.level;
    ANNALS_TRY_VOID(check_no_criteria(entry.request, entry.target));
    switch (asked.method) {
        case HttpMethod::get:
        case HttpMethod::head:
            entry.kind = EntryKind::read;
            if (entry.target.operation == "$export") {
                return not_here(asked, ": what it starts cannot be rolled back");
            }
            return {};
        case HttpMethod::post:
            entry.kind = EntryKind::create;
            if (level != Level::type) {
                return not_here(asked, "");
            }
            return asked.if_none_exist ? read_criteria(service, entry, needs) : Result<void>();
        case HttpMethod::put:
        case HttpMethod::patch:
        case HttpMethod::delete_:
            entry.kind =
                asked.method == HttpMethod::delete_ ? EntryKind::remove : EntryKind::update;
            if (level == Level::type) {
                return read_criteria(service, entry, needs);
            }
            if (level != Level::instance) {
                return not_here(asked, "");
            }
            return {};
        case HttpMethod::options:
        case HttpMethod::other:
            break;
    }
    return not_here(asked, "");
}

Result<void> read_full_url(TransactionEntry& entry) {
    const json::Value full_url = entry.value["fullUrl"];
    if (full_url && !full_url.is_string()) {
        return Error{Errc::structure, "fullUrl must be a string"};
    }
    entry.full_url = full_url.string();
    return {};
}

Result<void> read_patch(TransactionEntry& entry) {
    ANNALS_TRY_VOID(entry.patch.emplace().read(entry.request));
    return read_full_url(entry);
}

Result<void> read_resource(const Service& service, std::size_t index, TransactionEntry& entry,
                           Unfinished& unfinished) {
    const json::Value resource = entry.value["resource"];
    if (!resource) {
        return Error{Errc::required, "resource is missing"};
    }
    // Made for each entry though rarely needed: fmt::format() takes three times as long.
    std::string prefix;
    prefix.reserve(48);
    prefix.append(kEntryPlace).append(std::to_string(index)).append(kResource);
    ANNALS_TRY(entry.resource,
               read_entry_resource(service, resource, entry.target.type, prefix, unfinished));
    ANNALS_TRY_VOID(check_subscriber(service, entry.request, resource, unfinished.positions()));
    if (entry.kind == EntryKind::update) {
        ANNALS_TRY_VOID(check_whole(entry.resource.facts));
    }
    const std::optional<std::string_view> id = entry.resource.facts.id;
    if (entry.kind == EntryKind::update && !entry.criteria) {
        if (!id) {
            return Error{Errc::required,
                         fmt::format("the resource has no id, expected '{}'", entry.target.id)};
        }
        if (*id != entry.target.id) {
            return Error{Errc::invalid, fmt::format("the resource's id is '{}', expected '{}'", *id,
                                                    entry.target.id)};
        }
    }
    if (entry.kind == EntryKind::create || entry.criteria) {
        entry.new_id = make_uuid();
    }
    return read_full_url(entry);
}

/// Makes `error` refer to a resource: that of the entry in its expression, if any, otherwise that of `index`.
void name_resource(std::span<const TransactionEntry> entries, std::size_t index, Error& error) {
    const std::string_view place = error.expression;
    const std::size_t mark = place.find(kResource);
    const bool is_in_entry = place.starts_with(kEntryPlace) && mark != std::string_view::npos;
    if (is_in_entry) {
        std::from_chars(place.data() + kEntryPlace.size(), place.data() + mark, index);
    }
    const Target& target = entries[index].target;
    if (is_in_entry) {
        error.expression.replace(0, mark + kResource.size(), resource_type_name(target.type));
    }
    const std::string name = resource_name(target.type, target.id);
    if (!error.detail.starts_with(name)) {
        error.detail = name + ": " + error.detail;
    }
}

}  // namespace

Result<EntryResource> read_entry_resource(const Service& service, json::Value resource, TypeId type,
                                          std::string_view prefix, Unfinished& unfinished) {
    EntryResource out;
    Result<json::ResourceFacts> facts = json::read_facts(resource);
    ANNALS_TRY_VOID(check_type(resource, facts, type, prefix));
    // It reports every fault, read_facts() only the first.
    ANNALS_TRY_VOID(check_resource(service, resource, prefix, &unfinished));
    ANNALS_TRY(out.facts, std::move(facts));
    if (resource_type_name(type) == "Parameters") {
        return Error{Errc::invalid, "Parameters resources cannot be stored"};
    }
    json::find_references(resource, out.sites);
    return out;
}

Result<Criteria> read_entry_criteria(const Service& service, const TransactionEntry& entry,
                                     QueryNeeds& needs, const search::Links& links) {
    const TypeId type = entry.target.type;
    std::string_view query = entry.asked.query;
    if (entry.asked.method == HttpMethod::post) {
        ANNALS_TRY(query, query_of_if_none_exist(type, *entry.asked.if_none_exist));
    }
    return parse_criteria(service, entry.request, type, query, &needs, links);
}

Result<void> read_transaction_entry(const Service& service, json::Value value, std::size_t index,
                                    const Request& outer, TransactionEntry& entry,
                                    Unfinished& unfinished, QueryNeeds& needs) {
    entry.value = value;
    ANNALS_TRY_VOID(check_readable(outer, index));
    ANNALS_TRY(entry.asked, read_entry_request(value, outer.base_url));
    entry.request = request_of_entry(entry.asked, outer, {});
    Result<Target> target = parse_target(entry.asked.path);
    if (!target) {
        // As for a separate request: unless it is written, a resource with an invalid id is not found.
        if (target.error().code == Errc::value && entry.asked.method != HttpMethod::put) {
            target.error().code = Errc::not_found;
        }
        return std::move(target.error());
    }
    entry.target = *target;
    // Before criteria are read: only those who are permitted learn what is wrong with them.
    ANNALS_TRY(const Interaction* const row,
               find_interaction(service.config(), entry.asked.method, entry.target));
    ANNALS_TRY_VOID(authorise(service, entry.request, *row, entry.target));
    ANNALS_TRY_VOID(read_kind(service, entry, needs));
    if (entry.kind == EntryKind::read) {
        return {};
    }
    ANNALS_TRY(entry.conditions, read_preconditions(entry.request));
    if (entry.kind == EntryKind::remove) {
        return {};
    }
    return entry.asked.method == HttpMethod::patch
               ? read_patch(entry)
               : read_resource(service, index, entry, unfinished);
}

Response transaction_failed(const TransactionFault& fault, json::Value entry) {
    const ErrorMeaning meaning = meaning_of(fault.error.code);
    if (meaning.status >= 500) {
        return fault.error;
    }
    const json::Value asked = entry["request"];
    std::string url = asked["url"].string();
    if (url.size() > kUrlCharsShown) {
        url = url.substr(0, kUrlCharsShown) + "...";
    }
    const std::string place = fmt::format("Bundle.entry[{}]", fault.entry);
    const std::string_view detail =
        fault.error.detail.empty() ? meaning.text : std::string_view(fault.error.detail);
    std::string diagnostics =
        fmt::format("{}{}{}{}{}: {} {}{}{}; transaction rolled back", place,
                    asked["method"].is_string() ? " " : "", asked["method"].string(),
                    url.empty() ? "" : " ", url, meaning.status, detail,
                    fault.error.expression.empty() ? "" : " at ", fault.error.expression);
    // Faults of structure name the element of the entry.
    std::string expression =
        fault.error.expression.starts_with(place + ".") ? fault.error.expression : place;
    Response response =
        Error{fault.error.code, std::move(diagnostics), std::move(expression), fault.error.others};
    response.status = 400;  // the entry's own status is in the text
    return response;
}

Response resource_refused(const TransactionFault& fault,
                          std::span<const TransactionEntry> entries) {
    Error error = fault.error;
    const ErrorMeaning meaning = meaning_of(error.code);
    if (meaning.status >= 500) {
        return error;
    }
    if (error.detail.empty()) {
        error.detail = meaning.text;
    }
    name_resource(entries, fault.entry, error);
    for (Error& other : error.others) {
        name_resource(entries, fault.entry, other);
    }
    Response response = std::move(error);
    response.status = 400;
    return response;
}

}  // namespace annals::core
