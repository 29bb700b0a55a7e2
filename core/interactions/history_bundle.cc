#include "core/interactions/history_bundle.h"

#include "core/interactions/bundle_entry.h"
#include "core/interactions/bundle_stream.h"
#include "core/interactions/entry_answer.h"
#include "core/interactions/history_bundle_answer.h"
#include "core/interactions/history_bundle_entry.h"
#include "core/interactions/history_bundle_ignored.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/turns.h"
#include "core/interactions/write.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace annals::core {

namespace {

using Fate = HistoryFate;
using storage::Expect;
using storage::Submission;

/// How many entries are applied, or answered, before other requests may get their turn; fewer are applied if they take longer than
/// kLongTurn.
constexpr std::size_t kAppliedPerTurn = 128;

/// What is kept for an entry until the answer is written.
struct Record : HistoryOutcome {
    bool erasing = false;        ///< the result is known; only the resource must still be erased
    std::uint32_t id_begin = 0;  ///< in HistoryRun::ids_
    std::uint32_t id_size = 0;
};

/// A history bundle in progress.
class HistoryRun {
  public:
    HistoryRun(const Service& service, const Request& request, json::Value list,
               std::chrono::steady_clock::time_point end)
        : service_(service),
          request_(request),
          escaped_base_(escaped_base(request.base_url)),
          list_(list),
          records_(list.size()),
          budget_(service.config()),
          turns_(*request.loop, end, kLongTurn),
          ignored_(service, request, turns_) {}

    asio::awaitable<Response> run() {
        std::size_t index = 0;
        for (const json::Value value : list_.elements()) {
            Record& record = records_[index];
            if (index + 1 < records_.size()) {
                fetch_ahead({value.tree(), value.node().next});
            }
            storage::Ticket wait;
            unfinished_ = {};
            const Result<bool> done = apply(value, record, wait);
            if (!done) {
                co_return done.error();
            }
            if (!*done) {
                const Result<void> applied = co_await apply_later(value, record, wait);
                if (!applied) {
                    co_return applied.error();
                }
            }
            if (++index % kAppliedPerTurn == 0 || turns_.pace().is_over()) {
                service_.store().flush();
                co_await turns_.give_way();
                if (!still_there()) {
                    co_return Error{Errc::no_store};
                }
            }
        }
        Result<void> settled = co_await request_.loop->settled_ticket(last_ticket_);
        if (settled && last_erase_.value != 0) {
            settled = co_await request_.loop->erased_ticket(last_erase_);
        }
        if (settled && met_erased_) {
            settled = co_await request_.loop->all_erased();
        }
        if (!settled) {
            co_return settled.error();
        }
        const bool in_time = co_await ignored_.compare();
        if (!in_time) {
            co_return too_late();
        }
        Response response = co_await answer();
        co_return response;
    }

  private:
    static Error too_late() { return {Errc::timeout, "The history bundle took too long"}; }

    /// Goes on with an entry for which apply() was false. Errors: those of apply(); timeout.
    asio::awaitable<Result<void>> apply_later(json::Value value, Record& record,
                                              storage::Ticket wait) {
        for (;;) {
            if (unfinished_.any()) {
                // Not afterwards: what has been validated is applied, so that the bundle gets further when sent again.
                if (turns_.is_late()) {
                    Result<void> durable = co_await request_.loop->settled_ticket(last_ticket_);
                    co_return durable ? Result<void>(too_late()) : std::move(durable);
                }
                co_await finish(service_, *request_.loop, unfinished_);
            }
            const Result<void> settled = co_await request_.loop->settled_ticket(wait);
            if (settled && record.erasing) {
                const bool in_time = co_await ignored_.compare();
                if (!in_time) {
                    co_return too_late();
                }
            }
            if (!settled || !still_there()) {
                co_return Error{Errc::no_store};
            }
            Result<bool> done = apply(value, record, wait);
            if (!done) {
                co_return std::move(done.error());
            }
            if (*done) {
                co_return Result<void>();
            }
        }
    }

