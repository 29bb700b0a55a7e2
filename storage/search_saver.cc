#include "storage/search_saver.h"

#include "core/base/log.h"
#include "core/base/thread_name.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace annals::storage {
namespace {

constexpr auto kLookInterval = std::chrono::seconds(1);
constexpr auto kSaveRetryInterval = std::chrono::seconds(60);
constexpr std::uint64_t kPackedShare = 4;
/// Lower priority than serving, but not so low that a machine that stays busy starves it.
constexpr int kSaverNice = 5;

}  // namespace

SearchSaver::SearchSaver(SearchCheckpoint& checkpoint, SearchFeed& feed,
                         std::function<PerType<std::uint64_t>()> fingerprints,
                         std::uint64_t versions)
    : checkpoint_(checkpoint),
      feed_(feed),
      fingerprints_(std::move(fingerprints)),
      versions_(versions),
      recent_versions_(std::clamp<std::uint64_t>(versions / 4, 1, kRecentVersions)),
      asked_(checkpoint.is_recent()),  // What was loaded must survive a power cut, too.
      bytes_(checkpoint.bytes()) {
    feed_.call_after_each(recent_versions_, [this] {
        // So that a thread about to wait doesn't miss it.
        const std::lock_guard lock(mutex_);
        wake_.notify_one();
    });
    thread_ = std::thread([this] { run(); });
}

SearchSaver::~SearchSaver() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
    if (changed()) {
        begin(SearchCheckpoint::Small::gather);
        while (syncing_) {
            go_on();
        }
    }
}

void SearchSaver::run() {
    name_thread("search saver");
    const auto thread = static_cast<id_t>(::gettid());
    (void)::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + kSaverNice);
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        wake_.wait_for(lock, kLookInterval,
                       [&] { return stopping_ || syncing_ || recent_due(Clock::now()); });
        if (stopping_) {
            return;
        }
        lock.unlock();
        if (!syncing_ && due(Clock::now())) {
            begin(SearchCheckpoint::Small::gather);
        } else if (recent_due(Clock::now())) {
            begin(SearchCheckpoint::Small::add);
        }
        if (syncing_) {
            go_on();
        }
        lock.lock();
    }
}

bool SearchSaver::changed() const noexcept {
    return feed_.published_count() != published_ || feed_.erased_count() != erased_ ||
           asked_.load(std::memory_order_relaxed) || syncing_;
}

bool SearchSaver::due(Clock::time_point now) {
    if (const std::uint64_t erased = feed_.erased_count(); erased != dropped_) {
        dropped_ = erased;
        feed_.index().drop_erased();
        if (erased_since_ == Clock::time_point()) {
            erased_since_ = now;
        }
    }
    if (now < not_before_) {
        return false;
    }
    const std::uint64_t enough = std::max(versions_, checkpoint_.packed_documents() / kPackedShare);
    return asked_.load(std::memory_order_relaxed) ||
           (feed_.published_count() - published_ >= enough && now - begun_ >= kRecentInterval) ||
           (erased_since_ != Clock::time_point() && now - erased_since_ >= kEraseDelay);
}

bool SearchSaver::recent_due(Clock::time_point now) const noexcept {
    return now >= not_before_ && now - begun_ >= kRecentInterval &&
           feed_.published_count() - recent_published_ >= recent_versions_;
}

/// Writes a checkpoint that survives a kill; if gathered, it is synced from then on, a file at a time.
void SearchSaver::begin(SearchCheckpoint::Small small) {
    begun_ = Clock::now();
    const std::uint64_t published = feed_.published_count();
    const std::uint64_t erased = feed_.erased_count();
    if (auto written = checkpoint_.write_recent(feed_.index(), fingerprints_, small); !written) {
        failed(written.error());
        return;
    }
    recent_published_ = published;
    bytes_.store(checkpoint_.bytes(), std::memory_order_relaxed);
    if (small == SearchCheckpoint::Small::gather) {
        asked_.store(false, std::memory_order_relaxed);
        gathered_published_ = published;
        gathered_erased_ = erased;
        syncing_ = true;
    }
}

void SearchSaver::go_on() {
    const Result<bool> done = checkpoint_.sync_next();
    if (!done) {
        syncing_ = false;
        asked_.store(true, std::memory_order_relaxed);
        failed(done.error());
        return;
    }
    if (!*done) {
        return;
    }
    syncing_ = false;
    failing_ = false;
    published_ = gathered_published_;
    erased_ = gathered_erased_;
    if (erased_ == dropped_) {
        erased_since_ = {};
    }
    bytes_.store(checkpoint_.bytes(), std::memory_order_relaxed);
    written_count_.fetch_add(1, std::memory_order_relaxed);
}

void SearchSaver::failed(const Error& error) {
    if (!failing_) {
        log_warning(fmt::format(
            "search: the checkpoint could not be written: {}; opening the store will take longer",
            error.detail));
    }
    failing_ = true;
    not_before_ = Clock::now() + kSaveRetryInterval;
}

}  // namespace annals::storage
