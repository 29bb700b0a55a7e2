#include "core/packages/tarball.h"

#include "codec/json/unicode.h"
#include "core/base/owned.h"
#include "core/base/parts.h"

#include <fmt/format.h>

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

namespace annals::packages {

namespace {

constexpr std::size_t kPieceBytes = 64 << 10;

Error bad(std::string what) {
    return {Errc::invalid, std::move(what)};
}

/// Whether the path is relative, doesn't contain "..", and can be printed in a message.
bool is_safe(std::string_view path) {
    if (path.empty() || path.front() == '/' || path.find('\\') != std::string_view::npos ||
        path.find('\0') != std::string_view::npos) {
        return false;
    }
    while (!path.empty()) {
        if (take_until(path, '/') == "..") {
            return false;
        }
    }
    return true;
}

/// Checks that the gzip stream is complete and its checksum is right: libarchive stops reading after the last file of the
/// archive and doesn't check that.
Result<void> check_whole(std::string_view bytes, const TarballLimits& limits) {
    z_stream stream{};
    if (inflateInit2(&stream, 31) != Z_OK) {
        return Error{Errc::internal, "inflateInit2"};
    }
    std::vector<Bytef> piece(kPieceBytes);
    std::uint64_t left = 2 * std::uint64_t{limits.bytes_max} + (1 << 20);  // headers and padding
    int done = Z_OK;
    while (done == Z_OK && left > 0) {
        if (stream.avail_in == 0) {
            const std::size_t next = std::min<std::size_t>(bytes.size(), 1 << 30);
            stream.next_in =
                reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
            stream.avail_in = static_cast<uInt>(next);
            bytes.remove_prefix(next);
        }
        stream.next_out = piece.data();
        stream.avail_out = static_cast<uInt>(piece.size());
        done = inflate(&stream, Z_NO_FLUSH);
        left -= std::min<std::uint64_t>(left, piece.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    if (done == Z_OK) {
        return Error{Errc::answer_too_costly, "The archive contains too many bytes"};
    }
    return done == Z_STREAM_END ? Result<void>()
                                : bad("This is not a gzipped tar archive, or it is damaged");
}

Result<std::string> read_file(archive* reader, const TarballLimits& limits,
                              std::size_t bytes_left) {
    std::string bytes;
    const std::size_t most = std::min(limits.file_bytes_max, bytes_left);
    for (;;) {
        const std::size_t size = bytes.size();
        bytes.resize(size + kPieceBytes);
        const la_ssize_t got = archive_read_data(reader, bytes.data() + size, kPieceBytes);
        if (got < 0) {
            return bad("The archive is damaged");
        }
        bytes.resize(size + static_cast<std::size_t>(got));
        if (bytes.size() > most) {
            return Error{Errc::answer_too_costly, "The archive contains too many bytes"};
        }
        if (got == 0) {
            return bytes;
        }
    }
}

}  // namespace

Result<void> read_tarball(
    std::string_view bytes, const TarballLimits& limits,
    const std::function<Result<void>(std::string_view path, std::string bytes)>& take) {
    ANNALS_TRY_VOID(check_whole(bytes, limits));
    const Owned<archive, archive_read_free> reader(archive_read_new());
    ANNALS_CHECK(reader != nullptr);
    // Appended instead of auto-detected: otherwise, unpacked data would be unpacked again if it looks compressed, without any
    // bound.
    archive_read_append_filter(reader.get(), ARCHIVE_FILTER_GZIP);
    archive_read_support_format_tar(reader.get());
    if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
        return bad("This is not a gzipped tar archive");
    }
    std::size_t files = 0;
    std::size_t total = 0;
    for (;;) {
        archive_entry* entry = nullptr;
        const int next = archive_read_next_header(reader.get(), &entry);
        if (next == ARCHIVE_EOF) {
            break;
        }
        if (next != ARCHIVE_OK && next != ARCHIVE_WARN) {
            return bad(files == 0 ? "This is not a gzipped tar archive" : "The archive is damaged");
        }
        if (++files > limits.files_max) {
            return Error{Errc::answer_too_costly, "The archive contains too many files"};
        }
        const char* const name = archive_entry_pathname(entry);
        const std::string_view path = name == nullptr ? std::string_view() : name;
        if (path.size() > limits.path_bytes_max || !is_safe(path)) {
            return bad(fmt::format("The archive has a path outside itself: '{}'",
                                   json::valid_utf8(path.substr(0, 200))));
        }
        if (archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr) {
            return bad(fmt::format("The archive contains a link: '{}'", json::valid_utf8(path)));
        }
        if (archive_entry_filetype(entry) == AE_IFDIR) {
            continue;
        }
        if (archive_entry_filetype(entry) != AE_IFREG) {
            return bad(fmt::format("The archive contains something other than a file: '{}'",
                                   json::valid_utf8(path)));
        }
        ANNALS_TRY(std::string content, read_file(reader.get(), limits, limits.bytes_max - total));
        total += content.size();
        ANNALS_TRY_VOID(take(path, std::move(content)));
    }
    return {};
}

}  // namespace annals::packages
