#include "core/search/snapshot_resources.h"

#include "core/search/execute.h"

namespace annals::core::search {

namespace {

// Resources with one url that are looked at for one version.
constexpr std::size_t kVersionsMax = 100;

}  // namespace

Result<StoredDocument> SnapshotResources::read(TypeId type, std::string_view id) const {
    const auto info = snapshot_.store().current(type, id, snapshot_.position());
    if (!info || info->deletion) {
        return StoredDocument();
    }
    return load(*info);
}

Result<StoredDocument> SnapshotResources::find(TypeId type, std::string_view url,
                                               std::string_view version) const {
    if (!snapshot_.answers(type)) {
        return expired_snapshot();
    }
    const Plan plan = carrying({exact(column_of("url"), url)});
    Execution execution(snapshot_, type, plan);
    execution.want({.limit = kVersionsMax});
    ANNALS_TRY(const bool done, execution.advance(Pace()));
    ANNALS_CHECK(done);
    for (const Match& match : execution.matches()) {
        const auto info = snapshot_.store().at(match.position());
        if (!info) {
            continue;
        }
        ANNALS_TRY(StoredDocument document, load(*info));
        // A term may be another url's by hash.
        if (document != nullptr && document->root()["url"].equals(url) &&
            (version.empty() || document->root()["version"].equals(version))) {
            return document;
        }
    }
    return StoredDocument();
}

Result<StoredDocument> SnapshotResources::load(const storage::VersionInfo& info) const {
    thread_local json::Parser parser;
    const Result<storage::StoredVersion> stored = snapshot_.store().load(info);
    if (!stored) {
        if (stored.error().code == Errc::not_found) {
            return StoredDocument();
        }
        return Error(stored.error());
    }
    ANNALS_TRY(json::Document document, parser.parse(stored->body));
    return StoredDocument(std::make_shared<const json::Document>(std::move(document)));
}

}  // namespace annals::core::search
