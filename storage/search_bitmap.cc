#include "storage/search_bitmap.h"

#include "core/base/check.h"

#include <roaring/roaring.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace annals::storage {

namespace {

constexpr std::uint32_t kCookie = 12'346;  // no container of runs
constexpr std::uint32_t kCookieOfRuns = 12'347;
constexpr std::size_t kOffsetsFrom = 4;  // this many containers have offsets even with runs

/// The part of a bitmap for 65,536 numbers with the same upper bits.
struct Container {
    std::span<const std::uint32_t> documents;
    std::size_t runs;  ///< of consecutive documents

    // Whichever is smallest: runs, an array, or a set of bits.
    static constexpr std::size_t kArrayMax = 4096;
    static constexpr std::size_t kBitsBytes = 8192;

    bool is_array() const noexcept { return documents.size() <= kArrayMax; }

    std::size_t plain_bytes() const noexcept {
        return is_array() ? 2 * documents.size() : kBitsBytes;
    }

    std::size_t run_bytes() const noexcept { return 2 + 4 * runs; }

    bool in_runs() const noexcept { return run_bytes() < plain_bytes() + (is_array() ? 2 : 0); }

    std::size_t bytes() const noexcept { return in_runs() ? run_bytes() : plain_bytes(); }
};

std::size_t count_runs(std::span<const std::uint32_t> documents) noexcept {
    std::size_t runs = 1;
    for (std::size_t i = 1; i < documents.size(); ++i) {
        runs += documents[i] != documents[i - 1] + 1 ? 1 : 0;
    }
    return runs;
}

/// Writes numbers one after the other, as bytes.
class PortableWriter {
  public:
    explicit PortableWriter(char* to) : to_(to) {}

    template <typename Value>
    void put(Value value) noexcept {
        std::memcpy(to_, &value, sizeof value);
        to_ += sizeof value;
    }

    void put(const Container& container) noexcept {
        if (container.in_runs()) {
            put_runs(container);
        } else if (container.is_array()) {
            for (const std::uint32_t document : container.documents) {
                put(static_cast<std::uint16_t>(document));
            }
        } else {
            for (const std::uint32_t document : container.documents) {
                char& byte = to_[(document & 0xffff) >> 3];
                byte = static_cast<char>(byte | 1 << (document & 7));
            }
            to_ += Container::kBitsBytes;
        }
    }

    /// One bit per container: whether it has runs.
    void put_kinds(std::span<const Container> containers) noexcept {
        for (std::size_t i = 0; i < containers.size(); ++i) {
            to_[i / 8] = static_cast<char>(to_[i / 8] | containers[i].in_runs() << (i % 8));
        }
        to_ += (containers.size() + 7) / 8;
    }

  private:
    void put_runs(const Container& container) noexcept {
        put(static_cast<std::uint16_t>(container.runs));
        const auto documents = container.documents;
        for (std::size_t begin = 0; begin < documents.size();) {
            std::size_t end = begin + 1;
            while (end < documents.size() && documents[end] == documents[end - 1] + 1) {
                ++end;
            }
            put(static_cast<std::uint16_t>(documents[begin]));
            put(static_cast<std::uint16_t>(end - begin - 1));
            begin = end;
        }
    }

    char* to_;
};

/// Reads numbers one after the other.
class PortableReader {
  public:
    explicit PortableReader(const char* from) : from_(from) {}

    template <typename Value>
    Value take() noexcept {
        Value value;
        std::memcpy(&value, from_, sizeof value);
        from_ += sizeof value;
        return value;
    }

    const char* skip(std::size_t bytes) noexcept { return std::exchange(from_, from_ + bytes); }

