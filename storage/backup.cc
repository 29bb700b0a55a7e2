#include "storage/backup.h"

#include "storage/erasure_journal.h"
#include "storage/lost_segments.h"
#include "storage/segment_check.h"
#include "storage/segment_folder.h"
#include "storage/segment_footer.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace annals::storage {

namespace {

/// How many times a segment that changes while it is read is taken.
constexpr int kAttemptsMax = 3;

Error usage(std::string detail) {
    return {Errc::usage, std::move(detail)};
}

Error missing(const std::string& segments, std::uint64_t number, std::string_view why) {
    return {Errc::corrupt, fmt::format("{}/{}: offset 0: {}", segments, segment_name(number), why)};
}

class Backup {
  public:
    Backup(FileSystem& fs, const std::string& from, const std::string& to,
           const BackupOptions& options)
        : fs_(fs), from_(from + "/segments"), to_(to), options_(options) {}

    Backup(const Backup&) = delete;
    Backup& operator=(const Backup&) = delete;

    /// The rest of a segment that was not taken may be on the store's own device and use up its last space.
    ~Backup() {
        if (!draft_.empty()) {
            (void)fs_.remove(draft_);  // If that fails, the next backup does it.
        }
    }

    Result<BackupReport> run(const std::function<Result<LogEnd>()>& end) {
        const auto start = std::chrono::steady_clock::now();
        ANNALS_TRY(end_, end());
        ANNALS_TRY_VOID(begin());
        total_ = end_.offset;  // the open segment's file is longer than its contents
        for (std::uint64_t number = 1; number < end_.segment; ++number) {
            total_ += size_of(source(number));
        }
        manifest_.parts.clear();
        std::uint64_t number = 1;
        while (true) {
            for (; number < end_.segment; ++number) {
                ANNALS_TRY_VOID(take_sealed(number));
            }
            // Nothing is erased while the lock is held, so the erase records of everything that is gone from the files taken so
            // far, and from the open one, are before the end.
            std::unique_lock lock = hold_files();
            ANNALS_TRY(end_, end());
            if (end_.segment != number) {
                continue;
            }
            const Result<void> taken = take_open(std::move(lock));
            if (taken) {
                break;
            }
            // The segment may have been sealed and compacted during the copy.
            ANNALS_TRY(end_, end());
            if (taken.error().code != Errc::corrupt || end_.segment == number) {
                return Error(taken.error());
            }
        }
        ANNALS_TRY_VOID(finish());
        report_.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return report_;
    }

  private:
    /// Held by code that writes into a segment, from checking that the file has only one name until the write is done.
    std::unique_lock<std::mutex> hold_files() const {
        return options_.files == nullptr ? std::unique_lock<std::mutex>()
                                         : std::unique_lock(options_.files->mutex);
    }

    std::string source(std::uint64_t number) const { return from_ + "/" + segment_name(number); }

    std::string target(std::uint64_t number) const {
        return to_ + "/segments/" + segment_name(number);
    }

    std::string in_target(std::string_view name) const { return fmt::format("{}/{}", to_, name); }

    std::uint64_t size_of(const std::string& path) const {
        const auto facts = fs_.facts(path);
        return facts ? facts->bytes : 0;
    }

