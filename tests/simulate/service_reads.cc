// The reads of a ServiceSimulation: single versions, histories and pages.

#include "core/search/cursor.h"
#include "tests/simulate/service_simulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace annals::test {

using storage::HistoryOrder;

class ServiceSimulation::AsPatient {
  public:
    AsPatient(ServiceSimulation& simulation, bool applies) : simulation_(simulation) {
        if (applies) {
            simulation_.send_as(&*simulation_.patient_);
            simulation_.model_.patient = "Patient/" + simulation_.patient_->patient();
        }
    }

    ~AsPatient() {
        simulation_.send_as(&simulation_.everybody_);
        simulation_.model_.patient.clear();
    }

    AsPatient(const AsPatient&) = delete;
    AsPatient& operator=(const AsPatient&) = delete;

  private:
    ServiceSimulation& simulation_;
};

// ---- single requests ----

ServiceSimulation::Read ServiceSimulation::pick_read() {
    switch (pick(13)) {
        case 12:
            return search_contained();
        case 10:
            return search_compartment();
        case 11:
            return read_everything();
        case 0:
            return read_resource();
        case 1:
            return read_version();
        case 2:
        case 3:
        case 4:
        case 5:
            return read_history();
        case 6:
            return search_earlier();
        default:
            return search();
    }
}

ServiceSimulation::Read ServiceSimulation::read_by_patient() {
    Read read = pick_read();
    read.by_patient = true;
    if (read.then) {
        read.then = [this, then = std::move(read.then)](Position bound,
                                                        const ReceivedBundle& bundle) {
            const std::size_t before = chains_.size();
            then(bound, bundle);
            if (chains_.size() > before) {
                chains_.back().by_patient = true;
            }
        };
    }
    return read;
}

ServiceSimulation::Read ServiceSimulation::read_resource() {
    const std::string name = pick_name(pick_type());
    std::optional<Position> at;
    std::string query;
    if (model_.last() > 0 && one_in(2)) {
        at = Position{1 + pick(model_.last())};
        query = fmt::format("?_asOf={}", at->value);
    }
    return {'/' + name + query, [this, name, at](Position bound) {
                const auto* head =
                    bound.value == 0 ? nullptr : model_.newest(name, at.value_or(bound));
                if (head == nullptr || (head->erased && at) || !model_.shows(*head)) {
                    return Expected{.status = 404};
                }
                return Expected{.status = head->info.deletion ? 410 : 200,
                                .version = model_.label(*head)};
            }};
}

ServiceSimulation::Read ServiceSimulation::read_version() {
    const std::string name = pick_name(pick_type());
    const auto* head = model_.newest(name);
    const std::uint64_t number = 1 + pick(head == nullptr ? 2 : head->info.version.value + 1);
    return {
        fmt::format("/{}/_history/{}", name, number), [this, name, number](Position bound) {
            const auto* version = model_.version_of(name, number);
            if (version == nullptr || version->info.position > bound || !model_.shows(*version)) {
                return Expected{.status = 404};
            }
            return Expected{.status = version->info.deletion ? 410 : 200,
                            .version = model_.label(*version)};
        }};
}

