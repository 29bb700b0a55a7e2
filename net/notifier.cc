#include "net/notifier.h"

#include "core/base/check.h"
#include "core/base/owned.h"
#include "core/base/thread_name.h"
#include "net/auth/fetch.h"

#include <fmt/format.h>

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <optional>
#include <thread>
#include <utility>

namespace annals::net {

namespace {

using Clock = core::Dispatcher::Clock;

/// How often to look for new subscriptions if none is active; writes don't wake the thread then.
constexpr std::chrono::milliseconds kIdlePause{100};

/// One request in progress.
struct Sending {
    core::Notification notification;
    Owned<curl_slist, curl_slist_free_all> headers;
    Owned<CURL, curl_easy_cleanup> handle;
    std::size_t received = 0;
};

std::size_t take(char* /*bytes*/, std::size_t size, std::size_t count, void* sending) {
    std::size_t& received = static_cast<Sending*>(sending)->received;
    received += size * count;
    return received > kReceiptBytesMax ? 0 : size * count;
}

void add_header(Sending& sending, const std::string& line) {
    curl_slist* const longer = curl_slist_append(sending.headers.get(), line.c_str());
    ANNALS_CHECK(longer != nullptr);
    sending.headers.release();
    sending.headers.reset(longer);
}

/// The result of the transfer. Redirects are not followed, because the operator has only allowed this endpoint.
Result<void> outcome_of(const Sending& sending, CURLcode code) {
    if (code == CURLE_WRITE_ERROR && sending.received > kReceiptBytesMax) {
        return Error{Errc::io, "the response is too long"};
    }
    if (code != CURLE_OK) {
        return Error{Errc::io, curl_easy_strerror(code)};
    }
    long status = 0;
    curl_easy_getinfo(sending.handle.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status > 299) {
        return Error{Errc::io, fmt::format("status {}", status)};
    }
    return {};
}

}  // namespace

struct Notifier::Impl : private storage::SettleListener {
    Impl(const core::Service& fhir, storage::FileSystem& files, core::Pings& pings,
         const auth::ClientCertificate& certificate, core::PositionMap positions)
        : service(fhir), shown(certificate), dispatcher(fhir, files, pings, std::move(positions)) {
        auth::initialise_curl();
        multi.reset(curl_multi_init());
        ANNALS_CHECK(multi != nullptr);
        thread = std::thread([this] { run(); });  // If it can't start, nobody listens.
        service.store().add_listener(*this);
        curl_multi_wakeup(multi.get());  // Anything settled earlier is found now.
    }

    ~Impl() override { stop(); }

    void stop() {
        if (stopping.exchange(true)) {
            return;
        }
        curl_multi_wakeup(multi.get());
        thread.join();
        service.store().remove_listener(*this);
        for (Sending& sending : under_way) {
            curl_multi_remove_handle(multi.get(), sending.handle.get());
        }
        under_way.clear();
        dispatcher.save();
    }

    void settled(storage::Ticket /*through*/, std::optional<Errc> why_not) noexcept override {
        // Checked first, because an exchange at each commit would take the cache line from the waiting thread.
        if (!why_not && waits_for_news && waits_for_news.exchange(false)) {
            curl_multi_wakeup(multi.get());
        }
    }

    void run() {
        name_thread("notifier");
        while (!stopping) {
            // Set before looking: whatever becomes visible after that ends the wait.
            const bool was_idle = dispatcher.is_idle();
            waits_for_news = !was_idle;
            for (core::Notification& notification : dispatcher.advance(Clock::now())) {
                send(std::move(notification));
            }
            const bool finished = finish();
            if (finished || dispatcher.has_more() || dispatcher.is_idle() != was_idle) {
                continue;
            }
            auto pause =
                std::chrono::ceil<std::chrono::milliseconds>(dispatcher.next_time() - Clock::now());
            if (dispatcher.is_idle()) {
                pause = std::min(pause, kIdlePause);
            }
            curl_multi_poll(multi.get(), nullptr, 0,
                            static_cast<int>(std::max<std::int64_t>(pause.count(), 0)), nullptr);
        }
        // Responses that have arrived meanwhile count: otherwise these notifications would be repeated after the restart.
        finish();
    }

    void send(core::Notification notification) {
        Sending& sending = under_way.emplace_back();
        sending.notification = std::move(notification);
        sending.handle.reset(curl_easy_init());
        CURL* const curl = sending.handle.get();
        ANNALS_CHECK(curl != nullptr);
        const core::Notification& what = sending.notification;
        for (const std::string& line : what.headers) {
            add_header(sending, line);
        }
        add_header(sending, "Expect:");
        if (!what.update) {
            add_header(sending, "Content-Type:");  // of an empty body
        }
        auth::prepare_request(curl, what.url, service.config().subscriptions.timeout, &shown);
        curl_easy_setopt(curl, CURLOPT_USERAGENT,
                         "Annals/" ANNALS_VERSION);  // unless the headers have one
        curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, sending.headers.get());
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, what.update ? "PUT" : "POST");
        const std::string_view body = what.body ? std::string_view(*what.body) : "";
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sending);
        curl_multi_add_handle(multi.get(), curl);
    }

    /// Sends and receives what is possible without waiting, and settles the requests that have ended; false if none has.
    bool finish() {
        int running = 0;
        curl_multi_perform(multi.get(), &running);
        bool any = false;
        int left = 0;
        while (const CURLMsg* const message = curl_multi_info_read(multi.get(), &left)) {
            if (message->msg != CURLMSG_DONE) {
                continue;
            }
            const auto sending = std::find_if(
                under_way.begin(), under_way.end(),
                [&](const Sending& one) { return one.handle.get() == message->easy_handle; });
            ANNALS_CHECK(sending != under_way.end());
            const Result<void> outcome = outcome_of(*sending, message->data.result);
            curl_multi_remove_handle(multi.get(), sending->handle.get());
            dispatcher.settle(sending->notification, outcome, Clock::now());
            under_way.erase(sending);
            any = true;
        }
        return any;
    }

    const core::Service& service;
    const auth::ClientCertificate& shown;
    core::Dispatcher dispatcher;  // used by the thread only
    Owned<CURLM, curl_multi_cleanup> multi;
    std::list<Sending> under_way;  // used by the thread only
    std::atomic<bool> stopping{false};
    std::atomic<bool> waits_for_news{false};
    std::thread thread;
};

Result<std::unique_ptr<Notifier>> Notifier::begin(const core::Service& service,
                                                  storage::FileSystem& files, core::Pings& pings,
                                                  const auth::ClientCertificate& shown) {
    ANNALS_TRY(core::PositionMap positions, core::Dispatcher::saved(service, files));
    return std::unique_ptr<Notifier>(
        new Notifier(std::make_unique<Impl>(service, files, pings, shown, std::move(positions))));
}

Notifier::Notifier(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

Notifier::~Notifier() = default;

void Notifier::stop() {
    impl_->stop();
}

std::shared_ptr<const core::SubscriptionStats> Notifier::stats() const {
    return impl_->dispatcher.stats();
}

}  // namespace annals::net
