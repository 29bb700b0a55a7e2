#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace annals::storage {

namespace {

constexpr std::uint64_t kPieceBytes = 1 << 20;

}  // namespace

std::string directory_of(const std::string& path) {
    const std::string parent = std::filesystem::path(path).parent_path().string();
    return parent.empty() ? "." : parent;
}

Result<std::string> read_whole(FileSystem& fs, const std::string& path, std::uint64_t bytes_max) {
    ANNALS_TRY(const auto file, fs.open(path, FileSystem::Mode::read));
    ANNALS_TRY(const std::uint64_t size, file->size());
    if (size > bytes_max) {
        return Error{Errc::corrupt, fmt::format("{}: too large", path)};
    }
    std::string text(size, '\0');
    ANNALS_TRY(const std::size_t got, file->read(0, text));
    text.resize(got);
    return text;
}

Result<void> remove_if_there(FileSystem& fs, const std::string& path) {
    return fs.exists(path) ? fs.remove(path) : Result<void>();
}

Result<std::unique_ptr<File>> create_anew(FileSystem& fs, const std::string& path) {
    ANNALS_TRY_VOID(remove_if_there(fs, path));
    return fs.open(path, FileSystem::Mode::create);
}

Result<void> replace_file(FileSystem& fs, const std::string& path, std::string_view text) {
    ANNALS_TRY_VOID(replace_and_open(fs, path, text, true));
    return {};
}

Result<std::unique_ptr<File>> replace_and_open(FileSystem& fs, const std::string& path,
                                               std::string_view text, bool durable) {
    const std::string draft = path + ".tmp";
    ANNALS_TRY(std::unique_ptr<File> file, create_anew(fs, draft));
    Result<void> replaced = file->write(0, text);
    if (replaced && durable) {
        replaced = file->sync();
    }
    if (replaced) {
        replaced = fs.rename(draft, path);
    }
    if (!replaced) {
        // It is useless and may take the last space. If this fails, the next attempt removes it.
        (void)fs.remove(draft);
        return std::move(replaced.error());
    }
    if (durable) {
        ANNALS_TRY_VOID(fs.sync_directory(directory_of(path)));
    }
    return file;
}

Result<void> write_large(File& file, std::string_view bytes) {
    for (std::uint64_t at = 0; at < bytes.size(); at += kPieceBytes) {
        ANNALS_TRY_VOID(file.write(at, bytes.substr(at, kPieceBytes)));
    }
    return {};
}

Result<std::unique_ptr<File>> copy_file(FileSystem& fs, const std::string& from,
                                        const std::string& to, std::uint64_t bytes,
                                        const std::function<Result<void>()>& go_on) {
    ANNALS_TRY(const auto source, fs.open(from, FileSystem::Mode::read));
    ANNALS_TRY(std::unique_ptr<File> file, fs.open(to, FileSystem::Mode::create));
    std::string piece;
    for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
        piece.resize(std::min(kPieceBytes, bytes - at));
        ANNALS_TRY(const std::size_t got, source->read(at, piece));
        if (got != piece.size()) {
            return Error{Errc::corrupt, fmt::format("{}: shorter than it was", from)};
        }
        ANNALS_TRY_VOID(file->write(at, piece));
        if (go_on) {
            ANNALS_TRY_VOID(go_on());
        }
    }
    return file;
}

}  // namespace annals::storage
