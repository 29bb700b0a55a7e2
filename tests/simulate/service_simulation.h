// ServiceSimulation: random interactions with a service over a simulated disk, each answer compared with a model.
//
// Turns of long work end at random, pages are absent at random, and reads are answered while others write. A run depends on
// its seed, except for the order in which threads come to run and for how far the turns come that end after some microseconds.

#pragma once

#include "core/access.h"
#include "tests/simulate/service_bodies.h"
#include "tests/simulate/service_model.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/turn_lengths.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

class ServiceSimulation : public ServiceFixture {
  protected:
    ~ServiceSimulation() override;

    /// Does these steps of a seed on a new store, until an answer differs from the model. Returns what differs.
    std::optional<std::string> run(std::uint64_t seed, const std::vector<int>& steps);

    /// The requests of the last run, and what was done between them.
    const std::vector<std::string>& trace() const { return trace_; }

    /// How many requests were answered, in all runs.
    std::uint64_t requests() const { return requests_; }

  private:
    /// What an answer must have.
    struct Expected {
        int status = 200;
        std::string version =
            {};  ///< label of what a read shows; empty: a Bundle, with what follows
        std::vector<std::string> entries = {};  ///< labels of versions
        std::set<std::string> included = {};
        std::optional<std::uint64_t> total = {};
        bool total_needed = true;
        std::optional<bool> more = {};    ///< whether there is a link `next`
        std::optional<bool> inside = {};  ///< whether something is on pages before
    };

    /// A request that changes nothing, and its answer at a state of the store.
    struct Read {
        std::string target;
        std::function<Expected(Position bound)> expected;
        /// Called with the state that was shown.
        std::function<void(Position bound, const ReceivedBundle&)> then = {};
        bool by_patient = false;  ///< sent with the scopes of a patient
    };

    /// Lets requests be sent with the scopes of a patient, and the model show what these do, as long as it lives.
    class AsPatient;

    /// A request that is sent while others are.
    struct Contender {
        WriteRequest request;
        /// Applies it to the model. Throws if the answer is not that of the model, which has what was applied before it.
        std::function<void(const Answer&)> done;
    };

    struct Transaction {
        std::vector<Write> writes;
        std::vector<Read> reads;  ///< searches, after the writes
    };

    /// Pages of a history, search or $everything that are requested one after another, while others write.
    struct Chain {
        /// A search with _sort, or $everything: there is no page next to what was erased.
        bool needs_edge = false;
        bool may_need_edge = false;
        /// A search without _sort: the same, if its cursors say that the order is that of instants.
        bool is_unsorted = false;
        std::string includes;  ///< the parameter of Observation by which something is included
        bool by_patient = false;
        Position bound;
        /// What it still finds there: a chained condition may have lost what it led to.
        std::function<std::vector<const ServiceModel::Version*>(Position)> found;
        std::uint64_t count = 0;
        std::vector<std::uint64_t> all;  ///< positions, in order, when the first page was made
        std::size_t begin = 0;           ///< the page shown last
        std::size_t end = 0;
        std::map<std::string, std::string> links;
        std::uint64_t erasures = 0;  ///< when the first page was made
        bool keeps_total = true;
        /// Set for a chain that also shows what is written later.
        std::optional<storage::HistoryQuery> follows;
        std::string name;  ///< of an instance
        /// Of a history: what it would show now.
        std::function<std::vector<std::uint64_t>(Position)> history;
    };

    // ---- the run (service_simulation.cc) ----

    void begin(std::uint64_t seed);
    void step();
    void reopen();
    void cut_power();
    void compact();
    void expect_everything();
    core::Config config() const;

    /// Over at the first look at the clock, after some microseconds, or as late as ever.
    static std::chrono::microseconds length_of_turn(std::chrono::microseconds usual) noexcept;

    std::uint64_t pick(std::uint64_t bound) { return random_() % bound; }

    bool one_in(std::uint64_t count) { return pick(count) == 0; }

    template <typename T>
    const T& pick_from(const std::vector<T>& values) {
        return values[pick(values.size())];
    }

    /// Throws what run() returns.
    [[noreturn]] static void fail(const std::string& what);

    static json::Document parse(std::string_view text);

    template <typename A, typename B>
    static void expect_same(const A& found, const B& expected, std::string_view what);

    /// The same for lists of lines: tells the first that differs.
    static void expect_lines(const std::vector<std::string>& found,
                             const std::vector<std::string>& expected, std::string_view what);

    /// A line for the trace.
    std::string trace_of(std::string_view method, std::string_view target, std::string_view body,
                         const Headers& headers) const;

    Answer exchange(std::string_view method, const std::string& target, std::string_view body = {},
                    const Headers& headers = {});

    /// The version that an entry is labelled as.
    const ServiceModel::Version& version_in(const ReceivedEntry& entry) const;

