#include "core/interactions/transaction_state.h"

#include "core/interactions/answer.h"
#include "core/interactions/submitted_resource.h"
#include "core/subscriptions/subscriber.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::core {

namespace {

using Action = EntryDecision::Action;
using Status = storage::Submission::Status;
using storage::Expect;

bool is_conditional(const json::ReferenceSite& site) {
    return site.kind == json::ReferenceSite::Kind::reference &&
           is_conditional_reference(site.value.raw_string());
}

/// Keeps those conditional references in `patched` that `stored` has as well.
Result<void> keep_conditional(std::string_view stored, EntryResource& patched) {
    if (std::ranges::none_of(patched.sites, is_conditional)) {
        return {};
    }
    ANNALS_TRY(const json::Document before, thread_parser().parse(stored));
    std::vector<json::ReferenceSite> sites;
    json::find_references(before.root(), sites);
    for (const json::ReferenceSite& site : sites) {
        if (is_conditional(site)) {
            patched.stood.insert(site.value.string());
        }
    }
    return {};
}

}  // namespace

template <typename Read>
Result<Criteria> TransactionState::read_criteria(Read read) {
    if (!needs_) {
        needs_.emplace(service_, *request_.loop);
    }
    Result<Criteria> criteria = read(*needs_);
    if (!needs_->are_met()) {
        return later(&needs_, {.needs = &*needs_});
    }
    needs_.reset();
    return criteria;
}

Result<void> TransactionState::decide(std::size_t index) {
    const TransactionEntry& entry = entries_[index];
    EntryDecision& decision = decisions_[index];
    switch (entry.kind) {
        case EntryKind::remove:
            ANNALS_TRY_VOID(decide_remove(entry, decision));
            break;
        case EntryKind::create:
            ANNALS_TRY_VOID(decide_create(entry, decision));
            break;
        case EntryKind::update:
            ANNALS_TRY_VOID(entry.patch ? decide_patch(entry, decision)
                                        : decide_update(entry, decision));
            break;
        case EntryKind::read:
            return {};
    }
    // Even a deletion of what is gone names its resource, which no other entry may then write.
    if (decision.action == Action::none &&
        (entry.kind == EntryKind::create || decision.id.empty())) {
        return {};
    }
    std::string name = resource_name(entry.target.type, decision.id);
    const auto [writer, added] = writers_.try_emplace(std::move(name), index);
    if (!added) {
        return Error{Errc::invalid, fmt::format("{} is written by Bundle.entry[{}] already",
                                                writer->first, writer->second)};
    }
    if (decision.action != Action::none) {
        const bool removes = entry.kind == EntryKind::remove;
        writes_.replace(entry.target.type, decision.id,
                        removes ? std::nullopt : std::optional(index));
    }
    return {};
}

Result<void> TransactionState::decide_remove(const TransactionEntry& entry,
                                             EntryDecision& decision) {
    const TypeId type = entry.target.type;
    decision.id = entry.target.id;
    if (entry.criteria) {
        ANNALS_TRY(decision.id, find_one_of(entry));
        if (decision.id.empty()) {
            return {};
        }
    }
    const Position as_of = store_.last_position();
    const storage::Head head = head_of(removed_, type, decision.id);
    decision.head = head;
    if (!head.exists && (config_.delete_absent == 404 || entry.conditions.match)) {
        return no_such_resource(type, decision.id);
    }
    // As for a separate request: deleting a deleted resource succeeds, whatever version was meant. It must still be gone
    // at the commit.
    if (!head.exists || (head.deletion && !config_.hard_delete)) {
        watch(type, decision.id, as_of);
        return {};
    }
    ANNALS_TRY_VOID(check_preconditions(entry.conditions, type, decision.id, head));
    decision.action = config_.hard_delete ? Action::erase : Action::write;
    decision.method = storage::Method::deletion;
    decision.expect = Expect::version;
    decision.expected_version = head.version;
    return {};
}

Result<void> TransactionState::decide_create(const TransactionEntry& entry,
                                             EntryDecision& decision) {
    if (entry.criteria) {
        ANNALS_TRY(decision.id, find_one_of(entry));
        if (!decision.id.empty()) {
            return {};
        }
    }
    decision.action = Action::write;
    decision.id = entry.new_id;
    decision.method = storage::Method::post;
    decision.expect = Expect::absent;
    return {};
}

