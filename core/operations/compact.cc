#include "core/operations/compact.h"

#include "core/config/history_limits.h"
#include "core/operations/input.h"
#include "core/operations/parameters_writer.h"
#include "core/operations/under_way.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

/// How many are examined before others get their turn.
constexpr std::uint32_t kResourcesPerTurn = 4096;

using Progress = storage::CompactionProgress;

Error ended() {
    return {Errc::no_store, "A device error has stopped compaction until the server is restarted"};
}

Response compacting(const Request& request, const Progress& progress, std::string_view said) {
    return under_way(
        request, "$compact",
        fmt::format("{} segments done, {} left, {} bytes freed", progress.segments_done,
                    progress.segments_left, progress.bytes_freed),
        said);
}

Response figures(std::initializer_list<std::pair<std::string_view, std::uint64_t>> all,
                 std::string_view flag) {
    ParametersWriter out;
    out.add_flag(flag, true);
    for (const auto& [name, value] : all) {
        out.add_number(name, value);
    }
    return out.response();
}

Result<bool> read_dry_run(const Request& request) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"dryRun"}));
    return input.flag("dryRun");
}

/// Computes what compaction could free, and what history cleanup would remove.
asio::awaitable<Response> foresee(const Service& service, const Request& request) {
    const storage::HistoryLimits limits = *history_limits(service.config());
    std::uint64_t resources = 0;
    std::uint64_t versions = 0;
    for (std::uint32_t i = 0; i < service.store().resource_count(); ++i) {
        if (i % kResourcesPerTurn == kResourcesPerTurn - 1) {
            co_await request.loop->yield();
        }
        if (const auto surplus = service.store().surplus(i, limits)) {
            ++resources;
            versions += surplus->versions;
        }
    }
    const Progress progress = service.store().compaction();
    co_return figures({{"segments", progress.segments_left},
                       {"deadBytes", progress.dead_bytes},
                       {"resourcesToClean", resources},
                       {"versionsToClean", versions}},
                      "dryRun");
}

}  // namespace

asio::awaitable<Response> compact_operation(const Service& service, const Request& request,
                                            const Target& /*target*/) {
    storage::Store& store = service.store();
    if (request.method != HttpMethod::post) {
        if (const Result<void> fit = OperationInput::none(request); !fit) {
            co_return fit.error();
        }
        const Progress progress = store.compaction();
        if (progress.ended) {
            co_return ended();
        }
        if (progress.running) {
            co_return compacting(request, progress, "Being compacted");
        }
        co_return figures({{"segmentsDone", progress.segments_done},
                           {"bytesFreed", progress.bytes_freed},
                           {"deadBytes", progress.dead_bytes}},
                          "done");
    }
    const Result<bool> dry_run = read_dry_run(request);
    if (!dry_run) {
        co_return dry_run.error();
    }
    if (*dry_run) {
        Response response = co_await foresee(service, request);
        co_return response;
    }
    if (store.write_state() != storage::WriteState::ready) {
        co_return Error{Errc::no_store, "The store accepts no writes at present"};
    }
    if (store.compaction().ended) {
        co_return ended();
    }
    store.compact();
    co_return compacting(request, store.compaction(), "Compaction is in progress");
}

}  // namespace annals::core
