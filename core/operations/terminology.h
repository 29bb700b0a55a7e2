// What the operations of terminology share: which definition is meant, and where long answers are made.
//
// Layer:   core/operations.
// Spec:    FHIR R4 terminology-service.html.
// Threads: on the loop of the request; what make() runs, perhaps on the worker's thread.

#pragma once

#include "core/operations/input.h"
#include "core/service.h"
#include "core/terminology/session.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace annals::core {

/// The definition that an operation is about: a stored one (instance level), one that was sent, or a canonical URL.
struct Meant {
    terminology::Definition definition;  ///< null: `url` says which
    std::string url;
    std::string version;
};

/// Reads which ValueSet, CodeSystem or ConceptMap is meant. On the instance level it is the stored resource, and
/// `by_url` and `by_version` may name no other; else the parameter `by_value` has it, or the body is it, or `by_url` and
/// `by_version` name it. Nothing if none of that is there.
/// Errors: not_found, deleted (of the instance); invalid.
Result<std::optional<Meant>> read_meant(const Service& service, const Target& target,
                                        const OperationInput& input, std::string_view by_value,
                                        std::string_view by_url, std::string_view by_version);

/// Why nothing is meant: no parameter names it, or only `context`, which no definition here says what it is bound to.
Error nothing_meant(const OperationInput& input);

/// `date`, for which the answer is to hold. Definitions are those of now, so it must not be past; a day is past when it is so
/// everywhere. Errors: invalid, not_computable.
Result<void> check_date(const OperationInput& input);

/// `json` as a document of its own. Errors: invalid.
Result<terminology::Definition> own_document(json::Value json);

/// What is meant, found. Errors: not_found (404, naming the url); of Session.
Result<terminology::Definition> find_meant(terminology::Session& session, const Meant& meant,
                                           std::string_view type);

/// Makes the body of an answer: at once if few steps will do, else on the worker's thread, where it is made anew. So
/// `answer` owns what it works on.
using TerminologyAnswer = std::function<Result<std::string>(terminology::Session& session)>;
asio::awaitable<Response> make_answer(const Service& service, const Request& request,
                                      TerminologyAnswer answer);

/// Has fetched what is looked up without being asked for before: the newest version of an instance, and all that is stored of
/// definitions since somebody looked for one.
asio::awaitable<void> fetch_definitions(const Service& service, const Request& request,
                                        const Target& target);

/// The answer to what was asked, or why it can't be asked so.
template <typename Asked>
asio::awaitable<Response> answer_asked(const Service& service, const Request& request,
                                       Result<std::shared_ptr<const Asked>> asked,
                                       Result<std::string> (*answer)(terminology::Session& session,
                                                                     const Asked& asked)) {
    if (!asked) {
        co_return asked.error();
    }
    Response response = co_await make_answer(
        service, request, [asked = *asked, answer](terminology::Session& session) {
            return answer(session, *asked);
        });
    co_return response;
}

}  // namespace annals::core
