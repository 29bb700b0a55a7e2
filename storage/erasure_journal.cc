#include "storage/erasure_journal.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "storage/format.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace annals::storage {
namespace {

constexpr std::string_view kJournalMagic = "ANNALERS";
constexpr std::uint32_t kJournalVersion = 1;
constexpr std::size_t kJournalHeaderBytes = 40;
constexpr std::size_t kBlankingBytes = 56;
constexpr std::size_t kDeadBytes = 16;
constexpr std::size_t kJournalChecksumBytes = 8;
constexpr std::uint64_t kFileBytesMax = 64 << 20;
constexpr std::size_t kBlockBytes = 4096;

std::string encode(const ErasureJournal::Content& content, std::uint64_t sequence) {
    std::string out(kJournalMagic);
    append_le(out, kJournalVersion);
    append_le(out, static_cast<std::uint32_t>(content.blankings.size()));
    append_le(out, sequence);
    append_le(out, content.erases_done);
    append_le(out, static_cast<std::uint32_t>(content.dead_bytes.size()));
    append_le(out, std::uint32_t{0});
    for (const Blanking& blanking : content.blankings) {
        append_le(out, blanking.segment);
        append_le(out, blanking.salt);
        append_le(out, blanking.frame_offset);
        append_le(out, blanking.frame_checksum);
        append_le(out, blanking.record_offset);
        append_le(out, blanking.record_checksum);
        append_le(out, blanking.record_bytes);
        append_le(out, blanking.body_bytes);
    }
    for (const auto& [segment, bytes] : content.dead_bytes) {
        append_le(out, segment);
        append_le(out, bytes);
    }
    append_le(out, hash64(out));
    return out;
}

/// The contents of the file; sequence 0 if it isn't whole. Errors: usage (a newer format).
Result<ErasureJournal::Content> decode(std::string_view bytes, const std::string& path) {
    ErasureJournal::Content content;
    if (bytes.size() < kJournalHeaderBytes + kJournalChecksumBytes ||
        !bytes.starts_with(kJournalMagic)) {
        return content;
    }
    std::string_view in = bytes.substr(kJournalMagic.size());
    if (const auto version = take_le<std::uint32_t>(in); version > kJournalVersion) {
        return Error{
            Errc::usage,
            fmt::format("{}: written in format {}, but this program supports formats up to {}",
                        path, version, kJournalVersion)};
    }
    const auto blankings = take_le<std::uint32_t>(in);
    const auto sequence = take_le<std::uint64_t>(in);
    const auto erases_done = take_le<std::uint64_t>(in);
    const auto dead = take_le<std::uint32_t>(in);
    in.remove_prefix(sizeof(std::uint32_t));
    const std::uint64_t size = kJournalHeaderBytes + std::uint64_t{blankings} * kBlankingBytes +
                               std::uint64_t{dead} * kDeadBytes;
    if (size + kJournalChecksumBytes > bytes.size() ||
        load_le<std::uint64_t>(bytes.data() + size) != hash64(bytes.substr(0, size))) {
        return content;
    }
    content.sequence = sequence;
    content.erases_done = erases_done;
    for (std::uint32_t i = 0; i < blankings; ++i) {
        Blanking& blanking = content.blankings.emplace_back();
        blanking.segment = take_le<std::uint64_t>(in);
        blanking.salt = take_le<std::uint64_t>(in);
        blanking.frame_offset = take_le<std::uint64_t>(in);
        blanking.frame_checksum = take_le<std::uint64_t>(in);
        blanking.record_offset = take_le<std::uint64_t>(in);
        blanking.record_checksum = take_le<std::uint64_t>(in);
        blanking.record_bytes = take_le<std::uint32_t>(in);
        blanking.body_bytes = take_le<std::uint32_t>(in);
    }
    for (std::uint32_t i = 0; i < dead; ++i) {
        const auto segment = take_le<std::uint64_t>(in);
        content.dead_bytes[segment] = take_le<std::uint64_t>(in);
    }
    return content;
}

/// Whether `blanking` is about a record of the frame with this header, in a segment of `bytes` with this header.
bool fits(const Blanking& blanking, std::uint64_t bytes, std::string_view segment_header,
          std::string_view frame_header) {
    if (segment_header.size() < kSegmentHeaderBytes || frame_header.size() < kFrameHeaderBytes ||
        load_le<std::uint64_t>(segment_header.data() + kHeaderSaltAt) != blanking.salt ||
        blanking.record_bytes < kRecordHeaderBytes ||
        blanking.body_bytes > blanking.record_bytes - kRecordHeaderBytes ||
        !is_frame_header(frame_header, blanking.salt) || bytes < blanking.frame_offset ||
        blanking.record_offset < blanking.frame_offset + kFrameHeaderBytes) {
        return false;
    }
    // Only the header was read, so its length may be anything.
    const std::uint64_t length =
        std::min(read_frame_header(frame_header.data()).length, bytes - blanking.frame_offset);
    const std::uint64_t before = blanking.record_offset - blanking.frame_offset;
    return before <= length && blanking.record_bytes <= length - before;
}

/// The same for a whole segment.
bool fits(const Blanking& blanking, std::string_view segment) {
    return segment.size() >= kSegmentHeaderBytes &&
           blanking.frame_offset <= segment.size() - kFrameHeaderBytes &&
           fits(blanking, segment.size(), segment.substr(0, kSegmentHeaderBytes),
                segment.substr(blanking.frame_offset, kFrameHeaderBytes));
}

Result<std::string> read_at(const File& file, std::uint64_t offset, std::uint64_t bytes) {
    std::string out(bytes, '\0');
    ANNALS_TRY(const std::size_t got, file.read(offset, out));
    out.resize(got);
    return out;
}

/// Whether a blanking that fits has been applied to its record.
bool is_blanked(const Blanking& blanking, std::string_view segment) {
    const std::string_view record = segment.substr(blanking.record_offset, blanking.record_bytes);
    return load_le<std::uint64_t>(record.data()) == blanking.record_checksum &&
           (record[kRecordFlagsAt] & kFlagBodiless) != 0 &&
           record.substr(record.size() - blanking.body_bytes).find_first_not_of('\0') ==
               std::string_view::npos;
}

/// Those of `blankings` that are of the segment `number` and fit it. Where the body is gone and the frame is whole, its checksum
/// stays: if the newest writing of the journal is damaged, these are older, and the frame has lost other bodies since.
std::vector<Blanking> due_in(std::string_view segment, std::uint64_t number,
                             std::span<const Blanking> blankings) {
    std::vector<Blanking> due;
    std::uint64_t frame = 0;  // the last that was looked at
    bool whole = false;
    for (const Blanking& blanking : blankings) {
        if (blanking.segment != number || !fits(blanking, segment)) {
            continue;
        }
        due.push_back(blanking);
        if (!is_blanked(blanking, segment)) {
            continue;
        }
        if (frame != blanking.frame_offset) {
            frame = blanking.frame_offset;
            whole = decode_frame(segment.substr(frame), blanking.salt).has_value();
        }
        if (whole) {
            due.back().frame_checksum = load_le<std::uint64_t>(segment.data() + frame);
        }
    }
    return due;
}

/// Whether a blanking that fits has been applied completely.
bool is_applied(const Blanking& blanking, std::string_view segment) {
    return load_le<std::uint64_t>(segment.data() + blanking.frame_offset) ==
               blanking.frame_checksum &&
           is_blanked(blanking, segment);
}

/// Changes the start of a record, up to its body, to what it is without the body.
void mark_blanked(char* record, const Blanking& blanking) {
    store_le(record, blanking.record_checksum);
    record[kRecordFlagsAt] = static_cast<char>(record[kRecordFlagsAt] | kFlagBodiless);
}

/// replay() for one segment.
Result<bool> replay_in(FileSystem& fs, const std::string& segments,
                       std::span<const Blanking> blankings) {
    const std::uint64_t number = blankings.front().segment;
    const std::string path = segments + "/" + segment_name(number);
    if (!fs.exists(path)) {
        return true;
    }
    ANNALS_TRY(std::unique_ptr<File> file, fs.open(path, FileSystem::Mode::read_write));
    // Only for a file with other names is it certain that nothing was written to it yet.
    ANNALS_TRY(const std::uint64_t links, file->links());
    if (links > 1) {
        if (const auto copied = break_links(fs, segments, number); !copied) {
            return copied.error().code == Errc::no_store ? Result<bool>(false) : copied.error();
        }
        ANNALS_TRY(file, fs.open(path, FileSystem::Mode::read_write));
    }
    ANNALS_TRY(const std::uint64_t bytes, file->size());
    if (bytes < kSegmentHeaderBytes) {
        return true;
    }
    ANNALS_TRY(const std::shared_ptr<const char> data, file->map(bytes));
    ANNALS_TRY_VOID(apply_blankings(*file, due_in({data.get(), bytes}, number, blankings)));
    ANNALS_TRY_VOID(file->sync());
    return true;
}

}  // namespace

