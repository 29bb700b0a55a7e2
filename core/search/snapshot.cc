#include "core/search/snapshot.h"

#include "core/base/log.h"

#include <fmt/format.h>

namespace annals::core::search {

namespace {

json::Parser& parser() {
    thread_local json::Parser parser;
    return parser;
}

}  // namespace

const storage::SearchRuns& Snapshot::runs(TypeId type) {
    auto& runs = runs_[type.value];
    if (runs == nullptr) {
        runs = runs_of_(type);
    }
    return *runs;
}

Error expired_snapshot() {
    return {Errc::expired, "The store has changed too much since this search began; begin anew",
            ""};
}

json::Value BodyReader::read(Position position) {
    if (position == position_) {
        return document_.root();
    }
    position_ = position;
    stored_.reset();
    parser().recycle(std::exchange(document_, json::Document()));
    const std::optional<storage::VersionInfo> info = store_.at(position);
    if (!info) {
        return {};
    }
    Result<storage::StoredVersion> stored = store_.load(*info);
    if (!stored) {
        if (stored.error().code != Errc::not_found) {
            log_error(fmt::format("search: {}", stored.error().detail));
        }
        return {};
    }
    stored_ = *std::move(stored);
    Result<json::Document> parsed = parser().parse(stored_->body);
    if (!parsed) {
        return {};
    }
    document_ = *std::move(parsed);
    return document_.root();
}

}  // namespace annals::core::search
