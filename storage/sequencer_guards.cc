// What commits rest on: guards, and the watches that make some of them exact.

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
