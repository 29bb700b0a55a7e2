#include "core/subscriptions/subscription.h"

#include "core/base/text.h"
#include "core/interactions/negotiation.h"
#include "core/subscriptions/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::core {

namespace {

constexpr std::array<std::string_view, 4> kStatusNames{"requested", "active", "error", "off"};

Error unfit(Errc code, std::string detail) {
    return {code, std::move(detail), ""};
}

// Headers that subscribers may not set: those that determine framing and destination, and those that this server sets.
bool is_ours(std::string_view name) {
    const std::string lower = ascii_lower(name);
    constexpr std::array<std::string_view, 11> kOurs{"connection",     "content-encoding",
                                                     "content-length", "content-type",
                                                     "expect",         "host",
                                                     "keep-alive",     "te",
                                                     "trailer",        "transfer-encoding",
                                                     "upgrade"};
    return std::find(kOurs.begin(), kOurs.end(), lower) != kOurs.end() ||
           lower.starts_with("proxy-") || lower.starts_with("x-annals-");
}

Result<std::string> read_header(std::string_view line) {
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view name = line.substr(0, colon);
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    const std::size_t begin = value.find_first_not_of(" \t");
    if (!is_token(name) || begin == std::string_view::npos ||
        !std::all_of(value.begin(), value.end(),
                     [](char c) { return c == '\t' || (c >= ' ' && c < 0x7f); })) {
        return unfit(Errc::value,
                     "channel.header: a line is not of the form 'Name: value' in visible ASCII");
    }
    value = value.substr(begin, value.find_last_not_of(" \t") - begin + 1);
    if (is_ours(name)) {
        return unfit(Errc::invalid, fmt::format("channel.header: {} cannot be set", name));
    }
    return fmt::format("{}: {}", name, value);
}

Result<std::vector<std::string>> read_headers(json::Value headers) {
    std::vector<std::string> lines;
    std::size_t bytes = 0;
    for (const json::Value header : headers.elements()) {
        ANNALS_TRY(std::string line, read_header(header.string()));
        bytes += line.size();
        if (lines.size() == kChannelHeadersMax || bytes > kChannelHeaderBytesMax) {
            return unfit(Errc::too_costly,
                         fmt::format("channel.header: at most {} lines of {} bytes together",
                                     kChannelHeadersMax, kChannelHeaderBytesMax));
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

Result<Payload> read_payload(json::Value payload) {
    if (!payload) {
        return Payload::none;
    }
    const std::string text = payload.string();
    const std::string_view name = read_media_type(text).name;
    if (const std::optional<Format> format = format_of(name)) {
        return format == Format::json ? Payload::json : Payload::xml;
    }
    if (name == "id-only") {
        return Payload::id_only;
    }
    return unfit(Errc::not_supported,
                 fmt::format("channel.payload: '{}' is not one of application/fhir+json, "
                             "application/fhir+xml and id-only",
                             text.substr(0, 100)));
}

Result<void> read_rest_hook(json::Value channel, std::span<const std::string> allowed,
                            Subscription& out) {
    out.endpoint = channel["endpoint"].string();
    if (out.endpoint.empty()) {
        return unfit(Errc::required, "channel.endpoint: required for a rest-hook");
    }
    const Result<Endpoint> endpoint = read_endpoint(out.endpoint);
    if (!endpoint) {
        return unfit(Errc::value, "channel.endpoint: " + endpoint.error().detail);
    }
    if (!is_allowed(*endpoint, allowed)) {
        return unfit(Errc::forbidden,
                     "channel.endpoint: this server does not send notifications there");
    }
    ANNALS_TRY(out.payload, read_payload(channel["payload"]));
    const bool is_base = out.payload == Payload::json || out.payload == Payload::xml;
    if (is_base && endpoint->has_query) {
        return unfit(
            Errc::invalid,
            "channel.endpoint: with a payload it is a base URL, which must not have a query");
    }
    while (is_base && out.endpoint.ends_with('/')) {
        out.endpoint.pop_back();
    }
    ANNALS_TRY(out.headers, read_headers(channel["header"]));
    return {};
}

}  // namespace

std::string_view name_of(SubscriptionStatus status) noexcept {
    return kStatusNames[static_cast<std::size_t>(status)];
}

TypeId subscription_type() noexcept {
    static const TypeId type = *find_resource_type("Subscription");
    return type;
}

std::optional<SubscriptionStatus> status_of(json::Value resource) {
    const json::Value status = resource["status"];
    for (std::size_t i = 0; i < kStatusNames.size(); ++i) {
        if (status.equals(kStatusNames[i])) {
            return static_cast<SubscriptionStatus>(i);
        }
    }
    return {};
}

Result<std::pair<TypeId, std::string>> split_criteria(std::string_view criteria) {
    if (criteria.size() > kCriteriaBytesMax) {
        return unfit(Errc::too_costly, "criteria: too long");
    }
    const std::size_t mark = std::min(criteria.find('?'), criteria.size());
    std::string_view name = criteria.substr(0, mark);
    if (name.starts_with('/')) {
        name.remove_prefix(1);
    }
    const auto type = find_resource_type(name);
    if (!type) {
        return unfit(Errc::invalid, fmt::format("criteria: '{}' is not a resource type; expected a "
                                                "search such as Observation?code=1975-2",
                                                name.substr(0, 100)));
    }
    return std::pair(*type, std::string(criteria.substr(std::min(mark + 1, criteria.size()))));
}

Result<Subscription> read_subscription(json::Value resource, std::span<const std::string> allowed) {
    Subscription out;
    ANNALS_TRY(auto criteria, split_criteria(resource["criteria"].string()));
    out.type = criteria.first;
    out.criteria = std::move(criteria.second);
    if (const json::Value end = resource["end"]) {
        const Result<Instant> instant = parse_instant(end.string());
        if (!instant) {
            return unfit(Errc::value, "end: this is not an instant");
        }
        out.end = *instant;
    }
    const json::Value channel = resource["channel"];
    const std::string type = channel["type"].string();
    if (type == "rest-hook") {
        ANNALS_TRY_VOID(read_rest_hook(channel, allowed, out));
    } else if (type == "websocket") {
        out.channel = Channel::websocket;
    } else {
        return unfit(Errc::not_supported,
                     fmt::format("channel.type: '{}' is neither rest-hook nor websocket",
                                 type.substr(0, 100)));
    }
    return out;
}

std::string with_status(json::Value resource, SubscriptionStatus status, std::string_view error) {
    std::string out = "{";
    const auto add_name = [&out](std::string_view name) {
        out += out.size() > 1 ? "," : "";
        out += name;
        out += ':';
    };
    for (const auto [key, value] : resource.members()) {
        if (key.equals("error") || key.equals("_error") || key.equals("_status")) {
            continue;
        }
        add_name(key.raw());
        if (key.equals("status")) {
            json::append_quoted(out, name_of(status));
        } else {
            out += value.raw();
        }
    }
    if (!error.empty()) {
        add_name("\"error\"");
        json::append_quoted(out, error);
    }
    return out + "}";
}

}  // namespace annals::core
