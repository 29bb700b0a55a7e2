// The bytes on disk, compared with the files in tests/golden/format, whose contents never change.

#include "storage/format.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "storage/index.h"
#include "storage/packed_segment.h"
#include "storage/segment.h"
#include "storage/segment_footer.h"
#include "storage/segment_packer.h"
#include "tests/support/commits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace annals::storage {
namespace {

using test::type_of;

constexpr std::uint64_t kStoreId = 0x0123'4567'89ab'cdef;
constexpr std::uint64_t kSalt = 0xfeed'face'cafe'beef;
constexpr Instant kInstant{1'767'323'045'678'000};  // 2026-01-02T03:04:05.678Z

std::string hex(std::string_view bytes) {
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[at]));
        text += at % 16 == 15 || at + 1 == bytes.size() ? '\n' : ' ';
    }
    return text;
}

/// The bytes in a golden file: hex text; `#` begins a comment.
std::string golden(const std::string& name) {
    std::ifstream in(std::string(ANNALS_SOURCE_DIR) + "/tests/golden/format/" + name + ".hex");
    EXPECT_TRUE(in) << name;
    std::string bytes;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        for (std::string word; words >> word;) {
            bytes += static_cast<char>(std::stoi(word, nullptr, 16));
        }
    }
    return bytes;
}

SegmentHeader header() {
    return {.store_id = kStoreId,
            .number = 1,
            .first_position = {1},
            .salt = kSalt,
            .last_instant = {0}};
}

std::string encoded_header() {
    std::string bytes(kSegmentHeaderBytes, '\0');
    encode_segment_header(header(), bytes.data());
    return bytes;
}

const std::uint64_t kTerms[] = {0x1111'1111'1111'1111, 0x2222'2222'2222'2222};

Record version_record() {
    Record record;
    record.method = Method::post;
    record.type = "Patient";
    record.id = "a1";
    record.version = {1};
    record.instant = kInstant;
    record.terms = kTerms;
    return record;
}

const std::vector<BodyPiece>& version_body() {
    static const std::vector<BodyPiece> pieces{
        {BodyPiece::Kind::text, R"({"resourceType":"Patient","id":"a1","meta":{"versionId":")"},
        {BodyPiece::Kind::version, {}},
        {BodyPiece::Kind::text, R"(","lastUpdated":")"},
        {BodyPiece::Kind::instant, {}},
        {BodyPiece::Kind::text, R"("}})"}};
    return pieces;
}

Record deletion_record() {
    Record record;
    record.method = Method::deletion;
    record.deletion = true;
    record.type = "Patient";
    record.id = "a1";
    record.version = {2};
    record.instant = kInstant;
    return record;
}

Record erase_record() {
    Record record;
    record.kind = RecordKind::erase;
    record.scope = Erase::Scope::version;
    record.type = "Patient";
    record.id = "a1";
    record.version = {1};
    record.instant = kInstant;
    return record;
}

std::string encoded(const Record& record, std::span<const BodyPiece> body = {}) {
    std::string bytes;
    append_record(record, body, bytes);
    return bytes;
}

std::string encoded_request() {
    const BodyPiece id{BodyPiece::Kind::text, "nightly-load-7"};
    return encoded(request_record(id.text), std::span(&id, 1));
}

/// A frame of `records`, in that order.
std::string frame(const std::vector<std::string>& records, Position first, std::uint64_t synced) {
    std::string bytes(kFrameHeaderBytes, '\0');
    for (const std::string& record : records) {
        bytes += record;
    }
    finish_frame({.length = bytes.size(),
                  .first_position = first,
                  .instant = kInstant,
                  .synced_offset = synced,
                  .record_count = static_cast<std::uint32_t>(records.size())},
                 kSalt, bytes.data());
    return bytes;
}