std::shared_ptr<const char> ErasureJournal::Content::applied(std::uint64_t number,
                                                             std::shared_ptr<const char> data,
                                                             std::uint64_t bytes) const {
    const std::string_view original(data.get(), bytes);
    std::shared_ptr<char> copy;
    for (const Blanking& blanking : due_in(original, number, blankings)) {
        if (is_applied(blanking, original)) {
            continue;
        }
        if (copy == nullptr) {
            copy = std::shared_ptr<char>(new char[bytes], std::default_delete<char[]>());
            std::memcpy(copy.get(), data.get(), bytes);
        }
        char* record = copy.get() + blanking.record_offset;
        mark_blanked(record, blanking);
        std::memset(record + blanking.record_bytes - blanking.body_bytes, 0, blanking.body_bytes);
        store_le(copy.get() + blanking.frame_offset, blanking.frame_checksum);
    }
    return copy == nullptr ? std::move(data) : std::shared_ptr<const char>(std::move(copy));
}

std::string ErasureJournal::path_of(std::uint64_t sequence) {
    return fmt::format("{}/{}.journal", kFolder, sequence % 2);
}

Result<ErasureJournal::Content> ErasureJournal::read(FileSystem& fs, const std::string& directory) {
    Content newest;
    std::uint64_t torn_files = 0;
    for (std::uint64_t which = 0; which < 2; ++which) {
        const std::string path = fmt::format("{}/{}", directory, path_of(which));
        if (!fs.exists(path)) {
            continue;
        }
        ANNALS_TRY(const auto file, fs.open(path, FileSystem::Mode::read));
        ANNALS_TRY(const std::uint64_t size, file->size());
        ANNALS_TRY(const std::string bytes, read_at(*file, 0, std::min(size, kFileBytesMax)));
        ANNALS_TRY(Content content, decode(bytes, path));
        torn_files += content.sequence == 0 ? 1 : 0;
        if (content.sequence > newest.sequence) {
            newest = std::move(content);
        }
    }
    newest.torn_files = torn_files;
    return newest;
}

