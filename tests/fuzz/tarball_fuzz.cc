// Packages from strangers: read or refused, within bounds. The first byte
// tells whether the rest is the archive as sent, or its content once unpacked.

#include "core/packages/package.h"

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::string gzipped(std::string_view bytes) {
    z_stream stream{};
    if (deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        std::abort();
    }
    std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
    stream.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // deflate() only reads it
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
        std::abort();
    }
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    const annals::packages::TarballLimits limits{
        .files_max = 100, .file_bytes_max = 1 << 20, .bytes_max = 4 << 20, .path_bytes_max = 200};
    const auto package = annals::packages::Package::read(
        data[0] % 2 == 0 ? std::string(rest) : gzipped(rest), limits);
    if (package) {
        for (std::size_t i = 0; i < (*package)->resources().size(); ++i) {
            if (!(*package)->definition(i)) {
                std::abort();  // it was read before
            }
        }
    }
    return 0;
}
