// What a transaction does to the store: the entries applied so far, on top of what is durable.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#trules; docs/api/transaction.md.
// Threads: on the loop of its request.

#pragma once

#include "core/base/text_map.h"
#include "core/config/config.h"
#include "core/interactions/query_needs.h"
#include "core/interactions/transaction_entry.h"
#include "core/interactions/transaction_links.h"
#include "core/interactions/transaction_writes.h"
#include "core/interactions/turns.h"
#include "core/scoped_view.h"
#include "core/search/pace.h"
#include "core/search/terms.h"
#include "storage/store.h"

#include <asio/awaitable.hpp>

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annals::core {

/// The decision on one entry.
struct EntryDecision {
    enum class Action : std::uint8_t {
        none,  ///< a read, a deletion of what is gone, a conditional create that found its resource
        write,  ///< a version or a deletion
        erase,  ///< a hard delete
    };
    Action action = Action::none;
    std::string id;
    storage::Expect expect = storage::Expect::anything;
    VersionNumber expected_version;
    storage::Method method = storage::Method::put;
    storage::Head head;  ///< what a deletion without effect found

    // Of a PATCH: the resulting resource, in a document of its own.
    json::Document document;
    EntryResource patched;
};

/// Decides a transaction's entries one by one, in FHIR's order; each one sees the effects of the earlier ones.
class TransactionState {
  public:
    /// The parsed criteria of conditional references, by their text.
    using References = TextMap<Criteria>;

    /// Lifetime: the arguments outlive it. `links` may grow meanwhile.
    TransactionState(const Service& service, const Request& request,
                     std::span<const TransactionEntry> entries, const TransactionLinks& links,
                     References& references)
        : service_(service),
          config_(service.config()),
          store_(service.store()),
          request_(request),
          entries_(entries),
          links_(links),
          references_(references),
          updated_(service, request, kMayUpdate),
          removed_(service, request, kMayDelete),
          decisions_(entries.size()),
          writes_(service, [this](std::size_t index) { return written(index); }) {}

    TransactionState(const TransactionState&) = delete;
    TransactionState& operator=(const TransactionState&) = delete;

    /// Decides the entry at `index`, which is not a read.
    /// Errors: any 4xx; meaningless ones if is_unread().
    Result<void> decide(std::size_t index);

    /// To be called when links to `full_url` can be resolved.
    void know(std::string_view full_url) { writes_.know(full_url); }

    /// To be called when all entries are decided and their links can be resolved.
    void end_decisions() { writes_.forget_read(); }

    /// The only resource that a conditional reference finds now: "Patient/1".
    /// Errors: invalid, not_found (none), multiple_matches; meaningless ones if is_unread().
    Result<std::string> resolve(std::string_view reference);

    /// True if the last decide() or resolve() failed only because what it reads is not in memory, or because others should
    /// have their turn. It has had no effect: await fetch(), then call it again.
    bool is_unread() const noexcept { return unread_.has_value(); }

    /// Errors: those of find_matches() and QueryNeeds::meet().
    asio::awaitable<Result<void>> fetch();

    const EntryDecision& decision(std::size_t index) const { return decisions_[index]; }

    /// What the entry writes.
    const EntryResource& resource(std::size_t index) const {
        return entries_[index].patch ? decisions_[index].patched : entries_[index].resource;
    }

    /// What must still hold at the commit.
    const std::vector<storage::Guard>& guards() const noexcept { return guards_; }

    /// Not 0: a patch could not be computed because of this commit, which is not durable yet. Await it and start
    /// again.
    storage::Ticket pending() const noexcept { return pending_; }

    /// Not 0: decisions, including refusals, are based on commits up to this one, which may still be dropped.
    storage::Ticket seen() const noexcept { return seen_; }

    /// True if the refusal may be due to a write between the searches for two entries' criteria, or between a search and
    /// reading the version that it found: start again.
    bool is_torn() const noexcept { return torn_; }

    /// Whether all of `guards` hold now: accepted or, if one fails, busy; seen() then includes the commit that it fails by.
    /// Otherwise that can't be told.
    storage::Submission ask(std::span<const storage::Guard> guards);

    /// The entry that writes or deletes a resource ("Patient/1"), if there is one.
    std::optional<std::size_t> writer_of(std::string_view name) const;

  private:
    /// What fetch() is to get: up to `limit` matches of `sought_` or, if that is 0, `positions`, what `check` needs or `needs`;
    /// none of these: it only lets others have their turn.
    struct Unread {
        std::size_t limit = 0;
        std::vector<Position> positions = {};
        Unfinished* check = nullptr;
        QueryNeeds* needs = nullptr;
    };

    /// The result of a search for criteria. The guards are about later commits than `as_of`.
    struct Sought {
        const Criteria* criteria = nullptr;  ///< as in the entry
        const Criteria* asked = nullptr;     ///< the same, adapted to what the transaction writes
        CriteriaMatches matches = {};
        Position as_of = {};
        std::uint64_t hard_deletes = 0;
    };

    /// Whether what `asker` reads has been fetched once: if the system has dropped it since, it is read with
    /// blocking.
    bool may_block(const void* asker) const { return fetched_.contains(asker); }

    /// The same for reads that may lead to further ones, which are fetched several times.
    bool has_looked(const void* asker) const {
        const auto times = fetched_.find(asker);
        return times != fetched_.end() && times->second >= kTimesLookedMax;
    }

    Error later(const void* asker, Unread unread);

    /// The result of `read(needs)` for criteria; if it lacks something, that is an error, and is_unread().
    template <typename Read>
    Result<Criteria> read_criteria(Read read);

    /// Records in `sought_` the state of the store before a search begins.
    void begin_to_seek();

    /// Whether anything that was decided before the last criteria has changed: then the results must not be combined.
    bool is_overtaken();

    /// Adds a guard: the decision is valid while the resource is as it was at `as_of`.
    void watch(TypeId type, std::string_view id, Position as_of,
               std::optional<std::uint64_t> hard_deletes = {});

    Result<void> decide_remove(const TransactionEntry& entry, EntryDecision& decision);
    Result<void> decide_create(const TransactionEntry& entry, EntryDecision& decision);
    Result<void> decide_update(const TransactionEntry& entry, EntryDecision& decision);
    Result<void> decide_patch(const TransactionEntry& entry, EntryDecision& decision);

    /// The version that a PATCH is applied to, and sets `decision.id`. None if nothing can be decided: another entry deletes or
    /// writes the resource, which decide() reports, or pending().
    Result<std::optional<storage::StoredVersion>> base_of_patch(const TransactionEntry& entry,
                                                                EntryDecision& decision);

    Result<void> check_head(const TransactionEntry& entry, EntryDecision& decision, bool matched);

    /// The ids of the live resources that match after the entries decided so far. Lifetime: `criteria` outlives the
    /// commit.
    Result<std::vector<std::string>> find(const Criteria& criteria);

    /// The id of the only match; empty: there is none. Errors: multiple_matches, and those of find().
    Result<std::string> find_one(const Criteria& criteria);

    /// The same for the criteria of an entry, in which links to entries decided before stand for their resources.
    Result<std::string> find_one_of(const TransactionEntry& entry);

    Result<const Criteria*> criteria_of(const TransactionEntry& entry);

    /// The criteria of a conditional reference, in which links to entries stand for their resources.
    Result<const Criteria*> criteria_of(const std::string& reference);

    /// The resource that an entry writes; links to undecided entries, and conditional ones, are unchanged.
    Result<TransactionWrites::Draft> written(std::size_t index) const;

    /// The newest version of a resource, if `view` shows it. Updates seen(), and pending() if it can't be read yet.
    storage::Head head_of(const ScopedView& view, TypeId type, std::string_view id);

    /// Whether a PUT may create.
    bool creates() const noexcept { return config_.update_create && updated_.is_whole(); }

    const Service& service_;
    const Config& config_;
    const storage::Store& store_;
    const Request& request_;
    std::span<const TransactionEntry> entries_;
    const TransactionLinks& links_;
    References& references_;
    /// Those with links, which may stand for something else in the next attempt.
    References linked_references_;
    std::unordered_map<const TransactionEntry*, Criteria> linked_;  ///< criteria with links
    ScopedView updated_;
    ScopedView removed_;
    std::vector<EntryDecision> decisions_;
    std::vector<storage::Guard> guards_;
    std::size_t guards_before_ = 0;  ///< how many are older than the last criteria
    storage::Ticket pending_;
    storage::Ticket seen_;
    Position looked_;  ///< the last criteria saw everything up to here, or more
    bool torn_ = false;
    TextMap<std::size_t> writers_;  ///< by "Patient/1"
    TransactionWrites writes_;
    std::list<Criteria> overlaid_;        ///< criteria adapted to writes_
    std::list<search::Term> identities_;  ///< watched by guards_
    TextMap<std::string> resolved_;
    search::Pace turn_{kLongTurn};  ///< for conditional references, which may be very many
    bool in_turn_ = false;
    std::optional<Unread> unread_;
    /// Of PATCHes and what they have made.
    std::unordered_map<const TransactionEntry*, Unfinished> checks_;
    std::optional<QueryNeeds> needs_;               ///< of the criteria that are being read
    std::optional<Sought> sought_;                  ///< not used yet
    std::unordered_map<const void*, int> fetched_;  ///< how often, by criteria or entry
};

}  // namespace annals::core
