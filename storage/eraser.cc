#include "storage/eraser.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "storage/packed_segment.h"
#include "storage/segment_footer.h"
#include "storage/segment_writer.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace annals::storage {
namespace {

/// How many bodies one writing of the journal covers.
constexpr std::size_t kGroup = 4096;

/// A packed segment that has been replaced this often is unpacked with the next erasure: in a plain one erasures cost next to
/// nothing.
constexpr int kReplacedMax = 8;

/// How long readers are waited for: one that takes longer has a client that is slow to take its answer, and somebody waits for
/// the erasure.
constexpr auto kReadersGrace = std::chrono::milliseconds(250);
constexpr auto kReadersPause = std::chrono::microseconds(200);

/// The file of a packed segment, converted to a plain one without the bodies of some records.
Result<std::string> unpack_without(const Segment& segment, std::span<const std::uint64_t> records) {
    ANNALS_TRY(const std::shared_ptr<const char> image, segment.packed->image());
    std::string bytes(image.get(), segment.packed->image_bytes());
    for (const std::uint64_t record : records) {
        if (const auto whole = decode_record(bytes, record); !whole) {
            return damaged_at(segment.header.number, record, whole.error().detail);
        }
        blank_record(bytes, record);
    }
    const std::uint64_t end = segment.packed->frames_end();
    ANNALS_CHECK(restore_checksums(bytes.data(), kSegmentHeaderBytes, end, segment.header.salt) ==
                 end);
    return bytes;
}

/// Total size of the bodies that are gone from `segment`, the file of a plain one with this header; includes those erased while
/// it was packed, which took no space there.
Result<std::uint64_t> count_gone(std::string_view segment, const SegmentHeader& header) {
    ANNALS_TRY(const FooterReader footer, FooterReader::open(segment, header));
    std::uint64_t gone = 0;
    footer.for_each([&](const Hint& hint) {
        const auto record = parse_record(segment, hint.offset);
        gone += record && record->bodiless ? record->body.size() : 0;
    });
    return gone;
}

}  // namespace

Eraser::Eraser(const OpenLog& log, ErasureJournal::Content journal)
    : log_(log),
      segments_(log.directory + "/segments"),
      journal_(log.fs, log.directory, journal.sequence),
      done_(std::move(journal)) {
    if (done_.left) {
        begun_ = done_;
    }
}

void Eraser::set_dead_bytes(std::uint64_t segment, std::uint64_t bytes) {
    dead_bytes_changed_ = true;
    if (bytes == 0) {
        done_.dead_bytes.erase(segment);
    } else {
        done_.dead_bytes[segment] = bytes;
    }
}

Result<std::uint64_t> Eraser::blank(std::span<const Position> erased, std::uint64_t erases) {
    // What an earlier attempt left half done would look damaged.
    ANNALS_TRY_VOID(apply_begun());
    ANNALS_TRY(std::uint64_t bodies, blank_packed(erased));
    while (erased.size() > kGroup) {
        ANNALS_TRY(const std::uint64_t some, blank_group(erased.first(kGroup), 0));
        bodies += some;
        erased = erased.subspan(kGroup);
    }
    ANNALS_TRY(const std::uint64_t rest, blank_group(erased, erases));
    return bodies + rest;
}

Result<std::uint64_t> Eraser::blank_group(std::span<const Position> erased, std::uint64_t erases) {
    std::vector<Blanking> blankings = plan(erased);
    ErasureJournal::Content next{.sequence = 0,
                                 .erases_done = done_.erases_done + erases,
                                 .blankings = std::move(blankings),
                                 .dead_bytes = done_.dead_bytes};
    for (const Blanking& blanking : next.blankings) {
        next.dead_bytes[blanking.segment] += blanking.body_bytes;
    }
    ANNALS_TRY_VOID(journal_.write(next));
    begun_ = std::move(next);
    ANNALS_TRY_VOID(apply_begun());
    done_.erases_done += erases;
    return done_.blankings.size();
}

Result<void> Eraser::apply_begun() {
    if (!begun_) {
        return {};
    }
    ANNALS_TRY_VOID(apply(begun_->blankings));
    // Its erases don't count yet: the caller, who was told of the failure, repeats them.
    done_.blankings = std::move(begun_->blankings);
    done_.dead_bytes = std::move(begun_->dead_bytes);
    begun_.reset();
    return {};
}

/// Erases the bodies in packed segments, replacing each segment once.
Result<std::uint64_t> Eraser::blank_packed(std::span<const Position> erased) {
    std::map<std::uint32_t, std::vector<std::uint64_t>> records;  // by slot
    std::uint64_t bodies = 0;
    for (const Location& place : places_of(erased)) {
        const Segment* segment = log_.table.find(place.segment);
        if (segment == nullptr || segment->packed == nullptr) {
            continue;
        }
        const auto part = segment->packed->read(place.offset);
        const auto record = part ? parse_record(part->view(), place.offset - part->offset)
                                 : Result<Record>(part.error());
        if (!record) {
            note_damage(*segment, place.offset);
        } else if (!record->body.empty() && !record->bodiless) {
            records[place.segment].push_back(place.offset);
        }
    }
    for (const auto& [slot, offsets] : records) {
        const auto done = replace_packed(slot, offsets);
        if (done) {
            bodies += offsets.size();
        } else if (done.error().code == Errc::corrupt) {
            note_damage(*log_.table.find(slot), offsets.front());
        } else {
            return done.error();
        }
    }
    return bodies;
}

