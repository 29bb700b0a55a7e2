#include "storage/recovery.h"

#include "core/base/log.h"
#include "core/base/start_thread.h"
#include "storage/last_segment.h"
#include "storage/lost_segments.h"
#include "storage/packed_segment.h"
#include "storage/parallel.h"
#include "storage/segment_folder.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace annals::storage {
namespace {

constexpr std::size_t kIndexBatch = 4096;

/// A gap in the positions is attributed to at most this many missing segments.
constexpr std::uint64_t kLostSegmentsMax = 1024;

/// Fewer are indexed before a thread would have started.
constexpr std::uint64_t kTouchedVersionsMin = 100'000;

/// A segment on its way from file to index.
struct RecoveredSegment {
    std::string name;
    std::unique_ptr<File> file;
    Segment segment;
    std::uint32_t slot = 0;
    std::optional<FooterReader> footer;
    SegmentScan scan;  ///< without a footer

    // The results of look_at_parts().
    std::optional<Result<FooterReader>> parts;
    /// Of a packed segment that is not valid.
    std::optional<std::pair<std::uint64_t, std::string>> fault;
};

/// Unpacks and verifies the parts at the end of a sealed segment. Any thread.
void look_at_parts(RecoveredSegment& source) {
    Segment& segment = source.segment;
    if (segment.header.format == SegmentFormat::packed) {
        auto packed = PackedSegment::open(segment.header, segment.data, segment.bytes,
                                          [&](std::uint64_t offset, std::string_view why) {
                                              source.fault = {offset, std::string(why)};
                                          });
        if (!packed) {
            return;
        }
        segment.packed = *std::move(packed);
    }
    source.parts = FooterReader::open(segment);
}

class Recovery {
  public:
    Recovery(FileSystem& fs, const std::string& segments, const StoreOptions& options,
             const ErasureJournal::Content& journal, const RecoveryTarget& into)
        : fs_(fs),
          segments_(segments),
          options_(options),
          journal_(journal),
          index_(into.index),
          table_(into.table),
          report_(into.report) {}

    Result<Recovered> run() {
        ANNALS_TRY(const std::vector<std::uint64_t> numbers, segment_numbers(fs_, segments_));
        std::vector<RecoveredSegment> sources;
        for (const std::uint64_t number : numbers) {
            ANNALS_TRY_VOID(open_source(number, number == numbers.back(), sources));
        }
        for_each_of(sources.size(), [&](std::size_t i) { look_at_parts(sources[i]); });
        for (RecoveredSegment& source : sources) {
            ANNALS_TRY_VOID(judge(source));
        }
        std::erase_if(sources,
                      [](const RecoveredSegment& source) { return source.fault.has_value(); });
        ANNALS_TRY_VOID(check_reach(sources));
        const std::jthread toucher = reserve(sources);
        for (std::size_t i = 0; i < sources.size(); ++i) {
            ANNALS_TRY_VOID(load(sources[i], i + 1 == sources.size()));
        }
        index_pending();
        index_.publish(result_.last_position);
        if (result_.erases < journal_.erases_done) {
            // The journal is of another log: what it marks as done has to be checked again.
            for (std::uint64_t p = 1; p <= result_.last_position.value; ++p) {
                if (index_.link({p}).erased) {
                    result_.unblanked.push_back({p});
                }
            }
        }
        if (!options_.read_only) {
            ANNALS_TRY_VOID(fs_.sync_directory(segments_));
            ANNALS_TRY_VOID(remove_unfinished());
        }
        return std::move(result_);
    }

  private:
    /// Records damage if the caller wants to go on; otherwise returns it as an error.
    Result<void> damaged(const std::string& name, std::uint64_t offset, std::string_view reason) {
        if (!options_.read_only || !options_.allow_damaged) {
            return Error{Errc::corrupt,
                         fmt::format("segments/{}: offset {}: {}", name, offset, reason)};
        }
        log_error(fmt::format("segments/{}: offset {}: {}", name, offset, reason));
        report_.damages.push_back({name, offset, std::string(reason)});
        return {};
    }

