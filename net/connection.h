// Connection: one client's socket, from accept to close.
//
// Layer:   net.
// Threads: pinned to its worker's thread.

#pragma once

#include "net/address.h"
#include "net/admission.h"
#include "net/await.h"
#include "net/output.h"
#include "net/request_reader.h"
#include "net/tls.h"
#include "net/worker.h"

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace annals::net {

class SubscriptionSocket;

/// Reads requests, has them handled in order, and sends the responses of one turn with one write.
///
/// Its coroutine waits for one thing at a time: `phase_` says for what and `deadline_` until when. The worker's
/// sweep checks both, so that no request needs its own timer.
class Connection final : private core::Meanwhile {
  public:
    /// Serves `fd` on `worker`'s loop until either side closes.
    static void start(Worker& worker, int fd);

    /// `overload`: it is beyond limits.max_connections and gets only health and metrics. `counted`: Throttle::connect() has
    /// counted it.
    Connection(Worker& worker, asio::ip::tcp::socket socket, const PeerAddress& address,
               bool overload, bool counted);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    Connection* next() const noexcept { return next_; }

    /// Ends the current wait if its deadline has passed.
    void sweep(Clock::time_point time);

    /// Ends the connection if it is a websocket, or waits for a request of which nothing has arrived.
    void close_if_idle();

    /// Lets a websocket check whether it has something to send.
    void wake_websocket();

    /// Ends the connection in any phase; a running handler finishes, but its response is not sent.
    void abandon();

  private:
    enum class Phase : std::uint8_t {
        working,    ///< not waiting
        greeting,   ///< for the client's part of the TLS handshake
        idle,       ///< for a request to begin
        head,       ///< for the rest of the head
        body,       ///< for the rest of the body
        handling,   ///< for a handler
        writing,    ///< for the client to take bytes
        lingering,  ///< for the client to close
        websocket,  ///< for a message from the client, or one to send to it
    };

    /// What the connection does next.
    enum class Turn : std::uint8_t {
        read,             ///< nothing more to answer
        await,            ///< the current request needs a coroutine
        settle,           ///< `early_` is sent once its ticket has settled
        slices,           ///< the rest of `slices_` must be sent
        yield,            ///< there is more to answer, after others have had their turn
        close,            ///< the last response has been added
        switch_protocol,  ///< the same; afterwards it is a websocket
        gone,             ///< the socket is unusable
    };

    /// Cache-Control of responses that need credentials, unless they have something stricter.
    static constexpr std::string_view kGuardedCaching = "private, no-cache";

    static asio::awaitable<void> run(std::unique_ptr<Connection> connection);
    asio::awaitable<void> serve();
    asio::awaitable<bool> greet();
    asio::awaitable<Moved> read_some(std::span<char> room);
    asio::awaitable<Moved> read_encrypted(std::span<char> room);
    asio::awaitable<bool> wait_for(TlsStream::Step step);
    asio::awaitable<Turn> handle();
    void prepare() override;
    bool has_taken_some() noexcept;
    asio::awaitable<Output::Sent> write();
    asio::awaitable<Turn> write_slices();
    void end_slices();
    asio::awaitable<void> linger();
    asio::awaitable<void> speak();
    asio::awaitable<bool> bring_up_to_date(SubscriptionSocket& session, std::string& out);

    bool begin_read();
    Turn end_read(asio::error_code ec, std::size_t count);
    void begin_settling();
    Turn end_settling(const Result<void>& durable);
    Turn answer_ready();
    std::optional<Turn> judge_head();
    Turn answer_request();
    std::optional<core::Response> first_answer(core::Request& request);
    Turn answer(core::Response& response);
    Turn put(core::Response& response, Clock::time_point now);
    void fill_in(core::Request& request);
    /// Since the current request was complete.
    std::uint64_t microseconds_until(Clock::time_point now) const;
    static constexpr std::string_view kRoot = "/fhir";
    static bool enter_root(core::Request& request);
    std::optional<core::Response> refuse_at_head(core::Request& request);
    void count_memory();
    bool is_within_memory();
    bool asks_for_websocket(const core::Request& request) const;
    Result<void> judge_websocket(const core::Request& request) const;
    std::optional<core::Response> refuse_websocket(const core::Request& request);
    Turn switch_protocol(const core::Request& request);
    asio::awaitable<bool> is_still_let_in();
    void take_request_id(core::Request& request);
    std::string allowed_at(std::string_view path) const;
    Turn refuse(const Error& error, int status = 0);
    void answer_late();
    Framing framing(bool close) const;
    void add_last(Output& output, core::Response& response, const core::Request& request) const;
    void enter(Phase phase, std::chrono::milliseconds limit);
    void wake();
    bool has_unread() const;

    Worker& worker_;
    asio::ip::tcp::socket socket_;
    std::unique_ptr<TlsStream> tls_;  ///< null: plain
    Connection* previous_ = nullptr;
    Connection* next_ = nullptr;

    Phase phase_ = Phase::working;
    PeerAddress address_;
    bool overload_;           ///< beyond limits.max_connections
    bool counted_;            ///< by Throttle::connect()
    std::size_t memory_ = 0;  ///< counted in Shared::memory
    int held_bytes_ = 0;      ///< by the kernel, for a slow client
    bool expired_ = false;    ///< the sweep has ended the wait
    bool woken_ = false;      ///< the wait of a websocket was ended so that it can send
    bool abandoned_ = false;  ///< nothing may be written any more
    Clock::time_point deadline_ = Clock::time_point::max();
    Clock::time_point read_deadline_;
    // None: the wait has not begun.
    std::optional<Clock::time_point> begin_deadline_;     ///< for the next request to begin
    std::optional<Clock::time_point> overload_deadline_;  ///< if it is one too many
    Clock::time_point request_begin_;
    RequestReader::Phase reading_ = RequestReader::Phase::idle;  ///< what read_deadline_ is for

    RequestReader reader_;
    Output output_;
    std::unique_ptr<core::BodySource> slices_;
    bool slices_chunked_ = false;
    bool closing_ = false;  ///< the response that was added by put() is the last
    Admission admission_;
    core::Route route_;  ///< of the request to be awaited
    /// The response to the current request, before it may be sent.
    std::optional<core::Response> early_;
    std::optional<Turn> early_turn_;  ///< the turn after `early_`; if set, that is in `output_`
    std::string request_id_;
    std::string correlation_id_;  ///< the client's X-Request-Id if that is another; empty: not sent
    std::string_view cors_lines_;  ///< for the current response; valid as long as the server
    std::string base_url_;
    std::string base_url_host_;
};

}  // namespace annals::net
