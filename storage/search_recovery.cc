#include "storage/search_recovery.h"

#include "core/base/log.h"
#include "storage/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <span>
#include <vector>

namespace annals::storage {
namespace {

/// Positions that one thread takes at a time.
constexpr std::uint64_t kSlice = 4096;
/// Positions for which one thread finds predecessors at a time.
constexpr std::uint64_t kSteppedAtOnce = 1 << 18;
constexpr auto kProgressInterval = std::chrono::seconds(10);
constexpr std::uint64_t kFailuresLogged = 10;

/// A version and its search entries.
struct ExtractedVersion {
    VersionInfo info;
    std::uint64_t key = 0;  ///< resource_key().low
    SearchEntries entries;
};

/// The versions that extract_versions() is to extract.
struct ExtractRange {
    Position after;
    Position through;
    std::function<bool(Position position, const Index::Link& link)> wanted;  ///< from any thread
};

/// Logs the progress of a long rebuild.
class Progress {
  public:
    explicit Progress(std::uint64_t total) : total_(total) {}

    void done(std::uint64_t positions) {
        done_ += positions;
        if (const auto now = std::chrono::steady_clock::now(); now - last_ >= kProgressInterval) {
            last_ = now;
            log_info(fmt::format("search: {} of {} positions indexed", done_, total_));
        }
    }