    Result<void> open_source(std::uint64_t number, bool last,
                             std::vector<RecoveredSegment>& sources) {
        RecoveredSegment source;
        source.name = segment_name(number);
        const std::uint64_t expected = result_.last_number + 1;
        if (number != expected) {
            ANNALS_TRY_VOID(damaged(segment_name(expected), 0, "the segment is missing"));
        }
        if (number > SegmentTable::kSlotMax) {
            return damaged(source.name, 0, "no segment can have this number");
        }
        result_.last_number = number;

        ANNALS_TRY(source.file, fs_.open(segments_ + "/" + source.name,
                                         last && !options_.read_only ? FileSystem::Mode::read_write
                                                                     : FileSystem::Mode::read));
        ANNALS_TRY(const std::uint64_t bytes, source.file->size());
        if (bytes < kSegmentHeaderBytes) {
            return damaged(source.name, 0, "no segment header");
        }
        ANNALS_TRY(source.segment.data, source.file->map(bytes));
        source.segment.bytes = bytes;
        if (!last) {
            source.file
                .reset();  // A store may have more segments than a process may have descriptors.
        }
        if (options_.read_only) {
            source.segment.data = journal_.applied(number, std::move(source.segment.data), bytes);
        }
        const auto header = decode_segment_header(source.segment.view(), source.name);
        if (!header) {
            return damaged(source.name, 0, "no complete segment header");
        }
        source.segment.header = *header;
        if (header->number != number) {
            return damaged(source.name, kHeaderNumberAt,
                           "the header belongs to a different segment");
        }
        if (result_.store_id != 0 && header->store_id != result_.store_id) {
            return damaged(source.name, kHeaderStoreIdAt,
                           "the segment belongs to a different store");
        }
        result_.store_id = header->store_id;
        result_.log_bytes += bytes;

        sources.push_back(std::move(source));
        return {};
    }

    /// Takes over the results of look_at_parts(), and scans a segment that has no footer. A segment with a fault is left out.
    Result<void> judge(RecoveredSegment& source) {
        if (source.fault) {
            return damaged(source.name, source.fault->first, source.fault->second);
        }
        Result<FooterReader>& footer = *source.parts;
        if (!footer && source.segment.packed != nullptr) {
            ANNALS_TRY_VOID(unpack_damaged(source));
        }
        if (footer) {
            source.footer = *std::move(footer);
        } else if (footer.error().code != Errc::corrupt) {
            return Error{footer.error().code,
                         fmt::format("segments/{}: {}", source.name, footer.error().detail)};
        } else {
            if (source.segment.header.number != result_.last_number) {
                ANNALS_TRY_VOID(damaged(source.name, source.segment.bytes, "no complete footer"));
            }
            // If another process writes, a body may be blanked while its frame is checked.
            do {
                source.scan = scan_segment(source.segment.view(), source.segment.header);
            } while (options_.read_only && source.scan.witness &&
                     decode_frame(source.segment.view().substr(source.scan.end),
                                  source.segment.header.salt));
        }
        source.parts.reset();
        return {};
    }

    /// A log that ends before files derived from it has lost segments, unless a power cut may have taken its end.
    Result<void> check_reach(const std::vector<RecoveredSegment>& sources) {
        std::string why;
        if (result_.last_number == 0) {
            why = why_all_are_lost(fs_, directory_of(segments_));
        } else if (!sources.empty() && sources.back().footer &&
                   sources.back().segment.header.number == result_.last_number) {
            const RecoveredSegment& last = sources.back();
            why = why_more_are_lost(
                fs_, directory_of(segments_), result_.store_id,
                {last.segment.header.first_position.value + last.footer->versions() - 1});
        }
        const std::string next = segment_name(result_.last_number + 1);
        // A process that writes may have created it since.
        if (why.empty() || fs_.exists(segments_ + "/" + next)) {
            return {};
        }
        return damaged(next, 0, why);
    }

    /// Continues with the image of a packed segment whose footer is not whole, as far as there is one.
    Result<void> unpack_damaged(RecoveredSegment& source) {
        const std::shared_ptr<const PackedSegment> packed = std::move(source.segment.packed);
        source.segment.packed = nullptr;
        Result<void> outcome;
        ANNALS_TRY(source.segment.data,
                   packed->image([&](std::uint64_t offset, std::string_view why) {
                       if (outcome) {
                           outcome = damaged(source.name, offset, why);
                       }
                   }));
        source.segment.bytes = packed->image_bytes();
        source.segment.header.format = SegmentFormat::plain;
        return outcome;
    }

