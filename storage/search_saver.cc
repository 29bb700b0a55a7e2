#include "storage/search_saver.h"

#include "core/base/log.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace annals::storage {
namespace {

constexpr auto kLookInterval = std::chrono::seconds(1);
constexpr auto kRetryInterval = std::chrono::seconds(60);
constexpr std::uint64_t kPackedShare = 4;
constexpr int kSaverNice = 10;

}  // namespace

SearchSaver::SearchSaver(SearchCheckpoint& checkpoint, SearchFeed& feed,
                         std::function<PerType<std::uint64_t>()> fingerprints,
                         std::uint64_t versions)
    : checkpoint_(checkpoint),
      feed_(feed),
      fingerprints_(std::move(fingerprints)),
      versions_(versions),
      bytes_(checkpoint.bytes()) {
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
        write();
    }
}

void SearchSaver::run() {
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kSaverNice);
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kLookInterval, [&] { return stopping_; })) {
        lock.unlock();
        if (due(Clock::now())) {
            write();
        }
        lock.lock();
    }
}

bool SearchSaver::changed() const noexcept {
    return feed_.published_count() != published_ || feed_.erased_count() != erased_ ||
           asked_.load(std::memory_order_relaxed);
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
           feed_.published_count() - published_ >= enough ||
           (erased_since_ != Clock::time_point() && now - erased_since_ >= kEraseDelay);
}

void SearchSaver::write() {
    asked_.store(false, std::memory_order_relaxed);
    const std::uint64_t published = feed_.published_count();
    const std::uint64_t erased = feed_.erased_count();
    if (auto written = checkpoint_.write(feed_.index(), fingerprints_); !written) {
        if (!failing_) {
            log_warning(
                fmt::format("search: no checkpoint could be written: {}; opening the store "
                            "will take longer",
                            written.error().detail));
        }
        failing_ = true;
        not_before_ = Clock::now() + kRetryInterval;
        return;
    }
    failing_ = false;
    published_ = published;
    erased_ = erased;
    if (erased == dropped_) {
        erased_since_ = {};
    }
    bytes_.store(checkpoint_.bytes(), std::memory_order_relaxed);
    written_count_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace annals::storage
