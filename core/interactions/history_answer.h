// What a history bundle has come to, read from the answer to it, for those who send bundles of their own making.
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

/// What has become of one entry.
struct HistoryVerdict {
    enum class Kind : std::uint8_t {
        stored,
        there,    ///< it is what is stored already
        differs,  ///< another version of that number is stored, and stays
        refused,
    };

    Kind kind = Kind::stored;
    std::string code;         ///< of the issue that says so; empty: there is none
    std::string diagnostics;  ///< the same
};

/// The verdicts of a batch-response to a history bundle (core/interactions/history_bundle.h), in the order of its entries.
/// Errors: as json::Parser::parse().
Result<std::vector<HistoryVerdict>> read_history_answer(std::string_view answer);

}  // namespace annals::core
