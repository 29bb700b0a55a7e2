#include "tools/bench/load.h"

#include "core/base/owned.h"
#include "tools/commands/bundle_answers.h"
#include "tools/commands/tls_client.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <deque>
#include <optional>
#include <thread>

namespace annals::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSilenceMax = std::chrono::seconds(60);
constexpr int kEventsMax = 256;

class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}

    ~Descriptor() { reset(); }

    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int get() const noexcept { return fd_; }

    void reset(int fd = -1) noexcept {
        if (fd_ >= 0) {
            ::close(fd_);
        }
        fd_ = fd;
    }

  private:
    int fd_;
};

Error io_error(std::string_view what) {
    return Error{Errc::io, fmt::format("{}: {}", what, std::strerror(errno))};
}

Result<int> connect_to(const std::string& host, const std::string& port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int failed = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); failed != 0) {
        return Error{Errc::io, fmt::format("{}: {}", host, ::gai_strerror(failed))};
    }
    const Owned<addrinfo, ::freeaddrinfo> addresses(found);
    for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
        const int fd = ::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            continue;
        }
        if (::connect(fd, address->ai_addr, address->ai_addrlen) == 0) {
            const int on = 1;
            ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            return fd;
        }
        const int reason = errno;
        ::close(fd);
        errno = reason;
    }
    return io_error(fmt::format("connecting to {}:{}", host, port));
}

struct Connection {
    Conversation* conversation = nullptr;
    Descriptor socket;
    std::unique_ptr<tools::TlsClient> tls;  // null: no TLS
    AnswerReader reader;
    std::string request;  // being sent
    std::string ahead;    // the next one, prepared while the server works
    std::size_t sent = 0;
    Clock::time_point asked;
    bool waits_to_send = false;
    bool heard = false;  // part of the response has come
    bool anew = false;   // the request was sent again
    bool ended = false;
};

