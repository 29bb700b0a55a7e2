#include "net/server.h"

#include "core/base/cores.h"
#include "core/base/log.h"
#include "core/base/thread_name.h"
#include "core/config/listen_address.h"
#include "core/jobs/jobs.h"
#include "net/await.h"
#include "net/worker.h"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <fmt/format.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

namespace annals::net {

namespace {

/// How many sockets are accepted before the loop's other work gets its turn, and may be on their way to other loops:
/// these count towards no limit of connections yet.
constexpr std::uint64_t kAcceptsPerTurn = 64;

/// The pause in accepting for a loop that has not taken its share of these.
constexpr std::chrono::milliseconds kHandoverPause{1};

/// How many are accepted when the server stops: as many as can be waiting.
constexpr int kAcceptsAtLast = asio::socket_base::max_listen_connections;

/// The pause in accepting after the system could not provide a socket, usually for lack of descriptors.
constexpr std::chrono::milliseconds kAcceptPause{100};

/// How often that is logged.
constexpr std::chrono::seconds kWarningInterval{10};

/// The most connections over the limit that are served at a time, and the descriptors reserved for files.
constexpr std::uint64_t kOverloadedMax = 1024;
constexpr std::uint64_t kFilesMax = 512;

/// More would be useless, and some systems allow a billion.
constexpr rlim_t kDescriptorsMax = 1 << 20;

/// After shutdown_timeout: for handlers that are still at work or wait for the store.
constexpr std::chrono::seconds kAbandonedHandlersTime{5};

/// How often certificate and credential files are checked for changes.
constexpr std::chrono::seconds kFilesInterval{1};

/// Sent with every response: its type is only what Content-Type says, and links from it don't reveal where
/// they were followed. With TLS: come back only by TLS.
constexpr std::string_view kHeaderLines =
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n";
constexpr std::string_view kTlsHeaderLines = "Strict-Transport-Security: max-age=31536000\r\n";

/// A socket on its way from the loop that accepted it to the loop that will serve it.
struct Handover {
    explicit Handover(int socket) : fd(socket) {}

    Handover(const Handover&) = delete;
    Handover& operator=(const Handover&) = delete;

    ~Handover() {
        if (fd >= 0) {
            ::close(fd);
        }
    }

    int fd;
};

/// Whether as many sockets are on their way to `worker` as may be.
bool is_full(const std::unique_ptr<Worker>& worker) {
    return worker->handed_over.load() >= worker->shared.handovers_max;
}

/// Raises the limit of descriptors as far as allowed, and divides them up.
void divide_descriptors(Shared& shared) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return;
    }
    const rlimit raised{
        std::clamp(limit.rlim_max, limit.rlim_cur, std::max(limit.rlim_cur, kDescriptorsMax)),
        limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
        limit = raised;
    }
    shared.overloaded_max = std::min<std::uint64_t>(kOverloadedMax, limit.rlim_cur / 4);
    shared.handovers_max = std::max<std::uint64_t>(
        1, std::min<std::uint64_t>(kAcceptsPerTurn, limit.rlim_cur / 8) / shared.workers.size());
    const std::uint64_t others =
        std::min<std::uint64_t>(kOverloadedMax + kFilesMax, limit.rlim_cur / 2);
    if (shared.connections_max > limit.rlim_cur - others) {
        shared.connections_max = limit.rlim_cur - others;
        log_warning(
            fmt::format("limits.max_connections: with {} file descriptors in total, {} connections "
                        "are accepted",
                        limit.rlim_cur, shared.connections_max));
    }
}

