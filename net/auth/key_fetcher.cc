#include "net/auth/key_fetcher.h"

#include "core/base/log.h"
#include "core/base/thread_name.h"
#include "net/auth/fetch.h"

#include <fmt/format.h>

#include <optional>

namespace annals::net::auth {

namespace {

constexpr std::chrono::seconds kFetchLimit{5};
constexpr std::chrono::minutes kFetchInterval{5};
constexpr std::chrono::seconds kAskInterval{10};

}  // namespace

KeyFetcher::KeyFetcher(std::string name, std::string url, const ClientCertificate* shown, Take take)
    : name_(std::move(name)),
      url_(std::move(url)),
      shown_(shown),
      take_(std::move(take)),
      question_(std::make_shared<std::atomic<bool>>(false)) {
    thread_ = std::thread([this] { run(); });
}

KeyFetcher::~KeyFetcher() {
    stop();
    thread_.join();
}

void KeyFetcher::stop() {
    {
        // Under the lock, or the thread might check just before this and sleep just after it.
        const std::lock_guard lock(mutex_);
        quit_.store(true);
    }
    wake_.notify_all();
}

Settled KeyFetcher::ask(std::uint64_t seen) {
    const std::lock_guard lock(mutex_);
    if (taken_ != seen) {
        // They arrived after the caller looked; asking again would waste the one question per ten seconds.
        return std::make_shared<const std::atomic<bool>>(true);
    }
    if (question_ != nullptr) {
        return question_;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now < next_question_) {
        return nullptr;
    }
    next_question_ = now + kAskInterval;
    question_ = std::make_shared<std::atomic<bool>>(false);
    wanted_ = true;
    wake_.notify_all();
    return question_;
}

void KeyFetcher::run() {
    name_thread("key fetcher");
    std::string last;
    std::unique_lock lock(mutex_);
    while (!quit_) {
        wake_.wait_for(lock, kFetchInterval, [this] { return wanted_ || quit_; });
        if (quit_) {
            break;
        }
        wanted_ = false;
        lock.unlock();
        auto text = fetch(url_, kFetchLimit, quit_, shown_);
        // Unchanged keys are not passed on, so that verified tokens stay remembered.
        std::optional<Result<KeySet>> keys;
        if (!text || *text != last) {
            keys = text ? KeySet::read(*text) : Result<KeySet>(text.error());
        }
        // Locked until the question is settled: the keys and that it is settled become visible together.
        lock.lock();
        if (keys && *keys && !quit_) {
            warn_of_no_keys(name_, **keys);
            take_(**std::move(keys), ++taken_);
            last = *std::move(text);
        } else if (keys && !quit_) {
            log_warning(fmt::format("{}: {}; the keys are unchanged", name_, keys->error().detail));
        }
        // A question that was asked during the fetch is answered by the next one.
        if (question_ != nullptr && !wanted_) {
            question_->store(true);
            question_ = nullptr;
        }
    }
}

}  // namespace annals::net::auth
