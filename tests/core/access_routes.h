// The routes of the service, each with the scope that it needs: what tests of access walk.

#pragma once

#include "core/exchange.h"
#include "core/target.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace annals::core {

/// What becomes of a request whose scopes permit a part only: what belongs to a patient, or matches a query.
enum class Part : std::uint8_t {
    unsaid,
    none,      ///< it needs no scope, or isn't taken
    held,      ///< it is held to that part
    of_query,  ///< held; the body is none of the patient's
    refused,
};

struct AccessRoute {
    std::string_view method;
    std::string_view target;
    std::string_view body;
    std::string_view scope;  ///< the least that permits it; empty: any principal
    Part part;
    std::string_view condition = {};  ///< If-None-Exist
    bool hard_delete = false;
};

/// No operation is there that takes this method on this level.
inline constexpr std::string_view kNotTaken = "-";

inline constexpr std::string_view kBody = R"({"resourceType":"Patient","id":"a"})";
inline constexpr std::string_view kMeta =
    R"({"resourceType":"Parameters","parameter":[{"name":"meta","valueMeta":{}}]})";
inline constexpr std::string_view kNoBundle = R"({"resourceType":"Bundle","type":"batch"})";

/// By level and method: what a request of that row needs. A row of the table that isn't here fails the test.
const std::multimap<std::pair<Level, HttpMethod>, AccessRoute>& routes();

}  // namespace annals::core
