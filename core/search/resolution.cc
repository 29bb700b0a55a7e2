#include "core/search/resolution.h"

#include "storage/search_entries.h"

#include <algorithm>
#include <bit>

namespace annals::core::search {

void KeySet::make_unique() {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    crowded_ = std::max(kCrowded, keys_.size() * 2);
}

void KeySet::seal() {
    make_unique();
    keys_.shrink_to_fit();
    const std::size_t slots = std::bit_ceil(keys_.size() * 2 + 2);
    table_.assign(slots, 0);
    mask_ = slots - 1;
    for (const std::uint64_t key : keys_) {
        if (key == 0) {
            has_zero_ = true;
            continue;
        }
        std::uint64_t slot = key & mask_;
        while (table_[slot] != 0) {
            slot = (slot + 1) & mask_;
        }
        table_[slot] = key;
    }
}

bool KeySet::contains(std::uint64_t key) const noexcept {
    if (key == 0) {
        return has_zero_;
    }
    for (std::uint64_t slot = key & mask_; table_[slot] != 0; slot = (slot + 1) & mask_) {
        if (table_[slot] == key) {
            return true;
        }
    }
    return false;
}

Related related_by(const Resolution& resolution) {
    return [&resolution](const Plan& part, const storage::SearchEntries& entries) {
        const KeySet& keys = resolution.keys.at(&part);
        return std::ranges::any_of(entries.links, [&](const storage::SearchEntries::Link& link) {
            return link.column == part.column && keys.contains(link.target);
        });
    };
}

}  // namespace annals::core::search
