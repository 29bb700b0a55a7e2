// From an Error to an OperationOutcome: the one place where errors get a status and an issue code.
//
// Layer:   core.
// Spec:    FHIR R4 operationoutcome.html; spec.md, Errors.
// Threads: plain functions.

#pragma once

#include "core/exchange.h"

#include <string>
#include <string_view>

namespace annals::core {

/// What an Errc means on the wire.
struct ErrorMeaning {
    int status;
    std::string_view issue_code;
    std::string_view text;  ///< said when the Error has no detail
};

ErrorMeaning meaning_of(Errc code) noexcept;

/// One issue of an OperationOutcome.
struct Issue {
    std::string_view severity;  ///< fatal, error, warning, information
    std::string_view code;
    std::string diagnostics;
    std::string expression;  ///< empty: left out
};

/// The JSON of an OperationOutcome.
std::string outcome_json(const std::vector<Issue>& issues);

/// Does what tell_failure() says where there is a failure to be told.
void tell_untold_failure(const Request& request, Response& response);

/// Makes the OperationOutcome of Response::failure the body, unless there is one already. Whoever answers a request calls it, and nobody
/// else needs to. 500 and 503 get the text of the table and the request id instead of the detail, which is logged; 415 says what is
/// taken, 503, 429 and 408 when to ask again, and 403 for want of a scope which one is needed.
inline void tell_failure(const Request& request, Response& response) {
    if (response.failure && response.body.empty()) {
        tell_untold_failure(request, response);
    }
}

/// "201 Created": a status as Bundle.entry.response has it.
std::string_view status_text(int status) noexcept;

/// The reason phrase alone: "Created".
std::string_view reason_phrase(int status) noexcept;

}  // namespace annals::core