void Eraser::note_damage(const Segment& segment, std::uint64_t offset) {
    damage_ = damaged_at(segment.header.number, offset,
                         "damaged: erased data here cannot be told from other data, and stays");
    log_error(fmt::format("erase: {}", damage_->detail));
}

Result<void> Eraser::replace_packed(std::uint32_t slot, std::span<const std::uint64_t> records) {
    const Segment old = *log_.table.find(slot);
    const std::uint64_t number = old.header.number;
    Replaced& replaced = replaced_[number];
    replaced.last = std::chrono::steady_clock::now();
    ANNALS_TRY(const std::string packed, old.packed->without(records));
    if (!packed.empty() && ++replaced.times <= kReplacedMax) {
        return replace(old, SegmentFormat::packed, packed);
    }
    // The next time that the segment is packed, a new dictionary is chosen.
    ANNALS_TRY(const std::string plain, unpack_without(old, records));
    ANNALS_TRY(const std::uint64_t dead, count_gone(plain, old.header));
    Result<void> done = replace(old, SegmentFormat::plain, plain);
    if (!done && done.error().code == Errc::no_store && !packed.empty()) {
        return replace(old, SegmentFormat::packed, packed);
    }
    ANNALS_TRY_VOID(std::move(done));
    replaced.times = 0;
    set_dead_bytes(number, dead);
    return {};
}

/// At every moment one of the two files is the segment, and either is whole.
Result<void> Eraser::replace(const Segment& old, SegmentFormat format, std::string_view bytes) {
    const std::string draft = segments_ + "/copy.tmp";
    ANNALS_TRY(const auto file, create_anew(log_.fs, draft));
    if (auto done = write_large(*file, bytes); !done) {
        (void)log_.fs.remove(draft);
        return done;
    }
    ANNALS_TRY_VOID(file->sync());
    ANNALS_TRY(std::shared_ptr<const char> data, file->map(bytes.size()));
    SegmentHeader header = old.header;
    header.format = format;
    ANNALS_TRY(Segment segment, make_segment(header, std::move(data), bytes.size()));
    {
        // A backup takes one file or the other, and knows which.
        const std::lock_guard lock(log_.files.mutex);
        ANNALS_TRY_VOID(log_.fs.rename(draft, segments_ + "/" + segment_name(header.number)));
        ANNALS_TRY_VOID(log_.fs.sync_directory(segments_));
    }
    if (auto switched = switch_segment(log_.table, log_.index, std::move(segment)); !switched) {
        // Damage here can't be ignored: the file being read no longer has the segment's name.
        return Error{Errc::io, std::move(switched.error().detail)};
    }
    log_.writer.add_log_bytes(bytes.size() - old.bytes);
    return {};
}

bool Eraser::is_warm(std::uint64_t segment, std::chrono::microseconds for_so_long) const {
    const auto found = replaced_.find(segment);
    return found != replaced_.end() &&
           std::chrono::steady_clock::now() < found->second.last + for_so_long;
}

Result<void> Eraser::finish() {
    if (done_.blankings.empty() && !dead_bytes_changed_) {
        return {};
    }
    done_.blankings.clear();
    return journal_.write(done_);
}

/// The records whose bodies are to be erased, in order: those of the versions, and of the requests that wrote them,
/// since a client's request id may identify a person.
std::vector<Location> Eraser::places_of(std::span<const Position> erased) const {
    std::vector<Location> places;
    places.reserve(erased.size());
    Position begin{1};
    Position end;  // [begin, end] is one commit, which has been handled
    for (const Position position : erased) {
        places.push_back(log_.index.location(position));
        if (position >= begin && position <= end) {
            continue;
        }
        begin = position;
        end = log_.index.commit_end(position);
        if (const auto request = find_request(log_.table, log_.index, end)) {
            places.push_back(request->place);
        }
    }
    const auto order = [](const Location& place) { return std::pair(place.segment, place.offset); };
    std::ranges::sort(places, {}, order);
    const auto again = std::ranges::unique(places, {}, order);
    places.erase(again.begin(), again.end());
    return places;
}

std::vector<Blanking> Eraser::plan(std::span<const Position> erased) {
    const std::vector<Location> places = places_of(erased);
    std::vector<Blanking> blankings;
    for (std::span<const Location> left(places); !left.empty();) {
        const Segment* segment = log_.table.find(left.front().segment);
        const bool plain = segment != nullptr && segment->packed == nullptr;
        left = left.subspan(plain ? plan_frame(*segment, left, blankings) : 1);
    }
    return blankings;
}

