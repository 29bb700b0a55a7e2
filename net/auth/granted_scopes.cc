#include "net/auth/granted_scopes.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace annals::net::auth {

namespace {

/// context/type.letters?query
struct Scope {
    std::string_view text;
    std::string_view context;
    std::string_view type;
    std::string letters;  ///< of version 2, whatever it was written in
    std::string_view query;
};

bool are_letters(std::string_view text) {
    constexpr std::string_view kLetters = "cruds";
    std::size_t from = 0;
    for (const char letter : text) {
        const std::size_t at = kLetters.find(letter, from);
        if (at == std::string_view::npos) {
            return false;
        }
        from = at + 1;
    }
    return !text.empty();
}

std::optional<Scope> read_scope(std::string_view text) {
    Scope scope;
    scope.text = text;
    const std::size_t slash = text.find('/');
    const std::size_t dot = text.find('.', slash == std::string_view::npos ? 0 : slash);
    if (slash == std::string_view::npos || dot == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t question = std::min(text.find('?', dot), text.size());
    scope.context = text.substr(0, slash);
    scope.type = text.substr(slash + 1, dot - slash - 1);
    scope.query = text.substr(std::min(question + 1, text.size()));
    const std::string_view letters = text.substr(dot + 1, question - dot - 1);
    scope.letters = letters == "read"    ? "rs"
                    : letters == "write" ? "cud"
                    : letters == "*"     ? "cruds"
                                         : std::string(letters);
    return are_letters(scope.letters) ? std::optional(scope) : std::nullopt;
}

/// What both permit; empty: nothing.
std::string meet(const Scope& asked, const Scope& allowed) {
    const bool types_meet = asked.type == allowed.type || asked.type == "*" || allowed.type == "*";
    // Two conditions on the same resources can't be said as one.
    const bool queries_meet =
        asked.query == allowed.query || asked.query.empty() || allowed.query.empty();
    if (asked.context != allowed.context || !types_meet || !queries_meet) {
        return {};
    }
    std::string letters;
    for (const char letter : asked.letters) {
        if (allowed.letters.find(letter) != std::string::npos) {
            letters += letter;
        }
    }
    const std::string_view type = asked.type == "*" ? allowed.type : asked.type;
    const std::string_view query = asked.query.empty() ? allowed.query : asked.query;
    if (letters == asked.letters && type == asked.type && query == asked.query) {
        return std::string(asked.text);  // in the words of whoever asks
    }
    if (letters.empty()) {
        return {};
    }
    std::string scope = std::string(asked.context) + '/' + std::string(type) + '.' + letters;
    if (!query.empty()) {
        scope += '?' + std::string(query);
    }
    return scope;
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> all;
    while (!text.empty() && all.size() < kGrantedScopesMax) {
        const std::size_t blank = std::min(text.find(' '), text.size());
        if (blank > 0) {
            all.push_back(text.substr(0, blank));
        }
        text.remove_prefix(std::min(blank + 1, text.size()));
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
        const std::optional<Scope> scope = read_scope(text);
        for (const std::string_view limit : limits) {
            const std::optional<Scope> wide = scope ? read_scope(limit) : std::nullopt;
            if (wide) {
                grant(meet(*scope, *wide));
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
