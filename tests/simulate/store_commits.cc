// Random commits, and what a store must answer to them.

#include "tests/simulate/store_simulation.h"
#include "tests/support/search_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace annals::storage {

using Scope = Erase::Scope;
using Status = Submission::Status;
using test::CommitBuilder;
using test::VersionModel;

void StoreSimulation::apply(VersionModel& model, const Applied& applied) {
    for (const Applied::Erased& erased : applied.erases) {
        model.erase(erased.resource, erased.scope, erased.version);
    }
    for (const Applied::Written& written : applied.writes) {
        model.add(written.resource, type_of(written.resource), written.version, written.instant,
                  written.deletion, written.text, written.terms);
    }
}

bool StoreSimulation::is_met(Expect expect, std::uint64_t resource, VersionNumber expected,
                             std::optional<VersionNumber> kept) const {
    const VersionModel::Version* head = now_.standing(resource);
    switch (expect) {
        case Expect::anything:
            return true;
        case Expect::absent:
            return head == nullptr;
        case Expect::exists:
            return head != nullptr;
        case Expect::live:
            return head != nullptr && !head->info.deletion;
        case Expect::version:
            return head != nullptr && head->info.version == expected;
        case Expect::older: {
            const VersionNumber newest = head == nullptr ? VersionNumber{} : head->info.version;
            const VersionNumber own = kept.value_or(VersionNumber{newest.value + 1});
            return own > newest && own > now_.erased_through(resource);
        }
    }
    return false;
}

bool StoreSimulation::erased_in_flight(std::uint64_t resource) const {
    return std::ranges::any_of(in_flight_, [&](const Applied& applied) {
        return std::ranges::count(applied.erases, resource, &Applied::Erased::resource) > 0;
    });
}

bool StoreSimulation::written_in_flight(std::uint64_t resource) const {
    return std::ranges::any_of(in_flight_, [&](const Applied& applied) {
        return std::ranges::count(applied.writes, resource, &Applied::Written::resource) > 0;
    });
}

bool StoreSimulation::is_written_since(const Guard& guard) const {
    return std::ranges::any_of(now_.versions(), [&](const VersionModel::Version& version) {
        return version.info.position > guard.as_of && version.info.type == *guard.type &&
               std::ranges::count(version.terms, guard.terms.front()) > 0;
    });
}

