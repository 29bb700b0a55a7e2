// The results of a history bundle, read from the answer to it, for clients that submit bundles.
//
// Layer:   core.
// Threads: a plain function.

#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// The result of one entry.
struct HistoryVerdict {
    enum class Kind : std::uint8_t {
        stored,
        there,    ///< exactly this version is stored already
        differs,  ///< another version with that number is stored, and kept
        refused,
    };

    Kind kind = Kind::stored;
    std::string code;         ///< of the issue that explains it; empty: there is none
    std::string diagnostics;  ///< of the same issue
};

/// The results in a batch-response to a history bundle (core/interactions/history_bundle.h), in the order of its entries.
/// Errors: as json::Parser::parse().
Result<std::vector<HistoryVerdict>> read_history_answer(std::string_view answer);

}  // namespace annals::core
