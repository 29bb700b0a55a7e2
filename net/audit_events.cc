#include "net/audit_events.h"

#include "core/base/log.h"
#include "core/base/thread_name.h"

#include <asio/awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace annals::net {

namespace {

/// Events are gathered for this long before they are written, and one commit has at most this many and this many bytes.
constexpr std::chrono::milliseconds kEventGather{100};
constexpr std::size_t kBatchMax = 500;
constexpr std::size_t kBatchBytesMax = 8 << 20;

/// The pause after a write that the store could not accept.
constexpr std::chrono::seconds kEventRetry{1};

constexpr std::string_view kMayWrite = "system/AuditEvent.c";

std::string batch_of(const std::vector<std::string>& events) {
    std::string bundle = R"({"resourceType":"Bundle","type":"batch","entry":[)";
    for (const std::string& event : events) {
        bundle += bundle.ends_with('[') ? "" : ",";
        bundle += R"({"resource":)" + event + R"(,"request":{"method":"POST","url":"AuditEvent"}})";
    }
    return bundle + "]}";
}

std::size_t total_bytes(const std::vector<std::string>& events) {
    std::size_t bytes = 0;
    for (const std::string& event : events) {
        bytes += event.size();
    }
    return bytes;
}

/// Whether a write may succeed later.
bool may_come_back(int status) {
    return status >= 500 || status == 429;
}

}  // namespace

AuditEvents::AuditEvents(const core::Service& service)
    : service_(service),
      writer_("annals-audit", kMayWrite),
      batch_max_(std::min<std::uint64_t>(kBatchMax, service.config().limits.max_bundle_entries)),
      loop_(service.store()) {
    thread_ = std::thread([this] { run(); });
}

AuditEvents::~AuditEvents() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void AuditEvents::add(std::string event) {
    const std::lock_guard lock(mutex_);
    if (count_ >= kWaitingMax || bytes_ + event.size() > kWaitingBytesMax) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    ++count_;
    bytes_ += event.size();
    waiting_.push_back(std::move(event));
    if (waiting_.size() == 1 || waiting_.size() == batch_max_) {
        wake_.notify_one();
    }
}

/// Under the mutex: takes the oldest events.
std::vector<std::string> AuditEvents::take_batch() {
    std::size_t taken = 0;
    for (std::size_t bytes = 0; taken < waiting_.size() && taken < batch_max_; ++taken) {
        bytes += waiting_[taken].size();
        if (taken > 0 && bytes > kBatchBytesMax) {
            break;
        }
    }
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(taken);
    std::vector<std::string> batch(std::make_move_iterator(waiting_.begin()),
                                   std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    return batch;
}

void AuditEvents::run() {
    name_thread("audit events");
    std::vector<std::string> batch;
    std::unique_lock lock(mutex_);
    for (;;) {
        if (batch.empty()) {
            wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
            wake_.wait_for(lock, kEventGather,
                           [this] { return stopping_ || waiting_.size() >= batch_max_; });
            batch = take_batch();
        } else {
            wake_.wait_for(lock, kEventRetry, [this] { return stopping_; });
        }
        const bool last_try = stopping_;
        if (batch.empty() && last_try) {
            return;
        }
        const std::size_t bytes = total_bytes(batch);
        const std::size_t count = batch.size();
        lock.unlock();
        write(batch);
        if (last_try && !batch.empty()) {
            dropped_.fetch_add(batch.size(), std::memory_order_relaxed);
            log_error(
                fmt::format("audit: {} AuditEvent resources could not be written", batch.size()));
            batch.clear();
        }
        const std::size_t bytes_left = total_bytes(batch);
        lock.lock();
        count_ -= count - batch.size();
        bytes_ -= bytes - bytes_left;
    }
}

/// Leaves the events to retry in `events`.
void AuditEvents::write(std::vector<std::string>& events) {
    const std::string body = batch_of(events);
    core::Request request;
    request.method = core::HttpMethod::post;
    request.headers = {{"Content-Type", "application/fhir+json"}, {"Prefer", "return=minimal"}};
    request.body = body;
    request.base_url = service_.config().base_url.empty()
                           ? std::string_view("http://localhost/fhir")
                           : std::string_view(service_.config().base_url);
    request.request_id = "audit";
    request.principal = &writer_;
    const Result<core::Response> done =
        loop_.run("audit events", request, core::handle(service_, request));
    if (!done) {
        return;  // it may recover
    }
    const core::Response& response = *done;

    std::vector<std::string> again;
    std::uint64_t written = 0;
    std::uint64_t refused = 0;
    int why = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const bool traced = response.status == 200 && i < response.entries.size();
        const int status = traced ? response.entries[i].status : response.status;
        if (traced && status == 201) {
            ++written;
        } else if (may_come_back(status)) {
            again.push_back(std::move(events[i]));
        } else {
            ++refused;
            why = status;
        }
    }
    written_.fetch_add(written, std::memory_order_relaxed);
    if (refused > 0) {
        dropped_.fetch_add(refused, std::memory_order_relaxed);
        log_error(fmt::format("audit: the store refused {} AuditEvent resources (status {})",
                              refused, why));
    }
    events = std::move(again);
}

}  // namespace annals::net
