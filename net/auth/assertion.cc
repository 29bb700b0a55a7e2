#include "net/auth/assertion.h"

#include "codec/json/document.h"
#include "net/auth/claims.h"

namespace annals::net::auth {

Result<Assertion> check_assertion(std::string_view claims, const std::string& id,
                                  const std::string& url, std::chrono::milliseconds leeway,
                                  Instant now) {
    json::Parser parser;
    const auto document = parser.parse(claims);
    if (!document) {
        return bad_credentials("The assertion's claims are not valid JSON");
    }
    const json::Value root = document->root();
    const auto checked = check_claims(root, {id, url, leeway, ""}, now);
    if (!checked) {
        return checked.error().code == Errc::credentials_expired
                   ? bad_credentials("The assertion has expired")
                   : checked.error();
    }
    if (!root["sub"].equals(id)) {
        return bad_credentials("The assertion's sub differs from its iss");
    }
    if (checked->expires.us - now.us > assertion_life_max(leeway).count()) {
        return bad_credentials("The assertion's exp is more than five minutes ahead");
    }
    Assertion assertion{root["jti"].string(), checked->expires};
    if (assertion.id.empty() || assertion.id.size() > kAssertionIdBytesMax) {
        return bad_credentials("The assertion needs a jti of at most 512 bytes");
    }
    return assertion;
}

}  // namespace annals::net::auth
