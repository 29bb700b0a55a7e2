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

/// The codings accepted for requests, as in Accept-Encoding.
inline constexpr std::string_view kCodingsTaken = "gzip, zstd";

/// "gzip", "zstd"; "identity".
std::string_view coding_name(Coding coding) noexcept;

/// The coding that Content-Encoding names; none if it is unknown, or there are several.
std::optional<Coding> coding_named(std::string_view value) noexcept;

/// The coding that an Accept-Encoding header prefers: highest q, then zstd before gzip; identity if it is
/// preferred to both, or neither is accepted.
Coding choose_coding(std::string_view accept_encoding);

/// Encodes one body.
class Encoder {
  public:
    enum class Then : std::uint8_t {
        more,   ///< the output may lag behind
        flush,  ///< everything so far can be decoded
        end,    ///< nothing follows
    };

    virtual ~Encoder() = default;

    /// Encodes `text` and appends the output to `out`. Never fails.
    virtual void add(std::string_view text, Then then, std::string& out) = 0;

    /// Prepares for another body.
    virtual void reset() = 0;
};

/// Returns an encoder to the calling thread, which keeps a few, because they are large.
struct ReturnEncoder {
    Coding coding = Coding::identity;
    void operator()(Encoder* encoder) const noexcept;
};

using EncoderPointer = std::unique_ptr<Encoder, ReturnEncoder>;

/// An encoder from the calling thread's stock; null if there is no memory for one.
EncoderPointer take_encoder(Coding coding);

/// Decodes one body, no further than the caller wants.
class Decoder {
  public:
    enum class Step : std::uint8_t { taken, corrupt, too_large };

    virtual ~Decoder() = default;

    /// Decodes `bytes` and appends the output to `out`; stops as soon as `out` is longer than `bytes_max`.
    virtual Step add(std::string_view bytes, std::size_t bytes_max, std::string& out) = 0;

    /// True if the body may end here.
    virtual bool complete() const noexcept = 0;

    /// What it holds besides `out`, in bytes: a zstd frame may ask for 8 MiB.
    virtual std::size_t memory() const noexcept = 0;
};

/// A decoder for a coding other than identity; null if there is no memory for one.
std::unique_ptr<Decoder> make_decoder(Coding coding);

}  // namespace annals::net
