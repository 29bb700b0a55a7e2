// The answer to an entry of a history bundle: its result.
//
// Layer:   core/interactions.
// Spec:    docs/api/history-bundle.md.
// Threads: plain functions and values.

#pragma once

#include "core/exchange.h"
#include "core/interactions/bundle_entry.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace annals::core {

/// The result of an entry.
enum class HistoryFate : std::uint8_t {
    created,
    updated,
    deleted,
    gone_already,  ///< a deletion of a resource that is deleted or absent
    ignored,       ///< older than the current version, or the same version
    differs,       ///< the same version number with other content
    refused,       ///< `refusal` says why
};

/// The result of an entry, in detail.
struct HistoryOutcome {
    TypeId type;
    HistoryFate fate = HistoryFate::refused;
    bool missing = false;                  ///< ignored, and the version is not stored here
    VersionNumber version;                 ///< the one written, otherwise the current one
    Instant instant;                       ///< of that version
    std::string_view full_url;             ///< as sent, with its quotes; empty if it is no string
    std::unique_ptr<std::string> refusal;  ///< the OperationOutcome that says why it is refused
};

/// What ends a response entry.
inline constexpr std::string_view kEntryEnd = "}}";

/// Appends the response entry for the resource `id`, without kEntryEnd, and of a refused one without the `refusal` before that.
/// `escaped_base`: base_url escaped for a JSON string.
void append_history_answer(std::string& text, std::string_view escaped_base,
                           const HistoryOutcome& outcome, std::string_view id);

/// Adds the same to the bundle's audit traces.
void trace_history_answer(ResponseBundle& bundle, const HistoryOutcome& outcome,
                          std::string_view id);

}  // namespace annals::core