    /// Makes room in the index. The returned thread works on its memory until it is joined.
    std::jthread reserve(const std::vector<RecoveredSegment>& sources) {
        std::uint64_t versions = 0;
        std::uint64_t resources = 0;
        for (const RecoveredSegment& source : sources) {
            if (source.footer) {
                versions += source.footer->versions();
                resources += source.footer->first_versions();
            } else {
                for (const FrameAt& frame : source.scan.frames) {
                    const std::uint64_t records = std::min<std::uint64_t>(
                        frame.header.record_count, frame.header.length / kRecordHeaderBytes);
                    versions += records;
                    resources += records;
                }
            }
        }
        index_.reserve(versions, resources);
        if (versions < kTouchedVersionsMin) {
            return {};
        }
        auto toucher = start_thread(
            "opening", [this, versions, resources] { index_.touch_reserved(versions, resources); });
        // Without it, each page is provided when it is filled.
        return toucher ? *std::move(toucher) : std::jthread();
    }

    Result<void> load(RecoveredSegment& source, bool last) {
        const SegmentHeader& header = source.segment.header;
        const std::uint64_t next = result_.last_position.value + 1;
        if (header.first_position.value != next) {
            ANNALS_TRY_VOID(damaged(source.name, kHeaderFirstPositionAt,
                                    fmt::format("the first position is {}, expected {}",
                                                header.first_position.value, next)));
            const std::uint64_t segments =
                std::min(header.number - loaded_number_, kLostSegmentsMax);
            const std::uint64_t bytes = std::max(options_.segment_bytes, source.segment.bytes);
            if (!skip_to(header.first_position, segments * bytes)) {
                return {};
            }
        }
        loaded_number_ = header.number;
        result_.last_instant = std::max(result_.last_instant, header.last_instant);
        record_end_ = 0;
        source.slot = table_.insert(source.segment);
        const bool goes_on = last && !options_.read_only;
        return source.footer ? load_sealed(source, goes_on) : load_unsealed(source, goes_on);
    }

    /// `goes_on`: the log is continued after this segment.
    Result<void> load_sealed(const RecoveredSegment& source, bool goes_on) {
        source.footer->for_each([&](const Hint& hint) { feed(hint, source.slot); });
        result_.last_instant = std::max(result_.last_instant, source.footer->last_instant());
        if (!goes_on) {
            return {};
        }
        // A packed segment was durable before it got its name. Any other is rewritten in full, since its frames need
        // not have been synced before its footer.
        return make_durable(
            {source.name, *source.file},
            source.segment.packed == nullptr ? kSegmentHeaderBytes : source.segment.bytes,
            source.segment.bytes, WasDurable::yes);
    }

    /// `goes_on`: the log is continued in this segment.
    Result<void> load_unsealed(RecoveredSegment& source, bool goes_on) {
        const SegmentHeader& header = source.segment.header;
        const SegmentScan& scan = source.scan;
        FooterBuilder builder(header.first_position);
        if (!goes_on) {
            return load_frames(source, builder);
        }
        const LastFile file{source.name, *source.file};
        ANNALS_TRY_VOID(check_end(file, source.segment, scan.end));
        ANNALS_TRY_VOID(load_frames(source, builder));
        ANNALS_TRY_VOID(cut_tail(file, scan));
        report_.torn_bytes_cut += scan.garbage_end - scan.end;
        bool marked = false;
        if (!scan.frames.empty()) {
            const FrameHeader& newest = scan.frames.back().header;
            ANNALS_TRY_VOID(
                make_durable(file, newest.synced_offset, scan.end, WasDurable::perhaps));
            marked = newest.record_count == 0;
        }
        result_.open.emplace(OpenSegment{.header = header,
                                         .slot = source.slot,
                                         .file = std::move(source.file),
                                         .end = scan.end,
                                         .bytes = source.segment.bytes,
                                         .footer = std::move(builder),
                                         .marked = marked});
        return {};
    }

    Result<void> load_frames(const RecoveredSegment& source, FooterBuilder& builder) {
        for (const FrameAt& frame : source.scan.frames) {
            ANNALS_TRY_VOID(load_frame(source, frame, builder));
        }
        const bool sealed = source.segment.header.number != result_.last_number;
        if (!source.scan.witness && !sealed) {
            return {};
        }
        if (source.scan.witness) {
            ANNALS_TRY_VOID(
                damaged(source.name, source.scan.end,
                        fmt::format("no intact frame here, but a later one at offset {} was "
                                    "written after this place had become durable",
                                    *source.scan.witness)));
        }
        std::uint64_t from = source.scan.end;
        while (const auto frame =
                   find_frame(source.segment.view(), from, source.segment.header.salt)) {
            ANNALS_TRY_VOID(load_frame(source, *frame, builder));
            from = frame->offset + frame->header.length;
        }
        return {};
    }

