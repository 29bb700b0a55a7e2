// Log lines: one per event, to stderr, by spdlog. Lines that nobody reads are dropped and counted.
//
// Layer:   core/base. Callers format with fmt; nothing that identifies a patient is logged.
// Threads: any.

#pragma once

#include <string_view>

namespace annals {

/// Writes nothing from now on: for programs, like a fuzzer, that deliberately cause what would be logged each time.
void silence_log();

/// Writes `line` as one line of that level, whatever text from clients it contains.
void log_info(std::string_view line);
void log_warning(std::string_view line);
void log_error(std::string_view line);

/// The beginning of a line on stderr by which systemd's journal takes it for an error; empty if stderr does not lead there.
std::string_view error_priority();

}  // namespace annals
