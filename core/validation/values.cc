#include "codec/fhirpath/decimal.h"
#include "core/validation/profile.h"

#include <optional>

namespace annals::validation {

namespace {

constexpr std::size_t kNesting = kJsonDepthMax;

bool same_number(json::Value a, json::Value b) {
    const std::optional<fhirpath::Decimal> left = fhirpath::Decimal::parse(a.raw());
    const std::optional<fhirpath::Decimal> right = fhirpath::Decimal::parse(b.raw());
    return left && right ? *left == *right : a.raw() == b.raw();
}

bool same_scalar(json::Value a, json::Value b) {
    if (a.is_string()) {
        return b.is_string() && a.string() == b.string();
    }
    if (a.is(json::Kind::number)) {
        return b.is(json::Kind::number) && same_number(a, b);
    }
    return a.raw() == b.raw();
}

// Spends steps for all that is visited: each member is looked up among all members of its object.
bool same(Context& context, json::Value a, json::Value b, std::size_t depth) {
    if (!a || !b || depth > kNesting || a.node().kind != b.node().kind || a.size() != b.size()) {
        return false;
    }
    if (a.is_object()) {
        for (const auto [key, value] : a.members()) {
            if (!context.spend(b.size()) || !same(context, value, b[key.string()], depth + 1)) {
                return false;
            }
        }
        return true;
    }
    if (a.is_array()) {
        auto other = b.elements().begin();
        for (const json::Value element : a.elements()) {
            if (!context.spend() || !same(context, element, *other, depth + 1)) {
                return false;
            }
            ++other;
        }
        return true;
    }
    return same_scalar(a, b);
}

bool has(Context& context, json::Value value, json::Value pattern, std::size_t depth) {
    if (!value || depth > kNesting) {
        return false;
    }
    if (pattern.is_object()) {
        for (const auto [key, inner] : pattern.members()) {
            if (!context.spend(value.size() + 1) ||
                !has(context, value[key.string()], inner, depth + 1)) {
                return false;
            }
        }
        return value.is_object();
    }
    if (pattern.is_array()) {
        for (const json::Value wanted : pattern.elements()) {
            bool found = false;
            for (const json::Value element : value.elements()) {
                found = found || (context.spend() && has(context, element, wanted, depth + 1));
            }
            if (!found) {
                return false;
            }
        }
        return value.is_array();
    }
    return same_scalar(value, pattern);
}

}  // namespace

bool same_value(Context& context, json::Value a, json::Value b) {
    return same(context, a, b, 0) || context.exhausted();
}

bool has_pattern(Context& context, json::Value value, json::Value pattern) {
    return has(context, value, pattern, 0) || context.exhausted();
}

}  // namespace annals::validation
