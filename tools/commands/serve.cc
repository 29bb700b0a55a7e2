// annals serve: the server.

#include "codec/json/document.h"
#include "core/base/log.h"
#include "core/base/thread_name.h"
#include "core/config/config.h"
#include "core/config/history_limits.h"
#include "core/service.h"
#include "net/server.h"
#include "storage/file_system.h"
#include "storage/store.h"
#include "tools/commands/allocator.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/service_manager.h"
#include "tools/commands/store_access.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace annals::tools {

namespace {

/// Blocks the signals that end the server in this thread and all that it starts: the main thread takes them with sigwait
/// once the server is ready.
sigset_t block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    struct sigaction hangup{};
    sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) {
        // With nohup, the server is meant to outlive the terminal.
        sigaddset(&signals, SIGHUP);
    }
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    return signals;
}

/// While it lives, a signal ends the process at once. Starting may take minutes, nothing was promised to anyone yet, and
/// the next start can cope with what is left behind, as after kill -9.
class EndsAtOnce {
  public:
    /// Requires: `signals` are blocked.
    explicit EndsAtOnce(const sigset_t& signals) : signals_(signals) {
        sigset_t enough;
        sigemptyset(&enough);
        sigaddset(&enough, kEnough);
        pthread_sigmask(SIG_BLOCK, &enough, nullptr);
        thread_ = std::thread([all = signals] {
            name_thread("start signals");
            sigset_t waited = all;
            sigaddset(&waited, kEnough);
            int signal = 0;
            sigwait(&waited, &signal);
            if (signal != kEnough) {
                end(signal);
            }
        });
    }

    EndsAtOnce(const EndsAtOnce&) = delete;
    EndsAtOnce& operator=(const EndsAtOnce&) = delete;

    ~EndsAtOnce() {
        pthread_kill(thread_.native_handle(), kEnough);
        thread_.join();
        // The thread may not have run.
        constexpr timespec kNow{};
        if (const int signal = sigtimedwait(&signals_, nullptr, &kNow); signal > 0) {
            end(signal);
        }
    }

  private:
    /// Wakes the thread. Nobody else sends it, and it needs no room among the pending signals (`ulimit -i`), as SIGRTMIN would.
    static constexpr int kEnough = SIGURG;

    [[noreturn]] static void end(int signal) {
        log_info(fmt::format("SIG{}: stopped before it was ready", sigabbrev_np(signal)));
        std::_Exit(kExitDone);
    }

    const sigset_t signals_;
    std::thread thread_;
};

/// The first setting that says who clients are although `auth.mode` asks nobody; empty: there is none.
std::string_view unheeded_credentials(const core::Config::Auth& auth) {
    const std::pair<std::string_view, bool> settings[] = {
        {"auth.api_keys_file", !auth.api_keys_file.empty()},
        {"auth.jwt.jwks_file", !auth.jwt_jwks_file.empty()},
        {"auth.jwt.jwks_url", !auth.jwt_jwks_url.empty()},
        {"auth.jwt.hs256_secret_file", !auth.jwt_hs256_secret_file.empty()},
        {"auth.jwt.issuers", !auth.jwt_issuers.empty()},
        {"auth.introspection.url", !auth.introspection.url.empty()},
    };
    for (const auto& [setting, is_set] : settings) {
        if (auth.mode == "none" && is_set) {
            return setting;
        }
    }
    return {};
}

void log_opening(const std::string& directory, const storage::OpenReport& report) {
    log_info(fmt::format("opened {}: {} versions of {} resources in {} segments, {:.3f} s",
                         directory, report.versions, report.resources, report.segments,
                         report.seconds));
    if (report.torn_bytes_cut > 0) {
        log_warning(fmt::format("cut {} bytes of a torn tail", report.torn_bytes_cut));
    }
}

