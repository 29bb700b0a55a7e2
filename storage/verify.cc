#include "storage/verify.h"

#include "core/base/bytes.h"
#include "storage/backup_manifest.h"
#include "storage/erasure_journal.h"
#include "storage/index.h"
#include "storage/lost_segments.h"
#include "storage/packed_segment.h"
#include "storage/segment.h"
#include "storage/segment_folder.h"
#include "storage/segment_footer.h"
#include "storage/verify_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace annals::storage {

namespace {

constexpr std::uint64_t kReadBytes = 4 << 20;

/// So many missing segments side by side are named one by one.
constexpr std::uint64_t kMissingNamedMax = 100;
constexpr std::uint32_t kFrameMagic = 0x4d52'4641;  // "AFRM"

bool known(Method method) noexcept {
    return method >= Method::post && method <= Method::history;
}

bool known(Erase::Scope scope) noexcept {
    return scope >= Erase::Scope::version && scope <= Erase::Scope::through;
}

bool same(const Hint& a, const Hint& b) noexcept {
    const bool same_kind = a.kind == RecordKind::erase ? a.scope == b.scope : a.method == b.method;
    return a.kind == b.kind && same_kind && a.key == b.key && a.type == b.type &&
           a.deletion == b.deletion && a.version == b.version && a.instant == b.instant &&
           a.position == b.position && a.offset == b.offset && a.size == b.size &&
           std::ranges::equal(a.terms, b.terms);
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
                name_ = segment_name(expected);
                const bool last = named == kMissingNamedMax && expected + 1 < before;
                damage(0, last ? fmt::format("the segment is missing, and so are all up to {}",
                                             segment_name(before - 1))
                               : "the segment is missing");
                expected = last ? before : expected + 1;
                lost_ = true;
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
        const std::string lost = numbers.empty() ? why_all_are_lost(fs_, directory)
                                 : sealed_
                                     ? why_more_are_lost(fs_, directory, store_id_, {next_ - 1})
                                     : std::string();
        if (!lost.empty()) {
            name_ = segment_name(expected);
            damage(0, lost);
        }
        // Where records are missing, the erase may be among them.
        const bool complete = report_.damages.empty();
        for (const Bodiless& version : bodiless_) {
            if (complete && !index_.link(version.position).erased) {
                name_ = segment_name(version.segment);
                damage(version.offset, "the body of a version that nothing erased is gone");
            }
        }
        report_.bodies_gone = bodiless_.size();
        for (std::uint64_t p = 1; p <= has_body_.size(); ++p) {
            report_.bodies_left += has_body_[p - 1] && index_.link({p}).erased ? 1 : 0;
        }
        const Totals totals = index_.totals({});
        report_.visible_versions = totals.versions;
        report_.resources = totals.resources;
        report_.live = totals.live;
        verify_manifest();
        verify_search_checkpoint(fs_, directory, report_);
        return std::move(report_);
    }

  private:
    void damage(std::uint64_t offset, std::string reason) {
        report_.damages.push_back({name_, offset, std::move(reason)});
    }

    /// That of a backup. While one is being made it is of the one before, which had less.
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

    /// What is amiss with a segment is said of it.
    void verify_manifest() {
        if (manifest_ && report_.damages.empty() && manifest_->position.value + 1 != next_) {
            manifest_fault_ = fmt::format("the log ends at position {}, and at {} in the manifest",
                                          next_ - 1, manifest_->position.value);
        }
        if (!manifest_fault_.empty()) {
            name_ = kBackupManifest;
            damage(0, manifest_fault_);
        }
    }

    /// Why the file in bytes_ is not the one of the backup; empty: it is, or this is none.
    std::string fault_of(std::uint64_t number) const {
        if (!manifest_) {
            return {};
        }
        const BackupManifest::Part* const part = manifest_->part(number);
        return part == nullptr ? "is not in the manifest" : part->fault(bytes_);
    }

    std::uint64_t size_of(std::uint64_t number) {
        const auto file = fs_.open(segments_ + "/" + segment_name(number), FileSystem::Mode::read);
        if (!file) {
            return 0;
        }
        const auto size = (*file)->size();
        return size ? *size : 0;
    }