VersionWrite& StoreSimulation::add_write(CommitBuilder& builder, Applied& applied,
                                         std::uint64_t resource) {
    Applied::Written written{.resource = resource,
                             .version = {},
                             .instant = {},
                             .deletion = pick(5) == 0,
                             .terms = {},
                             .text = {}};
    for (std::uint64_t i = pick(3); i > 0; --i) {
        written.terms.push_back(1 + pick(kTerms));
    }
    if (written.deletion) {
        written.terms.clear();
    } else {
        std::ranges::sort(written.terms);
        const auto rest = std::ranges::unique(written.terms);
        written.terms.erase(rest.begin(), rest.end());
        for (std::uint64_t& term : written.terms) {
            written.text += word_of(term) + " ";
            term = test::word_term(word_of(term));
        }
        written.text += std::string(pick(40) == 0 ? pick(20'000) : pick(300),
                                    static_cast<char>('a' + pick(26)));
    }
    const VersionModel::Version* head = now_.standing(resource);
    const std::uint64_t newest = head == nullptr ? 0 : head->info.version.value;
    VersionWrite& write = written.deletion ? builder.remove(type_name(resource), id_of(resource))
                                           : builder.put(type_name(resource), id_of(resource),
                                                         written.text, written.terms);
    if (searches_ && !written.deletion) {
        write.search = &entries_.emplace_back(
            test::entries_of(store_->search_seed(), type_of(resource), written.text));
    }
    write.expect = pick(4) != 0 ? Expect::anything : static_cast<Expect>(pick(6));
    write.expected_version = {newest + (pick(8) == 0 ? 1 : 0)};
    if (pick(4) == 0) {
        // As from a history bundle: a version number with a gap or one that is too old, and an instant of its own.
        write.version = VersionNumber{std::max<std::uint64_t>(1, newest + pick(4))};
        write.instant = Instant{static_cast<std::int64_t>(pick(2'000'000))};
        write.expect = pick(2) == 0 ? Expect::older : write.expect;
    }
    applied.writes.push_back(std::move(written));
    return write;
}

Erase& StoreSimulation::add_erase(CommitBuilder& builder, Applied& applied,
                                  std::uint64_t resource) {
    const VersionModel::Version* head = now_.standing(resource);
    Applied::Erased erased{.resource = resource,
                           .scope = static_cast<Scope>(1 + pick(4)),
                           .version = {1 + pick(head == nullptr ? 2 : head->info.version.value)}};
    Erase& erase =
        builder.erase(type_name(resource), id_of(resource), erased.scope, erased.version);
    erase.expect = pick(3) == 0 ? Expect::live : Expect::exists;
    applied.erases.push_back(erased);
    return erase;
}

Status StoreSimulation::expected_status(const Commit& commit, const Applied& applied,
                                        const std::vector<std::uint64_t>& required,
                                        std::size_t& failed) const {
    for (std::size_t i = 0; i < commit.writes.size(); ++i) {
        const VersionWrite& write = commit.writes[i];
        const std::uint64_t resource = applied.writes[i].resource;
        failed = i;
        if (erased_in_flight(resource)) {
            return Status::busy;
        }
        const VersionModel::Version* head = now_.standing(resource);
        if ((write.version && head != nullptr && *write.version <= head->info.version) ||
            !is_met(write.expect, resource, write.expected_version, write.version)) {
            return Status::expectation_failed;
        }
    }
    for (std::size_t i = 0; i < commit.erases.size(); ++i) {
        const Erase& erase = commit.erases[i];
        const std::uint64_t resource = applied.erases[i].resource;
        failed = commit.writes.size() + i;
        if (erased_in_flight(resource) || written_in_flight(resource)) {
            return Status::busy;
        }
        const VersionModel::Version* head = now_.standing(resource);
        const bool current = erase.scope == Scope::version && head != nullptr &&
                             !head->info.deletion && head->info.version == erase.version;
        if (current || !is_met(erase.expect, resource, {}, {})) {
            return Status::expectation_failed;
        }
        if (erase.scope == Scope::version && now_.version(resource, erase.version) == nullptr) {
            return Status::version_unknown;
        }
    }
    for (std::size_t i = 0; i < required.size(); ++i) {
        failed = i;
        if (erased_in_flight(required[i])) {
            return Status::busy;
        }
        if (!is_met(Expect::live, required[i], {}, {})) {
            return Status::requirement_failed;
        }
    }
    failed = 0;
    for (const Guard& guard : commit.guards) {
        // The store knows nothing of what was written before it was opened.
        if (guard.as_of < opened_at_ || is_written_since(guard)) {
            return Status::busy;
        }
    }
    return Status::accepted;
}

void StoreSimulation::submit() {
    entries_.clear();
    CommitBuilder builder;
    Applied applied;
    std::set<std::uint64_t> resources;
    for (std::uint64_t i = 1 + (pick(3) == 0 ? pick(6) : 0); i > 0; --i) {
        resources.insert(pick_resource());
    }
    std::vector<std::uint64_t> required;
    for (const std::uint64_t resource : resources) {
        if (pick(10) == 0) {
            add_erase(builder, applied, resource);
        } else {
            add_write(builder, applied, resource);
        }
    }
    if (pick(6) == 0) {
        required.push_back(pick_resource());
        builder.require(type_name(required[0]), id_of(required[0]));
    }
    if (pick(6) == 0) {
        const std::uint64_t last = base_.last_position().value;
        builder.guard(kTypes[pick(std::size(kTypes))], test::word_term(word_of(1 + pick(kTerms))),
                      {last - std::min(last, pick(last - opened_at_.value + 2))});
    }
    Commit commit = builder.commit();
    const std::string request = pick(3) == 0 ? "" : "request-" + std::to_string(pick(1000));
    commit.request = request;
    clock_step_ = pick(10) == 0 ? -5000 : static_cast<std::int64_t>(pick(3000));
    std::size_t failed = 0;
    const Status expected = expected_status(commit, applied, required, failed);
    const Submission submission = store_->submit(commit);
    if (submission.status == Status::no_space || submission.status == Status::failed) {
        // Rolling over to another segment may have failed in the meantime.
        EXPECT_NE(store_->write_state(), WriteState::ready);
        return;
    }
    ASSERT_EQ(submission.status, expected);
    if (submission.status != Status::accepted) {
        if (submission.status != Status::busy) {
            EXPECT_EQ(submission.failed, failed);
        }
        return;
    }
    accept(builder, std::move(applied), submission);
    note_request(commit, request);
}

void StoreSimulation::note_request(const Commit& commit, const std::string& request) {
    if (const std::uint64_t count = commit.writes.size(); count > 0) {
        const std::uint64_t last = commit.writes.back().outcome.position.value;
        requests_.erase(requests_.lower_bound(last - count + 1), requests_.end());
        requests_[last] = {last - count + 1, request};
    }
}

void StoreSimulation::compare_requests() {
    for (const auto& [last, made] : requests_) {
        if (last > base_.last_position().value) {
            break;
        }
        const auto& versions = base_.versions();
        const bool erased =
            std::any_of(versions.begin() + static_cast<std::ptrdiff_t>(made.first) - 1,
                        versions.begin() + static_cast<std::ptrdiff_t>(last),
                        [](const VersionModel::Version& version) { return version.erased; });
        EXPECT_EQ(store_->commit_begin({last}).value, made.first);
        EXPECT_EQ(store_->commit_end({made.first}).value, last);
        EXPECT_EQ(store_->request_of({last}), erased ? "" : made.request) << last;
    }
}

void StoreSimulation::accept(const CommitBuilder& builder, Applied applied,
                             const Submission& submission) {
    applied.ticket = submission.ticket;
    EXPECT_GE(submission.instant, last_instant_);
    EXPECT_EQ(submission.instant.us % 1000, 0);
    std::erase_if(applied.erases, [&](const Applied::Erased& erased) {
        VersionModel copy = now_;
        return copy.erase(erased.resource, erased.scope, erased.version) == 0;
    });
    if (applied.writes.empty() && applied.erases.empty()) {
        EXPECT_EQ(submission.ticket.value, 0U);
        return;
    }
    last_instant_ = submission.instant;
    for (std::size_t i = 0; i < applied.writes.size(); ++i) {
        const VersionWrite& write = builder.writes()[i];
        Applied::Written& written = applied.writes[i];
        const VersionModel::Version* head = now_.standing(written.resource);
        const std::uint64_t newest = head == nullptr ? 0 : head->info.version.value;
        EXPECT_EQ(write.outcome.version, write.version.value_or(VersionNumber{newest + 1}));
        EXPECT_EQ(write.outcome.instant, write.instant.value_or(submission.instant));
        EXPECT_EQ(write.outcome.position.value, now_.last_position().value + i + 1);
        EXPECT_EQ(write.outcome.previous.exists, head != nullptr);
        EXPECT_EQ(write.outcome.previous.version.value, newest);
        written.version = write.outcome.version;
        written.instant = write.outcome.instant;
    }
    apply(now_, applied);
    in_flight_.push_back(std::move(applied));
    if (pick(3) == 0) {
        settle();
    }
}

void StoreSimulation::settle() {
    bool ok = true;
    store_->flush();
    for (Applied& applied : in_flight_) {
        const bool settled = store_->wait(applied.ticket).has_value();
        EXPECT_TRUE(ok || !settled) << "a commit settled after one before it was dropped";
        ok = ok && settled;
        if (settled) {
            apply(base_, applied);
            settled_since_.push_back(std::move(applied));
        } else {
            unknown_.push_back(std::move(applied));
        }
    }
    in_flight_.clear();
    if (ok) {
        return;
    }
    if (store_->write_state() == WriteState::no_space) {
        unknown_.clear();  // they must not come back
    }
    now_ = base_;
}

}  // namespace annals::storage