ServiceSimulation::Read ServiceSimulation::read_history() {
    struct Order {
        std::string name;
        HistoryOrder order;
    };

    const auto order = pick_from<Order>({{"", HistoryOrder::newest_first},
                                         {"none", HistoryOrder::newest_first},
                                         {"-_position", HistoryOrder::newest_first},
                                         {"_position", HistoryOrder::oldest_first},
                                         {"_lastUpdated", HistoryOrder::last_updated},
                                         {"-_lastUpdated", HistoryOrder::last_updated_reverse}});
    const std::uint64_t level = pick(3);
    const std::string type = pick_type();
    const std::string name = level == 2 ? pick_name(type) : "";
    storage::HistoryQuery query;
    if (level > 0) {
        query.type = find_resource_type(type);
    }
    query.order = order.order;
    std::vector<std::string> parameters;
    if (!order.name.empty()) {
        parameters.push_back("_sort=" + order.name);
    }
    std::uint64_t count = level == 2 ? 10 : 100;
    if (!one_in(6)) {
        count = pick(6);
        parameters.push_back(fmt::format("_count={}", count));
    }
    std::optional<Instant> at;
    if (one_in(3)) {
        query.since = pick_instant();
        parameters.push_back("_since=" + format_instant(*query.since));
    } else if (one_in(2)) {
        at = pick_instant();
        parameters.push_back("_at=" + format_instant(*at));
    }
    if (level == 2 && one_in(5)) {
        query.skip = pick(4);
        parameters.push_back(fmt::format("_offset={}", query.skip));
    }
    const std::string target = fmt::format("{}/_history?{}",
                                           level == 0   ? ""
                                           : level == 1 ? '/' + type
                                                        : '/' + name,
                                           fmt::join(parameters, "&"));
    const auto all = [this, query, name, at](Position bound) {
        storage::HistoryQuery whole = query;
        whole.bound = bound;
        whole.skip = 0;
        return bound.value == 0 ? std::vector<std::uint64_t>() : model_.history(whole, name, at);
    };
    Read read{target, [this, all, name, count, skip = query.skip](Position bound) {
                  if (!name.empty() && (bound.value == 0 || !model_.shows_any(name, bound))) {
                      return Expected{.status = 404};
                  }
                  const std::vector<std::uint64_t> positions = all(bound);
                  Expected expected{.total = positions.size()};
                  for (std::size_t i = skip; i < positions.size() && i < skip + count; ++i) {
                      expected.entries.push_back(model_.label(model_.at(positions[i])));
                  }
                  if (count > 0) {
                      expected.more = skip + count < positions.size();
                      expected.inside = skip > 0;
                  }
                  return expected;
              }};
    read.then = [this, all, name, count, query, at](Position bound, const ReceivedBundle& bundle) {
        if (query.skip > 0) {
            return;
        }
        Chain chain;
        chain.bound = bound;
        chain.count = count;
        chain.all = all(bound);
        chain.history = all;
        chain.keeps_total = name.empty() && (query.since || at);
        chain.name = name;
        if (query.order == HistoryOrder::oldest_first && !at) {
            chain.follows = query;
        }
        begin_chain(std::move(chain), bundle);
    };
    return read;
}

// ---- comparing ----

std::string ServiceSimulation::difference(const Expected& expected, const Answer& answer,
                                          const std::optional<ReceivedBundle>& bundle) {
    if (answer.status != expected.status) {
        return fmt::format("{} instead of {}", answer.status, expected.status);
    }
    if (!expected.version.empty()) {
        return expected.version.ends_with(fmt::format("/{}", answer.etag))
                   ? ""
                   : fmt::format("version {} instead of {}", answer.etag, expected.version);
    }
    if (!bundle) {
        return expected.status == 200 ? "no Bundle" : "";
    }
    std::vector<std::string> entries;
    std::set<std::string> included;
    for (const ReceivedEntry& entry : bundle->entries) {
        if (entry.mode != "include") {
            entries.push_back(entry.label());
        } else if (!included.insert(entry.label()).second) {
            return entry.label() + " is included twice";
        }
    }
    if (entries != expected.entries || included != expected.included) {
        return fmt::format("{} with {} instead of {} with {}", entries, included, expected.entries,
                           expected.included);
    }
    if (bundle->total ? bundle->total != expected.total : expected.total && expected.total_needed) {
        return fmt::format("a total of {} instead of {}", bundle->total.value_or(0),
                           expected.total.value_or(0));
    }
    if (expected.more && bundle->links.contains("next") != *expected.more) {
        return fmt::format("{} after {}", *expected.more ? "no page" : "another page", entries);
    }
    if (!bundle->links.contains("self")) {
        return "no link to the page itself";
    }
    if (entries.empty()) {
        return {};  // a count, or a page whose versions were all erased
    }
    const bool knows_last =
        bundle->type == "history" ||
        (bundle->total && bundle->links.at("self").find("$everything") == std::string::npos);
    if (expected.more && bundle->links.contains("last") != (*expected.more && knows_last)) {
        return fmt::format("links {} with {}", bundle->links, entries);
    }
    for (const std::string relation : {"first", "previous"}) {
        if (expected.inside && bundle->links.contains(relation) != *expected.inside) {
            return fmt::format("links {} with {}", bundle->links, entries);
        }
    }
    return {};
}