// Processor time of the calling thread.
double thread_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// One thread's share of the connections.
class Loop {
  public:
    /// `first`, `step`: this loop sends every `step`th of the due requests, starting with number `first`.
    Loop(const LoadOptions& options, std::size_t first, std::size_t step)
        : options_(options), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
        if (options.rate > 0) {
            const auto spacing = [&](std::size_t count) {
                return std::chrono::nanoseconds(
                    static_cast<std::int64_t>(static_cast<double>(count) / options.rate * 1e9));
            };
            interval_ = spacing(step);
            offset_ = spacing(first);
        }
    }

    Result<void> add(Conversation& conversation) {
        auto connection = std::make_unique<Connection>();
        connection->conversation = &conversation;
        ANNALS_TRY_VOID(open(*connection));
        connections_.push_back(std::move(connection));
        return {};
    }

    Result<void> run(Clock::time_point begin) {
        measured_from_ = begin + options_.warm_up;
        if (options_.duration.count() > 0) {
            ends_ = measured_from_ + options_.duration;
        }
        due_ = begin + offset_;
        for (const auto& connection : connections_) {
            ++busy_;
            go_on(*connection);
        }
        const double processor = thread_seconds();
        const Clock::time_point started = Clock::now();
        Clock::time_point heard = started;
        Clock::duration polled{};  // polls that found nothing
        epoll_event events[kEventsMax];
        while (busy_ > 0) {
            start_due();
            if (busy_ == 0) {
                break;
            }
            const Clock::time_point looked = Clock::now();
            const timespec patience = options_.polls ? timespec{} : time_to_wait();
            const int count = ::epoll_pwait2(epoll_.get(), events, kEventsMax, &patience, nullptr);
            if (count < 0 && errno != EINTR) {
                return io_error("epoll_wait");
            }
            const Clock::time_point now = Clock::now();
            if (count <= 0 && idle_.size() < busy_ && now - heard > kSilenceMax) {
                return Error{Errc::io, "no response for 60 seconds"};
            }
            if (count > 0) {
                heard = now;
            } else if (options_.polls) {
                polled += now - looked;
            }
            for (int i = 0; i < count; ++i) {
                auto& connection = *static_cast<Connection*>(events[i].data.ptr);
                if (connection.waits_to_send && (events[i].events & EPOLLOUT) != 0) {
                    send(connection);
                }
                if ((events[i].events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 &&
                    !connection.ended) {
                    receive(connection);
                }
            }
            if (failed_) {
                return *failed_;
            }
        }
        const auto seconds = [](Clock::duration time) {
            return std::chrono::duration<double>(time).count();
        };
        const double elapsed = seconds(Clock::now() - started);
        // A thread that never sleeps is busy except for the polls in vain, no matter how much of the core others have.
        result_.busy =
            (options_.polls ? elapsed - seconds(polled) : thread_seconds() - processor) / elapsed;
        result_.seconds =
            std::chrono::duration<double>((ends_ ? *ends_ : Clock::now()) - measured_from_).count();
        return {};
    }

    LoadResult& result() { return result_; }

  private:
    Result<void> open(Connection& connection) {
        ANNALS_TRY(const int fd, connect_to(options_.host, options_.port));
        connection.tls.reset();
        connection.socket.reset(fd);
        if (options_.tls) {
            ANNALS_TRY(connection.tls,
                       tools::TlsClient::connect(fd, options_.host, {}, options_.identity.get()));
            ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
        }
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = &connection;
        if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
            return io_error("epoll_ctl");
        }
        connection.waits_to_send = false;
        return {};
    }

    void end(Connection& connection) {
        connection.ended = true;
        connection.tls.reset();
        connection.socket.reset();
        --busy_;
    }

    // Continues a connection that has no request.
    void go_on(Connection& connection) {
        if (interval_.count() > 0) {
            idle_.push_back(&connection);
        } else if (ends_ && Clock::now() >= *ends_) {
            end(connection);
        } else {
            begin_request(connection, std::nullopt);
        }
    }

    // Open loop: sends due requests, as long as there are free connections.
    void start_due() {
        if (interval_.count() == 0) {
            return;
        }
        const Clock::time_point now = Clock::now();
        if (ends_ && now >= *ends_) {
            for (; due_ < *ends_; due_ += interval_) {
                ++result_.unsent;
            }
            for (Connection* const connection : idle_) {
                end(*connection);
            }
            idle_.clear();
            return;
        }
        while (due_ <= now && !idle_.empty()) {
            Connection& connection = *idle_.front();
            idle_.pop_front();
            begin_request(connection, due_);
            due_ += interval_;
        }
    }

    // Until the next request is due, if a connection is free for it; otherwise a second.
    timespec time_to_wait() const {
        std::chrono::nanoseconds wait = std::chrono::seconds(1);
        if (!idle_.empty()) {
            wait = std::clamp<std::chrono::nanoseconds>(due_ - Clock::now(),
                                                        std::chrono::nanoseconds(0), wait);
        }
        return {.tv_sec = wait.count() / 1'000'000'000, .tv_nsec = wait.count() % 1'000'000'000};
    }

    // `due`: when it should have been sent; none: now.
    void begin_request(Connection& connection, std::optional<Clock::time_point> due) {
        connection.request.clear();
        if (!connection.ahead.empty()) {
            connection.request.swap(connection.ahead);
        } else if (!connection.conversation->ask(connection.request)) {
            return end(connection);
        }
        connection.sent = 0;
        connection.asked = due.value_or(Clock::now());
        send(connection);
    }

    void wait_to_send(Connection& connection, bool wait) {
        if (connection.waits_to_send != wait) {
            epoll_event event{};
            event.events = wait ? EPOLLIN | EPOLLOUT : EPOLLIN;
            event.data.ptr = &connection;
            ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
            connection.waits_to_send = wait;
        }
    }

    void send(Connection& connection) {
        while (connection.sent < connection.request.size()) {
            const char* const bytes = connection.request.data() + connection.sent;
            const std::size_t size = connection.request.size() - connection.sent;
            const ssize_t sent =
                connection.tls != nullptr
                    ? connection.tls->send(bytes, size)
                    : ::send(connection.socket.get(), bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0) {
                if (errno == EAGAIN || errno == EWOULDBLOCK) {
                    return wait_to_send(connection, true);
                }
                if (errno == EINTR) {
                    continue;
                }
                return;  // the response, or the end of the connection, will be read
            }
            connection.sent += static_cast<std::size_t>(sent);
        }
        wait_to_send(connection, false);
        if (connection.ahead.empty() && connection.conversation->asks_ahead()) {
            connection.conversation->ask(connection.ahead);
        }
    }

    void receive(Connection& connection) {
        receive_once(connection);
        // Data that OpenSSL has buffered does not wake us up.
        while (!failed_ && !connection.ended && connection.tls != nullptr &&
               connection.tls->has_more()) {
            receive_once(connection);
        }
    }

    void receive_once(Connection& connection) {
        char* const room = connection.reader.room();
        const std::size_t size = connection.reader.room_size();
        const ssize_t received = connection.tls != nullptr
                                     ? connection.tls->receive(room, size)
                                     : ::recv(connection.socket.get(), room, size, MSG_DONTWAIT);
        if (received < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (received <= 0 && interval_.count() > 0 && !connection.heard && go_on_anew(connection)) {
            return;
        }
        if (received <= 0) {
            failed_ = received == 0 ? Error{Errc::io, "the server closed a connection"}
                      : errno == EPROTO && connection.tls != nullptr
                          ? Error{Errc::io, "receiving: " + connection.tls->fault()}
                          : io_error("receiving");
            return;
        }
        connection.heard = true;
        result_.bytes_received += static_cast<std::uint64_t>(received);
        switch (connection.reader.received(static_cast<std::size_t>(received))) {
            case AnswerReader::State::more:
                return;
            case AnswerReader::State::broken:
                failed_ = Error{Errc::io, "the server's response is not valid HTTP"};
                return;
            case AnswerReader::State::done:
                return take(connection);
        }
    }

    void take(Connection& connection) {
        const Clock::time_point now = Clock::now();
        const Answer answer = connection.reader.answer();
        const Verdict verdict = connection.conversation->hear(answer);
        if (!verdict.ok) {
            note_error(answer);
        } else if (now >= measured_from_ && (!ends_ || now <= *ends_)) {
            ++result_.requests;
            result_.units += verdict.units;
            result_.operations[verdict.operation].record(
                static_cast<std::uint64_t>((now - connection.asked).count()));
        }
        const bool closes = connection.reader.closes();
        connection.reader.next();
        connection.heard = false;
        connection.anew = false;
        if (closes) {
            reopen(connection);
        }
        if (!failed_) {
            go_on(connection);
        }
    }

    // Handles a close by the server after a long idle time, which may cross the next request. False: that is not
    // why it was closed.
    bool go_on_anew(Connection& connection) {
        const bool idle = std::ranges::find(idle_, &connection) != idle_.end();
        if (!idle && connection.anew) {
            return false;
        }
        reopen(connection);
        if (!idle && !failed_) {
            connection.anew = true;
            connection.sent = 0;
            send(connection);
        }
        return true;
    }

    void reopen(Connection& connection) {
        connection.tls.reset();
        connection.socket.reset();
        if (Result<void> opened = open(connection); !opened) {
            failed_ = opened.error();
        }
    }

    void note_error(const Answer& answer) {
        if (++result_.errors == 1) {
            json::Parser parser;
            const auto outcome = parser.parse(answer.body);
            const std::string said = outcome ? tools::outcome_text(outcome->root()) : "";
            result_.first_error = fmt::format("{}: {}", answer.status,
                                              said.empty() ? answer.body.substr(0, 500) : said);
        }
    }

    const LoadOptions& options_;
    Descriptor epoll_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::size_t busy_ = 0;                  // connections that have not ended
    std::deque<Connection*> idle_;          // open loop: without a request
    std::chrono::nanoseconds interval_{0};  // between two requests; 0: closed loop
    std::chrono::nanoseconds offset_{0};
    Clock::time_point due_;  // of the next request
    Clock::time_point measured_from_;
    std::optional<Clock::time_point> ends_;
    std::optional<Error> failed_;
    LoadResult result_;
};

}  // namespace

