#include "storage/sequencer.h"

#include "core/base/limits.h"
#include "core/base/log.h"
#include "storage/format.h"

#include <fmt/format.h>

namespace annals::storage {
namespace {

using Status = Submission::Status;

constexpr std::int64_t kMicrosecondsPerMillisecond = 1000;

/// A clock that is being corrected goes back by less.
constexpr std::int64_t kClockBehindMaxMicroseconds = 60'000'000;

bool met(Expect expect, const Head& head, VersionNumber expected,
         std::optional<VersionNumber> kept) {
    switch (expect) {
        case Expect::anything:
            return true;
        case Expect::absent:
            return !head.exists;
        case Expect::exists:
            return head.exists;
        case Expect::live:
            return head.is_live();
        case Expect::version:
            return head.exists && head.version == expected;
        case Expect::older:
            return (kept ? *kept : VersionNumber{head.version.value + 1}) >
                   std::max(head.version, head.erased_through);
    }
    return false;
}

Record to_record(const VersionWrite& write) {
    Record record;
    record.kind = RecordKind::version;
    record.method = write.method;
    record.deletion = write.deletion;
    record.type = resource_type_name(write.type);
    record.id = write.id;
    return record;
}

Record to_record(const Erase& erase) {
    Record record;
    record.kind = RecordKind::erase;
    record.scope = erase.scope;
    record.type = resource_type_name(erase.type);
    record.id = erase.id;
    record.version = erase.version;
    return record;
}

/// Whether the request's id is kept: not if the commit only erases.
bool keeps_request(const Commit& commit) noexcept {
    return !commit.request.empty() && !commit.writes.empty();
}

}  // namespace

Sequencer::Sequencer(const Index& index, Start start, std::function<Instant()> clock)
    : index_(index),
      store_id_(start.store_id),
      body_bytes_max_(start.body_bytes_max),
      search_(start.search),
      identity_(start.identity),
      last_updated_column_(start.last_updated_column),
      clock_(std::move(clock)),
      recent_(start.last_position),
      released_(start.last_position),
      last_position_(start.last_position),
      last_instant_(start.last_instant) {
}

Submission Sequencer::submit(Commit commit) {
    Submission result;
    std::uint64_t bytes = 0;
    const auto refusal = [&](const Refusal& why) {
        result.status = why.status;
        result.failed = why.failed;
        result.head = why.head;
        result.ticket = why.ticket;
        return result;
    };
    if (const auto why = unacceptable(commit, bytes)) {
        return refusal(*why);
    }

    // An empty commit asks whether its guards hold, and needs no room for that.
    const bool asks_only = commit.writes.empty() && commit.erases.empty();
    const std::lock_guard lock(mutex_);
    if (const WriteState state = state_.load(std::memory_order_relaxed);
        state != WriteState::ready) {
        if (state == WriteState::failed) {
            return refusal({.status = Status::failed});
        }
        if (!asks_only && Clock::now() < next_probe_) {
            return refusal({.status = Status::no_space});
        }
    }
    if (stopping_) {
        return refusal({.status = Status::failed});
    }
    const std::uint64_t unsettled = unsettled_bytes_.load(std::memory_order_relaxed);
    if (!asks_only && unsettled > 0 && unsettled + bytes > kUnsyncedBytesMax) {
        return refusal({.status = Status::overloaded});
    }
    if (const auto why = refuse(commit)) {
        return refusal(*why);
    }
    if (exceeds_index(commit)) {
        return refusal({.status = Status::no_space});
    }

    result.status = Status::accepted;
    result.instant = next_instant();
    const auto erases_something = [](const Erase& erase) {
        return erase.outcome.versions_erased > 0;
    };
    if (commit.writes.empty() && std::ranges::none_of(commit.erases, erases_something)) {
        return result;
    }
    // A refused commit has not tried the device.
    if (state_.load(std::memory_order_relaxed) == WriteState::no_space) {
        next_probe_ = Clock::now() + kProbeInterval;
    }
    result.ticket = {last_ticket_.value + 1};
    last_ticket_ = result.ticket;
    last_instant_ = result.instant;
    append(commit, result.ticket, result.instant);
    return result;
}

std::optional<Sequencer::Refusal> Sequencer::unacceptable(const Commit& commit,
                                                          std::uint64_t& bytes) const {
    constexpr VersionNumber kWidest{kVersionNumberMax};
    bytes = kFrameHeaderBytes;
    std::uint64_t search_bytes = 0;
    for (std::size_t i = 0; i < commit.writes.size(); ++i) {
        const VersionWrite& write = commit.writes[i];
        const std::uint64_t body = body_bytes(write.body, kWidest);
        bytes += record_bytes(to_record(write), body);
        search_bytes += search_ && write.search != nullptr ? write.search->bytes() : 0;
        if (body > body_bytes_max_ || !is_resource_id(write.id) ||
            (write.version && (write.version->value == 0 || *write.version > kWidest))) {
            return Refusal{.status = Status::too_large, .failed = i};
        }
    }
    for (std::size_t i = 0; i < commit.erases.size(); ++i) {
        bytes += record_bytes(to_record(commit.erases[i]), 0);
        if (!is_resource_id(commit.erases[i].id)) {
            return Refusal{.status = Status::too_large, .failed = commit.writes.size() + i};
        }
    }
    bytes += keeps_request(commit)
                 ? record_bytes(request_record(commit.request), commit.request.size())
                 : 0;
    if (bytes > kUnsyncedBytesMax ||
        commit.writes.size() + commit.erases.size() + 1 > kCommitRecordsMax ||
        commit.request.size() > kRequestIdBytesMax) {
        return Refusal{.status = Status::too_large};
    }
    bytes += search_bytes;
    return std::nullopt;
}

/// The resource's head once what is in flight is durable.
HeadsInFlight::Entry Sequencer::head_of(const Hash128& key) const {
    const HeadsInFlight::Entry* const flying = heads_.find(key);
    return flying != nullptr ? *flying : HeadsInFlight::Entry{.head = index_.head(key)};
}

std::optional<Sequencer::Refusal> Sequencer::refuse(const Commit& commit) {
    keys_.clear();
    for (std::size_t i = 0; i < commit.writes.size(); ++i) {
        VersionWrite& write = commit.writes[i];
        keys_.push_back(resource_key(store_id_, write.type, write.id));
        const auto [head, erased] = head_of(keys_.back());
        if (erased) {
            return Refusal{.status = Status::busy, .failed = i, .ticket = head.ticket};
        }
        const bool numbered = !write.version || *write.version > head.version;
        if (!numbered || !met(write.expect, head, write.expected_version, write.version)) {
            return Refusal{.status = Status::expectation_failed, .failed = i, .head = head};
        }
        if (head.version.value >= kVersionNumberMax) {
            return Refusal{.status = Status::no_number, .failed = i, .head = head};
        }
        write.outcome.previous = head;
    }
    for (std::size_t i = 0; i < commit.erases.size(); ++i) {
        Erase& erase = commit.erases[i];
        const std::size_t place = commit.writes.size() + i;
        keys_.push_back(resource_key(store_id_, erase.type, erase.id));
        const Head head = head_of(keys_.back()).head;
        if (head.ticket.value != 0) {
            return Refusal{.status = Status::busy, .failed = place, .ticket = head.ticket};
        }
        const bool current =
            erase.scope == Erase::Scope::version && head.is_live() && erase.version == head.version;
        bool another = false;
        if (erase.expected_position.value != 0) {
            const auto named = index_.version(keys_.back(), erase.version);
            another = !named || named->position != erase.expected_position;
        }
        if (current || another || !met(erase.expect, head, erase.expected_version, {})) {
            return Refusal{.status = Status::expectation_failed, .failed = place, .head = head};
        }
        erase.outcome.versions_erased = index_.erasable({keys_.back(), erase.scope, erase.version});
        erase.outcome.previous = head;
        if (erase.scope == Erase::Scope::version && erase.outcome.versions_erased == 0) {
            return Refusal{.status = Status::version_unknown, .failed = place, .head = head};
        }
    }
    for (std::size_t i = 0; i < commit.requirements.size(); ++i) {
        if (const auto why = check_requirement(commit, i)) {
            return why;
        }
    }
    return check_guards(commit);
}

/// Whether the commit needs more numbers than the index has: that would end the process once the commit is durable, and every
/// opening from then on.
bool Sequencer::exceeds_index(const Commit& commit) const noexcept {
    const std::uint64_t writes = commit.writes.size();
    const std::uint64_t in_flight = last_position_.value - released_.value;
    return writes > 0 && (last_position_.value + writes > Index::kPositionMax ||
                          index_.resource_count() + in_flight + writes > Index::kResourcesMax);
}

Instant Sequencer::next_instant() {
    Instant instant = clock_();
    const std::int64_t below = instant.us % kMicrosecondsPerMillisecond;
    instant.us -= below < 0 ? below + kMicrosecondsPerMillisecond : below;
    const bool behind = instant.us < last_instant_.us - kClockBehindMaxMicroseconds;
    if (behind && !clock_behind_) {
        log_warning(
            fmt::format("log: the clock shows {}, but the newest commit is of {}: everything "
                        "written gets that instant until the clock has reached it",
                        format_instant(instant), format_instant(last_instant_)));
    }
    clock_behind_ = behind;
    return std::max(instant, last_instant_);
}

void Sequencer::append(const Commit& commit, Ticket ticket, Instant instant) {
    if (gathering_.frames.empty()) {
        gathering_since_ = Clock::now();
    }
    std::string& out = gathering_.bytes;
    BatchFrame frame;
    frame.ticket = ticket;
    frame.offset = out.size();
    frame.first_position = {last_position_.value + 1};
    frame.instant = instant;
    frame.first_record = gathering_.records.size();
    out.append(kFrameHeaderBytes, '\0');

    // Erases first: they take effect one by one in the index, the versions all together after them.
    append_erases(commit, frame);
    append_writes(commit, frame);
    if (keeps_request(commit)) {
        const BodyPiece id{BodyPiece::Kind::text, commit.request};
        append_record(request_record(commit.request), std::span(&id, 1), out);
        frame.request = true;
    }
    frame.length = out.size() - frame.offset;
    frame.record_count = gathering_.records.size() - frame.first_record;
    frame.last_position = last_position_;
    gathering_.frames.push_back(frame);
    unsettled_bytes_.fetch_add(frame.length + frame.search_bytes, std::memory_order_relaxed);
    any_gathered_.store(true, std::memory_order_release);
}

void Sequencer::append_erases(const Commit& commit, const BatchFrame& frame) {
    std::string& out = gathering_.bytes;
    for (std::size_t i = 0; i < commit.erases.size(); ++i) {
        const Erase& erase = commit.erases[i];
        if (erase.outcome.versions_erased == 0) {
            continue;
        }
        Record record = to_record(erase);
        record.instant = frame.instant;
        const Hash128& key = keys_[commit.writes.size() + i];
        Hint hint = hint_of(record, erase.type, key);
        hint.position = frame.first_position;
        hint.offset = out.size();
        append_record(record, {}, out);
        hint.size = static_cast<std::uint32_t>(out.size() - hint.offset);
        gathering_.records.push_back(hint);
        if (const Head& previous = erase.outcome.previous;
            erase.scope == Erase::Scope::everything && previous.is_live()) {
            recent_erases_.add(erase.type, frame.ticket,
                               identity_ != nullptr ? identity_(key.low) : key.low);
        }
        HeadsInFlight::Entry& flying = heads_.at(key);
        flying.head = erase.outcome.previous;
        flying.head.ticket = frame.ticket;
        flying.erased = true;
    }
}

void Sequencer::append_writes(const Commit& commit, BatchFrame& frame) {
    std::string& out = gathering_.bytes;
    for (std::size_t i = 0; i < commit.writes.size(); ++i) {
        VersionWrite& write = commit.writes[i];
        const Head& previous = write.outcome.previous;
        // The head keeps the highest number since the resource last came into being, even if it was erased.
        write.outcome.version =
            write.version ? *write.version : VersionNumber{previous.version.value + 1};
        write.outcome.instant = write.instant.value_or(frame.instant);
        write.outcome.position = {++last_position_.value};

        Record record = to_record(write);
        record.version = write.outcome.version;
        record.instant = write.outcome.instant;
        Hint hint = hint_of(record, write.type, keys_[i]);
        hint.position = write.outcome.position;
        hint.offset = out.size();
        const std::string_view body = append_record(record, write.body, out);
        if (write.stored != nullptr) {
            write.stored->assign(body);
        }
        hint.size = static_cast<std::uint32_t>(out.size() - hint.offset);
        gathering_.records.push_back(hint);
        const std::uint64_t key = keys_[i].low;
        gather_document(write, key, frame);
        const std::uint64_t identity = identity_ != nullptr ? identity_(key) : key;
        recent_.add(write.type, frame.ticket, identity, write.search);
        tell_watches(write, identity, frame.ticket);

        HeadsInFlight::Entry& flying = heads_.at(keys_[i]);
        ANNALS_CHECK(flying.head.ticket != frame.ticket, "a commit names one resource twice");
        flying.head = {.exists = true,
                       .deletion = write.deletion,
                       .version = write.outcome.version,
                       .instant = write.outcome.instant,
                       .position = write.outcome.position,
                       .erased_through = previous.erased_through,
                       .ticket = frame.ticket};
    }
}

void Sequencer::gather_document(const VersionWrite& write, std::uint64_t key, BatchFrame& frame) {
    if (!search_) {
        return;
    }
    BatchDocument& document = gathering_.documents.emplace_back();
    if (const Head& previous = write.outcome.previous; previous.is_live()) {
        document.superseded = previous.position;
    }
    if (write.search == nullptr || write.deletion) {
        return;
    }
    SearchEntriesList& entries = gathering_.entries;
    document.entries = entries.size();
    entries.add(write.search);
    if (identity_ != nullptr) {
        entries.add_term(identity_(key));
    }
    const std::int64_t instant = write.outcome.instant.us;
    entries.add_interval({.column = last_updated_column_, .low = instant, .high = instant});
    frame.search_bytes += write.search->bytes();
}

Head Sequencer::head(TypeId type, std::string_view id) const {
    const Hash128 key = resource_key(store_id_, type, id);
    const std::lock_guard lock(mutex_);
    return head_of(key).head;
}

template <typename Due>
void Sequencer::flush_if(const Due& due) noexcept {
    if (!any_gathered_.load(std::memory_order_acquire)) {
        return;
    }
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        flush_wanted_ = flush_wanted_ || (!gathering_.frames.empty() && due());
        wake = flush_wanted_ && writer_waits_;
    }
    if (wake) {
        wake_.notify_one();
    }
}

void Sequencer::flush() noexcept {
    flush_if([] { return true; });
}

void Sequencer::flush_idle() noexcept {
    flush_if([this] {
        flush_deferred_ = taken_ != 0;
        return !flush_deferred_;
    });
}

void Sequencer::flush_older(std::chrono::milliseconds age) noexcept {
    flush_if([this, age] { return Clock::now() - gathering_since_ >= age; });
}

Ticket Sequencer::last_ticket() const {
    const std::lock_guard lock(mutex_);
    return last_ticket_;
}

Instant Sequencer::last_instant() const {
    const std::lock_guard lock(mutex_);
    return last_instant_;
}

}  // namespace annals::storage