    /// Reads the file into bytes_; what can't be read is damage and stays zero.
    bool read_file(std::uint64_t number) {
        const auto file = fs_.open(segments_ + "/" + name_, FileSystem::Mode::read);
        if (!file) {
            damage(0, file.error().detail);
            return false;
        }
        const auto size = (*file)->size();
        if (!size) {
            damage(0, size.error().detail);
            return false;
        }
        bytes_.assign(*size, '\0');
        for (std::uint64_t at = 0; at < *size; at += kReadBytes) {
            const std::uint64_t wanted = std::min(kReadBytes, *size - at);
            if (const auto got = (*file)->read(at, {bytes_.data() + at, wanted}); !got) {
                damage(at, got.error().detail);
            }
            if (progress_) {
                progress_(report_.bytes + at + wanted, total_bytes_);
            }
        }
        report_.bytes += *size;
        part_fault_ = fault_of(number);
        // What a crash left half blanked, opening finishes.
        const std::shared_ptr<const char> read(bytes_.data(), [](const char*) {});
        if (const auto whole = journal_.applied(number, read, *size); whole != read) {
            bytes_.assign(whole.get(), *size);
        }
        return true;
    }

    Result<void> verify_segment(std::uint64_t number, bool last) {
        name_ = segment_name(number);
        sealed_ = false;
        ++report_.segments;
        if (!read_file(number)) {
            lost_ = true;
            return {};
        }
        const auto header = decode_segment_header(bytes_, segments_ + "/" + name_);
        if (!header) {
            if (header.error().code == Errc::usage) {
                return header.error();
            }
            damage(0, "no whole segment header; nothing of this segment can be read");
            lost_ = true;
            return {};
        }
        header_ = *header;
        if (header_.number != number) {
            damage(24, fmt::format("the header is that of segment {}", header_.number));
        }
        if (store_id_ != 0 && header_.store_id != store_id_) {
            damage(16, "the segment is of another store");
        }
        store_id_ = header_.store_id;
        if (header_.first_position.value != next_ &&
            (!lost_ || header_.first_position.value < next_)) {
            damage(32, fmt::format("the first position is {}, expected {}",
                                   header_.first_position.value, next_));
        }
        next_ = std::max(next_, header_.first_position.value);
        if (header_.last_instant != last_instant_ && !lost_) {
            damage(48, "the instant before this segment is not that of the last commit");
        }
        last_instant_ = std::max(last_instant_, header_.last_instant);
        lost_ = false;
        const std::size_t damages_before = report_.damages.size();
        if (header_.format == SegmentFormat::packed && !unpack()) {
            lost_ = true;
            incomplete_ = true;
            return {};
        }
        const std::string_view bytes = bytes_;

        auto footer = FooterReader::open(bytes, header_);
        if (!footer && footer.error().code == Errc::usage) {
            return Error{Errc::usage, fmt::format("{}: {}", name_, footer.error().detail), {}};
        }
        hints_.clear();
        sealed_ = footer.has_value();
        if (footer) {
            verify_frames(footer->offset());
            if (report_.damages.size() == damages_before) {
                verify_footer(*footer);
            }
        } else if (!last) {
            // Where the footer began is not known: the frames end where no more is found.
            verify_frames(scan_end(bytes));
            damage(bytes.size(), "no whole footer");
        } else {
            const SegmentScan scan = scan_segment(bytes, header_);
            verify_frames(scan.witness ? scan.garbage_end : scan.end);
            report_.torn_bytes += scan.witness ? 0 : scan.garbage_end - scan.end;
        }
        return {};
    }

    /// Puts the image of a packed segment in the place of its file. False: there is none.
    bool unpack() {
        const auto note = [this](std::uint64_t offset, std::string_view why) {
            damage(offset, std::string(why));
        };
        const std::shared_ptr<const char> file(bytes_.data(), [](const char*) {});
        const auto packed = PackedSegment::open(header_, file, bytes_.size(), note);
        if (!packed) {
            return false;
        }
        const auto image = (*packed)->image(note);
        if (!image) {
            return false;
        }
        // An erased version must not live on in the dictionary.
        for (const std::uint64_t source : (*packed)->sources()) {
            const auto record = decode_record({image->get(), (*packed)->frames_end()}, source);
            if (record && record->bodiless) {
                damage(source, "the dictionary has pieces of an erased version");
            }
        }
        bytes_.assign(image->get(), (*packed)->image_bytes());
        return true;
    }

