#include "core/interactions/transaction.h"

#include "codec/schema/structure.h"
#include "core/interactions/answer.h"
#include "core/interactions/bundle_entry.h"
#include "core/interactions/query_needs.h"
#include "core/interactions/references.h"
#include "core/interactions/transaction_answer.h"
#include "core/interactions/transaction_attempt.h"
#include "core/interactions/transaction_entry.h"
#include "core/interactions/transaction_names.h"
#include "core/interactions/turns.h"
#include "core/interactions/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace annals::core {

namespace {

using Status = storage::Submission::Status;

/// A transaction in progress.
class TransactionRun {
  public:
    TransactionRun(const Service& service, const Request& request, json::Value list,
                   TransactionManner manner, std::chrono::steady_clock::time_point end)
        : service_(service),
          request_(request),
          list_(list),
          entries_(list.size()),
          turns_(*request.loop, end, kLongTurn),
          manner_(manner) {}

    asio::awaitable<Response> run() {
        bool fit = co_await read_entries();
        bool reads_tried = false;
        for (int tries = 0; fit && tries < kAttemptsMax; ++tries) {
            TransactionAttempt attempt(service_, request_, entries_, references_, manner_.resolves);
            fit = co_await decide(attempt);
            if (fit && attempt.state().pending().value == 0) {
                fit = co_await build(attempt);
            }
            if (!fit || attempt.state().pending().value != 0) {
                // A refusal may mention versions, which must not disappear in a power failure.
                const storage::Ticket ticket =
                    std::max(attempt.state().pending(), attempt.state().seen());
                const Result<void> settled = co_await request_.loop->settled_ticket(ticket);
                fit = fit || !settled || attempt.state().pending().value != 0 ||
                      attempt.state().is_torn();
                continue;
            }
            if (!std::exchange(reads_tried, true)) {
                fit = co_await try_reads(attempt);
            }
            if (fit) {
                fit = co_await check_references(attempt);
            }
            if (!fit) {
                break;
            }
            if (manner_.rehearsed) {
                co_return Response();
            }
            const storage::Submission submission = attempt.submit();
            if (submission.status == Status::accepted) {
                const Result<void> settled =
                    co_await request_.loop->settled_ticket(submission.ticket);
                if (!settled) {
                    co_return settled.error();
                }
                const ErasedBytes erased = co_await end_erasures(attempt, submission.ticket);
                Response response =
                    co_await answer_transaction(service_, request_, entries_, attempt, erased);
                if (!manner_.sent && !erased.own) {
                    Response left(erased.own.error());
                    left.entries = std::move(response.entries);
                    co_return left;
                }
                co_return response;
            }
            fit = take_refusal(attempt, submission);
            if (fit) {
                const storage::Ticket ticket =
                    submission.status == Status::busy ? submission.ticket : submission.head.ticket;
                // Whatever became of it, the next decision sees the result.
                static_cast<void>(co_await request_.loop->settled_ticket(ticket));
            }
        }
        if (fit) {
            co_return too_many_attempts();
        }
        co_return manner_.sent ? transaction_failed(fault_, entries_[fault_.entry].value)
                               : resource_refused(fault_, entries_);
    }

  private:
    static Error late() { return {Errc::timeout, "The transaction took too long"}; }

    /// Sets the fault and its entry. Always returns false.
    bool fail(std::size_t entry, Error error) {
        fault_ = {entry, std::move(error)};
        return false;
    }

    /// Adds a fault of an entry as sent. False if no other entry can add to it: only faults of structure are reported
    /// together, up to a limit.
    bool add_fault(std::size_t index, Error error) {
        const bool of_structure =
            error.expression.starts_with(fmt::format("Bundle.entry[{}].", index));
        std::vector<Error>& told = fault_.error.others;
        if (fault_.error.detail.empty()) {
            fault_ = {index, std::move(error)};
        } else if (of_structure) {
            std::vector<Error> inner = std::move(error.others);
            error.others.clear();
            told.push_back(std::move(error));
            told.insert(told.end(), std::make_move_iterator(inner.begin()),
                        std::make_move_iterator(inner.end()));
        }
        if (told.size() >= schema::kFaultsMax) {
            told.resize(schema::kFaultsMax - 1);
            return false;
        }
        return of_structure;
    }

