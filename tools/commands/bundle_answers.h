// What a server answered: to a whole request, and to each entry of a submitted Bundle.
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
    int status = 0;           ///< 0: the entry says none
    bool conflict = false;    ///< same version, other content: a warning with code conflict
    bool ignored = false;     ///< a success that changed nothing, and says so
    bool missing = false;     ///< ignored, and what was sent is not there
    std::string diagnostics;  ///< of its outcome, if it has one
};

/// Reads a batch-response or transaction-response. Errors: processing (it is none).
Result<std::vector<EntryAnswer>> read_answers(json::Parser& parser, std::string_view body);

/// Says on stderr that so many versions were ignored and are not there; nothing of none.
void tell_of_missing(std::uint64_t count);

/// The diagnostics (or texts) of an OperationOutcome in one line; `body` cut short if it is none.
std::string outcome_text(json::Parser& parser, std::string_view body);

/// The same of a parsed OperationOutcome; empty if it has no text. Places in it are told without `around`, where they begin
/// so: nobody who reads it knows the Bundle that was made for the way.
std::string outcome_text(json::Value outcome, std::string_view around = {});

}  // namespace annals::tools
