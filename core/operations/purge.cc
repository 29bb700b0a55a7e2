#include "core/operations/purge.h"

#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/interactions/answer.h"
#include "core/interactions/preconditions.h"
#include "core/interactions/referrers.h"
#include "core/interactions/turns.h"
#include "core/interactions/write.h"
#include "core/operations/input.h"
#include "core/operations/parameters_writer.h"
#include "core/operations/purge_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace annals::core {

namespace {

using storage::Erase;
using storage::Submission;
using storage::VersionInfo;
using Status = Submission::Status;
using Share = PatientVersions::Share;

/// How many versions of one resource are looked up at a time.
constexpr std::size_t kVersionsLookedUp = 1000;

/// The bytes that the receipt has at most for a version, and for a resource or referrer beside its versions.
constexpr std::size_t kVersionToldBytes = 320;
constexpr std::size_t kResourceToldBytes = 512;

struct PurgeAsked {
    bool dry_run = false;
    bool include_shared = false;
};

Result<PurgeAsked> read_purge_asked(const Request& request) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"dryRun", "includeShared"}));
    PurgeAsked asked;
    ANNALS_TRY(asked.dry_run, input.flag("dryRun"));
    ANNALS_TRY(asked.include_shared, input.flag("includeShared"));
    return asked;
}

/// A resource to erase, or some of its versions.
struct DoomedVersions {
    ResourceName name;
    VersionNumber newest;  ///< when it was read
    bool whole = false;
    bool live = false;
    std::vector<VersionInfo> versions;  ///< to erase, the oldest first
};

// Handles one call, from its parameters to its receipt.
class Purge {
  public:
    Purge(const Service& service, const Request& request, const Target& target, PurgeAsked asked,
          std::size_t versions_max)
        : service_(service),
          store_(service.store()),
          request_(request),
          target_(target),
          asked_(asked),
          versions_max_(versions_max),
          turns_(*request.loop, service.config().limits.request_timeout),
          found_(store_, service.indexing().parameters(), request.base_url, target.id,
                 versions_max) {}

