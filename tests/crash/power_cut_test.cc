// Power cuts at every write and sync boundary of a scripted workload: what was acknowledged is there, byte for byte,
// and no commit is there in part. With a weaker durability, the newest commits may be missing, but nothing else.

#include "storage/file_system.h"
#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <map>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::kDirectory;
using test::SimFileSystem;
using test::type_of;

constexpr std::uint64_t kSmallSegment = 8 << 10;

/// The expected content of a version.
struct Expected {
    std::string body;
    bool deletion = false;
    Position position;
    Instant instant;

    bool operator==(const Expected&) const = default;
};

/// Resources by "Type/id", their versions by number.
using Model = std::map<std::string, std::map<std::uint64_t, Expected>>;

/// The script, and the store's expected contents after each accepted commit.
class Workload {
  public:
    /// Runs the script against `store` until a commit is refused.
    void run(Store& store) {
        after_.push_back({});
        const std::string text(300, 't');
        for (int round = 0; round < 6; ++round) {
            const std::string id = "r" + std::to_string(round);
            bool going = step(store, [&](CommitBuilder& b) { b.put("Patient", id, text, {7, 8}); });
            going = going && step(store, [&](CommitBuilder& b) {
                        b.put("Patient", id, "second");
                        b.put("Observation", id, text);
                        b.put("Encounter", "shared", text);
                    });
            going = going && step(store, [&](CommitBuilder& b) { b.remove("Observation", id); });
            going = going && together(store, id);
            if (round % 2 == 1) {
                going = going && step(store, [&](CommitBuilder& b) {
                            b.erase("Patient", id, Erase::Scope::all_but_current);
                        });
                going = going && step(store, [&](CommitBuilder& b) {
                            b.erase("Observation", id);
                            b.erase("Encounter", "shared", Erase::Scope::version,
                                    {static_cast<std::uint64_t>(round)});
                        });
                going = going && step(store, [&](CommitBuilder& b) {
                            b.put("Observation", id, "born again");
                        });
            }
            if (round == 3) {
                going = going && step(store, [&](CommitBuilder& b) {
                            b.put("Binary", "large", std::string(3 * kSmallSegment, 'L'));
                        });
            }
            if (!going) {
                return;
            }
        }
    }

    /// The number of commits that survive any power cut.
    std::size_t kept(Durability durability) const {
        return durability == Durability::commit ? acknowledged_ : 0;
    }

    const std::vector<Model>& after() const { return after_; }

  private:
    /// Three commits that share a write.
    bool together(Store& store, const std::string& id) {
        std::vector<Ticket> tickets;
        for (int i = 0; i < 3; ++i) {
            if (!submit(store, tickets, [&](CommitBuilder& b) {
                    b.put("Condition", id + "-" + std::to_string(i % 2), std::to_string(i));
                })) {
                return false;
            }
        }
        return wait(store, tickets);
    }

    template <typename Fill>
    bool step(Store& store, const Fill& fill) {
        std::vector<Ticket> tickets;
        return submit(store, tickets, fill) && wait(store, tickets);
    }

    bool wait(Store& store, const std::vector<Ticket>& tickets) {
        for (const Ticket ticket : tickets) {
            if (!store.wait(ticket)) {
                return false;
            }
            ++acknowledged_;
        }
        return true;
    }

    template <typename Fill>
    bool submit(Store& store, std::vector<Ticket>& tickets, const Fill& fill) {
        CommitBuilder builder;
        fill(builder);
        const Submission submission = store.submit(builder.commit());
        if (submission.status != Submission::Status::accepted) {
            EXPECT_EQ(submission.status, Submission::Status::failed);
            return false;
        }
        tickets.push_back(submission.ticket);
        Model model = after_.back();
        for (const VersionWrite& write : builder.writes()) {
            const std::string_view type = resource_type_name(write.type);
            std::string body;
            for (const BodyPiece& piece : write.body) {
                if (piece.kind == BodyPiece::Kind::text) {
                    body += piece.text;
                } else if (piece.kind == BodyPiece::Kind::version) {
                    body += std::to_string(write.outcome.version.value);
                } else {
                    char when[kInstantChars];
                    write_instant(write.outcome.instant, when);
                    body.append(when, sizeof when);
                }
            }
            model[std::string(type) + "/" + std::string(write.id)][write.outcome.version.value] = {
                body, write.deletion, write.outcome.position, write.outcome.instant};
        }
        for (const Erase& erase : builder.erases()) {
            const std::string name =
                std::string(resource_type_name(erase.type)) + "/" + std::string(erase.id);
            auto& versions = model[name];
            const std::uint64_t newest = versions.rbegin()->first;
            std::erase_if(versions, [&](const auto& version) {
                return erase.scope == Erase::Scope::everything ||
                       (erase.scope == Erase::Scope::version &&
                        version.first == erase.version.value) ||
                       (erase.scope == Erase::Scope::all_but_current && version.first != newest);
            });
            if (versions.empty()) {
                model.erase(name);
            }
        }
        after_.push_back(std::move(model));
        return true;
    }

    std::size_t acknowledged_ = 0;
    std::vector<Model> after_;  ///< [n]: after n commits
};

/// Whether the next segment is filled with zeros before it is needed.
enum class Segments : bool { on_demand, prepared };

StoreOptions options(Segments segments, Durability durability = Durability::commit) {
    StoreOptions options;
    options.segment_bytes = kSmallSegment;
    options.prepare_segments = segments == Segments::prepared;
    options.durability = durability;
    options.sync_interval_ms = 20;
    return options;
}

