#include "net/auth/authenticator.h"

#include "core/base/digest.h"
#include "core/base/text.h"
#include "net/auth/claims.h"
#include "net/auth/jwt.h"
#include "net/make_room.h"

#include <openssl/crypto.h>

#include <limits>
#include <utility>

namespace annals::net::auth {

namespace {

/// The most tokens remembered per thread.
constexpr std::size_t kTokensMax = 10'000;
constexpr std::size_t kApiKeyBytesMax = 1024;

/// Prefix of names from introspection, if there are issuers, too: the same name from two of them does
/// not mean the same sender.
constexpr const char* kIntrospected = "introspection|";
/// Prefix of names of API keys, if tokens are accepted, too.
constexpr const char* kHoldsKey = "key|";

/// Whether the name has a prefix that belongs to another sender.
bool is_anothers(std::string_view name) noexcept {
    return name.starts_with('|') || name.starts_with(kIntrospected) || name.starts_with(kHoldsKey);
}

/// Longer tokens are looked up each time.
constexpr std::size_t kMemoBytesMax = 4096;

/// The credentials in a request.
struct Presented {
    std::string_view value;  ///< from the last header
    bool is_key = false;
    std::size_t headers = 0;
};

Presented presented_by(const core::Request& request) noexcept {
    Presented presented;
    for (const core::Header& header : request.headers) {
        const bool is_key = equal_ignoring_case(header.name, "X-API-Key");
        if (is_key || equal_ignoring_case(header.name, "Authorization")) {
            presented = {header.value, is_key, presented.headers + 1};
        }
    }
    return presented;
}

/// Compares in a time that does not reveal where they differ.
bool are_same(std::string_view one, std::string_view other) noexcept {
    if (one.size() != other.size()) {
        return false;
    }
    unsigned char difference = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        difference |= static_cast<unsigned char>(one[i] ^ other[i]);
    }
    return difference == 0;
}

}  // namespace

Authenticator::Authenticator(const core::Config::Auth& config, Credentials& credentials)
    : takes_tokens_(config.takes_tokens()),
      takes_keys_(config.takes_keys()),
      credentials_(credentials) {
    catch_up();
}

void Authenticator::catch_up() {
    if (trusted_ != nullptr && trusted_->number == credentials_.number()) {
        return;
    }
    // The tokens of a removed key must go, too.
    tokens_.clear();
    trusted_ = credentials_.current();
    key_holders_.clear();
    for (const core::ApiKey& key : trusted_->api_keys) {
        key_holders_.push_back(std::make_shared<const core::Principal>(
            takes_tokens_ ? kHoldsKey + key.id : key.id, key.scopes));
    }
}

Result<std::shared_ptr<const core::Principal>> Authenticator::authenticate(
    const core::Request& request, const Peer& peer, Instant now, Settled* later, Memo& memo) {
    catch_up();
    if (now < last_now_) {
        tokens_.clear();  // The clock went back: it is unknown how long they have been known.
    }
    last_now_ = now;
    const Presented presented = presented_by(request);
    if (presented.headers == 0) {
        return std::shared_ptr<const core::Principal>();
    }
    if (presented.headers > 1) {
        return bad_credentials("More than one credential was sent");
    }
    if (memo.number == trusted_->number && memo.learned <= now && memo.expires > now &&
        memo.is_key == presented.is_key && are_same(memo.credentials, presented.value)) {
        return memo.principal;
    }
    ANNALS_TRY(Known known, presented.is_key
                                ? by_key(presented.value)
                                : by_bearer(presented.value, peer.address, now, later));
    if (!known.certificate.empty() && !peer.certificate.empty() &&
        known.certificate != peer.certificate) {
        return bad_credentials("The token is bound to a different client certificate");
    }
    if (presented.value.size() <= kMemoBytesMax) {
        memo = {std::string(presented.value),
                presented.is_key,
                trusted_->number,
                now,
                known.expires,
                known.principal};
    }
    return known.principal;
}

