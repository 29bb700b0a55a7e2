#include "storage/restore.h"

#include "storage/backup_manifest.h"
#include "storage/erasure_journal.h"
#include "storage/search_checkpoint.h"
#include "storage/segment_check.h"
#include "storage/segment_folder.h"
#include "storage/verify.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace annals::storage {

namespace {

Error no_restoration(std::string detail) {
    return {Errc::usage, std::move(detail)};
}

class Restoration {
  public:
    Restoration(FileSystem& fs, const std::string& from, const std::string& to,
                const RestoreOptions& options)
        : fs_(fs), from_(from), to_(to), options_(options) {}

    Result<RestoreReport> run() {
        ANNALS_TRY_VOID(look_at_source());
        ANNALS_TRY_VOID(prepare_target());
        std::uint64_t number = 0;
        while (!cut_ && number < numbers_.size()) {
            ++number;
            if (numbers_[number - 1] != number) {
                return Error{Errc::corrupt,
                             fmt::format("{}: the segment is missing", source(number))};
            }
            ANNALS_TRY_VOID(take(number));
        }
        if (manifest_ && !cut_ && report_.position != manifest_->position) {
            return Error{Errc::corrupt,
                         fmt::format("{}: ends at position {}, but at {} according to the manifest",
                                     from_, report_.position.value, manifest_->position.value)};
        }
        if (options_.to_position && !cut_ && report_.position < *options_.to_position) {
            return no_restoration(
                fmt::format("{}: ends at position {}", from_, report_.position.value));
        }
        if (report_.position.value == 0 && (options_.to_position || options_.to_instant)) {
            return no_restoration(
                fmt::format("{}: contains nothing that was written by then", from_));
        }
        ANNALS_TRY_VOID(fs_.sync_directory(to_ + "/segments"));
        if (cut_) {
            ANNALS_TRY_VOID(check_bodies());
        } else if (options_.unfinished) {
            ANNALS_TRY(VerifyReport found, verify(fs_, to_));
            report_.damages = std::move(found.damages);
        }
        ANNALS_TRY_VOID(fs_.remove(mark()));
        ANNALS_TRY_VOID(fs_.sync_directory(to_));
        return report_;
    }

    /// Removes what a failed restoration has made.
    void clean() {
        if (begun_) {
            clean_store();
        }
        if (made_ && !fs_.exists(mark())) {
            if (lock_ != nullptr) {
                // A removed lock file keeps nobody out, so the directory is locked, too, until it is removed.
                static_cast<void>(fs_.remove(to_ + "/LOCK"));
            }
            static_cast<void>(fs_.remove_directory(to_));  // fails if something else is there
        }
    }

  private:
    void clean_store() {
        Result<void> gone;
        for (std::uint64_t number = 1; gone && number <= written_; ++number) {
            gone = fs_.remove(target(number));
        }
        if (gone) {
            // Without the folder there is no store; with an empty one there is a sound store, which would be served.
            static_cast<void>(fs_.remove_directory(to_ + "/segments"));
            gone = fs_.remove(mark());
        }
        static_cast<void>(gone);  // if it failed, the mark remains
    }

    std::string source(std::uint64_t number) const {
        return from_ + "/segments/" + segment_name(number);
    }

    std::string target(std::uint64_t number) const {
        return to_ + "/segments/" + segment_name(number);
    }

    std::string mark() const { return fmt::format("{}/{}", to_, kRestorePartial); }

    /// Removes what an interrupted restoration has made: below the mark there are no segments but its own.
    Result<void> clear(const std::string& segments) {
        if (fs_.exists(segments)) {
            ANNALS_TRY(const std::vector<std::uint64_t> left, segment_numbers(fs_, segments));
            for (const std::uint64_t number : left) {
                ANNALS_TRY_VOID(fs_.remove(target(number)));
            }
            ANNALS_TRY_VOID(fs_.sync_directory(segments));
        }
        // It is written again, as for the first attempt.
        return fs_.remove(mark());
    }

    /// Finds out what there is to restore.
    Result<void> look_at_source() {
        if (!options_.unfinished) {
            ANNALS_TRY(manifest_, read_backup_manifest(fs_, from_));
            const bool partial = fs_.exists(fmt::format("{}/{}", from_, kBackupPartial));
            if (partial || !manifest_) {
                return no_restoration(
                    fmt::format("{}: {}", from_,
                                partial ? "the backup is unfinished; make it again, or restore its "
                                          "intact part with --unfinished"
                                        : "there is no backup here"));
            }
        }
        if (!fs_.exists(from_ + "/segments")) {
            return no_restoration(fmt::format("{}: there is no backup here", from_));
        }
        if (manifest_) {
            ANNALS_TRY_VOID(check_backup_parts(fs_, from_, *manifest_));
        }
        ANNALS_TRY(numbers_, segment_numbers(fs_, from_ + "/segments"));
        for (const std::uint64_t number : numbers_) {
            const auto facts = fs_.facts(source(number));
            total_ += facts ? facts->bytes : 0;
        }
        return {};
    }

