// The reads of a ServiceSimulation that are answered while others write and erase.

#include "tests/simulate/service_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace annals::test {

namespace {

/// A page of a search is made again twice if something was erased meanwhile.
constexpr int kErasuresMax = 2;

}  // namespace

/// Writes a version and erases those before it, which a page made before that still shows.
void ServiceSimulation::replace_and_forget(std::vector<ServiceModel>& states) {
    Write write;
    write.type = pick_type();
    const std::string name = pick_name(write.type);
    write.id = name.substr(write.type.size() + 1);
    write.content = pick_content(write.type);
    const WriteRequest request = request_of(write, filler_);
    write_done(write, exchange(request.method, request.target, request.body, request.headers));
    states.push_back(model_);
    const Answer answer = exchange("DELETE", fmt::format("/{}/_history", name));
    expect_same(answer.status, model_.delete_history(name, 0), "history deletion");
}

/// Writes while a read is answered, and adds the states after each write, which the read may meet.
void ServiceSimulation::write_meanwhile(std::vector<ServiceModel>& states) {
    int erasures = 0;
    for (std::uint64_t i = 1 + pick(3); i > 0; --i) {
        const std::uint64_t before = model_.erasures();
        const bool may_erase = model_.hard_delete && erasures < kErasuresMax;
        if (may_erase && one_in(3)) {
            delete_history();
        } else if (may_erase && one_in(3)) {
            replace_and_forget(states);
        } else if (one_in(4) && (may_erase || !model_.hard_delete)) {
            submit_transaction();
        } else {
            const Write write = pick_write();
            if (model_.hard_delete && !may_erase && write.kind == Write::Kind::remove) {
                continue;
            }
            const WriteRequest request = request_of(write, filler_);
            write_done(write,
                       exchange(request.method, request.target, request.body, request.headers));
        }
        erasures += model_.erasures() == before ? 0 : 1;
        states.push_back(model_);
    }
}

/// Leaves out of `expected` what the answer leaves out and is erased by now: what an erasure takes from a history that is
/// being answered is not determined. A deletion is no more shown to a patient than what it deleted.
void ServiceSimulation::leave_out_erased(Expected& expected, const ServiceModel& state,
                                         const ReceivedBundle& bundle) const {
    std::erase_if(expected.entries, [&](const std::string& label) {
        const auto* version = state.labelled(label);
        if (version == nullptr) {
            return false;
        }
        const ServiceModel::Version& now = model_.at(version->info.position.value);
        return (now.erased || !model_.shows(now)) &&
               std::ranges::none_of(bundle.entries,
                                    [&](const auto& entry) { return entry.label() == label; });
    });
    expected.total = bundle.total;
    expected.more.reset();
}

void ServiceSimulation::compare_racing(const Read& read) {
    const std::uint64_t before = model_.last();
    const std::uint64_t erasures = model_.erasures();
    const std::size_t at = trace_.size();
    trace_.push_back(fmt::format("GET {}{} (meanwhile:)", read.target,
                                 read.by_patient ? " (by the patient)" : ""));
    slow_turns_ = one_in(3);
    const core::Principal* reader = read.by_patient ? &*patient_ : &everybody_;
    std::future<Answer> reading = std::async(
        std::launch::async, [&] { return send_for(reader, loop(), "GET", read.target); });
    std::vector<ServiceModel> states{model_};
    write_meanwhile(states);
    const Answer answer = reading.get();
    slow_turns_ = false;
    trace_[at] += fmt::format(" -> {}", answer.status);
    const auto bundle = read_bundle(answer.body, kBaseUrl);
    const bool erased = model_.erasures() != erasures;
    std::string differs;
    std::vector<Position> fitting;
    if (!erased) {
        states.erase(states.begin(), states.end() - 1);  // which includes the others
    }
    // What is made again when something was erased meanwhile shows no state from before that.
    const bool is_history = read.target.find("_history") != std::string::npos;
    Position first{before};
    std::uint64_t erased_before = erasures;
    model_.patient = read.by_patient ? "Patient/" + patient_->patient() : "";
    for (ServiceModel& state : states) {
        state.patient = model_.patient;
        const ServiceModel now = model_;
        if (!is_history && std::exchange(erased_before, state.erasures()) != state.erasures()) {
            first = {state.last()};
        }
        for (Position bound = first; bound.value <= state.last(); ++bound.value) {
            if (bound.value > 0 && state.commit_end(bound.value) != bound.value) {
                continue;  // in the middle of a transaction
            }
            model_ = state;
            Expected expected = read.expected(bound);
            model_ = now;
            if (erased && bundle && bundle->type == "history") {
                leave_out_erased(expected, state, *bundle);
            }
            std::string found = difference(expected, answer, bundle);
            if (found.empty()) {
                // What was erased and written again may have the same label.
                model_ = state;
                try {
                    check_versions(expected, answer, bundle);
                } catch (const std::exception& differing) {
                    found = differing.what();
                }
                model_ = now;
            }
            if (!found.empty()) {
                differs += fmt::format("\n  at {} of {}: {}", bound.value, state.last(), found);
                continue;
            }
            fitting.push_back(bound);
        }
    }
    if (fitting.empty()) {
        fail("no state between fits:" + differs);
    }
    if (bundle && read.then && fitting.size() == 1 && !erased) {
        read.then(fitting.front(), *bundle);
    }
    model_.patient.clear();
}

}  // namespace annals::test