    asio::awaitable<bool> read_entries() {
        std::size_t index = 0;
        for (const json::Value value : list_.elements()) {
            TransactionEntry& entry = entries_[index];
            entry.value = value;
            if (index + 1 < entries_.size()) {
                fetch_ahead({value.tree(), value.node().next});
            }
            Unfinished unfinished;
            QueryNeeds needs(service_, *request_.loop, turns_.end());
            Result<void> read =
                read_transaction_entry(service_, value, index, request_, entry, unfinished, needs);
            while (unfinished.any() || !needs.are_met()) {
                if (needs.are_met()) {
                    co_await finish(service_, *request_.loop, unfinished);
                } else {
                    Result<void> met = co_await needs.meet();
                    if (!met) {
                        co_return fail(index, std::move(met.error()));
                    }
                }
                if (turns_.is_late()) {
                    co_return fail(index, late());
                }
                read = read_transaction_entry(service_, value, index, request_, entry, unfinished,
                                              needs);
            }
            if (!read && !add_fault(index, std::move(read.error()))) {
                co_return false;
            }
            if (++index % kEntriesPerTurn == 0 || turns_.pace().is_over()) {
                co_await turns_.give_way();
            }
        }
        if (!fault_.error.detail.empty()) {
            co_return false;
        }
        using enum EntryKind;
        for (const EntryKind kind : {remove, create, update, read}) {
            for (std::size_t i = 0; i < entries_.size(); ++i) {
                if (entries_[i].kind == kind) {
                    order_.push_back(i);
                }
            }
        }
        co_return true;
    }

    /// Decides all entries, which determines what they link to.
    asio::awaitable<bool> decide(TransactionAttempt& attempt) {
        for (const std::size_t index : order_) {
            const Target& target = entries_[index].target;
            const std::string_view id =
                target.id.empty() ? entries_[index].resource.facts.id.value_or("") : target.id;
            if (is_restricted(request_) && !id.empty()) {
                co_await fetch_newest(service_, request_, target.type, id);
            }
            Result<void> decided = attempt.state().decide(index);
            while (attempt.state().is_unread()) {
                decided = co_await attempt.state().fetch();
                if (decided) {
                    decided =
                        turns_.is_late() ? Result<void>(late()) : attempt.state().decide(index);
                }
            }
            if (decided && turns_.is_late()) {
                decided = late();
            }
            if (!decided) {
                co_return fail(index, std::move(decided.error()));
            }
            const TransactionEntry& entry = entries_[index];
            if (entry.kind == EntryKind::create || entry.kind == EntryKind::update) {
                const EntryDecision& decision = attempt.state().decision(index);
                const Result<void> added = attempt.links().add(
                    entry.full_url, resource_name(entry.target.type, decision.id),
                    decision.method == storage::Method::post);
                if (!added) {
                    co_return fail(index, added.error());
                }
                attempt.state().know(entry.full_url);
            }
            if (turns_.pace().is_over()) {
                co_await turns_.give_way();
            }
        }
        co_return true;
    }

    /// Builds what the entries write, with all links resolved. Requires: decide().
    asio::awaitable<bool> build(TransactionAttempt& attempt) {
        attempt.state().end_decisions();
        std::size_t count = 0;
        for (const std::size_t index : order_) {
            if (count + 1 < order_.size()) {
                fetch_ahead(entries_[order_[count + 1]].value);
            }
            if (is_restricted(request_) && service_.config().integrity_on_write) {
                co_await core::fetch_referred(service_, request_,
                                              referred_by(attempt.state().resource(index)));
            }
            Result<void> built = attempt.build(index);
            while (attempt.state().is_unread()) {
                built = co_await attempt.state().fetch();
                if (built) {
                    built = turns_.is_late() ? Result<void>(late()) : attempt.build(index);
                }
            }
            if (built && turns_.is_late()) {
                built = late();
            }
            if (!built) {
                co_return fail(index, std::move(built.error()));
            }
            if (++count % kEntriesPerTurn == 0 || turns_.pace().is_over()) {
                co_await turns_.give_way();
            }
        }
        attempt.end_building();
        co_return true;
    }

    /// The resources of this server that the entry refers to, as sent.
    std::vector<std::pair<TypeId, std::string>> referred_by(const EntryResource& resource) const {
        std::vector<std::pair<TypeId, std::string>> referred;
        for (const json::ReferenceSite& site : resource.sites) {
            const std::string text = site.value.string();
            if (const auto key = referred_resource(text, request_.base_url)) {
                referred.emplace_back(key->first, key->second);
            }
        }
        return referred;
    }

