// From an Error to an OperationOutcome: the one place where errors get a status and an issue code.
//
// Layer:   core.
// Spec:    FHIR R4 operationoutcome.html; docs/api/README.md, Errors.
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

/// tell_failure() for a failure whose body has not been made yet.
void tell_untold_failure(const Request& request, Response& response);

/// Turns Response::failure into an OperationOutcome, unless the response has a body. Called once, by the code that
/// sends the answer or stores it in a Bundle. For 500 and 503 it gives the text of the table and the request id; the
/// detail goes to the log only. 415 gets the accepted types, 503, 429 and 408 a time to retry after, and 403 for a
/// missing scope the scope that is needed.
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
