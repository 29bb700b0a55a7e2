// Body: the bytes of a response as pieces, so that stored versions go out uncopied.
//
// Layer:   core.
// Threads: plain values.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// Owned text and views of pinned bytes, in order. Movable; cheap for one view.
class Body {
  public:
    using Pin = std::shared_ptr<const void>;

    Body() = default;

    explicit Body(std::string text) { append(text); }

    /// Copies `text` to the end.
    void append(std::string_view text) {
        if (text.empty()) {
            return;
        }
        if (pieces_.empty() || pieces_.back().data != nullptr) {
            pieces_.push_back({nullptr, owned_.size(), 0});
        }
        owned_.append(text);
        pieces_.back().size += text.size();
        size_ += text.size();
    }

    /// Adds bytes without copying them. Lifetime: `bytes` live as long as `pin` or, with a null pin,
    /// longer than the Body.
    void append_view(std::string_view bytes, Pin pin) {
        if (bytes.empty()) {
            return;
        }
        pieces_.push_back({bytes.data(), 0, bytes.size()});
        size_ += bytes.size();
        if (pin != nullptr && (pins_.empty() || pins_.back() != pin)) {
            pins_.push_back(std::move(pin));
        }
    }

    std::size_t size() const noexcept { return size_; }

    bool empty() const noexcept { return size_ == 0; }

    std::size_t piece_count() const noexcept { return pieces_.size(); }

    /// The piece at `index`. Lifetime: until the Body is changed or destroyed.
    std::string_view piece(std::size_t index) const noexcept {
        const Piece& piece = pieces_[index];
        const char* data = piece.data != nullptr ? piece.data : owned_.data() + piece.offset;
        return {data, piece.size};
    }

    /// Everything as one string (tests, transforms).
    std::string str() const {
        std::string text;
        text.reserve(size_);
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            text.append(piece(i));
        }
        return text;
    }

    /// Appends `other`'s pieces; its views stay views.
    void append(Body other);

    void clear() {
        pieces_.clear();
        pins_.clear();
        owned_.clear();
        size_ = 0;
    }

  private:
    struct Piece {
        const char* data;  ///< null: in owned_ at `offset`
        std::size_t offset;
        std::size_t size;
    };

    std::string owned_;
    std::vector<Piece> pieces_;
    std::vector<Pin> pins_;
    std::size_t size_ = 0;
};

/// The rest of a body that is too large to build at once: pulled when the socket has taken what came
/// before. Sent chunked.
class BodySource {
  public:
    virtual ~BodySource() = default;

    /// Puts the next slice into `slice` (empty on entry). Returns false when this was the last one.
    /// Must not block. Runs on the connection's thread.
    virtual bool next(Body& slice) = 0;
};

}  // namespace annals::core
