#include "storage/pack_format.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/owned.h"
#include "storage/segment_footer.h"

#include <zstd.h>

#include <algorithm>

namespace annals::storage {
namespace {

constexpr std::string_view kEndMagic = "ANNALPCK";
constexpr std::size_t kCheckedEndBytes = kPackEndBytes - 8;

/// Hints converted at a time: they fit the nearest cache.
constexpr std::size_t kHintsTurned = 128;

/// Calls `f(row, column)` for each byte of a footer's hints, with its place in rows and in columns. Errors: corrupt.
template <typename F>
Result<void> turn(std::string_view footer, F&& f) {
    const Error wrong{Errc::corrupt, "footer whose parts do not add up"};
    if (footer.size() < kFooterHeaderBytes + kTrailerBytes) {
        return wrong;
    }
    const auto versions = load_le<std::uint64_t>(footer.data() + 16);
    const auto erases = load_le<std::uint64_t>(footer.data() + 24);
    const std::size_t at = kFooterHeaderBytes + load_le<std::uint32_t>(footer.data() + 68);
    const std::size_t hints = versions + erases;
    if (versions > footer.size() || erases > footer.size() ||
        at + hints * kHintBytes + kTrailerBytes > footer.size()) {
        return wrong;
    }
    for (std::size_t from = 0; from < hints; from += kHintsTurned) {
        const std::size_t to = std::min(hints, from + kHintsTurned);
        for (std::size_t byte = 0; byte < kHintBytes; ++byte) {
            for (std::size_t hint = from; hint < to; ++hint) {
                f(at + hint * kHintBytes + byte, at + byte * hints + hint);
            }
        }
    }
    return {};
}

}  // namespace

void append_pack_end(const PackEnd& end, std::uint64_t salt, std::string& out) {
    const std::size_t start = out.size();
    out.append(kEndMagic);
    append_le(out, end.image_bytes);
    append_le(out, end.frames_end);
    append_le(out, end.blocks_end);
    append_le(out, end.dictionary_packed);
    append_le(out, end.dictionary_bytes);
    append_le(out, end.sources);
    append_le(out, end.blocks);
    append_le(out, end.footer_packed);
    append_le(out, end.parts_checksum);
    append_le(out, end.footer_checksum);
    append_le(out, hash64(std::string_view(out).substr(start), salt));
}

Result<PackEnd> read_pack_end(std::string_view file, std::uint64_t salt) {
    const std::string_view end = file.substr(file.size() - kPackEndBytes);
    const char* in = end.data();
    if (!end.starts_with(kEndMagic) || load_le<std::uint64_t>(in + kCheckedEndBytes) !=
                                           hash64(end.substr(0, kCheckedEndBytes), salt)) {
        return Error{Errc::corrupt, "damaged end"};
    }
    return PackEnd{.image_bytes = load_le<std::uint64_t>(in + 8),
                   .frames_end = load_le<std::uint64_t>(in + 16),
                   .blocks_end = load_le<std::uint64_t>(in + 24),
                   .dictionary_packed = load_le<std::uint32_t>(in + 32),
                   .dictionary_bytes = load_le<std::uint32_t>(in + 36),
                   .sources = load_le<std::uint32_t>(in + 40),
                   .blocks = load_le<std::uint32_t>(in + 44),
                   .footer_packed = load_le<std::uint64_t>(in + 48),
                   .parts_checksum = load_le<std::uint64_t>(in + 56),
                   .footer_checksum = load_le<std::uint64_t>(in + 64)};
}

void append_table_entry(std::uint64_t image_offset, std::uint64_t file_offset, std::string& table) {
    append_le(table, static_cast<std::uint32_t>(image_offset / kAlignment));
    append_le(table, static_cast<std::uint32_t>(file_offset));
}

Result<std::string> hints_to_columns(std::string_view footer) {
    std::string out(footer);
    ANNALS_TRY_VOID(
        turn(footer, [&](std::size_t row, std::size_t column) { out[column] = footer[row]; }));
    return out;
}

Result<std::string> hints_to_rows(std::string_view footer) {
    std::string out(footer);
    ANNALS_TRY_VOID(
        turn(footer, [&](std::size_t row, std::size_t column) { out[row] = footer[column]; }));
    return out;
}

struct PackCompression::Impl {
    Owned<ZSTD_CCtx, ZSTD_freeCCtx> context{ZSTD_createCCtx()};
    Owned<ZSTD_CDict, ZSTD_freeCDict> dictionary;
};

PackCompression::PackCompression(std::string_view dictionary) : impl_(std::make_unique<Impl>()) {
    ZSTD_CCtx* const context = impl_->context.get();
    ANNALS_CHECK(context != nullptr);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kPackLevel);
    ZSTD_CCtx_setParameter(context, ZSTD_c_dictIDFlag, 0);
    if (!dictionary.empty()) {
        impl_->dictionary.reset(ZSTD_createCDict(dictionary.data(), dictionary.size(), kPackLevel));
        ANNALS_CHECK(impl_->dictionary != nullptr);
        ZSTD_CCtx_refCDict(context, impl_->dictionary.get());
    }
}

PackCompression::~PackCompression() = default;

void PackCompression::append(std::string_view bytes, std::string& out) const {
    const std::size_t start = out.size();
    out.resize(start + ZSTD_compressBound(bytes.size()));
    const std::size_t made = ZSTD_compress2(impl_->context.get(), out.data() + start,
                                            out.size() - start, bytes.data(), bytes.size());
    ANNALS_CHECK(ZSTD_isError(made) == 0);
    out.resize(start + made);
}

void PackCompression::append_block(std::string_view image, std::uint64_t salt,
                                   std::string& out) const {
    const std::size_t start = out.size();
    out.append(kPackChecksumBytes, '\0');
    append(image, out);
    store_le(out.data() + start,
             hash64(std::string_view(out).substr(start + kPackChecksumBytes), salt));
}

struct PackDecompression::Impl {
    Owned<ZSTD_DDict, ZSTD_freeDDict> dictionary;
};

PackDecompression::PackDecompression() : impl_(std::make_unique<Impl>()) {
}

PackDecompression::~PackDecompression() = default;

bool PackDecompression::set_dictionary(std::string_view dictionary) {
    impl_->dictionary.reset(ZSTD_createDDict(dictionary.data(), dictionary.size()));
    return impl_->dictionary != nullptr;
}

bool PackDecompression::unpack(std::string_view packed, char* out, std::uint64_t bytes) const {
    thread_local const Owned<ZSTD_DCtx, ZSTD_freeDCtx> context(ZSTD_createDCtx());
    ANNALS_CHECK(context != nullptr);
    return ZSTD_decompress_usingDDict(context.get(), out, bytes, packed.data(), packed.size(),
                                      impl_->dictionary.get()) == bytes;
}

}  // namespace annals::storage
