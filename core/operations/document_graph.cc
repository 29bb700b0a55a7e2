#include "core/operations/document_graph.h"

#include "codec/fhirpath/fhirpath.h"
#include "codec/json/resource.h"
#include "core/base/sort_unique.h"
#include "core/base/text.h"
#include "core/definitions.h"
#include "core/interactions/answer.h"
#include "core/interactions/as_of.h"
#include "core/interactions/query_needs.h"
#include "core/interactions/references.h"
#include "core/interactions/search_includes.h"
#include "core/interactions/turns.h"
#include "core/search/execute.h"
#include "core/search/query.h"
#include "core/search/snapshot_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace annals::core {

namespace {

using storage::VersionInfo;

constexpr std::string_view kReferenceMark = "{ref}";

struct Link;

struct LinkTarget {
    std::optional<TypeId> type;  ///< none: any
    std::string params;
    std::vector<Link> links;
};

struct Link {
    std::string place;  ///< in the GraphDefinition
    std::optional<fhirpath::Expression> path;
    std::uint64_t min = 0;
    std::optional<std::uint64_t> max;
    std::vector<LinkTarget> targets;
};

Error unusable(std::string_view place, std::string_view what) {
    return {Errc::processing, fmt::format("The graph cannot be used: {}", what),
            std::string(place)};
}

/// Reads the links of a GraphDefinition. They nest as deep as its text, which the parser limits.
class GraphReader {
  public:
    explicit GraphReader(json::Value graph) : graph_(graph) {}

    Result<std::vector<Link>> read() {
        if (!graph_["start"].equals("Composition")) {
            return unusable("GraphDefinition.start", "it does not start with a Composition");
        }
        return read_links(graph_["link"]);
    }

  private:
    std::string place_of(json::Value value) const {
        return json::expression_of(graph_, value.index());
    }

    Result<std::vector<Link>> read_links(json::Value list) {
        std::vector<Link> links;
        for (const json::Value element : list.elements()) {
            if (++count_ > kGraphLinksMax) {
                return unusable("GraphDefinition.link", "it has too many links");
            }
            ANNALS_TRY(Link link, read_link(element));
            links.push_back(std::move(link));
        }
        return links;
    }

    Result<Link> read_link(json::Value element) {
        Link link;
        link.place = place_of(element);
        if (const json::Value path = element["path"]) {
            Result<fhirpath::Expression> expression = fhirpath::Expression::parse(path.string());
            if (!expression) {
                return unusable(link.place + ".path", expression.error().detail);
            }
            link.path = *std::move(expression);
        }
        ANNALS_TRY(const auto min, read_number(element["min"].raw(), link.place + ".min"));
        link.min = min.value_or(0);
        const std::string max = element["max"].string();
        if (max != "*") {
            ANNALS_TRY(link.max, read_number(max, link.place + ".max"));
        }
        for (const json::Value target : element["target"].elements()) {
            ANNALS_TRY(LinkTarget read, read_target(target, link));
            link.targets.push_back(std::move(read));
        }
        return link;
    }

    Result<LinkTarget> read_target(json::Value element, const Link& link) {
        LinkTarget target;
        const std::string place = place_of(element);
        const std::string name = element["type"].string();
        if (name != "Resource") {
            target.type = find_resource_type(name);
            if (!target.type) {
                return unusable(place + ".type", fmt::format("'{}' is not a resource type", name));
            }
        }
        if (element["compartment"].size() > 0) {
            // What a compartment would exclude must not be included.
            return Error{Errc::not_computable, "Compartments of a graph are not supported",
                         place + ".compartment"};
        }
        target.params = element["params"].string();
        if (!link.path &&
            (!target.type || target.params.find(kReferenceMark) == std::string::npos)) {
            return unusable(place, "it has neither a path nor parameters with {ref}");
        }
        ANNALS_TRY(target.links, read_links(element["link"]));
        return target;
    }

    static Result<std::optional<std::uint64_t>> read_number(std::string_view text,
                                                            std::string_view place) {
        if (text.empty()) {
            return std::optional<std::uint64_t>();
        }
        const auto number = parse_number(text);
        if (!number) {
            return unusable(place, fmt::format("'{}' is not a number", text.substr(0, 20)));
        }
        return number;
    }

