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
    for (std::size_t i = 0; i < other.piece_count_; ++i) {
        Piece piece = i == 0 ? other.first_ : other.pieces_[i - 1];
        if (piece.data == nullptr) {
            piece.offset += offset;
        }
        add_piece(piece);
    }
    add_pin(std::move(other.first_pin_));
    for (Pin& pin : other.pins_) {
        add_pin(std::move(pin));
    }
    size_ += other.size_;
}

}  // namespace annals::core
