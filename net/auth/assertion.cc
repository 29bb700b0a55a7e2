#include "net/auth/assertion.h"

#include "codec/json/document.h"
#include "core/base/digest.h"
#include "net/auth/claims.h"

#include <algorithm>

namespace annals::net::auth {

namespace {

/// How often those that are over are looked for.
constexpr std::int64_t kLookIntervalUs = 30'000'000;

Error bad(std::string_view why) {
    return {Errc::bad_credentials, std::string(why), ""};
}

}  // namespace

Result<Assertion> check_assertion(std::string_view claims, const std::string& id,
                                  const std::string& url, std::chrono::milliseconds leeway,
                                  Instant now) {
    json::Parser parser;
    const auto document = parser.parse(claims);
    if (!document) {
        return bad("The assertion's claims are no JSON");
    }
    const json::Value root = document->root();
    const auto checked = check_claims(root, {id, url, leeway, ""}, now);
    if (!checked) {
        return checked.error().code == Errc::credentials_expired ? bad("The assertion has expired")
                                                                 : checked.error();
    }
    if (!root["sub"].equals(id)) {
        return bad("The assertion's sub is not its iss");
    }
    const std::int64_t longest =
        std::chrono::microseconds(kAssertionLifeMax).count() + 2 * leeway.count() * 1000;
    if (checked->expires.us - now.us > longest) {
        return bad("The assertion's exp is more than five minutes ahead");
    }
    Assertion assertion{root["jti"].string(), checked->expires};
    if (assertion.id.empty() || assertion.id.size() > kAssertionIdBytesMax) {
        return bad("The assertion needs a jti of 512 bytes at most");
    }
    return assertion;
}

Result<void> Replays::take(const std::string& client, const Assertion& assertion, Instant now) {
    std::string digest = sha256_hex(assertion.id);
    const std::lock_guard lock(mutex_);
    make_room(now);
    auto& seen = seen_[client];
    if (const auto found = seen.find(digest); found != seen.end() && found->second > now) {
        return bad("The assertion was sent before");
    }
    if (seen.size() >= kOfOneClientMax || count_ >= kAllMax) {
        return Error{Errc::overloaded, "", ""};
    }
    count_ += seen.insert_or_assign(std::move(digest), assertion.expires).second ? 1 : 0;
    return {};
}

void Replays::make_room(Instant now) {
    if (now < next_look_) {
        return;
    }
    next_look_ = {now.us + kLookIntervalUs};
    for (auto& [client, seen] : seen_) {
        count_ -= std::erase_if(seen, [&](const auto& entry) { return entry.second <= now; });
    }
    std::erase_if(seen_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace annals::net::auth
