// Log lines: one per event, to stderr, by spdlog. While nobody reads them they are dropped, and counted.
//
// Layer:   core/base. Callers format with fmt; nothing that identifies a patient is logged.
// Threads: any.

#pragma once

#include <cstdint>
#include <string_view>

namespace annals {

enum class LogLevel : std::uint8_t { info, warning, error, off };

/// Drops lines below `level` from now on. The default is info.
void set_log_level(LogLevel level);

void log_info(std::string_view line);
void log_warning(std::string_view line);
void log_error(std::string_view line);

}  // namespace annals
