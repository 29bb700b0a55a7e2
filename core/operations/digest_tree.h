// DigestTree: sums of hashes over a tree of the store's resources, to be compared with another store's.
//
// Layer:   core/operations.
// Spec:    docs/api/digest.md says what is hashed, so that two programs get the same results.
// Memory:  12 bytes a version and 8 a resource, after the first request.
// Threads: any; versions are read by a thread of its own, which lives while there is something to read.

#pragma once

#include "storage/store.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace annals::core {

/// A resource's place in the tree: XXH3-64 of `Type/id`, seed 0. Its hexadecimal digits, the highest first,
/// are the path from the root.
std::uint64_t digest_key(std::string_view name) noexcept;

class DigestTree {
  public:
    /// A number of versions, and the sum (modulo 2^64) of their hashes.
    struct Sum {
        std::uint64_t versions = 0;
        std::uint64_t digest = 0;

        void add(std::uint64_t hash) noexcept {
            ++versions;
            digest += hash;
        }

        void add(const Sum& other) noexcept {
            versions += other.versions;
            digest += other.digest;
        }

        bool operator==(const Sum&) const = default;
    };

    struct Version {
        std::string url;  ///< Patient/1/_history/2
        std::uint64_t digest = 0;
    };

    /// The part of the tree below a prefix of the key: its sixteen children or, if there are few, its versions.
    struct Node {
        Position position;  ///< the newest that it includes
        Sum sum;
        bool lists = false;  ///< `versions` has all of them, and `children` none
        std::array<Sum, 16> children;
        std::vector<Version> versions;
        std::vector<Position>
            unread;  ///< versions missing there, because they are on the device only
    };

    /// A node with no more versions lists them.
    static constexpr std::uint64_t kListedMax = 128;
    static constexpr std::size_t kDigitsMax = 16;

    /// Lifetime: `store` outlives the tree.
    explicit DigestTree(const storage::Store& store) : store_(store) {}

    /// Stops reading.
    ~DigestTree();
    DigestTree(const DigestTree&) = delete;
    DigestTree& operator=(const DigestTree&) = delete;

    /// True if it includes everything visible; otherwise starts to read the rest, unless that is running already.
    /// Errors: overloaded: no thread could be started.
    /// Cost:   each version is read once in the tree's life; each call scans all of them in memory.
    Result<bool> refresh();

    /// True if nothing that refresh() started is running.
    bool idle();

    /// The newest position read so far by what refresh() started.
    Position reading() const noexcept { return {reading_.load(std::memory_order_relaxed)}; }

    /// The node for the first `digits` hexadecimal digits of `prefix`, whose others are zero. None while the
    /// tree is being updated. If it must not block, Node::unread lists the versions to fetch first, if any.
    /// Requires: digits <= kDigitsMax.
    std::optional<Node> node(std::uint64_t prefix, std::size_t digits, bool may_block) const;

  private:
    static constexpr std::size_t kBucketDigits = 4;
    static constexpr std::size_t kBuckets = std::size_t{1} << (4 * kBucketDigits);
    static constexpr unsigned kBucketShift = 4 * (kDigitsMax - kBucketDigits);

    void update();
    void learn(std::uint64_t position);
    void arrange();
    void list(Node& node, std::uint64_t first, std::uint64_t last, bool may_block) const;

    const storage::Store& store_;
    std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> reading_{0};

    std::mutex thread_mutex_;  ///< guards the two below
    bool running_ = false;
    std::jthread thread_;

    mutable std::mutex mutex_;                ///< guards all below; held during an update
    std::vector<std::uint64_t> hashes_;       ///< of versions by position; 0: it no longer existed
    std::vector<std::uint64_t> keys_;         ///< of resources by number; 0: unknown
    std::vector<std::uint32_t> positions_;    ///< of existing versions, bucket by bucket
    std::vector<std::uint32_t> bucket_ends_;  ///< in `positions_`
    std::vector<Sum> sums_;                   ///< of buckets
    std::atomic<std::uint64_t> known_through_{0};
    std::atomic<std::uint64_t> known_versions_{0};
};

}  // namespace annals::core
