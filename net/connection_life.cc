// The part of a connection that begins and ends it: how many there may be, how long each may wait, and what happens to
// one that is closed from outside.

#include "net/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace annals::net {

void Connection::start(Worker& worker, int fd) {
    const std::uint64_t open = worker.shared.connections.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t limit = worker.shared.connections_max;
    if (open >= limit + worker.shared.overloaded_max) {
        // A new one replaces the worker's oldest, so that health can always be requested. Where other workers have all of
        // them, it is one more.
        if (!worker.overloaded.empty()) {
            Connection* oldest = worker.overloaded.front();
            worker.overloaded.pop_front();
            oldest->abandon();
        }
    }
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    asio::ip::tcp::socket socket(worker.loop.context());
    asio::error_code ec;
    socket.assign(asio::ip::tcp::v4(), fd, ec);  // the family is not used again
    if (ec) {
        ::close(fd);
        worker.shared.connections.fetch_sub(1, std::memory_order_relaxed);
        return;
    }
    const PeerAddress address = peer_address(fd);
    const bool counted = worker.shared.throttle.connect(address);
    auto connection = std::make_unique<Connection>(worker, std::move(socket), address,
                                                   open >= limit || !counted, counted);
    core::spawn(worker.loop, "connection", run(std::move(connection)));
}

Connection::Connection(Worker& worker, asio::ip::tcp::socket socket, const PeerAddress& address,
                       bool overload, bool counted)
    : worker_(worker),
      socket_(std::move(socket)),
      next_(worker.connections),
      address_(address),
      overload_(overload),
      counted_(counted),
      reader_(worker.shared.config.limits.max_body, overload || worker.authenticator.has_value()),
      admission_(worker, address) {
    if (next_ != nullptr) {
        next_->previous_ = this;
    }
    worker_.connections = this;
    if (worker_.shared.tls != nullptr) {
        tls_ = std::make_unique<TlsStream>(*worker_.shared.tls, socket_.native_handle());
    }
    worker_.metrics.connections.add();
    worker_.metrics.connections_opened.add();
    if (overload_) {
        worker_.overloaded.push_back(this);
        worker_.metrics.refused.add();
    }
}

Connection::~Connection() {
    (previous_ != nullptr ? previous_->next_ : worker_.connections) = next_;
    if (next_ != nullptr) {
        next_->previous_ = previous_;
    }
    if (overload_) {
        std::erase(worker_.overloaded, this);
    }
    if (tls_ != nullptr && !abandoned_) {
        tls_->close();
    }
    worker_.metrics.connections.subtract();
    Shared& shared = worker_.shared;
    shared.memory.fetch_sub(memory_, std::memory_order_relaxed);
    if (counted_) {
        shared.throttle.disconnect(address_);
    }
    if (shared.connections.fetch_sub(1) == 1 && shared.stopping.load()) {
        const std::lock_guard lock(shared.mutex);
        shared.all_closed.notify_all();
    }
}

void Connection::sweep(Clock::time_point time) {
    if (phase_ == Phase::working || time < deadline_) {
        return;
    }
    if (phase_ == Phase::handling) {
        answer_late();
        return;
    }
    if (phase_ == Phase::writing) {
        if (has_taken_some()) {
            enter(Phase::writing, worker_.shared.config.limits.idle_timeout);
        } else {
            abandon();
        }
        return;
    }
    expired_ = true;
    wake();
}

void Connection::wake() {
    asio::error_code ignored;
    socket_.cancel(ignored);
}

/// Whether bytes have arrived that are not read yet: usually a request, which is in flight although it isn't known yet.
bool Connection::has_unread() const {
    asio::error_code ec;
    return socket_.available(ec) > 0 && !ec;
}

void Connection::close_if_idle() {
    if ((phase_ == Phase::idle && !has_unread()) || phase_ == Phase::greeting) {
        wake();
    }
    wake_websocket();
}

void Connection::abandon() {
    abandoned_ = true;
    deadline_ = Clock::time_point::max();
    asio::error_code ignored;
    if (tls_ != nullptr) {
        tls_->abandon();  // it holds the socket's number, which may be reused
    }
    if (phase_ != Phase::lingering) {
        // Drops what the kernel still holds for a client that does not read.
        socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    }
    socket_.close(ignored);
}

}  // namespace annals::net