    json::Value graph_;
    std::size_t count_ = 0;
};

void append_types(const std::vector<Link>& links, std::vector<TypeId>& types) {
    for (const Link& link : links) {
        for (const LinkTarget& target : link.targets) {
            if (target.type && !link.path) {
                types.push_back(*target.type);
            }
            append_types(target.links, types);
        }
    }
}

class Follower {
  public:
    Follower(const Service& service, const Request& request, search::Snapshot& snapshot,
             const std::function<bool(TypeId)>& wanted, const ScopedView& view, std::size_t limit,
             Turns& turns)
        : service_(service),
          request_(request),
          snapshot_(snapshot),
          wanted_(wanted),
          view_(view),
          searched_(service, request, kMaySearch, "search"),
          limit_(limit),
          turns_(turns),
          reader_(snapshot.store()) {}

    asio::awaitable<Result<std::vector<VersionInfo>>> run(const std::vector<Link>& links,
                                                          const VersionInfo& start) {
        versions_.emplace(start.resource, start.position.value);
        for (const Link& link : links) {
            queue(link, start);
        }
        std::size_t fetched = 0;
        while (!steps_.empty()) {
            if (fetched == 0) {
                fetched = co_await fetch();
            }
            --fetched;
            const Step step = steps_.front();
            steps_.pop_front();
            Result<void> taken = co_await take(step);
            if (taken && found_.size() > limit_) {
                taken = Error{Errc::answer_too_costly, "The graph leads to too many resources"};
            }
            if (taken && turns_.pace().is_over()) {
                taken = co_await turns_.next();
            }
            if (!taken) {
                co_return std::move(taken.error());
            }
        }
        co_return std::move(found_);
    }

  private:
    struct Step {
        const Link* link;
        VersionInfo from;
    };

    /// Fetches the starts of the next steps; returns how many steps there are.
    asio::awaitable<std::size_t> fetch() {
        std::vector<VersionInfo> versions;
        for (std::size_t i = 0; i < std::min(steps_.size(), kFetchedAtOnce); ++i) {
            versions.push_back(steps_[i].from);
        }
        co_await turns_.fetched(versions);
        co_return versions.size();
    }

    void queue(const Link& link, const VersionInfo& from) {
        if (queued_.emplace(&link, from.position.value).second) {
            steps_.push_back({&link, from});
        }
    }

    asio::awaitable<Result<void>> take(const Step& step) {
        const Link& link = *step.link;
        std::unordered_set<std::uint64_t> reached;
        // Whether it may lead to something that the caller may not read: then the number is not revealed either.
        bool withheld = false;
        if (link.path) {
            Result<std::vector<std::string>> references = evaluate(step);
            if (!references) {
                co_return std::move(references.error());
            }
            std::vector<VersionInfo> versions;
            for (const std::string& reference : *references) {
                const auto named = local_reference(reference, request_.base_url);
                withheld = withheld || (named && !wanted_(named->first));
                const auto info = find_referred_version(snapshot_.store(), reference,
                                                        request_.base_url, snapshot_.position());
                if (info && wanted_(info->type)) {
                    versions.push_back(*info);
                }
            }
            co_await turns_.fetched(versions);
            for (const VersionInfo& info : versions) {
                for (const LinkTarget& target : link.targets) {
                    if (!target.type || *target.type == info.type) {
                        add(info, target, reached);
                    }
                }
            }
        } else {
            for (const LinkTarget& target : link.targets) {
                if (!wanted_(*target.type)) {
                    withheld = true;
                    continue;
                }
                Result<void> done = co_await find(step, target, reached);
                if (!done) {
                    co_return std::move(done.error());
                }
            }
        }
        if ((reached.size() < link.min && !withheld) || (link.max && reached.size() > *link.max)) {
            co_return Error{
                Errc::processing,
                fmt::format("{} has {} targets of this link, but there must be from {} to {}",
                            name_of(step.from), reached.size(), link.min,
                            link.max ? std::to_string(*link.max) : "*"),
                link.place};
        }
        co_return Result<void>();
    }

    std::string name_of(const VersionInfo& info) {
        static_cast<void>(reader_.read(info.position));
        return resource_name(info.type, reader_.id());
    }

    /// The literal references at the link's path.
    Result<std::vector<std::string>> evaluate(const Step& step) {
        thread_local fhirpath::Evaluator evaluator;
        std::vector<std::string> references;
        const json::Value body = reader_.read(step.from.position);
        if (!body) {
            return references;  // erased meanwhile
        }
        fhirpath::Environment environment;
        environment.limits.steps = 200'000;
        environment.limits.items = 10'000;
        const auto items =
            evaluator.evaluate(*step.link->path, fhirpath::Item::resource(body), environment);
        if (!items) {
            return unusable(step.link->place + ".path", items.error().detail);
        }
        for (const fhirpath::Item& item : *items) {
            const json::Value value = item.is_element() ? item.value() : json::Value();
            std::string text = value.is_object() ? value["reference"].string() : value.string();
            if (!text.empty()) {
                references.push_back(std::move(text));
            }
        }
        return references;
    }