    /// Checks that what was received of a version is what the model has, and the same bytes as before.
    void check_body(const std::string& body, const ServiceModel::Version& version);

    // ---- writes (service_writes.cc) ----

    std::string pick_type() { return one_in(3) ? "Patient" : "Observation"; }

    std::string pick_name(const std::string& type);
    Content pick_content(const std::string& type);
    Condition pick_criteria(const std::string& type);
    Write pick_write();
    void write_one();
    void submit_batch();
    void submit_history();
    HistoryItem pick_item();
    void delete_history();
    void undo();
    void purge();
    void clean_history();
    void write_done(const Write& write, const Answer& answer);
    std::string assigned_in(const std::string& location) const;

    /// Checks the body of the answer to a write, which shows this version.
    void check_result(const Write& write, const std::string& body,
                      const ServiceModel::Version& version);
    void check_entry(const ReceivedEntry& entry, const Write& write,
                     const ServiceModel::Version* version);
    void take_in_order_of_feed(const ServiceModel& after);

    // ---- transactions (service_transactions.cc) ----

    Transaction pick_transaction();
    std::string bundle_for(const Transaction& transaction) const;
    void submit_transaction();
    void transaction_done(const Transaction& transaction, const Answer& answer);
    Contender pick_contender(bool erases);
    void race_writes();

    // ---- reads (service_reads.cc) ----

    std::vector<Condition> pick_conditions(const std::string& type);
    Condition pick_condition(const std::string& type);
    Condition date_condition(const std::string& type);
    Condition instant_condition();
    Instant pick_instant();
    Read pick_read();
    Read read_by_patient();
    Read read_resource();
    Read read_version();
    Read read_history();
    Read search();
    /// `belongs`: a further condition, which the path stands for.
    Read search_for(const std::string& type, const std::string& path,
                    std::vector<Condition> conditions, const Condition::Holds& belongs = {});
    Read search_earlier();
    Read search_compartment();
    Read search_contained();
    Expected first_of(const std::vector<const VersionModel::Version*>& found, std::uint64_t count,
                      bool counts) const;
    Read read_everything();
    std::set<std::string> included_with(const ServiceModel::Version& match, const std::string& by,
                                        Position bound) const;
    /// Checks the versions in an answer that is as expected otherwise.
    void check_versions(const Expected& expected, const Answer& answer,
                        const std::optional<ReceivedBundle>& bundle);
    void compare(const Read& read);
    /// Checks the entry that answers a search in a transaction, which sees what that left.
    void check_read(const Read& read, const ReceivedEntry& entry);
    void write_meanwhile(std::vector<ServiceModel>& states);
    void replace_and_forget(std::vector<ServiceModel>& states);
    void leave_out_erased(Expected& expected, const ServiceModel& state,
                          const ReceivedBundle& bundle) const;
    void compare_racing(const Read& read);
    /// Keeps the chain, of which `all` or `found` is set, if there are pages after its first one.
    void begin_chain(Chain chain, const ReceivedBundle& first);
    void follow_chain();
    std::string difference(const Expected& expected, const Answer& answer,
                           const std::optional<ReceivedBundle>& bundle);
    void compare_page(Chain& chain, const std::string& relation);

    // ---- the change feed (service_feed.cc) ----

    static std::vector<ReceivedEntry> read_feed(const Answer& answer);

    /// "position, end of the commit, label" for each.
    static std::vector<std::string> lines_of(const std::vector<ReceivedEntry>& feed);

    /// All that is stored.
    std::vector<ReceivedEntry> read_whole_feed();
    void check_bodies(const std::vector<ReceivedEntry>& feed);
    void read_changes();

    std::mt19937_64 random_;
    ServiceModel model_;
    std::shared_ptr<SimFileSystem> disk_;
    std::vector<std::string> ids_;
    std::size_t filler_ = 0;  ///< of each body; large ones have pages of their own
    std::atomic<std::int64_t> clock_{0};
    const core::Principal everybody_{"everybody", "system/*.cruds"};
    std::optional<core::Principal> patient_;
    std::optional<TurnLengths> turns_;
    static inline std::atomic<bool> slow_turns_{false};  ///< so that writes come between them
    std::vector<Chain> chains_;
    std::map<std::uint64_t, std::string> bodies_;  ///< as first seen, by position
    std::vector<std::string> trace_;
    std::uint64_t requests_ = 0;
    std::uint64_t urns_ = 0;
};

template <typename A, typename B>
void ServiceSimulation::expect_same(const A& found, const B& expected, std::string_view what) {
    if (!(found == expected)) {
        fail(std::string(what) + ": " + testing::PrintToString(found) + " instead of " +
             testing::PrintToString(expected));
    }
}

}  // namespace annals::test
