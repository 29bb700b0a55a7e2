#include "core/operations/digest_tree.h"

#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/start_thread.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

using storage::StoredVersion;
using storage::VersionInfo;

constexpr unsigned kBitsPerDigit = 4;
constexpr unsigned kKeyBits = 64;
constexpr std::int64_t kMicrosecondsPerMillisecond = 1000;

/// The digest of a damaged version, which no intact one has.
constexpr std::uint64_t kDamaged = 1;

std::string name_of(const StoredVersion& version) {
    return fmt::format("{}/{}", resource_type_name(version.info.type), version.id);
}

/// The first and last key below a prefix.
std::pair<std::uint64_t, std::uint64_t> span_of(std::uint64_t prefix, std::size_t digits) {
    const auto bits = static_cast<unsigned>(digits) * kBitsPerDigit;
    return {prefix, bits == kKeyBits ? prefix : prefix | (~std::uint64_t{0} >> bits)};
}

std::size_t digit_at(std::uint64_t key, std::size_t place) {
    return key >> (kKeyBits - (place + 1) * kBitsPerDigit) & 15;
}

/// The hash of one version.
std::uint64_t version_digest(const StoredVersion& version) {
    // Instants of deletions are transmitted as text, in milliseconds.
    const std::string head = fmt::format(
        "{} {} {} {}", name_of(version), version.info.version.value,
        version.info.instant.us / kMicrosecondsPerMillisecond, version.info.deletion ? 1 : 0);
    return hash64(version.body, hash64(head));
}

}  // namespace

std::uint64_t digest_key(std::string_view name) noexcept {
    return hash64(name);
}

DigestTree::~DigestTree() {
    stop_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

Result<bool> DigestTree::refresh() {
    const std::lock_guard lock(thread_mutex_);
    if (running_) {
        return false;
    }
    if (known_through_ == store_.last_position().value &&
        known_versions_ == store_.totals().versions) {
        return true;
    }
    if (thread_.joinable()) {
        thread_.join();  // it is about to end
    }
    ANNALS_TRY(thread_, start_thread("digest", [this] {
                   update();
                   const std::lock_guard ended(thread_mutex_);
                   running_ = false;
               }));
    running_ = true;
    return false;
}

bool DigestTree::idle() {
    const std::lock_guard lock(thread_mutex_);
    return !running_;
}

void DigestTree::update() {
    const std::lock_guard lock(mutex_);
    const std::uint64_t through = store_.last_position().value;
    for (std::uint64_t position = hashes_.size() + 1; position <= through && !stop_; ++position) {
        hashes_.push_back(0);
        learn(position);
        reading_.store(position, std::memory_order_relaxed);
    }
    if (!stop_) {
        arrange();
    }
}

void DigestTree::learn(std::uint64_t position) {
    const std::optional<VersionInfo> info = store_.at({position});
    if (!info) {
        return;
    }
    const auto stored = store_.load(*info);
    if (!stored && stored.error().code == Errc::not_found) {
        return;  // erased meanwhile
    }
    if (info->resource >= keys_.size()) {
        keys_.resize(info->resource + 1, 0);
    }
    if (!stored) {
        log_error(fmt::format("digest: {}", stored.error().detail));
        hashes_.back() = kDamaged;
        return;
    }
    keys_[info->resource] = digest_key(name_of(*stored));
    hashes_.back() = std::max(version_digest(*stored), std::uint64_t{2});
}

/// Sorts the existing versions into buckets, by counting.
void DigestTree::arrange() {
    struct Place {
        std::uint32_t position;
        std::uint32_t bucket;
    };

    std::vector<Place> places;
    places.reserve(hashes_.size());
    std::vector<std::uint32_t> ends(kBuckets, 0);
    sums_.assign(kBuckets, {});
    for (std::uint64_t position = 1; position <= hashes_.size(); ++position) {
        const std::uint64_t hash = hashes_[position - 1];
        const auto info = hash == 0 ? std::nullopt : store_.at({position});
        if (!info) {
            hashes_[position - 1] = 0;
            continue;
        }
        const auto bucket = static_cast<std::uint32_t>(keys_[info->resource] >> kBucketShift);
        places.push_back({static_cast<std::uint32_t>(position), bucket});
        sums_[bucket].add(hash);
        ++ends[bucket];
    }
    for (std::size_t i = 1; i < kBuckets; ++i) {
        ends[i] += ends[i - 1];
    }
    bucket_ends_ = ends;
    positions_.resize(places.size());
    for (std::size_t i = places.size(); i > 0; --i) {
        positions_[--ends[places[i - 1].bucket]] = places[i - 1].position;
    }
    known_versions_ = places.size();
    known_through_ = hashes_.size();
}

std::optional<DigestTree::Node> DigestTree::node(std::uint64_t prefix, std::size_t digits,
                                                 bool may_block) const {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) {
        return std::nullopt;
    }
    Node node;
    node.position = {known_through_};
    if (sums_.empty()) {
        node.lists = true;
        return node;
    }
    const auto [first, last] = span_of(prefix, digits);
    if (digits < kBucketDigits) {
        for (std::uint64_t bucket = first >> kBucketShift; bucket <= last >> kBucketShift;
             ++bucket) {
            node.sum.add(sums_[bucket]);
            node.children[digit_at(bucket << kBucketShift, digits)].add(sums_[bucket]);
        }
        if (node.sum.versions > kListedMax) {
            return node;
        }
    }
    list(node, first, last, may_block);
    node.lists = digits == kDigitsMax || node.sum.versions <= kListedMax;
    if (node.lists) {
        node.children = {};
    } else {
        node.versions.clear();
        node.unread.clear();
    }
    return node;
}

/// Lists the versions with keys from `first` to `last`, and sums them up.
void DigestTree::list(Node& node, std::uint64_t first, std::uint64_t last, bool may_block) const {
    const std::uint64_t bucket = first >> kBucketShift;
    const std::size_t begin = bucket == 0 ? 0 : bucket_ends_[bucket - 1];
    const std::size_t end = bucket_ends_[last >> kBucketShift];
    // The index of the digit that differs among the children of a node smaller than a bucket.
    std::size_t place = 0;
    while (place < kDigitsMax && digit_at(first, place) == digit_at(last, place)) {
        ++place;
    }
    node.sum = {};
    node.children = {};
    for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t position = positions_[i];
        const auto info = store_.at({position});
        if (!info || keys_[info->resource] < first || keys_[info->resource] > last) {
            continue;
        }
        const std::uint64_t hash = hashes_[position - 1];
        node.sum.add(hash);
        if (place < kDigitsMax) {
            node.children[digit_at(keys_[info->resource], place)].add(hash);
        }
        if (node.versions.size() + node.unread.size() > kListedMax && place < kDigitsMax) {
            continue;
        }
        const auto stored = may_block ? store_.load(*info) : store_.load_resident(*info);
        if (stored && stored->unread) {
            node.unread.push_back(info->position);
        } else if (stored) {
            node.versions.push_back(
                {fmt::format("{}/_history/{}", name_of(*stored), info->version.value), hash});
        }
    }
}

}  // namespace annals::core