    /// Makes the directory, with a mark that it is no store yet, and with nothing of an earlier one.
    Result<void> prepare_target() {
        const std::string segments = to_ + "/segments";
        if (fs_.exists(mark())) {
            ANNALS_TRY(lock_, fs_.lock(to_));
            ANNALS_TRY_VOID(clear(segments));
        }
        if (fs_.exists(segments)) {
            ANNALS_TRY(const auto there, fs_.list(segments));
            if (!there.empty()) {
                return no_restoration(
                    fmt::format("{}: already contains a store or a part of one", to_));
            }
        }
        made_ = !fs_.exists(to_);
        if (auto made = fs_.make_directory(to_); !made) {
            const bool unusable = made.error().code == Errc::io;
            return unusable ? no_restoration(std::move(made.error().detail))
                            : std::move(made.error());
        }
        if (lock_ == nullptr) {
            ANNALS_TRY(lock_, fs_.lock(to_));
        }
        ANNALS_TRY(const auto marked, fs_.open(mark(), FileSystem::Mode::create));
        begun_ = true;
        ANNALS_TRY_VOID(marked->sync());
        ANNALS_TRY_VOID(fs_.sync_directory(to_));
        // Files derived from an earlier log would be taken for this one's.
        ANNALS_TRY_VOID(SearchCheckpoint::remove_all(fs_, to_));
        ANNALS_TRY_VOID(ErasureJournal::remove(fs_, to_));
        ANNALS_TRY_VOID(fs_.make_directory(segments));
        return fs_.sync_directory(to_);
    }

    /// Whether `frame` may follow in the log after `before`.
    bool wanted(const CheckedFrame& frame, Position before) const {
        if (options_.to_instant && frame.instant > *options_.to_instant) {
            return false;
        }
        if (!options_.to_position) {
            return true;
        }
        // Erases after the last wanted version are left out.
        return frame.has_versions ? frame.last_position <= *options_.to_position
                                  : before < *options_.to_position;
    }

    Result<void> take(std::uint64_t number) {
        Position before = report_.position;
        ANNALS_TRY(const CheckedSegment segment,
                   check_segment(fs_, source(number), [&](const CheckedFrame& frame) {
                       cut_ = cut_ || !wanted(frame, before);
                       before = frame.last_position;
                       return !cut_;
                   }));
        if (segment.header.number != number ||
            (number > 1 && segment.header.store_id != store_id_) ||
            segment.header.first_position.value != report_.position.value + 1) {
            return Error{Errc::corrupt, fmt::format("{}: does not continue the segment before it",
                                                    source(number))};
        }
        store_id_ = segment.header.store_id;
        if (const auto* part = manifest_ ? manifest_->part(number) : nullptr) {
            if (const std::string why = part->fault(segment.file_view()); !why.empty()) {
                return Error{Errc::corrupt, fmt::format("{}: the segment {}", source(number), why)};
            }
        }
        if (!segment.sealed && number < numbers_.size() && !cut_) {
            return Error{Errc::corrupt, fmt::format("{}: no complete footer", source(number))};
        }
        if (cut_ && segment.end == kSegmentHeaderBytes && number > 1) {
            return {};  // nothing of it is wanted: the one before is the last
        }
        const std::string_view bytes =
            segment.sealed && !cut_ ? segment.file_view() : segment.view().substr(0, segment.end);
        const std::string name = target(number);
        ANNALS_TRY_VOID(write(name, bytes));
        ANNALS_TRY(const CheckedSegment written, check_segment(fs_, name));
        if (written.last_position != segment.last_position || written.end != segment.end) {
            return Error{Errc::corrupt, fmt::format("{}: differs from what was written", name)};
        }
        report_.position = segment.last_position;
        report_.instant = std::max(report_.instant, segment.last_instant);
        ++report_.segments;
        report_.bytes += bytes.size();
        if (options_.progress) {
            options_.progress(report_.bytes, total_);
        }
        return {};
    }

    /// The erase of a version may be after the cut although its body is gone: it was removed from the files before the backup
    /// was made.
    Result<void> check_bodies() const {
        ANNALS_TRY(const VerifyReport found, verify(fs_, to_));
        if (found.damages.empty()) {
            return {};
        }
        const Damage& first = found.damages.front();
        return no_restoration(fmt::format(
            "{}: was made after versions before position {} had been erased, and no longer has "
            "them (segments/{}: offset {}: {}); use an older backup or a later position",
            from_, report_.position.value + 1, first.segment, first.offset, first.reason));
    }

    Result<void> write(const std::string& path, std::string_view bytes) {
        ANNALS_TRY(const auto file, fs_.open(path, FileSystem::Mode::create));
        ++written_;
        ANNALS_TRY_VOID(write_large(*file, bytes));
        return file->sync();
    }

    FileSystem& fs_;
    const std::string& from_;
    const std::string& to_;
    const RestoreOptions& options_;
    std::unique_ptr<DirectoryLock> lock_;
    std::optional<BackupManifest> manifest_;  ///< none: everything whole is taken
    std::vector<std::uint64_t> numbers_;
    std::uint64_t total_ = 0;
    std::uint64_t store_id_ = 0;
    std::uint64_t written_ = 0;  ///< segments whose files exist
    bool made_ = false;          ///< the directory
    bool begun_ = false;
    bool cut_ = false;
    RestoreReport report_;
};

}  // namespace

Result<RestoreReport> restore(FileSystem& fs, const std::string& from, const std::string& to,
                              const RestoreOptions& options) {
    Restoration restoration(fs, from, to, options);
    auto report = restoration.run();
    if (!report) {
        restoration.clean();
    }
    return report;
}

}  // namespace annals::storage