    Result<void> load_frame(const RecoveredSegment& source, const FrameAt& frame,
                            FooterBuilder& builder) {
        const std::uint64_t next = result_.last_position.value + 1;
        if (frame.header.first_position.value != next) {
            ANNALS_TRY_VOID(damaged(source.name, frame.offset,
                                    fmt::format("positions from {} on are missing", next)));
            if (!skip_to(frame.header.first_position, source.segment.bytes)) {
                return {};
            }
        }
        RecordReader reader(source.segment.view(), frame.offset, frame.header);
        while (true) {
            auto read = reader.next();
            if (!read) {
                if (read.error().code == Errc::corrupt) {
                    return damaged(source.name, reader.offset(),
                                   "damaged record in an intact frame");
                }
                return at_record("segments/" + source.name, reader.offset(), read.error());
            }
            if (!*read) {
                break;
            }
            const Record& record = **read;
            if (record.version.value > kVersionNumberMax) {
                return damaged(source.name, reader.offset(), "no version can have this number");
            }
            const auto type = find_resource_type(record.type);
            if (!type) {
                return Error{Errc::usage,
                             fmt::format("segments/{}: resource type {} is unknown to this program",
                                         source.name, record.type)};
            }
            Hint hint = hint_of(record, *type,
                                resource_key(source.segment.header.store_id, *type, record.id));
            hint.position = {result_.last_position.value + 1};
            hint.offset = reader.offset();
            hint.size = static_cast<std::uint32_t>(reader.size());
            builder.add(hint);
            feed(hint, source.slot);
        }
        result_.last_instant = std::max(result_.last_instant, frame.header.instant);
        return {};
    }

    void feed(const Hint& hint, std::uint32_t segment) {
        // Within a frame records are adjacent; between frames there is a header.
        const bool same_commit = hint.offset == record_end_;
        const bool continues = same_commit && commit_has_version_;
        commit_has_version_ = continues || hint.kind == RecordKind::version;
        record_end_ = hint.offset + hint.size;
        if (hint.kind == RecordKind::erase) {
            index_pending();
            index_.erase({hint.key, hint.scope, hint.version},
                         result_.erases < journal_.erases_done ? nullptr : &result_.unblanked);
            ++result_.erases;
            return;
        }
        result_.last_position = hint.position;
        ++report_.versions;
        pending_.push_back({.key = hint.key,
                            .type = hint.type,
                            .position = hint.position,
                            .version = hint.version,
                            .instant = hint.instant,
                            .deletion = hint.deletion,
                            .continues = continues,
                            .location = {segment, hint.offset}});
        if (pending_.size() == kIndexBatch) {
            index_pending();
        }
    }

    void index_pending() {
        index_.add_batch(pending_);
        pending_.clear();
    }

    /// Fills lost positions with versions that are erased at once, since positions have no gap in the index. False if
    /// `position` has been passed, or is further away than `lost_bytes` of records reach.
    bool skip_to(Position position, std::uint64_t lost_bytes) {
        const std::uint64_t next = result_.last_position.value + 1;
        if (position.value < next || position.value - next > lost_bytes / kRecordHeaderBytes) {
            return false;
        }
        index_pending();
        while (result_.last_position.value + 1 < position.value) {
            ++result_.last_position.value;
            const Hash128 key{result_.last_position.value, ~std::uint64_t{0}};
            index_.add({.key = key,
                        .type = {},
                        .position = result_.last_position,
                        .version = {1},
                        .instant = result_.last_instant,
                        .deletion = true,
                        .location = {}});
            index_.erase({key, Erase::Scope::everything, {}});
        }
        return true;
    }

    Result<void> remove_unfinished() {
        ANNALS_TRY(const std::vector<std::string> names, fs_.list(segments_));
        for (const std::string& name : names) {
            if (name.ends_with(".tmp")) {
                ANNALS_TRY_VOID(fs_.remove(segments_ + "/" + name));
            }
        }
        return {};
    }

    FileSystem& fs_;
    const std::string& segments_;
    const StoreOptions& options_;
    const ErasureJournal::Content& journal_;
    Index& index_;
    SegmentTable& table_;
    OpenReport& report_;
    Recovered result_;
    std::uint64_t loaded_number_ = 0;  ///< of the last segment that was indexed
    std::uint64_t record_end_ = 0;     ///< of the last record in the current segment
    bool commit_has_version_ = false;  ///< before record_end_
    std::vector<IndexedVersion> pending_;
};

}  // namespace

Result<Recovered> recover(FileSystem& fs, const std::string& segments, const StoreOptions& options,
                          const ErasureJournal::Content& journal, const RecoveryTarget& into) {
    return Recovery(fs, segments, options, journal, into).run();
}

}  // namespace annals::storage
