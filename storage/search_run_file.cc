// SearchRun::write and read: a run as bytes.
//
// All numbers little-endian. A header (FileHeader), the number of elements of each array of SearchRun::arrays(), the
// arrays one after the other, then each bitmap as its size (32 bits) and the portable format of Roaring, then the
// XXH3 of all that (64 bits). What died when is not in it: that is the log's to say.
//
// Layer:   storage.
// Threads: plain functions.

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "storage/search_run_parts.h"

#include <algorithm>
#include <bit>

namespace annals::storage {

namespace {

struct FileHeader {
    std::uint64_t magic = 0x6e75'7220'6c6e'6e61;  // "annl run"
    std::uint32_t version = 1;
    std::uint32_t bitmaps = 0;
};

constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);

Error damaged(std::string detail) {
    return {Errc::corrupt, "search run: " + std::move(detail), {}};
}

void append(std::string& out, const void* bytes, std::size_t size) {
    out.append(static_cast<const char*>(bytes), size);
}

/// Takes bytes from the front.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    std::size_t left() const noexcept { return bytes_.size(); }

    /// Empty if there are fewer.
    std::string_view take(std::uint64_t size) noexcept {
        if (size > bytes_.size()) {
            bytes_ = {};
            return {};
        }
        const std::string_view taken = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return taken;
    }

    template <typename T>
    bool read(T& value) noexcept {
        const std::string_view taken = take(sizeof(T));
        if (taken.empty()) {
            return false;
        }
        value = load_le<T>(taken.data());
        return true;
    }

  private:
    std::string_view bytes_;
};

template <typename T>
bool ascends(std::span<const T> numbers) noexcept {
    return std::ranges::adjacent_find(numbers, std::greater_equal<>()) == numbers.end();
}

bool all_below(std::span<const std::uint32_t> numbers, std::size_t bound) noexcept {
    return std::ranges::all_of(numbers, [bound](std::uint32_t number) { return number < bound; });
}

/// The containers of a bitmap in the portable format: sorted, of the sizes they say, all below `documents`.
bool is_sound_container(Reader& reader, bool runs, std::uint32_t key, std::uint32_t size,
                        std::uint32_t documents) {
    std::uint32_t last = 0;
    if (runs) {
        std::uint16_t count = 0;
        if (!reader.read(count) || count == 0) {
            return false;
        }
        std::uint32_t members = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            std::uint16_t start = 0;
            std::uint16_t more = 0;
            if (!reader.read(start) || !reader.read(more) || (i != 0 && start <= last + 1) ||
                std::uint32_t{start} + more > 0xffff) {
                return false;
            }
            last = std::uint32_t{start} + more;
            members += std::uint32_t{more} + 1;
        }
        if (members != size) {
            return false;
        }
    } else if (size > 4096) {
        const std::string_view words = reader.take(8192);
        if (words.empty()) {
            return false;
        }
        std::uint32_t members = 0;
        for (std::uint32_t word = 0; word < 1024; ++word) {
            const auto bits = load_le<std::uint64_t>(words.data() + std::size_t{word} * 8);
            members += static_cast<std::uint32_t>(std::popcount(bits));
            last =
                bits != 0 ? word * 64 + static_cast<std::uint32_t>(std::bit_width(bits)) - 1 : last;
        }
        if (members != size) {
            return false;
        }
    } else {
        for (std::uint32_t i = 0; i < size; ++i) {
            std::uint16_t value = 0;
            if (!reader.read(value) || (i != 0 && value <= last)) {
                return false;
            }
            last = value;
        }
    }
    return (key << 16 | last) < documents;
}

bool is_sound_bitmap(std::string_view bytes, std::uint32_t documents) {
    constexpr std::uint32_t kWithRuns = 12347;
    constexpr std::uint32_t kWithoutRuns = 12346;
    constexpr std::uint32_t kOffsetsFrom = 4;  // containers, where there are runs
    Reader reader(bytes);
    std::uint32_t cookie = 0;
    if (!reader.read(cookie)) {
        return false;
    }
    std::uint32_t containers = 0;
    std::string_view with_runs;
    if ((cookie & 0xffff) == kWithRuns) {
        containers = (cookie >> 16) + 1;
        with_runs = reader.take((containers + 7) / 8);
        if (with_runs.empty()) {
            return false;
        }
    } else if (cookie != kWithoutRuns || !reader.read(containers) || containers == 0 ||
               containers > 0x1'0000) {
        return false;
    }
    const std::string_view keys = reader.take(std::uint64_t{containers} * 4);
    if (keys.empty()) {
        return false;
    }
    if ((with_runs.empty() || containers >= kOffsetsFrom) &&
        reader.take(std::uint64_t{containers} * 4).empty()) {
        return false;
    }
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < containers; ++i) {
        const std::uint32_t key = load_le<std::uint16_t>(keys.data() + std::size_t{i} * 4);
        const std::uint32_t size =
            std::uint32_t{load_le<std::uint16_t>(keys.data() + std::size_t{i} * 4 + 2)} + 1;
        const bool runs = !with_runs.empty() &&
                          (static_cast<unsigned char>(with_runs[i / 8]) >> (i % 8) & 1) != 0;
        if ((i != 0 && key <= last) || !is_sound_container(reader, runs, key, size, documents)) {
            return false;
        }
        last = key;
    }
    return reader.left() == 0;
}