/// A sealed segment of three commits: a creation, a deletion, and the erasure of the first version.
std::string sealed_segment() {
    std::string bytes = encoded_header();
    FooterBuilder footer({1});
    std::uint64_t position = 1;
    const auto add = [&](const std::vector<Record>& records) {
        std::vector<std::string> encodings;
        std::uint64_t offset = bytes.size() + kFrameHeaderBytes;
        const Position first{position};
        for (const Record& record : records) {
            const bool body = record.kind == RecordKind::version && !record.deletion;
            encodings.push_back(
                encoded(record, body ? version_body() : std::span<const BodyPiece>()));
            Hint hint;
            hint.kind = record.kind;
            hint.key = resource_key(kStoreId, type_of(record.type), record.id);
            hint.type = type_of(record.type);
            hint.method = record.method;
            hint.scope = record.scope;
            hint.deletion = record.deletion;
            hint.version = record.version;
            hint.instant = record.instant;
            hint.position = {position};
            hint.offset = offset;
            hint.size = static_cast<std::uint32_t>(encodings.back().size());
            hint.terms = record.terms;
            footer.add(hint);
            position += record.kind == RecordKind::version ? 1 : 0;
            offset += encodings.back().size();
        }
        bytes += frame(encodings, first, kSegmentHeaderBytes);
    };
    add({version_record()});
    add({deletion_record()});
    add({erase_record()});
    return bytes + footer.build(bytes.size(), kInstant, kSalt);
}

void expect_golden(const std::string& name, const std::string& bytes) {
    EXPECT_EQ(hex(bytes), hex(golden(name))) << name;
}

TEST(Format, KeepsItsBytes) {
    expect_golden("segment_header", encoded_header());
    expect_golden("version", encoded(version_record(), version_body()));
    expect_golden("deletion", encoded(deletion_record()));
    expect_golden("erase", encoded(erase_record()));
    expect_golden("request", encoded_request());
    expect_golden("mark", frame({}, {3}, 4096));
    expect_golden("frame", frame({encoded(deletion_record())}, {2}, 64));
    expect_golden("sealed_segment", sealed_segment());

    std::string erased = encoded(version_record(), version_body());
    blank_record(erased, 0);
    expect_golden("erased_version", erased);
    Record compacted = version_record();
    compacted.bodiless = true;
    expect_golden("compacted_version", encoded(compacted));
}

TEST(Format, ReadsTheGoldenPackedSegment) {
    const std::string bytes = golden("packed_segment");
    const std::shared_ptr<const char> data(bytes.data(), [](const char*) {});
    const auto found = decode_segment_header(bytes, "golden");
    ASSERT_TRUE(found);
    ASSERT_EQ(found->format, SegmentFormat::packed);
    const auto packed = PackedSegment::open(*found, data, bytes.size());
    ASSERT_TRUE(packed) << packed.error().detail;
    EXPECT_FALSE((*packed)->sources().empty());
    const auto image = (*packed)->image();
    ASSERT_TRUE(image) << image.error().detail;
    EXPECT_EQ(hex({image->get(), (*packed)->image_bytes()}), hex(sealed_segment()));
}

TEST(Format, PacksWhatItReads) {
    const std::string plain = sealed_segment();
    SegmentHeader packed_header = header();
    packed_header.format = SegmentFormat::packed;
    // The smallest possible dictionary: no entropy tables, and a piece of the body.
    const std::uint64_t first = kSegmentHeaderBytes + kFrameHeaderBytes;
    const auto record = decode_record(plain, first);
    ASSERT_TRUE(record);
    SegmentPacker packer(packed_header, std::string(record->body.substr(0, 24)));
    const auto footer = FooterReader::open(plain, header());
    ASSERT_TRUE(footer);
    for (const FrameAt& frame : scan_segment(plain, header()).frames) {
        packer.add_frame(std::string_view(plain).substr(frame.offset, frame.header.length));
    }
    std::string bytes = packer.take();
    bytes += packer.finish(std::string_view(plain).substr(footer->offset()), {&first, 1});
    const auto packed =
        PackedSegment::open(packed_header, {bytes.data(), [](const char*) {}}, bytes.size());
    ASSERT_TRUE(packed) << packed.error().detail;
    EXPECT_EQ((*packed)->sources(), std::vector{first});
    EXPECT_EQ(*(*packed)->content(), packer.content());
    const auto image = (*packed)->image();
    ASSERT_TRUE(image) << image.error().detail;
    EXPECT_EQ(hex({image->get(), (*packed)->image_bytes()}), hex(plain));
}