  private:
    const char* from_;
};

void set_bit(std::span<std::uint64_t> words, std::uint32_t at) noexcept {
    words[at / 64] |= std::uint64_t{1} << (at % 64);
}

void set_range(std::span<std::uint64_t> words, std::uint32_t first, std::uint32_t last) noexcept {
    const std::uint64_t begin = ~std::uint64_t{0} << (first % 64);
    const std::uint64_t end = ~std::uint64_t{0} >> (63 - last % 64);
    if (first / 64 == last / 64) {
        words[first / 64] |= begin & end;
        return;
    }
    words[first / 64] |= begin;
    std::ranges::fill(words.subspan(first / 64 + 1, last / 64 - first / 64 - 1), ~std::uint64_t{0});
    words[last / 64] |= end;
}

}  // namespace

void set_bits_of(const roaring_bitmap_t& bitmap, std::span<std::uint64_t> words) {
    static thread_local std::vector<char> portable;
    portable.resize(roaring_bitmap_portable_size_in_bytes(&bitmap));
    roaring_bitmap_portable_serialize(&bitmap, portable.data());

    PortableReader in(portable.data());
    const auto cookie = in.take<std::uint32_t>();
    const bool any_runs = (cookie & 0xffff) == kCookieOfRuns;
    const std::size_t count = any_runs ? (cookie >> 16) + 1 : in.take<std::uint32_t>();
    const char* const kinds = any_runs ? in.skip((count + 7) / 8) : nullptr;
    PortableReader heads(in.skip(4 * count));
    if (!any_runs || count >= kOffsetsFrom) {
        in.skip(4 * count);
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto own = words.subspan(std::size_t{heads.take<std::uint16_t>()} << 10);
        const std::size_t size = std::size_t{heads.take<std::uint16_t>()} + 1;
        if (any_runs && (kinds[i / 8] >> (i % 8) & 1) != 0) {
            for (auto left = in.take<std::uint16_t>(); left > 0; --left) {
                const std::uint32_t first = in.take<std::uint16_t>();
                set_range(own, first, first + in.take<std::uint16_t>());
            }
        } else if (size <= Container::kArrayMax) {
            for (std::size_t left = size; left > 0; --left) {
                set_bit(own, in.take<std::uint16_t>());
            }
        } else {
            PortableReader bits(in.skip(Container::kBitsBytes));
            for (std::uint64_t& word : own.first(std::min(own.size(), Container::kBitsBytes / 8))) {
                word |= bits.take<std::uint64_t>();
            }
        }
    }
}

SearchBitmap bitmap_of(std::span<const std::uint32_t> documents) {
    static thread_local std::vector<Container> containers;
    static thread_local std::vector<char> portable;
    containers.clear();
    bool any_runs = false;
    std::size_t bytes = 0;
    for (auto left = documents; !left.empty();) {
        const auto end = std::ranges::upper_bound(left, left[0] | 0xffff);
        const auto part = left.first(static_cast<std::size_t>(end - left.begin()));
        containers.push_back({part, count_runs(part)});
        any_runs = any_runs || containers.back().in_runs();
        bytes += containers.back().bytes();
        left = left.subspan(part.size());
    }
    const std::size_t count = containers.size();
    const bool offsets = !any_runs || count >= kOffsetsFrom;
    const std::size_t head =
        (any_runs ? 4 + (count + 7) / 8 : 8) + 4 * count + (offsets ? 4 * count : 0);
    portable.assign(head + bytes, 0);
    PortableWriter out(portable.data());
    if (any_runs) {
        out.put(kCookieOfRuns | static_cast<std::uint32_t>(count - 1) << 16);
        out.put_kinds(containers);
    } else {
        out.put(kCookie);
        out.put(static_cast<std::uint32_t>(count));
    }
    for (const Container& container : containers) {
        out.put(static_cast<std::uint16_t>(container.documents[0] >> 16));
        out.put(static_cast<std::uint16_t>(container.documents.size() - 1));
    }
    std::size_t offset = head;
    if (offsets) {
        for (const Container& container : containers) {
            out.put(static_cast<std::uint32_t>(offset));
            offset += container.bytes();
        }
    }
    for (const Container& container : containers) {
        out.put(container);
    }
    SearchBitmap bitmap(roaring_bitmap_portable_deserialize(portable.data()));
    ANNALS_CHECK(bitmap != nullptr);
    return bitmap;
}

}  // namespace annals::storage