Result<Authenticator::Known> Authenticator::by_bearer(std::string_view value,
                                                      std::string_view address, Instant now,
                                                      Settled* later) {
    constexpr std::string_view kScheme = "Bearer ";
    if (!equal_ignoring_case(value.substr(0, kScheme.size()), kScheme)) {
        return bad_credentials("The Authorization header must consist of Bearer and a token");
    }
    value.remove_prefix(kScheme.size());
    while (value.starts_with(' ')) {
        value.remove_prefix(1);
    }
    return by_token(value, address, now, later);
}

/// The claims of `token`, verified by its issuer.
Result<Claims> Authenticator::verify(std::string_view token, std::string_view address, Instant now,
                                     Settled* later) const {
    const std::vector<TrustedIssuer>& issuers = trusted_->issuers;
    Introspector* const introspector = credentials_.introspector();
    const bool several =
        issuers.size() + (introspector != nullptr ? 1 : 0) + (takes_keys_ ? 1 : 0) > 1;
    if (introspector != nullptr && (issuers.empty() || !is_jwt(token))) {
        ANNALS_TRY(Claims claims, introspector->find_out(token, address, now, later));
        if (several && !claims.name.empty()) {
            claims.name = kIntrospected + claims.name;
        }
        return claims;
    }
    std::size_t index = 0;
    if (issuers.size() > 1) {
        ANNALS_TRY(const std::string name, unverified_issuer(token));
        while (index < issuers.size() && issuers[index].rules.issuer != name) {
            ++index;
        }
        if (index == issuers.size()) {
            return bad_credentials("The token's issuer is not known");
        }
    }
    const TrustedIssuer& issuer = issuers[index];
    auto claims = verify_token(token, issuer.keys, issuer.rules, now);
    if (!claims && claims.error().code == Errc::not_found) {
        if (later != nullptr) {
            *later = credentials_.ask_for_keys(index, issuer.fetched);
        }
        return bad_credentials(claims.error().detail);
    }
    // Senders without a name stay anonymous: otherwise all of an issuer's would share one name.
    if (claims && several && !claims->name.empty() &&
        (!issuer.rules.issuer.empty() || is_anothers(claims->name))) {
        claims->name = issuer.rules.issuer + '|' + claims->name;
    }
    return claims;
}

Result<Authenticator::Known> Authenticator::by_token(std::string_view token,
                                                     std::string_view address, Instant now,
                                                     Settled* later) {
    if (!takes_tokens_) {
        return bad_credentials("Bearer tokens are not accepted");
    }
    if (const auto known = tokens_.find(token); known != tokens_.end()) {
        if (known->second.expires > now) {
            return known->second;
        }
        tokens_.erase(known);
    }
    ANNALS_TRY(const Claims claims, verify(token, address, now, later));
    make_room(tokens_, kTokensMax, [&](const auto& entry) { return entry.second.expires <= now; });
    auto principal =
        std::make_shared<const core::Principal>(claims.name, claims.scopes, claims.patient);
    return tokens_
        .emplace(std::string(token),
                 Known{std::move(principal), claims.expires, claims.certificate})
        .first->second;
}

Result<Authenticator::Known> Authenticator::by_key(std::string_view key) const {
    if (!takes_keys_) {
        return bad_credentials("API keys are not accepted");
    }
    if (key.size() > kApiKeyBytesMax) {
        return bad_credentials("The API key is not known");
    }
    const std::string digest = sha256_hex(key);
    // All are compared, even after a match.
    std::size_t found = key_holders_.size();
    for (std::size_t i = 0; i < key_holders_.size(); ++i) {
        if (CRYPTO_memcmp(digest.data(), trusted_->api_keys[i].sha256.data(), digest.size()) == 0) {
            found = i;
        }
    }
    if (found == key_holders_.size()) {
        return bad_credentials("The API key is not known");
    }
    return Known{key_holders_[found], Instant{std::numeric_limits<std::int64_t>::max()}};
}

}  // namespace annals::net::auth
