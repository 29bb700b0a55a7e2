#include "storage/verify.h"

#include "storage/backup_manifest.h"
#include "storage/erasure_journal.h"
#include "storage/lost_segments.h"
#include "storage/packed_segment.h"
#include "storage/segment.h"
#include "storage/segment_folder.h"
#include "storage/segment_footer.h"
#include "storage/verify_log.h"
#include "storage/verify_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace annals::storage {

namespace {

constexpr std::uint64_t kReadBytes = 4 << 20;

/// At most this many adjacent missing segments are named individually.
constexpr std::uint64_t kMissingNamedMax = 100;

/// The end of the last whole frame, wherever it is.
std::uint64_t frames_end(std::string_view bytes, std::uint64_t salt) {
    std::uint64_t end = kSegmentHeaderBytes;
    while (const auto frame = find_frame(bytes, end, salt)) {
        end = frame->offset + frame->header.length;
    }
    return end;
}

class Verification {
  public:
    Verification(FileSystem& fs, std::string segments, const VerifyProgress& progress)
        : fs_(fs), segments_(std::move(segments)), progress_(progress) {}

    Result<VerifyReport> run(const std::string& directory) {
        ANNALS_TRY(journal_, ErasureJournal::read(fs_, directory));
        ANNALS_TRY_VOID(read_manifest(directory));
        ANNALS_TRY(const std::vector<std::uint64_t> numbers, segment_numbers(fs_, segments_));
        for (const std::uint64_t number : numbers) {
            total_bytes_ += size_of(number);
        }
        std::uint64_t expected = 1;
        const auto miss = [&](std::uint64_t before) {
            for (std::uint64_t named = 1; expected < before; ++named) {
                log_.set_file(segment_name(expected));
                const bool last = named == kMissingNamedMax && expected + 1 < before;
                damage(0, last ? fmt::format("the segment is missing, and so are all up to {}",
                                             segment_name(before - 1))
                               : "the segment is missing");
                expected = last ? before : expected + 1;
                log_.lose_end();
            }
        };
        for (const std::uint64_t number : numbers) {
            miss(number);
            ++expected;
            const std::size_t damages_before = report_.damages.size();
            ANNALS_TRY_VOID(verify_segment(number, number == numbers.back()));
            if (!part_fault_.empty() && report_.damages.size() == damages_before) {
                damage(0, "the segment " + part_fault_);
            }
        }
        if (manifest_) {
            miss(manifest_->parts.size() + 1);
        }
        const std::string lost =
            numbers.empty() ? why_all_are_lost(fs_, directory)
            : sealed_ ? why_more_are_lost(fs_, directory, log_.store_id(), log_.last_position())
                      : std::string();
        if (!lost.empty()) {
            log_.set_file(segment_name(expected));
            damage(0, lost);
        }
        log_.finish();
        verify_journal();
        verify_manifest();
        ANNALS_TRY_VOID(verify_search_checkpoint(fs_, directory, report_));
        return std::move(report_);
    }

  private:
    void damage(std::uint64_t offset, std::string reason) {
        log_.damage(offset, std::move(reason));
    }

    /// Reads the manifest of a backup. While one is being made, it is that of the one before, which had less.
    Result<void> read_manifest(const std::string& directory) {
        report_.unfinished_backup = fs_.exists(fmt::format("{}/{}", directory, kBackupPartial));
        if (report_.unfinished_backup) {
            return {};
        }
        auto read = read_backup_manifest(fs_, directory);
        if (!read && read.error().code == Errc::usage) {
            return std::move(read.error());
        }
        if (read) {
            manifest_ = *std::move(read);
        } else {
            manifest_fault_ = std::move(read.error().detail);
        }
        return {};
    }

    /// A crash leaves at most the file being written not whole: the other one is durable before that begins.
    void verify_journal() {
        report_.torn_journal = journal_.torn_files == 1;
        if (journal_.torn_files > 1) {
            log_.set_file(ErasureJournal::path_of(0));
            damage(0,
                   "neither this file of the erasure journal nor the other one is whole; "
                   "opening the store finishes their erasures");
        }
    }

    /// Checks what the manifest says of the whole; faults of segments are reported with them.
    void verify_manifest() {
        if (manifest_ && report_.damages.empty() && manifest_->position != log_.last_position()) {
            manifest_fault_ =
                fmt::format("the log ends at position {}, but at {} according to the manifest",
                            log_.last_position().value, manifest_->position.value);
        }
        if (!manifest_fault_.empty()) {
            log_.set_file(std::string(kBackupManifest));
            damage(0, manifest_fault_);
        }
    }

    /// Why `file` is not the segment of the backup; empty: it is, or this is not a backup.
    std::string fault_of(std::uint64_t number, std::string_view file) const {
        if (!manifest_) {
            return {};
        }
        const BackupManifest::Part* const part = manifest_->part(number);
        return part == nullptr ? "is not in the manifest" : part->fault(file);
    }

    std::uint64_t size_of(std::uint64_t number) {
        const auto facts = fs_.facts(segments_ + "/" + segment_name(number));
        return facts ? facts->bytes : 0;
    }

