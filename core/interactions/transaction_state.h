// What a transaction makes of the store: the entries applied so far over what is durable.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#trules; docs/api/transaction.md.
// Threads: on the loop of its request.

#pragma once

#include "core/config/config.h"
#include "core/interactions/transaction_entry.h"
#include "core/interactions/transaction_links.h"
#include "core/interactions/transaction_writes.h"
#include "core/interactions/turns.h"
#include "core/scoped_view.h"
#include "core/search/execute.h"
#include "core/search/terms.h"
#include "storage/store.h"

#include <asio/awaitable.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annals::core {

/// What one entry comes to.
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
    storage::Head head;  ///< what a deletion without an effect found

    // Of a PATCH: the resource that it makes, in a document of its own.
    json::Document document;
    EntryResource patched;
};

/// Decides a transaction's entries one after the other, in FHIR's order; each one sees what the earlier ones did.
class TransactionState {
  public:
    /// Conditional references by their text: what they ask for.
    using References = std::unordered_map<std::string, Criteria>;

    /// Lifetime: all of these outlive it. `links` may grow meanwhile.
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

    /// Decides the entry at `index`, which is no read.
    /// Errors: any 4xx; meaningless ones if is_unread().
    Result<void> decide(std::size_t index);

    /// What links to `full_url` refer to has become known.
    void know(std::string_view full_url) { writes_.know(full_url); }

    /// All entries are decided, and what they link to is known.
    void end_decisions() { writes_.forget_read(); }

    /// The one resource that a conditional reference names now: "Patient/1".
    /// Errors: invalid, not_found (none), multiple_matches; meaningless ones if is_unread().
    Result<std::string> resolve(std::string_view reference);

    /// True if the last of these has an error only because what it looks at is on the device, or because others are to have
    /// their turn: it has done nothing. Await fetch(), and ask it again.
    bool is_unread() const noexcept { return unread_.has_value(); }

    /// Errors: of find_matches().
    asio::awaitable<Result<void>> fetch();

    const EntryDecision& decision(std::size_t index) const { return decisions_[index]; }

    /// What the entry writes.
    const EntryResource& resource(std::size_t index) const {
        return entries_[index].patch ? decisions_[index].patched : entries_[index].resource;
    }

    /// What must still hold when the commit is decided.
    const std::vector<storage::Guard>& guards() const noexcept { return guards_; }

    /// Not 0: a patch could not be computed while this commit was under way. Await it and start again.
    storage::Ticket pending() const noexcept { return pending_; }

    /// Not 0: decisions, refusals too, rest on versions of commits up to this one, which may still be dropped.
    storage::Ticket seen() const noexcept { return seen_; }

    /// True if the refusal may be for what was written after some of the criteria had been looked at, and before others, or
    /// the version that it speaks of: start again.
    bool is_torn() const noexcept { return torn_; }

    /// The entry that writes or deletes a resource ("Patient/1"), if there is one.
    std::optional<std::size_t> writer_of(const std::string& name) const;

  private:
    /// The matches of `sought_`, or else some versions; nothing, where only others are to have their turn.
    struct Unread {
        std::size_t limit = 0;
        std::vector<Position> positions = {};
    };

    /// What criteria come to. The guards are about what comes after `as_of`.
    struct Sought {
        const Criteria* criteria = nullptr;  ///< as they are in the entry
        const Criteria* asked = nullptr;     ///< the same, over what the transaction writes
        CriteriaMatches matches = {};
        Position as_of = {};
        std::uint64_t hard_deletes = 0;
    };

    /// Whether what `asker` looks at has been fetched: it waits for nothing twice, whatever the system dropped since.
    bool may_block(const void* asker) const { return fetched_.contains(asker); }

    /// The same of what may lead to more of it.
    bool has_looked(const void* asker) const {
        const auto times = fetched_.find(asker);
        return times != fetched_.end() && times->second >= kTimesLookedMax;
    }

    Error later(const void* asker, Unread unread);

    /// Takes down how far what is read from now on reaches, whatever it comes to.
    void begin_to_seek();

    /// Whether what the criteria before the last ones came to is no longer so: then what those came to may not go with it.
    bool is_overtaken();

    Result<void> decide_remove(const TransactionEntry& entry, EntryDecision& decision);
    Result<void> decide_create(const TransactionEntry& entry, EntryDecision& decision);
    Result<void> decide_update(const TransactionEntry& entry, EntryDecision& decision);
    Result<void> decide_patch(const TransactionEntry& entry, EntryDecision& decision);
    Result<void> check_head(const TransactionEntry& entry, EntryDecision& decision, bool matched);

    /// The ids of the live resources that match, as the entries decided so far leave them. Lifetime: `criteria`
    /// outlives the commit.
    Result<std::vector<std::string>> find(const Criteria& criteria);

    /// The id of the only one; empty: none matches. Errors: multiple_matches, and those of find().
    Result<std::string> find_one(const Criteria& criteria);

    /// The resource that an entry writes; links to what isn't decided yet, and conditional ones, are as they came.
    Result<TransactionWrites::Draft> written(std::size_t index) const;

    /// The newest version of a resource, if `view` shows it; counts in seen(), and in pending() where it can't be looked
    /// at yet.
    storage::Head head_of(const ScopedView& view, TypeId type, std::string_view id);

    /// Whether a PUT creates.
    bool creates() const noexcept { return config_.update_create && updated_.is_whole(); }

    const Service& service_;
    const Config& config_;
    const storage::Store& store_;
    const Request& request_;
    std::span<const TransactionEntry> entries_;
    const TransactionLinks& links_;
    References& references_;
    ScopedView updated_;
    ScopedView removed_;
    std::vector<EntryDecision> decisions_;
    std::vector<storage::Guard> guards_;
    std::size_t guards_before_ = 0;  ///< so many are of the criteria before the last ones
    storage::Ticket pending_;
    storage::Ticket seen_;
    Position looked_;  ///< the last criteria were looked at with all up to here, or more
    bool torn_ = false;
    std::unordered_map<std::string, std::size_t> writers_;  ///< by "Patient/1"
    TransactionWrites writes_;
    std::deque<Criteria> overlaid_;        ///< criteria whose chains lead over writes_
    std::deque<search::Term> identities_;  ///< that guards_ watch
    std::unordered_map<std::string, std::string> resolved_;
    search::Pace turn_{kLongTurn};  ///< of conditional references: one resource may have very many
    bool in_turn_ = false;
    std::optional<Unread> unread_;
    std::optional<Sought> sought_;  ///< not used yet
    std::unordered_map<const void*, int>
        fetched_;  ///< how often, for those who asked: criteria and entries
};

}  // namespace annals::core
