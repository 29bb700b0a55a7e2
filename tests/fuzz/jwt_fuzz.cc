// Tokens and key sets of strangers: nothing that they send may do more than be refused. The first byte says what the
// rest is: a token, the claims of a token that is signed well, or a key set.

#include "core/access.h"
#include "net/auth/jwt.h"
#include "net/auth/key_set.h"
#include "tests/support/tokens.h"

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
        case 'k':
            static_cast<void>(KeySet::read(rest));
            break;
        default:
            break;
    }
    return 0;
}
