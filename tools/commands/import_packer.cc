#include "tools/commands/import_packer.h"

#include "core/base/digest.h"
#include "core/base/ids.h"
#include "core/base/instant.h"
#include "core/base/resource_types.h"
#include "tools/commands/history_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace annals::tools {

namespace {

constexpr std::size_t kHistoryEntriesMax = 2000;
constexpr std::size_t kBatchEntriesMax = 256;
constexpr std::size_t kPackBytesMax = 8 << 20;

/// An entry of a history Bundle, and its number there.
using NumberedEntry = std::pair<json::Value, std::int64_t>;

/// For each resource, its version numbers and their places in the Bundle.
using ToldVersions =
    std::unordered_map<std::string, std::vector<std::pair<std::uint64_t, std::size_t>>>;

/// What a history Bundle says about its order.
struct Told {
    ToldVersions versions;
    bool later = false;    ///< an instant is later than the one before it
    bool earlier = false;  ///< one is earlier
};

Told read_told(const std::vector<NumberedEntry>& entries) {
    Told told;
    core::HistoryEntry entry;
    std::optional<Instant> previous;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!core::read_history_entry(entries[i].first, entry)) {
            continue;
        }
        if (entry.version) {
            told.versions[fmt::format("{}/{}", resource_type_name(entry.type), entry.id)]
                .emplace_back(entry.version->value, i);
        }
        if (entry.instant) {
            told.later |= previous && *entry.instant > *previous;
            told.earlier |= previous && *entry.instant < *previous;
            previous = entry.instant;
        }
    }
    return told;
}

/// Whether versions come before older ones of the same resource more often than after; if the versions don't tell, for
/// instance with one per resource, whether all instants go backwards.
bool is_newest_first(const Told& told) {
    std::int64_t ascents = 0;
    for (const auto& [resource, versions] : told.versions) {
        for (std::size_t i = 1; i < versions.size(); ++i) {
            ascents += versions[i].first > versions[i - 1].first   ? 1
                       : versions[i].first < versions[i - 1].first ? -1
                                                                   : 0;
        }
    }
    return ascents < 0 || (ascents == 0 && told.earlier && !told.later);
}

/// Servers return history newest first; taken in that order, all but the newest versions would be ignored, and past states
/// could not be found. Instants prove little, for a server may keep those of others: a resource's version numbers come first.
/// Servers that go by their clock, or those of several machines, get some instants the wrong way round.
void put_oldest_first(std::vector<NumberedEntry>& entries) {
    Told told = read_told(entries);
    if (is_newest_first(told)) {
        std::reverse(entries.begin(), entries.end());
        told = read_told(entries);
    }
    const std::vector<NumberedEntry> before = entries;
    for (auto& [resource, versions] : told.versions) {
        std::vector<std::size_t> places;
        for (const auto& [version, place] : versions) {
            places.push_back(place);
        }
        std::ranges::sort(versions);
        for (std::size_t i = 0; i < places.size(); ++i) {
            entries[places[i]] = before[versions[i].second];
        }
    }
}

/// The text of an entry; if it is a deletion without a time, with `instant` added.
std::string dated(json::Value entry, std::string_view instant) {
    std::string text(entry.raw());
    const json::Value response = entry["response"];
    if (!entry["resource"] && response.is_object() && !response["lastModified"] &&
        !instant.empty()) {
        const std::string_view raw = response.raw();
        const auto end = static_cast<std::size_t>(raw.data() - entry.raw().data()) + raw.size() - 1;
        text.insert(end,
                    fmt::format(R"({}"lastModified":"{}")", raw.size() > 2 ? "," : "", instant));
    }
    return text;
}

}  // namespace

ImportPacker::ImportPacker(std::vector<std::unique_ptr<ImportLane>>& lanes, ImportReport& report)
    : lanes_(lanes), report_(report), open_(lanes.size()) {
}

void ImportPacker::take(std::string_view text, const Origin& origin, bool bundles_are_resources) {
    auto document = parser_.parse(text);
    if (!document) {
        return report_.refused(origin, "400 " + document.error().detail);
    }
    const json::Value root = document->root();
    if (core::is_history_entry(root)) {
        take_history_entry(std::string(root.raw()), origin);
    } else if (!root["resourceType"]) {
        report_.refused(origin, "400 this is neither a resource nor a history entry");
    } else if (root["resourceType"].equals("Bundle") && !bundles_are_resources) {
        take_bundle(root, origin);
    } else {
        take_resource(root, origin);
    }
    parser_.recycle(std::move(*document));
}

