// The conditions of commits: requirements, guards, and the watches that make some of them exact.

#include "storage/sequencer.h"

namespace annals::storage {

using Status = Submission::Status;

std::unique_ptr<WriteWatch> Sequencer::watch(TypeId type, WriteWatch::Concerns concerns) {
    const std::lock_guard lock(mutex_);
    if (watches_.size() >= WriteWatch::kWatchesMax) {
        return nullptr;
    }
    std::unique_ptr<WriteWatch> watch(
        new WriteWatch(*this, type, std::move(concerns), last_position_));
    watches_.push_back(watch.get());
    return watch;
}

void Sequencer::end_watch(const WriteWatch& watch) {
    const std::lock_guard lock(mutex_);
    std::erase(watches_, &watch);
}

void Sequencer::tell_watches(const VersionWrite& write, std::uint64_t identity, Ticket ticket) {
    for (WriteWatch* const watch : watches_) {
        if (watch->type_ != write.type || write.deletion) {
            continue;
        }
        if (write.search == nullptr || watch->concerns_(*write.search, identity)) {
            watch->newest_ = write.outcome.position;
            watch->ticket_ = ticket;
        }
    }
}

std::optional<RecentWrites::Hit> Sequencer::newest_against(const Guard& guard) const {
    const WriteWatch* const watch = guard.watch;
    if (watch == nullptr || guard.as_of < watch->since_) {
        return recent_.find(guard);
    }
    if (watch->newest_ > guard.as_of) {
        return RecentWrites::Hit{watch->newest_, watch->ticket_};
    }
    return std::nullopt;
}

std::optional<Sequencer::Refusal> Sequencer::check_requirement(const Commit& commit,
                                                               std::size_t index) const {
    const Requirement& requirement = commit.requirements[index];
    const Hash128 key = resource_key(store_id_, requirement.type, requirement.id);
    const auto [head, erased] = head_of(key);
    const Refusal busy{.status = Status::busy, .failed = index, .ticket = head.ticket};
    const Refusal failed{.status = Status::requirement_failed, .failed = index, .head = head};
    if (erased) {
        return busy;
    }
    if (!head.is_live() && !requirement.writer) {
        return failed;
    }
    if (!requirement.version) {
        return std::nullopt;
    }
    const VersionNumber version = *requirement.version;
    if (requirement.writer) {
        const VersionWrite& own = commit.writes[*requirement.writer];
        if (version == own.version.value_or(VersionNumber{head.version.value + 1})) {
            return std::nullopt;
        }
    }
    if (head.is_live() && version == head.version) {
        return std::nullopt;
    }
    if (const auto stored = index_.version(key, version)) {
        return stored->deletion ? std::optional(failed) : std::nullopt;
    }
    // Of the versions in flight only the newest is known.
    const bool in_flight = head.ticket.value != 0 && version < head.version;
    return in_flight ? busy : failed;
}

std::optional<Sequencer::Refusal> Sequencer::check_guards(const Commit& commit) const {
    for (const Guard& guard : commit.guards) {
        if (const auto ticket = recent_erases_.find(guard)) {
            return Refusal{.status = Status::busy, .ticket = *ticket};
        }
        if (const auto hit = newest_against(guard)) {
            const bool settled = hit->position <= released_;
            return Refusal{.status = Status::busy, .ticket = settled ? Ticket{} : hit->ticket};
        }
    }
    return std::nullopt;
}

}  // namespace annals::storage
