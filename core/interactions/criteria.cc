#include "core/interactions/criteria.h"

#include "core/definitions.h"
#include "core/interactions/binary.h"
#include "core/interactions/query_needs.h"
#include "core/scoped_view.h"
#include "core/search/execute.h"
#include "core/search/query.h"
#include "core/search/result_parameters.h"
#include "core/search/snapshot_resources.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

using search::Execution;
using search::Snapshot;

// The most conditions of criteria that are tested on each write of the type.
constexpr std::size_t kWatchedPartsMax = 32;

std::size_t parts_of(const search::Plan& plan) {
    std::size_t count = 1;
    for (const search::Plan& part : plan.parts) {
        count += parts_of(part);
    }
    return count;
}

void watch_writes(const Service& service, const Criteria& criteria) {
    if (criteria.writes != nullptr || criteria.watch.terms ||
        parts_of(criteria.plan) > kWatchedPartsMax) {
        return;
    }
    criteria.writes = service.store().watch(
        criteria.type,
        [plan = criteria.plan](const storage::SearchEntries& entries, std::uint64_t identity) {
            return search::may_match(plan, entries, identity);
        });
}

/// One evaluation of criteria.
class Finding {
  public:
    Finding(const Service& service, const Criteria& criteria, std::size_t limit)
        : service_(service),
          criteria_(criteria),
          hard_deletes_(look(service, criteria)),
          snapshot_(service.store()),
          execution_(snapshot_, criteria.type, criteria.plan),
          limit_(limit) {
        execution_.want({.limit = std::max(limit, kMatchesCountedMax) + 1});
    }

    Execution& execution() noexcept { return execution_; }

    /// The versions that take() reads. Requires: as take().
    std::vector<storage::VersionInfo> versions() {
        std::vector<storage::VersionInfo> versions;
        for (const search::Match& match : execution_.matches()) {
            if (versions.size() == limit_) {
                break;
            }
            if (const auto info = service_.store().at(match.position())) {
                versions.push_back(*info);
            }
        }
        return versions;
    }

    /// None if it may not block and a match is only on the device.
    Result<std::optional<CriteriaMatches>> take(bool may_block) {
        CriteriaMatches matches;
        const Position as_of = matches.as_of = snapshot_.position();
        if (!criteria_.watch.terms || !criteria_.watch.terms->empty()) {
            storage::Guard guard{.type = criteria_.type, .terms = {}, .as_of = as_of};
            if (criteria_.watch.terms) {
                guard.terms = *criteria_.watch.terms;
            } else {
                guard.watch = criteria_.writes.get();
            }
            matches.guards.push_back(guard);
        }
        for (const TypeId other : criteria_.watch.others) {
            matches.guards.push_back(
                {.type = other, .terms = {}, .as_of = as_of, .hard_deletes = hard_deletes_});
        }
        const storage::Store& store = service_.store();
        matches.count = execution_.matches().size();
        matches.more = matches.count > limit_;
        for (const search::Match& match : execution_.matches()) {
            if (matches.found.size() == limit_) {
                break;
            }
            const auto info = store.at(match.position());
            if (!info) {
                continue;  // Erased since the index was read.
            }
            auto stored = may_block ? store.load(*info) : store.load_resident(*info);
            if (stored && stored->unread) {
                return std::optional<CriteriaMatches>();
            }
            if (stored) {
                matches.found.push_back(*std::move(stored));
            } else if (stored.error().code != Errc::not_found) {
                return std::move(stored.error());
            }
        }
        return std::optional(std::move(matches));
    }

  private:
    /// What must be determined before the snapshot is taken.
    static std::uint64_t look(const Service& service, const Criteria& criteria) {
        watch_writes(service, criteria);
        return service.store().hard_deletes();
    }

    const Service& service_;
    const Criteria& criteria_;
    std::uint64_t hard_deletes_;  ///< before the snapshot
    Snapshot snapshot_;
    Execution execution_;
    std::size_t limit_;
};

}  // namespace

Result<Criteria> parse_criteria(const Service& service, const Request& request, TypeId type,
                                std::string_view query, QueryNeeds* needs,
                                const search::Links& links) {
    ANNALS_TRY(const auto pairs, search::decode_pairs(query));
    Criteria criteria;
    criteria.type = type;
    const ScopedView view(service, request, kMaySearch, "search");
    criteria.parameters = view.parameters();
    Snapshot snapshot(service.store());
    const search::SnapshotResources stored(snapshot, service.definitions().carried(),
                                           needs == nullptr ? nullptr : needs->unread(),
                                           needs == nullptr ? nullptr : needs->put_off());
    search::QueryContext context{.stored = stored,
                                 .view = view,
                                 .parameters = criteria.parameters,
                                 .base_url = std::string(request.base_url),
                                 .strict = true,
                                 .conditional = true,
                                 .links = links};
    ANNALS_TRY(search::Query read, search::parse_query(context, {type}, pairs));
    ANNALS_TRY_VOID(require_search(service, request, read.others, Extent::part));
    criteria.plan = std::move(read.types.front().plan);
    criteria.watch = search::guard_terms(criteria.plan);
    // Except types that only the view looks at: writes without criteria are not protected against their changes either.
    std::erase_if(criteria.watch.others, [&](TypeId other) {
        return std::ranges::find(read.others, other) == read.others.end();
    });
    return criteria;
}

