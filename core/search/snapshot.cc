#include "core/search/snapshot.h"

#include "core/base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace annals::core::search {

namespace {

json::Parser& parser() {
    thread_local json::Parser parser;
    return parser;
}

/// The version, or a carried resource if there are any, at a position; none if it was erased.
std::optional<storage::VersionInfo> find_at(const storage::Store& store, const Carried* carried,
                                            Position position) {
    if (carried == nullptr || position < kCarriedFrom) {
        return store.at(position);
    }
    const std::uint64_t number = position.value - kCarriedFrom.value;
    if (number >= carried->resources.size()) {
        return {};
    }
    storage::VersionInfo info;
    info.position = position;
    info.type = carried->resources[number].type;
    return info;
}

}  // namespace

const storage::SearchRuns& Snapshot::runs(TypeId type) {
    auto& runs = runs_[type.value];
    if (runs == nullptr) {
        runs = runs_of_(type);
    }
    return *runs;
}

void Snapshot::carry(std::shared_ptr<const Carried> carried, std::size_t count) {
    if (store_ != nullptr && store_->last_position() >= kCarriedFrom) {
        return;
    }
    carried_ = std::move(carried);
    carried_end_ = {kCarriedFrom.value + std::min(count, carried_->resources.size())};
}

std::optional<storage::VersionInfo> Snapshot::at(Position position) const {
    return find_at(*store_, carried_.get(), position);
}

Result<storage::StoredVersion> Snapshot::load(const storage::VersionInfo& info) const {
    return search::load(*store_, carried_, info);
}

std::vector<Position> Snapshot::unread(std::span<const Position> positions) const {
    std::vector<storage::VersionInfo> versions;
    versions.reserve(positions.size());
    for (const Position position : positions) {
        if (const auto info = at(position)) {
            versions.push_back(*info);
        }
    }
    return store_->unread(versions);
}

Result<storage::StoredVersion> load(const storage::Store& store,
                                    const std::shared_ptr<const Carried>& carried,
                                    const storage::VersionInfo& info) {
    if (carried == nullptr || info.position < kCarriedFrom) {
        return store.load(info);
    }
    const Carried::Resource& resource =
        carried->resources[info.position.value - kCarriedFrom.value];
    return storage::StoredVersion{info, resource.id, resource.body, carried};
}

Error expired_snapshot() {
    return {Errc::expired,
            "The store has changed too much since this search began; start the search again"};
}

void BodyReader::forget() {
    position_ = {};
    stored_.reset();
    parsed_ = false;
    parser().recycle(std::exchange(document_, json::Document()));
}

bool BodyReader::load(Position position) {
    if (position == position_) {
        return stored_.has_value();
    }
    forget();
    position_ = position;
    const std::optional<storage::VersionInfo> info = find_at(store_, carried_.get(), position);
    if (!info) {
        return false;
    }
    Result<storage::StoredVersion> stored = search::load(store_, carried_, *info);
    if (!stored) {
        if (stored.error().code != Errc::not_found) {
            log_error(fmt::format("search: {}", stored.error().detail));
        }
        return false;
    }
    stored_ = *std::move(stored);
    return true;
}

bool BodyReader::mentions(Position position, std::string_view text) {
    return load(position) && ::memmem(stored_->body.data(), stored_->body.size(), text.data(),
                                      text.size()) != nullptr;
}

std::string_view BodyReader::read_id(Position position) {
    return load(position) ? stored_->id : std::string_view();
}

json::Value BodyReader::read(Position position) {
    if (!load(position)) {
        return {};
    }
    if (!std::exchange(parsed_, true)) {
        if (Result<json::Document> parsed = parser().parse(stored_->body)) {
            document_ = *std::move(parsed);
        }
    }
    return document_.root();
}

}  // namespace annals::core::search
