// The values that each kind of setting accepts, and how they are written.

#include "core/base/parts.h"
#include "core/config/config_checks.h"
#include "core/config/keys.h"
#include "core/config/units.h"

#include <fmt/format.h>

#include <optional>

namespace annals::core::settings {

namespace {

// Turns "a b" into "a, b" or "a | b".
std::string listed(std::string_view choices, std::string_view separator) {
    std::string list;
    for (const char c : choices) {
        if (c == ' ') {
            list += separator;
        } else {
            list += c;
        }
    }
    return list;
}

std::string kind_of(const Field& field) {
    struct Visitor {
        std::string operator()(Flag) const { return "true or false"; }

        std::string operator()(Text) const { return "a string"; }

        std::string operator()(Texts) const { return "a list of strings"; }

        std::string operator()(const Duration& duration) const {
            return fmt::format(
                "a duration such as \"60s\" (ms, s, m, h, d) of at least {} ms and at most 366 "
                "days",
                duration.min.count());
        }

        std::string operator()(Issuers) const {
            return "a list of tables with issuer, audience, and jwks_file or jwks_url";
        }

        std::string operator()(const Number& number) const {
            return number.max == Number{nullptr}.max
                       ? fmt::format("an integer of at least {}", number.min)
                       : fmt::format("an integer from {} to {}", number.min, number.max);
        }

        std::string operator()(const Size& size) const {
            return fmt::format(
                "a size: a number of bytes{}, or a string such as \"64MiB\"",
                size.min == 0 ? std::string() : fmt::format(", {} or more", size.min));
        }

        std::string operator()(const Choice& choice) const {
            return "one of " + listed(choice.choices, ", ");
        }
    };

    return std::visit(Visitor{}, field);
}

// Assigns a TOML value to its field; false if it has the wrong type or is out of range.
struct Assign {
    Config& config;
    const toml::node& node;

    std::optional<std::uint64_t> natural() const {
        const auto* integer = node.as_integer();
        if (integer == nullptr || integer->get() < 0) {
            return {};
        }
        return static_cast<std::uint64_t>(integer->get());
    }

    bool operator()(Flag field) const {
        const auto* value = node.as_boolean();
        if (value == nullptr) {
            return false;
        }
        field(config) = value->get();
        return true;
    }

    bool operator()(Text field) const {
        const auto* value = node.as_string();
        if (value == nullptr) {
            return false;
        }
        field(config) = value->get();
        return true;
    }

    bool operator()(Texts field) const {
        const auto* value = node.as_array();
        if (value == nullptr) {
            return false;
        }
        std::vector<std::string> texts;
        for (const toml::node& element : *value) {
            const auto* text = element.as_string();
            if (text == nullptr) {
                return false;
            }
            texts.push_back(text->get());
        }
        field(config) = std::move(texts);
        return true;
    }

    bool operator()(const Duration& field) const {
        const auto* text = node.as_string();
        if (text == nullptr) {
            return false;
        }
        const auto value = read_duration(text->get());
        // At most a year, so that sums of durations and times don't overflow.
        if (!value || *value > 366ULL * 86'400'000 || Millis(*value) < field.min) {
            return false;
        }
        field.field(config) = Millis(*value);
        return true;
    }

    bool operator()(Issuers field) const {
        const auto* value = node.as_array();
        if (value == nullptr) {
            return false;
        }
        std::vector<Config::Auth::Issuer> issuers;
        for (const toml::node& element : *value) {
            const auto* table = element.as_table();
            if (table == nullptr) {
                return false;
            }
            Config::Auth::Issuer issuer;
            for (const auto& [name, member] : *table) {
                std::string* const text = name == "issuer"      ? &issuer.issuer
                                          : name == "audience"  ? &issuer.audience
                                          : name == "jwks_file" ? &issuer.jwks_file
                                          : name == "jwks_url"  ? &issuer.jwks_url
                                                                : nullptr;
                if (text == nullptr || !member.is_string()) {
                    return false;
                }
                *text = member.as_string()->get();
            }
            issuers.push_back(std::move(issuer));
        }
        field(config) = std::move(issuers);
        return true;
    }

    bool operator()(const Number& field) const {
        const auto value = natural();
        if (!value || *value < field.min || *value > field.max) {
            return false;
        }
        field.field(config) = *value;
        return true;
    }

    bool operator()(const Size& field) const {
        const auto* text = node.as_string();
        const auto value = text != nullptr ? read_size(text->get()) : natural();
        if (!value || *value < field.min) {
            return false;
        }
        field.field(config) = *value;
        return true;
    }

    bool operator()(const Choice& field) const {
        const auto* value = node.as_string();
        if (value == nullptr || !has_word(field.choices, value->get())) {
            return false;
        }
        field.field(config) = value->get();
        return true;
    }
};

/// Describes a setting: its type or permitted values, and its default.
struct Describe {
    Config& config;

    std::pair<std::string, std::string> operator()(Flag field) const {
        return {"true | false", field(config) ? "true" : "false"};
    }

    std::pair<std::string, std::string> operator()(Text field) const {
        return {"string", fmt::format("\"{}\"", field(config))};
    }

    std::pair<std::string, std::string> operator()(Texts field) const {
        std::string list = "[";
        for (const std::string& text : field(config)) {
            list += fmt::format("{}\"{}\"", list.size() > 1 ? ", " : "", text);
        }
        return {"list of strings", list + "]"};
    }

    std::pair<std::string, std::string> operator()(const Duration& field) const {
        const auto value = static_cast<std::uint64_t>(field.field(config).count());
        return {"duration", fmt::format("\"{}\"", duration_text(value))};
    }

    std::pair<std::string, std::string> operator()(Issuers) const {
        return {"list of tables", "[]"};
    }

    std::pair<std::string, std::string> operator()(const Number& field) const {
        std::string kind = "integer";
        if (field.max != Number{nullptr}.max) {
            kind += fmt::format(" from {} to {}", field.min, field.max);
        } else if (field.min != 0) {
            kind += fmt::format(" from {} on", field.min);
        }
        return {std::move(kind), fmt::format("{}", field.field(config))};
    }

    std::pair<std::string, std::string> operator()(const Size& field) const {
        return {field.min > 1 ? fmt::format("size from {} on", size_text(field.min)) : "size",
                fmt::format("\"{}\"", size_text(field.field(config)))};
    }

    std::pair<std::string, std::string> operator()(const Choice& field) const {
        return {listed(field.choices, " | "), fmt::format("\"{}\"", field.field(config))};
    }
};

}  // namespace

bool try_assign(Config& config, const Key& key, const toml::node& node) {
    return std::visit(Assign{config, node}, key.field);
}

Result<void> assign(Config& config, const Key& key, const toml::node& node,
                    std::string_view source) {
    if (!try_assign(config, key, node)) {
        return usage(fmt::format("{}: {} must be {}", source, key.name, kind_of(key.field)));
    }
    return {};
}

std::pair<std::string, std::string> describe(const Key& key, Config& config) {
    return std::visit(Describe{config}, key.field);
}

}  // namespace annals::core::settings
