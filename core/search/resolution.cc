#include "core/search/resolution.h"

#include "core/base/sort_unique.h"
#include "core/search/pace.h"
#include "storage/search_entries.h"

#include <algorithm>
#include <bit>

namespace annals::core::search {

namespace {

// The average number of keys in a stretch, which begin with the same bits: keys are hashes.
constexpr std::size_t kStretch = 8;

}  // namespace

void KeySet::add_to(Part& part, std::uint64_t key) {
    part.keys.push_back(key);
    if (part.keys.size() >= part.crowded) {
        sort_unique(part.keys);
        part.crowded = std::max(kPartCrowded, part.keys.size() * 2);
    }
}

void KeySet::divide() {
    sort_unique(keys_);
    if (keys_.size() < kCrowded / 2) {
        return;
    }
    parts_.resize(kParts);
    for (const std::uint64_t key : keys_) {
        add_to(parts_[key >> kPartShift], key);
    }
    keys_.clear();
}

bool KeySet::seal(const Pace& pace) {
    if (parts_.empty()) {
        sort_unique(keys_);
        keys_.shrink_to_fit();
    } else if (next_part_ == 0) {
        std::size_t size = 0;
        for (const Part& part : parts_) {
            size += part.keys.size();
        }
        keys_.reserve(size);
    }
    while (next_part_ < parts_.size()) {
        std::vector<std::uint64_t> keys = std::move(parts_[next_part_++].keys);
        sort_unique(keys);
        keys_.insert(keys_.end(), keys.begin(), keys.end());
        if (pace.is_over()) {
            return false;
        }
    }
    parts_ = std::vector<Part>();

    const int bits = static_cast<int>(std::bit_width(keys_.size() / kStretch)) + 1;
    shift_ = 64 - bits;
    starts_.assign((std::size_t{1} << bits) + 1, 0);
    std::size_t stretch = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        while (stretch < keys_[i] >> shift_) {
            starts_[++stretch] = static_cast<std::uint32_t>(i);
        }
    }
    while (++stretch < starts_.size()) {
        starts_[stretch] = static_cast<std::uint32_t>(keys_.size());
    }
    return true;
}

bool KeySet::contains(std::uint64_t key) const noexcept {
    if (starts_.empty()) {
        return false;
    }
    const std::uint32_t* const start = &starts_[key >> shift_];
    return std::binary_search(keys_.data() + start[0], keys_.data() + start[1], key);
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
