#include "core/body.h"

#include <utility>

namespace annals::core {

void Body::append(Body other) {
    if (empty()) {
        *this = std::move(other);
        return;
    }
    const std::size_t offset = owned_.size();
    owned_.append(other.owned_);
    for (Piece& piece : other.pieces_) {
        if (piece.data == nullptr) {
            piece.offset += offset;
        }
        pieces_.push_back(piece);
    }
    for (Pin& pin : other.pins_) {
        pins_.push_back(std::move(pin));
    }
    size_ += other.size_;
}

}  // namespace annals::core
