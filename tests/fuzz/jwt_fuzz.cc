// Tokens and key sets from strangers: the worst that may happen is a refusal. The first
// byte tells what the rest is: a token, the claims of a well-signed token, those of a
// client's assertion, requested scopes and allowed ones (on separate lines), or a key set.

#include "core/access.h"
#include "net/auth/assertion.h"
#include "net/auth/granted_scopes.h"
#include "net/auth/jwt.h"
#include "net/auth/key_set.h"
#include "tests/support/tokens.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using annals::Instant;
using annals::net::auth::KeySet;
using annals::net::auth::TokenRules;

const std::string kSecret = "a secret of thirty-two bytes or more";
constexpr Instant kNow{1'800'000'000'000'000};

void verify(std::string_view token) {
    static const KeySet none;
    const TokenRules rules{"", "", std::chrono::seconds(60), kSecret};
    static_cast<void>(annals::net::auth::is_jwt(token));
    static_cast<void>(annals::net::auth::unverified_issuer(token));
    const auto claims = annals::net::auth::verify_token(token, none, rules, kNow);
    if (claims) {
        if (claims->expires <= kNow) {
            std::abort();
        }
        const annals::core::Principal principal(claims->name, claims->scopes);
        static_cast<void>(principal.may(annals::core::kMayAll, std::nullopt));
    }
}

void assert_claims(std::string_view claims) {
    const auto assertion = annals::net::auth::check_assertion(
        claims, "lab", "https://a/fhir/auth/token", std::chrono::seconds(60), kNow);
    if (assertion && (assertion->id.empty() || assertion->expires <= kNow ||
                      assertion->expires.us > kNow.us + 420'000'000)) {
        std::abort();
    }
}

/// Granted scopes must permit nothing that the allowed ones don't.
void grant(std::string_view asked, std::string_view allowed) {
    const std::string granted = annals::net::auth::granted_scopes(asked, allowed);
    const annals::core::Principal client("granted", granted);
    const annals::core::Principal limit("limit", allowed);
    for (std::uint8_t bit = 1; bit < annals::core::kMayAll;
         bit = static_cast<std::uint8_t>(bit << 1)) {
        for (const char* name : {"Patient", "Observation"}) {
            const auto type = annals::find_resource_type(name);
            if ((client.may(bit, type) && !limit.may(bit, type)) ||
                (client.may_in_part(bit, type) && !limit.may_in_part(bit, type))) {
                std::abort();
            }
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0]) {
        case 't':
            verify(rest);
            break;
        case 'c':
            verify(annals::test::sign_hs256(kSecret, std::string(rest)));
            break;
        case 'a':
            assert_claims(rest);
            break;
        case 's':
            grant(rest.substr(0, rest.find('\n')),
                  rest.substr(std::min(rest.find('\n'), rest.size() - 1) + 1));
            break;
        case 'k':
            static_cast<void>(KeySet::read(rest));
            break;
        default:
            break;
    }
    return 0;
}
