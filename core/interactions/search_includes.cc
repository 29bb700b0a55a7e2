#include "core/interactions/search_includes.h"

#include "codec/json/resource.h"
#include "core/base/all_resource_types.h"
#include "core/canonical.h"
#include "core/interactions/as_of.h"
#include "core/interactions/references.h"
#include "core/search/canonical_links.h"
#include "core/search/parameter_values.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

namespace annals::core {

namespace {

using search::Include;
using search::Parameter;
using storage::VersionInfo;

// The target of a reference. Lifetime: points into the reference.
struct Named {
    TypeId type;
    std::string_view id;
    std::optional<VersionNumber> version;
};

// A canonical reference, the include that it belongs to, and the parameter that found it.
struct CanonicalReference {
    std::string text;
    const Include* include;
    const Parameter* parameter;
};

// A literal reference to a resource of this server; none for any other.
std::optional<Named> read_reference(std::string_view reference, std::string_view base_url) {
    const auto key = local_reference(reference, base_url);
    return key ? std::optional(
                     Named{key->first, key->second, required_version(referred_version(reference))})
               : std::nullopt;
}

std::optional<VersionInfo> version_of(const Named& named, const storage::Store& store,
                                      Position position) {
    // A versioned reference means that version.
    const std::optional<VersionInfo> info =
        named.version ? store.version(named.type, named.id, *named.version)
                      : store.current(named.type, named.id, position);
    return info && info->position <= position ? info : std::nullopt;
}

class Includer {
  public:
    explicit Includer(const IncludeContext& context)
        : context_(context), reader_(context.snapshot) {}

    asio::awaitable<Result<Included>> run(std::span<const VersionInfo> matches) {
        for (const VersionInfo& match : matches) {
            seen_.insert(match.position.value);
        }
        std::vector<VersionInfo> round(matches.begin(), matches.end());
        for (int depth = 0; depth <= kIterateDepthMax && !round.empty(); ++depth) {
            if (depth > 0 && std::ranges::any_of(context_.includes, &Include::iterate)) {
                co_await context_.turns.fetched(round);  // The matches have been fetched.
            }
            const std::size_t before = included_.versions.size();
            Result<void> done = co_await include_targets(round, depth);
            for (const Include& include : context_.includes) {
                if (done && !included_.cut_short && include.reverse && applies(include, depth)) {
                    done = co_await include_referrers(include, round);
                }
            }
            if (!done) {
                co_return std::move(done.error());
            }
            if (included_.cut_short) {
                co_return std::move(included_);
            }
            // The next round starts from what this one added.
            round.assign(included_.versions.begin() + static_cast<std::ptrdiff_t>(before),
                         included_.versions.end());
        }
        co_return std::move(included_);
    }

  private:
    static bool applies(const Include& include, int depth) noexcept {
        return depth == 0 || include.iterate;
    }

    void add(const VersionInfo& info) {
        if (info.deletion || !seen_.insert(info.position.value).second) {
            return;
        }
        if (context_.looks) {
            candidates_.push_back(info);
        } else {
            add_shown(info);
        }
    }

    void add_shown(const VersionInfo& info) {
        if (!context_.shows(info)) {
            return;
        }
        if (included_.versions.size() == kIncludedMax) {
            included_.cut_short = true;
            return;
        }
        included_.versions.push_back(info);
    }

    // Adds the candidates that are shown, fetching them first.
    asio::awaitable<void> admit() {
        const std::vector<VersionInfo> candidates = std::exchange(candidates_, {});
        std::span<const VersionInfo> left(candidates);
        while (!left.empty() && !included_.cut_short) {
            const auto some = left.first(std::min(left.size(), kFetchedAtOnce));
            left = left.subspan(some.size());
            co_await context_.turns.fetched(some);
            std::ranges::for_each(some, [this](const VersionInfo& info) { add_shown(info); });
        }
    }

    void add_reference(const Include& include, std::string_view reference) {
        const std::optional<Named> named = read_reference(reference, context_.base_url);
        if (!named || (include.target && *include.target != named->type)) {
            return;
        }
        if (const auto info =
                version_of(*named, context_.snapshot.store(), context_.snapshot.position())) {
            add(*info);
        } else if (const auto& carried = context_.snapshot.carried();
                   carried && carried->types[named->type.value] && !named->version) {
            const std::uint64_t key = context_.snapshot.store().search_key(named->type, named->id);
            carried_[named->type.value].push_back(search::identity(key));
        }
    }

