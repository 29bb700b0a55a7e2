#include "net/worker.h"

#include "net/await.h"
#include "net/connection.h"

#include <algorithm>

namespace annals::net {

namespace {

constexpr std::chrono::milliseconds kTickMin{10};
constexpr std::chrono::milliseconds kTickMax{250};
constexpr std::int64_t kSecond = 1'000'000;  // of an Instant

// Often enough that no deadline is exceeded by more than a quarter.
std::chrono::milliseconds tick_of(const core::Config::Limits& limits) {
    const std::chrono::milliseconds shortest = std::min(
        {limits.idle_timeout, limits.header_timeout, limits.body_timeout, limits.request_timeout});
    return std::clamp(shortest / 4, kTickMin, kTickMax);
}

}  // namespace

Worker::Worker(Shared& shared_state)
    : shared(shared_state), loop(shared.service.store()), timer(loop.context()) {
    set_time();
    shared.pings.add(*this);
}

Worker::~Worker() {
    shared.pings.remove(*this);
}

void Worker::pinged() noexcept {
    if (pings_posted.exchange(true)) {
        return;
    }
    loop.post([this] {
        pings_posted.store(false);
        for (Connection* connection = connections; connection != nullptr;
             connection = connection->next()) {
            connection->wake_websocket();
        }
    });
}

void Worker::set_time() {
    time = Clock::now();
    const Instant wall = now();
    write_http_date(wall, date.data());
    date_ends_ = time + std::chrono::microseconds(kSecond - wall.us % kSecond);
}

asio::awaitable<void> Worker::sweep() {
    const std::chrono::milliseconds tick = tick_of(shared.config.limits);
    while (!quit) {
        timer.expires_after(tick);
        const Waited waited = co_await timer.async_wait(use_tuple);
        static_cast<void>(waited);  // cancelled or not, `quit` decides
        set_time();
        Connection* connection = connections;
        while (connection != nullptr) {
            Connection* next = connection->next();
            connection->sweep(time);
            connection = next;
        }
    }
    loop.stop();
}

void Worker::adopt(int fd) {
    Connection::start(*this, fd);
}

void Worker::close_idle() {
    loop.end_waits();
    for (Connection* connection = connections; connection != nullptr;
         connection = connection->next()) {
        connection->close_if_idle();
    }
}

void Worker::close_all() {
    loop.give_up();
    for (Connection* connection = connections; connection != nullptr;
         connection = connection->next()) {
        connection->abandon();
    }
}

}  // namespace annals::net
