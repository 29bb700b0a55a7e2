// The transactions of a ServiceSimulation, alone and next to other writes.

#include "tests/simulate/service_simulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <future>
#include <numeric>
#include <utility>

namespace annals::test {

using Change = Decision::Change;

namespace {

/// FHIR's order of the entries of a transaction.
int turn_of(const Write& write) {
    return write.kind == Write::Kind::remove ? 0 : write.kind == Write::Kind::create ? 1 : 2;
}

}  // namespace

ServiceSimulation::Transaction ServiceSimulation::pick_transaction() {
    Transaction transaction;
    std::vector<Write>& writes = transaction.writes;
    std::set<std::string> named;
    const bool repeats = one_in(10);
    for (std::uint64_t i = 1 + pick(6); i > 0; --i) {
        Write write = pick_write();
        if (write.concerns_tags() ||
            (!repeats && !write.id.empty() && !named.insert(write.name()).second)) {
            continue;
        }
        if (write.kind == Write::Kind::create) {
            write.urn = fmt::format("urn:uuid:{:08}-0000-4000-8000-000000000000", ++urns_);
        }
        writes.push_back(std::move(write));
    }
    // Observations refer to the Patients that are created with them.
    for (Write& write : writes) {
        const Write& other = pick_from(writes);
        if (write.type == "Observation" && other.type == "Patient" && !other.urn.empty()) {
            write.content.target = other.urn;
        }
    }
    for (std::uint64_t i = pick(3); i > 0; --i) {
        transaction.reads.push_back(search());
    }
    return transaction;
}

std::string ServiceSimulation::bundle_for(const Transaction& transaction) const {
    std::vector<std::string> entries;
    for (const Write& write : transaction.writes) {
        entries.push_back(test::entry_of(write, filler_));
    }
    for (const Read& read : transaction.reads) {
        entries.push_back(fmt::format(R"({{"request":{{"method":"GET","url":{}}}}})",
                                      json::quoted(read.target.substr(1))));
    }
    return bundle_of("transaction", entries);
}

void ServiceSimulation::submit_transaction() {
    const Transaction transaction = pick_transaction();
    transaction_done(transaction, exchange("POST", "", bundle_for(transaction)));
}

void ServiceSimulation::transaction_done(const Transaction& transaction, const Answer& answer) {
    const std::vector<Write>& writes = transaction.writes;
    const std::vector<Read>& reads = transaction.reads;
    const auto bundle = answer.status == 200 ? read_bundle(answer.body, kBaseUrl) : std::nullopt;
    expect_same(bundle.has_value(), answer.status == 200, "a Bundle");

    std::vector<std::size_t> order(writes.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(turn_of(writes[i]), i); });
    ServiceModel after = model_;
    std::vector<Decision> decisions(writes.size());
    std::vector<std::string> assigned(writes.size());
    std::set<std::string> written;
    std::string refusal;
    for (const std::size_t i : order) {
        if (writes[i].kind == Write::Kind::remove && after.deletes_several) {
            after.deletes_several = false;  // an entry deletes at most one
        }
        decisions[i] = after.decide(writes[i]);
        const Decision& decision = decisions[i];
        if (decision.status >= 400) {
            refusal = fmt::format("entry {} is {}", i, decision.status);
            break;
        }
        for (const std::string& name : decision.names) {
            const bool writes_it =
                decision.change != Change::nothing || writes[i].kind == Write::Kind::remove;
            if (writes_it && !written.insert(name).second) {
                refusal = name + " is written twice";
            }
        }
        if (decision.names.empty() && decision.change == Change::version) {
            assigned[i] = bundle && i < bundle->entries.size()
                              ? assigned_in(bundle->entries[i].location)
                              : fmt::format("{}/assigned-{}", writes[i].type, i);
            written.insert(assigned[i]);
        }
        after.apply(decision, assigned[i]);
    }
    expect_same(answer.status, refusal.empty() ? 200 : 400, "a transaction: " + refusal);
    if (!refusal.empty()) {
        return;
    }
    // Once all ids are known, the links are.
    const auto resolved = [&](const std::string& target) {
        for (std::size_t i = 0; i < writes.size(); ++i) {
            if (!writes[i].urn.empty() && writes[i].urn == target) {
                return assigned[i].empty() ? decisions[i].names.front() : assigned[i];
            }
        }
        return target;
    };
    const std::uint64_t before = model_.last();
    for (const std::size_t i : order) {
        decisions[i].content.target = resolved(decisions[i].content.target);
        model_.apply(decisions[i], assigned[i]);
    }
    model_.end_commit();
    expect_same(bundle->entries.size(), writes.size() + reads.size(), "entries of a transaction");
    for (std::size_t i = 0; i < reads.size(); ++i) {
        check_read(reads[i], bundle->entries[writes.size() + i]);
    }
    for (std::size_t i = 0; i < writes.size(); ++i) {
        expect_same(bundle->entries[i].status, std::to_string(decisions[i].status),
                    fmt::format("entry {} of a transaction", i));
        // What it finds is shown as the transaction left it.
        check_entry(bundle->entries[i], writes[i], model_.shown_by(decisions[i], assigned[i]));
    }
    if (model_.last() > before) {
        expect_same(answer.position, model_.last(), "X-Annals-Position of a transaction");
    }
}