TEST(Format, ReadsTheGoldenSegment) {
    std::string bytes = golden("sealed_segment");
    auto found = decode_segment_header(bytes, "golden");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->store_id, kStoreId);
    EXPECT_EQ(found->number, 1U);
    EXPECT_EQ(found->first_position, Position{1});
    EXPECT_EQ(found->salt, kSalt);

    auto footer = FooterReader::open(bytes, *found);
    ASSERT_TRUE(footer) << footer.error().detail;
    EXPECT_EQ(footer->versions(), 2U);
    EXPECT_EQ(footer->erases(), 1U);
    EXPECT_EQ(footer->first_versions(), 1U);
    EXPECT_EQ(footer->last_instant(), kInstant);

    const SegmentScan scan = scan_segment(bytes, *found);
    EXPECT_EQ(scan.end, footer->offset());
    ASSERT_EQ(scan.frames.size(), 3U);
    std::vector<Record> records;
    std::vector<std::uint64_t> offsets;
    for (const FrameAt& at : scan.frames) {
        RecordReader reader(bytes, at.offset, at.header);
        for (auto record = *reader.next(); record; record = *reader.next()) {
            records.push_back(*record);
            offsets.push_back(reader.offset());
        }
    }
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[0].body, R"({"resourceType":"Patient","id":"a1","meta":{"versionId":"1",)"
                               R"("lastUpdated":"2026-01-02T03:04:05.678Z"}})");
    EXPECT_EQ(records[0].method, Method::post);
    EXPECT_EQ(std::vector(records[0].terms.begin(), records[0].terms.end()),
              std::vector(std::begin(kTerms), std::end(kTerms)));
    EXPECT_TRUE(records[1].deletion);
    EXPECT_EQ(records[1].id, "a1");
    EXPECT_EQ(records[2].kind, RecordKind::erase);
    EXPECT_EQ(records[2].scope, Erase::Scope::version);

    std::size_t n = 0;
    footer->for_each([&](const Hint& hint) {
        ASSERT_LT(n, records.size());
        EXPECT_EQ(hint.offset, offsets[n]);
        EXPECT_EQ(hint.kind, records[n].kind);
        EXPECT_EQ(hint.version, records[n].version);
        EXPECT_EQ(hint.instant, kInstant);
        EXPECT_EQ(hint.deletion, records[n].deletion);
        EXPECT_EQ(hint.terms.size(), records[n].terms.size());
        EXPECT_EQ(hint.key, resource_key(kStoreId, type_of("Patient"), "a1"));
        EXPECT_EQ(hint.position, Position{std::min<std::uint64_t>(n + 1, 3)});
        ++n;
    });
    EXPECT_EQ(n, records.size());
    // The erasure took version 1, which is in this segment.
    EXPECT_EQ(load_le<std::uint64_t>(bytes.data() + footer->offset() + 48),
              offsets[1] - kFrameHeaderBytes - offsets[0]);
}

TEST(Format, SeesEveryFlippedBitOfARecord) {
    const std::string bytes = encoded(version_record(), version_body());
    const auto length = load_le<std::uint32_t>(bytes.data() + 8);
    for (std::size_t bit = 0; bit < std::size_t{length} * 8; ++bit) {
        std::string broken = bytes;
        broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << (bit % 8)));
        ASSERT_FALSE(decode_record(broken, 0)) << bit;
    }
}

TEST(Format, SeesEveryFlippedBitOfAFrameAndOfAFooter) {
    const std::string bytes = frame({encoded(deletion_record())}, {2}, 64);
    ASSERT_TRUE(decode_frame(bytes, kSalt));
    EXPECT_FALSE(decode_frame(bytes, kSalt + 1));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        std::string broken = bytes;
        broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << (bit % 8)));
        ASSERT_FALSE(decode_frame(broken, kSalt)) << bit;
    }
    const std::string segment = sealed_segment();
    const std::uint64_t footer = FooterReader::open(segment, header())->offset();
    for (std::size_t bit = footer * 8; bit < segment.size() * 8; ++bit) {
        std::string broken = segment;
        broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << (bit % 8)));
        ASSERT_FALSE(FooterReader::open(broken, header())) << bit;
    }
}

