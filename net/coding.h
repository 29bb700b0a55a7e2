// Content codings: gzip and zstd, for bodies in portions.
//
// Layer:   net; coding.cc is the one user of zlib and zstd there.
// Spec:    RFC 9110 sections 8.4, 12.5.3; RFC 1952 (gzip); RFC 8878, RFC 9659 (zstd).
// Threads: an Encoder or Decoder belongs to one thread at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace annals::net {

enum class Coding : std::uint8_t { identity, gzip, zstd };

/// What requests may be encoded with, as Accept-Encoding says it.
inline constexpr std::string_view kCodingsTaken = "gzip, zstd";

/// "gzip", "zstd"; "identity".
std::string_view coding_name(Coding coding) noexcept;

/// The coding that Content-Encoding names; none if it isn't one of ours, or several.
std::optional<Coding> coding_named(std::string_view value) noexcept;

/// The coding that an Accept-Encoding header likes best: highest q, then zstd before gzip; identity where it is
/// liked better than both, or none of them is taken.
Coding choose_coding(std::string_view accept_encoding);

/// Encodes one body.
class Encoder {
  public:
    enum class Then : std::uint8_t {
        more,   ///< what comes out may lag behind
        flush,  ///< everything so far can be decoded
        end,    ///< nothing follows
    };

    virtual ~Encoder() = default;

    /// Appends what comes of `text` to `out`. Never fails.
    virtual void add(std::string_view text, Then then, std::string& out) = 0;

    /// Makes it ready for another body.
    virtual void reset() = 0;
};

/// Gives an encoder back to the calling thread, which keeps a few: they are large.
struct ReturnEncoder {
    Coding coding = Coding::identity;
    void operator()(Encoder* encoder) const noexcept;
};

using EncoderPointer = std::unique_ptr<Encoder, ReturnEncoder>;

/// An encoder of the calling thread; null if there is no memory for one.
EncoderPointer take_encoder(Coding coding);

/// Decodes one body, and no more of it than the caller wants.
class Decoder {
  public:
    enum class Step : std::uint8_t { taken, corrupt, too_large };

    virtual ~Decoder() = default;

    /// Decodes `bytes` and appends what comes of them to `out`; stops as soon as `out` is longer than
    /// `bytes_max`.
    virtual Step add(std::string_view bytes, std::size_t bytes_max, std::string& out) = 0;

    /// True if the body may end here.
    virtual bool complete() const noexcept = 0;

    /// What it holds besides `out`, in bytes: a zstd frame may ask for 8 MiB.
    virtual std::size_t memory() const noexcept = 0;
};

/// A decoder for a coding other than identity; null if there is no memory for one.
std::unique_ptr<Decoder> make_decoder(Coding coding);

}  // namespace annals::net
