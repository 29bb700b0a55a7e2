#include "core/interactions/transaction.h"

#include "codec/json/substitution.h"
#include "codec/schema/structure.h"
#include "core/interactions/answer.h"
#include "core/interactions/bundle_entry.h"
#include "core/interactions/delete.h"
#include "core/interactions/entry_answer.h"
#include "core/interactions/referrers.h"
#include "core/interactions/transaction_entry.h"
#include "core/interactions/transaction_links.h"
#include "core/interactions/transaction_state.h"
#include "core/interactions/turns.h"
#include "core/interactions/write.h"
#include "core/outcome.h"
#include "core/scoped_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <vector>

namespace annals::core {

namespace {

using Action = EntryDecision::Action;
using Status = storage::Submission::Status;

/// Entries that are worked on before other requests of the loop get their turn.
constexpr std::size_t kEntriesPerTurn = 256;

/// What transactions of this thread have left: entries whose memory is used again.
std::vector<storage::SearchEntries>& spare_entries() {
    thread_local std::vector<storage::SearchEntries> spares;
    return spares;
}

constexpr std::size_t kSpareEntriesMax = 2048;

/// One decision of the whole transaction and the commit that follows from it. Does not move: the parts point
/// into each other.
struct Attempt {
    Attempt(const Service& service, const Request& request,
            std::span<const TransactionEntry> entries, TransactionState::References& references)
        : links(request.base_url),
          state(service, request, entries, links, references),
          referrers(service, request),
          epoch(service.indexing().epoch()),
          write_of_entry(entries.size()) {}

    ~Attempt() {
        std::vector<storage::SearchEntries>& spares = spare_entries();
        for (std::size_t i = 0; i < entries.size() && spares.size() < kSpareEntriesMax; ++i) {
            spares.push_back(std::move(entries[i]));
        }
    }

    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;

    storage::SearchEntries& add_entries() {
        std::vector<storage::SearchEntries>& spares = spare_entries();
        if (spares.empty()) {
            return entries.emplace_back();
        }
        storage::SearchEntries& added = entries.emplace_back(std::move(spares.back()));
        spares.pop_back();
        return added;
    }

    TransactionLinks links;
    TransactionState state;
    Referrers referrers;
    std::vector<std::size_t> deleted;  ///< entries whose resources `referrers` has
    std::vector<storage::Guard> guards;
    std::deque<std::vector<json::Edit>> edits;
    json::Substitution substitution;
    std::deque<json::BodyPlan> plans;
    std::shared_ptr<const search::Indexing::Epoch> epoch;
    std::deque<storage::SearchEntries> entries;  ///< of each write but deletions
    std::vector<storage::BodyPiece> pieces;
    std::vector<std::size_t> pieces_end;  ///< of each write
    std::vector<storage::VersionWrite> writes;
    std::vector<storage::Erase> erases;
    std::vector<std::size_t> write_of_entry;         ///< index into writes or erases
    std::deque<std::string> required_names;          ///< "Patient/1", "Patient/1/_history/2"
    std::vector<storage::Requirement> requirements;  ///< `writer` is an entry until all are built
    std::vector<std::size_t> requirement_entries;
};

/// A transaction under way.
class TransactionRun {
  public:
    TransactionRun(const Service& service, const Request& request, json::Value list)
        : service_(service), request_(request), list_(list), entries_(list.size()) {}