    /// Submits the entry. False if it must be repeated once `wait` has settled and unfinished_ is finished.
    /// Errors: those that end the whole bundle (no_store, overloaded, internal).
    Result<bool> apply(json::Value value, Record& record, storage::Ticket& wait) {
        if (record.erasing) {
            return erase(record, wait);
        }
        value_ = value;
        Result<void> read = check_readable(request_, index_of(record));
        if (read) {
            read = read_history_entry(value, entry_);
        }
        const json::Value full_url = read ? entry_.full_url : value["fullUrl"];
        record.full_url = full_url.is_string() ? full_url.raw() : std::string_view();
        if (!read) {
            return refuse(record, std::move(read.error()));
        }
        record.type = entry_.type;
        record.id_begin = static_cast<std::uint32_t>(ids_.size());
        record.id_size = static_cast<std::uint32_t>(entry_.id.size());
        ids_ += entry_.id;
        service_.store().fetch_ahead(entry_.type, entry_.id);
        return entry_.deletion ? apply_deletion(entry_, record, wait)
                               : apply_version(entry_, record, wait);
    }

    std::size_t index_of(const Record& record) const {
        return static_cast<std::size_t>(&record - records_.data());
    }

    std::string_view id_of(const Record& record) const {
        return std::string_view(ids_).substr(record.id_begin, record.id_size);
    }

    Result<bool> apply_version(const HistoryEntry& entry, Record& record, storage::Ticket& wait) {
        if (ignores_unchecked_ && ignore_unless_newer(entry, record)) {
            return true;
        }
        Result<void> built = check_resource(service_, entry.facts.resource, {}, &unfinished_);
        if (unfinished_.any()) {
            // What is there already is not validated at length: a bundle that is sent again would end here each time.
            if (ignore_unless_newer(entry, record)) {
                ignores_unchecked_ = true;
                return true;
            }
            wait = {};
            return false;
        }
        if (!built && built.error().code == Errc::overloaded) {
            return std::move(built.error());  // the entry itself may be sound
        }
        if (!built) {
            return refuse(record, std::move(built.error()));
        }
        // Fast path for a bundle that is sent again: it isn't parsed further.
        if (ignored_last_ && ignore_unless_newer(entry, record)) {
            return true;
        }
        const KeptBody body(entry);

        storage::VersionWrite write = write_of(entry);
        write.body = body.plan().pieces();
        write.expect = Expect::older;
        const auto epoch = service_.indexing().epoch();
        write.search = &epoch->entries_of(entry.type, entry.facts.resource);
        const Submission submission = submit(write);
        search::Indexing::submitted(*epoch, submission.ticket);
        if (submission.status == Submission::Status::accepted) {
            record.fate = write.outcome.previous.is_live() ? Fate::updated : Fate::created;
            accepted(record, write, submission.ticket);
            return true;
        }
        if (submission.status == Submission::Status::expectation_failed) {
            ignore(record, Fate::ignored, entry, submission.head);
            return true;
        }
        return not_submitted(submission, record, wait);
    }

    Result<bool> apply_deletion(const HistoryEntry& entry, Record& record, storage::Ticket& wait) {
        storage::VersionWrite write = write_of(entry);
        write.deletion = true;
        write.expect = entry.version ? Expect::older : Expect::live;
        const Submission submission = submit(write);
        if (submission.status == Submission::Status::accepted) {
            record.fate = Fate::deleted;
            accepted(record, write, submission.ticket);
            record.erasing = service_.config().hard_delete;
            return record.erasing ? erase(record, wait) : Result<bool>(true);
        }
        if (submission.status != Submission::Status::expectation_failed) {
            return not_submitted(submission, record, wait);
        }
        const storage::Head& head = submission.head;
        if (head.is_live()) {
            ignore(record, Fate::ignored, entry, head);
            return true;
        }
        const bool newest = !entry.version || *entry.version >= head.version;
        record.erasing = head.exists && newest && service_.config().hard_delete;
        met_erased_ = met_erased_ || (!head.exists && head.erased_through.value != 0 &&
                                      service_.config().hard_delete);
        ignore(record, Fate::gone_already, entry, head);
        return record.erasing ? erase(record, wait) : Result<bool>(true);
    }

