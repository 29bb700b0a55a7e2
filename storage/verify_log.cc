#include "storage/verify_log.h"

#include "core/base/bytes.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::storage {

namespace {

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

}  // namespace

void LogCheck::begin_segment(std::uint64_t number, const SegmentHeader& header) {
    header_ = header;
    hints_.clear();
    if (header_.number != number) {
        damage(kHeaderNumberAt, fmt::format("the header is that of segment {}", header_.number));
    }
    if (store_id_ != 0 && header_.store_id != store_id_) {
        damage(kHeaderStoreIdAt, "the segment belongs to a different store");
    }
    store_id_ = header_.store_id;
    if (header_.first_position.value != next_ && (!lost_ || header_.first_position.value < next_)) {
        damage(kHeaderFirstPositionAt, fmt::format("the first position is {}, expected {}",
                                                   header_.first_position.value, next_));
    }
    next_ = std::max(next_, header_.first_position.value);
    if (header_.last_instant != last_instant_ && !lost_) {
        damage(kHeaderLastInstantAt,
               "the instant before this segment is not that of the last commit");
    }
    last_instant_ = std::max(last_instant_, header_.last_instant);
    lost_ = false;
}

Result<void> LogCheck::verify_frames(std::string_view bytes) {
    std::uint64_t at = kSegmentHeaderBytes;
    while (at < bytes.size()) {
        if (const auto frame = decode_frame(bytes.substr(at), header_.salt)) {
            ANNALS_TRY_VOID(verify_frame(bytes, {at, *frame}));
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
        at = next ? next->offset : bytes.size();
    }
    return {};
}

/// Reports the first damaged record of the frame that began at `at`, or the frame if that isn't possible.
void LogCheck::damage_within_frame(std::string_view bytes, std::uint64_t at,
                                   const std::string& lost) {
    const std::size_t before = report_.damages.size();
    if (bytes.size() - at >= kFrameHeaderBytes &&
        load_le<std::uint32_t>(bytes.data() + at + 8) == kFrameMagic) {
        const FrameHeader claimed = read_frame_header(bytes.data() + at);
        const std::uint64_t end = at + std::min(claimed.length, bytes.size() - at);
        std::uint64_t record = at + kFrameHeaderBytes;
        for (std::uint32_t i = 0; i < claimed.record_count && record < end; ++i) {
            if (!decode_record(bytes, record)) {
                damage(record,
                       "damaged record of the frame at offset " + std::to_string(at) + lost);
                break;
            }
            record += padded(load_le<std::uint32_t>(bytes.data() + record + 8));
        }
    }
    if (report_.damages.size() == before) {
        damage(at, "no intact frame" + lost);
    }
}

Result<void> LogCheck::verify_frame(std::string_view bytes, const FrameAt& frame) {
    if (frame.header.synced_offset > frame.offset) {
        damage(frame.offset + 40, "frame that was written before what it states to be durable");
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
    while (true) {
        const auto read = reader.next();
        if (!read && read.error().code == Errc::usage) {
            return at_record("segments/" + name_, reader.offset(), read.error());
        }
        if (!read) {
            damage(reader.offset(), read.error().detail);
            incomplete_ = true;
            return {};
        }
        if (!*read) {
            break;
        }
        verify_record(**read, reader.offset(), reader.size());
    }
    if (reader.offset() + reader.size() != frame.offset + frame.header.length) {
        damage(frame.offset + 16, "frame that is longer than its records");
    }
    return {};
}

void LogCheck::verify_record(const Record& record, std::uint64_t offset, std::uint64_t size) {
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

    if (record.kind == RecordKind::erase) {
        verify_erase(record, hint);
    } else {
        verify_version(record, hint);
    }
}

void LogCheck::verify_erase(const Record& record, const Hint& hint) {
    ++report_.erases;
    if (!known(record.scope)) {
        damage(hint.offset + 13, "erase of an unknown scope");
        return;
    }
    if (!index_.head(hint.key).exists && !incomplete_) {
        damage(hint.offset, "erase of a resource that has no versions");
    }
    index_.erase({hint.key, record.scope, record.version});
}

void LogCheck::verify_version(const Record& record, const Hint& hint) {
    const std::uint64_t offset = hint.offset;
    ++report_.versions;
    ++next_;
    report_.deletions += record.deletion ? 1 : 0;
    if (!known(record.method)) {
        damage(offset + 13, "version with an unknown method");
    }
    if (record.bodiless) {
        if (record.deletion || record.body.find_first_not_of('\0') != std::string_view::npos) {
            damage(offset + 36, "erased version with a body");
        }
    } else if (record.deletion != record.body.empty()) {
        damage(offset + 36, record.deletion ? "deletion with a body" : "version without a body");
    }
    if (record.version.value == 0 || record.version.value > kVersionNumberMax) {
        damage(offset + 16, fmt::format("version number {}", record.version.value));
        return;
    }
    if (const Head head = index_.head(hint.key); head.exists && record.version <= head.version) {
        damage(offset + 16,
               fmt::format("version {} of {}/{} follows version {}", record.version.value,
                           record.type, record.id, head.version.value));
        return;
    }
    // The index of this check has positions of its own, since a damaged store's may have gaps.
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

void LogCheck::verify_footer(const FooterReader& footer, std::string_view bytes) {
    std::size_t at = 0;
    bool equal = true;
    FooterBuilder builder(header_.first_position);
    footer.for_each([&](const Hint& hint) {
        if (equal && (at >= hints_.size() || !same(hint, hints_[at]))) {
            equal = false;
            damage(footer.offset(),
                   fmt::format("hint {} of the footer is not what the record at offset {} says", at,
                               at < hints_.size() ? hints_[at].offset : footer.offset()));
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
    if (bytes.substr(footer.offset()) !=
        builder.build(footer.offset(), last_instant_, header_.salt)) {
        damage(footer.offset(), "the footer's counts are not those of its records");
    }
}

void LogCheck::finish() {
    // If records are missing, or segments of a backup are older than others, the erase may be among what is missing.
    const bool complete = report_.damages.empty() && !report_.unfinished_backup;
    for (const Bodiless& version : bodiless_) {
        if (complete && !index_.link(version.position).erased) {
            set_file(segment_name(version.segment));
            damage(version.offset, "the body of a version is missing, although nothing erased it");
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
}

}  // namespace annals::storage
