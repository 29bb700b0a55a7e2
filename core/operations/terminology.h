// Common parts of the terminology operations: which definition is meant, and where long responses are made.
//
// Layer:   core/operations.
// Spec:    FHIR R4 terminology-service.html.
// Threads: on the loop of the request; what make() runs may be on the worker's thread.

#pragma once

#include "core/operations/input.h"
#include "core/service.h"
#include "core/terminology/session.h"
#include "core/terminology/worker.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace annals::core {

/// The size of a response that any may have. It can be many times that of the request: each code repeats its system.
inline constexpr std::size_t kTerminologyAnswerBytesMax = 64 << 20;

/// Counts that a response of `before` bytes has grown to `bytes`. Errors: answer_too_costly (no steps left, or more than
/// `bytes_max`); timeout.
Result<void> count_written(terminology::Effort& effort, std::size_t before, std::size_t bytes,
                           std::size_t bytes_max = kTerminologyAnswerBytesMax);

/// The definition that an operation is about: a stored one (instance level), one in the request, or a canonical URL.
struct Meant {
    terminology::Definition definition;  ///< null: it is named by `url`
    std::string url;
    std::string version;
};

/// Reads which ValueSet, CodeSystem or ConceptMap is meant. At instance level it is the stored resource, and `by_url`
/// and `by_version` must not name another; otherwise it is in the parameter `by_value` or the body, or `by_url` and
/// `by_version` name it. Nothing if none of these is there. Errors: not_found, deleted (of the instance); invalid.
Result<std::optional<Meant>> read_meant(const Service& service, const Target& target,
                                        const OperationInput& input, std::string_view by_value,
                                        std::string_view by_url, std::string_view by_version);

/// The error if nothing is meant: no parameter names it, or only `context`, for which no definition states a binding.
Error nothing_meant(const OperationInput& input);

/// Checks `date`, for which the response should be valid. Only current definitions are known, so it must not
/// be past; a day is past once it is so everywhere. Errors: invalid, not_computable.
Result<void> check_date(const OperationInput& input);

/// Finds the definition that is meant. Errors: not_found (404, naming the url); of Session.
Result<terminology::Definition> find_meant(terminology::Session& session, const Meant& meant,
                                           std::string_view type);

/// Makes a response's body: immediately if a few steps suffice, else on the worker's thread, where it is started
/// again. So `answer` must own its data. The error of Worker::run() if it does not get to it by `end`.
using TerminologyAnswer = std::function<Result<std::string>(terminology::Session& session)>;
asio::awaitable<Response> make_answer(const Service& service, const Request& request,
                                      TerminologyAnswer answer,
                                      terminology::Worker::Clock::time_point end);

/// Fetches in advance what would otherwise be read later: the newest version of an instance, and all
/// definitions stored since the last look-up, which the worker reads. Errors: those of Worker::run().
asio::awaitable<Result<void>> fetch_definitions(const Service& service, const Request& request,
                                                const Target& target,
                                                terminology::Worker::Clock::time_point end);

/// The response to a request: what `answer` makes of what `read` reads, after fetch_definitions(); or an error. All that is
/// left to the worker has one `limits.request_timeout`.
template <typename Asked>
asio::awaitable<Response> answer_asked(
    const Service& service, const Request& request, const Target& target,
    Result<Asked> (*read)(const Service&, const Request&, const Target&),
    Result<std::string> (*answer)(terminology::Session&, const Asked&)) {
    const auto end = service.request_end();
    Result<void> fetched = co_await fetch_definitions(service, request, target, end);
    if (!fetched) {
        co_return std::move(fetched.error());
    }
    Result<Asked> asked = read(service, request, target);
    if (!asked) {
        co_return std::move(asked.error());
    }
    // Shared, because the response may be made on another thread, and after the request has ended.
    const auto shared = std::make_shared<const Asked>(*std::move(asked));
    Response response = co_await make_answer(
        service, request,
        [shared, answer](terminology::Session& session) { return answer(session, *shared); }, end);
    co_return response;
}

}  // namespace annals::core
