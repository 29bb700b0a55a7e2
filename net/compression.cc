#include "net/compression.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace annals::net {

namespace {

constexpr std::size_t kBytesMin = 1 << 10;           // below, the headers take more than is saved
constexpr std::size_t kWholeBytesMax = 64 << 10;     // encoded at once, with a Content-Length
constexpr std::size_t kEncodedBytesMax = 128 << 10;  // encoded between two writes

/// The number of EncodedSources. Each holds an encoder, some 3 MiB for zstd, for as long as its client takes to read.
std::atomic<std::size_t> encoded_sources{0};

/// The encoded form of a body that is requested again and again.
struct Kept {
    core::Body plain;  ///< keeps its bytes alive, so that no other body can have their address
    Coding coding = Coding::identity;
    std::shared_ptr<std::string> encoded;
};

/// As many as there are combinations of descriptions and codings.
constexpr std::size_t kKeptMax = 4;

std::vector<Kept>& kept_bodies() {
    thread_local std::vector<Kept> kept;
    return kept;
}

/// The text kept for the encoded form of `body`; null: none.
std::shared_ptr<std::string> find_kept(const core::Body& body, Coding coding) {
    for (const Kept& kept : kept_bodies()) {
        if (kept.coding == coding && kept.plain.piece(0).data() == body.piece(0).data() &&
            kept.plain.size() == body.size()) {
            return kept.encoded;
        }
    }
    return nullptr;
}

void keep(Kept kept) {
    std::vector<Kept>& all = kept_bodies();
    if (all.size() >= kKeptMax) {
        all.erase(all.begin());
    }
    all.push_back(std::move(kept));
}

// The pieces of a body and what follows it, encoded a turn's worth at a time.
class EncodedSource final : public core::BodySource {
  public:
    /// `kept`: if it has a text, the encoded form is collected there, and kept once it is complete.
    EncodedSource(core::Body body, std::unique_ptr<core::BodySource> more, EncoderPointer encoder,
                  Kept kept)
        : body_(std::move(body)),
          more_(std::move(more)),
          encoder_(std::move(encoder)),
          kept_(std::move(kept)) {
        encoded_sources.fetch_add(1, std::memory_order_relaxed);
    }

    EncodedSource(const EncodedSource&) = delete;
    EncodedSource& operator=(const EncodedSource&) = delete;

    ~EncodedSource() override { encoded_sources.fetch_sub(1, std::memory_order_relaxed); }

    bool next(core::Body& slice) override {
        std::string encoded;
        if (piece_ == body_.piece_count() && more_ != nullptr) {
            draw();
        }
        std::size_t taken = 0;
        while (piece_ < body_.piece_count() && taken < kEncodedBytesMax) {
            const std::string_view piece = body_.piece(piece_);
            const std::string_view part = piece.substr(offset_, kEncodedBytesMax - taken);
            encoder_->add(part, Encoder::Then::more, encoded);
            taken += part.size();
            offset_ += part.size();
            if (offset_ == piece.size()) {
                ++piece_;
                offset_ = 0;
            }
        }
        const bool drained = piece_ == body_.piece_count();
        const bool last = drained && more_ == nullptr;
        if (drained) {
            encoder_->add({}, last ? Encoder::Then::end : Encoder::Then::flush, encoded);
        }
        slice.append(encoded);
        if (kept_.encoded != nullptr) {
            kept_.encoded->append(encoded);
            if (last) {
                keep(std::move(kept_));
            }
        }
        return !last;
    }

    std::vector<Position> unread() override {
        return more_ == nullptr ? std::vector<Position>() : more_->unread();
    }

    std::string_view unread_bytes() const noexcept override {
        return more_ == nullptr ? std::string_view() : more_->unread_bytes();
    }

  private:
    void draw() {
        body_.clear();
        piece_ = 0;
        if (!more_->next(body_)) {
            more_.reset();
        }
    }

    core::Body body_;
    std::unique_ptr<core::BodySource> more_;
    EncoderPointer encoder_;
    Kept kept_;
    std::size_t piece_ = 0;   // in body_: the pieces before it have been encoded
    std::size_t offset_ = 0;  // in that piece
};

// Images, archives and the like would not get smaller.
bool is_compressible(const core::Response& response) {
    const std::string& type = response.media_type;
    if (response.content_type == core::ContentType::event_stream) {
        return false;  // nothing may be held back in a compressor until more comes
    }
    return type.empty() || type.starts_with("text/") || type.find("json") != std::string::npos ||
           type.find("xml") != std::string::npos;
}

core::Body encode_whole(const core::Body& body, Encoder& encoder) {
    std::string encoded;
    if (body.piece_count() == 1) {
        encoder.add(body.piece(0), Encoder::Then::end, encoded);
    } else {
        encoder.add(body.str(), Encoder::Then::end, encoded);
    }
    return core::Body(std::move(encoded));
}

void say_coding(core::Response& response, Coding coding) {
    for (auto& [name, value] : response.headers) {
        if (name == "ETag" && value.starts_with('"')) {
            value.insert(0, "W/");  // these bytes differ from those that ranges refer to
        }
    }
    response.headers.emplace_back("Content-Encoding", coding_name(coding));
}

}  // namespace

void compress(core::Response& response, std::string_view accept_encoding, bool lasts) {
    const bool sliced = response.more != nullptr;
    if (response.status == 206) {
        return;  // ranges refer to the unencoded bytes
    }
    if ((!sliced && response.body.size() < kBytesMin) || !is_compressible(response)) {
        return;
    }
    const bool whole = !sliced && response.body.size() <= kWholeBytesMax;
    lasts = lasts && !sliced && !whole && response.body.piece_count() == 1;
    if (!whole && encoded_sources.load(std::memory_order_relaxed) >= kEncodedSourcesMax) {
        return;
    }
    const Coding coding = choose_coding(accept_encoding);
    if (coding == Coding::identity) {
        return;
    }
    if (const auto encoded = lasts ? find_kept(response.body, coding) : nullptr) {
        say_coding(response, coding);
        response.body.clear();
        response.body.append_view(*encoded, encoded);
        return;
    }
    EncoderPointer encoder = take_encoder(coding);
    if (encoder == nullptr) {
        return;
    }
    say_coding(response, coding);
    if (whole) {
        response.body = encode_whole(response.body, *encoder);
        return;
    }
    Kept kept;
    if (lasts) {
        kept = {response.body, coding, nullptr};
        // A body with its own text has a new one each time.
        if (kept.plain.piece(0).data() == response.body.piece(0).data()) {
            kept.encoded = std::make_shared<std::string>();
        }
    }
    response.more = std::make_unique<EncodedSource>(std::exchange(response.body, core::Body()),
                                                    std::move(response.more), std::move(encoder),
                                                    std::move(kept));
}

}  // namespace annals::net