Result<ErasureJournal::Content> ErasureJournal::read_durably(FileSystem& fs,
                                                             const std::string& directory) {
    ANNALS_TRY(Content content, read(fs, directory));
    if (content.sequence != 0) {
        // To the file that it is in already: the previous journal stays whole, whatever happens.
        ANNALS_TRY_VOID(ErasureJournal(fs, directory, content.sequence - 1).write(content));
    }
    return content;
}

Result<void> ErasureJournal::remove(FileSystem& fs, const std::string& directory) {
    const std::string folder = fmt::format("{}/{}", directory, kFolder);
    if (!fs.exists(folder)) {
        return {};
    }
    for (std::uint64_t which = 0; which < 2; ++which) {
        ANNALS_TRY_VOID(remove_if_there(fs, fmt::format("{}/{}", directory, path_of(which))));
    }
    return fs.sync_directory(folder);
}

ErasureJournal::ErasureJournal(FileSystem& fs, const std::string& directory, std::uint64_t sequence)
    : fs_(fs),
      directory_(directory),
      folder_(fmt::format("{}/{}", directory, kFolder)),
      sequence_(sequence) {
}

Result<void> ErasureJournal::write(const Content& content) {
    std::unique_ptr<File>& file = files_[(sequence_ + 1) % files_.size()];
    const bool first = file == nullptr;
    if (first) {
        const std::string path = fmt::format("{}/{}", directory_, path_of(sequence_ + 1));
        if (!fs_.exists(folder_)) {
            ANNALS_TRY_VOID(fs_.make_directory(folder_));
        }
        ANNALS_TRY(file, fs_.open(path, fs_.exists(path) ? FileSystem::Mode::read_write
                                                         : FileSystem::Mode::create));
    }
    // Whole blocks: a file that doesn't grow is synced without its metadata.
    std::string bytes = encode(content, sequence_ + 1);
    bytes.resize((bytes.size() + kBlockBytes - 1) / kBlockBytes * kBlockBytes, '\0');
    Result<void> written = file->write(0, bytes);
    if (written) {
        written = file->sync();
    }
    // Whoever created the file, or its folder, may not have synced it.
    if (written && first) {
        written = fs_.sync_directory(folder_);
        if (written) {
            written = fs_.sync_directory(directory_);
        }
    }
    if (!written) {
        file.reset();
        return written;
    }
    ++sequence_;
    return {};
}

