#include "tools/commands/history_line.h"

#include <fmt/format.h>

#include <iterator>

namespace annals::tools {

void append_history_line(std::string& out, const storage::StoredVersion& version,
                         std::string_view base_url) {
    const storage::VersionInfo& info = version.info;
    const std::string_view type = resource_type_name(info.type);
    auto end = std::back_inserter(out);
    fmt::format_to(end, R"({{"fullUrl":"{}/{}/{}/_history/{}",)", base_url, type, version.id,
                   info.version.value);
    if (!info.deletion) {
        out.append(R"("resource":)").append(version.body).append(",");
    }
    const bool first = info.version.value == 1;
    const std::string_view method = info.deletion ? "DELETE" : first ? "POST" : "PUT";
    const std::string_view status = info.deletion ? "410 Gone" : first ? "201 Created" : "200 OK";
    fmt::format_to(end, R"("request":{{"method":"{}","url":"{}/{}"}},)", method, type, version.id);
    fmt::format_to(end, R"("response":{{"status":"{}","etag":"W/\"{}\"","lastModified":"{}"}}}})",
                   status, info.version.value, format_instant(info.instant));
}

}  // namespace annals::tools