    /// Erases a resource whose newest version is a deletion. The deletion was written first, so that its number remains
    /// known and no older version can come back.
    Result<bool> erase(Record& record, storage::Ticket& wait) {
        // First, ignored entries must be compared with the stored versions, before these are erased.
        if (!ignored_.empty()) {
            wait = last_ticket_;
            return false;
        }
        storage::Erase erase;
        erase.type = record.type;
        erase.id = id_of(record);
        erase.scope = storage::Erase::Scope::everything;
        erase.expect = Expect::version;
        erase.expected_version = record.version;
        storage::Commit commit;
        commit.erases = std::span(&erase, 1);
        const Submission submission = service_.store().submit(commit);
        if (submission.status == Submission::Status::accepted) {
            last_ticket_ = submission.ticket;
            last_erase_ = submission.ticket.value != 0 ? submission.ticket : last_erase_;
            return true;
        }
        if (submission.status == Submission::Status::expectation_failed) {
            met_erased_ = true;  // Or it was written again meanwhile.
            return true;
        }
        return not_submitted(submission, record, wait);
    }

    static storage::VersionWrite write_of(const HistoryEntry& entry) {
        storage::VersionWrite write;
        write.type = entry.type;
        write.id = entry.id;
        write.method = storage::Method::history;
        write.version = entry.version;
        write.instant = entry.instant;
        return write;
    }

    Submission submit(storage::VersionWrite& write) {
        storage::Commit commit;
        commit.writes = std::span(&write, 1);
        commit.request = request_.client_request_id;
        return service_.store().submit(commit);
    }

    void accepted(Record& record, const storage::VersionWrite& write, storage::Ticket ticket) {
        position_ = write.outcome.position;
        record.version = write.outcome.version;
        record.instant = write.outcome.instant;
        ignored_last_ = false;
        last_ticket_ = ticket;
        last_record_ = &record;
    }

    /// Ignores an entry that Expect::older would not let in. False: it has no number or may be newer.
    bool ignore_unless_newer(const HistoryEntry& entry, Record& record) {
        if (!entry.version) {
            return false;
        }
        const storage::Head head = service_.store().head(entry.type, entry.id);
        if (*entry.version > std::max(head.version, head.erased_through)) {
            return false;
        }
        ignore(record, Fate::ignored, entry, head);
        return true;
    }

    void ignore(Record& record, Fate fate, const HistoryEntry& entry, const storage::Head& head) {
        record.fate = fate;
        // A number above the newest one was erased, and a later entry may be given it again.
        const bool above = head.exists && entry.version && *entry.version > head.version;
        record.missing = head.exists ? above && !record.erasing : fate == Fate::ignored;
        ignored_last_ = true;
        record.version = head.version;
        record.instant = head.instant;
        if (entry.version && head.exists && !above && !record.erasing) {
            ignored_.add(value_, record);
        }
        if (head.ticket > last_ticket_) {
            last_ticket_ = head.ticket;  // The version found must be durable before it is reported.
        }
    }

    bool refuse(Record& record, Error error) {
        // Now: many errors take much more memory than their text, which has a budget.
        Response response = std::move(error);
        fit_answer(request_, EntryUse::write, budget_, response);
        record.fate = Fate::refused;
        record.refusal = std::make_unique<std::string>(response.body.str());
        return true;
    }