void ServiceSimulation::check_versions(const Expected& expected, const Answer& answer,
                                       const std::optional<ReceivedBundle>& bundle) {
    if (expected.status != 200) {
        return;
    }
    if (!expected.version.empty()) {
        const auto& version = *model_.labelled(expected.version);
        expect_same(answer.last_modified.us, version.info.instant.us, "Last-Modified");
        check_body(answer.body, version);
        return;
    }
    for (const ReceivedEntry& entry : bundle->entries) {
        const auto& version = version_in(entry);
        check_body(entry.body, version);
        if (bundle->type == "history") {
            const bool first = entry.version == "1";
            const bool deletion = version.info.deletion;
            expect_same(entry.method,
                        deletion ? "DELETE"
                        : first  ? "POST"
                                 : "PUT",
                        "request.method");
            expect_same(entry.status, deletion ? "410" : first ? "201" : "200", "response.status");
            expect_same(entry.last_modified, format_instant(version.info.instant),
                        "response.lastModified");
        }
    }
}

void ServiceSimulation::compare(const Read& read) {
    const AsPatient scopes(*this, read.by_patient);
    const Answer answer = exchange("GET", read.target);
    const auto bundle = read_bundle(answer.body, kBaseUrl);
    const Expected expected = read.expected({model_.last()});
    const std::string found = difference(expected, answer, bundle);
    if (!found.empty()) {
        fail(found);
    }
    check_versions(expected, answer, bundle);
    if (bundle && read.then) {
        read.then({model_.last()}, *bundle);
    }
}

void ServiceSimulation::check_read(const Read& read, const ReceivedEntry& entry) {
    Answer answer;
    answer.status = std::stoi(entry.status);
    const auto bundle = read_bundle(entry.body, kBaseUrl);
    const Expected expected = read.expected({model_.last()});
    const std::string found = difference(expected, answer, bundle);
    if (!found.empty()) {
        fail("GET " + read.target + ": " + found);
    }
    check_versions(expected, answer, bundle);
}

void ServiceSimulation::begin_chain(Chain chain, const ReceivedBundle& first) {
    if (!first.links.contains("next")) {
        return;
    }
    if (chain.found) {
        for (const auto* version : chain.found(chain.bound)) {
            chain.all.push_back(version->info.position.value);
        }
    }
    chain.end = chain.count;
    chain.links = first.links;
    chain.erasures = model_.erasures();
    chains_.push_back(std::move(chain));
}

void ServiceSimulation::follow_chain() {
    if (chains_.empty()) {
        return;
    }
    const std::size_t which = pick(chains_.size());
    Chain& chain = chains_[which];
    std::vector<std::string> relations;
    for (const std::string relation : {"next", "next", "next", "previous", "last"}) {
        if (chain.links.contains(relation)) {
            relations.push_back(relation);
        }
    }
    if (!relations.empty()) {
        compare_page(chain, pick_from(relations));
    }
    if (relations.empty() || chain.links.empty()) {
        chains_.erase(chains_.begin() + static_cast<std::ptrdiff_t>(which));
    }
}

namespace {

// Whether the cursor in a link says that the default order is that of instants.
bool goes_by_instant(std::string_view link) {
    static constexpr std::string_view kName = "_cursor=";
    const std::size_t at = link.find(kName);
    if (at == std::string_view::npos) {
        return false;
    }
    const std::string_view rest = link.substr(at + kName.size());
    const auto cursor = core::search::read_cursor(rest.substr(0, rest.find('&')));
    return cursor && cursor->by_instant;
}

}  // namespace

