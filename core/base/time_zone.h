// TimeZone: converts local times to UTC, by the system's time zone database.
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

    /// The time during which the clocks show `local`, which is given as if it were UTC: from the first time that they reach its
    /// begin to the last time that they leave its end. If part of it is in a gap between two offsets, the rest; if all of it
    /// is, what the clocks would have shown without the change.
    InstantRange stretch(InstantRange local) const noexcept;

    /// A hash of the offsets and changes until 2300: differs if stretch() does.
    std::uint64_t fingerprint() const noexcept { return fingerprint_; }

  private:
    struct Rules;
    TimeZone(std::unique_ptr<Rules> rules, std::uint64_t fingerprint);

    std::unique_ptr<Rules> rules_;
    std::uint64_t fingerprint_;
};

}  // namespace annals
