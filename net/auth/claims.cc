#include "net/auth/claims.h"

#include "core/base/digest.h"
#include "core/base/ids.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace annals::net::auth {

namespace {

constexpr std::size_t kNameBytesMax = 256;
/// The kept part of a longer name; with its digest it is longer than any name that is kept whole, so it equals none.
constexpr std::size_t kNameBytesKept = 200;

/// A NumericDate. Errors: bad_credentials.
Result<std::optional<Instant>> read_date(json::Value claims, std::string_view name) {
    const json::Value value = claims[name];
    if (!value) {
        return std::optional<Instant>();
    }
    double seconds = 0;
    const std::string_view text = value.raw();
    const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
    constexpr double kSecondsMax = 253'402'300'799;  // the year 9999
    if (!value.is(json::Kind::number) || read.ec != std::errc() || !(seconds >= 0) ||
        seconds > kSecondsMax) {
        return bad_credentials(fmt::format("The token's {} is not a date", name));
    }
    return std::optional(Instant{static_cast<std::int64_t>(std::floor(seconds)) * 1'000'000});
}

bool names_audience(json::Value audience, const std::string& wanted) {
    if (audience.is_string()) {
        return audience.equals(wanted);
    }
    for (const json::Value one : audience.elements()) {
        if (one.equals(wanted)) {
            return true;
        }
    }
    return false;
}

std::string scopes_of(json::Value claims) {
    const json::Value scope = claims["scope"] ? claims["scope"] : claims["scp"];
    if (scope.is_string()) {
        return scope.string();
    }
    std::string all;
    for (const json::Value one : scope.elements()) {
        all += one.string() + ' ';
    }
    return all;
}

// Long names with the same beginning must stay different, because a job belongs to one of them.
std::string shortened(const std::string& name) {
    std::size_t kept = kNameBytesKept;
    while (kept > 0 && (name[kept] & 0xc0) == 0x80) {
        --kept;  // not half a character
    }
    return name.substr(0, kept) + '~' + sha256_hex(name);
}

std::string name_of(json::Value claims) {
    for (const char* member : {"sub", "client_id", "azp"}) {
        if (claims[member].is_string()) {
            std::string name = claims[member].string();
            return name.size() > kNameBytesMax ? shortened(name) : name;
        }
    }
    return {};
}

// The launch context: an id, or a reference to a Patient.
std::string patient_of(json::Value claims) {
    std::string id = claims["patient"].string();
    constexpr std::string_view kType = "Patient/";
    if (id.starts_with(kType)) {
        id.erase(0, kType.size());
    }
    return is_resource_id(id) ? id : std::string();
}

// RFC 8705 section 3.1. Other bindings (RFC 9449) mean nothing to a server of bearer tokens.
Result<std::string> certificate_of(json::Value claims) {
    const json::Value thumbprint = claims["cnf"]["x5t#S256"];
    if (thumbprint && (!thumbprint.is_string() || thumbprint.string().empty())) {
        return bad_credentials("The token's cnf is malformed");
    }
    return thumbprint.string();
}

}  // namespace

Error bad_credentials(std::string_view why) {
    return {Errc::bad_credentials, std::string(why)};
}

Result<Claims> check_claims(json::Value claims, const TokenRules& rules, Instant now,
                            std::optional<Instant> expires_else) {
    if (!claims.is_object()) {
        return bad_credentials("The token's claims are not an object");
    }
    const std::int64_t leeway = rules.leeway.count() * 1000;
    ANNALS_TRY(const auto expires, read_date(claims, "exp"));
    ANNALS_TRY(const auto not_before, read_date(claims, "nbf"));
    ANNALS_TRY(const auto issued, read_date(claims, "iat"));
    if (!expires && !expires_else) {
        return bad_credentials("The token has no exp");
    }
    const Instant end = expires ? Instant{expires->us + leeway} : *expires_else;
    if (end <= now) {
        return Error{Errc::credentials_expired};
    }
    if ((not_before && not_before->us - leeway > now.us) ||
        (issued && issued->us - leeway > now.us)) {
        return bad_credentials("The token is not valid yet");
    }
    if (!rules.issuer.empty() && !claims["iss"].equals(rules.issuer)) {
        return bad_credentials("The token was issued by a different issuer");
    }
    if (!rules.audience.empty() && !names_audience(claims["aud"], rules.audience)) {
        return bad_credentials("The token is for a different audience");
    }
    ANNALS_TRY(std::string certificate, certificate_of(claims));
    return Claims{name_of(claims), scopes_of(claims), end, patient_of(claims),
                  std::move(certificate)};
}

}  // namespace annals::net::auth
