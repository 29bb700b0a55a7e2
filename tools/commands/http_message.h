// HttpRequest and HttpReply, as HttpClient sends and receives them.
//
// Layer:   tools.
// Threads: plain values.

#pragma once

#include "core/base/text.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::tools {

struct HttpReply {
    int status = 0;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;

    /// The first header with that name (in any case).
    std::optional<std::string_view> header(std::string_view name) const {
        for (const auto& [key, value] : headers) {
            if (equal_ignoring_case(key, name)) {
                return value;
            }
        }
        return std::nullopt;
    }
};

struct HttpRequest {
    std::string method = "GET";
    std::string target;     ///< path and query, base path included
    std::string_view body;  ///< Lifetime: until send() returns
    std::string content_type = "application/fhir+json";
    std::vector<std::pair<std::string, std::string>> headers;
    bool repeatable = true;  ///< repeating it does no harm: may be sent again if the reply is lost
    bool divisible = false;  ///< if the server gives up (503 `timeout`), less is sent at once
    std::uint64_t reply_bytes_max = 1 << 30;  ///< of the reply's body, which is kept in memory

    /// Checks each reply with status 200: true if it is incomplete. If a proxy speaks HTTP/1.0 to the server, truncated
    /// replies look complete.
    std::function<bool(const HttpReply&)> is_cut_off = {};
};

}  // namespace annals::tools
