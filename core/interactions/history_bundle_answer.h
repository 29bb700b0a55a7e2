// The answer to an entry of a history bundle: what became of it.
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

/// What became of an entry.
enum class HistoryFate : std::uint8_t {
    created,
    updated,
    deleted,
    gone_already,  ///< a deletion of what is deleted or absent
    ignored,       ///< older than what is there, or the same version
    differs,       ///< the same version with other content
    refused,       ///< `fault` says why
};

/// What an entry has come to.
struct HistoryOutcome {
    TypeId type;
    HistoryFate fate = HistoryFate::refused;
    bool missing = false;       ///< ignored, and its version is not stored
    VersionNumber version;      ///< the one written, or the current one if nothing was
    Instant instant;            ///< of that
    std::string_view full_url;  ///< as it stands there, with its quotes; empty if it is no string
    std::unique_ptr<Error> fault;  ///< where it is refused
};

/// Appends the response entry for what has become of the resource `id`. `escaped_base`: the base_url as it stands in a JSON string.
void append_history_answer(std::string& text, const Request& request, std::string_view escaped_base,
                           const HistoryOutcome& outcome, std::string_view id);

/// Says the same to those who write accesses down.
void trace_history_answer(ResponseBundle& bundle, const HistoryOutcome& outcome,
                          std::string_view id);

}  // namespace annals::core