    /// The end of the last whole frame, wherever it is.
    std::uint64_t scan_end(std::string_view bytes) const {
        std::uint64_t end = kSegmentHeaderBytes;
        while (const auto frame = find_frame(bytes, end, header_.salt)) {
            end = frame->offset + frame->header.length;
        }
        return end;
    }

    /// Verifies what lies between the segment's header and `end`, which frames fill without a gap.
    void verify_frames(std::uint64_t end) {
        const std::string_view bytes = std::string_view(bytes_).substr(0, end);
        std::uint64_t at = kSegmentHeaderBytes;
        while (at < end) {
            if (const auto frame = decode_frame(bytes.substr(at), header_.salt)) {
                verify_frame(bytes, {at, *frame});
                at += frame->length;
                continue;
            }
            const auto next = find_frame(bytes, at + kAlignment, header_.salt);
            std::string lost;
            if (next && next->header.first_position.value > next_) {
                lost = fmt::format("; positions {} to {} are lost", next_,
                                   next->header.first_position.value - 1);
                next_ = next->header.first_position.value;
            }
            lost_ = lost_ || !next;
            incomplete_ = true;
            damage_within_frame(bytes, at, lost);
            at = next ? next->offset : end;
        }
    }

    /// Names the damaged records of the frame that began at `at`, or the frame if it is not so plain.
    void damage_within_frame(std::string_view bytes, std::uint64_t at, const std::string& lost) {
        const std::size_t before = report_.damages.size();
        if (bytes.size() - at >= kFrameHeaderBytes &&
            load_le<std::uint32_t>(bytes.data() + at + 8) == kFrameMagic) {
            const FrameHeader claimed{
                .length =
                    std::min(load_le<std::uint64_t>(bytes.data() + at + 16), bytes.size() - at),
                .first_position = {},
                .instant = {},
                .synced_offset = 0,
                .record_count = load_le<std::uint32_t>(bytes.data() + at + 48)};
            std::uint64_t record = at + kFrameHeaderBytes;
            for (std::uint32_t i = 0; i < claimed.record_count && record < at + claimed.length;
                 ++i) {
                if (!decode_record(bytes, record)) {
                    damage(record,
                           "damaged record of the frame at offset " + std::to_string(at) + lost);
                    break;
                }
                record += padded(load_le<std::uint32_t>(bytes.data() + record + 8));
            }
        }
        if (report_.damages.size() == before) {
            damage(at, "no whole frame" + lost);
        }
    }

    void verify_frame(std::string_view bytes, const FrameAt& frame) {
        if (frame.header.synced_offset > frame.offset) {
            damage(frame.offset + 40, "frame that was written before what it calls durable");
        }
        if (frame.header.first_position.value != next_) {
            damage(frame.offset + 24, fmt::format("the first position is {}, expected {}",
                                                  frame.header.first_position.value, next_));
            next_ = std::max(next_, frame.header.first_position.value);
        }
        if (frame.header.instant < last_instant_) {
            damage(frame.offset + 32, "commit that is older than the one before");
        }
        last_instant_ = std::max(last_instant_, frame.header.instant);
        report_.commits += frame.header.record_count == 0 ? 0 : 1;

        RecordReader reader(bytes, frame.offset, frame.header);
        std::uint64_t end = frame.offset + kFrameHeaderBytes;
        while (true) {
            const auto read = reader.next();
            if (!read) {
                damage(reader.offset(), read.error().detail);
                incomplete_ = true;
                return;
            }
            if (!*read) {
                break;
            }
            end = reader.offset() + reader.size();
            verify_record(**read, reader.offset(), reader.size());
        }
        if (end > frame.offset + frame.header.length) {
            damage(frame.offset + 16, "frame that ends before its records");
        }
    }