asio::awaitable<Result<Criteria>> read_criteria(const Service& service, const Request& request,
                                                TypeId type, std::string_view query) {
    co_return co_await prepare_and_look(service, *request.loop, [&](QueryNeeds& needs) {
        Result<Criteria> read = parse_criteria(service, request, type, query, &needs);
        if (read) {
            read->end = needs.end();
        }
        return read;
    });
}

Result<std::string_view> query_of_if_none_exist(TypeId type, std::string_view text) {
    // A '?' inside a value comes after the first '='.
    const std::size_t mark = text.find('?');
    if (mark == std::string_view::npos || mark > text.find('=')) {
        return text;
    }
    std::string_view name = text.substr(0, mark);
    while (!name.empty() && name.back() == '/') {
        name.remove_suffix(1);
    }
    if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos) {
        name.remove_prefix(slash + 1);
    }
    if (!name.empty() && name != resource_type_name(type)) {
        return Error{Errc::invalid,
                     fmt::format("the criteria are for the type '{}', the request for {}", name,
                                 resource_type_name(type))};
    }
    return text.substr(mark + 1);
}

Result<void> check_no_criteria(const Request& request, const Target& target) {
    const HttpMethod method = request.method;
    const bool creates = method == HttpMethod::post && target.level == Level::type;
    const bool changes =
        (method == HttpMethod::put || method == HttpMethod::patch ||
         method == HttpMethod::delete_) &&
        (target.level == Level::instance || target.level == Level::instance_history ||
         target.level == Level::version);
    if (request.query.empty() || (!creates && !changes)) {
        return {};
    }
    ANNALS_TRY(const Parameters parameters, parse_query(request.query));
    const bool uploads = creates && is_binary(target);  // Medplum's client sends the file's name
    for (const auto& [name, value] : parameters) {
        if (!search::is_about_the_answer(name) && !(uploads && name == "_filename")) {
            return Error{
                Errc::invalid,
                fmt::format("{} does not support the parameter '{}' here, so nothing is written{}",
                            method_name(method), name,
                            creates
                                ? "; the criteria of a conditional create belong in If-None-Exist"
                                : "")};
        }
    }
    return {};
}

bool is_conditional_reference(std::string_view reference) noexcept {
    const std::size_t mark = reference.find('?');
    return mark != std::string_view::npos &&
           find_resource_type(reference.substr(0, mark)).has_value();
}

Result<Criteria> parse_conditional_reference(const Service& service, const Request& request,
                                             std::string_view reference, QueryNeeds* needs,
                                             const search::Links& links) {
    const std::size_t mark = reference.find('?');
    const auto type = find_resource_type(reference.substr(0, mark));
    if (mark == std::string_view::npos || !type) {
        return Error{Errc::invalid, "not a conditional reference"};
    }
    ANNALS_TRY_VOID(require_search(service, request, *type, Extent::part));
    return parse_criteria(service, request, *type, reference.substr(mark + 1), needs, links);
}

asio::awaitable<Result<CriteriaMatches>> find_matches(const Service& service, Loop& loop,
                                                      const Criteria& criteria, std::size_t limit) {
    Finding finding(service, criteria, limit);
    Turns turns(loop, std::min(criteria.end, service.request_end()));
    Result<void> done = co_await turns.finish(finding.execution());
    if (!done) {
        co_return std::move(done.error());
    }
    if (const std::vector<storage::VersionInfo> versions = finding.versions(); !versions.empty()) {
        co_await loop.fetched(versions);
    }
    Result<std::optional<CriteriaMatches>> taken = finding.take(true);
    if (!taken) {
        co_return std::move(taken.error());
    }
    co_return **std::move(taken);
}

Result<std::optional<CriteriaMatches>> find_matches_now(const Service& service,
                                                        const Criteria& criteria,
                                                        std::size_t limit) {
    Finding finding(service, criteria, limit);
    std::vector<Position> unread;
    search::Pace pace(kTurn, unread);
    pace.begin_turn();
    ANNALS_TRY(const bool done, finding.execution().advance(pace));
    return done ? finding.take(false)
                : Result<std::optional<CriteriaMatches>>(std::optional<CriteriaMatches>());
}

Error several_matches(const Criteria& criteria, std::size_t count) {
    return {Errc::multiple_matches,
            fmt::format("the criteria match {}{} {} resources",
                        count > kMatchesCountedMax ? "more than " : "",
                        std::min(count, kMatchesCountedMax), resource_type_name(criteria.type))};
}

}  // namespace annals::core
