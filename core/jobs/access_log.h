// AccessLog: where it is written down what a job does to resources, which no connection carries out.
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

    /// Keeps the place of one access. False: there is none at present.
    virtual bool reserve() noexcept = 0;

    /// Gives back a place that is not needed.
    virtual void release() noexcept = 0;

    /// Writes down, in a place that was reserved, that `job` has done what `request` asks for, and `response` came of it.
    virtual void record(const Request& request, const Response& response, std::string_view job) = 0;
};

}  // namespace annals::core