/// What others do meanwhile is only determined as far as nothing is erased.
ServiceSimulation::Contender ServiceSimulation::pick_contender(bool erases) {
    const auto may_show_erased = [&](const Write& write) {
        return erases && write.kind == Write::Kind::create && write.criteria;
    };
    if (erases && one_in(6)) {
        const std::string name = pick_name("Patient");
        return {{"POST", fmt::format("/{}/$purge", name), {}, {}},
                [this, name](const Answer& answer) {
                    expect_same(answer.status, model_.purge(name), "$purge");
                }};
    }
    if (model_.hard_delete && one_in(6)) {
        const std::string name = pick_name(pick_type());
        return {{"DELETE", fmt::format("/{}/_history", name), {}, {}},
                [this, name](const Answer& answer) {
                    expect_same(answer.status, model_.delete_history(name, 0), "history deletion");
                }};
    }
    if (!erases && model_.last() > 0 && one_in(6)) {
        const std::uint64_t position =
            model_.last() - pick(std::min<std::uint64_t>(6, model_.last()));
        if (ServiceModel(model_).undo(position)) {
            return {{"POST", fmt::format("/$undo?position={}", position), {}, {}},
                    [this, position](const Answer& answer) {
                        expect_same(std::optional(answer.status), model_.undo(position), "$undo");
                        model_.end_commit();
                    }};
        }
    }
    if (one_in(3)) {
        Write write = pick_write();
        if (!may_show_erased(write)) {
            return {request_of(write, filler_), [this, write](Answer answer) {
                        if (model_.hard_delete && write.kind == Write::Kind::remove) {
                            // An erasure has no position, its answer that of the newest version.
                            answer.position = model_.last();
                        }
                        write_done(write, answer);
                    }};
        }
    }
    Transaction transaction = pick_transaction();
    if (erases) {
        transaction.reads.clear();
    }
    std::erase_if(transaction.writes, [&](const Write& write) {
        // A deletion of what is deleted already does not expect that it is not erased before the commit.
        const bool may_do_nothing = write.kind == Write::Kind::remove && !model_.hard_delete;
        return may_show_erased(write) || (erases && may_do_nothing);
    });
    return {{"POST", "", {}, bundle_for(transaction)},
            [this, transaction](const Answer& answer) { transaction_done(transaction, answer); }};
}

/// Sends writes and transactions at once. There must be an order in which the model answers all of them alike.
void ServiceSimulation::race_writes() {
    const bool erases = model_.hard_delete || one_in(4);
    std::vector<Contender> contenders;
    for (std::uint64_t i = 2 + pick(2); i > 0; --i) {
        contenders.push_back(pick_contender(erases));
    }
    slow_turns_ = one_in(3);
    const std::size_t at = trace_.size();
    std::vector<std::future<Answer>> sent;
    for (const Contender& contender : contenders) {
        const WriteRequest& request = contender.request;
        trace_.push_back(trace_of(request.method, request.target, request.body, request.headers) +
                         " (at once)");
        sent.push_back(std::async(std::launch::async, [this, &request] {
            return send(request.method, request.target, request.body, request.headers);
        }));
    }
    std::vector<Answer> answers;
    for (std::future<Answer>& answer : sent) {
        answers.push_back(answer.get());
        trace_[at + answers.size() - 1] += fmt::format(" -> {}", answers.back().status);
        ++requests_;
    }
    slow_turns_ = false;
    const std::vector<std::string> feed = lines_of(read_whole_feed());
    const ServiceModel before = model_;
    const std::map<std::uint64_t, std::string> bodies = bodies_;
    std::vector<std::size_t> order(contenders.size());
    std::iota(order.begin(), order.end(), 0);
    std::string differs;
    do {
        try {
            for (const std::size_t i : order) {
                contenders[i].done(answers[i]);
            }
            // Answers alone may fit several orders; what is erased depends on it.
            expect_lines(feed, model_.feed(), "the change feed");
            return;
        } catch (const std::exception& differing) {
            differs += fmt::format("\n  in the order {}: {}", order, differing.what());
            model_ = before;
            bodies_ = bodies;
        }
    } while (std::ranges::next_permutation(order).found);
    fail("no order explains the answers:" + differs);
}

}  // namespace annals::test