/// Whether every reference leads to what is there and is in order.
bool are_sound_postings(const SearchRunParts& parts, std::span<const std::uint32_t> references) {
    const std::size_t documents = parts.positions.size();
    const std::span<const std::uint32_t> lists(parts.lists);
    return std::ranges::all_of(references, [&](std::uint32_t reference) {
        if ((reference & kElsewhere) == 0) {
            return reference < documents;
        }
        const std::uint32_t at = reference & kReferenceMask;
        if ((reference & kInBitmap) == kInBitmap) {
            return at < parts.bitmaps.size();
        }
        if (at >= lists.size() || lists[at] > kListMax || lists[at] >= lists.size() - at) {
            return false;
        }
        const auto list = lists.subspan(std::size_t{at} + 1, lists[at]);
        return ascends(list) && all_below(list, documents);
    });
}

/// Whether the columns ascend and end where they can, the last one where the arrays of `size` do.
bool are_sound_columns(const std::vector<SearchRunColumn>& columns, std::size_t size) {
    std::uint32_t end = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].end <= end || (i != 0 && columns[i].column <= columns[i - 1].column)) {
            return false;
        }
        end = columns[i].end;
    }
    return end == size;
}

bool are_sound_texts(const SearchRunParts& parts) {
    const std::size_t documents = parts.positions.size();
    if (!are_sound_columns(parts.text_columns, parts.text_ends.size()) ||
        parts.text_postings.size() != parts.text_ends.size() ||
        parts.text_documents.size() != parts.text_indexes.size() ||
        !std::ranges::is_sorted(parts.text_ends) ||
        parts.characters.size() != (parts.text_ends.empty() ? 0 : parts.text_ends.back()) ||
        !all_below(parts.text_documents, documents)) {
        return false;
    }
    std::uint32_t first = 0;
    std::uint32_t begin = 0;
    for (const SearchRunColumn& column : parts.text_columns) {
        if (column.by_document_end < begin ||
            column.by_document_end > parts.text_documents.size()) {
            return false;
        }
        for (std::uint32_t at = begin; at < column.by_document_end; ++at) {
            if ((at != begin && parts.text_documents[at] < parts.text_documents[at - 1]) ||
                parts.text_indexes[at] < first || parts.text_indexes[at] >= column.end) {
                return false;
            }
        }
        first = column.end;
        begin = column.by_document_end;
    }
    return begin == parts.text_documents.size();
}

bool are_sound_intervals(const SearchRunParts& parts) {
    const std::size_t size = parts.interval_lows.size();
    if (!are_sound_columns(parts.interval_columns, size) || parts.interval_highs.size() != size ||
        parts.interval_documents.size() != size || parts.intervals_by_document.size() != size ||
        !all_below(parts.interval_documents, parts.positions.size())) {
        return false;
    }
    std::size_t begin = 0;
    for (const SearchRunColumn& column : parts.interval_columns) {
        const std::size_t count = column.end - begin;
        if (column.shorter_count > count ||
            !all_below(std::span(parts.intervals_by_document).subspan(begin, count), count)) {
            return false;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t low = parts.interval_lows[begin + i];
            const std::int64_t high = parts.interval_highs[begin + i];
            const bool first = i == 0 || i == column.shorter_count;
            const auto document_of = [&](std::size_t at) {
                return parts.interval_documents[begin + parts.intervals_by_document[begin + at]];
            };
            if (low > high || (!first && low < parts.interval_lows[begin + i - 1]) ||
                (ShortSpan::length(low, high) <= column.short_span) != (i < column.shorter_count) ||
                (i != 0 && document_of(i) < document_of(i - 1))) {
                return false;
            }
        }
        begin = column.end;
    }
    return true;
}

