// Durations and sizes as people write them: "90s", "64MiB".
//
// Layer:   core/config.
// Threads: plain functions.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace annals::core {

/// The milliseconds of a number with ms, s, m, h or d, which a blank may separate. None: it is something else, or beyond 63 bits.
std::optional<std::uint64_t> read_duration(std::string_view text);

/// The bytes of a number with B, kB, MB, GB, KiB, MiB or GiB; as read_duration().
std::optional<std::uint64_t> read_size(std::string_view text);

/// The shortest text that read_duration() reads as `milliseconds`.
std::string duration_text(std::uint64_t milliseconds);

/// The shortest text that read_size() reads as `bytes`.
std::string size_text(std::uint64_t bytes);

}  // namespace annals::core
