#include "core/base/time_zone.h"

#include "core/base/ascii.h"
#include "core/base/digest.h"

#include <absl/time/time.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace annals {

namespace {

constexpr std::int64_t kSecondUs = 1'000'000;

/// After this year a zone's rules are taken to continue unchanged.
constexpr absl::civil_year_t kLastChange = 2300;

/// Whether the database may have a zone of that name; anything else would be the path of another file, or the zone that
/// the environment names.
bool is_zone_name(std::string_view name) {
    return !name.empty() && name[0] >= 'A' && name[0] <= 'Z' &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return is_letter_or_digit(c) ||
                      std::string_view("+-_/").find(c) != std::string_view::npos;
           });
}

/// What a clock shows, in whole seconds, and the microseconds beyond.
struct Shown {
    explicit Shown(std::int64_t us)
        : beyond(((us % kSecondUs) + kSecondUs) % kSecondUs), second((us - beyond) / kSecondUs) {}

    absl::CivilSecond civil() const { return absl::CivilSecond() + second; }

    std::int64_t beyond;
    std::int64_t second;  // since 1970
};

std::int64_t us_of(absl::Time second) {
    return absl::ToUnixSeconds(second) * kSecondUs;
}

std::uint64_t mixed(std::int64_t value, std::uint64_t into) {
    return hash64({reinterpret_cast<const char*>(&value), sizeof value}, into);
}

}  // namespace

struct TimeZone::Rules {
    absl::TimeZone zone;
};

TimeZone::TimeZone(std::unique_ptr<Rules> rules, std::uint64_t fingerprint)
    : rules_(std::move(rules)), fingerprint_(fingerprint) {
}

TimeZone::~TimeZone() = default;

Result<std::shared_ptr<const TimeZone>> TimeZone::load(const std::string& name) {
    auto rules = std::make_unique<Rules>();
    absl::TimeZone& zone = rules->zone;
    if (!is_zone_name(name) || !absl::LoadTimeZone(name, &zone)) {
        return Error{Errc::value, "the system's time zone database has no such zone"};
    }
    const int before = zone.At(absl::FromCivil(absl::CivilYear(1), absl::UTCTimeZone())).offset;
    std::uint64_t fingerprint = mixed(before, 0);
    absl::TimeZone::CivilTransition change;
    bool always_utc = before == 0;
    for (absl::Time at = absl::InfinitePast();
         zone.NextTransition(at, &change) && change.to.year() <= kLastChange;
         at = zone.At(change.to).trans) {
        always_utc = false;
        fingerprint = mixed(change.from - absl::CivilSecond(), fingerprint);
        fingerprint = mixed(change.to - absl::CivilSecond(), fingerprint);
    }
    if (always_utc) {
        return std::shared_ptr<const TimeZone>();
    }
    return std::shared_ptr<const TimeZone>(new TimeZone(std::move(rules), fingerprint));
}

InstantRange TimeZone::stretch(InstantRange local) const noexcept {
    using Info = absl::TimeZone::TimeInfo;
    // The last microsecond instead of the end: an end where a repeated hour begins would otherwise count as its second
    // occurrence.
    const Shown first(local.begin.us);
    const Shown last(local.end.us - 1);
    const Info from = rules_->zone.At(first.civil());
    const Info to = rules_->zone.At(last.civil());
    const bool begins_in_gap = from.kind == Info::SKIPPED;
    const bool ends_in_gap = to.kind == Info::SKIPPED;
    if (begins_in_gap && ends_in_gap && from.trans == to.trans) {
        return {{us_of(from.pre) + first.beyond}, {us_of(to.pre) + last.beyond + 1}};
    }
    return {{begins_in_gap ? us_of(from.trans) : us_of(from.pre) + first.beyond},
            {ends_in_gap ? us_of(to.trans) : us_of(to.post) + last.beyond + 1}};
}

}  // namespace annals