/// Binds `acceptor` to the address in `listen`, which it returns. Errors: usage.
Result<core::ListenAddress> bind_to(const std::string& listen, asio::ip::tcp::acceptor& acceptor) {
    ANNALS_TRY(core::ListenAddress address, core::read_listen_address(listen));
    asio::error_code ec;
    asio::ip::tcp::resolver resolver(acceptor.get_executor());
    const auto found = resolver.resolve(address.host, address.port, ec);
    if (ec || found.empty()) {
        return Error{Errc::usage, fmt::format("listen: cannot resolve '{}'", listen)};
    }
    const asio::ip::tcp::endpoint endpoint = *found.begin();
    acceptor.open(endpoint.protocol(), ec);
    if (!ec) {
        acceptor.set_option(asio::socket_base::reuse_address(true), ec);
    }
    if (!ec) {
        acceptor.bind(endpoint, ec);
    }
    if (ec) {
        return Error{Errc::usage, fmt::format("listen: cannot bind {}: {}", listen, ec.message())};
    }
    return address;
}

}  // namespace

struct Server::Impl {
    Impl(const core::Service& service, const Handlers& handlers) : shared(service, handlers) {
        const std::uint64_t asked = shared.config.threads;
        const std::uint64_t count = asked == 0 ? available_cores() : asked;
        for (std::uint64_t i = 0; i < count; ++i) {
            shared.workers.push_back(std::make_unique<Worker>(shared));
        }
        acceptor.emplace(shared.workers.front()->loop.context());
        file_timer.emplace(shared.workers.front()->loop.context());
    }

    Result<void> listen();
    void run();
    asio::awaitable<void> accept();
    int accept_some(int most);
    asio::awaitable<void> watch_files();
    void hand_over(int fd);
    void stop(std::chrono::milliseconds grace);
    void on_each_loop(void (*action)(Worker&));
    bool wait_closed(std::chrono::milliseconds time);

    Shared shared;
    std::string url;
    std::uint16_t port = 0;
    // Used on the first worker's loop.
    std::optional<asio::ip::tcp::acceptor> acceptor;
    std::optional<asio::steady_timer> file_timer;
    std::size_t next_worker = 0;
    bool accepting = false;  // guarded by shared.mutex once the threads run
    std::vector<std::jthread> threads;
    bool stopped = false;
};

Result<void> Server::Impl::listen() {
    ANNALS_TRY(const core::ListenAddress address, bind_to(shared.config.listen, *acceptor));
    asio::error_code ec;
    acceptor->listen(asio::socket_base::max_listen_connections, ec);
    if (!ec) {
        acceptor->non_blocking(true, ec);
    }
    if (ec) {
        return Error{Errc::usage,
                     fmt::format("cannot listen on {}: {}", shared.config.listen, ec.message())};
    }
    port = acceptor->local_endpoint(ec).port();
    const bool six = address.host.find(':') != std::string::npos;
    url = fmt::format("http{}://{}{}{}:{}/fhir", shared.tls != nullptr ? "s" : "", six ? "[" : "",
                      address.host, six ? "]" : "", port);
    shared.base_url = url;
    return {};
}

void Server::Impl::run() {
    // No thread serves before all have been created: if one can't be, the others have nothing to end.
    std::promise<bool> complete;
    const std::shared_future<bool> serves = complete.get_future().share();
    try {
        for (const std::unique_ptr<Worker>& worker : shared.workers) {
            threads.emplace_back([serves, loop = &worker->loop] {
                name_thread("network");
                if (serves.get()) {
                    loop->run();
                }
            });
        }
    } catch (const std::system_error&) {
        complete.set_value(false);
        threads.clear();
        throw;
    }
    if (shared.audit != nullptr) {
        shared.service.jobs().set_access_log(shared.audit);
    }
    shared.service.jobs().start();
    accepting = true;
    core::spawn(shared.workers.front()->loop, "acceptor", accept());
    if (shared.tls != nullptr || shared.credentials != nullptr || shared.notifier != nullptr) {
        core::spawn(shared.workers.front()->loop, "files", watch_files());
    }
    for (const std::unique_ptr<Worker>& worker : shared.workers) {
        core::spawn(worker->loop, "sweep", worker->sweep());
    }
    complete.set_value(true);
}