  private:
    const std::uint64_t total_;
    std::uint64_t done_ = 0;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class Extraction {
  public:
    Extraction(const SearchSource& source, const ExtractRange& range)
        : source_(source), range_(range) {}

    /// Extracts the wanted versions in (after, through] into `out`, whose memory is reused. Returns how many there are.
    std::size_t extract(Position after, Position through, const SearchExtract& extract,
                        std::vector<ExtractedVersion>& out) {
        std::size_t count = 0;
        for (std::uint64_t p = after.value + 1; p <= through.value; ++p) {
            const Index::Link link = source_.index.link({p});
            if (link.info.deletion || link.erased || !range_.wanted({p}, link)) {
                continue;
            }
            const auto info = source_.index.at({p});
            if (!info) {
                continue;  // Erased just now.
            }
            if (count == out.size()) {
                out.emplace_back();
            }
            ExtractedVersion& version = out[count++];
            version.info = *info;
            version.key = link.key.low;
            version.entries.clear();
            if (auto done = fill(*info, extract, version.entries); !done) {
                version.entries.clear();
                if (done.error().code != Errc::not_found) {  // Otherwise it was erased meanwhile.
                    failed(*info, done.error());
                }
            }
        }
        return count;
    }

    std::uint64_t failures() const noexcept { return failures_; }

  private:
    Result<void> fill(const VersionInfo& info, const SearchExtract& extract,
                      SearchEntries& entries) {
        ANNALS_TRY(const StoredVersion stored,
                   load_version(source_.segments, source_.index, info, source_.read_only));
        return extract(info.type, stored.id, stored.body, entries);
    }

    void failed(const VersionInfo& info, const Error& error) {
        if (++failures_ <= kFailuresLogged) {
            log_warning(fmt::format("search: position {} ({}) cannot be found by its contents: {}",
                                    info.position.value, resource_type_name(info.type),
                                    error.detail));
        }
    }

    const SearchSource& source_;
    const ExtractRange& range_;
    std::atomic<std::uint64_t> failures_ = 0;
};

/// The next version of the same resource for each position up to `through`; 0 if there is none. Cost: a walk over the index.
std::vector<std::uint32_t> successors(const Index& index, Position through) {
    std::vector<std::uint32_t> next(through.value + 1, 0);
    for_each_of(through.value / kSteppedAtOnce + 1, [&](std::uint64_t part) {
        const std::uint64_t begin = part * kSteppedAtOnce;
        const std::uint64_t end = std::min(begin + kSteppedAtOnce, through.value);
        for (std::uint64_t p = begin + 1; p <= end; ++p) {
            // No two versions have the same predecessor.
            if (const Position previous = index.previous({p}); previous.value != 0) {
                next[previous.value] = static_cast<std::uint32_t>(p);
            }
        }
    });
    return next;
}

/// Extracts the versions of `range`, except for deletions and erased ones, and passes them to `hand_over` in order of position,
/// some thousands at a time. A version whose body can't be read is passed without entries.
void extract_versions(const SearchSource& source, const ExtractRange& range,
                      const std::function<void(std::span<ExtractedVersion>)>& hand_over) {
    /// The task of one thread.
    struct Worker {
        SearchExtract extract;
        std::vector<ExtractedVersion> versions;
        Position after;
        Position through;
        std::future<std::size_t> count;
    };

    Extraction extraction(source, range);
    const std::uint64_t total = range.through.value - range.after.value;
    const std::uint64_t slices = (total + kSlice - 1) / kSlice;
    std::vector<Worker> workers(std::min<std::uint64_t>(threads_wanted(), slices));
    Position next = range.after;
    const auto start = [&](Worker& worker) {
        worker.after = next;
        next = {std::min(next.value + kSlice, range.through.value)};
        worker.through = next;
        if (worker.after == worker.through) {
            return;
        }
        // If no thread is available, the slice is extracted when its result is needed.
        constexpr auto kIfPossible = std::launch::async | std::launch::deferred;
        worker.count =
            std::async(slices == 1 ? std::launch::deferred : kIfPossible, [&extraction, &worker] {
                return extraction.extract(worker.after, worker.through, worker.extract,
                                          worker.versions);
            });
    };
    for (Worker& worker : workers) {
        worker.extract = source.setup.extractor();
        start(worker);
    }
    Progress progress(total);
    for (std::uint64_t slice = 0; slice < slices; ++slice) {
        Worker& worker = workers[slice % workers.size()];
        const std::size_t count = worker.count.get();
        hand_over(std::span(worker.versions).first(count));
        progress.done(worker.through.value - worker.after.value);
        start(worker);
    }
    if (extraction.failures() > kFailuresLogged) {
        log_warning(fmt::format("search: {} versions cannot be found by their contents",
                                extraction.failures()));
    }
}

}  // namespace

std::uint64_t recover_search(const SearchSource& source, SearchCheckpointReader& saved,
                             SearchCheckpoint& checkpoint, std::uint64_t positions_retained,
                             SearchFeed& feed) {
    const Position last = source.index.last_position();
    const Position horizon{last.value > positions_retained ? last.value - positions_retained : 0};
    const std::vector<std::uint32_t> next = successors(source.index, last);
    PerType<CheckpointedType> types = checkpoint.load(saved, source.setup.fingerprints, next);
    ExtractRange range{.after = last, .through = last, .wanted = {}};
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        CheckpointedType& loaded = types[t];
        if (loaded.covered < horizon) {
            loaded.runs.vacuumed_through = std::max(loaded.runs.vacuumed_through, horizon);
        }
        range.after = std::min(range.after, loaded.covered);
        const bool restored =
            feed.index().restore({static_cast<std::uint16_t>(t)}, std::move(loaded.runs));
        ANNALS_CHECK(restored, "a checkpoint's runs were checked when they were loaded");
    }
    range.wanted = [&](Position position, const Index::Link& link) {
        const std::uint32_t at = next[position.value];
        return position > types[link.info.type.value].covered && (at == 0 || at > horizon.value);
    };
    std::uint64_t count = 0;
    extract_versions(source, range, [&](std::span<ExtractedVersion> versions) {
        for (ExtractedVersion& version : versions) {
            feed.complete(version.key, version.info.instant, version.entries);
            feed.add(version.info.type, version.info.position, version.key, &version.entries);
        }
        feed.publish();
        for (const ExtractedVersion& version : versions) {
            if (const std::uint32_t at = next[version.info.position.value]; at != 0) {
                feed.died(version.info.type, version.info.position, {at});
            }
        }
        count += versions.size();
    });
    return count;
}

}  // namespace annals::storage
