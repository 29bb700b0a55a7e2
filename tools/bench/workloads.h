// Workloads: the conversations that make up the load.
//
// Layer:   tools/bench.
// Threads: conversations of one load may run on several threads; shared data is const or atomic.

#pragma once

#include "tools/bench/bench.h"
#include "tools/bench/search_mix.h"
#include "tools/generate/chart.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::bench {

/// A resource without its id.
struct Body {
    std::string_view type;
    std::string text;
};

/// One of this many responses is examined.
inline constexpr std::uint64_t kVerifyEvery = 64;

/// What most workloads send: 256 generated resources of all types, of about 1400 bytes each.
std::vector<Body> usual_bodies(std::uint64_t seed);

/// For each of nine types, 32 resources of about that size.
std::vector<std::vector<Body>> bodies_of_nine_types(std::uint64_t seed);

/// Appends a request. `target` is appended to the base; `body` may be empty; `more` is header lines.
void put_request(std::string& out, std::string_view method, const Site& site,
                 std::string_view target, std::string_view body, std::string_view more = {});

/// Writes the body with an id to `out`: after its resourceType, which comes first in every generated resource.
void put_with_id(std::string& out, const Body& body, std::string_view id);

/// Whether a response is this version of the resource, by its ETag and the first id and version number in its body.
bool is_version(const Answer& answer, std::string_view id, std::uint64_t version);

/// The id in "http://.../Type/id/_history/1"; empty if there is none.
std::string_view id_in_location(std::string_view location);

using Conversations = std::vector<std::unique_ptr<Conversation>>;

/// GET of "/`target`", forever, expecting 200.
Conversations fixed_gets(const Site& site, std::string_view target, std::size_t count);

/// POST of one body after another, forever, expecting 201. Lifetime: `bodies` outlives them.
/// `verify`: examine the responses, too.
Conversations creates(const Site& site, const std::vector<Body>& bodies, std::size_t count,
                      bool verify);

/// A resource that is in the store.
struct Known {
    std::string_view type;
    std::string id;
};

/// Creates `total` resources over `count` connections and adds them to `known`.
/// Requires: one client thread. Lifetime: the arguments outlive them.
Conversations preloads(const Site& site, const std::vector<Body>& bodies, std::size_t total,
                       std::size_t count, std::vector<Known>& known);

/// GET of random known resources, forever; `version`: "" or "/_history/1". Lifetime: `known` outlives them.
Conversations reads(const Site& site, const std::vector<Known>& known, std::string_view version,
                    std::size_t count, std::uint64_t seed);

/// 10 % creates, 60 % reads, 25 % updates and 5 % deletes, drawn at random, forever. Each connection starts
/// with its share of `known` and uses only its own resources. Lifetime: `bodies` outlives them.
Conversations mixes(const Site& site, const std::vector<Body>& bodies,
                    const std::vector<Known>& known, std::size_t count, std::uint64_t seed);

inline constexpr std::array<std::string_view, 4> kMixOperations{"create", "read", "update",
                                                                "delete"};

/// Transactions of a Patient and an Observation that refers to it by urn:uuid, forever.
Conversations small_transactions(const Site& site, std::size_t count, std::uint64_t seed);

/// The type history of `type` from newest to oldest version, `page` versions per page, over and over.
Conversations history_reads(const Site& site, std::string_view type, std::uint64_t page,
                            std::size_t count);

/// Create, read, update and delete of one resource after another of the nine types, forever.
Conversations cruds(const Site& site, const std::vector<std::vector<Body>>& bodies,
                    std::size_t count);

/// A Bundle as it is sent.
struct BundleText {
    std::string text;
    std::uint32_t entries = 0;
};

/// Every JSON file in `paths` (files or folders), in the order of their names. Errors: usage.
Result<std::vector<BundleText>> read_bundles(const std::vector<std::string>& paths);

/// POST of the bundles in turn, over and over. Lifetime: `bundles` outlives them.
Conversations file_imports(const Site& site, const std::vector<BundleText>& bundles,
                           std::size_t count);

/// POST of each bundle once, or of a generated history of `resources` resources, over one connection, so that the
/// store is the same each time. Lifetime: `bundles` outlives them.
Conversations bundle_preload(const Site& site, const std::vector<BundleText>& bundles,
                             std::uint64_t resources, std::uint64_t seed);

/// POST of generated transaction bundles, each connection with patients of its own.
Conversations generated_imports(const Site& site, std::size_t count, std::uint64_t seed);

/// POST of generated history bundles, oldest first, each connection with a history of its own.
Conversations history_applications(const Site& site, std::size_t count, std::uint64_t seed,
                                   std::uint64_t bundle_entries);

/// What the examined responses contained.
struct SearchSums {
    std::atomic<std::uint64_t> answers = 0;
    std::atomic<std::uint64_t> matches = 0;  ///< for counts: the totals
    std::atomic<std::uint64_t> bytes = 0;
};

/// Random searches of the mix, forever: pages of 20 matches, or counts. Lifetime: `mix` and `sums` outlive
/// them.
Conversations searches(const Site& site, const SearchMix& mix, bool counts, std::size_t count,
                       std::uint64_t seed, SearchSums& sums);

}  // namespace annals::bench