/// Plans the blankings of the frame of `segment` that contains the first of `places`; returns how many of `places` are in it.
std::size_t Eraser::plan_frame(const Segment& segment, std::span<const Location> places,
                               std::vector<Blanking>& blankings) {
    const std::string_view bytes = segment.view();
    const Location& first = places.front();
    const auto frame_offset = frame_around(bytes, first.offset, segment.header.salt);
    if (!frame_offset) {
        note_damage(segment, first.offset);
        return 1;
    }
    const auto header = peek_frame(bytes.substr(*frame_offset), segment.header.salt);
    std::string frame(bytes.substr(*frame_offset, header->length));
    const auto checksum = [&] {
        return hash64(std::string_view(frame).substr(8), segment.header.salt);
    };
    // A frame that is damaged elsewhere stays damaged: its checksum must not become right.
    const bool whole = load_le<std::uint64_t>(frame.data()) == checksum();
    const std::size_t begin = blankings.size();
    std::size_t count = 0;
    for (; count < places.size() && places[count].segment == first.segment &&
           places[count].offset < *frame_offset + header->length;
         ++count) {
        const std::uint64_t offset = places[count].offset;
        const auto record = decode_record(bytes, offset);
        if (!record) {
            note_damage(segment, offset);
            continue;
        }
        if (record->body.empty() || record->bodiless) {
            continue;
        }
        const std::uint64_t inside = offset - *frame_offset;
        blank_record(frame, inside);
        blankings.push_back({.segment = segment.header.number,
                             .salt = segment.header.salt,
                             .frame_offset = *frame_offset,
                             .frame_checksum = load_le<std::uint64_t>(frame.data()),
                             .record_offset = offset,
                             .record_checksum = load_le<std::uint64_t>(frame.data() + inside),
                             .record_bytes = load_le<std::uint32_t>(frame.data() + inside + 8),
                             .body_bytes = static_cast<std::uint32_t>(record->body.size())});
    }
    if (whole && begin < blankings.size()) {
        const std::uint64_t right = checksum();
        for (Blanking& blanking : std::span(blankings).subspan(begin)) {
            blanking.frame_checksum = right;
        }
    }
    return count;
}

/// Lets answers under way finish: waits for readers that found a version before it was erased.
void Eraser::await_readers(std::span<const Blanking> blankings) {
    std::vector<Segment::Holds> held;
    for (std::size_t i = 0; i < blankings.size(); ++i) {
        const std::uint64_t number = blankings[i].segment;
        const auto slot = log_.table.slot_of(number);
        if (slot && (i == 0 || blankings[i - 1].segment != number)) {
            held.push_back(log_.table.renew_holds(*slot));
        }
    }
    const auto deadline = std::chrono::steady_clock::now() + kReadersGrace;
    const auto is_read = [](const Segment::Holds& holds) {
        return std::ranges::any_of(holds, [](const auto& hold) { return hold.use_count() > 1; });
    };
    while (std::ranges::any_of(held, is_read) && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(kReadersPause);
    }
}

Result<void> Eraser::apply(std::span<const Blanking> blankings) {
    await_readers(blankings);
    for (std::size_t begin = 0; begin < blankings.size();) {
        const std::uint64_t number = blankings[begin].segment;
        std::size_t end = begin;
        while (end < blankings.size() && blankings[end].segment == number) {
            ++end;
        }
        // Nobody may give the file another name between the check of how many it has and the sync.
        std::unique_lock lock(log_.files.mutex);
        if (number != log_.writer.open_number()) {
            auto copied = break_links(log_.fs, segments_, number);
            if (!copied || *copied) {
                copied_.insert(number);
            }
            ANNALS_TRY(const bool linked, std::move(copied));
            if (!linked && copied_.contains(number)) {
                // An earlier attempt gave the name to a copy, and perhaps didn't get this far.
                ANNALS_TRY_VOID(log_.fs.sync_directory(segments_));
            }
        }
        const std::string path = segments_ + "/" + segment_name(number);
        ANNALS_TRY(const auto file, log_.fs.open(path, FileSystem::Mode::read_write));
        log_.files.unsynced.insert(number);
        ANNALS_TRY_VOID(apply_blankings(*file, blankings.subspan(begin, end - begin)));
        ANNALS_TRY_VOID(file->sync());
        log_.files.unsynced.erase(number);
        lock.unlock();
        if (copied_.contains(number)) {
            ANNALS_TRY(const std::uint64_t bytes, file->size());
            ANNALS_TRY(std::shared_ptr<const char> data, file->map(bytes));
            ANNALS_TRY(const SegmentHeader header,
                       decode_segment_header({data.get(), bytes}, path));
            ANNALS_TRY_VOID(
                switch_segment(log_.table, log_.index, {header, std::move(data), bytes}));
            copied_.erase(number);
        }
        begin = end;
    }
    return {};
}

}  // namespace annals::storage