    /// Makes sure that `to_` is one of ours, and marks it as unfinished.
    Result<void> begin() {
        const std::string segments = to_ + "/segments";
        const bool partial = fs_.exists(in_target(kBackupPartial));
        auto before = read_backup_manifest(fs_, to_);
        if (before) {
            before_ = *std::move(before);
        } else if (before.error().code != Errc::corrupt) {
            return std::move(before.error());
        }
        const bool ours = before_ || partial || fs_.exists(in_target(kBackupManifest));
        if (fs_.exists(segments)) {
            ANNALS_TRY(const auto names, fs_.list(segments));
            if (!names.empty() && !ours) {
                return usage(fmt::format("{}: neither empty nor a backup", to_));
            }
        }
        ANNALS_TRY(const SegmentHeader header, read_header(1));
        if (before_ && before_->store_id != header.store_id) {
            return usage(fmt::format("{}: a backup of a different store", to_));
        }
        if (before_ && before_->position > end_.position) {
            return usage(
                fmt::format("{}: the backup there is newer than the store (position {}, {})", to_,
                            before_->position.value, end_.position.value));
        }
        manifest_.store_id = header.store_id;
        ANNALS_TRY_VOID(fs_.make_directory(to_));
        ANNALS_TRY(lock_, fs_.lock(to_));
        if (!partial) {
            ANNALS_TRY(const auto mark,
                       fs_.open(in_target(kBackupPartial), FileSystem::Mode::create));
            ANNALS_TRY_VOID(mark->sync());
        }
        ANNALS_TRY_VOID(fs_.sync_directory(to_));
        // Only now: without the mark, a folder of segments is a store, even if it is empty.
        ANNALS_TRY_VOID(fs_.make_directory(segments));
        ANNALS_TRY(const auto names, fs_.list(segments));
        for (const std::string& name : names) {
            const auto number = parse_segment_name(name);
            // From a log that has diverged since, or left by an interrupted backup.
            if (name.ends_with(".tmp") || (number && *number > end_.segment)) {
                ANNALS_TRY_VOID(fs_.remove(segments + "/" + name));
            }
        }
        return {};
    }

    Result<SegmentHeader> read_header(std::uint64_t number) {
        ANNALS_TRY(const auto file, fs_.open(source(number), FileSystem::Mode::read));
        char bytes[kSegmentHeaderBytes];
        ANNALS_TRY(const std::size_t got, file->read(0, bytes));
        return decode_segment_header({bytes, got}, source(number));
    }

    Result<void> go_on() const {
        return options_.stop && options_.stop()
                   ? Result<void>(
                         Error{Errc::expired, "the backup was stopped before it was complete"})
                   : Result<void>();
    }

    /// Keeps a segment of the previous backup if it is unchanged.
    bool keep(std::uint64_t number, const FileFacts& facts, bool sealed, std::uint64_t bytes) {
        const BackupManifest::Part* const before = before_ ? before_->part(number) : nullptr;
        if (before == nullptr || before->origin != facts.origin() || before->sealed != sealed ||
            before->bytes != bytes || size_of(target(number)) != bytes) {
            return false;
        }
        manifest_.parts.push_back(*before);
        ++report_.kept;
        tell(bytes);
        return true;
    }

    /// Chooses the name under which a segment is written, and makes sure it is free.
    Result<void> choose_draft(std::uint64_t number) {
        draft_ = target(number) + ".tmp";
        return remove_if_there(fs_, draft_);
    }

    Result<void> take_sealed(std::uint64_t number) {
        ANNALS_TRY(const FileFacts facts, fs_.facts(source(number)));
        if (keep(number, facts, true, facts.bytes)) {
            return {};
        }
        Result<void> taken;
        for (int i = 0; i < kAttemptsMax; ++i) {
            ANNALS_TRY_VOID(go_on());
            taken = link_or_copy(number, i + 1 == kAttemptsMax);
            if (taken || taken.error().code != Errc::corrupt) {
                break;
            }
        }
        return taken;
    }

    /// Without `alone`, an erasure may happen during a copy, which then mixes parts of a frame from before and after it.
    Result<void> link_or_copy(std::uint64_t number, bool alone) {
        ANNALS_TRY_VOID(choose_draft(number));
        std::unique_lock lock = hold_files();
        ANNALS_TRY(const FileFacts facts, fs_.facts(source(number)));
        const bool may_link =
            options_.files == nullptr || !options_.files->unsynced.contains(number);
        const bool linked = may_link && fs_.link(source(number), draft_).has_value();
        if (!alone && lock.owns_lock()) {
            lock.unlock();
        }
        if (!linked) {
            ANNALS_TRY(const auto file, copy(source(number), draft_, facts.bytes));
            ANNALS_TRY_VOID(file->sync());
        }
        return put(number, facts, {.sealed = true, .linked = linked, .bytes = facts.bytes});
    }