    /// Runs the reads on the state before the transaction, so that a fault is found while nothing has been applied.
    /// Exceptions are reads that need what the transaction writes, or whose operation is about it: they are judged
    /// afterwards. The budget for all answers is checked as far as they are known.
    asio::awaitable<bool> try_reads(const TransactionAttempt& attempt) {
        if (order_.empty() || entries_[order_.back()].kind != EntryKind::read) {
            co_return true;
        }
        AnswerBudget budget(service_.config());
        budget.take(answered_bytes(request_, attempt));
        std::optional<TransactionNames> names;  // rarely needed
        for (std::size_t index = 0; index < entries_.size(); ++index) {
            const TransactionEntry& entry = entries_[index];
            if (entry.kind != EntryKind::read) {
                continue;
            }
            if (turns_.is_late()) {
                co_return fail(index, late());
            }
            const std::string name = resource_name(entry.target.type, entry.target.id);
            const auto writer = attempt.state().writer_of(name);
            const bool written = !entry.target.id.empty() && writer;
            if (written && entries_[*writer].kind == EntryKind::remove &&
                entry.target.level == Level::instance) {
                co_return fail(index,
                               {service_.config().hard_delete ? Errc::not_found : Errc::deleted,
                                fmt::format("{} is deleted by Bundle.entry[{}]", name, *writer),
                                {}});
            }
            AnswerBudget of_before(service_.config());  // its answer will be different
            const Response response = co_await answer_read_entry(
                service_, entry, std::nullopt, written ? of_before : budget, turns_);
            if (response.status < 400) {
                continue;
            }
            Error refusal = response.failure ? *response.failure : Error{Errc::invalid, "refused"};
            if (!names) {
                names.emplace(service_.store(), entries_, attempt.state(), request_.base_url);
            }
            if (!names->concern(entry, refusal)) {
                co_return fail(index, std::move(refusal));
            }
        }
        co_return true;
    }

    /// Checks references to what the transaction deletes and, without a commit that would do so, those to what doesn't exist;
    /// then whether there is still time.
    asio::awaitable<bool> check_references(TransactionAttempt& attempt) {
        std::optional<TransactionFault> fault = co_await attempt.check_referrers();
        if (!fault && manner_.rehearsed) {
            fault = attempt.find_unmet();
        }
        if (!fault && !order_.empty() && turns_.is_late()) {
            fault = {order_.back(), late()};
        }
        if (fault) {
            fault_ = *std::move(fault);
        }
        co_return !fault;
    }

    /// True if another attempt may succeed.
    bool take_refusal(const TransactionAttempt& attempt, const storage::Submission& submission) {
        if (submission.status == Status::busy || submission.status == Status::expectation_failed ||
            attempt.is_outdated_by(submission)) {
            return true;
        }
        fault_ = attempt.fault_of(submission);
        return false;
    }

    /// Waits until no byte is left of what the deletions erased, or found erased already.
    asio::awaitable<ErasedBytes> end_erasures(const TransactionAttempt& attempt,
                                              storage::Ticket ticket) const {
        ErasedBytes erased;
        if (attempt.erases_versions()) {
            erased.own = co_await request_.loop->erased_ticket(ticket);
        }
        const bool repeats = std::ranges::any_of(
            order_, [&](std::size_t index) { return attempt.may_repeat_erasure(index); });
        if (repeats) {
            erased.earlier = co_await request_.loop->all_erased();
        }
        co_return erased;
    }

    const Service& service_;
    const Request& request_;
    json::Value list_;
    std::vector<TransactionEntry> entries_;  ///< never grows: entries point into themselves
    std::vector<std::size_t> order_;         ///< FHIR's processing order
    TransactionState::References references_;
    TransactionFault fault_;
    Turns turns_;  ///< few entries take long: patches, criteria, full validation, reads
    TransactionManner manner_;
};

}  // namespace

asio::awaitable<Response> run_transaction(const Service& service, const Request& request,
                                          const json::Document& bundle,
                                          std::chrono::steady_clock::time_point end,
                                          TransactionManner manner) {
    const json::Value list = bundle.root()["entry"];
    TransactionRun run(service, request, list, manner, end);
    Response response = co_await run.run();
    if (response.status != 200 && response.entries.empty() && service.config().audited()) {
        // They had no effect, but they were requested.
        for (const json::Value entry : list.elements()) {
            response.entries.push_back(trace_asked(entry, response.status));
        }
    }
    co_return response;
}

}  // namespace annals::core