    /// Reads the file in pieces, which names what is unreadable, and sets bytes_ to its mapping, in which such parts are zeros.
    /// Errors: no_store (no descriptor for it).
    Result<bool> read_file(std::uint64_t number) {
        const auto note = [this](std::uint64_t offset, Error error) -> Result<bool> {
            if (error.code == Errc::no_store) {
                return error;
            }
            damage(offset, std::move(error.detail));
            return false;
        };
        const auto file = fs_.open(segments_ + "/" + segment_name(number), FileSystem::Mode::read);
        if (!file) {
            return note(0, file.error());
        }
        const auto size = (*file)->size();
        if (!size) {
            return note(0, size.error());
        }
        std::string piece;
        for (std::uint64_t at = 0; at < *size; at += piece.size()) {
            piece.resize(std::min(kReadBytes, *size - at));
            if (const auto got = (*file)->read(at, piece); !got) {
                damage(at, got.error().detail);
            }
            if (progress_) {
                progress_(report_.bytes + at + piece.size(), total_bytes_);
            }
        }
        report_.bytes += *size;
        data_ = nullptr;
        if (*size > 0) {
            auto mapped = (*file)->map(*size);
            if (!mapped) {
                return note(0, mapped.error());
            }
            data_ = *std::move(mapped);
        }
        part_fault_ = fault_of(number, {data_.get(), *size});
        // What a crash left half blanked is finished by opening.
        data_ = journal_.applied(number, std::move(data_), *size);
        bytes_ = {data_.get(), *size};
        return true;
    }

    Result<void> verify_segment(std::uint64_t number, bool last) {
        const std::string name = segment_name(number);
        log_.set_file(name);
        sealed_ = false;
        ++report_.segments;
        ANNALS_TRY(const bool read, read_file(number));
        if (!read) {
            log_.lose_end();
            return {};
        }
        const auto header = decode_segment_header(bytes_, segments_ + "/" + name);
        if (!header) {
            if (header.error().code == Errc::usage) {
                return header.error();
            }
            damage(0, "no complete segment header; nothing in this segment can be read");
            log_.lose_end();
            return {};
        }
        log_.begin_segment(number, *header);
        const std::size_t damages_before = report_.damages.size();
        if (header->format == SegmentFormat::packed && !unpack(*header)) {
            log_.lose_segment();
            return {};
        }
        const std::string_view bytes = bytes_;

        auto footer = FooterReader::open(bytes, *header);
        if (!footer && footer.error().code == Errc::usage) {
            return Error{Errc::usage, fmt::format("{}: {}", name, footer.error().detail)};
        }
        sealed_ = footer.has_value();
        if (footer) {
            ANNALS_TRY_VOID(log_.verify_frames(bytes.substr(0, footer->offset())));
            if (report_.damages.size() == damages_before) {
                log_.verify_footer(*footer, bytes);
            }
        } else if (!last) {
            // It is unknown where the footer began: the frames end after the last that is found.
            ANNALS_TRY_VOID(log_.verify_frames(bytes.substr(0, frames_end(bytes, header->salt))));
            damage(bytes.size(), "no complete footer");
        } else {
            const SegmentScan scan = scan_segment(bytes, *header);
            // The last whole frame may end in zeros, after which a torn one may have begun.
            ANNALS_TRY_VOID(log_.verify_frames(bytes.substr(
                0, scan.witness ? std::max(scan.garbage_end, frames_end(bytes, header->salt))
                                : scan.end)));
            report_.torn_bytes += scan.witness ? 0 : scan.garbage_end - scan.end;
        }
        return {};
    }

    /// Sets bytes_, the file of a packed segment, to its image. False: it has none.
    bool unpack(const SegmentHeader& header) {
        const auto note = [this](std::uint64_t offset, std::string_view why) {
            damage(offset, std::string(why));
        };
        const auto packed = PackedSegment::open(header, data_, bytes_.size(), note);
        if (!packed) {
            return false;
        }
        auto image = (*packed)->image(note);
        if (!image) {
            return false;
        }
        // An erased version must not live on in the dictionary.
        for (const std::uint64_t source : (*packed)->sources()) {
            const auto record = decode_record({image->get(), (*packed)->frames_end()}, source);
            if (record && record->bodiless) {
                damage(source, "the dictionary contains pieces of an erased version");
            }
        }
        data_ = *std::move(image);
        bytes_ = {data_.get(), (*packed)->image_bytes()};
        return true;
    }

    FileSystem& fs_;
    std::string segments_;
    ErasureJournal::Content journal_;
    std::optional<BackupManifest> manifest_;  ///< of a backup that was finished
    std::string manifest_fault_;
    const VerifyProgress& progress_;
    VerifyReport report_;
    LogCheck log_{report_};
    std::uint64_t total_bytes_ = 0;

    // Of the current segment.
    std::string part_fault_;            ///< why it is not that of the backup
    std::shared_ptr<const char> data_;  ///< owns bytes_
    std::string_view bytes_;
    bool sealed_ = false;
};

}  // namespace

Result<VerifyReport> verify(FileSystem& fs, const std::string& directory,
                            const VerifyProgress& progress) {
    const std::string segments = directory + "/segments";
    if (!fs.exists(segments)) {
        return Error{Errc::usage, fmt::format("{}: there is no store", directory)};
    }
    return Verification(fs, segments, progress).run(directory);
}

}  // namespace annals::storage