    /// Takes the newest segment, up to the end of the log when `lock` was taken.
    Result<void> take_open(std::unique_lock<std::mutex> lock) {
        ANNALS_TRY_VOID(go_on());
        ANNALS_TRY(const FileFacts facts, fs_.facts(source(end_.segment)));
        if (keep(end_.segment, facts, false, end_.offset)) {
            return {};
        }
        ANNALS_TRY_VOID(choose_draft(end_.segment));
        ANNALS_TRY(const auto file, copy_open(draft_));
        if (lock.owns_lock()) {
            lock.unlock();
        }
        ANNALS_TRY_VOID(file->sync());
        return put(end_.segment, facts, {.sealed = false, .linked = false, .bytes = end_.offset});
    }

    struct Taken {
        bool sealed = false;
        bool linked = false;
        std::uint64_t bytes = 0;
    };

    /// Checks what was taken and gives it its name.
    Result<void> put(std::uint64_t number, const FileFacts& facts, Taken taken) {
        const Result<CheckedSegment> read = check_segment(fs_, draft_);
        if (!read) {
            // The source first: the draft may be a link to it, and does not stay.
            return Error{read.error().code,
                         fmt::format("{}, taken as {}", source(number), read.error().detail)};
        }
        const CheckedSegment& checked = *read;
        ANNALS_TRY_VOID(fits(number, !taken.sealed, checked));
        ANNALS_TRY_VOID(fs_.rename(draft_, target(number)));
        // rename() leaves both alone if they are names of one file.
        ANNALS_TRY_VOID(remove_if_there(fs_, draft_));
        draft_.clear();
        manifest_.parts.push_back({.number = number,
                                   .sealed = checked.sealed,
                                   .bytes = taken.bytes,
                                   .checksum = checked.checksum,
                                   .origin = facts.origin()});
        ++(taken.linked ? report_.linked : report_.copied);
        report_.bytes_copied += taken.linked ? 0 : taken.bytes;
        tell(taken.bytes);
        return {};
    }

    /// Checks that a whole segment is the right one.
    Result<void> fits(std::uint64_t number, bool last, const CheckedSegment& checked) {
        const auto wrong = [&](std::string_view why) {
            return Error{Errc::corrupt, fmt::format("{}: {}", source(number), why)};
        };
        if (checked.header.number != number || checked.header.store_id != manifest_.store_id) {
            return wrong("the header belongs to a different segment");
        }
        if (!last && !checked.sealed) {
            return wrong("no complete footer");
        }
        if (last && (checked.end != end_.offset || checked.last_position != end_.position)) {
            return wrong("it does not end where the log ends");
        }
        return {};
    }

    /// Durability: none before the sync of what it returns.
    Result<std::unique_ptr<File>> copy(const std::string& from, const std::string& to,
                                       std::uint64_t bytes) {
        return copy_file(fs_, from, to, bytes, [this] { return go_on(); });
    }

    /// Copies the last segment as an open one. Durability: none before the sync of what it returns.
    Result<std::unique_ptr<File>> copy_open(const std::string& to) {
        ANNALS_TRY(const SegmentHeader header, read_header(end_.segment));
        if (header.format != SegmentFormat::packed) {
            return copy(source(end_.segment), to, end_.offset);
        }
        ANNALS_TRY(const CheckedSegment last, check_segment(fs_, source(end_.segment)));
        ANNALS_TRY(std::unique_ptr<File> file, fs_.open(to, FileSystem::Mode::create));
        ANNALS_TRY_VOID(write_large(*file, last.view().substr(0, end_.offset)));
        return file;
    }

    void tell(std::uint64_t bytes) {
        report_.bytes += bytes;
        if (options_.progress) {
            options_.progress(report_.bytes, std::max(total_, report_.bytes));
        }
    }

    /// Writes the manifest, which makes it a backup.
    Result<void> finish() {
        ANNALS_TRY_VOID(fs_.sync_directory(to_ + "/segments"));
        manifest_.position = end_.position;
        manifest_.instant = end_.instant;
        manifest_.taken = options_.clock ? options_.clock() : now();
        ANNALS_TRY_VOID(
            replace_file(fs_, in_target(kBackupManifest), write_backup_manifest(manifest_)));
        ANNALS_TRY_VOID(fs_.remove(in_target(kBackupPartial)));
        ANNALS_TRY_VOID(fs_.sync_directory(to_));
        report_.position = manifest_.position;
        report_.instant = manifest_.instant;
        report_.segments = manifest_.parts.size();
        return {};
    }