void pin_thread(int cpu) {
    if (cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<unsigned>(cpu), &set);
        ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
    }
}

Histogram LoadResult::all() const {
    Histogram sum = operations.front();
    for (std::size_t i = 1; i < operations.size(); ++i) {
        sum.merge(operations[i]);
    }
    return sum;
}

Result<LoadResult> run_load(const LoadOptions& options,
                            const std::vector<std::unique_ptr<Conversation>>& conversations) {
    const std::size_t threads =
        std::max<std::size_t>(1, std::min<std::size_t>(options.threads, conversations.size()));
    std::vector<std::unique_ptr<Loop>> loops;
    for (std::size_t i = 0; i < threads; ++i) {
        loops.push_back(std::make_unique<Loop>(options, i, threads));
    }
    for (std::size_t i = 0; i < conversations.size(); ++i) {
        ANNALS_TRY_VOID(loops[i % threads]->add(*conversations[i]));
    }
    const Clock::time_point begin = Clock::now();
    std::vector<Result<void>> ends(threads);
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i) {
        running.emplace_back([&, i] {
            pin_thread(threads == 1 ? options.cpu : -1);
            ends[i] = loops[i]->run(begin);
        });
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    LoadResult sum;
    for (std::size_t i = 0; i < threads; ++i) {
        ANNALS_TRY_VOID(ends[i]);
        const LoadResult& part = loops[i]->result();
        for (std::size_t k = 0; k < kOperationsMax; ++k) {
            sum.operations[k].merge(part.operations[k]);
        }
        sum.requests += part.requests;
        sum.units += part.units;
        sum.errors += part.errors;
        sum.bytes_received += part.bytes_received;
        sum.unsent += part.unsent;
        sum.seconds = std::max(sum.seconds, part.seconds);
        sum.busy = std::max(sum.busy, part.busy);
        if (sum.first_error.empty()) {
            sum.first_error = part.first_error;
        }
    }
    return sum;
}

}  // namespace annals::bench
