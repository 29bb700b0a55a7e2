#include "storage/last_segment.h"

#include "core/base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::storage {
namespace {

constexpr std::uint64_t kRewriteBytes = 1 << 20;

Error unreadable(const LastFile& file, std::uint64_t at) {
    return {Errc::io,
            fmt::format("segments/{}: offset {}: the device cannot read it, or not always",
                        file.name, at)};
}

/// Reads up to kRewriteBytes of `bytes` bytes at `at`.
Result<void> read_some(const LastFile& file, std::uint64_t at, std::uint64_t bytes,
                       std::string& into) {
    into.resize(std::min(kRewriteBytes, bytes));
    const auto read = file.file.read(at, into);
    if (!read) {
        return Error{read.error().code,
                     fmt::format("segments/{}: offset {}: {}", file.name, at, read.error().detail)};
    }
    if (*read != into.size()) {
        return unreadable(file, at);
    }
    return {};
}

}  // namespace

Result<void> check_end(const LastFile& file, const Segment& segment, std::uint64_t end) {
    const std::string_view tail = segment.view().substr(end);
    const auto frame = peek_frame(tail, segment.header.salt);
    std::uint64_t left =
        std::min<std::uint64_t>(frame ? frame->length : kFrameHeaderBytes, tail.size());
    std::string chunk;
    for (std::uint64_t at = 0; left > 0; at += chunk.size(), left -= chunk.size()) {
        ANNALS_TRY_VOID(read_some(file, end + at, left, chunk));
        if (chunk != tail.substr(at, chunk.size())) {
            return unreadable(file, end + at);
        }
    }
    return {};
}

Result<void> cut_tail(const LastFile& file, const SegmentScan& scan) {
    const std::uint64_t bytes = scan.garbage_end - scan.end;
    if (bytes == 0) {
        return {};
    }
    log_warning(fmt::format("segments/{}: offset {}: torn tail of {} bytes removed", file.name,
                            scan.end, bytes));
    ANNALS_TRY_VOID(file.file.write_zeros(scan.end, bytes));
    return file.file.sync();
}

Result<void> make_durable(const LastFile& file, std::uint64_t from, std::uint64_t to,
                          WasDurable before) {
    const bool was_durable = before == WasDurable::yes;
    std::string chunk;
    std::uint64_t unreadable_pages = 0;
    std::uint64_t pages_until = 0;  // up to here read page by page, because something is unreadable
    for (std::uint64_t at = from; at < to; at += chunk.size()) {
        const std::uint64_t page = std::min(to - at, kPageBytes - at % kPageBytes);
        auto read = read_some(file, at, at < pages_until ? page : to - at, chunk);
        if (!read && was_durable && at >= pages_until) {
            pages_until = at + chunk.size();
            read = read_some(file, at, page, chunk);
        }
        if (!read && was_durable) {
            // The page cache doesn't have it, and it was durable before there was a footer: it is damaged, like what is
            // unreadable in any other sealed segment, which is reported to whoever reads it.
            if (++unreadable_pages == 1) {
                log_error(
                    fmt::format("{}: versions there are treated as damaged", read.error().detail));
            }
            continue;
        }
        ANNALS_TRY_VOID(std::move(read));
        ANNALS_TRY_VOID(file.file.write(at, chunk));
    }
    if (unreadable_pages > 1) {
        log_error(fmt::format("segments/{}: {} pages cannot be read", file.name, unreadable_pages));
    }
    return file.file.sync();
}

}  // namespace annals::storage
