// Configuration files, --set, the environment, and the files of clients and API
// keys: accepted, or refused in one printable line. The first byte chooses which.

#include "core/base/check.h"
#include "core/config/api_keys.h"
#include "core/config/config.h"
#include "core/config/config_checks.h"
#include "core/config/token_clients.h"

#include <fmt/format.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace annals;        // NOLINT: a fuzzer is one function
using namespace annals::core;  // NOLINT

constexpr std::size_t kErrorBytesMax = 1000;

/// A file in memory that contains `text`.
std::string file_with(std::string_view text) {
    static const int memory = memfd_create("config", 0);
    ANNALS_CHECK(memory >= 0 && ftruncate(memory, 0) == 0);
    ANNALS_CHECK(pwrite(memory, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    return fmt::format("/proc/self/fd/{}", memory);
}

void check_error(const Error& error) {
    ANNALS_CHECK(error.code == Errc::usage);
    ANNALS_CHECK(!error.detail.empty() && error.detail.size() <= kErrorBytesMax, error.detail);
    ANNALS_CHECK(std::ranges::none_of(error.detail,
                                      [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
}

void check_loaded(const ConfigSources& sources) {
    const Result<Config> config = load_config(sources);
    if (!config) {
        return check_error(config.error());
    }
    ANNALS_CHECK(check_config(*config).has_value());
    ANNALS_CHECK(config->auth.mode != "none" || config->allow_unauthenticated ||
                 is_loopback(*config));
    for (const auto duration :
         {config->limits.idle_timeout, config->limits.header_timeout, config->limits.body_timeout,
          config->limits.request_timeout, config->sync_interval, config->jobs_keep}) {
        ANNALS_CHECK(duration.count() > 0 && duration <= std::chrono::days(366));
    }
}

/// One setting per line.
ConfigSources lines(std::string_view text, bool environment) {
    ConfigSources sources;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        const std::size_t equals = std::min(line.find('='), line.size());
        if (environment) {
            sources.environment.emplace_back(line.substr(0, equals),
                                             line.substr(std::min(equals + 1, line.size())));
        } else {
            sources.sets.emplace_back(line);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return sources;
}

template <typename Entries>
void check_entries(const Entries& entries) {
    if (!entries) {
        return check_error(entries.error());
    }
    for (const auto& entry : *entries) {
        ANNALS_CHECK(!entry.id.empty());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 5) {
        case 0:
            check_loaded({.file = file_with(text), .environment = {}, .sets = {}});
            break;
        case 1:
            check_loaded(lines(text, false));
            break;
        case 2:
            check_loaded(lines(text, true));
            break;
        case 3:
            check_entries(read_token_clients(file_with(text)));
            break;
        default:
            check_entries(read_api_keys(file_with(text)));
            break;
    }
    return 0;
}