Result<core::Config> read_config(const ArgumentList& arguments, std::optional<int>& exit_code) {
    core::ConfigSources sources;
    std::vector<std::string> listen;
    std::vector<std::string> data;
    bool read_only = false;
    bool allow_damaged = false;
    Arguments reader("serve", "Serves a data directory over HTTP until SIGTERM, SIGINT or SIGHUP.");
    reader.text("--config", sources.file, "TOML file with settings");
    reader.texts("--data", data, "data directory");
    reader.texts("--listen", listen, "HOST:PORT; port 0 picks a free port");
    reader.texts("--set", sources.sets, "KEY=VALUE, a setting; may be repeated");
    reader.flag("--read-only", read_only,
                "accept no writes, and neither lock nor repair the store");
    reader.flag("--allow-damaged", allow_damaged,
                "with --read-only: serve the intact part of a damaged store");
    reader.footer(
        "Settings (in the environment: ANNALS_ and the key in capitals, '.' as '__'; durations are "
        "a number and ms, s, m, h or d, sizes are bytes, or a number and kB, MB, GB, KiB, MiB or "
        "GiB):\n" +
        core::describe_config());
    if (exit_code = reader.parse(arguments); exit_code) {
        return core::Config();
    }
    for (const auto& [name, values] :
         {std::pair("--data", &data), std::pair("--listen", &listen)}) {
        if (values->size() > 1) {
            exit_code = reader.refuse(fmt::format("{} is given more than once", name));
            return core::Config();
        }
    }
    sources.environment = core::config_environment();
    if (!listen.empty()) {
        sources.sets.push_back("listen=" + json::quoted(listen.back()));
    }
    if (!data.empty()) {
        sources.sets.push_back("data=" + json::quoted(data.back()));
    }
    if (read_only) {
        sources.sets.emplace_back("read_only=true");
    }
    if (allow_damaged) {
        sources.sets.emplace_back("allow_damaged=true");
    }
    auto config = core::load_config(sources);
    if (config && !data.empty()) {
        config->data = data.back();  // a file name need not be valid text, while TOML must
    }
    return config;
}

/// What can be checked before the store is opened. Errors: usage.
Result<void> check_start(const core::Config& config) {
    ANNALS_TRY_VOID(net::Server::try_address(config.listen));
    ANNALS_TRY_VOID(net::Server::check(config));
    ANNALS_TRY_VOID(check_permissions(config.data, !config.read_only));
    ANNALS_TRY_VOID(check_package_permissions(config));
    return check_subscription_permissions(config);
}

void warn_of(const core::Config& config) {
    if (config.tls.cert_file.empty() && !core::is_loopback(config)) {
        log_warning(
            fmt::format("listening on {} without TLS: everything, including credentials, can be "
                        "read on the network",
                        config.listen));
    }
    if (const auto setting = unheeded_credentials(config.auth); !setting.empty()) {
        log_warning(fmt::format(
            "auth.mode is \"none\" although {} is set: nobody is asked for credentials", setting));
    }
    if (config.limits.max_body > config.limits.max_memory / 2) {
        log_warning(fmt::format(
            "limits.max_body: with limits.max_memory = {}, bodies of more than {} bytes may be "
            "refused every time (503): each takes up to twice its size while it is read",
            config.limits.max_memory, config.limits.max_memory / 2));
    }
}

}  // namespace

int serve(const ArgumentList& arguments) {
    std::optional<int> exit_code;
    auto config = read_config(arguments, exit_code);
    if (exit_code) {
        return *exit_code;
    }
    if (!config) {
        return fail(config.error().detail, kExitUsage);
    }
    const sigset_t signals = block_signals();
    std::optional<EndsAtOnce> starting(std::in_place, signals);
    if (auto usable = check_start(*config); !usable) {
        return fail(usable.error().detail, kExitUsage);
    }
    warn_of(*config);
    storage::OpenReport report;
    auto store = storage::Store::open(storage::posix_file_system(), config->data,
                                      store_options(*config), &report);
    if (!store) {
        return fail(store.error().detail, exit_code_of(store.error()));
    }
    log_opening(config->data, report);

    if (config->history_cleanup_enabled && !config->read_only) {
        // Checked by load_config().
        (*store)->start_history_cleanup(*core::history_limits(*config),
                                        config->history_cleanup_interval);
    }

    std::optional<const core::Service> service(std::in_place, *config, **store);
    if (auto usable = check_packages(*config, *service); !usable) {
        return fail(usable.error().detail, exit_code_of(usable.error()));
    }
    starting.reset();
    auto server = net::Server::start(*service);
    if (!server) {
        return fail(server.error().detail, exit_code_of(server.error()));
    }
    give_back_what_sleepers_freed();
    // Not through stdio: it would report again at exit that a full device did not take the line.
    if (::dprintf(STDOUT_FILENO, "annals ready on %s\n", (*server)->url().c_str()) < 0) {
        log_warning(fmt::format("stdout: {}: cannot report that the server is ready on {}",
                                std::strerror(errno), (*server)->url()));
    }
    tell_service_manager("READY=1");

    int signal = 0;
    sigwait(&signals, &signal);
    log_info(fmt::format("SIG{}: stopping", sigabbrev_np(signal)));
    tell_service_manager("STOPPING=1");
    (*server)->stop();
    server->reset();
    service.reset();
    const auto closed = (*store)->close();
    store->reset();
    if (!closed) {
        return fail(closed.error().detail, kExitFaults);
    }
    log_info("stopped");
    return kExitDone;
}

}  // namespace annals::tools