    asio::awaitable<Response> run() {
        const Result<Preconditions> conditions = read_preconditions(request_);
        if (!conditions) {
            co_return conditions.error();
        }
        for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
            const storage::Head head = store_.head(target_.type, target_.id);
            const Result<void> fit =
                head.exists ? check_preconditions(*conditions, target_.type, target_.id, head)
                            : no_such_resource(target_.type, target_.id);
            if (!fit) {
                const Result<void> durable = co_await request_.loop->settled_ticket(head.ticket);
                if (!durable) {
                    continue;
                }
                if (!head.exists && head.erased_through.value != 0) {
                    // The request may repeat one whose bytes are still there.
                    const Result<void> gone = co_await request_.loop->all_erased();
                    if (!gone) {
                        co_return gone.error();
                    }
                }
                co_return fit.error();
            }
            Result<void> done = co_await decide();
            if (!done) {
                co_return std::move(done.error());
            }
            if (doomed_.empty() || doomed_.front().name != own() ||
                (!conditions->none() && doomed_.front().newest != head.version)) {
                // The patient is being written or erased just now.
                const Result<void> settled = co_await request_.loop->settled_ticket(head.ticket);
                static_cast<void>(settled);
                continue;
            }
            std::optional<Response> answer = co_await carry_out();
            if (answer) {
                co_return *std::move(answer);
            }
        }
        co_return too_many_attempts();
    }

  private:
    /// Erases what was decided, or with dryRun only checks whether it may be erased. None if it must be decided again.
    asio::awaitable<std::optional<Response>> carry_out() {
        Referrers referrers(service_, request_);
        for (const DoomedVersions& one : doomed_) {
            if (one.whole && one.live) {
                referrers.add_deleted(one.name.first, one.name.second);
            }
        }
        Result<void> done = co_await referrers.check();
        if (!done) {
            co_return std::move(done.error());
        }
        if (asked_.dry_run) {
            Response answer = co_await receipt(now());
            co_return answer;
        }
        const Submission submission = submit(referrers);
        if (submission.status == Status::version_unknown) {
            // Somebody else has erased a version: there is one less to erase.
            co_return std::nullopt;
        }
        if (submission.status != Status::accepted) {
            std::optional<Error> refusal = co_await settle_refusal(*request_.loop, submission);
            if (refusal) {
                co_return *std::move(refusal);
            }
            co_return std::nullopt;
        }
        done = co_await request_.loop->settled_ticket(submission.ticket);
        if (!done) {
            co_return std::move(done.error());
        }
        done = co_await request_.loop->erased_ticket(submission.ticket);
        if (!done) {
            // It is erased all the same, which the access log tells.
            Response left(std::move(done.error()));
            co_await trace(202, left);
            co_return left;
        }
        log_info(
            fmt::format("purge: {} versions of {} resources erased", versions_, doomed_.size()));
        Response answer = co_await receipt(submission.instant);
        co_await trace(answer.status, answer);
        co_return answer;
    }

    ResourceName own() const { return {target_.type, std::string(target_.id)}; }

    /// Decides what to erase, from everything visible, and finds who refers to it.
    asio::awaitable<Result<void>> decide() {
        std::size_t seen = 0;
        do {
            Result<void> done = co_await turns_.finish(found_);
            seen = found_.count();
            if (done) {
                done = co_await choose();
            }
            if (done) {
                done = co_await hash();
            }
            if (done) {
                done = co_await find_referrers();
            }
            // Includes what was written meanwhile.
            if (done) {
                done = co_await turns_.finish(found_);
            }
            if (!done) {
                co_return std::move(done.error());
            }
        } while (found_.count() != seen);
        co_return Result<void>();
    }

    asio::awaitable<Result<void>> choose() {
        doomed_.clear();
        kept_.clear();
        versions_ = 0;
        // The Patient itself comes first, even if only its deletion is left.
        choose_of(own(), {});
        for (const auto& [name, positions] : found_.found()) {
            if (name != own()) {
                choose_of(name, positions);
            }
            if (versions_ > versions_max_) {
                co_return Error{
                    Errc::too_costly,
                    fmt::format("More than {} versions would be erased", versions_max_)};
            }
            if (turns_.pace().is_over()) {
                Result<void> in_time = co_await turns_.next();
                if (!in_time) {
                    co_return std::move(in_time.error());
                }
            }
        }
        co_return Result<void>();
    }

    void choose_of(const ResourceName& name, const std::map<Position, Share>& positions) {
        std::vector<VersionInfo> all = versions_of(name);
        if (all.empty()) {
            return;  // erased meanwhile
        }
        const bool is_patient = name == own();
        const bool other_patient = name.first == target_.type && !is_patient;
        // The newest content says whose it is.
        const auto content = std::find_if(all.rbegin(), all.rend(),
                                          [](const VersionInfo& info) { return !info.deletion; });
        const auto belongs =
            content == all.rend() ? positions.end() : positions.find(content->position);
        const auto is_his = [&](Share share) {
            return !other_patient && (share == Share::none || asked_.include_shared);
        };
        DoomedVersions one{
            .name = name,
            .newest = all.back().version,
            .whole = is_patient || (belongs != positions.end() && is_his(belongs->second)),
            .live = !all.back().deletion,
            .versions = {}};
        if (one.whole) {
            one.versions = std::move(all);
        } else {
            if (belongs != positions.end()) {
                kept_.push_back(name);
            }
            // It now belongs to another patient, or to another as well: only versions that belonged to this one alone
            // are erased.
            std::ranges::copy_if(all, std::back_inserter(one.versions), [&](const auto& info) {
                const auto named = positions.find(info.position);
                return named != positions.end() && is_his(named->second);
            });
        }
        versions_ += one.versions.size();
        doomed_.push_back(std::move(one));
    }

    /// The oldest first.
    std::vector<VersionInfo> versions_of(const ResourceName& name) const {
        std::vector<VersionInfo> all;
        storage::HistoryQuery query{.type = name.first,
                                    .id = name.second,
                                    .order = storage::HistoryOrder::oldest_first,
                                    .since = {},
                                    .bound = {},
                                    .after = {},
                                    .count = kVersionsLookedUp};
        while (true) {
            storage::HistoryPage page = store_.history(query);
            all.insert(all.end(), page.versions.begin(), page.versions.end());
            if (!page.more || page.versions.empty() || all.size() > versions_max_) {
                return all;
            }
            query.after = page.versions.back();
        }
    }

    asio::awaitable<Result<void>> hash() {
        hashes_.reserve(versions_);
        for (DoomedVersions& one : doomed_) {
            for (std::size_t i = 0; i < one.versions.size(); ++i) {
                if (i % kFetchedAtOnce == 0) {
                    co_await turns_.fetched_from(one.versions, i);
                }
                const VersionInfo& info = one.versions[i];
                if (info.deletion || hashes_.contains(info.position.value)) {
                    continue;
                }
                const auto stored = store_.load(info);
                if (stored) {
                    hashes_.emplace(info.position.value, sha256_hex(stored->body));
                } else if (stored.error().code != Errc::not_found) {
                    co_return stored.error();
                }
                if (turns_.pace().is_over()) {
                    Result<void> in_time = co_await turns_.next();
                    if (!in_time) {
                        co_return std::move(in_time.error());
                    }
                }
            }
            // Versions erased by others meanwhile are not in this receipt.
            versions_ -= std::erase_if(one.versions, [&](const VersionInfo& info) {
                return !info.deletion && !hashes_.contains(info.position.value);
            });
        }
        // Some then have nothing to erase.
        std::erase_if(doomed_, [](const DoomedVersions& one) { return one.versions.empty(); });
        co_return Result<void>();
    }

    /// Again only if something else is to be erased.
    asio::awaitable<Result<void>> find_referrers() {
        std::vector<ResourceName> gone;
        for (const DoomedVersions& one : doomed_) {
            if (one.whole) {
                gone.push_back(one.name);
            }
        }
        if (referrers_ && gone == gone_) {
            co_return Result<void>();
        }
        gone_ = std::move(gone);
        referrers_.emplace(store_, request_.base_url, gone_);
        Result<void> done = co_await turns_.finish(*referrers_);
        co_return done;
    }

    /// Nothing has been awaited since the log was last read.
    Submission submit(const Referrers& referrers) const {
        std::vector<Erase> erases;
        for (const DoomedVersions& one : doomed_) {
            Erase erase;
            erase.type = one.name.first;
            erase.id = one.name.second;
            erase.expect = storage::Expect::version;
            erase.expected_version = one.newest;
            if (one.whole) {
                erases.push_back(erase);
                continue;
            }
            erase.scope = Erase::Scope::version;
            for (const VersionInfo& info : one.versions) {
                erase.version = info.version;
                erases.push_back(erase);
            }
        }
        // Anything that names the patient has the search term of a reference to the Patient.
        const std::uint64_t terms[] = {found_.key()};
        std::vector<storage::Guard> guards{{{}, terms, found_.through()}};
        referrers.guard(guards);
        storage::Commit commit;
        commit.erases = erases;
        commit.guards = guards;
        return store_.submit(commit);
    }

    /// In turns, but without a time limit: what was done must be reported.
    asio::awaitable<Response> receipt(Instant when) {
        const Position position = found_.through();
        ParametersWriter out;
        out.reserve(versions_ * kVersionToldBytes +
                    (doomed_.size() + referrers_->found().size() + 1) * kResourceToldBytes);
        out.add_flag("dryRun", asked_.dry_run);
        out.add_text("patient", "valueString", resource_name(target_.type, target_.id));
        out.add_text("when", "valueInstant", format_instant(when));
        out.add_number("position", position.value);
        out.add("resources", "valueInteger", fmt::to_string(doomed_.size()));
        out.add("versions", "valueInteger", fmt::to_string(versions_));
        out.add("referrers", "valueInteger", fmt::to_string(referrers_->count()));
        Response response;
        for (const DoomedVersions& one : doomed_) {
            co_await tell(one, out);
        }
        for (const PurgeReferrers::Referrer& referrer : referrers_->found()) {
            const auto& [type, id] = referrer.name;
            out.begin_parts("referrer");
            out.add_text("reference", "valueString", resource_name(type, id));
            out.add_text("versionId", "valueString", fmt::to_string(referrer.version.value));
            out.add_text("refersTo", "valueString", referrer.target);
            out.add_flag("shared", std::ranges::binary_search(kept_, referrer.name));
            out.end_parts();
        }
        response.body = Body(out.resource());
        if (!asked_.dry_run) {
            response.position = store_.last_position();
        }
        co_return response;
    }

    /// Adds what was erased to `answer`, for the access log. In turns, too.
    asio::awaitable<void> trace(int status, Response& answer) {
        if (!service_.config().audited()) {
            co_return;
        }
        answer.entries.reserve(doomed_.size());
        for (const DoomedVersions& one : doomed_) {
            answer.entries.push_back(
                {HttpMethod::delete_, status, resource_name(one.name.first, one.name.second)});
            if (turns_.pace().is_over()) {
                co_await turns_.give_way();
            }
        }
    }

    /// Lifetime: of the arguments, until it returns.
    asio::awaitable<void> tell(const DoomedVersions& one, ParametersWriter& out) {
        out.begin_parts("resource");
        out.add_text("reference", "valueString", resource_name(one.name.first, one.name.second));
        out.add_flag("whole", one.whole);
        out.add("count", "valueInteger", fmt::to_string(one.versions.size()));
        for (const VersionInfo& info : one.versions) {
            out.begin_parts("version");
            out.add_text("versionId", "valueString", fmt::to_string(info.version.value));
            out.add_text("lastUpdated", "valueInstant", format_instant(info.instant));
            out.add_number("position", info.position.value);
            if (info.deletion) {
                out.add_flag("deletion", true);
            } else {
                const auto hash = hashes_.find(info.position.value);
                out.add_text("sha256", "valueString", hash->second);
                hashes_.erase(hash);  // here, not all of them in one turn at the end
            }
            out.end_parts();
            if (turns_.pace().is_over()) {
                co_await turns_.give_way();
            }
        }
        out.end_parts();
    }

    const Service& service_;
    storage::Store& store_;
    const Request& request_;
    const Target& target_;
    const PurgeAsked asked_;
    const std::size_t versions_max_;
    Turns turns_;
    PatientVersions found_;
    std::vector<DoomedVersions> doomed_;
    std::vector<ResourceName> kept_;  // also in the compartment of others; ascending
    std::size_t versions_ = 0;        // to erase, in total
    std::vector<ResourceName> gone_;  // for which referrers_ was made
    std::optional<PurgeReferrers> referrers_;
    std::unordered_map<std::uint64_t, std::string> hashes_;  // by position
};

}  // namespace

asio::awaitable<Response> purge_operation(const Service& service, const Request& request,
                                          const Target& target) {
    return purge_up_to(service, request, target, kPurgeVersionsMax);
}

asio::awaitable<Response> purge_up_to(const Service& service, const Request& request,
                                      const Target& target, std::size_t versions_max) {
    const Result<PurgeAsked> asked = read_purge_asked(request);
    if (!asked) {
        co_return asked.error();
    }
    Purge purge(service, request, target, *asked, versions_max);
    co_return co_await purge.run();
}

}  // namespace annals::core