    void verify_record(const Record& record, std::uint64_t offset, std::uint64_t size) {
        const auto type = find_resource_type(record.type);
        if (!type || !is_resource_id(record.id)) {
            damage(offset, "record that names no resource");
            return;
        }
        Hint hint = hint_of(record, *type, resource_key(store_id_, *type, record.id));
        hint.position = {next_};
        hint.offset = offset;
        hint.size = static_cast<std::uint32_t>(size);
        hints_.push_back(hint);

        const Head head = index_.head(hint.key);
        if (record.kind == RecordKind::erase) {
            ++report_.erases;
            if (!known(record.scope)) {
                damage(offset + 13, "erase of an unknown scope");
                return;
            }
            if (!head.exists && !incomplete_) {
                damage(offset, "erase of a resource that has no versions");
            }
            index_.erase({hint.key, record.scope, record.version});
            return;
        }
        ++report_.versions;
        ++next_;
        report_.deletions += record.deletion ? 1 : 0;
        if (!known(record.method)) {
            damage(offset + 13, "version made by an unknown method");
        }
        if (record.bodiless) {
            if (record.deletion || record.body.find_first_not_of('\0') != std::string_view::npos) {
                damage(offset + 36, "erased version with a body");
            }
        } else if (record.deletion != record.body.empty()) {
            damage(offset + 36,
                   record.deletion ? "deletion with a body" : "version without a body");
        }
        if (record.version.value == 0 || record.version.value > kVersionNumberMax) {
            damage(offset + 16, fmt::format("version number {}", record.version.value));
            return;
        }
        if (head.exists && record.version <= head.version) {
            damage(offset + 16,
                   fmt::format("version {} of {}/{} follows version {}", record.version.value,
                               record.type, record.id, head.version.value));
            return;
        }
        // The index of this check has positions of its own: a damaged store's may have gaps.
        index_.add({.key = hint.key,
                    .type = hint.type,
                    .position = {index_.last_position().value + 1},
                    .version = hint.version,
                    .instant = hint.instant,
                    .deletion = hint.deletion,
                    .location = {}});
        index_.publish({index_.last_position().value + 1});
        has_body_.push_back(!record.deletion && !record.bodiless);
        if (record.bodiless) {
            bodiless_.push_back({index_.last_position(), header_.number, offset});
        }
    }

    /// The footer must say what the data say, hint by hint and in its counts.
    void verify_footer(const FooterReader& footer) {
        std::size_t at = 0;
        bool equal = true;
        FooterBuilder builder(header_.first_position);
        footer.for_each([&](const Hint& hint) {
            if (equal && (at >= hints_.size() || !same(hint, hints_[at]))) {
                equal = false;
                damage(footer.offset(),
                       fmt::format("hint {} of the footer is not what the record at offset {} says",
                                   at, at < hints_.size() ? hints_[at].offset : footer.offset()));
            }
            ++at;
        });
        if (equal && at != hints_.size()) {
            equal = false;
            damage(footer.offset(),
                   fmt::format("the footer has {} hints for {} records", at, hints_.size()));
        }
        if (!equal) {
            return;
        }
        for (const Hint& hint : hints_) {
            builder.add(hint);
        }
        if (std::string_view(bytes_).substr(footer.offset()) !=
            builder.build(footer.offset(), last_instant_, header_.salt)) {
            damage(footer.offset(), "the footer's counts are not those of its records");
        }
    }

    struct Bodiless {
        Position position;  ///< in the index of this check
        std::uint64_t segment = 0;
        std::uint64_t offset = 0;
    };

    FileSystem& fs_;
    std::string segments_;
    ErasureJournal::Content journal_;
    std::optional<BackupManifest> manifest_;  ///< of a backup that was finished
    std::string manifest_fault_;
    std::vector<Bodiless> bodiless_;
    std::vector<bool> has_body_;  ///< by position, from 1
    const VerifyProgress& progress_;
    VerifyReport report_;
    Index index_;
    std::uint64_t total_bytes_ = 0;
    std::uint64_t store_id_ = 0;
    std::uint64_t next_ = 1;  ///< position that the next version must have
    Instant last_instant_;
    bool lost_ = false;        ///< the end of what came before this segment is not known
    bool incomplete_ = false;  ///< records are missing, so that others may seem to hang in the air

    // Of the segment at hand.
    std::string name_;
    std::string part_fault_;  ///< why it is not the one of the backup
    std::string bytes_;
    bool sealed_ = false;
    SegmentHeader header_;
    std::vector<Hint> hints_;
};

}  // namespace

Result<VerifyReport> verify(FileSystem& fs, const std::string& directory,
                            const VerifyProgress& progress) {
    const std::string segments = directory + "/segments";
    if (!fs.exists(segments)) {
        return Error{Errc::usage, fmt::format("{}: there is no store", directory), {}};
    }
    return Verification(fs, segments, progress).run(directory);
}

}  // namespace annals::storage
