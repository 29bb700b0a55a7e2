#include "storage/segment_footer.h"

#include "core/base/bytes.h"
#include "storage/packed_segment.h"
#include "storage/segment.h"

#include <fmt/format.h>

#include <map>

namespace annals::storage {
namespace {

constexpr std::string_view kFooterMagic = "ANNALFTR";
constexpr std::string_view kTrailerMagic = "ANNALEND";
constexpr std::uint8_t kHintDeletion = 1;

// A type's row in the table is at most its length byte and the longest name of FHIR R4 (below 40).
constexpr std::uint64_t kTypeRowBytesMax = 48;

}  // namespace

std::uint16_t FooterBuilder::type_index(TypeId type) {
    for (std::size_t i = 0; i < types_.size(); ++i) {
        if (types_[i] == type) {
            return static_cast<std::uint16_t>(i);
        }
    }
    const std::string_view name = resource_type_name(type);
    types_.push_back(type);
    type_table_ += static_cast<char>(name.size());
    type_table_ += name;
    return static_cast<std::uint16_t>(types_.size() - 1);
}

void FooterBuilder::add(const Hint& hint) {
    ANNALS_CHECK(hint.offset % kAlignment == 0 && hint.offset / kAlignment <= 0xffff'ffff);
    const bool erase = hint.kind == RecordKind::erase;
    char out[kHintBytes] = {};
    store_le(out, hint.key.low);
    store_le(out + 8, hint.key.high);
    store_le(out + 16, hint.instant.us);
    store_le(out + 24, static_cast<std::uint32_t>(hint.version.value));
    store_le(out + 28, static_cast<std::uint32_t>(hint.offset / kAlignment));
    store_le(out + 32, static_cast<std::uint32_t>(hint.position.value - first_position_.value));
    store_le(out + 36, hint.size);
    store_le(out + 40, type_index(hint.type));
    store_le(out + 42, static_cast<std::uint16_t>(hint.terms.size()));
    out[44] = static_cast<char>(hint.kind);
    out[45] = erase ? static_cast<char>(hint.scope) : static_cast<char>(hint.method);
    out[46] = hint.deletion ? char{kHintDeletion} : char{0};
    hints_.append(out, sizeof out);
    terms_.insert(terms_.end(), hint.terms.begin(), hint.terms.end());
    if (erase) {
        ++erases_;
    } else {
        ++versions_;
        first_versions_ += hint.version.value == 1 ? 1 : 0;
    }
}

std::uint64_t FooterBuilder::bytes() const noexcept {
    return kFooterHeaderBytes + padded(type_table_.size()) + hints_.size() +
           terms_.size() * sizeof(std::uint64_t) + kTrailerBytes;
}

std::uint64_t FooterBuilder::bytes_for(std::uint64_t records) noexcept {
    return records * kHintBytes +
           std::min<std::uint64_t>(records, kResourceTypeCount) * kTypeRowBytesMax;
}

std::uint64_t FooterBuilder::dead_bytes() const {
    if (erases_ == 0) {
        return 0;
    }
    std::map<Hash128, std::map<std::uint32_t, std::pair<std::uint32_t, bool>>> living;
    std::uint64_t dead = 0;
    for (std::size_t at = 0; at < hints_.size(); at += kHintBytes) {
        const char* in = hints_.data() + at;
        auto& versions = living[{load_le<std::uint64_t>(in), load_le<std::uint64_t>(in + 8)}];
        const auto number = load_le<std::uint32_t>(in + 24);
        if (static_cast<RecordKind>(in[44]) == RecordKind::version) {
            versions[number] = {load_le<std::uint32_t>(in + 36), in[46] != 0};
            continue;
        }
        const auto scope = static_cast<Erase::Scope>(in[45]);
        for (auto it = versions.begin(); it != versions.end();) {
            const bool current = std::next(it) == versions.end();
            const bool gone = scope == Erase::Scope::version   ? it->first == number
                              : scope == Erase::Scope::through ? it->first <= number && !current
                              : scope == Erase::Scope::all_but_current
                                  ? !current || it->second.second
                                  : true;
            dead += gone ? it->second.first : 0;
            it = gone ? versions.erase(it) : std::next(it);
        }
    }
    return dead;
}

std::string FooterBuilder::build(std::uint64_t offset, Instant last_instant,
                                 std::uint64_t salt) const {
    std::string out;
    out.reserve(bytes());
    out.append(kFooterMagic);
    append_le(out, bytes());
    append_le(out, versions_);
    append_le(out, erases_);
    append_le(out, first_versions_);
    append_le(out, std::uint64_t{terms_.size()});
    append_le(out, dead_bytes());
    append_le(out, last_instant.us);
    append_le(out, static_cast<std::uint32_t>(types_.size()));
    append_le(out, static_cast<std::uint32_t>(padded(type_table_.size())));
    out.append(type_table_).append(padded(type_table_.size()) - type_table_.size(), '\0');
    out.append(hints_);
    for (const std::uint64_t term : terms_) {
        append_le(out, term);
    }
    append_le(out, offset);
    out.append(kTrailerMagic);
    append_le(out, hash64(out, salt));
    ANNALS_CHECK(out.size() == bytes());
    return out;
}

Result<FooterReader> FooterReader::open(std::string_view bytes, const SegmentHeader& header) {
    const auto corrupt = [&](std::string_view what) {
        return Error{Errc::corrupt, fmt::format("offset {}: {}", bytes.size(), what)};
    };
    if (bytes.size() < kSegmentHeaderBytes + kFooterHeaderBytes + kTrailerBytes) {
        return corrupt("too short for a footer");
    }
    const char* trailer = bytes.data() + bytes.size() - kTrailerBytes;
    const auto offset = load_le<std::uint64_t>(trailer);
    if (std::string_view(trailer + 8, 8) != kTrailerMagic || offset % kAlignment != 0 ||
        offset < kSegmentHeaderBytes ||
        offset > bytes.size() - kTrailerBytes - kFooterHeaderBytes) {
        return corrupt("no footer");
    }
    return parse(bytes.substr(offset), offset, header);
}

Result<FooterReader> FooterReader::open(const Segment& segment) {
    if (segment.packed == nullptr) {
        return open(segment.view(), segment.header);
    }
    ANNALS_TRY(std::string bytes, segment.packed->footer());
    auto owned = std::make_shared<const std::string>(std::move(bytes));
    ANNALS_TRY(FooterReader reader, parse(*owned, segment.packed->frames_end(), segment.header));
    reader.unpacked_ = std::move(owned);
    return reader;
}

/// Parses `footer`, which has at least footer header and trailer and is at `offset` of its segment.
Result<FooterReader> FooterReader::parse(std::string_view footer, std::uint64_t offset,
                                         const SegmentHeader& header) {
    const auto corrupt = [&](std::string_view what) {
        return Error{Errc::corrupt, fmt::format("offset {}: {}", offset + footer.size(), what)};
    };
    const char* trailer = footer.data() + footer.size() - kTrailerBytes;
    if (load_le<std::uint64_t>(trailer) != offset ||
        load_le<std::uint64_t>(trailer + 16) !=
            hash64(footer.substr(0, footer.size() - 8), header.salt)) {
        return corrupt("damaged footer");
    }

    const char* in = footer.data();
    FooterReader reader;
    reader.first_position_ = header.first_position;
    reader.offset_ = offset;
    reader.versions_ = load_le<std::uint64_t>(in + 16);
    reader.erases_ = load_le<std::uint64_t>(in + 24);
    reader.first_versions_ = load_le<std::uint64_t>(in + 32);
    const auto terms = load_le<std::uint64_t>(in + 40);
    reader.last_instant_ = {load_le<std::int64_t>(in + 56)};
    const auto types = load_le<std::uint32_t>(in + 64);
    const auto type_bytes = load_le<std::uint32_t>(in + 68);
    const std::uint64_t records = reader.versions_ + reader.erases_;
    if (!footer.starts_with(kFooterMagic) || reader.versions_ > footer.size() ||
        reader.erases_ > footer.size() || terms > footer.size() ||
        reader.first_versions_ > reader.versions_ || type_bytes % kAlignment != 0 ||
        kFooterHeaderBytes + type_bytes + records * kHintBytes + terms * sizeof(std::uint64_t) +
                kTrailerBytes !=
            footer.size()) {
        return corrupt("footer whose parts do not add up");
    }

    std::string_view table = footer.substr(kFooterHeaderBytes, type_bytes);
    for (std::uint32_t i = 0; i < types; ++i) {
        const std::size_t length = table.empty() ? 0 : static_cast<std::uint8_t>(table.front());
        if (length == 0 || table.size() <= length) {
            return corrupt("footer with a broken type table");
        }
        const std::string_view name = table.substr(1, length);
        const auto type = find_resource_type(name);
        if (!type) {
            return Error{Errc::usage,
                         fmt::format("resource type {} is unknown to this program", name)};
        }
        reader.types_.push_back(*type);
        table.remove_prefix(1 + length);
    }
    reader.hints_ = in + kFooterHeaderBytes + type_bytes;
    const char* terms_at = reader.hints_ + records * kHintBytes;
    reader.terms_ = {reinterpret_cast<const std::uint64_t*>(terms_at), terms};
    if (const std::string_view fault = reader.fault_of_hints(); !fault.empty()) {
        return corrupt(fault);
    }
    return reader;
}

/// What is wrong with the hints; empty: nothing.
std::string_view FooterReader::fault_of_hints() const {
    std::uint64_t terms = 0;
    std::uint64_t versions = 0;
    for (std::uint64_t i = 0; i < versions_ + erases_; ++i) {
        const char* hint = hints_ + i * kHintBytes;
        terms += load_le<std::uint16_t>(hint + 42);
        const auto kind = static_cast<RecordKind>(hint[44]);
        if (kind == RecordKind::version && load_le<std::uint32_t>(hint + 32) != versions) {
            return "footer with a hint out of its position";
        }
        versions += kind == RecordKind::version ? 1 : 0;
        const std::uint64_t begin = std::uint64_t{load_le<std::uint32_t>(hint + 28)} * kAlignment;
        const auto size = load_le<std::uint32_t>(hint + 36);
        if (begin < kSegmentHeaderBytes + kFrameHeaderBytes || size < kRecordHeaderBytes ||
            begin + size > offset_) {
            return "footer with a hint of a record outside the frames";
        }
        if (load_le<std::uint16_t>(hint + 40) >= types_.size() ||
            (kind != RecordKind::version && kind != RecordKind::erase)) {
            return "footer with a hint of no type or kind";
        }
    }
    return terms == terms_.size() && versions == versions_ ? std::string_view()
                                                           : "footer whose hints do not add up";
}

Hint FooterReader::at(std::uint64_t index, std::size_t terms_before) const noexcept {
    const char* in = hints_ + index * kHintBytes;
    Hint hint;
    hint.kind = static_cast<RecordKind>(in[44]);
    hint.key = {load_le<std::uint64_t>(in), load_le<std::uint64_t>(in + 8)};
    hint.instant = {load_le<std::int64_t>(in + 16)};
    hint.version = {load_le<std::uint32_t>(in + 24)};
    hint.offset = std::uint64_t{load_le<std::uint32_t>(in + 28)} * kAlignment;
    hint.position = {first_position_.value + load_le<std::uint32_t>(in + 32)};
    hint.size = load_le<std::uint32_t>(in + 36);
    hint.type = types_[load_le<std::uint16_t>(in + 40)];
    hint.terms = terms_.subspan(terms_before, load_le<std::uint16_t>(in + 42));
    if (hint.kind == RecordKind::erase) {
        hint.scope = static_cast<Erase::Scope>(in[45]);
    } else {
        hint.method = static_cast<Method>(in[45]);
    }
    hint.deletion = (in[46] & char{kHintDeletion}) != 0;
    return hint;
}

}  // namespace annals::storage
