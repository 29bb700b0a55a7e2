#include "core/validation/stored_definitions.h"

#include "core/terminology/kept.h"

#include <algorithm>
#include <functional>

namespace annals::validation {

namespace {

constexpr std::size_t kParsedMax = 512;  // documents that are kept
constexpr std::size_t kParsedBytesMax = 1 << 30;
constexpr std::size_t kDefinitionsMax = 1 << 20;  // of one type
constexpr std::size_t kPageSize = 1000;
constexpr std::string_view kCodeSystem = "CodeSystem";

bool same(const storage::Totals& a, const storage::Totals& b) {
    return a.versions == b.versions && a.erased == b.erased;
}

}  // namespace

StoredDefinitions::StoredDefinitions(const storage::Store& store) : store_(store) {
    static constexpr std::string_view kNames[] = {"StructureDefinition", "ValueSet", kCodeSystem,
                                                  "ConceptMap"};
    for (std::size_t i = 0; i < known_.size(); ++i) {
        known_[i].name = kNames[i];
        known_[i].type = find_resource_type(kNames[i]).value();
    }
}

void StoredDefinitions::drop(Known& known, std::uint32_t resource) const {
    const auto entry = known.entries.find(resource);
    if (entry == known.entries.end()) {
        return;
    }
    const auto [first, last] = known.by_url.equal_range(entry->second.url);
    for (auto at = first; at != last; ++at) {
        if (at->second == resource) {
            known.by_url.erase(at);
            break;
        }
    }
    if (const auto old = parsed_.find(entry->second.info.position.value); old != parsed_.end()) {
        parsed_bytes_ -= terminology::bytes_of(*old->second);
        parsed_.erase(old);
    }
    known.entries.erase(entry);
}

void StoredDefinitions::take(Known& known, const storage::VersionInfo& info) const {
    drop(known, info.resource);
    if (info.deletion || known.entries.size() >= kDefinitionsMax) {
        return;
    }
    const Result<storage::StoredVersion> stored = store_.load(info);
    if (!stored) {
        return;  // erased meanwhile
    }
    json::Parser parser;
    const Result<json::Document> document = parser.parse(stored->body);
    if (!document) {
        return;
    }
    const json::Value root = document->root();
    Entry entry{info, root["url"].string(), root["version"].string(),
                known.name == kCodeSystem && terminology::has_codes(root)};
    if (entry.url.empty()) {
        return;
    }
    known.by_url.emplace(entry.url, info.resource);
    known.entries.emplace(info.resource, std::move(entry));
}

/// Unless it may block, what has to be fetched first.
std::vector<Position> StoredDefinitions::refresh(Known& known, bool may_block) const {
    const storage::Totals totals = store_.totals(known.type);
    if (same(totals, known.totals)) {
        return {};
    }
    storage::HistoryQuery query;
    query.type = known.type;
    query.order = storage::HistoryOrder::oldest_first;
    query.count = kPageSize;
    for (bool more = true; more;) {
        query.after = known.last;
        const storage::HistoryPage page = store_.history(query);
        if (!may_block && !page.versions.empty() && known.told != page.versions.front().position) {
            if (std::vector<Position> unread = store_.unread(page.versions); !unread.empty()) {
                known.told = page.versions.front().position;
                return unread;
            }
        }
        for (const storage::VersionInfo& info : page.versions) {
            take(known, info);
            known.last = info;
        }
        more = page.more && !page.versions.empty();
    }
    known.totals = totals;
    return {};
}

std::vector<Position> StoredDefinitions::read_resident() const {
    const std::scoped_lock lock(mutex_);
    for (Known& known : known_) {
        if (std::vector<Position> unread = refresh(known, false); !unread.empty()) {
            return unread;
        }
    }
    return {};
}

Definition StoredDefinitions::load(const Entry& entry, std::vector<Position>* unread) const {
    const auto kept = parsed_.find(entry.info.position.value);
    if (kept != parsed_.end()) {
        return kept->second;
    }
    const Result<storage::StoredVersion> stored =
        unread == nullptr ? store_.load(entry.info) : store_.load_resident(entry.info);
    if (!stored) {
        return nullptr;
    }
    if (stored->unread) {
        unread->push_back(entry.info.position);
        return nullptr;
    }
    json::Parser parser;
    Result<json::Document> document = parser.parse(stored->body);
    if (!document) {
        return nullptr;
    }
    Definition made = std::make_shared<const json::Document>(*std::move(document));
    const std::size_t bytes = terminology::bytes_of(*made);
    if (parsed_.size() >= kParsedMax || parsed_bytes_ + bytes > kParsedBytesMax) {
        parsed_.clear();
        parsed_bytes_ = 0;
    }
    parsed_.emplace(entry.info.position.value, made);
    parsed_bytes_ += bytes;
    return made;
}

Definition StoredDefinitions::find(std::string_view type, std::string_view url,
                                   std::string_view version, std::vector<Position>* unread) const {
    const std::scoped_lock lock(mutex_);
    for (Known& known : known_) {
        if (known.name != type) {
            continue;
        }
        if (std::vector<Position> first = refresh(known, unread == nullptr); !first.empty()) {
            unread->insert(unread->end(), first.begin(), first.end());
            return nullptr;
        }
        const Entry* best = nullptr;
        const auto [first, last] = known.by_url.equal_range(std::string(url));
        for (auto at = first; at != last; ++at) {
            const Entry& entry = known.entries.at(at->second);
            const bool fits = version.empty() || entry.version == version;
            // What was erased for good is not there any more.
            if (fits && store_.at(entry.info.position) &&
                (best == nullptr || entry.info.position > best->info.position)) {
                best = &entry;
            }
        }
        return best == nullptr ? nullptr : load(*best, unread);
    }
    return nullptr;
}

std::vector<std::string> StoredDefinitions::canonicals(std::string_view type,
                                                       std::size_t count) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> urls;
    for (Known& known : known_) {
        if (known.name != type) {
            continue;
        }
        refresh(known);
        for (auto at = known.by_url.begin(); at != known.by_url.end() && urls.size() < count;) {
            const auto [first, last] = known.by_url.equal_range(at->first);
            const bool there = std::any_of(first, last, [&](const auto& one) {
                return store_.at(known.entries.at(one.second).info.position).has_value();
            });
            if (there) {
                urls.push_back(at->first);
            }
            at = last;
        }
    }
    std::sort(urls.begin(), urls.end());
    return urls;
}

std::vector<terminology::ListedCodeSystem> StoredDefinitions::code_systems(
    std::size_t count) const {
    const std::scoped_lock lock(mutex_);
    Known& known = *std::ranges::find(known_, kCodeSystem, &Known::name);
    refresh(known);
    std::vector<terminology::ListedCodeSystem> out;
    for (auto at = known.by_url.begin(); at != known.by_url.end() && out.size() < count;) {
        const auto last = known.by_url.equal_range(at->first).second;
        std::vector<const Entry*> same;
        for (; at != last; ++at) {
            const Entry& entry = known.entries.at(at->second);
            if (store_.at(entry.info.position)) {
                same.push_back(&entry);
            }
        }
        std::ranges::sort(same, std::greater(),
                          [](const Entry* entry) { return entry->info.position; });
        for (const Entry* const entry : same) {
            out.push_back({entry->url, entry->version, entry->has_codes});
        }
    }
    return out;
}

}  // namespace annals::validation
