// The settings: their names, where their values live, and what they take.
//
// Layer:   core/config; used by load_config() and describe_config() alone.
// Threads: plain functions.

#pragma once

#include "core/config/config.h"
#include "core/config/toml.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace annals::core::settings {

using Millis = std::chrono::milliseconds;

/// Where a key's value lives, and by that which TOML values it takes.
using Flag = bool& (*)(Config&);
using Text = std::string& (*)(Config&);
using Texts = std::vector<std::string>& (*)(Config&);
using Issuers = std::vector<Config::Auth::Issuer>& (*)(Config&);

struct Number {
    std::uint64_t& (*field)(Config&);
    std::uint64_t min = 0;
    std::uint64_t max = std::numeric_limits<std::int64_t>::max();
};

struct Size {
    std::uint64_t& (*field)(Config&);
    std::uint64_t min = 1;
};

struct Duration {
    Millis& (*field)(Config&);
    Millis min{1};
};

struct Choice {
    std::string& (*field)(Config&);
    std::string_view choices;  // separated by blanks
};

using Field = std::variant<Flag, Text, Texts, Duration, Issuers, Number, Size, Choice>;

/// A setting.
struct Key {
    std::string_view name;
    Field field;
    std::string_view meaning;
};

/// All of them.
const std::vector<Key>& keys();

/// The setting of that name; null if there is none.
const Key* find_key(std::string_view name);

/// Puts a TOML value into its field; false if it is of the wrong type or out of range.
bool try_assign(Config& config, const Key& key, const toml::node& node);

/// The same. Errors: usage, as `source: key must be what it takes`.
Result<void> assign(Config& config, const Key& key, const toml::node& node,
                    std::string_view source);

/// The type's name, or what it may be, and the value as it would be written in a file.
std::pair<std::string, std::string> describe(const Key& key, Config& config);

}  // namespace annals::core::settings
