#include "net/coding.h"

#include "core/base/check.h"
#include "core/base/owned.h"
#include "core/base/text.h"
#include "core/interactions/media_type.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <vector>

namespace annals::net {

namespace {

constexpr int kGzipLevel = 4;
constexpr int kZstdLevel = 3;
constexpr int kGzipWindow = 15 + 16;   // zlib's code for the largest window and gzip's format
constexpr int kZstdWindowLogMax = 23;  // RFC 9659: 8 MiB
constexpr std::size_t kOutputStep = 32 << 10;
constexpr std::size_t kInflateBytes = 48 << 10;  // zlib's window and tables
constexpr std::size_t kIdleEncodersMax = 4;      // per coding and thread

// zlib counts in unsigned int.
constexpr std::size_t kZlibInputMax = 1 << 30;

Bytef* as_input(std::string_view text) noexcept {
    // zlib does not write to its input, despite the type.
    return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

class GzipEncoder final : public Encoder {
  public:
    GzipEncoder() {
        ready_ = deflateInit2(&stream_, kGzipLevel, Z_DEFLATED, kGzipWindow, 8,
                              Z_DEFAULT_STRATEGY) == Z_OK;
    }

    GzipEncoder(const GzipEncoder&) = delete;
    GzipEncoder& operator=(const GzipEncoder&) = delete;

    ~GzipEncoder() override {
        if (ready_) {
            deflateEnd(&stream_);
        }
    }

    bool ready() const noexcept { return ready_; }

    void add(std::string_view text, Then then, std::string& out) override {
        const int mode = then == Then::end     ? Z_FINISH
                         : then == Then::flush ? Z_SYNC_FLUSH
                                               : Z_NO_FLUSH;
        do {
            const std::string_view part = text.substr(0, kZlibInputMax);
            text.remove_prefix(part.size());
            stream_.next_in = as_input(part);
            stream_.avail_in = static_cast<uInt>(part.size());
            deflate_all(text.empty() ? mode : Z_NO_FLUSH, out);
        } while (!text.empty());
    }

    void reset() override { deflateReset(&stream_); }

  private:
    void deflate_all(int mode, std::string& out) {
        do {
            const std::size_t size = out.size();
            out.resize(size + kOutputStep);
            stream_.next_out = reinterpret_cast<Bytef*>(out.data() + size);
            stream_.avail_out = kOutputStep;
            const int result = deflate(&stream_, mode);
            ANNALS_CHECK(result != Z_STREAM_ERROR);
            out.resize(size + kOutputStep - stream_.avail_out);
        } while (stream_.avail_out == 0);
    }

    z_stream stream_{};
    bool ready_ = false;
};

class ZstdEncoder final : public Encoder {
  public:
    ZstdEncoder() {
        if (context_ != nullptr) {
            ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kZstdLevel);
        }
    }

    bool ready() const noexcept { return context_ != nullptr; }

    void add(std::string_view text, Then then, std::string& out) override {
        const ZSTD_EndDirective mode = then == Then::end     ? ZSTD_e_end
                                       : then == Then::flush ? ZSTD_e_flush
                                                             : ZSTD_e_continue;
        ZSTD_inBuffer input{text.data(), text.size(), 0};
        for (;;) {
            const std::size_t size = out.size();
            out.resize(size + kOutputStep);
            ZSTD_outBuffer output{out.data() + size, kOutputStep, 0};
            const std::size_t left = ZSTD_compressStream2(context_.get(), &output, &input, mode);
            // It can't fail because of the input, only for lack of memory.
            if (ZSTD_isError(left) != 0) {
                throw std::bad_alloc();
            }
            out.resize(size + output.pos);
            const bool done = mode == ZSTD_e_continue ? input.pos == input.size : left == 0;
            if (done) {
                return;
            }
        }
    }

    void reset() override { ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only); }

  private:
    const Owned<ZSTD_CCtx, ZSTD_freeCCtx> context_{ZSTD_createCCtx()};
};

/// A body may consist of several members or frames (RFC 1952 section 2.2, RFC 8878 section 3.1), each of
/// which takes time even if it is nearly empty. This many are accepted, and one more per this many bytes.
constexpr std::uint64_t kFramesMin = 64;
constexpr std::uint64_t kBytesPerFrame = 1024;

/// Whether another may begin after `frames` with `bytes` together.
bool may_begin(std::uint64_t frames, std::uint64_t bytes) noexcept {
    return frames < kFramesMin + bytes / kBytesPerFrame;
}

/// The output of one step of a decoder. Only the library writes to it: initializing it would make a portion of one
/// byte cost as much as a large one.
using Made = std::array<char, kOutputStep>;

class GzipDecoder final : public Decoder {
  public:
    GzipDecoder() { ready_ = inflateInit2(&stream_, kGzipWindow) == Z_OK; }

