#include "core/operations/graphql.h"

#include "core/base/base64.h"
#include "core/graphql/execute.h"
#include "core/interactions/answer.h"
#include "core/interactions/as_of.h"
#include "core/interactions/first_page.h"
#include "core/interactions/media_type.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/submitted_resource.h"
#include "core/operations/input.h"
#include "core/scoped_view.h"
#include "core/search/result_parameters.h"

#include <fmt/format.h>

#include <utility>

namespace annals::core {

namespace {

constexpr std::string_view kGraphqlType = "application/graphql";

/// The request, from wherever its parts were.
struct Sent {
    std::optional<std::string> query;
    std::optional<std::string> operation;
    std::optional<std::string> as_of;
    json::Document body;
    json::Document variables_text;  ///< variables given as a JSON text
    json::Value variables;
};

bool is_graphql(const Request& request) {
    std::string_view type = request.header("Content-Type").value_or("");
    return equal_ignoring_case(next_part(type, ';'), kGraphqlType);
}

Error fault(std::string_view name, std::string_view what) {
    return {Errc::invalid, fmt::format("{} {}", name, what)};
}

Result<void> take_variables(std::string_view text, Sent& sent) {
    Result<json::Document> parsed = thread_parser().parse(text);
    if (!parsed) {
        return fault("variables", "is not JSON");
    }
    sent.variables_text = *std::move(parsed);
    sent.variables = sent.variables_text.root();
    return {};
}

/// Errors: invalid; also if the name is none of the three, or was given already.
Result<void> take_text(std::string_view name, std::string text, Sent& sent) {
    const bool is_variables = name == "variables";
    std::optional<std::string>* const into = name == "query"           ? &sent.query
                                             : name == "operationName" ? &sent.operation
                                             : name == "_asOf"         ? &sent.as_of
                                                                       : nullptr;
    if (into == nullptr && !is_variables) {
        return fault(fmt::format("The parameter '{}'", name), "is unknown");
    }
    if (is_variables ? static_cast<bool>(sent.variables) : into->has_value()) {
        return fault(fmt::format("The parameter '{}'", name), "is given twice");
    }
    if (is_variables) {
        return text.empty() ? Result<void>() : take_variables(text, sent);
    }
    *into = std::move(text);
    return {};
}

/// {"query":...,"operationName":...,"variables":...,"_asOf":...}.
Result<void> take_body(json::Value body, Sent& sent) {
    if (!body.is_object()) {
        return fault("The body", "is not a JSON object");
    }
    for (const std::string_view name : {"query", "operationName"}) {
        const json::Value value = body[name];
        if (value && !value.is_string() && !value.is(json::Kind::null)) {
            return fault(name, "is not a string");
        }
        if (value.is_string()) {
            ANNALS_TRY_VOID(take_text(name, value.string(), sent));
        }
    }
    if (const json::Value as_of = body["_asOf"]; as_of && !as_of.is(json::Kind::null)) {
        ANNALS_TRY_VOID(take_text(
            "_asOf", as_of.is_string() ? as_of.string() : std::string(as_of.raw()), sent));
    }
    if (const json::Value variables = body["variables"]; variables && !sent.variables) {
        sent.variables = variables;
    }
    return {};
}

Result<void> take_parameters(json::Value parameters, Sent& sent) {
    for (const json::Value parameter : parameters["parameter"].elements()) {
        if (std::optional<std::string> text = text_of(parameter)) {
            ANNALS_TRY_VOID(take_text(parameter["name"].string(), *std::move(text), sent));
        }
    }
    return {};
}

/// The parameters of the URL, and what is in the body.
Result<Sent> read_sent(const Request& request) {
    Sent sent;
    ANNALS_TRY(Parameters parameters, parse_query(request.query));
    for (auto& [name, value] : parameters) {
        if (!search::is_about_the_answer(name)) {
            ANNALS_TRY_VOID(take_text(name, std::move(value), sent));
        }
    }
    if (!request.body.empty() && is_graphql(request)) {
        ANNALS_TRY_VOID(take_text("query", std::string(request.body), sent));
    } else if (!request.body.empty()) {
        ANNALS_TRY_VOID(check_content_type(request));
        ANNALS_TRY(sent.body, thread_parser().parse(request.body));
        const json::Value body = sent.body.root();
        ANNALS_TRY_VOID(body["resourceType"].equals("Parameters") ? take_parameters(body, sent)
                                                                  : take_body(body, sent));
    }
    if (!sent.query || sent.query->empty()) {
        return Error{Errc::required, "The parameter query is required"};
    }
    if (sent.variables && !sent.variables.is_object() && !sent.variables.is(json::Kind::null)) {
        return fault("variables", "is not a JSON object");
    }
    return sent;
}

/// A Bundle can only contain resources.
Response answer(const Request& request, std::string json) {
    Response response;
    if (request.inside_bundle) {
        std::string data;
        append_base64(json, data);
        response.body = Body(fmt::format(
            R"({{"resourceType":"Binary","contentType":"application/json","data":"{}"}})", data));
        return response;
    }
    response.content_type = ContentType::json;
    response.body = Body(std::move(json));
    return response;
}

asio::awaitable<Response> answer_query(const Service& service, const Request& request,
                                       const Target& target, Turns& turns) {
    Result<Sent> sent = read_sent(request);
    if (!sent) {
        co_return sent.error();
    }
    Result<Position> position = service.store().last_position();
    if (sent->as_of) {
        position = read_as_of(service.store(), *sent->as_of);
    }
    if (!position) {
        co_return position.error();
    }
    search::Snapshot snapshot(service.store(), *position);
    std::optional<storage::VersionInfo> focus;
    if (target.level == Level::instance_operation) {
        focus = current_as_of(service.store(), target.type, target.id, snapshot.position());
        if (focus) {
            co_await fetch_version(service, request, target.id, *focus);
        }
        if (!focus || !ScopedView(service, request, kMayRead).shows(*focus)) {
            co_return no_such_resource(target.type, target.id);
        }
        if (focus->deletion) {
            co_return answer_deleted(service, target.id, *focus);
        }
    }
    const graphql::Query query{*std::move(sent->query),
                               std::move(sent->operation).value_or(std::string()), sent->variables};
    Result<std::string> json =
        co_await graphql::execute(service, request, query, snapshot, focus, turns);
    if (!json) {
        co_return json.error();
    }
    co_return answer(request, *std::move(json));
}

}  // namespace

asio::awaitable<Response> graphql_operation(const Service& service, const Request& request,
                                            const Target& target) {
    Response response = co_await answer_as_first_page(service, request, target, answer_query);
    co_return response;
}

}  // namespace annals::core