Result<void> apply_blankings(File& file, std::span<const Blanking> blankings) {
    ANNALS_TRY(const std::uint64_t bytes, file.size());
    ANNALS_TRY(const std::string segment_header, read_at(file, 0, kSegmentHeaderBytes));
    for (const Blanking& blanking : blankings) {
        if (blanking.frame_offset > bytes) {
            continue;
        }
        ANNALS_TRY(const std::string frame_header,
                   read_at(file, blanking.frame_offset, kFrameHeaderBytes));
        if (!fits(blanking, bytes, segment_header, frame_header)) {
            continue;
        }
        ANNALS_TRY(std::string record, read_at(file, blanking.record_offset,
                                               blanking.record_bytes - blanking.body_bytes));
        if (record.size() != blanking.record_bytes - blanking.body_bytes) {
            continue;
        }
        mark_blanked(record.data(), blanking);
        record.append(blanking.body_bytes, '\0');
        ANNALS_TRY_VOID(file.write(blanking.record_offset, record));
        std::array<char, sizeof blanking.frame_checksum> checksum;
        store_le(checksum.data(), blanking.frame_checksum);
        ANNALS_TRY_VOID(file.write(blanking.frame_offset, {checksum.data(), checksum.size()}));
    }
    return {};
}

Result<bool> replay(FileSystem& fs, const std::string& segments,
                    const ErasureJournal::Content& content) {
    const std::span all(content.blankings);
    bool whole = true;
    for (std::size_t begin = 0; begin < all.size();) {
        std::size_t end = begin;
        while (end < all.size() && all[end].segment == all[begin].segment) {
            ++end;
        }
        ANNALS_TRY(const bool done, replay_in(fs, segments, all.subspan(begin, end - begin)));
        whole = whole && done;
        begin = end;
    }
    return whole;
}

Result<bool> break_links(FileSystem& fs, const std::string& segments, std::uint64_t number) {
    const std::string path = segments + "/" + segment_name(number);
    ANNALS_TRY(const auto file, fs.open(path, FileSystem::Mode::read));
    ANNALS_TRY(const std::uint64_t links, file->links());
    if (links < 2) {
        return false;
    }
    const std::string draft = segments + "/copy.tmp";
    ANNALS_TRY_VOID(remove_if_there(fs, draft));
    ANNALS_TRY(const std::uint64_t bytes, file->size());
    const auto copy = copy_file(fs, path, draft, bytes);
    if (!copy) {
        (void)fs.remove(draft);
        return Error(copy.error());
    }
    ANNALS_TRY_VOID((*copy)->sync());
    ANNALS_TRY_VOID(fs.rename(draft, path));
    ANNALS_TRY_VOID(fs.sync_directory(segments));
    return true;
}

}  // namespace annals::storage
