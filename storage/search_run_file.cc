// SearchRun::write and read: a run as bytes.
//
// All numbers are little-endian. A header (FileHeader), the number of elements of each array of SearchRun::arrays(), the arrays
// one after the other, then each bitmap as its size (32 bits) and Roaring's portable format. Deaths are not included, since
// they follow from the log.
//
// Layer:   storage.
// Threads: plain functions.

#include "core/base/bytes.h"
#include "storage/search_run_parts.h"

#include <algorithm>
#include <bit>

namespace annals::storage {

namespace {

struct FileHeader {
    std::uint64_t magic = 0x6e75'7220'6c6e'6e61;  // "annl run"
    std::uint32_t version = 2;
    std::uint32_t bitmaps = 0;
};

Error damaged(std::string detail) {
    return {Errc::corrupt, "search run: " + std::move(detail)};
}

/// Takes bytes from the front.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    std::size_t left() const noexcept { return bytes_.size(); }

    /// Empty if there are fewer left.
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

// Without an early exit, so that the compiler vectorizes the loops.

template <typename T>
bool ascends(std::span<const T> numbers) noexcept {
    bool falls = false;
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        falls |= numbers[i] <= numbers[i - 1];
    }
    return !falls;
}

template <typename T>
bool never_falls(std::span<const T> numbers) noexcept {
    bool falls = false;
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        falls |= numbers[i] < numbers[i - 1];
    }
    return !falls;
}

bool all_below(std::span<const std::uint32_t> numbers, std::size_t bound) noexcept {
    std::uint32_t highest = 0;
    for (const std::uint32_t number : numbers) {
        highest = std::max(highest, number);
    }
    return numbers.empty() || highest < bound;
}

bool none_below(std::span<const std::uint32_t> numbers, std::uint32_t bound) noexcept {
    std::uint32_t lowest = 0xffff'ffff;
    for (const std::uint32_t number : numbers) {
        lowest = std::min(lowest, number);
    }
    return lowest >= bound;
}

/// Whether a container of a bitmap in the portable format is sorted, of the size that it states, and below `documents`.
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
    constexpr std::uint32_t kOffsetsFrom = 4;  // containers, if any has runs
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

}  // namespace

/// Checks that no reader of a run, whatever it asks for, can get beyond its arrays.
class SearchRun::Checker {
  public:
    explicit Checker(const SearchRun& run) : run_(run) {}

    bool is_sound() const {
        const std::span<const std::uint32_t> positions = run_.positions_;
        return !positions.empty() && documents() <= kRunDocumentsMax && positions[0] != 0 &&
               positions.back() != 0xffff'ffff && ascends(positions) &&
               run_.keys_.size() == documents() && ascends(run_.terms_) &&
               run_.term_postings_.size() == run_.terms_.size() &&
               are_sound_postings(run_.term_postings_) && are_sound_postings(run_.text_postings_) &&
               are_sound_texts() && are_sound_intervals() && are_sound_links();
    }

  private:
    std::size_t documents() const noexcept { return run_.positions_.size(); }

    /// Whether every reference leads to existing, ordered documents.
    bool are_sound_postings(std::span<const std::uint32_t> references) const {
        const std::span<const std::uint32_t> lists = run_.lists_;
        return std::ranges::all_of(references, [&](std::uint32_t reference) {
            if ((reference & kElsewhere) == 0) {
                return reference < documents();
            }
            const std::uint32_t at = reference & kReferenceMask;
            if ((reference & kInBitmap) == kInBitmap) {
                return at < run_.bitmaps_.size();
            }
            if (at >= lists.size() || lists[at] > kListMax || lists[at] >= lists.size() - at) {
                return false;
            }
            const auto list = lists.subspan(std::size_t{at} + 1, lists[at]);
            return ascends(list) && all_below(list, documents());
        });
    }

