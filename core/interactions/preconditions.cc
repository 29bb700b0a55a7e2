#include "core/interactions/preconditions.h"

#include "core/interactions/answer.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

constexpr std::int64_t kSecond = 1'000'000;

constexpr std::string_view kIfMatch = "If-Match";
constexpr std::string_view kIfNoneMatch = "If-None-Match";
constexpr std::string_view kIfUnmodifiedSince = "If-Unmodified-Since";

// HTTP dates are whole seconds: a version written in the same second counts as the one the client saw.
bool is_no_later(Instant written, Instant date) {
    return written.us < date.us + kSecond;
}

bool fits(const EntityTags& tags, const storage::Head& head) {
    return head.exists && (tags.any ? !head.deletion : tags.names(head.version));
}

// One tag from the start of `rest`; none if it is malformed.
std::optional<std::string_view> take_tag(std::string_view& rest) {
    const bool weak = rest.starts_with("W/");
    if (weak) {
        rest.remove_prefix(2);
    }
    if (rest.starts_with('"')) {
        const std::size_t end = rest.find('"', 1);
        if (end == std::string_view::npos) {
            return {};
        }
        const std::string_view tag = rest.substr(1, end - 1);
        rest.remove_prefix(end + 1);
        return tag;
    }
    const std::size_t end = rest.find_first_not_of("0123456789");
    const std::string_view tag = rest.substr(0, end);
    if (weak || tag.empty()) {
        return {};
    }
    rest.remove_prefix(tag.size());
    return tag;
}

Result<void> read_list(std::string_view rest, std::string_view name, EntityTags& tags) {
    const auto malformed = [&] {
        return Error{Errc::invalid, fmt::format("{}: malformed entity tag", name)};
    };
    rest = trimmed(rest);
    if (rest == "*") {
        tags.any = true;
        return {};
    }
    bool any = false;
    do {
        // Empty elements are ignored (RFC 9110 section 5.6.1.2), but there must be another one.
        rest.remove_prefix(std::min(rest.find_first_not_of(", \t"), rest.size()));
        if (any && rest.empty()) {
            return {};
        }
        const std::optional<std::string_view> tag = take_tag(rest);
        if (!tag) {
            return malformed();
        }
        tags.opaque.push_back(*tag);
        any = true;
        rest = trimmed(rest);
    } while (rest.starts_with(','));
    return rest.empty() ? Result<void>() : malformed();
}

// All headers `name` of the request as one list; none if there is no such header. Errors: invalid (a malformed tag).
Result<std::optional<EntityTags>> read_entity_tags(const Request& request, std::string_view name) {
    std::optional<EntityTags> tags;
    for (const Header& header : request.headers) {
        if (equal_ignoring_case(header.name, name)) {
            if (!tags) {
                tags.emplace();
            }
            ANNALS_TRY_VOID(read_list(header.value, name, *tags));
        }
    }
    return tags;
}

// Whether If-None-Match names `tag`, or is *.
bool is_named(const Request& request, std::string_view tag) {
    const auto tags = read_entity_tags(request, kIfNoneMatch);
    return tags && *tags &&
           ((*tags)->any || std::ranges::find((*tags)->opaque, tag) != (*tags)->opaque.end());
}

// Whether `written` is not after If-Modified-Since.
bool is_old(const Request& request, Instant written) {
    const auto since = request.header("If-Modified-Since");
    if (!since) {
        return false;
    }
    const Result<Instant> date = parse_http_date(*since);
    return date && is_no_later(written, *date);
}

// A browser's cache also revalidates with the tag of another representation at the same URL, which has the same tag:
// after a 304, a page would get JSON instead of the XML or picture that it asked for. It omits the date then, and only
// then; a request for which a page sets a tag itself has Cache-Control.
bool may_keep_another(const Request& request) {
    return request.header("Sec-Fetch-Mode") && !request.header("If-Modified-Since") &&
           !request.header("Cache-Control");
}

}  // namespace

bool EntityTags::names(VersionNumber version) const {
    const std::string number = std::to_string(version.value);
    return std::ranges::find(opaque, std::string_view(number)) != opaque.end();
}

std::string EntityTags::describe() const {
    std::string out;
    for (const std::string_view tag : opaque) {
        out += fmt::format("{}{}", out.empty() ? "" : " or ", tag);
    }
    return any ? "*" : out;
}

Result<Preconditions> read_preconditions(const Request& request) {
    Preconditions required;
    ANNALS_TRY(required.match, read_entity_tags(request, kIfMatch));
    ANNALS_TRY(required.none_match, read_entity_tags(request, kIfNoneMatch));
    if (const auto since = request.header(kIfUnmodifiedSince); since && !required.match) {
        if (const Result<Instant> date = parse_http_date(*since)) {
            required.unmodified_since = *date;
        }
    }
    return required;
}

storage::Head head_of(const storage::VersionInfo& newest) noexcept {
    storage::Head head;
    head.exists = true;
    head.deletion = newest.deletion;
    head.version = newest.version;
    head.instant = newest.instant;
    head.position = newest.position;
    return head;
}

Result<void> check_preconditions(const Preconditions& required, TypeId type, std::string_view id,
                                 const storage::Head& head) {
    if (required.match && !fits(*required.match, head)) {
        return Error{
            Errc::precondition,
            fmt::format("If-Match: expected version {}, actual {}", required.match->describe(),
                        head.exists ? fmt::format("version {}", head.version.value) : "none")};
    }
    if (required.unmodified_since && head.exists &&
        !is_no_later(head.instant, *required.unmodified_since)) {
        return Error{
            Errc::precondition,
            fmt::format("If-Unmodified-Since: version {} of {} is of {}", head.version.value,
                        resource_name(type, id), format_instant(head.instant))};
    }
    if (required.none_match && fits(*required.none_match, head)) {
        return Error{Errc::precondition, fmt::format("If-None-Match: {} exists as version {}",
                                                     resource_name(type, id), head.version.value)};
    }
    return {};
}

bool is_kept(const Request& request, VersionNumber version) {
    return is_named(request, std::to_string(version.value)) && !may_keep_another(request);
}

bool not_modified(const Request& request, VersionNumber version, Instant last_updated) {
    if (request.header(kIfNoneMatch)) {
        return is_kept(request, version);
    }
    if (request.modified_since) {
        return last_updated <= *request.modified_since;
    }
    return is_old(request, last_updated);
}

bool file_not_modified(const Request& request, std::string_view tag, Instant written) {
    return request.header(kIfNoneMatch) ? is_named(request, tag) : is_old(request, written);
}

}  // namespace annals::core