    // Adds what the resources of the round refer to. Each is parsed once, for all includes.
    asio::awaitable<Result<void>> include_targets(const std::vector<VersionInfo>& round,
                                                  int depth) {
        std::vector<CanonicalReference> canonicals;
        for (const VersionInfo& info : round) {
            search::ExpressionBudget budget;
            for (const Include& include : context_.includes) {
                if (!include.reverse && applies(include, depth) &&
                    (!include.source || *include.source == info.type)) {
                    add_references(include, info, budget, canonicals);
                }
            }
            if (candidates_.size() >= kFetchedAtOnce) {
                co_await admit();
            }
            if (included_.cut_short) {
                co_return Result<void>();
            }
            if (context_.turns.pace().is_over()) {
                Result<void> in_time = co_await context_.turns.next();
                if (!in_time) {
                    co_return std::move(in_time.error());
                }
            }
        }
        for (const CanonicalReference& canonical : canonicals) {
            Result<void> done = co_await add_canonical(canonical);
            if (!done) {
                co_return std::move(done.error());
            }
            if (included_.cut_short) {
                co_return Result<void>();
            }
        }
        Result<void> done = co_await add_carried();
        if (!done) {
            co_return std::move(done.error());
        }
        if (!candidates_.empty()) {
            co_await admit();
        }
        co_return Result<void>();
    }

    // Packages' resources can be found by id only in their index.
    asio::awaitable<Result<void>> add_carried() {
        const auto carried = std::exchange(carried_, {});
        for (const auto& [type, terms] : carried) {
            Result<void> done =
                co_await add_matches({type}, search::carrying(terms), kIncludedMax * 2 + 1);
            if (!done) {
                co_return std::move(done.error());
            }
        }
        co_return Result<void>();
    }

    void add_references(const Include& include, const VersionInfo& info,
                        search::ExpressionBudget& budget,
                        std::vector<CanonicalReference>& canonicals) {
        const json::Value body = reader_.read(info.position);
        if (!body) {
            return;
        }
        if (include.parameter == nullptr) {
            add_every_reference(include, info.type, body, budget, canonicals);
            return;
        }
        search::for_each_parameter_value(*include.parameter, body, budget, [&](json::Value value) {
            if (value.is_object()) {
                add_reference(include, value["reference"].string());
            } else if (value.is_string()) {
                canonicals.push_back({value.string(), &include, include.parameter});
            }
        });
    }

    void add_every_reference(const Include& include, TypeId type, json::Value body,
                             search::ExpressionBudget& budget,
                             std::vector<CanonicalReference>& canonicals) {
        sites_.clear();
        json::find_references(body, sites_);
        for (const json::ReferenceSite& site : sites_) {
            if (site.kind == json::ReferenceSite::Kind::reference) {
                add_reference(include, site.value.string());
            }
        }
        // Canonicals can be distinguished from other texts only by the parameters.
        for (const Parameter& parameter : context_.parameters->of(type)) {
            if (parameter.type != schema::SearchType::reference || !parameter.ready) {
                continue;
            }
            search::for_each_parameter_value(parameter, body, budget, [&](json::Value value) {
                if (value.is_string()) {
                    canonicals.push_back({value.string(), &include, &parameter});
                }
            });
        }
    }

    // Adds the resources that a canonical names by their url.
    asio::awaitable<Result<void>> add_canonical(const CanonicalReference& canonical) {
        const Include& include = *canonical.include;
        const std::string& text = canonical.text;
        if (read_reference(text, context_.base_url)) {
            add_reference(include, text);
            co_return Result<void>();
        }
        const Canonical named = split_canonical(text);
        const std::vector<TypeId> targets = include.target
                                                ? std::vector{*include.target}
                                                : search::targets_of(*canonical.parameter);
        const search::Plan plan = search::all_of(
            search::carrying({search::exact(search::column_of("url"), named.url)}),
            named.version.empty()
                ? search::everything()
                : search::carrying({search::token(search::column_of("version"), named.version)}));
        for (const TypeId type : targets) {
            if (!search::may_be_named(type)) {
                continue;  // The `url` of a Subscription is its endpoint.
            }
            Result<void> done = Result<void>();
            if (context_.as_of) {
                done = co_await reach_back(context_.service, context_.parameters,
                                           std::span(&type, 1), context_.snapshot, context_.turns);
            }
            if (done) {
                done = co_await add_matches(type, plan, 1);
            }
            if (!done) {
                co_return std::move(done.error());
            }
        }
        co_return Result<void>();
    }

