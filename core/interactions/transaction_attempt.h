// TransactionAttempt: one evaluation of a whole transaction, and the resulting commit.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#trules; docs/api/transaction.md.
// Threads: on the loop of its request.

#pragma once

#include "codec/json/substitution.h"
#include "core/interactions/referrers.h"
#include "core/interactions/transaction_entry.h"
#include "core/interactions/transaction_links.h"
#include "core/interactions/transaction_state.h"
#include "core/service.h"
#include "storage/types.h"

#include <asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace annals::core {

/// Entries are decided one by one by state() and added to links(); then each one is built. Not movable: the parts point
/// into each other.
class TransactionAttempt {
  public:
    /// `resolves`: whether conditional references are resolved. Lifetime: the arguments outlive it.
    TransactionAttempt(const Service& service, const Request& request,
                       std::span<const TransactionEntry> entries,
                       TransactionState::References& references, bool resolves)
        : service_(service),
          request_(request),
          entries_(entries),
          links_(request.base_url),
          state_(service, request, entries, links_, references),
          resolves_(resolves),
          referrers_(service, request),
          epoch_(service.indexing().epoch()),
          write_of_entry_(entries.size()) {
        edits_.reserve(entries.size());
        search_entries_.reserve(entries.size());
        writes_.reserve(entries.size());
        pieces_end_.reserve(entries.size());
        pieces_.reserve(entries.size() * kPiecesUsual);
    }

    /// Keeps memory for later attempts on this thread.
    ~TransactionAttempt();

    TransactionAttempt(const TransactionAttempt&) = delete;
    TransactionAttempt& operator=(const TransactionAttempt&) = delete;

    /// What the entries' references are replaced by.
    TransactionLinks& links() noexcept { return links_; }

    /// What has been decided about the entries so far.
    TransactionState& state() noexcept { return state_; }

    const TransactionState& state() const noexcept { return state_; }

    /// Adds what the entry writes or erases, with its links resolved. Adds nothing if state().is_unread() afterwards.
    /// Requires: all entries are decided. Errors: those of the entry.
    Result<void> build(std::size_t index);

    /// To be called after all entries are built.
    void end_building();

    /// Checks that nothing will refer to what the transaction deletes; otherwise returns the fault.
    asio::awaitable<std::optional<TransactionFault>> check_referrers();

    /// The first reference to something that does not exist now, as submit() would find it; none: there are none.
    /// Requires: end_building().
    std::optional<TransactionFault> find_unmet() const;

    /// Submits everything as one commit. Requires: end_building(), and check_referrers() has found nothing.
    storage::Submission submit();

    /// Whether the submission was refused because a match of criteria is gone: another attempt will find other
    /// matches, or none.
    bool is_outdated_by(const storage::Submission& submission) const;

    /// The fault of a refusal that repeating the attempt would not help.
    TransactionFault fault_of(const storage::Submission& submission) const;

    // What was submitted.

    std::span<const storage::VersionWrite> writes() const noexcept { return writes_; }

    bool has_erases() const noexcept { return !erases_.empty(); }

    /// Whether the answer must wait for an erasure.
    bool erases_versions() const;

    /// Whether the entry is a deletion that found nothing, perhaps because it has erased it before.
    bool may_repeat_erasure(std::size_t index) const;

    /// Requires: the entry's action is write.
    const storage::VersionWrite::Outcome& written(std::size_t index) const {
        return writes_[write_of_entry_[index]].outcome;
    }

    /// The body that the entry wrote. Requires: as written(), and it deletes nothing.
    std::string body_of(std::size_t index) const;

    /// The number of versions that the entry erased.
    std::uint64_t versions_erased(std::size_t index) const;

    /// The size of all bodies written, apart from numbers and instants.
    std::size_t body_bytes() const noexcept;

  private:
    /// Of a body with one link that is replaced.
    static constexpr std::size_t kPiecesUsual = 12;

    Result<void> build_body(std::size_t index, storage::VersionWrite& write);
    Result<const storage::SearchEntries*> extract(TypeId type, const EntryResource& resource,
                                                  const json::BodyPlan& plan);
    bool substitute_links(const EntryResource& resource);
    Result<void> require_references(std::size_t index, const std::vector<json::Edit>& edits);
    storage::SearchEntries& add_entries();
    std::size_t entry_of_write(std::size_t write) const;
    bool is_met(const storage::Requirement& requirement) const;

    const Service& service_;
    const Request& request_;
    std::span<const TransactionEntry> entries_;
    TransactionLinks links_;
    TransactionState state_;
    bool resolves_;
    Referrers referrers_;
    std::vector<std::size_t> deleted_;  ///< entries whose resources were added to `referrers_`
    std::vector<storage::Guard> guards_;
    // Of each write except deletions. They have room for all entries: pieces_ and writes_ point into them.
    std::vector<std::vector<json::Edit>> edits_;
    std::vector<storage::SearchEntries> search_entries_;
    json::Substitution substitution_;
    std::shared_ptr<const search::Indexing::Epoch> epoch_;
    std::vector<BodyPiece> pieces_;
    std::vector<std::size_t> pieces_end_;  ///< of each write
    std::vector<storage::VersionWrite> writes_;
    std::vector<storage::Erase> erases_;
    std::vector<std::size_t> write_of_entry_;         ///< index into writes_ or erases_
    std::deque<std::string> required_names_;          ///< "Patient/1", "Patient/1/_history/2"
    std::vector<storage::Requirement> requirements_;  ///< `writer` is an entry until all are built
    std::vector<std::size_t> requirement_entries_;
    std::vector<bool> requirement_was_found_;  ///< found by criteria, not named in what was sent
};

}  // namespace annals::core