void ImportPacker::take_bundle(json::Value bundle, const Origin& origin) {
    const std::string type = bundle["type"].string();
    if (type == "history") {
        return take_history_bundle(bundle, origin);
    }
    if (type == "batch" || type == "transaction") {
        leave_history(false);
        const std::size_t lane = next_lane_++ % lanes_.size();
        push(lane);
        open_[lane].kind = Pack::Kind::whole;
        open_[lane].parts = bundle["entry"].size();
        open_[lane].entries.push_back({std::string(bundle.raw()), origin});
        return push(lane);
    }
    if (type == "document" || type == "message") {
        return take_resource(bundle, origin);
    }
    Origin place = origin;
    for (const json::Value entry : bundle["entry"].elements()) {
        ++place.entry;
        if (entry["resource"].is_object() && !is_remark(entry)) {
            take_resource(entry["resource"], place);
        }
    }
}

void ImportPacker::take_history_bundle(json::Value bundle, const Origin& origin) {
    std::vector<NumberedEntry> entries;
    std::int64_t number = 0;
    for (const json::Value entry : bundle["entry"].elements()) {
        if (!is_remark(entry)) {
            entries.emplace_back(entry, number);
        }
        ++number;
    }
    put_oldest_first(entries);
    Origin place = origin;
    for (const auto& [entry, index] : entries) {
        place.entry = index;
        const std::string instant = entry["resource"]["meta"]["lastUpdated"].string();
        if (parse_instant(instant)) {
            last_instant_ = instant;
        }
        // If the server is written to while its pages are read, they overlap: a repeated deletion gets no new date.
        const bool again = !entry["resource"] && !deletions_.insert(hash64(entry.raw())).second;
        take_history_entry(dated(entry, again ? std::string_view() : last_instant_), place);
    }
}

void ImportPacker::take_resource(json::Value resource, const Origin& origin) {
    const std::string type = resource["resourceType"].string();
    const std::string id = resource["id"].string();
    if (!find_resource_type(type)) {
        return report_.refused(origin, fmt::format("400 unknown resourceType '{}'", type));
    }
    if (resource["id"] && !is_resource_id(id)) {
        return report_.refused(origin, fmt::format("400 '{}' is not a valid id", id));
    }
    leave_history(false);
    const std::size_t lane =
        (id.empty() ? next_lane_++ : hash64(fmt::format("{}/{}", type, id))) % lanes_.size();
    std::string text = R"({"resource":)";
    text.append(resource.raw());
    if (id.empty()) {
        text += fmt::format(R"(,"request":{{"method":"POST","url":"{}"}}}})", type);
    } else {
        text += fmt::format(R"(,"request":{{"method":"PUT","url":"{}/{}"}}}})", type, id);
    }
    add(lane, Pack::Kind::batch, std::move(text), origin);
}

void ImportPacker::take_history_entry(std::string entry, const Origin& origin) {
    leave_history(true);
    add(0, Pack::Kind::history, std::move(entry), origin);
}

void ImportPacker::leave_history(bool history) {
    if (in_history_ != history) {
        finish();
        in_history_ = history;
    }
}

void ImportPacker::add(std::size_t lane, Pack::Kind kind, std::string text, const Origin& origin) {
    Pack& pack = open_[lane];
    pack.kind = kind;
    pack.bytes += text.size();
    pack.entries.push_back({std::move(text), origin});
    const std::size_t most = kind == Pack::Kind::history ? kHistoryEntriesMax : kBatchEntriesMax;
    if (pack.entries.size() >= most || pack.bytes >= kPackBytesMax) {
        push(lane);
    }
}

void ImportPacker::push(std::size_t lane) {
    if (!open_[lane].entries.empty()) {
        lanes_[lane]->push(std::exchange(open_[lane], Pack()));
    }
}

void ImportPacker::finish() {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        push(lane);
    }
    for (const auto& lane : lanes_) {
        lane->drain();
    }
}

}  // namespace annals::tools
