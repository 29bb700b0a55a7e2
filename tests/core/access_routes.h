// The routes of the service, each with the scope that it needs, for tests of access.

#pragma once

#include "core/exchange.h"
#include "core/target.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace annals::core {

/// The effect of scopes that permit only a part: what belongs to a patient, or matches a query.
enum class Part : std::uint8_t {
    unsaid,
    none,      ///< it needs no scope, or isn't supported
    held,      ///< it is restricted to that part
    of_query,  ///< restricted; the body is not the patient's
    refused,
};

struct AccessRoute {
    std::string_view method;
    std::string_view target;
    std::string_view body;
    std::string_view scope;  ///< the smallest that permits it; empty: any principal
    Part part;
    std::string_view condition = {};  ///< If-None-Exist
    bool hard_delete = false;
};

/// No operation supports this method on this level.
inline constexpr std::string_view kNotTaken = "-";

inline constexpr std::string_view kBody = R"({"resourceType":"Patient","id":"a"})";
inline constexpr std::string_view kMeta =
    R"({"resourceType":"Parameters","parameter":[{"name":"meta","valueMeta":{}}]})";
inline constexpr std::string_view kNoBundle = R"({"resourceType":"Bundle","type":"batch"})";

/// What a request of each row needs, by level and method. Rows of the table that are missing here fail the test.
const std::multimap<std::pair<Level, HttpMethod>, AccessRoute>& routes();

}  // namespace annals::core
