// Body: the bytes of a response as pieces, so that stored versions are sent without being copied.
//
// Layer:   core.
// Threads: plain values.

#pragma once

#include "core/base/ids.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {

/// Owned text and views of pinned bytes, in order. Movable; cheap for one view.
class Body {
  public:
    using Pin = std::shared_ptr<const void>;

    Body() = default;

    explicit Body(std::string text) : owned_(std::move(text)), size_(owned_.size()) {
        if (!owned_.empty()) {
            add_piece({nullptr, 0, owned_.size()});
        }
    }

    /// Copies `text` to the end.
    void append(std::string_view text) {
        if (text.empty()) {
            return;
        }
        if (piece_count_ == 0 || last_piece().data != nullptr) {
            add_piece({nullptr, owned_.size(), 0});
        }
        owned_.append(text);
        last_piece().size += text.size();
        size_ += text.size();
    }

    /// Adds bytes without copying them. Lifetime: `bytes` live as long as `pin` or, with a null pin,
    /// longer than the Body.
    void append_view(std::string_view bytes, Pin pin) {
        if (bytes.empty()) {
            return;
        }
        add_piece({bytes.data(), 0, bytes.size()});
        size_ += bytes.size();
        add_pin(std::move(pin));
    }

    std::size_t size() const noexcept { return size_; }

    bool empty() const noexcept { return size_ == 0; }

    std::size_t piece_count() const noexcept { return piece_count_; }

    /// The piece at `index`. Lifetime: until the Body is changed or destroyed.
    std::string_view piece(std::size_t index) const noexcept {
        const Piece& piece = index == 0 ? first_ : pieces_[index - 1];
        const char* data = piece.data != nullptr ? piece.data : owned_.data() + piece.offset;
        return {data, piece.size};
    }

    /// Everything as one string (tests, transforms).
    std::string str() const {
        std::string text;
        text.reserve(size_);
        for (std::size_t i = 0; i < piece_count_; ++i) {
            text.append(piece(i));
        }
        return text;
    }

    /// Appends `other`'s pieces; its views stay views.
    void append(Body other);

    void clear() {
        piece_count_ = 0;
        pieces_.clear();
        first_pin_.reset();
        pins_.clear();
        owned_.clear();
        size_ = 0;
    }

  private:
    struct Piece {
        const char* data = nullptr;  ///< null: in owned_ at `offset`
        std::size_t offset = 0;
        std::size_t size = 0;
    };

    Piece& last_piece() noexcept { return piece_count_ == 1 ? first_ : pieces_.back(); }

    void add_piece(Piece piece) {
        if (piece_count_ == 0) {
            first_ = piece;
        } else {
            pieces_.push_back(piece);
        }
        ++piece_count_;
    }

    void add_pin(Pin pin) {
        if (pin == nullptr || pin == first_pin_ || (!pins_.empty() && pins_.back() == pin)) {
            return;
        }
        if (first_pin_ == nullptr) {
            first_pin_ = std::move(pin);
        } else {
            pins_.push_back(std::move(pin));
        }
    }

    // The first piece and pin are members, so that a stored version goes out without an allocation.
    std::string owned_;
    Piece first_;
    std::vector<Piece> pieces_;  // from the second on
    Pin first_pin_;
    std::vector<Pin> pins_;
    std::size_t piece_count_ = 0;
    std::size_t size_ = 0;
};

/// The rest of a body that is too large to build at once: pulled slice by slice as the socket accepts
/// them. Sent chunked if size_left() is not known.
class BodySource {
  public:
    virtual ~BodySource() = default;

    /// The versions that next() is about to read and that are not in memory: a thread that must not wait
    /// for the device has Loop::fetched() bring them in first. Threads: as next().
    virtual std::vector<Position> unread() { return {}; }

    /// The same for bytes of a mapped file that holds no versions. Lifetime: until the next call of next().
    virtual std::string_view unread_bytes() const noexcept { return {}; }

    /// The total size of all slices still to come, if known. Threads: as next().
    virtual std::optional<std::uint64_t> size_left() const noexcept { return std::nullopt; }

    /// Puts the next slice into `slice` (empty on entry). Returns false when this was the last one.
    /// Waits for the device only for what unread() and unread_bytes() named. Runs on the connection's thread.
    virtual bool next(Body& slice) = 0;

    /// Set after a next() that has nothing more for now: the newest position it has read. next() is called
    /// again once there is a newer one, or after kSourcePauseMax, so that it can send a sign of life.
    /// None: next() can be called at once.
    virtual std::optional<Position> waits_after() const noexcept { return std::nullopt; }

    /// Whether there is no last slice, so that the caller has to end the body.
    virtual bool endless() const noexcept { return false; }
};

/// How long a BodySource that waits for news is not called.
inline constexpr std::chrono::seconds kSourcePauseMax{15};

}  // namespace annals::core
