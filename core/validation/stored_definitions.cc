#include "core/validation/stored_definitions.h"

#include "core/terminology/kept.h"
#include "core/terminology/worker.h"

#include <algorithm>
#include <ranges>

namespace annals::validation {

namespace {

constexpr std::size_t kParsedMax = 512;  // cached documents
constexpr std::size_t kParsedBytesMax = 1 << 30;
constexpr std::size_t kDefinitionsMax = 1 << 20;  // per type
constexpr std::size_t kPageSize = 100;
constexpr std::string_view kCodeSystem = "CodeSystem";

Position position_of(const std::optional<storage::VersionInfo>& version) {
    return version ? version->position : Position{};
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
    const auto named = known.by_url.find(entry->second.url);
    named->second.erase(entry->second.info.position);
    if (named->second.empty()) {
        known.by_url.erase(named);
    }
    if (const auto old = parsed_.find(entry->second.info.position.value); old != parsed_.end()) {
        parsed_bytes_ -= terminology::bytes_of(*old->second);
        parsed_.erase(old);
    }
    known.entries.erase(entry);
}

StoredDefinitions::Entry StoredDefinitions::read_entry(const Known& known,
                                                       const storage::VersionInfo& info) const {
    Entry entry{info, {}, {}};
    const Result<storage::StoredVersion> stored =
        info.deletion ? Error{Errc::deleted} : store_.load(info);
    if (!stored) {
        return entry;  // deleted, erased in the meantime, or damaged, which `verify` reports
    }
    json::Parser parser;
    const Result<json::Document> document = parser.parse(stored->body);
    if (document) {
        const json::Value root = document->root();
        entry.url = root["url"].string();
        entry.version = root["version"].string();
        entry.has_codes = known.name == kCodeSystem && terminology::has_codes(root);
    }
    return entry;
}

void StoredDefinitions::put(Known& known, Entry entry) const {
    const std::uint32_t resource = entry.info.resource;
    drop(known, resource);
    if (entry.url.empty() || known.entries.size() >= kDefinitionsMax) {
        return;
    }
    const Entry& kept = known.entries.emplace(resource, std::move(entry)).first->second;
    known.by_url[kept.url].emplace(kept.info.position, &kept);
}

void StoredDefinitions::refresh(Known& known, Reading& reading) const {
    while (read_page(known, reading)) {
    }
}

/// Returns whether there may be more.
bool StoredDefinitions::read_page(Known& known, Reading& reading) const {
    const storage::Totals totals = store_.totals(known.type);
    if (totals == known.totals) {
        return false;
    }
    storage::HistoryQuery query;
    query.type = known.type;
    query.order = storage::HistoryOrder::oldest_first;
    query.count = kPageSize;
    query.after = known.last;
    const storage::HistoryPage page = store_.history(query);
    if (!reading.may_block && !page.versions.empty() &&
        known.told != page.versions.front().position) {
        reading.unread = store_.unread(page.versions);
        if (!reading.unread.empty()) {
            known.told = page.versions.front().position;
            return false;
        }
    }
    if (reading.lock != nullptr) {
        reading.lock->unlock();
    }
    std::vector<Entry> entries;
    for (const storage::VersionInfo& info : page.versions) {
        entries.push_back(read_entry(known, info));
    }
    if (reading.lock != nullptr) {
        reading.lock->lock();
        if (position_of(known.last) != position_of(query.after)) {
            return true;  // Another thread has read these in the meantime.
        }
    }
    for (Entry& entry : entries) {
        known.last = entry.info;
        put(known, std::move(entry));
    }
    if (page.more && !page.versions.empty()) {
        return true;
    }
    known.totals = totals;
    return false;
}

std::vector<Position> StoredDefinitions::read_resident() const {
    std::unique_lock lock(mutex_);
    Reading reading{.may_block = false, .lock = &lock};
    for (Known& known : known_) {
        refresh(known, reading);
        if (!reading.unread.empty()) {
            break;
        }
    }
    return reading.unread;
}

bool StoredDefinitions::is_current() const {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock && std::ranges::all_of(known_, [this](const Known& known) {
               return store_.totals(known.type) == known.totals;
           });
}

/// Called without the lock, so that other threads aren't blocked while it parses.
Definition StoredDefinitions::load(const Known& known, const storage::VersionInfo& info,
                                   std::vector<Position>* unread, bool* large) const {
    const Result<storage::StoredVersion> stored =
        unread == nullptr ? store_.load(info) : store_.load_resident(info);
    if (!stored) {
        return nullptr;
    }
    if (stored->unread) {
        unread->push_back(info.position);
        return nullptr;
    }
    if (large != nullptr && stored->body.size() > terminology::Worker::kBytesOnLoop) {
        *large = true;
        return nullptr;
    }
    json::Parser parser;
    Result<json::Document> document = parser.parse(stored->body);
    if (!document) {
        return nullptr;
    }
    Definition made = std::make_shared<const json::Document>(*std::move(document));
    const std::scoped_lock lock(mutex_);
    if (const auto kept = parsed_.find(info.position.value); kept != parsed_.end()) {
        return kept->second;  // Another thread was faster.
    }
    const auto entry = known.entries.find(info.resource);
    if (entry == known.entries.end() || entry->second.info.position != info.position) {
        return made;  // It has been replaced in the meantime.
    }
    const std::size_t bytes = terminology::bytes_of(*made);
    if (parsed_.size() >= kParsedMax || parsed_bytes_ + bytes > kParsedBytesMax) {
        parsed_.clear();
        parsed_bytes_ = 0;
    }
    parsed_.emplace(info.position.value, made);
    parsed_bytes_ += bytes;
    return made;
}

Definition StoredDefinitions::find(std::string_view type, std::string_view url,
                                   std::string_view version, std::vector<Position>* unread,
                                   bool* large) const {
    Known* const known = std::ranges::find(known_, type, &Known::name);
    if (known == known_.end()) {
        return nullptr;
    }
    std::unique_lock lock(mutex_);
    Reading reading{.may_block = unread == nullptr};
    refresh(*known, reading);
    if (!reading.unread.empty()) {
        unread->insert(unread->end(), reading.unread.begin(), reading.unread.end());
        return nullptr;
    }
    const auto named = known->by_url.find(url);
    if (named == known->by_url.end()) {
        return nullptr;
    }
    const auto best = std::find_if(
        named->second.rbegin(), named->second.rend(), [&](const Named::value_type& one) {
            const Entry& entry = *one.second;
            // Erased versions don't count.
            return (version.empty() || entry.version == version) && store_.at(entry.info.position);
        });
    if (best == named->second.rend()) {
        return nullptr;
    }
    const storage::VersionInfo info = best->second->info;
    if (const auto kept = parsed_.find(info.position.value); kept != parsed_.end()) {
        return kept->second;
    }
    lock.unlock();
    return load(*known, info, unread, large);
}

std::vector<std::string> StoredDefinitions::canonicals(std::string_view type,
                                                       std::size_t count) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> urls;
    for (Known& known : known_) {
        if (known.name != type) {
            continue;
        }
        Reading reading;
        refresh(known, reading);
        for (const auto& [url, named] : known.by_url) {
            if (urls.size() >= count) {
                break;
            }
            const bool there = std::ranges::any_of(named, [&](const Named::value_type& one) {
                return store_.at(one.first).has_value();
            });
            if (there) {
                urls.push_back(url);
            }
        }
    }
    return urls;
}

std::vector<terminology::ListedCodeSystem> StoredDefinitions::code_systems(
    std::size_t count) const {
    const std::scoped_lock lock(mutex_);
    Known& known = *std::ranges::find(known_, kCodeSystem, &Known::name);
    Reading reading;
    refresh(known, reading);
    std::vector<terminology::ListedCodeSystem> out;
    for (const auto& [url, named] : known.by_url) {
        for (const auto& [position, entry] : named | std::views::reverse) {
            if (out.size() >= count) {
                return out;
            }
            if (store_.at(position)) {
                out.push_back({entry->url, entry->version, entry->has_codes});
            }
        }
    }
    return out;
}

}  // namespace annals::validation