/// Everything in a store, read version by version.
Model contents(const Store& store) {
    Model model;
    for (std::uint64_t at = 1; at <= store.last_position().value; ++at) {
        const auto info = store.at({at});
        if (!info) {
            continue;
        }
        auto loaded = store.load(*info);
        EXPECT_TRUE(loaded) << loaded.error().detail;
        if (!loaded) {
            continue;
        }
        const std::string name =
            std::string(resource_type_name(info->type)) + "/" + std::string(loaded->id);
        model[name][info->version.value] = {std::string(loaded->body), info->deletion,
                                            info->position, info->instant};
    }
    for (const auto& [name, versions] : model) {
        const auto slash = name.find('/');
        const auto current = store.current(type_of(name.substr(0, slash)), name.substr(slash + 1));
        EXPECT_TRUE(current) << name;
        EXPECT_EQ(current ? current->version.value : 0, versions.rbegin()->first) << name;
    }
    return model;
}

/// Opens what a cut left and compares it; writes more, and opens it once more.
void check(std::unique_ptr<SimFileSystem> fs, const Workload& workload,
           Durability durability = Durability::commit) {
    {
        auto store = Store::open(*fs, kDirectory, options(Segments::on_demand));
        ASSERT_TRUE(store) << store.error().detail;
        const Model found = contents(**store);
        const auto& after = workload.after();
        bool matches = false;
        for (std::size_t n = workload.kept(durability); n < after.size(); ++n) {
            matches = matches || after[n] == found;
        }
        ASSERT_TRUE(matches) << "acknowledged " << workload.kept(durability) << " of "
                             << after.size() - 1;
        const Submission more = test::put(**store, "Patient", "after", "the cut");
        ASSERT_TRUE((*store)->wait(more.ticket));
    }
    OpenReport report;
    auto store = Store::open(*fs, kDirectory, options(Segments::on_demand), &report);
    ASSERT_TRUE(store) << store.error().detail;
    EXPECT_EQ(report.torn_bytes_cut, 0U);
    EXPECT_TRUE((*store)->current(type_of("Patient"), "after"));
}

/// Runs the workload with a power cut at the `n`th changing call; returns whether it got there.
bool run_until_cut(SimFileSystem& fs, std::uint64_t n, Workload& workload, Segments segments,
                   Durability durability = Durability::commit) {
    fs.power_off_at(n);
    if (auto store = Store::open(fs, kDirectory, options(segments, durability))) {
        workload.run(**store);
    } else {
        EXPECT_EQ(store.error().code, Errc::io);
    }
    return fs.changing_calls() >= n;
}

void cut_everywhere(Segments segments, Durability durability = Durability::commit) {
#if defined(__has_feature) && __has_feature(thread_sanitizer)
    constexpr std::uint64_t kSeedsMax = 2;  // threads behave alike whatever a cut leaves
#else
    constexpr std::uint64_t kSeedsMax = 12;
#endif
    // The more writes are unsynced, the more outcomes a cut can have.
    const std::uint64_t seeds =
        durability == Durability::commit ? std::min(kSeedsMax, std::uint64_t{5}) : kSeedsMax;
    bool cut = true;
    for (std::uint64_t n = 1; cut; ++n) {
        SimFileSystem fs;
        Workload workload;
        cut = run_until_cut(fs, n, workload, segments, durability);
        if (workload.after().empty()) {
            Workload().run(
                **Store::open(*fs.after_power_cut(n), kDirectory, options(Segments::on_demand)));
            continue;
        }
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            SCOPED_TRACE("call " + std::to_string(n) + ", seed " + std::to_string(seed));
            // Seeds 0 and 1 mean nothing and everything unsynced; the others differ for every cut.
            check(fs.after_power_cut(seed < 2 ? seed : n * seeds + seed), workload, durability);
            if (testing::Test::HasFatalFailure()) {
                return;
            }
        }
    }
}

TEST(PowerCut, LosesNothingAcknowledgedAtAnyCall) {
    cut_everywhere(Segments::on_demand);
}

TEST(PowerCut, LosesNothingAcknowledgedWhileSegmentsArePrepared) {
    cut_everywhere(Segments::prepared);
}

TEST(PowerCut, LosesTheNewestCommitsAloneWhereThereIsASyncOnceInAWhile) {
    cut_everywhere(Segments::on_demand, Durability::interval);
}

TEST(PowerCut, LosesTheNewestCommitsAloneWhereNoneIsSynced) {
    cut_everywhere(Segments::on_demand, Durability::none);
}

TEST(PowerCut, DuringRecoveryIsRecoveredFrom) {
    constexpr std::uint64_t kStride = 5;
    for (std::uint64_t n = 20; n < 120; n += kStride) {
        SimFileSystem fs;
        Workload workload;
        if (!run_until_cut(fs, n, workload, Segments::on_demand)) {
            break;
        }
        for (std::uint64_t second = 1; second < 8; ++second) {
            SCOPED_TRACE("call " + std::to_string(n) + ", then " + std::to_string(second));
            auto half = fs.after_power_cut(n + 2);
            half->power_off_at(second);
            {
                (void)Store::open(*half, kDirectory, options(Segments::on_demand));
            }
            check(half->after_power_cut(n * second), workload);
            if (testing::Test::HasFatalFailure()) {
                return;
            }
        }
    }
}

}  // namespace
}  // namespace annals::storage
