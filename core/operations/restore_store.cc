#include "core/operations/restore_store.h"

#include "core/operations/backup.h"
#include "core/operations/input.h"
#include "core/operations/parameters_writer.h"
#include "core/operations/restore_run.h"
#include "core/operations/under_way.h"

#include <fmt/format.h>

#include <chrono>

namespace annals::core {

namespace {

/// How often to check whether the backup exists, which needs the device.
constexpr std::chrono::milliseconds kLook{2};

Response being_restored(const Request& request, const RestoreRun::Status& status) {
    const std::uint64_t done = status.done.value;
    const std::uint64_t total = status.total.value;
    return under_way(
        request, "$restore",
        fmt::format("{}% (position {} of {})", total == 0 ? 0 : done * 100 / total, done, total),
        fmt::format("The backup '{}' is being restored", status.name));
}

Response done(const RestoreRun::Status& status) {
    ParametersWriter out;
    out.add_text("from", "valueString", status.name);
    out.add_number("position", status.total.value);
    out.add_number("restored", status.counts.restored);
    out.add_number("ignored", status.counts.ignored);
    out.add_number("differing", status.counts.differing);
    out.add_number("failed", status.counts.failed);
    Response response = out.response();
    response.cache_control = "no-store";
    return response;
}

/// The error, in words that clients may read.
Error failed(const RestoreRun::Status& status) {
    Error error = *status.error;
    if (error.code == Errc::usage) {
        error = {Errc::conflict,
                 fmt::format("'{}' cannot be read by this server; see the log", status.name)};
    }
    return error;
}

struct RestoreAsked {
    std::string name;
    RestoreBound bound;
};

Result<RestoreAsked> read_restore_asked(const Request& request) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"from", "position", "instant"}));
    RestoreAsked asked;
    ANNALS_TRY(asked.name, read_backup_name(input, "from"));
    ANNALS_TRY(const std::optional<std::uint64_t> position, input.positive("position"));
    if (position) {
        asked.bound.position = Position{*position};
    }
    ANNALS_TRY(asked.bound.instant, input.instant("instant"));
    return asked;
}

asio::awaitable<Response> begin(const Service& service, const Request& request) {
    const Result<RestoreAsked> asked = read_restore_asked(request);
    if (!asked) {
        co_return asked.error();
    }
    if (service.store().write_state() != storage::WriteState::ready) {
        co_return Error{Errc::no_store};
    }
    RestoreRun& run = service.restore_run();
    const Result<std::uint64_t> number = run.start(asked->name, asked->bound);
    if (!number) {
        co_return number.error();
    }
    RestoreRun::Status status = run.status();
    while (status.number == *number && status.running && !status.found) {
        co_await request.loop->pause(kLook);
        status = run.status();
    }
    const bool refused = status.number == *number && !status.found;
    co_return refused ? Response(failed(status)) : being_restored(request, status);
}

}  // namespace

asio::awaitable<Response> restore_store_operation(const Service& service, const Request& request,
                                                  const Target& /*target*/) {
    if (request.method == HttpMethod::post) {
        co_return co_await begin(service, request);
    }
    if (const Result<void> fit = OperationInput::none(request); !fit) {
        co_return fit.error();
    }
    const RestoreRun::Status status = service.restore_run().last_begun();
    if (status.number == 0) {
        co_return Error{Errc::not_found,
                        "No backup has been restored since the server was started"};
    }
    if (status.running) {
        co_return being_restored(request, status);
    }
    co_return status.error ? failed(status) : done(status);
}

}  // namespace annals::core
