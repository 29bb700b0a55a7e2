// AccessLog: records accesses to resources by jobs, which no connection carries out.
//
// Layer:   core/jobs; net implements it.
// Threads: any.

#pragma once

#include "core/exchange.h"

#include <string_view>

namespace annals::core {

class AccessLog {
  public:
    AccessLog() = default;
    virtual ~AccessLog() = default;
    AccessLog(const AccessLog&) = delete;
    AccessLog& operator=(const AccessLog&) = delete;

    /// Reserves room for one record. False if there is none at present.
    virtual bool reserve() noexcept = 0;

    /// Returns room that is not needed.
    virtual void release() noexcept = 0;

    /// Records, in reserved room, that `job` has carried out `request` with the result `response`.
    virtual void record(const Request& request, const Response& response, std::string_view job) = 0;
};

}  // namespace annals::core