    asio::awaitable<Response> run() {
        bool fit = co_await read_entries();
        for (int tries = 0; fit && tries < kAttemptsMax; ++tries) {
            Attempt attempt(service_, request_, entries_, references_);
            fit = co_await decide(attempt);
            if (!fit || attempt.state.pending().value != 0) {
                // A refusal speaks of versions: none of them may be one that a power cut can take back.
                const storage::Ticket ticket =
                    std::max(attempt.state.pending(), attempt.state.seen());
                const Result<void> settled = co_await request_.loop->settled_ticket(ticket);
                fit = fit || !settled || attempt.state.pending().value != 0;
                continue;
            }
            if (tries == 0) {
                fit = co_await try_reads(attempt);
                if (!fit) {
                    break;
                }
            }
            fit = co_await check_referrers(attempt);
            if (!fit) {
                break;
            }
            const storage::Submission submission = submit(attempt);
            if (submission.status == Status::accepted) {
                Result<void> settled;
                const bool erases = std::ranges::any_of(
                    attempt.erases,
                    [](const storage::Erase& erase) { return erase.outcome.versions_erased > 0; });
                if (erases) {
                    settled = co_await request_.loop->erased_ticket(submission.ticket);
                } else {
                    settled = co_await request_.loop->settled_ticket(submission.ticket);
                }
                if (!settled) {
                    co_return outcome_response(settled.error(), request_);
                }
                Response response = co_await answer(attempt);
                co_return response;
            }
            fit = take_refusal(attempt, submission);
            if (fit) {
                const storage::Ticket ticket =
                    submission.status == Status::busy ? submission.ticket : submission.head.ticket;
                // Whatever became of it: the next decision sees.
                static_cast<void>(co_await request_.loop->settled_ticket(ticket));
            }
        }
        if (fit) {
            co_return outcome_response(too_many_attempts(), request_);
        }
        co_return transaction_failed(fault_, entries_[fault_.entry].value, request_);
    }

  private:
    /// Says what is wrong, and whose it is. Always false.
    bool fail(std::size_t entry, Error error) {
        fault_ = {entry, std::move(error)};
        return false;
    }