TEST(Format, RefusesAFooterWithAHintOutOfItsPosition) {
    std::string segment = sealed_segment();
    const std::uint64_t footer = FooterReader::open(segment, header())->offset();
    const std::size_t checked_end = segment.size() - 8;
    const std::size_t hints =
        footer + 72 + load_le<std::uint32_t>(segment.data() + footer + 68);  // header, type table
    for (const std::size_t hint : {hints, hints + 48}) {
        std::string broken = segment;
        broken[hint + 32] = static_cast<char>(broken[hint + 32] + 1);
        store_le(broken.data() + checked_end,
                 hash64(std::string_view(broken).substr(footer, checked_end - footer), kSalt));
        EXPECT_EQ(FooterReader::open(broken, header()).error().detail,
                  fmt::format("offset {}: footer with a hint out of its position", segment.size()));
    }
}

TEST(Format, ReadsNothingFromAnyPrefix) {
    const std::string record = encoded(version_record(), version_body());
    const std::string whole = frame({record}, {1}, 64);
    const auto length = load_le<std::uint32_t>(record.data() + 8);
    for (std::size_t size = 0; size < length; ++size) {
        ASSERT_FALSE(decode_record(std::string_view(record).substr(0, size), 0)) << size;
    }
    for (std::size_t size = 0; size < whole.size(); ++size) {
        ASSERT_FALSE(decode_frame(std::string_view(whole).substr(0, size), kSalt)) << size;
    }
}

/// `record` with another kind and a matching checksum.
std::string with_kind(std::string record, std::uint8_t kind) {
    record[12] = static_cast<char>(kind);
    const auto length = load_le<std::uint32_t>(record.data() + 8);
    store_le(record.data(), hash64({record.data() + 8, length - 8}));
    return record;
}

/// `frame` with these flags and matching checksums.
std::string with_flags(std::string frame, std::uint32_t flags) {
    store_le(frame.data() + 12, flags);
    store_le(frame.data() + 52, static_cast<std::uint32_t>(hash64({frame.data() + 8, 44}, kSalt)));
    store_le(frame.data(), hash64({frame.data() + 8, frame.size() - 8}, kSalt));
    return frame;
}

TEST(Format, PassesTheRequestOfACommitByAndGivesItToWhoAsks) {
    const std::string version = encoded(deletion_record());
    std::string request = encoded_request();
    for (const bool erased : {false, true}) {
        if (erased) {
            blank_record(request, 0);
            EXPECT_EQ(request.find("nightly"), std::string::npos);
        }
        const std::string bytes = frame({version, request}, {1}, 64);
        RecordReader reader(bytes, 0, *decode_frame(bytes, kSalt));
        ASSERT_TRUE(reader.next()->has_value());
        EXPECT_FALSE(reader.next()->has_value());
        EXPECT_EQ(reader.request(), erased ? "" : request);
        const auto record = decode_record(bytes, kFrameHeaderBytes + version.size());
        ASSERT_TRUE(record);
        EXPECT_EQ(record->kind, RecordKind::request);
        EXPECT_EQ(record->bodiless, erased);
        EXPECT_EQ(record->body.substr(0, 7), erased ? std::string(7, '\0') : "nightly");
    }
}

TEST(Format, SkipsUnknownKindsFrom128OnAndRefusesTheOthers) {
    const std::string known = encoded(deletion_record());
    const std::string bytes = frame({with_kind(known, 200), known}, {1}, 64);
    RecordReader reader(bytes, 0, *decode_frame(bytes, kSalt));
    auto record = reader.next();
    ASSERT_TRUE(record);
    ASSERT_TRUE(*record);
    EXPECT_EQ((*record)->version, VersionNumber{2});
    EXPECT_EQ(reader.offset(), kFrameHeaderBytes + known.size());
    EXPECT_FALSE(reader.next()->has_value());

    const std::string refused = frame({with_kind(known, 9)}, {1}, 64);
    auto unknown = RecordReader(refused, 0, *decode_frame(refused, kSalt)).next();
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Errc::usage);
}