    GzipDecoder(const GzipDecoder&) = delete;
    GzipDecoder& operator=(const GzipDecoder&) = delete;

    ~GzipDecoder() override {
        if (ready_) {
            inflateEnd(&stream_);
        }
    }

    bool ready() const noexcept { return ready_; }

    Step add(std::string_view bytes, std::size_t bytes_max, std::string& out) override {
        while (!bytes.empty()) {
            if (complete_) {
                if (!may_begin(++members_, taken_)) {
                    return Step::corrupt;
                }
                inflateReset(&stream_);
                complete_ = false;
            }
            const std::string_view part = bytes.substr(0, kZlibInputMax);
            stream_.next_in = as_input(part);
            stream_.avail_in = static_cast<uInt>(part.size());
            const Step step = inflate_part(bytes_max, out);
            if (step != Step::taken) {
                return step;
            }
            taken_ += part.size() - stream_.avail_in;
            bytes.remove_prefix(part.size() - stream_.avail_in);
        }
        return Step::taken;
    }

    bool complete() const noexcept override { return complete_; }

    std::size_t memory() const noexcept override { return kInflateBytes; }

  private:
    // Continues until the input is used up or a member ends.
    Step inflate_part(std::size_t bytes_max, std::string& out) {
        Made made;
        for (;;) {
            stream_.next_out = reinterpret_cast<Bytef*>(made.data());
            stream_.avail_out = kOutputStep;
            const int result = inflate(&stream_, Z_NO_FLUSH);
            out.append(made.data(), kOutputStep - stream_.avail_out);
            if (out.size() > bytes_max) {
                return Step::too_large;
            }
            if (result == Z_STREAM_END) {
                complete_ = true;
                return Step::taken;
            }
            if (result != Z_OK && result != Z_BUF_ERROR) {
                return Step::corrupt;
            }
            if (stream_.avail_out != 0) {
                return stream_.avail_in == 0 ? Step::taken : Step::corrupt;
            }
        }
    }

    z_stream stream_{};
    std::uint64_t members_ = 0;  // complete ones
    std::uint64_t taken_ = 0;    // bytes of these and the current one
    bool ready_ = false;
    bool complete_ = false;
};

class ZstdDecoder final : public Decoder {
  public:
    ZstdDecoder() {
        if (context_ != nullptr) {
            ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax);
        }
    }

    bool ready() const noexcept { return context_ != nullptr; }

    Step add(std::string_view bytes, std::size_t bytes_max, std::string& out) override {
        ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
        Made made;
        for (;;) {
            ZSTD_outBuffer output{made.data(), kOutputStep, 0};
            const std::size_t before = input.pos;
            // The first byte of a frame is passed alone: the library would decode a frame that is complete in
            // another way, which rejects some frames that it accepts in portions.
            const std::string_view part =
                bytes.substr(before, magic_seen_ == 0 ? 1 : std::string_view::npos);
            const bool begins = magic_seen_ == 0 && !part.empty();
            if (!begins_frame(part) || (begins && !may_begin(frames_, taken_ + before))) {
                return Step::corrupt;
            }
            input.size = before + part.size();
            const std::size_t hint = ZSTD_decompressStream(context_.get(), &output, &input);
            out.append(made.data(), output.pos);
            if (ZSTD_isError(hint) != 0) {
                return Step::corrupt;
            }
            if (out.size() > bytes_max) {
                return Step::too_large;
            }
            if (input.pos > before || output.pos > 0) {
                complete_ = hint == 0;  // if it made no progress, it means a next frame
                magic_seen_ = complete_ ? 0 : magic_seen_;
                frames_ += complete_ ? 1 : 0;
            }
            if (input.pos == bytes.size() && output.pos < output.size) {
                taken_ += bytes.size();
                return Step::taken;
            }
        }
    }

    bool complete() const noexcept override { return complete_; }

    std::size_t memory() const noexcept override { return ZSTD_sizeof_DCtx(context_.get()); }

