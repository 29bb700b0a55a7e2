// Connection: one client's socket, from accept to close.
//
// Layer:   net.
// Threads: pinned to its worker's thread.

#pragma once

#include "net/address.h"
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

/// Reads requests, has them answered in order, writes the answers of one turn at once.
///
/// Its coroutine waits at one place at a time; `phase_` says for what and `deadline_` until when. The worker's
/// sweep looks at both, so that no request needs a timer of its own.
class Connection final : private core::Meanwhile {
  public:
    /// Serves `fd` on `worker`'s loop until either side closes.
    static void start(Worker& worker, int fd);

    /// `overload`: one too many, for which there is no more than health and metrics. `counted`: Throttle::connect() has counted it.
    Connection(Worker& worker, asio::ip::tcp::socket socket, const PeerAddress& address,
               bool overload, bool counted);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    Connection* next() const noexcept { return next_; }

    /// Ends the wait under way if its time is over.
    void sweep(Clock::time_point time);

    /// Ends the connection if it waits for a request of which nothing has arrived, or is a websocket.
    void close_if_idle();

    /// Has a websocket look for what it is to say.
    void wake_websocket();

    /// Ends the connection whatever it does; a handler under way is finished without an answer.
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
        websocket,  ///< for the client to say something, or something to say to it
    };

    /// What the connection does next.
    enum class Turn : std::uint8_t {
        read,             ///< nothing more to answer
        await,            ///< the request under way needs a coroutine
        settle,           ///< `early_` may be sent once it has settled
        slices,           ///< the rest of `slices_` must be sent
        yield,            ///< more to answer, after others have had their turn
        close,            ///< the last response has been added
        switch_protocol,  ///< the same; from then on it is a websocket
        gone,             ///< the socket is of no use any more
    };

    static asio::awaitable<void> run(std::unique_ptr<Connection> connection);
    asio::awaitable<void> serve();
    asio::awaitable<bool> greet();
    asio::awaitable<Moved> read_encrypted(std::span<char> room);
    asio::awaitable<bool> wait_for(TlsStream::Step step);
    asio::awaitable<Turn> handle();
    asio::awaitable<Turn> settle();
    void prepare() override;
    bool has_taken_some() noexcept;
    asio::awaitable<Output::Sent> write();
    asio::awaitable<Output::Sent> write_slices();
    void end_slices();
    asio::awaitable<void> linger();
    asio::awaitable<void> speak();

    bool begin_read();
    Turn end_read(asio::error_code ec, std::size_t count);
    Turn answer_ready();
    std::optional<Turn> judge_head();
    Turn answer_request();
    std::optional<core::Response> first_answer(core::Request& request);
    Turn answer(core::Response& response);
    Turn put(core::Response& response, Clock::time_point now);
    void fill_in(core::Request& request);
    static constexpr std::string_view kRoot = "/fhir";
    static bool enter_root(core::Request& request);
    bool is_of_foreign_page(const core::Request& request) const;
    std::optional<core::Response> admit(core::Request& request);
    std::optional<core::Response> slow_down(const core::Request& request);
    bool asks_for_token(const core::Request& request) const;
    std::optional<core::Response> give_token(core::Request& request, bool may_ask);
    std::optional<core::Response> refuse_at_head(core::Request& request);
    asio::awaitable<bool> wait_for_audit();
    void record(const core::Request& request, const core::Response& response);
    void record_refusal(core::Request& request, const core::Response& response, bool overloaded);
    void count_memory();
    bool is_within_memory();
    bool asks_for_websocket(const core::Request& request) const;
    bool is_own_origin(const core::Request& request) const;
    Result<void> judge_websocket(const core::Request& request) const;
    std::optional<core::Response> refuse_websocket(const core::Request& request);
    Turn switch_protocol(const core::Request& request);
    std::optional<core::Response> identify(core::Request& request, bool may_ask);
    asio::awaitable<std::optional<core::Response>> identify_later(core::Request& request);
    asio::awaitable<bool> is_still_let_in();
    core::Response challenge(const Error& error, const core::Request& request) const;
    void make_request_id();
    void take_request_id(core::Request& request);
    std::string allowed_at(std::string_view path) const;
    Turn refuse(const Error& error, int status = 0);
    void answer_late();
    Framing framing(bool close) const;
    Framing last_framing(const core::Request& request) const;
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
    std::string address_text_;  ///< where accesses are written down
    std::string network_text_;  ///< of PeerAddress::network(), where there are rates
    bool overload_;             ///< one connection too many
    bool counted_;
    bool charged_ = false;         ///< limits.rate has been looked at for the request under way
    bool line_reserved_ = false;   ///< of the audit log, for the request under way
    bool waits_for_line_ = false;  ///< there is none yet
    std::size_t memory_ = 0;       ///< counted in Shared::memory
    int held_bytes_ = 0;           ///< by the kernel, for a client that takes its time
    bool expired_ = false;         ///< the sweep has ended the wait
    bool woken_ = false;           ///< the wait of a websocket was ended to say something
    bool abandoned_ = false;       ///< nothing may be written any more
    Clock::time_point deadline_ = Clock::time_point::max();
    Clock::time_point read_deadline_;
    // None: not waited for yet.
    std::optional<Clock::time_point> begin_deadline_;     ///< for the next request to begin
    std::optional<Clock::time_point> overload_deadline_;  ///< for one connection too many to ask
    Clock::time_point request_begin_;
    RequestReader::Phase reading_ = RequestReader::Phase::idle;  ///< what read_deadline_ is for

    RequestReader reader_;
    Output output_;
    std::unique_ptr<core::BodySource> slices_;
    bool slices_chunked_ = false;
    bool closing_ = false;                              ///< the last response has been added
    std::shared_ptr<const core::Principal> principal_;  ///< of the request under way
    auth::Authenticator::Memo memo_;
    std::string certificate_;  ///< x5t#S256 of the client's, where one is asked for
    core::Route route_;        ///< of the request that is to be awaited
    std::optional<core::Response>
        early_;                       ///< what answers the request under way, once it may be said
    std::optional<Turn> early_turn_;  ///< what is next when it is sent; set: it is in `output_`
    auth::Settled settled_;           ///< not null: who sends it is known when that is settled
    std::string request_id_;
    std::string_view cors_lines_;  ///< for the answer under way; lives as long as the server
    std::string base_url_;
    std::string base_url_host_;
};

}  // namespace annals::net
