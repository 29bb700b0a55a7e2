// The part of a connection that transfers bytes: handshake, reading, writing, and closing.

#include "core/body.h"
#include "net/await.h"
#include "net/connection.h"

#include <asio/buffer.hpp>

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <utility>

namespace annals::net {

namespace {

/// How long the server waits for the client to close a connection that it ends.
constexpr std::chrono::seconds kLinger{2};

/// How long it waits for the request of a connection over the limit.
constexpr std::chrono::seconds kOverloadWait{1};

/// A request of at most this size is admitted whatever others use.
constexpr std::uint64_t kSmallBytes = 64 << 10;

}  // namespace

// Waits for what `step` needs. False if the connection is over.
asio::awaitable<bool> Connection::wait_for(TlsStream::Step step) {
    if (step == TlsStream::Step::closed || step == TlsStream::Step::broken) {
        co_return false;
    }
    const auto kind = step == TlsStream::Step::wants_write ? asio::ip::tcp::socket::wait_write
                                                           : asio::ip::tcp::socket::wait_read;
    const Waited waited = co_await socket_.async_wait(kind, use_tuple);
    co_return !std::get<0>(waited) && !abandoned_;
}

// The TLS handshake. False if it fails.
asio::awaitable<bool> Connection::greet() {
    enter(Phase::greeting, worker_.shared.config.limits.header_timeout);
    while (!worker_.shared.stopping.load(std::memory_order_relaxed)) {
        const TlsStream::Step step = tls_->handshake();
        if (step == TlsStream::Step::done) {
            phase_ = Phase::working;
            admission_.set_certificate(tls_->client_certificate());
            co_return true;
        }
        const bool ready = co_await wait_for(step);
        if (!ready) {
            co_return false;
        }
    }
    co_return false;
}

asio::awaitable<Moved> Connection::read_encrypted(std::span<char> room) {
    for (bool waited = false;; waited = true) {
        std::size_t count = 0;
        const TlsStream::Step step = tls_->read(room, count);
        if (step == TlsStream::Step::done) {
            if (!waited) {
                // A client that sends as fast as it is read must not delay the others.
                co_await worker_.loop.yield();
            }
            co_return Moved{asio::error_code(), count};
        }
        const bool ready = co_await wait_for(step);
        if (!ready) {
            co_return Moved{asio::error::eof, 0};
        }
    }
}

asio::awaitable<Moved> Connection::read_some(std::span<char> room) {
    return tls_ != nullptr
               ? read_encrypted(room)
               : socket_.async_read_some(asio::buffer(room.data(), room.size()), use_tuple);
}

/// Counts the memory of the current request, and limits what may still be added to the rest of the common limit.
void Connection::count_memory() {
    Shared& shared = worker_.shared;
    const std::size_t bytes = reader_.memory();
    if (bytes != memory_) {
        shared.memory.fetch_add(bytes - memory_, std::memory_order_relaxed);
        memory_ = bytes;
    }
    const std::uint64_t limit = shared.config.limits.max_memory;
    const std::uint64_t taken = shared.memory.load(std::memory_order_relaxed);
    // A few bytes may be many after decoding.
    reader_.set_decoded_bytes_max(bytes + kSmallBytes + (taken < limit ? limit - taken : 0));
}

/// Whether the current request is within the common limit. A small one always is.
bool Connection::is_within_memory() {
    count_memory();
    return memory_ <= kSmallBytes || worker_.shared.memory.load(std::memory_order_relaxed) <=
                                         worker_.shared.config.limits.max_memory;
}

bool Connection::begin_read() {
    const core::Config::Limits& limits = worker_.shared.config.limits;
    const RequestReader::Phase wanted = reader_.phase();
    switch (wanted) {
        case RequestReader::Phase::idle:
            if (worker_.shared.stopping.load(std::memory_order_relaxed) && !has_unread()) {
                return false;
            }
            if (!begin_deadline_) {
                // One deadline for the beginning of a request; skipped empty lines don't extend it.
                begin_deadline_ = worker_.time + limits.idle_timeout;
            }
            phase_ = Phase::idle;
            deadline_ = *begin_deadline_;
            break;
        case RequestReader::Phase::head:
        case RequestReader::Phase::body: {
            const bool body = wanted == RequestReader::Phase::body;
            if (wanted != reading_) {
                // One deadline for all of it, however often the client sends a few bytes.
                read_deadline_ =
                    worker_.time + (body ? limits.body_timeout : limits.header_timeout);
            }
            phase_ = body ? Phase::body : Phase::head;
            deadline_ = read_deadline_;
            break;
        }
    }
    if (overload_) {
        if (!overload_deadline_) {
            overload_deadline_ = worker_.time + kOverloadWait;
        }
        deadline_ = std::min(deadline_, *overload_deadline_);
    }
    reading_ = wanted;
    return true;
}

Connection::Turn Connection::end_read(asio::error_code ec, std::size_t count) {
    phase_ = Phase::working;
    const bool expired = std::exchange(expired_, false);
    if (abandoned_) {
        return Turn::gone;
    }
    if (!ec && count > 0) {
        reader_.filled(count);
        return Turn::read;
    }
    if (expired && overload_) {
        return refuse(Error{Errc::overloaded});
    }
    if (expired && reading_ != RequestReader::Phase::idle) {
        return refuse(Error{Errc::request_timeout});
    }
    return Turn::gone;
}

/// Whether the client has read anything since the last call. The kernel reports room only once a third of its
/// buffer is free, which may be more than a megabyte.
bool Connection::has_taken_some() noexcept {
    int held = 0;
    ::ioctl(socket_.native_handle(), SIOCOUTQ, &held);
    return std::exchange(held_bytes_, held) > held;
}

asio::awaitable<Output::Sent> Connection::write() {
    for (;;) {
        const Output::Sent sent = output_.send(socket_.native_handle(), tls_.get());
        if (sent != Output::Sent::blocked) {
            co_return sent;
        }
        static_cast<void>(has_taken_some());  // sets the starting point
        enter(Phase::writing, worker_.shared.config.limits.idle_timeout);
        const Waited waited =
            co_await socket_.async_wait(asio::ip::tcp::socket::wait_write, use_tuple);
        phase_ = Phase::working;
        if (abandoned_ || std::get<0>(waited)) {
            co_return Output::Sent::broken;
        }
    }
}

void Connection::end_slices() {
    slices_.reset();
    if (slices_chunked_) {
        output_.add_last_chunk();
    }
}

asio::awaitable<Connection::Turn> Connection::write_slices() {
    bool more = true;
    while (more) {
        co_await worker_.loop.fetched_next(*slices_);
        if (abandoned_) {
            co_return Turn::gone;
        }
        core::Body slice;
        more = slices_->next(slice);
        const std::optional<Position> seen = more ? slices_->waits_after() : std::nullopt;
        const bool endless = more && slices_->endless();
        output_.add_slice(std::move(slice), slices_chunked_);
        if (!more) {
            end_slices();
        }
        const Output::Sent sent = co_await write();
        if (sent == Output::Sent::broken) {
            co_return Turn::gone;
        }
        // A client that reads as fast as slices are made must not delay the others.
        co_await worker_.loop.yield();
        if (seen) {
            const bool news = co_await worker_.loop.news_after(*seen, core::kSourcePauseMax);
            static_cast<void>(news);  // without news, the source gives a sign of life
        }
        bool ends = false;
        if (endless) {
            const bool let_in = co_await is_still_let_in();
            ends = !let_in || worker_.shared.stopping.load(std::memory_order_relaxed);
        }
        if (abandoned_) {
            co_return Turn::gone;
        }
        if (ends) {
            // It would go on forever. What it has sent is complete, and the client knows where to continue.
            more = false;
            closing_ = true;
            end_slices();
            const Output::Sent ended = co_await write();
            if (ended == Output::Sent::broken) {
                co_return Turn::gone;
            }
        }
    }
    co_return closing_ ? Turn::close : Turn::yield;
}

asio::awaitable<void> Connection::linger() {
    // If unread bytes are left, or arrive after closing, the kernel would reset the connection, and the
    // client might lose the response or the end of a large one (RFC 9112 section 9.6).
    if (tls_ != nullptr) {
        tls_->close();
    }
    asio::error_code ec;
    socket_.shutdown(asio::socket_base::shutdown_send, ec);
    reader_.give_up();
    count_memory();
    enter(Phase::lingering, kLinger);
    while (!ec && !abandoned_ && !expired_) {
        const std::span<char> room = reader_.room();
        const Moved moved =
            co_await socket_.async_read_some(asio::buffer(room.data(), room.size()), use_tuple);
        ec = std::get<0>(moved);
    }
}

}  // namespace annals::net
