#include "core/config/history_limits.h"

#include "core/base/resource_types.h"
#include "core/base/text.h"
#include "core/config/config_checks.h"

#include <fmt/format.h>

#include <set>

namespace annals::core {

Result<storage::HistoryLimits> history_limits(const Config& config) {
    storage::HistoryLimits limits;
    limits.keep.fill(config.max_history_versions);
    std::set<TypeId> named;
    for (const std::string& entry : config.history_cleanup_types) {
        const std::string_view text = entry;
        const std::size_t equals = text.find('=');
        const std::string_view number =
            equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
        const auto type = find_resource_type(text.substr(0, equals));
        const auto keep = parse_number(number);
        if (!keep) {
            return Error{Errc::usage,
                         fmt::format("\"{}\" is not of the form TYPE=NUMBER, such as Patient=5",
                                     one_line(entry))};
        }
        if (!type) {
            return Error{Errc::usage,
                         fmt::format("\"{}\" does not name a resource type", one_line(entry))};
        }
        if (!named.insert(*type).second) {
            return Error{Errc::usage, fmt::format("{} appears twice", resource_type_name(*type))};
        }
        limits.keep[type->value] = *keep;
    }
    return limits;
}

}  // namespace annals::core
