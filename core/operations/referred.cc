#include "core/operations/referred.h"

#include "codec/json/resource.h"
#include "core/interactions/references.h"
#include "core/interactions/search_includes.h"

#include <unordered_set>
#include <utility>

namespace annals::core {

asio::awaitable<Result<Referred>> find_referred(
    search::Snapshot& snapshot, std::string_view base_url,
    std::span<const storage::VersionInfo> from,
    const std::function<bool(TypeId, std::string_view id)>& wanted,
    const std::function<bool(const storage::VersionInfo&)>& shown, ReferredLimits limits,
    Turns& turns) {
    const storage::Store& store = snapshot.store();
    search::BodyReader reader(store);
    std::unordered_set<std::uint64_t> seen;
    std::unordered_set<std::uint32_t> taken;
    for (const storage::VersionInfo& info : from) {
        seen.insert(info.position.value);
        taken.insert(info.resource);
    }
    std::vector<json::ReferenceSite> sites;
    std::vector<storage::VersionInfo> round(from.begin(), from.end());
    std::vector<storage::VersionInfo> candidates;  // fetched before `shown` is called
    Referred referred;
    for (int step = 0; step < limits.steps && !round.empty(); ++step) {
        co_await turns.fetched(round);
        const std::size_t before = referred.versions.size();
        for (const storage::VersionInfo& info : round) {
            sites.clear();
            if (const json::Value body = reader.read(info.position)) {
                json::find_references(body, sites);
            }
            for (const json::ReferenceSite& site : sites) {
                const std::string text = site.value.string();
                const auto named = local_reference(text, base_url);
                if (site.kind != json::ReferenceSite::Kind::reference || !named ||
                    !wanted(named->first, named->second)) {
                    continue;
                }
                const auto found =
                    find_referred_version(store, text, base_url, snapshot.position());
                if (found && !found->deletion && seen.insert(found->position.value).second) {
                    candidates.push_back(*found);
                }
            }
            if (candidates.size() >= kFetchedAtOnce || &info == &round.back()) {
                co_await turns.fetched(candidates);
                for (const storage::VersionInfo& found : std::exchange(candidates, {})) {
                    if (!shown(found) ||
                        (limits.one_version && !taken.insert(found.resource).second)) {
                        continue;
                    }
                    if (referred.versions.size() == limits.limit) {
                        referred.cut_short = true;
                        co_return referred;
                    }
                    referred.versions.push_back(found);
                }
            }
            if (turns.pace().is_over()) {
                Result<void> in_time = co_await turns.next();
                if (!in_time) {
                    co_return std::move(in_time.error());
                }
            }
        }
        round.assign(referred.versions.begin() + static_cast<std::ptrdiff_t>(before),
                     referred.versions.end());
    }
    co_return referred;
}

}  // namespace annals::core
