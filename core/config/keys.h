// The settings: names, fields in Config, and permitted values.
//
// Layer:   core/config; used only by load_config() and describe_config().
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

/// The field of a setting. Its kind determines which TOML values are accepted.
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

/// All settings.
const std::vector<Key>& keys();

/// The setting called `name`; null if there is none.
const Key* find_key(std::string_view name);

/// Assigns a TOML value to the setting's field; false if it has the wrong type or is out of range.
bool try_assign(Config& config, const Key& key, const toml::node& node);

/// The same. Errors: usage: "`source`: key must be ...".
Result<void> assign(Config& config, const Key& key, const toml::node& node,
                    std::string_view source);

/// The type's name or the permitted values, and the value as it would be written in a file.
std::pair<std::string, std::string> describe(const Key& key, Config& config);

}  // namespace annals::core::settings