void ServiceSimulation::compare_page(Chain& chain, const std::string& relation) {
    const AsPatient scopes(*this, chain.by_patient);
    if (chain.follows) {
        // What was written since is shown, too.
        storage::HistoryQuery query = *chain.follows;
        query.bound = {model_.last()};
        for (const std::uint64_t position : model_.history(query, chain.name, {})) {
            if (chain.all.empty() || position > chain.all.back()) {
                chain.all.push_back(position);
            }
        }
    }
    if (chain.by_patient && chain.history) {
        // Once what it deleted is erased, a deletion may be shown by an older version.
        const Position bound = chain.follows ? Position{model_.last()} : chain.bound;
        if (std::ranges::any_of(chain.history(bound), [&](std::uint64_t position) {
                return std::ranges::count(chain.all, position) == 0;
            })) {
            chain.links.clear();
            return;
        }
    }
    bool needs_edge =
        chain.needs_edge || (chain.is_unsorted && goes_by_instant(chain.links.at(relation)));
    const Answer answer = exchange("GET", chain.links.at(relation));
    const bool erased = chain.erasures != model_.erasures();
    if (!chain.name.empty() && !model_.shows_any(chain.name)) {
        expect_same(answer.status, 404, "a page of what was erased");
        chain.links.clear();
        return;
    }
    const auto still =
        chain.found ? chain.found(chain.bound) : std::vector<const ServiceModel::Version*>();
    const auto is_left = [&](std::size_t index) {
        const auto& version = model_.at(chain.all[index]);
        return !version.erased && model_.shows(version) &&
               (!chain.found || std::ranges::count(still, &version) > 0);
    };
    const std::size_t edge = relation == "next" ? chain.end - 1 : chain.begin;
    needs_edge = needs_edge || (chain.may_need_edge && answer.status == 410);
    // After an empty page the chain begins anew, next to nothing.
    if (needs_edge && relation != "last" && chain.end > 0 && !is_left(edge)) {
        expect_same(answer.status, 410, "a page next to what was erased");
        chain.links.clear();
        return;
    }
    std::vector<std::size_t> left;  // indexes of what is not erased
    const auto take = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < std::min(to, chain.all.size()); ++i) {
            if (is_left(i)) {
                left.push_back(i);
            }
        }
    };
    std::optional<bool> more;
    bool inside = chain.end > 0;
    if (relation == "next") {
        take(chain.end, chain.all.size());
        more = left.size() > chain.count;
        left.resize(std::min<std::size_t>(left.size(), chain.count));
    } else {
        take(0, relation == "previous" ? chain.begin : chain.all.size());
        if (relation == "last") {
            more = false;
        } else if (!erased) {
            more = true;
        }
        inside = left.size() > chain.count;
        left.erase(left.begin(), left.end() - static_cast<std::ptrdiff_t>(
                                                  std::min<std::size_t>(left.size(), chain.count)));
    }
    Expected expected{.total_needed = false};
    if (!left.empty()) {
        expected.more = more;  // of a page that was erased, this is not determined
        expected.inside = inside;
    }
    for (const std::size_t i : left) {
        const auto& version = model_.at(chain.all[i]);
        expected.entries.push_back(model_.label(version));
        if (!chain.includes.empty()) {
            expected.included.merge(included_with(version, chain.includes, chain.bound));
        }
    }
    const auto bundle = read_bundle(answer.body, kBaseUrl);
    if (bundle && !erased && (chain.keeps_total || !chain.follows)) {
        expected.total = chain.all.size();
    } else if (bundle) {
        expected.total = bundle->total;
    }
    const std::string found = difference(expected, answer, bundle);
    if (!found.empty()) {
        fail(fmt::format("the {} page, from {} to {} of {}: {}", relation, chain.begin, chain.end,
                         chain.all, found));
    }
    check_versions(expected, answer, bundle);
    chain.links = bundle->links;
    if (!left.empty()) {
        chain.begin = left.front();
        chain.end = left.back() + 1;
        return;
    }
    take(0, chain.all.size());
    if (relation == "previous" && !left.empty()) {
        expect_same(chain.links.contains("next"), true, "whether an empty page leads on");
        expect_same(chain.links.contains("first"), true,
                    "whether an empty page leads to the first");
        chain.begin = chain.end = 0;
    } else {
        chain.links.clear();
    }
}

}  // namespace annals::test