bool are_sound_links(const SearchRunParts& parts) {
    const std::size_t size = parts.link_documents.size();
    if (!are_sound_columns(parts.link_columns, size) || parts.link_targets.size() != size ||
        !ascends(std::span<const std::uint64_t>(parts.targets)) ||
        !all_below(parts.link_documents, parts.positions.size()) ||
        !all_below(parts.link_targets, parts.targets.size())) {
        return false;
    }
    std::size_t begin = 0;
    for (const SearchRunColumn& column : parts.link_columns) {
        const auto of_column = std::span(parts.link_documents).subspan(begin, column.end - begin);
        if (!std::ranges::is_sorted(of_column)) {
            return false;
        }
        begin = column.end;
    }
    return true;
}

bool are_sound(const SearchRunParts& parts) {
    const std::span<const std::uint32_t> positions(parts.positions);
    return !positions.empty() && positions.size() <= kRunDocumentsMax && positions[0] != 0 &&
           positions.back() != 0xffff'ffff && ascends(positions) &&
           parts.keys.size() == positions.size() &&
           ascends(std::span<const std::uint64_t>(parts.terms)) &&
           parts.term_postings.size() == parts.terms.size() &&
           are_sound_postings(parts, parts.term_postings) &&
           are_sound_postings(parts, parts.text_postings) && are_sound_texts(parts) &&
           are_sound_intervals(parts) && are_sound_links(parts);
}

}  // namespace

void SearchRun::write(std::string& out) const {
    const std::size_t begin = out.size();
    const FileHeader header{.bitmaps = static_cast<std::uint32_t>(bitmaps_.size())};
    append(out, &header, sizeof header);
    std::apply(
        [&out](const auto&... array) {
            const std::array<std::uint64_t, sizeof...(array)> sizes{array.size()...};
            append(out, sizes.data(), sizeof sizes);
            (append(out, array.data(), array.size_bytes()), ...);
        },
        arrays(*this));
    for (const SearchBitmap& bitmap : bitmaps_) {
        const std::size_t size = roaring_bitmap_portable_size_in_bytes(bitmap.get());
        const auto prefix = static_cast<std::uint32_t>(size);
        append(out, &prefix, sizeof prefix);
        out.resize(out.size() + size);
        roaring_bitmap_portable_serialize(bitmap.get(), out.data() + out.size() - size);
    }
    const std::uint64_t checksum = hash64(std::string_view(out).substr(begin));
    append(out, &checksum, sizeof checksum);
}

Result<std::shared_ptr<const SearchRun>> SearchRun::read(std::string_view bytes) {
    if (bytes.size() < sizeof(FileHeader) + kChecksumBytes) {
        return damaged("too short");
    }
    const std::string_view content = bytes.substr(0, bytes.size() - kChecksumBytes);
    if (load_le<std::uint64_t>(bytes.data() + content.size()) != hash64(content)) {
        return damaged("wrong checksum");
    }
    Reader reader(content);
    FileHeader header;
    reader.read(header);
    if (header.magic != FileHeader{}.magic || header.version != FileHeader{}.version) {
        return damaged("another format or version");
    }

    SearchRunParts parts;
    const bool read = std::apply(
        [&reader](auto&... part) {
            std::array<std::uint64_t, sizeof...(part)> sizes;
            if (!reader.read(sizes)) {
                return false;
            }
            const std::uint64_t* size = sizes.data();
            const auto read_part = [&](auto& array) {
                const std::uint64_t count = *size++;
                if (count > kRunItemsMax || count * sizeof(array[0]) > reader.left()) {
                    return false;
                }
                const std::string_view from = reader.take(count * sizeof(array[0]));
                array.resize(count);
                if (count != 0) {
                    std::memcpy(array.data(), from.data(), from.size());
                }
                return true;
            };
            return (read_part(part) && ...);
        },
        parts.arrays());
    if (!read) {
        return damaged("an array that doesn't fit in");
    }
    const auto documents = static_cast<std::uint32_t>(parts.positions.size());
    for (std::uint32_t i = 0; i < header.bitmaps; ++i) {
        std::uint32_t size = 0;
        if (!reader.read(size)) {
            return damaged("a bitmap is missing");
        }
        const std::string_view portable = reader.take(size);
        if (!is_sound_bitmap(portable, documents)) {
            return damaged("a bitmap that isn't sound");
        }
        SearchBitmap bitmap(
            roaring_bitmap_portable_deserialize_safe(portable.data(), portable.size()));
        if (bitmap == nullptr) {
            return damaged("a bitmap that can't be read");
        }
        parts.bitmaps.push_back(std::move(bitmap));
    }
    if (reader.left() != 0 || !are_sound(parts)) {
        return damaged("an array that isn't sound");
    }
    return std::shared_ptr<const SearchRun>(make(parts, false));
}

}  // namespace annals::storage
