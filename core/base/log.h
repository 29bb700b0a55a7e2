// Log lines: one per event, to stderr, by spdlog. While nobody reads them they are dropped, and counted.
//
// Layer:   core/base. Callers format with fmt; nothing that identifies a patient is logged.
// Threads: any.

#pragma once

#include <string_view>

namespace annals {

/// Nothing is written from now on: for a program that does on purpose what is worth a line each time, as a fuzzer does.
void silence_log();

/// Writes `line` as one line of that level, whatever text of clients is in it.
void log_info(std::string_view line);
void log_warning(std::string_view line);
void log_error(std::string_view line);

}  // namespace annals