    Result<bool> not_submitted(const Submission& submission, Record& record,
                               storage::Ticket& wait) {
        if (submission.status == Submission::Status::too_large) {
            return refuse(record, submission_error(submission.status));
        }
        if (submission.status == Submission::Status::no_number) {
            // Only for an entry without a number: others are older than the newest version then, or were refused when read.
            return refuse(record, {Errc::value, submission_error(submission.status).detail});
        }
        if (submission.status == Submission::Status::busy) {
            wait = submission.ticket;
            return false;
        }
        // Our own entries fill the log's buffer, or one of them is probing a device that was full: continue once they
        // are durable. A second refusal in a row has another cause.
        const bool passing = submission.status == Submission::Status::overloaded ||
                             submission.status == Submission::Status::no_space;
        if (passing && last_ticket_ != wait) {
            wait = last_ticket_;
            return false;
        }
        return submission_error(submission.status);
    }

    /// False if the last submission has been dropped for lack of space. Continuing would write newer versions without
    /// the older ones, which would then be ignored when the bundle is sent again.
    bool still_there() const {
        if (last_record_ == nullptr) {
            return true;
        }
        const Record& record = *last_record_;
        const storage::Head head = service_.store().head(record.type, id_of(record));
        return (head.exists && head.version >= record.version) ||
               head.erased_through >= record.version;
    }

    asio::awaitable<Response> answer() {
        ResponseBundle bundle("batch-response", request_.base_url, service_.config().audited());
        bundle.reserve(records_.size() * kAnsweredEntryBytes);
        for (std::size_t index = 0; index < records_.size();) {
            index = add_answers(bundle, index);
            if (index < records_.size() && turns_.pace().is_over()) {
                co_await turns_.give_way();
            }
        }
        Response response = bundle.finish();
        if (position_.value != 0) {
            response.position = position_;
        }
        co_return response;
    }

    /// Adds the answers to kAppliedPerTurn entries from `index` on. Returns the index of the next one.
    std::size_t add_answers(ResponseBundle& bundle, std::size_t index) {
        constexpr std::size_t kAhead = 8;  // an entry takes a fraction of a memory access
        const bool traced = service_.config().audited();
        const std::size_t end = std::min(index + kAppliedPerTurn, records_.size());
        std::string text;
        for (; index < end; ++index) {
            if (index + kAhead < records_.size()) {
                __builtin_prefetch(records_[index + kAhead].full_url.data());
            }
            Record& record = records_[index];
            text.clear();
            append_history_answer(text, escaped_base_, record, id_of(record));
            if (record.refusal) {
                bundle.add_text(text, std::move(record.refusal), kEntryEnd);
            } else {
                text += kEntryEnd;
                bundle.add_text(text);
            }
            if (traced) {
                trace_history_answer(bundle, record, id_of(record));
            }
        }
        return end;
    }

    const Service& service_;
    const Request& request_;
    std::string escaped_base_;  ///< the request's base_url, escaped for a JSON string
    json::Value list_;
    std::vector<Record> records_;
    std::string ids_;     ///< of the entries, concatenated
    HistoryEntry entry_;  ///< the current one; a member so that its memory is reused
    json::Value value_;   ///< the current entry as sent
    storage::Ticket last_ticket_;
    Position position_;  ///< of that; 0: none
    storage::Ticket last_erase_;
    /// A deletion met nothing, with hard_delete: the bundle may be sent again because bytes of it were left.
    bool met_erased_ = false;
    Unfinished unfinished_;  ///< the check of the current entry
    AnswerBudget budget_;    ///< of the outcomes of refused entries
    Turns turns_;
    IgnoredEntries ignored_;  ///< not yet compared
    bool ignored_last_ = false;
    /// Whether an entry was ignored instead of waiting. Even beginning to validate many like it can take until the deadline.
    bool ignores_unchecked_ = false;
    const Record* last_record_ = nullptr;  ///< of the last accepted write
};

}  // namespace

asio::awaitable<Response> apply_history(const Service& service, const Request& request,
                                        const json::Document& bundle,
                                        std::chrono::steady_clock::time_point end) {
    HistoryRun run(service, request, bundle.root()["entry"], end);
    Response response = co_await run.run();
    co_return response;
}

}  // namespace annals::core