    /// Whether the columns ascend, their ends too, and the last one ends at `size`.
    static bool are_sound_columns(std::span<const Column> columns, std::size_t size) {
        std::uint32_t end = 0;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (columns[i].end <= end || (i != 0 && columns[i].column <= columns[i - 1].column)) {
                return false;
            }
            end = columns[i].end;
        }
        return end == size;
    }

    bool are_sound_texts() const {
        const std::span<const std::uint32_t> ends = run_.text_ends_;
        const std::span<const std::uint32_t> of = run_.text_documents_;
        if (!are_sound_columns(run_.text_columns_, ends.size()) ||
            run_.text_postings_.size() != ends.size() || of.size() != run_.text_indexes_.size() ||
            !never_falls(ends) || run_.characters_.size() != (ends.empty() ? 0 : ends.back()) ||
            !all_below(of, documents())) {
            return false;
        }
        std::uint32_t first = 0;
        std::uint32_t begin = 0;
        for (const Column& column : run_.text_columns_) {
            if (column.by_document_end < begin || column.by_document_end > of.size()) {
                return false;
            }
            const std::size_t count = column.by_document_end - begin;
            const auto indexes = run_.text_indexes_.subspan(begin, count);
            if (!never_falls(of.subspan(begin, count)) || !all_below(indexes, column.end) ||
                !none_below(indexes, first)) {
                return false;
            }
            first = column.end;
            begin = column.by_document_end;
        }
        return begin == of.size();
    }

    bool are_sound_intervals() const {
        const std::size_t size = run_.interval_lows_.size();
        if (!are_sound_columns(run_.interval_columns_, size) ||
            run_.interval_highs_.size() != size || run_.interval_documents_.size() != size ||
            run_.intervals_by_document_.size() != size ||
            !all_below(run_.interval_documents_, documents())) {
            return false;
        }
        std::size_t begin = 0;
        for (const Column& column : run_.interval_columns_) {
            const std::size_t count = column.end - begin;
            if (column.shorter_count > count ||
                !all_below(run_.intervals_by_document_.subspan(begin, count), count) ||
                !are_sound_spans(column, begin, column.shorter_count, true) ||
                !are_sound_spans(column, begin + column.shorter_count, count - column.shorter_count,
                                 false)) {
                return false;
            }
            begin = column.end;
        }
        return true;
    }

    /// Whether the shorter intervals of a column, or the longer ones, ascend and are of valid length.
    bool are_sound_spans(const Column& column, std::size_t begin, std::size_t count,
                         bool shorter) const {
        const auto lows = run_.interval_lows_.subspan(begin, count);
        const auto highs = run_.interval_highs_.subspan(begin, count);
        bool wrong = false;
        for (std::size_t i = 0; i < count; ++i) {
            wrong |= lows[i] > highs[i];
            wrong |= (ShortSpan::length(lows[i], highs[i]) <= column.short_span) != shorter;
        }
        return !wrong && never_falls(lows);
    }

    bool are_sound_links() const {
        const std::size_t size = run_.link_documents_.size();
        if (!are_sound_columns(run_.link_columns_, size) || run_.link_targets_.size() != size ||
            !ascends(run_.targets_) || !all_below(run_.link_documents_, documents()) ||
            !all_below(run_.link_targets_, run_.targets_.size())) {
            return false;
        }
        std::size_t begin = 0;
        for (const Column& column : run_.link_columns_) {
            if (!never_falls(run_.link_documents_.subspan(begin, column.end - begin))) {
                return false;
            }
            begin = column.end;
        }
        return true;
    }

    const SearchRun& run_;
};

void SearchRun::write(const std::function<void(std::string_view part)>& take) const {
    const auto take_bytes = [&take](const void* bytes, std::size_t size) {
        take({static_cast<const char*>(bytes), size});
    };
    const FileHeader header{.bitmaps = static_cast<std::uint32_t>(bitmaps_.size())};
    take_bytes(&header, sizeof header);
    std::apply(
        [&take_bytes](const auto&... array) {
            const std::array<std::uint64_t, sizeof...(array)> sizes{array.size()...};
            take_bytes(sizes.data(), sizeof sizes);
            (take_bytes(array.data(), array.size_bytes()), ...);
        },
        arrays(*this));
    std::string portable;
    for (const SearchBitmap& bitmap : bitmaps_) {
        portable.resize(roaring_bitmap_portable_size_in_bytes(bitmap.get()));
        const auto prefix = static_cast<std::uint32_t>(portable.size());
        take_bytes(&prefix, sizeof prefix);
        roaring_bitmap_portable_serialize(bitmap.get(), portable.data());
        take(portable);
    }
}

Result<std::shared_ptr<const SearchRun>> SearchRun::read(std::string_view bytes,
                                                         std::shared_ptr<const char> memory) {
    Reader reader(bytes);
    FileHeader header;
    if (!reader.read(header) || header.magic != FileHeader{}.magic) {
        return damaged("another format");
    }
    if (header.version != FileHeader{}.version) {
        return Error{Errc::usage, "search run: another version of the format"};
    }
    std::shared_ptr<SearchRun> run(new SearchRun);
    run->memory_ = std::move(memory);
    const bool read = std::apply(
        [&](auto&... part) {
            std::array<std::uint64_t, sizeof...(part)> sizes;
            if (!reader.read(sizes)) {
                return false;
            }
            const std::uint64_t* size = sizes.data();
            const auto read_part = [&]<typename T>(std::span<const T>& array) {
                const std::uint64_t count = *size++;
                if (count > kRunItemsMax || count * sizeof(T) > reader.left()) {
                    return false;
                }
                const std::string_view from = reader.take(count * sizeof(T));
                array = {reinterpret_cast<const T*>(from.data()), count};
                run->bytes_ += from.size();
                return true;
            };
            return (read_part(part) && ...);
        },
        arrays(*run));
    if (!read) {
        return damaged("an array that exceeds the file");
    }
    for (std::uint32_t i = 0; i < header.bitmaps; ++i) {
        std::uint32_t size = 0;
        if (!reader.read(size)) {
            return damaged("a bitmap is missing");
        }
        const std::string_view portable = reader.take(size);
        if (!is_sound_bitmap(portable, run->size())) {
            return damaged("an invalid bitmap");
        }
        SearchBitmap bitmap(
            roaring_bitmap_portable_deserialize_safe(portable.data(), portable.size()));
        if (bitmap == nullptr) {
            return damaged("an unreadable bitmap");
        }
        run->bitmaps_.push_back(std::move(bitmap));
    }
    if (reader.left() != 0 || !Checker(*run).is_sound()) {
        return damaged("an invalid array");
    }
    run->add_what_is_derived();
    return std::shared_ptr<const SearchRun>(std::move(run));
}

}  // namespace annals::storage
