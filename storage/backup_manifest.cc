#include "storage/backup_manifest.h"

#include "core/base/digest.h"
#include "storage/format.h"
#include "storage/segment_folder.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace annals::storage {

namespace {

constexpr std::string_view kFirstLine = "annals-backup 1\n";
constexpr std::string_view kFirstWord = "annals-backup ";
constexpr std::uint64_t kBackupManifestBytesMax = 1 << 30;

Error damaged() {
    return {Errc::corrupt, fmt::format("{}: damaged", kBackupManifest)};
}

/// Parses a manifest word by word.
class Words {
  public:
    explicit Words(std::string_view text) : rest_(text) {}

    bool take(std::string_view word) {
        const bool there = rest_.starts_with(word);
        rest_.remove_prefix(there ? word.size() : 0);
        failed_ = failed_ || !there;
        return there;
    }

    /// Reads a number and the character that ends it.
    std::uint64_t number(int base, char end) {
        std::uint64_t value = 0;
        const auto [at, error] =
            std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
        const auto length = static_cast<std::size_t>(at - rest_.data());
        if (error != std::errc() || length >= rest_.size() || rest_[length] != end) {
            failed_ = true;
            return 0;
        }
        rest_.remove_prefix(length + 1);
        return value;
    }

    Instant instant() {
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        const auto value = parse_instant(rest_.substr(0, end));
        failed_ = failed_ || !value || end == rest_.size();
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        return value ? *value : Instant();
    }

    bool next_is(std::string_view word) const { return rest_.starts_with(word); }

    bool ended() const { return rest_.empty(); }

    bool failed() const { return failed_; }

  private:
    std::string_view rest_;
    bool failed_ = false;
};

std::string other_size(std::uint64_t bytes, std::uint64_t expected) {
    return fmt::format("has {} bytes, but {} in the manifest", bytes, expected);
}

}  // namespace

std::string BackupManifest::Part::fault(std::string_view file) const {
    if (file.size() != bytes) {
        return other_size(file.size(), bytes);
    }
    return hash64(file) == checksum ? "" : "is not the file that was backed up";
}

std::string write_backup_manifest(const BackupManifest& manifest) {
    std::string text(kFirstLine);
    text += fmt::format("store {:016x}\nposition {}\ninstant {}\ntaken {}\n", manifest.store_id,
                        manifest.position.value, format_instant(manifest.instant),
                        format_instant(manifest.taken));
    for (const BackupManifest::Part& part : manifest.parts) {
        text +=
            fmt::format("segment {} {} {} {:016x} {:016x}\n", part.number,
                        part.sealed ? "sealed" : "open", part.bytes, part.checksum, part.origin);
    }
    text += fmt::format("checksum {:016x}\n", hash64(text));
    return text;
}

Result<BackupManifest> parse_backup_manifest(std::string_view text) {
    const std::size_t end = text.rfind("checksum ");
    if (end == std::string_view::npos ||
        text.substr(end) != fmt::format("checksum {:016x}\n", hash64(text.substr(0, end)))) {
        return damaged();
    }
    if (text.starts_with(kFirstWord) && !text.starts_with(kFirstLine)) {
        return Error{Errc::usage, fmt::format("{}: written by a newer version", kBackupManifest)};
    }
    BackupManifest manifest;
    Words words(text.substr(0, end));
    words.take(kFirstLine);
    words.take("store ");
    manifest.store_id = words.number(16, '\n');
    words.take("position ");
    manifest.position = {words.number(10, '\n')};
    words.take("instant ");
    manifest.instant = words.instant();
    words.take("taken ");
    manifest.taken = words.instant();
    while (!words.ended()) {
        BackupManifest::Part part;
        words.take("segment ");
        part.number = words.number(10, ' ');
        part.sealed = words.next_is("sealed ");
        words.take(part.sealed ? "sealed " : "open ");
        part.bytes = words.number(10, ' ');
        part.checksum = words.number(16, ' ');
        part.origin = words.number(16, '\n');
        if (words.failed() || part.number != manifest.parts.size() + 1) {
            return damaged();
        }
        manifest.parts.push_back(part);
    }
    if (words.failed() || manifest.parts.empty()) {
        return damaged();
    }
    return manifest;
}

Result<std::optional<BackupManifest>> read_backup_manifest(FileSystem& fs,
                                                           const std::string& directory) {
    const std::string path = fmt::format("{}/{}", directory, kBackupManifest);
    if (!fs.exists(path)) {
        return std::optional<BackupManifest>();
    }
    ANNALS_TRY(const std::string text, read_whole(fs, path, kBackupManifestBytesMax));
    ANNALS_TRY(BackupManifest manifest, parse_backup_manifest(text));
    return std::optional(std::move(manifest));
}

Result<void> check_backup_parts(FileSystem& fs, const std::string& directory,
                                const BackupManifest& manifest) {
    const std::string segments = directory + "/segments";
    const auto amiss = [&](std::uint64_t number, std::string_view why) {
        return Error{Errc::corrupt,
                     fmt::format("{}/{}: the segment {}", segments, segment_name(number), why)};
    };
    ANNALS_TRY(const std::vector<std::uint64_t> numbers, segment_numbers(fs, segments));
    for (const BackupManifest::Part& part : manifest.parts) {
        if (!std::ranges::binary_search(numbers, part.number)) {
            return amiss(part.number, "is missing");
        }
        ANNALS_TRY(const FileFacts facts, fs.facts(segments + "/" + segment_name(part.number)));
        if (facts.bytes != part.bytes) {
            return amiss(part.number, other_size(facts.bytes, part.bytes));
        }
    }
    if (numbers.size() > manifest.parts.size()) {
        return amiss(numbers.back(), "is not in the manifest");
    }
    return {};
}

Result<void> check_restored(FileSystem& fs, const std::string& directory) {
    const std::string mark = fmt::format("{}/{}", directory, kRestorePartial);
    if (!fs.exists(mark)) {
        return {};
    }
    // exists() is true, too, if access is denied.
    const auto facts = fs.facts(mark);
    if (!facts && facts.error().code == Errc::not_found) {
        return {};
    }
    return Error{Errc::usage,
                 facts ? directory + ": a store was being restored here and is incomplete"
                       : facts.error().detail};
}

}  // namespace annals::storage