TEST(Format, RefusesFlagsOfAFrameThatItDoesNotKnow) {
    const std::string bytes = with_flags(frame({encoded(deletion_record())}, {1}, 64), 0x10);
    const auto header = decode_frame(bytes, kSalt);
    ASSERT_TRUE(header);  // a whole frame, not a torn tail
    auto refused = RecordReader(bytes, 0, *header).next();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::usage);
    EXPECT_NE(refused.error().detail.find("0x10"), std::string::npos);
}

TEST(Record, IsOfAKindThatIsKnownAndARequestOfNoResource) {
    std::string bytes = encoded(deletion_record());
    const auto length = load_le<std::uint32_t>(bytes.data() + 8);
    const auto taken_as = [&](int kind) {
        bytes[12] = static_cast<char>(kind);
        store_le(bytes.data(), hash64({bytes.data() + 8, length - 8}));
        return decode_record(bytes, 0).has_value();
    };
    EXPECT_TRUE(taken_as(1));
    EXPECT_TRUE(taken_as(2));
    for (const int kind : {0, 3, 127, 128, 129, 255}) {
        EXPECT_FALSE(taken_as(kind)) << kind;
    }
}

TEST(Record, MayEndWithWhatHoldsIt) {
    const std::string bytes = encoded(deletion_record());
    const auto length = load_le<std::uint32_t>(bytes.data() + 8);
    EXPECT_TRUE(decode_record(std::string_view(bytes).substr(0, length), 0));
    EXPECT_FALSE(decode_record(std::string_view(bytes).substr(0, length - 1), 0));
}

TEST(Format, RefusesANewerFormatByName) {
    std::string bytes = encoded_header();
    store_le(bytes.data() + 8, kFormatVersion + 1);
    store_le(bytes.data() + 56, hash64({bytes.data(), 56}));
    auto newer = decode_segment_header(bytes, "some/path.seg");
    ASSERT_FALSE(newer);
    EXPECT_EQ(newer.error().code, Errc::usage);
    EXPECT_NE(newer.error().detail.find("some/path.seg"), std::string::npos);
}

TEST(Format, TakesAFlippedBitOfTheVersionForDamage) {
    for (std::size_t bit = 0; bit < 32; ++bit) {
        std::string bytes = encoded_header();
        bytes[8 + bit / 8] = static_cast<char>(bytes[8 + bit / 8] ^ (1 << bit % 8));
        const auto damaged = decode_segment_header(bytes, "some/path.seg");
        ASSERT_FALSE(damaged) << bit;
        EXPECT_EQ(damaged.error().code, Errc::corrupt) << bit;
    }
}

TEST(Format, KnowsTheFooterSizeAhead) {
    FooterBuilder footer({1});
    Hint hint;
    hint.type = type_of("MedicinalProductUndesirableEffect");
    for (std::uint64_t i = 0; i < 10; ++i) {
        const std::uint64_t bound = footer.bytes() + FooterBuilder::bytes_for(1);
        hint.position = {i + 1};
        footer.add(hint);
        EXPECT_LE(footer.bytes(), bound);
    }
    EXPECT_EQ(footer.build(64, kInstant, kSalt).size(), footer.bytes());
}

TEST(Record, SaysThatItsBodyIsGoneAndIsWholeAllTheSame) {
    std::string bytes = encoded(version_record(), version_body());
    const std::size_t body = decode_record(bytes, 0)->body.size();
    const std::size_t size = bytes.size();
    blank_record(bytes, 0);
    EXPECT_EQ(bytes.size(), size);
    const auto record = decode_record(bytes, 0);
    ASSERT_TRUE(record);
    EXPECT_TRUE(record->bodiless);
    EXPECT_FALSE(record->deletion);
    EXPECT_EQ(record->id, "a1");
    EXPECT_EQ(record->version, VersionNumber{1});
    EXPECT_EQ(record->body, std::string(body, '\0'));
}

TEST(Format, NamesSegments) {
    EXPECT_EQ(segment_name(7), "0000000007.seg");
    EXPECT_EQ(parse_segment_name("0000000007.seg"), 7U);
    for (const char* name : {"7.seg", "0000000000.seg", "000000000x.seg", "0000000007.tmp",
                             "prepared.tmp", "-000000007.seg"}) {
        EXPECT_FALSE(parse_segment_name(name)) << name;
    }
}

}  // namespace
}  // namespace annals::storage