Result<void> TransactionState::decide_update(const TransactionEntry& entry,
                                             EntryDecision& decision) {
    const TypeId type = entry.target.type;
    decision.action = Action::write;
    decision.id = entry.target.id;
    bool matched = false;
    if (entry.criteria) {
        ANNALS_TRY(decision.id, find_one_of(entry));
        matched = !decision.id.empty();
        if (!matched) {
            ANNALS_TRY_VOID(require(service_, entry.request, kMayCreate, type, Extent::part));
        }
        const auto& body_id = entry.resource.facts.id;
        if (matched) {
            if (body_id && *body_id != decision.id) {
                return Error{Errc::invalid, fmt::format("the resource's id is '{}', expected '{}'",
                                                        *body_id, decision.id)};
            }
        } else if (body_id) {
            if (!is_resource_id(*body_id)) {
                return Error{Errc::value, fmt::format("'{}' is not a valid id", *body_id)};
            }
            decision.id = *body_id;
            // The fault is not that it doesn't match: decide() reports which entry writes it.
            if (writers_.contains(resource_name(type, decision.id))) {
                return {};
            }
            const storage::Head head = head_of(updated_, type, decision.id);
            if (head.is_live()) {
                torn_ = head.position > looked_;
                return Error{Errc::conflict,
                             fmt::format("{} exists and does not match the criteria",
                                         resource_name(type, decision.id))};
            }
        } else {
            decision.id = entry.new_id;
            ANNALS_TRY_VOID(check_preconditions(entry.conditions, type, decision.id, {}));
            decision.method = storage::Method::post;
            decision.expect = Expect::absent;
            return {};
        }
    }
    return check_head(entry, decision, matched);
}

Result<std::optional<storage::StoredVersion>> TransactionState::base_of_patch(
    const TransactionEntry& entry, EntryDecision& decision) {
    std::optional<storage::StoredVersion> none;
    const TypeId type = entry.target.type;
    decision.id = entry.target.id;
    if (entry.criteria) {
        ANNALS_TRY(decision.id, find_one_of(entry));
        if (decision.id.empty()) {
            torn_ = is_overtaken();
            return Error{Errc::not_found,
                         fmt::format("no {} matches the criteria", resource_type_name(type))};
        }
    }
    const std::string name = resource_name(type, decision.id);
    const storage::Head head = head_of(updated_, type, decision.id);
    if (writers_.contains(name)) {
        return none;
    }
    if (!head.exists) {
        return no_such_resource(type, decision.id);
    }
    if (head.deletion) {
        torn_ = entry.criteria && head.position > looked_;
        return Error{Errc::deleted, fmt::format("{} is deleted", name)};
    }
    ANNALS_TRY_VOID(check_preconditions(entry.conditions, type, decision.id, head));
    if (head.ticket.value != 0) {
        // The version to patch can't be read before it is durable.
        pending_ = std::max(pending_, head.ticket);
        return none;
    }
    const auto info = store_.version(type, decision.id, head.version);
    if (!info) {
        return no_such_resource(type, decision.id);
    }
    ANNALS_TRY(auto stored, may_block(&entry) ? store_.load(*info) : store_.load_resident(*info));
    if (stored.unread) {
        return later(&entry, {.positions = {info->position}});
    }
    return std::optional(std::move(stored));
}

Result<void> TransactionState::decide_patch(const TransactionEntry& entry,
                                            EntryDecision& decision) {
    ANNALS_TRY(const auto stored, base_of_patch(entry, decision));
    if (!stored) {
        return {};
    }
    Unfinished& check = checks_[&entry];
    Result<json::Document> document = entry.patch->apply(config_, stored->body, check);
    if (check.any()) {
        return later(&entry, {.check = &check});
    }
    ANNALS_TRY(decision.document, std::move(document));
    const json::Value root = decision.document.root();
    Result<EntryResource> patched =
        read_entry_resource(service_, root, entry.target.type, {}, check);
    if (check.any()) {
        return later(&entry, {.check = &check});
    }
    if (!patched) {
        return fault_of_patched(std::move(patched.error()));
    }
    std::vector<Position> unread;
    const Result<void> fit =
        check_subscriber(service_, entry.request, root, has_looked(&entry) ? nullptr : &unread);
    if (!unread.empty()) {
        return later(&entry, {.positions = std::move(unread)});
    }
    ANNALS_TRY_VOID(fit);
    decision.patched = *std::move(patched);
    ANNALS_TRY_VOID(keep_conditional(stored->body, decision.patched));
    // Not earlier: the criteria of later entries consider what is written.
    decision.action = Action::write;
    decision.method = storage::Method::patch;
    decision.expect = Expect::version;
    decision.expected_version = stored->info.version;
    return {};
}

