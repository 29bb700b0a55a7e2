#include "core/interactions/history_bundle_entry.h"

#include "core/interactions/media_type.h"

#include <fmt/format.h>

#include <charconv>

namespace annals::core {

namespace {

/// A version number in canonical decimal form; VersionNumber{0} if it is larger than the store allows.
std::optional<VersionNumber> parse_version_number(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool digits = error != std::errc::invalid_argument && end == text.data() + text.size();
    if (!digits || text.front() == '0') {
        return std::nullopt;
    }
    const bool fits = error == std::errc{} && number <= kVersionNumberMax;
    return VersionNumber{fits ? number : 0};
}

/// The number in W/"3", "3" or 3.
std::string_view inside_etag(std::string_view etag) noexcept {
    if (etag.starts_with("W/")) {
        etag.remove_prefix(2);
    }
    return unquoted(etag);
}

/// Reads an optional member; false if it is not of `kind`.
bool take(json::Value value, json::Kind kind, json::Value& place) {
    place = value;
    return value.is(kind);
}

/// Calls `take_member(name, value)` for each member; an error for the first one that it refuses.
template <typename Take>
Result<void> read_members(json::Value object, const Take& take_member) {
    std::string resolved;
    for (const auto [key, value] : object.members()) {
        std::string_view name = key.raw_string();
        if (key.node().escaped) [[unlikely]] {
            resolved = key.string();
            name = resolved;
        }
        if (!take_member(name, value)) [[unlikely]] {
            return Error{Errc::structure, fmt::format("{} has the wrong JSON type", name)};
        }
    }
    return {};
}

/// The members of an entry that identify it; escapes are resolved when needed.
struct Parts {
    json::Value resource;
    json::Value full_url;
    json::Value method;
    json::Value url;
    json::Value status;
    json::Value etag;
    json::Value location;
    json::Value last_modified;
};

Result<Parts> read_parts(json::Value entry) {
    if (!entry.is_object()) {
        return Error{Errc::structure, "the entry must be an object"};
    }
    Parts parts;
    json::Value request;
    json::Value response;
    json::Value search;
    using json::Kind;
    ANNALS_TRY_VOID(read_members(entry, [&](std::string_view name, json::Value value) {
        return name == "resource"   ? take(value, Kind::object, parts.resource)
               : name == "fullUrl"  ? take(value, Kind::string, parts.full_url)
               : name == "request"  ? take(value, Kind::object, request)
               : name == "response" ? take(value, Kind::object, response)
               : name == "search"   ? take(value, Kind::object, search)
                                    : true;
    }));
    if (search && search["mode"].equals("outcome")) {
        return Error{Errc::invalid,
                     "search.mode is outcome: a server's remark on its answer is not a version"};
    }
    ANNALS_TRY_VOID(read_members(request, [&](std::string_view name, json::Value value) {
        return name == "method" ? take(value, Kind::string, parts.method)
               : name == "url"  ? take(value, Kind::string, parts.url)
                                : true;
    }));
    ANNALS_TRY_VOID(read_members(response, [&](std::string_view name, json::Value value) {
        return name == "status"         ? take(value, Kind::string, parts.status)
               : name == "etag"         ? take(value, Kind::string, parts.etag)
               : name == "location"     ? take(value, Kind::string, parts.location)
               : name == "lastModified" ? take(value, Kind::string, parts.last_modified)
                                        : true;
    }));
    return parts;
}

/// The resource that a URL of the entry names. Lifetime: the result points into the document or `resolved`.
std::optional<ResourceUrl> named_by(json::Value url, std::string& resolved) {
    if (url && url.node().escaped) [[unlikely]] {
        resolved = url.string();
        return parse_resource_url(resolved);
    }
    return parse_resource_url(url.raw_string());
}

/// Sets the entry's type and id from a URL, if it names a resource of `type`.
bool identify(HistoryEntry& entry, std::optional<TypeId> type, json::Value url) {
    std::string resolved;
    const auto named = named_by(url, resolved);
    if (!named || (type && named->type != *type)) {
        return false;
    }
    entry.type = named->type;
    entry.id = named->id;
    return true;
}

/// A deletion has no body that identifies its resource, so everything that names one must name the same.
Result<void> check_doomed(const Parts& parts, std::optional<TypeId> type,
                          const HistoryEntry& entry) {
    bool one = (!type || *type == entry.type) && entry.facts.id.value_or(entry.id) == entry.id;
    std::string resolved;
    for (const json::Value& url : {parts.url, parts.full_url}) {
        const auto named = named_by(url, resolved);
        one = one && (!named || (named->type == entry.type && named->id == entry.id));
    }
    return one ? Result<void>()
               : Error{Errc::invalid,
                       "request.url, fullUrl and resource of a deletion do not name the same "
                       "resource"};
}

Result<void> read_identity(const Parts& parts, HistoryEntry& entry) {
    std::optional<TypeId> type;
    if (parts.resource) {
        ANNALS_TRY(entry.facts, json::read_facts(parts.resource));
        type = entry.facts.type;
        if (entry.facts.id && !is_resource_id(*entry.facts.id)) {
            return Error{Errc::value, "resource.id is not a valid id"};
        }
    }
    if (entry.deletion && (identify(entry, {}, parts.url) || identify(entry, {}, parts.full_url))) {
        return check_doomed(parts, type, entry);
    }
    if (entry.facts.id) {
        entry.type = entry.facts.type;
        entry.id = *entry.facts.id;
        return {};
    }
    if (identify(entry, type, parts.url) || identify(entry, type, parts.full_url)) {
        return {};
    }
    // They may name a resource of another type, or of a type that R4 doesn't have.
    return Error{Errc::required,
                 fmt::format("neither resource.id nor request.url nor fullUrl names a {}",
                             type ? resource_type_name(*type) : "resource")};
}

Result<void> read_version(const Parts& parts, HistoryEntry& entry) {
    const auto set = [&](std::string_view text, std::string_view place) -> Result<void> {
        entry.version = text.empty() ? std::nullopt : parse_version_number(text);
        if (!entry.version) {
            return Error{Errc::value,
                         fmt::format("{} is not a version number, such as 1 or 42", place)};
        }
        if (entry.version->value == 0) {
            return Error{Errc::value,
                         fmt::format("{} is beyond {}, the largest version number that "
                                     "can be stored",
                                     place, kVersionNumberMax)};
        }
        return {};
    };
    if (parts.resource && entry.facts.version_id) {
        return set(*entry.facts.version_id, "meta.versionId");
    }
    if (parts.etag) {
        const std::string etag = parts.etag.string();
        return set(inside_etag(etag), "response.etag");
    }
    std::string resolved;
    for (const json::Value& url : {parts.full_url, parts.location}) {
        const auto named = named_by(url, resolved);
        if (named && !named->version.empty()) {
            return set(named->version, "_history/[vid] of fullUrl or response.location");
        }
    }
    return {};
}

Result<void> read_instant(const Parts& parts, HistoryEntry& entry) {
    // A deletion's resource may be the deleted version, so its meta is used only if there is no other instant.
    const bool in_meta = parts.resource && entry.facts.last_updated &&
                         (!entry.deletion || (!parts.last_modified && entry.facts.version_id));
    if (!in_meta && !parts.last_modified) {
        return {};
    }
    if (in_meta) {
        entry.last_updated = *entry.facts.last_updated;
    } else {
        entry.last_updated = parts.last_modified.string();
    }
    const auto instant = parse_instant(entry.last_updated);
    if (!instant) {
        return Error{Errc::value, in_meta ? "meta.lastUpdated is not an instant"
                                          : "response.lastModified is not an instant"};
    }
    entry.instant = *instant;
    return {};
}

/// What replaces the number and the instant in the entry's resource. `digits`: receives the number.
json::BodyPlan::Keep kept_of(const HistoryEntry& entry, std::optional<std::string_view> instant,
                             std::array<char, 20>& digits) {
    json::BodyPlan::Keep kept;
    if (entry.version) {
        char* const begin = digits.data();
        char* const end = std::to_chars(begin, begin + digits.size(), entry.version->value).ptr;
        kept.version = std::string_view(begin, end);
    }
    if (instant || entry.instant) {
        kept.last_updated = instant.value_or(entry.last_updated);
    }
    return kept;
}

}  // namespace

KeptBody::KeptBody(const HistoryEntry& entry, std::optional<std::string_view> instant)
    : plan_(entry.facts, entry.id, kept_of(entry, instant, digits_)) {
}

std::optional<ResourceUrl> parse_resource_url(std::string_view url) noexcept {
    if (url.find('?') != std::string_view::npos) {
        return std::nullopt;  // criteria, which may end in the URL of another resource
    }
    const auto take_last = [&]() -> std::string_view {
        const std::size_t slash = url.rfind('/');
        const std::string_view last = slash == std::string_view::npos ? url : url.substr(slash + 1);
        url.remove_suffix(slash == std::string_view::npos ? url.size() : url.size() - slash);
        return last;
    };
    ResourceUrl named;
    std::string_view last = take_last();
    if (url.ends_with("/_history")) {
        named.version = last;
        take_last();
        last = take_last();
    }
    named.id = last;
    const auto type = find_resource_type(take_last());
    if (!type || !is_resource_id(named.id)) {
        return std::nullopt;
    }
    named.type = *type;
    return named;
}

bool is_history_entry(json::Value object) noexcept {
    return !object["resourceType"] &&
           (object["request"].is_object() || object["response"].is_object() ||
            (object["resource"].is_object() && !object["search"]));
}

Result<void> read_history_entry(json::Value value, HistoryEntry& entry) {
    entry.version.reset();
    entry.instant.reset();
    entry.last_updated.clear();
    entry.facts = {};
    ANNALS_TRY(const Parts parts, read_parts(value));
    entry.full_url = parts.full_url;
    entry.deletion = parts.method.equals("DELETE") || parts.status.raw_string().starts_with("410");
    if (!parts.resource && !entry.deletion) {
        return Error{Errc::required, "resource is missing, and the entry is not a deletion"};
    }
    ANNALS_TRY_VOID(read_identity(parts, entry));
    static const std::optional<TypeId> parameters = find_resource_type("Parameters");
    if (parts.resource && entry.type == parameters) {
        return Error{Errc::invalid, "Parameters resources cannot be stored"};
    }
    ANNALS_TRY_VOID(read_version(parts, entry));
    ANNALS_TRY_VOID(read_instant(parts, entry));
    return {};
}

}  // namespace annals::core
