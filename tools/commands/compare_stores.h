// Compares the versions in two Annals servers by their digests, from the root of the tree to the first difference.
//
// Layer:   tools (replicate --verify).
// Spec:    docs/api/digest.md.
// Threads: one.

#pragma once

#include "core/base/result.h"
#include "tools/commands/http_client.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace annals::tools {

/// The answer of $digest.
struct DigestNode {
    struct Sum {
        std::uint64_t versions = 0;
        std::uint64_t digest = 0;

        bool operator==(const Sum&) const = default;
    };

    Sum sum;
    std::array<Sum, 16> children;
    std::map<std::string, std::uint64_t> versions;  ///< digests by URL
    bool lists = false;                             ///< `versions` is complete
};

/// Errors: processing (it is not a $digest answer).
Result<DigestNode> read_digest(std::string_view body);

/// Asks one of the two servers for the node below a prefix.
using AskDigest = std::function<Result<DigestNode>(const std::string& prefix)>;

struct Comparison {
    std::uint64_t versions = 0;   ///< of the first store
    std::uint64_t digest = 0;     ///< of the first store
    std::uint64_t exchanges = 0;  ///< requests to each
    std::string difference;       ///< "Patient/1/_history/2: only here"; empty: they are the same
};

/// Finds the first difference, in the order of the tree. Errors: those of the calls.
Result<Comparison> compare_digests(const AskDigest& first, const AskDigest& second);

/// Compares two servers. Differences are checked again a few times, a second apart: the versions may be on their way.
/// Errors: io, timeout, processing.
Result<Comparison> compare_stores(const ServerUrl& first, const ServerUrl& second,
                                  const Patience& patience);

}  // namespace annals::tools