asio::awaitable<void> Server::Impl::accept() {
    asio::steady_timer pause(acceptor->get_executor());
    Clock::time_point next_warning = Clock::time_point::min();
    const int accepts = static_cast<int>(shared.handovers_max * shared.workers.size());
    for (;;) {
        const Waited waited =
            co_await acceptor->async_wait(asio::ip::tcp::acceptor::wait_read, use_tuple);
        if (std::get<0>(waited)) {
            break;  // closed
        }
        const int refused = accept_some(accepts);
        if (refused == 0) {
            if (std::ranges::any_of(shared.workers, is_full)) {
                // If it doesn't take them even then, others get its share.
                pause.expires_after(kHandoverPause);
                co_await pause.async_wait(use_tuple);
            }
            continue;
        }
        if (const Clock::time_point time = Clock::now(); time >= next_warning) {
            next_warning = time + kWarningInterval;
            log_warning(fmt::format("cannot accept connections: {}",
                                    std::generic_category().message(refused)));
        }
        // The waiting sockets keep the listener readable, so this must not wait for that.
        pause.expires_after(kAcceptPause);
        co_await pause.async_wait(use_tuple);
    }
    const std::lock_guard lock(shared.mutex);
    accepting = false;
    shared.all_closed.notify_all();
}

/// Accepts waiting connections. If not 0: the errno for which the system gave none, though there may be more.
int Server::Impl::accept_some(int most) {
    for (int i = 0; i < most; ++i) {
        const int fd =
            ::accept4(acceptor->native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            hand_over(fd);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return errno;
        }
    }
    return 0;
}

asio::awaitable<void> Server::Impl::watch_files() {
    asio::steady_timer& timer = *file_timer;
    while (!shared.stopping.load(std::memory_order_relaxed)) {
        timer.expires_after(kFilesInterval);
        const Waited waited = co_await timer.async_wait(use_tuple);
        if (std::get<0>(waited)) {
            break;
        }
        if (shared.tls != nullptr) {
            shared.tls->reload_if_changed();
        }
        shared.outgoing->reload_if_changed();
        if (shared.credentials != nullptr) {
            shared.credentials->reload_if_changed();
        }
        if (shared.token_endpoint != nullptr) {
            shared.token_endpoint->reload_if_changed();
        }
    }
}

void Server::Impl::hand_over(int fd) {
    // This ends: the first worker, on whose loop this is, takes each at once.
    while (is_full(shared.workers[next_worker])) {
        next_worker = (next_worker + 1) % shared.workers.size();
    }
    Worker& worker = *shared.workers[next_worker];
    next_worker = (next_worker + 1) % shared.workers.size();
    if (&worker == shared.workers.front().get()) {
        worker.adopt(fd);
        return;
    }
    worker.handed_over.fetch_add(1);
    worker.loop.post([this, &worker, socket = std::make_shared<Handover>(fd)] {
        worker.adopt(std::exchange(socket->fd, -1));
        if (worker.handed_over.fetch_sub(1) == 1 && shared.stopping.load()) {
            const std::lock_guard lock(shared.mutex);
            shared.all_closed.notify_all();
        }
    });
}

void Server::Impl::on_each_loop(void (*action)(Worker&)) {
    for (const std::unique_ptr<Worker>& worker : shared.workers) {
        worker->loop.post([worker = worker.get(), action] { action(*worker); });
    }
}

bool Server::Impl::wait_closed(std::chrono::milliseconds time) {
    std::unique_lock lock(shared.mutex);
    // In this order: a socket is counted as a connection before it stops being counted as handed over.
    return shared.all_closed.wait_for(lock, time, [this] {
        const bool all_adopted = std::ranges::all_of(
            shared.workers, [](const auto& worker) { return worker->handed_over.load() == 0; });
        return !accepting && all_adopted && shared.connections.load() == 0;
    });
}