Result<void> TransactionState::check_head(const TransactionEntry& entry, EntryDecision& decision,
                                          bool matched) {
    const bool plain = entry.conditions.none();
    if (plain && matched && updated_.is_whole()) {
        decision.expect = Expect::live;
        return {};
    }
    if (plain && !entry.criteria && creates()) {
        return {};
    }
    const storage::Head head = head_of(updated_, entry.target.type, decision.id);
    ANNALS_TRY_VOID(check_preconditions(entry.conditions, entry.target.type, decision.id, head));
    if (!head.exists && !creates()) {
        return Error{Errc::not_found, fmt::format("{} does not exist, and update_create is off",
                                                  resource_name(entry.target.type, decision.id))};
    }
    decision.expect = head.exists ? Expect::version : Expect::absent;
    decision.expected_version = head.version;
    return {};
}

storage::Head TransactionState::head_of(const ScopedView& view, TypeId type, std::string_view id) {
    const storage::Head head = store_.head(type, id);
    seen_ = std::max(seen_, head.ticket);
    if (!view.is_whole() && head.ticket.value != 0) {
        pending_ = std::max(pending_, head.ticket);
        return head;
    }
    return view.shown(type, id, head);
}

void TransactionState::watch(TypeId type, std::string_view id, Position as_of,
                             std::optional<std::uint64_t> hard_deletes) {
    const search::Term& identity =
        identities_.emplace_back(search::identity(store_.search_key(type, id)));
    guards_.push_back({.type = type,
                       .terms = std::span(&identity, 1),
                       .as_of = as_of,
                       .hard_deletes = hard_deletes});
}

void TransactionState::begin_to_seek() {
    sought_->hard_deletes = store_.hard_deletes();
    sought_->as_of = store_.last_position();
}

Result<std::vector<std::string>> TransactionState::find(const Criteria& criteria) {
    if (!sought_ || sought_->criteria != &criteria) {
        sought_ = Sought{.criteria = &criteria, .asked = &criteria};
        begin_to_seek();
        if (writes_.concern(criteria.plan)) {
            ANNALS_TRY(search::Plan plan, writes_.overlaid(criteria.plan));
            Criteria& overlaid = overlaid_.emplace_back(criteria);
            overlaid.plan = std::move(plan);
            sought_->asked = &overlaid;
        }
        // Resources that the transaction writes count as it leaves them, not as they are. Of the others, as many are
        // found as are reported.
        const std::size_t limit = writers_.size() + kMatchesCountedMax + 1;
        ANNALS_TRY(auto matches, find_matches_now(service_, *sought_->asked, limit));
        if (!matches) {
            return later(&criteria, {.limit = limit});
        }
        sought_->matches = *std::move(matches);
    }
    Sought sought = *std::exchange(sought_, std::nullopt);
    looked_ = sought.as_of;
    guards_before_ = guards_.size();
    for (storage::Guard& guard : sought.matches.guards) {
        guard.as_of = sought.as_of;
        guard.hard_deletes = guard.hard_deletes ? std::optional(sought.hard_deletes) : std::nullopt;
        guards_.push_back(guard);
    }

    std::vector<std::string> ids;
    for (const storage::StoredVersion& stored : sought.matches.found) {
        if (writers_.contains(resource_name(criteria.type, stored.id))) {
            continue;
        }
        ids.emplace_back(stored.id);
        // A decision on a match is valid while the match is unchanged.
        watch(criteria.type, stored.id, sought.as_of, sought.hard_deletes);
    }
    ANNALS_TRY(const auto written, writes_.matching(criteria.type, sought.asked->plan));
    for (const std::size_t index : written) {
        ids.push_back(decisions_[index].id);
    }
    return ids;
}

Result<std::string> TransactionState::find_one(const Criteria& criteria) {
    ANNALS_TRY(const auto found, find(criteria));
    if (found.size() > 1) {
        torn_ = is_overtaken();
        return several_matches(criteria, found.size());
    }
    return found.empty() ? std::string() : found.front();
}

Result<std::string> TransactionState::find_one_of(const TransactionEntry& entry) {
    ANNALS_TRY(const Criteria* const criteria, criteria_of(entry));
    return find_one(*criteria);
}

Result<const Criteria*> TransactionState::criteria_of(const TransactionEntry& entry) {
    if (!entry.criteria_link) {
        return &*entry.criteria;
    }
    if (const auto known = linked_.find(&entry); known != linked_.end()) {
        return &known->second;
    }
    const search::Links links = [this](std::string_view link) { return links_.named(link); };
    ANNALS_TRY(Criteria read, read_criteria([&](QueryNeeds& needs) {
                   return read_entry_criteria(service_, entry, needs, links);
               }));
    return &linked_.emplace(&entry, std::move(read)).first->second;
}