    /// A fault of an entry as it came: false if no other entry can add to it. Those of structure are told together.
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
            std::vector<Position> unread;
            Result<void> read =
                read_transaction_entry(service_, value, index, request_, entry, &unread);
            if (!unread.empty()) {
                co_await request_.loop->fetched(std::move(unread));
                read = co_await fetch_and_look(*request_.loop, [&](std::vector<Position>* more) {
                    return read_transaction_entry(service_, value, index, request_, entry, more);
                });
            }
            if (!read && !add_fault(index, std::move(read.error()))) {
                co_return false;
            }
            if (++index % kEntriesPerTurn == 0) {
                co_await request_.loop->yield();
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

    /// Decides all entries, then builds their bodies with all links resolved.
    asio::awaitable<bool> decide(Attempt& attempt) {
        for (const std::size_t index : order_) {
            const Target& target = entries_[index].target;
            const std::string_view id =
                target.id.empty() ? entries_[index].resource.facts.id.value_or("") : target.id;
            if (is_held(request_) && !id.empty()) {
                co_await fetch_newest(service_, request_, target.type, id);
            }
            Result<void> decided = attempt.state.decide(index);
            while (attempt.state.is_unread()) {
                decided = co_await attempt.state.fetch();
                if (decided) {
                    decided = attempt.state.decide(index);
                }
            }
            if (!decided) {
                co_return fail(index, std::move(decided.error()));
            }
            const TransactionEntry& entry = entries_[index];
            if (entry.kind == EntryKind::create || entry.kind == EntryKind::update) {
                const std::string name =
                    resource_name(entry.target.type, attempt.state.decision(index).id);
                if (Result<void> added = attempt.links.add(entry.full_url, name); !added) {
                    co_return fail(index, std::move(added.error()));
                }
            }
        }
        if (attempt.state.pending().value != 0) {
            co_return true;
        }
        attempt.state.end_decisions();
        std::size_t count = 0;
        for (const std::size_t index : order_) {
            if (count + 1 < order_.size()) {
                fetch_ahead(entries_[order_[count + 1]].value);
            }
            if (is_held(request_) && service_.config().integrity_on_write) {
                co_await fetch_referred(attempt.state.resource(index));
            }
            Result<void> built = build(attempt, index);
            while (attempt.state.is_unread()) {
                built = co_await attempt.state.fetch();
                if (built) {
                    built = build(attempt, index);
                }
            }
            if (!built) {
                co_return fail(index, std::move(built.error()));
            }
            if (++count % kEntriesPerTurn == 0) {
                co_await request_.loop->yield();
            }
        }
        std::size_t begin = 0;
        for (std::size_t i = 0; i < attempt.writes.size(); ++i) {
            const std::size_t end = attempt.pieces_end[i];
            attempt.writes[i].body = std::span(attempt.pieces).subspan(begin, end - begin);
            begin = end;
        }
        for (storage::Requirement& requirement : attempt.requirements) {
            if (requirement.writer) {
                requirement.writer = attempt.write_of_entry[*requirement.writer];
            }
        }
        co_return true;
    }

    /// Adds what the entry writes or erases. Nothing, if the state is_unread() then.
    Result<void> build(Attempt& attempt, std::size_t index) {
        const TransactionEntry& entry = entries_[index];
        const EntryDecision& decision = attempt.state.decision(index);
        if (decision.action == Action::none) {
            return {};
        }
        if (entry.kind == EntryKind::remove && !decision.head.deletion) {
            attempt.referrers.add_deleted(entry.target.type, decision.id);
            attempt.deleted.push_back(index);
        } else {
            attempt.referrers.add_rewritten(entry.target.type, decision.id);
        }
        if (decision.action == Action::erase) {
            storage::Erase erase;
            erase.type = entry.target.type;
            erase.id = decision.id;
            erase.expect = decision.expect;
            erase.expected_version = decision.expected_version;
            attempt.write_of_entry[index] = attempt.erases.size();
            attempt.erases.push_back(erase);
            return {};
        }
        storage::VersionWrite write;
        write.type = entry.target.type;
        write.id = decision.id;
        write.method = decision.method;
        write.expect = decision.expect;
        write.expected_version = decision.expected_version;
        write.deletion = entry.kind == EntryKind::remove;
        if (!write.deletion) {
            const EntryResource& resource = attempt.state.resource(index);
            ANNALS_TRY(auto edits, attempt.links.edits(resource, entry.full_url,
                                                       [&](std::string_view reference) {
                                                           return attempt.state.resolve(reference);
                                                       }));
            attempt.edits.push_back(std::move(edits));
            if (service_.config().integrity_on_write) {
                ANNALS_TRY_VOID(require_references(attempt, index, attempt.edits.back()));
            }
            attempt.plans.emplace_back(resource.facts, decision.id, json::BodyPlan::Keep{},
                                       attempt.edits.back());
            append_pieces(attempt.plans.back(), attempt.pieces);
            if (is_held(request_)) {
                ANNALS_TRY(const json::Document document, parse_planned(attempt.plans.back()));
                ANNALS_TRY_VOID(check_written(service_, request_, write, document.root()));
            }
            ANNALS_TRY(write.search, extract(attempt, entry.target.type, resource));
        }
        attempt.pieces_end.push_back(attempt.pieces.size());
        attempt.write_of_entry[index] = attempt.writes.size();
        attempt.writes.push_back(write);
        return {};
    }

    /// What the version that was planned last can be found by: as it is stored, its links resolved.
    static Result<const storage::SearchEntries*> extract(Attempt& attempt, TypeId type,
                                                         const EntryResource& resource) {
        storage::SearchEntries& entries = attempt.add_entries();
        if (substitute_links(attempt, resource)) {
            attempt.epoch->extract(type, resource.facts.resource, entries);
            attempt.substitution.undo();
            return &entries;
        }
        ANNALS_TRY(json::Document document, parse_planned(attempt.plans.back()));
        attempt.epoch->extract(type, document.root(), entries);
        thread_parser().recycle(std::move(document));
        return &entries;
    }

    /// False, with nothing substituted, if there is no room for it.
    static bool substitute_links(Attempt& attempt, const EntryResource& resource) {
        auto edit = attempt.edits.back().cbegin();
        const auto end = attempt.edits.back().cend();
        for (auto site = resource.sites.begin(); edit != end; ++site) {
            if (site->value.node().begin != edit->begin) {
                continue;
            }
            if (!attempt.substitution.replace(site->value, edit->text)) {
                attempt.substitution.undo();
                return false;
            }
            ++edit;
        }
        return true;
    }

    /// Has fetched what may_refer() looks at.
    asio::awaitable<void> fetch_referred(const EntryResource& resource) const {
        std::vector<storage::VersionInfo> versions;
        for (const json::ReferenceSite& site : resource.sites) {
            const std::string text = site.value.string();
            const auto key = local_reference(text, request_.base_url);
            const auto info =
                key ? service_.store().current(key->first, key->second) : std::nullopt;
            if (info) {
                versions.push_back(*info);
            }
        }
        co_await request_.loop->fetched(versions);
    }

    /// Requires what the entry refers to, unless the transaction itself brings it. Of that a version may be named.
    Result<void> require_references(Attempt& attempt, std::size_t index,
                                    const std::vector<json::Edit>& edits) {
        // What a stored Bundle refers to by other than a key may be one of its own entries.
        const bool is_bundle = resource_type_name(entries_[index].target.type) == "Bundle";
        auto edit = edits.begin();
        for (const json::ReferenceSite& site : attempt.state.resource(index).sites) {
            std::string text = site.value.string();
            while (edit != edits.end() && edit->begin < site.value.node().begin) {
                ++edit;
            }
            if (edit != edits.end() && edit->begin == site.value.node().begin) {
                text = edit->text.substr(1, edit->text.size() - 2);
            }
            if (site.kind != json::ReferenceSite::Kind::reference) {
                continue;
            }
            const auto key = local_reference(std::string_view(text).substr(0, text.find('#')),
                                             request_.base_url);
            if (!key && is_relative_reference(text) && !is_bundle) {
                return refers_to_nothing(text);
            }
            if (!key) {
                continue;
            }
            std::string name = resource_name(key->first, key->second);
            const auto writer = attempt.state.writer_of(name);
            if ((writer && entries_[*writer].kind == EntryKind::remove) ||
                (!writer && !may_refer(service_, request_, key->first, key->second))) {
                return refers_to_nothing(name);
            }
            const std::string_view version = referred_version(text);
            if (!writer || !version.empty()) {
                const std::size_t id_at = name.size() - key->second.size();
                if (!version.empty()) {
                    name += fmt::format("/_history/{}", version);
                }
                const std::string& kept = attempt.required_names.emplace_back(std::move(name));
                attempt.requirements.push_back(
                    {.type = key->first,
                     .id = std::string_view(kept).substr(id_at, key->second.size()),
                     .version = required_version(version),
                     .writer = writer});
                attempt.requirement_entries.push_back(index);
            }
        }
        return {};
    }

    static Error refers_to_nothing(std::string_view name) {
        return {Errc::conflict,
                fmt::format("the resource refers to {}, which does not exist", name),
                {}};
    }

    /// Runs the reads on the state before, so that a fault is found while nothing is applied. Reads of what the
    /// transaction writes are judged by what it does. So is what all would answer together, as far as it is known.
    asio::awaitable<bool> try_reads(const Attempt& attempt) {
        if (order_.empty() || entries_[order_.back()].kind != EntryKind::read) {
            co_return true;
        }
        AnswerBudget budget(service_.config());
        budget.take(answered_bytes(attempt));
        Turns turns(*request_.loop);
        for (std::size_t index = 0; index < entries_.size(); ++index) {
            const TransactionEntry& entry = entries_[index];
            if (entry.kind != EntryKind::read) {
                continue;
            }
            const std::string name = resource_name(entry.target.type, entry.target.id);
            const auto writer = attempt.state.writer_of(name);
            if (!entry.target.id.empty() && writer) {
                if (entries_[*writer].kind == EntryKind::remove &&
                    entry.target.level == Level::instance) {
                    co_return fail(index,
                                   {service_.config().hard_delete ? Errc::not_found : Errc::deleted,
                                    fmt::format("{} is deleted by Bundle.entry[{}]", name, *writer),
                                    {}});
                }
                continue;
            }
            const Response response = co_await answer_read(entry, budget, turns);
            if (response.status >= 400) {
                co_return fail(index, response.failure ? *response.failure
                                                       : Error{Errc::invalid, "refused", {}});
            }
        }
        co_return true;
    }

    /// What the answers to the writes have together, but for numbers and instants in their bodies.
    std::size_t answered_bytes(const Attempt& attempt) const {
        using enum Preference::Return;
        const Preference::Return form = read_preference(request_).return_form;
        std::size_t bytes = 0;
        if (form == unsaid || form == representation) {
            for (const storage::BodyPiece& piece : attempt.pieces) {
                bytes += piece.text.size();
            }
        }
        return bytes;
    }

    /// Runs a read, as far as there is room for its answer.
    asio::awaitable<Response> answer_read(const TransactionEntry& entry, AnswerBudget& budget,
                                          Turns& turns) {
        if (budget.is_spent() && entry.asked.method == HttpMethod::get) {
            co_return outcome_response(budget.error(), request_);
        }
        if (turns.pace().is_over()) {
            co_await turns.give_way();
        }
        Response response = co_await handle(service_, entry.request);
        if (response.more == nullptr) {
            fit_answer(entry.request, EntryUse::read, budget, response);
        } else {
            co_await draw_answer(entry.request, EntryUse::read, budget, turns, response);
        }
        co_return response;
    }

    /// Whether nothing refers to what is deleted once the transaction is done.
    asio::awaitable<bool> check_referrers(Attempt& attempt) {
        for (std::size_t i = 0; i < attempt.writes.size(); ++i) {
            const storage::VersionWrite& write = attempt.writes[i];
            const auto held = write.search != nullptr ? attempt.referrers.referred_to(*write.search)
                                                      : std::nullopt;
            if (held) {
                co_return fail(attempt.deleted[*held],
                               {Errc::conflict,
                                fmt::format("{}, which the transaction writes, refers to it",
                                            resource_name(write.type, write.id)),
                                {}});
            }
        }
        Result<void> free = co_await attempt.referrers.check();
        if (!free) {
            co_return fail(attempt.deleted[attempt.referrers.held()], std::move(free.error()));
        }
        attempt.guards = attempt.state.guards();
        attempt.referrers.guard(attempt.guards);
        co_return true;
    }

    storage::Submission submit(Attempt& attempt) {
        if (attempt.writes.empty() && attempt.erases.empty()) {
            storage::Submission nothing;
            nothing.status = Status::accepted;
            nothing.ticket = attempt.state.seen();
            return nothing;
        }
        storage::Commit commit;
        commit.writes = attempt.writes;
        commit.erases = attempt.erases;
        commit.guards = attempt.guards;
        commit.requirements = attempt.requirements;
        commit.request = request_.client_request_id;
        const storage::Submission submission = service_.store().submit(commit);
        search::Indexing::submitted(*attempt.epoch, submission.ticket);
        return submission;
    }

    std::size_t entry_of_write(const Attempt& attempt, std::size_t write) const {
        std::size_t index = 0;
        while (attempt.state.decision(index).action != Action::write ||
               attempt.write_of_entry[index] != write) {
            ++index;
        }
        return index;
    }

    /// True if the refusal is worth another attempt.
    bool take_refusal(const Attempt& attempt, const storage::Submission& submission) {
        switch (submission.status) {
            case Status::busy:
            case Status::expectation_failed:
                return true;
            case Status::requirement_failed:
                return fail(attempt.requirement_entries[submission.failed],
                            refers_to_nothing(attempt.required_names[submission.failed]));
            case Status::too_large:
                return fail(0, {Errc::too_costly, "the transaction is too large to be stored", {}});
            case Status::no_number:
                return fail(entry_of_write(attempt, submission.failed),
                            submission_error(submission.status));
            case Status::accepted:
            case Status::version_unknown:
            case Status::overloaded:
            case Status::no_space:
            case Status::failed:
            case Status::read_only:
                break;
        }
        return fail(0, submission_error(submission.status));
    }

    /// All is done by now: what has no room is left out, or refused where it is only read.
    asio::awaitable<Response> answer(const Attempt& attempt) {
        ResponseBundle bundle("transaction-response", request_.base_url,
                              service_.config().audited());
        const Preference preference = read_preference(request_);
        const bool outcomes = preference.return_form == Preference::Return::operation_outcome;
        AnswerBudget budget(service_.config());
        Turns turns(*request_.loop);
        for (std::size_t index = 0; index < entries_.size(); ++index) {
            const TransactionEntry& entry = entries_[index];
            Response response;
            if (entry.kind == EntryKind::read) {
                response = co_await answer_read(entry, budget, turns);
            } else {
                response = entry.kind == EntryKind::remove
                               ? answer_removed(attempt, index, preference)
                               : answer_kept(attempt, index, preference);
                fit_answer(entry.request, EntryUse::write, budget, response);
            }
            bundle.add(entry.value, entry.asked.method, std::move(response),
                       outcomes && entry.kind != EntryKind::read);
            if ((index + 1) % kEntriesPerTurn == 0) {
                co_await turns.give_way();
            }
        }
        Response response = bundle.finish();
        if (!attempt.writes.empty()) {
            response.position = attempt.writes.back().outcome.position;
        } else if (!attempt.erases.empty()) {
            response.position = service_.store().last_position();
        }
        co_return response;
    }

    Response answer_removed(const Attempt& attempt, std::size_t index,
                            const Preference& preference) const {
        const EntryDecision& decision = attempt.state.decision(index);
        Response response;
        response.status = 204;
        if (decision.action == Action::write) {
            const auto& outcome = attempt.writes[attempt.write_of_entry[index]].outcome;
            set_version(response, outcome.version, outcome.instant);
        } else if (decision.action == Action::none && decision.head.exists) {
            set_version(response, decision.head.version, decision.head.instant);
        }
        if (preference.return_form == Preference::Return::operation_outcome) {
            response.status = 200;
            response.body = Body(information(describe_removed(attempt, index, response)));
        }
        return response;
    }

    /// In the words of a deletion alone. `response`: has the version of the deletion, if there is one.
    std::string describe_removed(const Attempt& attempt, std::size_t index,
                                 const Response& response) const {
        const EntryDecision& decision = attempt.state.decision(index);
        const TypeId type = entries_[index].target.type;
        if (decision.action == Action::none) {
            return decision.id.empty() ? std::string(kNothingMatched)
                                       : describe_no_deletion(type, decision.id, decision.head);
        }
        const std::uint64_t erased =
            decision.action == Action::erase
                ? attempt.erases[attempt.write_of_entry[index]].outcome.versions_erased
                : 0;
        return describe_deletion(type, decision.id, response.etag.value_or(VersionNumber{}),
                                 erased);
    }

    Response answer_kept(const Attempt& attempt, std::size_t index,
                         const Preference& preference) const {
        const TransactionEntry& entry = entries_[index];
        const TypeId type = entry.target.type;
        const EntryDecision& decision = attempt.state.decision(index);
        Response response;
        std::optional<storage::VersionInfo> info;
        std::string_view what = "found";
        if (decision.action == Action::none) {
            info = service_.store().current(type, decision.id);
            if (info && !ScopedView(service_, request_, kMaySearch, "search").shows(*info)) {
                info.reset();  // changed a moment ago
            }
        } else {
            const auto& outcome = attempt.writes[attempt.write_of_entry[index]].outcome;
            const bool live = outcome.previous.exists && !outcome.previous.deletion;
            response.status = live ? 200 : 201;
            what = live ? "updated" : "created";
            response.location = version_url(request_.base_url, type, decision.id, outcome.version);
            set_version(response, outcome.version, outcome.instant);
            if (preference.return_form == Preference::Return::minimal) {
                return response;
            }
            info = service_.store().version(type, decision.id, outcome.version);
        }
        if (info && !info->deletion) {
            if (decision.action == Action::none) {
                response.location =
                    version_url(request_.base_url, type, decision.id, info->version);
                set_version(response, info->version, info->instant);
            }
            put_body(service_, response, preference, info, type, decision.id, what);
        }
        return response;
    }

    const Service& service_;
    const Request& request_;
    json::Value list_;
    std::vector<TransactionEntry> entries_;  ///< never grows: entries point into themselves
    std::vector<std::size_t> order_;         ///< FHIR's processing order
    TransactionState::References references_;
    TransactionFault fault_;
};

}  // namespace

asio::awaitable<Response> run_transaction(const Service& service, const Request& request,
                                          const json::Document& bundle) {
    TransactionRun run(service, request, bundle.root()["entry"]);
    Response response = co_await run.run();
    co_return response;
}

}  // namespace annals::core