    /// Finds what refers to it, by the target's parameters.
    asio::awaitable<Result<void>> find(const Step& step, const LinkTarget& target,
                                       std::unordered_set<std::uint64_t>& reached) {
        Result<Parameters> pairs = parse_query(target.params);
        if (!pairs) {
            co_return unusable(step.link->place, pairs.error().detail);
        }
        const std::string name = name_of(step.from);
        for (auto& [key, value] : *pairs) {
            if (const std::size_t at = value.find(kReferenceMark); at != std::string::npos) {
                value.replace(at, kReferenceMark.size(), name);
            }
        }
        const SplitView seen(*target.type, view_, searched_);
        const Result<search::Query> query =
            co_await prepare_and_look(service_, *request_.loop, [&](QueryNeeds& needs) {
                const search::SnapshotResources stored(snapshot_, service_.definitions().carried(),
                                                       needs.unread(), needs.put_off());
                const search::QueryContext context{.stored = stored,
                                                   .view = seen,
                                                   .parameters = searched_.parameters(),
                                                   .base_url = std::string(request_.base_url),
                                                   .conditional = true};
                return search::parse_query(context, {*target.type}, *pairs);
            });
        if (!query) {
            // The graph is not to blame if the server could not read the query, or has given up what it was to be read from.
            if (meaning_of(query.error().code).status >= 500 ||
                query.error().code == Errc::expired) {
                co_return query.error();
            }
            co_return unusable(step.link->place, query.error().detail);
        }
        if (Result<void> permitted =
                require_search(service_, request_, query->others, Extent::part);
            !permitted) {
            co_return permitted;
        }
        if (snapshot_.runs(*target.type).runs.empty()) {
            co_return Result<void>();
        }
        if (!snapshot_.answers(*target.type)) {
            co_return search::expired_snapshot();
        }
        search::Execution execution(snapshot_, *target.type, query->types.front().plan);
        execution.want({.limit = limit_ + 1});
        Result<void> done = co_await turns_.finish(execution);
        if (!done) {
            co_return std::move(done.error());
        }
        std::vector<VersionInfo> versions;
        for (const search::Match& match : execution.matches()) {
            if (const auto info = snapshot_.store().at(match.position())) {
                versions.push_back(*info);
            }
        }
        co_await turns_.fetched(versions);
        for (const VersionInfo& info : versions) {
            add(info, target, reached);
        }
        co_return Result<void>();
    }

    void add(const VersionInfo& info, const LinkTarget& target,
             std::unordered_set<std::uint64_t>& reached) {
        if (info.deletion || !view_.shows(info)) {
            return;
        }
        const auto [version, is_new] = versions_.try_emplace(info.resource, info.position.value);
        if (version->second != info.position.value) {
            return;  // A document has each resource once.
        }
        reached.insert(info.position.value);
        if (is_new) {
            found_.push_back(info);
        }
        for (const Link& link : target.links) {
            queue(link, info);
        }
    }

    const Service& service_;
    const Request& request_;
    search::Snapshot& snapshot_;
    const std::function<bool(TypeId)>& wanted_;
    const ScopedView& view_;
    ScopedView searched_;
    std::size_t limit_;
    Turns& turns_;
    search::BodyReader reader_;
    std::deque<Step> steps_;
    std::set<std::pair<const Link*, std::uint64_t>> queued_;
    std::unordered_map<std::uint32_t, std::uint64_t> versions_;  // of each resource, its position
    std::vector<VersionInfo> found_;
};

}  // namespace

asio::awaitable<Result<std::vector<VersionInfo>>> follow_graph(
    const Service& service, const Request& request, search::Snapshot& snapshot, json::Value graph,
    const VersionInfo& start, const std::function<bool(TypeId)>& wanted, const ScopedView& view,
    std::size_t limit, Turns& turns) {
    const Result<std::vector<Link>> links = GraphReader(graph).read();
    if (!links) {
        co_return links.error();
    }
    std::vector<TypeId> types;
    append_types(*links, types);
    sort_unique(types);
    Result<void> there =
        co_await reach_back(service, service.indexing().parameters(), types, snapshot, turns);
    if (!there) {
        co_return std::move(there.error());
    }
    Follower follower(service, request, snapshot, wanted, view, limit, turns);
    Result<std::vector<VersionInfo>> found = co_await follower.run(*links, start);
    co_return found;
}

}  // namespace annals::core