    // Adds the keys by which others refer to a version's resource.
    void add_keys(const VersionInfo& info, std::vector<std::uint64_t>& keys) {
        const storage::Store& store = context_.snapshot.store();
        if (!search::may_be_named(info.type)) {
            if (const Result<storage::StoredVersion> stored = context_.snapshot.load(info)) {
                keys.push_back(store.search_key(info.type, stored->id));
            }
        } else if (const json::Value body = reader_.read(info.position)) {
            keys.push_back(store.search_key(info.type, reader_.id()));
            std::ranges::copy(search::canonical_keys(store.search_seed(), body),
                              std::back_inserter(keys));
        }
    }

    asio::awaitable<Result<void>> include_referrers(const Include& include,
                                                    const std::vector<VersionInfo>& round) {
        std::vector<std::uint64_t> keys;
        for (const VersionInfo& info : round) {
            if (include.target && *include.target != info.type) {
                continue;
            }
            add_keys(info, keys);
            if (context_.turns.pace().is_over()) {
                Result<void> in_time = co_await context_.turns.next();
                if (!in_time) {
                    co_return std::move(in_time.error());
                }
            }
        }
        std::vector<TypeId> sources;
        if (include.source) {
            sources.push_back(*include.source);
        } else {
            sources.assign(kAllResourceTypes.begin(), kAllResourceTypes.end());
        }
        for (const TypeId source : sources) {
            if (keys.empty() || context_.snapshot.runs(source).runs.empty()) {
                continue;
            }
            std::vector<search::Term> terms;
            const auto add_terms = [&](const Parameter& parameter) {
                for (const std::uint64_t key : keys) {
                    terms.push_back(search::reference(parameter.column, key));
                }
            };
            if (include.parameter != nullptr) {
                add_terms(*include.parameter);
            } else {
                for (const Parameter& parameter : context_.parameters->of(source)) {
                    if (parameter.type == schema::SearchType::reference) {
                        add_terms(parameter);
                    }
                }
            }
            Result<void> done = co_await add_matches(source, search::carrying(std::move(terms)),
                                                     kIncludedMax * 2 + 1);
            if (!done) {
                co_return std::move(done.error());
            }
            if (included_.cut_short) {
                break;
            }
        }
        co_return Result<void>();
    }

    // Adds the newest matches; those that aren't shown don't count towards the limit.
    asio::awaitable<Result<void>> add_matches(TypeId type, search::Plan plan, std::size_t limit) {
        if (!context_.snapshot.answers(type)) {
            co_return search::expired_snapshot();
        }
        const search::Plan seen = search::seen_of(context_.view, type, std::move(plan));
        search::Execution execution(context_.snapshot, type, seen);
        execution.want({.limit = limit});
        Result<void> done = co_await context_.turns.finish(execution);
        if (!done) {
            co_return std::move(done.error());
        }
        for (const search::Match& match : execution.matches()) {
            if (const auto info = context_.snapshot.at(match.position())) {
                add(*info);
            }
        }
        if (!candidates_.empty()) {
            co_await admit();
        }
        co_return Result<void>();
    }

    const IncludeContext& context_;
    search::BodyReader reader_;
    std::unordered_set<std::uint64_t> seen_;  // positions
    std::vector<VersionInfo> candidates_;     // to be fetched to decide whether they are shown
    std::map<std::uint16_t, std::vector<search::Term>> carried_;  // by type
    std::vector<json::ReferenceSite> sites_;
    Included included_;
};

}  // namespace

std::optional<VersionInfo> find_referred_version(const storage::Store& store,
                                                 std::string_view reference,
                                                 std::string_view base_url, Position position) {
    const std::optional<Named> named = read_reference(reference, base_url);
    return named ? version_of(*named, store, position) : std::nullopt;
}

asio::awaitable<Result<Included>> find_included(const IncludeContext& context,
                                                std::span<const storage::VersionInfo> matches) {
    Includer includer(context);
    Result<Included> included = co_await includer.run(matches);
    co_return included;
}

}  // namespace annals::core
