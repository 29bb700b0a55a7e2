#include "core/target.h"

#include "codec/json/unicode.h"
#include "core/base/ascii.h"
#include "core/base/ids.h"
#include "core/base/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

namespace annals::core {

namespace {

constexpr std::size_t kSegmentsMax = 5;
using Segments = std::string_view[kSegmentsMax];

Error unknown_path() {
    return {Errc::not_found, "There is nothing at this path"};
}

// Splits the path into segments; a path with more than kSegmentsMax or with an empty segment inside is unknown.
Result<std::size_t> split(std::string_view path, Segments& segments) {
    if (path.starts_with('/')) {
        path.remove_prefix(1);
    }
    if (path.ends_with('/')) {
        path.remove_suffix(1);
    }
    std::size_t count = 0;
    while (!path.empty()) {
        if (count == kSegmentsMax) {
            return unknown_path();
        }
        const std::size_t slash = path.find('/');
        segments[count] = path.substr(0, slash);
        if (segments[count].empty()) {
            return unknown_path();
        }
        ++count;
        if (slash == std::string_view::npos) {
            break;
        }
        path.remove_prefix(slash + 1);
        if (path.empty()) {
            return unknown_path();
        }
    }
    return count;
}

Result<std::string> percent_decode(std::string_view text) {
    std::string out(text);
    std::replace(out.begin(), out.end(), '+', ' ');
    std::size_t size = std::min(out.find('%'), out.size());
    for (std::size_t i = size; i < out.size(); ++i) {
        char c = out[i];
        if (c == '%') {
            const int high = i + 2 < out.size() ? json::hex_value(out[i + 1]) : -1;
            const int low = i + 2 < out.size() ? json::hex_value(out[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return Error{Errc::invalid, "The query has a malformed percent-escape"};
            }
            c = static_cast<char>(high * 16 + low);
            i += 2;
        }
        out[size++] = c;
    }
    out.resize(size);
    if (!json::is_utf8(out) || out.find('\0') != std::string::npos) {
        return Error{Errc::invalid, "The query is not valid UTF-8 text"};
    }
    return out;
}

// A job, or a file of a job.
Result<Target> job_target(std::span<const std::string_view> segments) {
    const bool is_job = segments.size() == 2;
    const bool is_file = segments.size() == 3 && segments[0] == "_jobs";
    if ((!is_job && !is_file) || !is_resource_id(segments[1])) {
        return unknown_path();
    }
    Target target;
    target.level = is_job ? Level::job : Level::job_file;
    target.id = segments[1];
    target.member = is_file ? segments[2] : std::string_view();
    return target;
}

bool names_operation(std::string_view segment) noexcept {
    return segment.size() > 1 && segment[0] == '$';
}

// A single segment below the base that is no type.
Result<Target> system_target(std::string_view name) {
    Target target;
    if (name == "metadata") {
        target.level = Level::metadata;
    } else if (name == "openapi.json") {
        target.level = Level::openapi;
    } else if (name == "_history") {
        target.level = Level::system_history;
    } else if (name == "_search") {
        target.level = Level::system_search;
    } else if (name == "_changes") {
        target.level = Level::changes;
    } else if (names_operation(name)) {
        target.level = Level::system_operation;
        target.operation = name;
    } else {
        return unknown_path();
    }
    return target;
}

// A single segment below a type that is no id.
Result<Target> type_target(TypeId type, std::string_view name) {
    Target target;
    target.type = type;
    if (name == "_history") {
        target.level = Level::type_history;
    } else if (name == "_search") {
        target.level = Level::type_search;
    } else if (names_operation(name)) {
        target.level = Level::type_operation;
        target.operation = name;
    } else {
        return unknown_path();
    }
    return target;
}

// The history, a version, or an operation on a version of the instance in `target`.
Result<Target> version_target(Target target, const Segments& segments, std::size_t count) {
    target.level = count == 3   ? Level::instance_history
                   : count == 4 ? Level::version
                                : Level::version_operation;
    target.version = segments[3];
    target.operation = segments[4];
    if (count == 5 && !names_operation(target.operation)) {
        return unknown_path();
    }
    return target;
}

// An operation on the instance in `target`, or its compartment.
Result<Target> member_target(Target target, const Segments& segments, std::size_t count) {
    const std::string_view third = segments[2];
    if (count == 3 && names_operation(third)) {
        target.level = Level::instance_operation;
        target.operation = third;
        return target;
    }
    const bool by_post = segments[count - 1] == "_search";
    // /Patient/1/_search searches all types of the compartment.
    const std::string_view member = by_post && count == 3 ? "*" : third;
    if (count <= (by_post ? 4U : 3U) && (member == "*" || find_resource_type(member))) {
        target.level = by_post ? Level::compartment_search : Level::compartment;
        target.member = member;
        return target;
    }
    return unknown_path();
}

}  // namespace

bool names_a_type(Level level) noexcept {
    switch (level) {
        case Level::root:
        case Level::metadata:
        case Level::openapi:
        case Level::system_history:
        case Level::system_search:
        case Level::changes:
        case Level::system_operation:
        case Level::job:
        case Level::job_file:
            return false;
        default:
            return true;
    }
}

bool is_search_by_post(Level level) noexcept {
    return level == Level::system_search || level == Level::type_search ||
           level == Level::compartment_search;
}

bool is_compartment(Level level) noexcept {
    return level == Level::compartment || level == Level::compartment_search;
}

Result<Target> parse_target(std::string_view path) {
    Segments segments;
    ANNALS_TRY(const std::size_t count, split(path, segments));
    Target target;
    if (count == 0) {
        return target;
    }
    const std::string_view first = segments[0];
    if (first == "_jobs" || first == "_export-status") {
        return job_target({segments, count});
    }
    if (first.starts_with('_') || first.starts_with('$') || first == "metadata" ||
        first == "openapi.json") {
        return count == 1 ? system_target(first) : unknown_path();
    }

    const std::optional<TypeId> type = find_resource_type(first);
    if (!type) {
        return Error{Errc::not_found, fmt::format("Unknown resource type '{}'", first)};
    }
    target.type = *type;
    if (count == 1) {
        target.level = Level::type;
        return target;
    }
    const std::string_view second = segments[1];
    if (second == "_history" || second == "_search" || second.starts_with('$')) {
        return count == 2 ? type_target(*type, second) : unknown_path();
    }
    if (!is_resource_id(second)) {
        return Error{Errc::value,
                     fmt::format("'{}' is not a valid id: 1 to 64 of A-Z a-z 0-9 - .", second)};
    }
    target.id = second;
    if (count == 2) {
        target.level = Level::instance;
        return target;
    }
    return segments[2] == "_history" ? version_target(target, segments, count)
                                     : member_target(target, segments, count);
}

Result<Parameters> parse_query(std::string_view query) {
    Parameters parameters;
    while (!query.empty()) {
        std::string_view pair = take_until(query, '&');
        if (pair.empty()) {
            continue;
        }
        ANNALS_TRY(std::string name, percent_decode(take_until(pair, '=')));
        ANNALS_TRY(std::string value, percent_decode(pair));
        parameters.emplace_back(std::move(name), std::move(value));
    }
    return parameters;
}

std::optional<std::uint64_t> read_count(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (text.empty() || at != end) {
        return {};
    }
    return error == std::errc() ? number : UINT64_MAX;
}

void unescape_path(std::string_view path, std::string& out) {
    out.clear();
    if (path.find('%') == std::string_view::npos) {
        return;
    }
    for (std::size_t i = 0; i < path.size(); ++i) {
        unsigned char byte = 0;
        const char* const digits = path.data() + i + 1;
        if (path[i] == '%' && i + 2 < path.size() &&
            std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2 && byte > ' ' &&
            byte < 0x7f &&
            std::string_view("/?#%").find(static_cast<char>(byte)) == std::string_view::npos) {
            out += static_cast<char>(byte);
            i += 2;
        } else {
            out += path[i];
        }
    }
}

std::string percent_encode(std::string_view text) {
    constexpr char kHex[] = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const bool unreserved =
            is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
        if (unreserved) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += '%';
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        }
    }
    return out;
}

}  // namespace annals::core
