// TimeZone: what times on the clocks of a place are in UTC, by the system's time zone database.
//
// Layer:   core/base.
// Spec:    FHIR R4 search.html#date; the names are IANA's, as Europe/Berlin.
// Threads: immutable.

#pragma once

#include "core/base/instant.h"
#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <string>

namespace annals {

class TimeZone {
  public:
    /// The zone of that name; null if its clocks have always shown UTC. Cost: reads a file the first time.
    /// Errors: value.
    static Result<std::shared_ptr<const TimeZone>> load(const std::string& name);

    TimeZone(const TimeZone&) = delete;
    TimeZone& operator=(const TimeZone&) = delete;
    ~TimeZone();

    /// When the clocks show what `local` names, as if it were UTC: from the first time that they reach its begin to the
    /// last time that they leave its end. Of what is in a gap between two offsets the part that there is; if there is
    /// none, what the clocks would have shown without the change.
    InstantRange stretch(InstantRange local) const noexcept;

    /// Of the offsets and changes until 2300: differs where stretch() does.
    std::uint64_t fingerprint() const noexcept { return fingerprint_; }

  private:
    struct Rules;
    TimeZone(std::unique_ptr<Rules> rules, std::uint64_t fingerprint);

    std::unique_ptr<Rules> rules_;
    std::uint64_t fingerprint_;
};

}  // namespace annals
