#include "net/auth/granted_scopes.h"

#include "core/access.h"
#include "core/base/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace annals::net::auth {

namespace {

using core::Scope;

/// The scope that both `asked`, whose text is `text`, and `allowed` permit; empty: none.
std::string meet(const Scope& asked, std::string_view text, const Scope& allowed) {
    const bool types_meet = asked.type == allowed.type || asked.type == "*" || allowed.type == "*";
    // Two conditions on the same resources can't be combined in one scope.
    const bool queries_meet =
        asked.query == allowed.query || asked.query.empty() || allowed.query.empty();
    const auto permissions = static_cast<std::uint8_t>(asked.permissions & allowed.permissions);
    if (asked.context != allowed.context || !types_meet || !queries_meet || permissions == 0) {
        return {};
    }
    const std::string_view type = asked.type == "*" ? allowed.type : asked.type;
    const std::string_view query = asked.query.empty() ? allowed.query : asked.query;
    if (permissions == asked.permissions && type == asked.type && query == asked.query) {
        return std::string(text);  // as the client wrote it
    }
    return fmt::format("{}/{}.{}{}{}", asked.context, type, core::scope_letters(permissions),
                       query.empty() ? "" : "?", query);
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> all;
    while (!text.empty() && all.size() < kGrantedScopesMax) {
        if (const std::string_view word = take_until(text, ' '); !word.empty()) {
            all.push_back(word);
        }
    }
    return all;
}

}  // namespace

std::string granted_scopes(std::string_view asked, std::string_view allowed) {
    std::vector<std::string> granted;
    const auto grant = [&](std::string scope) {
        if (!scope.empty() && granted.size() < kGrantedScopesMax &&
            std::find(granted.begin(), granted.end(), scope) == granted.end()) {
            granted.push_back(std::move(scope));
        }
    };
    const std::vector<std::string_view> limits = words(allowed);
    for (const std::string_view text : words(asked)) {
        if (std::find(limits.begin(), limits.end(), text) != limits.end()) {
            grant(std::string(text));
            continue;
        }
        const std::optional<Scope> scope = core::read_scope(text);
        for (const std::string_view limit : limits) {
            const std::optional<Scope> wide = scope ? core::read_scope(limit) : std::nullopt;
            if (wide) {
                grant(meet(*scope, text, *wide));
            }
        }
    }
    std::string out;
    for (const std::string& scope : granted) {
        out += (out.empty() ? "" : " ") + scope;
    }
    return out;
}

}  // namespace annals::net::auth
