// A server's answers: to a whole request, and to each entry of a submitted Bundle.
//
// Layer:   tools.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::tools {

struct EntryAnswer {
    int status = 0;           ///< 0: the entry has none
    bool conflict = false;    ///< same version, different content: a warning with code conflict
    bool ignored = false;     ///< a success that says it changed nothing
    bool missing = false;     ///< ignored, and the content sent is not in the store
    std::string diagnostics;  ///< of its outcome, if it has one
};

/// Reads a batch-response or transaction-response. Errors: processing (it isn't one).
Result<std::vector<EntryAnswer>> read_answers(json::Parser& parser, std::string_view body);

/// Reports on stderr how many versions were ignored and are missing; nothing if there are none.
void tell_of_missing(std::uint64_t count);

/// The diagnostics (or texts) of an OperationOutcome in one line; for anything else, `body` cut short.
std::string outcome_text(json::Parser& parser, std::string_view body);

/// The same for a parsed OperationOutcome; empty if it has no text. The prefix `around` is removed from its locations: readers
/// don't know the Bundle that was made for transport.
std::string outcome_text(json::Value outcome, std::string_view around = {});

}  // namespace annals::tools