void Server::Impl::stop(std::chrono::milliseconds grace) {
    if (std::exchange(stopped, true)) {
        return;
    }
    shared.stopping.store(true);
    if (shared.notifier != nullptr) {
        shared.notifier->stop();
    }
    shared.workers.front()->loop.post([this] {
        // These clients may have sent requests already; closing the listener would reset them.
        static_cast<void>(accept_some(kAcceptsAtLast));
        asio::error_code ignored;
        acceptor->close(ignored);
        file_timer->cancel();
    });
    on_each_loop([](Worker& worker) { worker.close_idle(); });
    bool closed = wait_closed(grace);
    if (!closed) {
        on_each_loop([](Worker& worker) { worker.close_all(); });
        closed = wait_closed(kAbandonedHandlersTime);
    }
    on_each_loop([](Worker& worker) {
        worker.quit = true;
        worker.timer.cancel();
    });
    for (std::jthread& thread : threads) {
        thread.join();
    }
    if (shared.audit != nullptr) {
        shared.service.jobs().set_access_log(nullptr);
    }
    if (!closed) {
        // Coroutines that wait for a store that does not settle can't be destroyed after their sockets'
        // services; the process is about to end anyway.
        log_error("requests were still in progress when the server stopped");
        for (std::unique_ptr<Worker>& worker : shared.workers) {
            static_cast<void>(worker.release());
        }
    }
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

Server::~Server() {
    impl_->stop(std::chrono::milliseconds(0));
}

Result<void> Server::try_address(const std::string& listen) {
    asio::io_context context(1);
    asio::ip::tcp::acceptor acceptor(context);
    ANNALS_TRY_VOID(bind_to(listen, acceptor));
    return {};
}

Result<void> Server::check(const core::Config& config) {
    if (!config.tls.cert_file.empty()) {
        ANNALS_TRY_VOID(TlsContext::create(config.tls));
    }
    ANNALS_TRY_VOID(auth::ClientCertificate::open(config.outgoing));
    if (config.auth.issues_tokens()) {
        ANNALS_TRY_VOID(auth::TokenEndpoint::check(config));
    }
    if (config.audited()) {
        ANNALS_TRY_VOID(AuditLog::check(config, storage::posix_file_system()));
    }
    return config.auth.mode == "none" ? Result<void>() : auth::Credentials::check(config);
}

Result<std::unique_ptr<Server>> Server::start(const core::Service& service,
                                              const Handlers& handlers) {
    auto impl = std::make_unique<Impl>(service, handlers);
    const core::Config& config = service.config();
    if (!config.tls.cert_file.empty()) {
        ANNALS_TRY(impl->shared.tls, TlsContext::create(config.tls));
    }
    ANNALS_TRY(impl->shared.outgoing, auth::ClientCertificate::open(config.outgoing));
    if (config.audited()) {
        ANNALS_TRY(impl->shared.audit, Auditor::open(service, storage::posix_file_system()));
    }
    divide_descriptors(impl->shared);
    impl->shared.header_lines = kHeaderLines;
    if (impl->shared.tls != nullptr) {
        impl->shared.header_lines += kTlsHeaderLines;
    }
    ANNALS_TRY_VOID(impl->listen());
    if (config.auth.mode != "none") {
        auth::KeySet own_keys;
        if (config.auth.issues_tokens()) {
            ANNALS_TRY(impl->shared.token_endpoint,
                       auth::TokenEndpoint::open(config, storage::posix_file_system(), now(),
                                                 impl->shared.outgoing.get()));
            own_keys = impl->shared.token_endpoint->keys();
        }
        ANNALS_TRY(impl->shared.credentials, auth::Credentials::open(config, std::move(own_keys),
                                                                     impl->shared.outgoing.get()));
        for (const std::unique_ptr<Worker>& worker : impl->shared.workers) {
            worker->authenticator.emplace(config.auth, *impl->shared.credentials);
        }
    }
    if (config.subscriptions.enabled && !config.read_only) {
        ANNALS_TRY(impl->shared.notifier,
                   Notifier::begin(service, storage::posix_file_system(), impl->shared.pings,
                                   *impl->shared.outgoing));
    }
    impl->run();
    return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::string Server::url() const {
    return impl_->url;
}

std::uint16_t Server::port() const noexcept {
    return impl_->port;
}

void Server::stop() {
    impl_->stop(impl_->shared.config.shutdown_timeout);
}

}  // namespace annals::net
