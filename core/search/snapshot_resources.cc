#include "core/search/snapshot_resources.h"

#include "core/search/execute.h"
#include "core/terminology/kept.h"
#include "core/terminology/worker.h"

#include <algorithm>
#include <list>
#include <mutex>

namespace annals::core::search {

namespace {

// How many value sets and code systems a query looks into in one turn that take as long as one may on a loop: about ten
// milliseconds' work.
constexpr std::size_t kLooksOnLoop = 10;

// How many resources with the same url are examined to find a version.
constexpr std::size_t kVersionsMax = 100;

/// Caches parsed code systems and value sets: they can be large, and a version never changes.
/// Threads: any.
class ParsedDefinitions {
  public:
    StoredDocument find(std::uint64_t seed, Position position) {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find_if(kept_, [&](const Kept& kept) {
            return kept.seed == seed && kept.position == position;
        });
        if (found == kept_.end()) {
            return nullptr;
        }
        kept_.splice(kept_.begin(), kept_, found);
        return found->document;
    }

    void keep(std::uint64_t seed, Position position, const StoredDocument& document) {
        const std::size_t bytes = terminology::bytes_of(*document);
        if (bytes > kBytesMax) {
            return;
        }
        const std::lock_guard lock(mutex_);
        kept_.push_front({seed, position, document, bytes});
        bytes_ += bytes;
        while (bytes_ > kBytesMax || kept_.size() > kDocumentsMax) {
            bytes_ -= kept_.back().bytes;
            kept_.pop_back();
        }
    }

  private:
    // The largest possible body takes some 200 MiB; the document also owns what is derived from it.
    static constexpr std::size_t kBytesMax = 512 << 20;
    static constexpr std::size_t kDocumentsMax = 64;

    struct Kept {
        std::uint64_t seed;
        Position position;
        StoredDocument document;
        std::size_t bytes;
    };

    std::mutex mutex_;
    std::list<Kept> kept_;   // guarded by mutex_; most recently used first
    std::size_t bytes_ = 0;  // guarded by mutex_
};

ParsedDefinitions& parsed_definitions() {
    static ParsedDefinitions definitions;
    return definitions;
}

}  // namespace

SnapshotResources::SnapshotResources(Snapshot& snapshot, const terminology::Source& others,
                                     std::vector<Position>* unread, PutOff* put_off)
    : snapshot_(snapshot), others_(others), unread_(unread), put_off_(put_off) {
    if (put_off_ != nullptr) {
        put_off_->at = snapshot.position();
        put_off_->steps_left = kLooksOnLoop * terminology::Worker::kStepsOnLoop;
        put_off_->bytes_left = kLooksOnLoop * terminology::Worker::kBytesOnLoop;
    }
}

Result<StoredDocument> SnapshotResources::read(TypeId type, std::string_view id,
                                               PutOff* put_off) const {
    if (snapshot_.position().value == 0) {
        return StoredDocument();  // for the store, position 0 means now
    }
    const auto info = snapshot_.store().current(type, id, snapshot_.position());
    if (!info || info->deletion) {
        return StoredDocument();
    }
    return load(*info, put_off);
}

Result<StoredDocument> SnapshotResources::find(TypeId type, std::string_view url,
                                               std::string_view version) const {
    ANNALS_TRY(const std::vector<storage::VersionInfo> candidates, find_candidates(type, url));
    for (const storage::VersionInfo& info : candidates) {
        StoredDocument document = parsed_definitions().find(seed(), info.position);
        if (document == nullptr) {
            ANNALS_TRY(document, load(info, put_off_));
            if (document != nullptr) {
                parsed_definitions().keep(seed(), info.position, document);
            }
        }
        // Another url may have the same hash.
        if (document != nullptr && document->root()["url"].equals(url) &&
            (version.empty() || document->root()["version"].equals(version))) {
            return document;
        }
    }
    return StoredDocument();
}

Result<std::vector<storage::VersionInfo>> SnapshotResources::find_candidates(
    TypeId type, std::string_view url) const {
    if (!snapshot_.answers(type)) {
        return expired_snapshot();
    }
    const Plan plan = carrying({exact(column_of("url"), url)});
    Execution execution(snapshot_, type, plan);
    execution.want({.limit = kVersionsMax});
    ANNALS_TRY(const bool done, execution.advance(Pace()));
    ANNALS_CHECK(done);
    std::vector<storage::VersionInfo> candidates;
    for (const Match& match : execution.matches()) {
        if (const auto info = snapshot_.store().at(match.position())) {
            candidates.push_back(*info);
        }
    }
    return candidates;
}

Result<StoredDocument> SnapshotResources::load(const storage::VersionInfo& info,
                                               PutOff* put_off) const {
    thread_local json::Parser parser;
    const storage::Store& store = snapshot_.store();
    const Result<storage::StoredVersion> stored =
        unread_ == nullptr ? store.load(info) : store.load_resident(info);
    if (stored && stored->unread) {
        unread_->push_back(info.position);
        return Error{Errc::internal, "what a query names is on the device only"};
    }
    if (!stored) {
        if (stored.error().code == Errc::not_found) {
            return StoredDocument();
        }
        return Error(stored.error());
    }
    if (put_off != nullptr) {
        const std::size_t bytes = stored->body.size();
        if (bytes > std::min(terminology::Worker::kBytesOnLoop, put_off->bytes_left)) {
            put_off->large = true;
            return Error{Errc::internal, "what a query names takes long to parse"};
        }
        put_off->bytes_left -= bytes;
    }
    ANNALS_TRY(json::Document document, parser.parse(stored->body));
    return StoredDocument(std::make_shared<const json::Document>(std::move(document)));
}

}  // namespace annals::core::search
