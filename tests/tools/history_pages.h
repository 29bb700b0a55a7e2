// Pages of histories as other servers return them, and a reader of an endpoint that does.

#pragma once

#include "tests/support/http_endpoint.h"
#include "tools/commands/history_reader.h"

#include <fmt/format.h>

#include <string>

namespace annals::tools {

inline std::string entry_of(int second) {
    return fmt::format(
        R"({{"resource":{{"resourceType":"Patient","id":"p{0}","meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:00:0{0}Z"}}}}}})",
        second);
}

/// A history of two versions with a self link and, unless empty, a next link.
inline std::string page_of(int first, int second, const std::string& self,
                           const std::string& next = {}) {
    return fmt::format(
        R"({{"resourceType":"Bundle","type":"history","link":[{{"relation":"self","url":"{}"}}{}],"entry":[{},{}]}})",
        self, next.empty() ? "" : fmt::format(R"(,{{"relation":"next","url":"{}"}})", next),
        entry_of(first), entry_of(second));
}

/// The target of a request.
inline std::string target_of(const std::string& request) {
    const std::size_t begin = request.find(' ') + 1;
    return request.substr(begin, request.find(' ', begin) - begin);
}

inline HistoryReader reader_of(const test::HttpEndpoint& endpoint) {
    return {*parse_server_url(endpoint.url()), Patience()};
}

}  // namespace annals::tools