    FileSystem& fs_;
    const std::string from_;
    const std::string to_;
    const BackupOptions& options_;
    LogEnd end_;
    std::optional<BackupManifest> before_;
    BackupManifest manifest_;
    BackupReport report_;
    std::string draft_;  ///< of the segment being taken; empty: none
    std::unique_ptr<DirectoryLock> lock_;
    std::uint64_t total_ = 0;
};

/// The end of the open segment `number`: that of its whole frames. A torn tail was never acknowledged: it is not taken.
Result<LogEnd> end_of_open(std::uint64_t number, std::string_view bytes,
                           const SegmentHeader& header, const std::string& path) {
    const SegmentScan scan = scan_segment(bytes, header);
    if (scan.witness) {
        return Error{Errc::corrupt, fmt::format("{}: offset {}: no intact frame, but a later one",
                                                path, scan.end)};
    }
    LogEnd end{.segment = number,
               .offset = scan.end,
               .position = {header.first_position.value - 1},
               .instant = header.last_instant};
    for (const FrameAt& frame : scan.frames) {
        RecordReader reader(bytes, frame.offset, frame.header);
        while (true) {
            const auto record = reader.next();
            if (!record) {
                return at_record(path, reader.offset(), record.error());
            }
            if (!*record) {
                break;
            }
            end.position.value += (*record)->kind == RecordKind::version ? 1 : 0;
        }
        end.instant = std::max(end.instant, frame.header.instant);
    }
    return end;
}

}  // namespace

Result<BackupReport> back_up(FileSystem& fs, const std::string& from, const std::string& to,
                             const std::function<Result<LogEnd>()>& end,
                             const BackupOptions& options) {
    return Backup(fs, from, to, options).run(end);
}

Result<void> finish_erasures(FileSystem& fs, const std::string& directory) {
    const std::string segments = directory + "/segments";
    if (!fs.exists(segments)) {
        return {};
    }
    ANNALS_TRY_VOID(check_format(fs, segments));
    ANNALS_TRY(const ErasureJournal::Content journal, ErasureJournal::read_durably(fs, directory));
    // If there is no space for it, it is done when the backup is opened, like all other erasures in its log.
    ANNALS_TRY_VOID(replay(fs, segments, journal));
    return {};
}

Result<LogEnd> find_log_end(FileSystem& fs, const std::string& directory) {
    const std::string segments = directory + "/segments";
    if (!fs.exists(segments)) {
        return usage(fmt::format("{}: there is no store here", directory));
    }
    ANNALS_TRY(const auto numbers, segment_numbers(fs, segments));
    if (numbers.empty()) {
        const std::string lost = why_all_are_lost(fs, directory);
        return lost.empty() ? usage(fmt::format("{}: there is no store here", directory))
                            : missing(segments, 1, lost);
    }
    for (std::uint64_t number = 1; number <= numbers.size(); ++number) {
        if (numbers[number - 1] != number) {
            return missing(segments, number, "the segment is missing");
        }
    }
    const std::uint64_t last = numbers.back();
    const std::string path = segments + "/" + segment_name(last);
    ANNALS_TRY(const auto file, fs.open(path, FileSystem::Mode::read));
    ANNALS_TRY(const std::uint64_t bytes, file->size());
    ANNALS_TRY(const auto data, file->map(bytes));
    const std::string_view view(data.get(), bytes);
    ANNALS_TRY(const SegmentHeader header, decode_segment_header(view, path));
    const bool packed = header.format == SegmentFormat::packed;
    if (packed || FooterReader::open(view, header)) {
        ANNALS_TRY(const CheckedSegment sealed, check_segment(fs, path));
        const std::string lost =
            why_more_are_lost(fs, directory, header.store_id, sealed.last_position);
        if (!lost.empty()) {
            return missing(segments, last + 1, lost);
        }
        return LogEnd{last, sealed.end, sealed.last_position, sealed.last_instant};
    }
    return end_of_open(last, view, header, path);
}

}  // namespace annals::storage
