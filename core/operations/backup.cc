#include "core/operations/backup.h"

#include "core/base/plain_name.h"
#include "core/operations/backup_run.h"
#include "core/operations/input.h"
#include "core/operations/parameters_writer.h"
#include "core/operations/under_way.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

constexpr std::size_t kBackupNameCharsMax = 64;

Response being_made(const Request& request, const BackupRun::Status& status) {
    const std::uint64_t share = status.total == 0 ? 0 : status.done * 100 / status.total;
    return under_way(request, "$backup",
                     fmt::format("{}% ({} of {} bytes)", share, status.done, status.total),
                     fmt::format("The backup '{}' is in progress", status.name));
}

Response done(const BackupRun::Status& status) {
    const storage::BackupReport& report = *status.report;
    ParametersWriter out;
    out.add_text("to", "valueString", status.name);
    out.add_number("position", report.position.value);
    out.add_text("instant", "valueInstant", format_instant(report.instant));
    out.add_number("segments", report.segments);
    out.add_number("kept", report.kept);
    out.add_number("linked", report.linked);
    out.add_number("copied", report.copied);
    out.add_number("bytes", report.bytes);
    out.add_number("bytesCopied", report.bytes_copied);
    Response response = out.response();
    response.cache_control = "no-store";
    return response;
}

/// The error, in words that clients may read.
Error failed(const BackupRun::Status& status) {
    Error error = *status.error;
    if (error.code == Errc::usage) {
        error = {Errc::conflict,
                 fmt::format("'{}' is being read or written, or contains something else, or a "
                             "backup that this store does not continue; see the log",
                             status.name)};
    } else if (error.code == Errc::not_found) {
        error.code = Errc::io;  // a directory on the device, not a requested backup
    }
    return error;
}

}  // namespace

Result<std::string> read_backup_name(const OperationInput& input, std::string_view parameter) {
    ANNALS_TRY(const std::optional<std::string> name, input.text(parameter));
    if (!name) {
        return Error{Errc::required,
                     fmt::format("The parameter '{}' is required: it names the backup", parameter)};
    }
    if (!is_plain_name(*name, kBackupNameCharsMax)) {
        return Error{
            Errc::invalid,
            fmt::format(
                "{}: '{}' is not a valid name: up to 64 of A-Z a-z 0-9 - _ . without a leading .",
                parameter, *name)};
    }
    return *name;
}

namespace {

Result<std::string> read_target(const Request& request) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"to"}));
    return read_backup_name(input, "to");
}

}  // namespace

asio::awaitable<Response> backup_operation(const Service& service, const Request& request,
                                           const Target& /*target*/) {
    BackupRun& run = service.backup_run();
    if (request.method == HttpMethod::post) {
        const Result<std::string> name = read_target(request);
        if (!name) {
            co_return name.error();
        }
        if (service.store().write_state() == storage::WriteState::read_only) {
            co_return Error{Errc::no_store};
        }
        if (const Result<void> begun = run.start(*name); !begun) {
            co_return begun.error();
        }
        co_return being_made(request, run.status());
    }
    if (const Result<void> fit = OperationInput::none(request); !fit) {
        co_return fit.error();
    }
    const BackupRun::Status status = run.status();
    if (status.name.empty()) {
        co_return Error{Errc::not_found, "No backup has been made since the server was started"};
    }
    if (status.running) {
        co_return being_made(request, status);
    }
    co_return status.report ? done(status) : failed(status);
}

}  // namespace annals::core