  private:
    /// Whether `bytes` may continue the magic number of a frame or a skippable frame. The library also accepts
    /// formats older than the standard, by code that few people maintain.
    bool begins_frame(std::string_view bytes) noexcept {
        constexpr std::array<std::uint8_t, 4> kFrame{0x28, 0xb5, 0x2f, 0xfd};
        constexpr std::array<std::uint8_t, 4> kSkippable{0x50, 0x2a, 0x4d, 0x18};
        while (magic_seen_ < kFrame.size() && !bytes.empty()) {
            const auto byte = static_cast<std::uint8_t>(bytes.front());
            if (magic_seen_ == 0) {
                skippable_ = (byte & 0xf0) == kSkippable[0];
            }
            const bool right = magic_seen_ == 0
                                   ? skippable_ || byte == kFrame[0]
                                   : byte == (skippable_ ? kSkippable : kFrame)[magic_seen_];
            if (!right) {
                return false;
            }
            ++magic_seen_;
            bytes.remove_prefix(1);
        }
        return true;
    }

    const Owned<ZSTD_DCtx, ZSTD_freeDCtx> context_{ZSTD_createDCtx()};
    std::size_t magic_seen_ = 0;  // bytes of the current frame's
    bool skippable_ = false;      // the kind of the current frame
    std::uint64_t frames_ = 0;    // complete ones
    std::uint64_t taken_ = 0;     // bytes of earlier portions
    bool complete_ = false;
};

template <typename Made, typename Face>
std::unique_ptr<Face> made_if_ready() {
    auto made = std::make_unique<Made>();
    return made->ready() ? std::move(made) : nullptr;
}

std::vector<std::unique_ptr<Encoder>>& idle_encoders(Coding coding) {
    thread_local std::array<std::vector<std::unique_ptr<Encoder>>, 3> idle;
    return idle[static_cast<std::size_t>(coding)];
}

}  // namespace

std::string_view coding_name(Coding coding) noexcept {
    switch (coding) {
        case Coding::gzip:
            return "gzip";
        case Coding::zstd:
            return "zstd";
        case Coding::identity:
            break;
    }
    return "identity";
}

std::optional<Coding> coding_named(std::string_view value) noexcept {
    value = trimmed(value);
    if (value.empty() || equal_ignoring_case(value, "identity")) {
        return Coding::identity;
    }
    if (equal_ignoring_case(value, "gzip") || equal_ignoring_case(value, "x-gzip")) {
        return Coding::gzip;
    }
    if (equal_ignoring_case(value, "zstd")) {
        return Coding::zstd;
    }
    return {};
}

Coding choose_coding(std::string_view accept_encoding) {
    constexpr int kUnsaid = -1;
    std::array<int, 3> quality{kUnsaid, kUnsaid, kUnsaid};
    int others = kUnsaid;
    while (!accept_encoding.empty()) {
        const core::MediaType element =
            core::read_media_type(core::next_part(accept_encoding, ','));
        if (element.name == "*") {
            others = element.quality;
        } else if (const auto coding = coding_named(element.name);
                   coding && !element.name.empty()) {
            quality[static_cast<std::size_t>(*coding)] = element.quality;
        }
    }
    Coding best = Coding::identity;
    int best_quality = std::max(0, quality[0]);
    for (const Coding coding : {Coding::zstd, Coding::gzip}) {
        const int said = quality[static_cast<std::size_t>(coding)];
        const int wanted = said == kUnsaid ? others : said;
        if (wanted > 0 &&
            (wanted > best_quality || (best == Coding::identity && wanted == best_quality))) {
            best = coding;
            best_quality = wanted;
        }
    }
    return best;
}

void ReturnEncoder::operator()(Encoder* encoder) const noexcept {
    std::unique_ptr<Encoder> owned(encoder);
    auto& idle = idle_encoders(coding);
    if (owned != nullptr && idle.size() < kIdleEncodersMax) {
        idle.push_back(std::move(owned));
    }
}

EncoderPointer take_encoder(Coding coding) {
    auto& idle = idle_encoders(coding);
    if (idle.capacity() < kIdleEncodersMax) {
        idle.reserve(kIdleEncodersMax);
    }
    std::unique_ptr<Encoder> encoder;
    if (!idle.empty()) {
        encoder = std::move(idle.back());
        idle.pop_back();
        encoder->reset();
    } else if (coding == Coding::gzip) {
        encoder = made_if_ready<GzipEncoder, Encoder>();
    } else if (coding == Coding::zstd) {
        encoder = made_if_ready<ZstdEncoder, Encoder>();
    }
    return EncoderPointer(encoder.release(), ReturnEncoder{coding});
}

std::unique_ptr<Decoder> make_decoder(Coding coding) {
    if (coding == Coding::gzip) {
        return made_if_ready<GzipDecoder, Decoder>();
    }
    return coding == Coding::zstd ? made_if_ready<ZstdDecoder, Decoder>() : nullptr;
}

}  // namespace annals::net