storage::Submission TransactionState::ask(std::span<const storage::Guard> guards) {
    if (guards.empty()) {
        storage::Submission answer;
        answer.status = Status::accepted;
        return answer;
    }
    storage::Commit nothing;
    nothing.guards = guards;
    const storage::Submission answer = service_.store().submit(nothing);
    if (answer.status == Status::busy) {
        seen_ = std::max(seen_, answer.ticket);
    }
    return answer;
}

bool TransactionState::is_overtaken() {
    return ask(std::span(guards_).first(guards_before_)).status == Status::busy;
}

Error TransactionState::later(const void* asker, Unread unread) {
    ++fetched_[asker];
    unread_ = std::move(unread);
    return {Errc::internal, "what a transaction looks at is on the device only"};
}

asio::awaitable<Result<void>> TransactionState::fetch() {
    Unread unread = *std::exchange(unread_, std::nullopt);
    if (unread.check != nullptr) {
        co_await finish(service_, *request_.loop, *unread.check);
        co_return Result<void>();
    }
    if (unread.needs != nullptr) {
        Result<void> met = co_await unread.needs->meet();
        co_return met;
    }
    if (unread.limit == 0 && unread.positions.empty()) {
        co_await request_.loop->yield();
        co_return Result<void>();
    }
    if (unread.limit == 0) {
        co_await request_.loop->fetched(std::move(unread.positions));
        co_return Result<void>();
    }
    begin_to_seek();
    Result<CriteriaMatches> matches =
        co_await find_matches(service_, *request_.loop, *sought_->asked, unread.limit);
    if (!matches) {
        co_return std::move(matches.error());
    }
    sought_->matches = *std::move(matches);
    co_return Result<void>();
}

Result<TransactionWrites::Draft> TransactionState::written(std::size_t index) const {
    const EntryResource& of = resource(index);
    const std::string_view full_url = entries_[index].full_url;
    ANNALS_TRY(const auto edits, links_.edits(of, full_url, [](std::string_view reference) {
        return Result<std::string>(std::string(reference));
    }));
    ANNALS_TRY(json::Document document,
               parse_planned(json::BodyPlan(of.facts, decisions_[index].id, {}, edits)));
    return TransactionWrites::Draft{std::move(document), links_.unknown(of, full_url)};
}

Result<const Criteria*> TransactionState::criteria_of(const std::string& reference) {
    for (const References* known : {&references_, &linked_references_}) {
        if (const auto found = known->find(reference); found != known->end()) {
            return &found->second;
        }
    }
    bool linked = false;
    const search::Links links = [&](std::string_view link) {
        std::optional<std::string> name = links_.named(link);
        linked = linked || name;
        return name;
    };
    ANNALS_TRY(Criteria read, read_criteria([&](QueryNeeds& needs) {
                   return parse_conditional_reference(service_, request_, reference, &needs, links);
               }));
    References& kept = linked ? linked_references_ : references_;
    return &kept.emplace(reference, std::move(read)).first->second;
}

Result<std::string> TransactionState::resolve(std::string_view reference) {
    std::string text(reference);
    if (const auto known = resolved_.find(text); known != resolved_.end()) {
        return known->second;
    }
    if (!std::exchange(in_turn_, true)) {
        turn_.begin_turn();
    } else if (turn_.is_over()) {
        in_turn_ = false;
        return later(&turn_, {});
    }
    ANNALS_TRY(const Criteria* const criteria, criteria_of(text));
    Result<std::string> found = find_one(*criteria);
    if (!found) {
        Error& error = found.error();
        if (error.code == Errc::multiple_matches) {
            error.detail =
                fmt::format("the conditional reference '{}': {}", reference, error.detail);
        }
        return std::move(error);
    }
    if (found->empty()) {
        torn_ = is_overtaken();
        return Error{Errc::not_found,
                     fmt::format("the conditional reference '{}' matches nothing", reference)};
    }
    std::string name = resource_name(criteria->type, *found);
    resolved_.emplace(std::move(text), name);
    return name;
}

std::optional<std::size_t> TransactionState::writer_of(std::string_view name) const {
    const auto writer = writers_.find(name);
    return writer == writers_.end() ? std::nullopt : std::optional(writer->second);
}

}  // namespace annals::core
