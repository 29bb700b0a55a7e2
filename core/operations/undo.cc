#include "core/operations/undo.h"

#include "codec/json/document.h"
#include "core/base/limits.h"
#include "core/interactions/answer.h"
#include "core/interactions/delete.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/transaction.h"
#include "core/interactions/turns.h"
#include "core/operations/input.h"
#include "core/operations/parameters_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unordered_map>

namespace annals::core {

namespace {

using storage::VersionInfo;

/// How many conflicts are named.
constexpr std::size_t kConflictsToldMax = 100;

/// The bytes that the response has at most for a resource.
constexpr std::size_t kStepToldBytes = 320;

/// What to do with one resource that was written in the range.
struct Step {
    std::string name;  ///< "Patient/1"
    VersionInfo now;
    std::optional<VersionInfo> back_to;  ///< none: it did not exist, or was deleted
};

/// Positions, both inclusive.
struct Range {
    std::uint64_t from = 0;
    std::uint64_t to = 0;

    std::uint64_t size() const { return to - from + 1; }
};

struct UndoAsked {
    Range range;
    std::string request_id;  ///< empty: the whole range; else only this request's commits
    bool dry_run = false;
};

Error too_many(std::uint64_t positions) {
    return {Errc::too_costly, fmt::format("More than {} positions at once", positions)};
}

/// The range to search, from the parameters.
Result<Range> read_range(const storage::Store& store, const OperationInput& input) {
    ANNALS_TRY(const auto from, input.number("from"));
    ANNALS_TRY(const auto to, input.number("to"));
    ANNALS_TRY(const auto position, input.number("position"));
    ANNALS_TRY(const auto transaction, input.number("transaction"));
    ANNALS_TRY(const auto request_id, input.text("requestId"));
    const int ways =
        (position ? 1 : 0) + (transaction ? 1 : 0) + (from || to || request_id ? 1 : 0);
    if (ways != 1 || (to && !from && !request_id)) {
        return Error{
            Errc::required,
            "One of position, transaction, requestId, or from (with or without to) is required"};
    }
    const std::uint64_t last = store.last_position().value;
    const std::optional<std::uint64_t> one = position ? position : transaction;
    Range range;
    range.to = one ? *one : to.value_or(last);
    range.from = one ? *one : from.value_or(range.to - std::min(range.to, kUndoSearchedMax) + 1);
    if (range.from == 0 || range.from > range.to || range.to > last) {
        return Error{Errc::invalid, fmt::format("The positions are 1 to {}", last)};
    }
    if (transaction) {
        range.from = store.commit_begin(Position{range.from}).value;
        range.to = store.commit_end(Position{range.to}).value;
    }
    const std::uint64_t most = request_id ? kUndoSearchedMax : kUndoPositionsMax;
    return range.size() > most ? Result<Range>(too_many(most)) : range;
}

Result<UndoAsked> read_undo_asked(const Service& service, const Request& request) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"from", "to", "position", "transaction", "requestId", "dryRun"}));
    ANNALS_TRY(const auto request_id, input.text("requestId"));
    ANNALS_TRY(const bool dry_run, input.flag("dryRun"));
    if (request_id && (request_id->empty() || request_id->size() > kRequestIdBytesMax)) {
        return Error{Errc::invalid,
                     fmt::format("requestId must have 1 to {} characters", kRequestIdBytesMax)};
    }
    UndoAsked asked;
    ANNALS_TRY(asked.range, read_range(service.store(), input));
    asked.request_id = request_id.value_or("");
    asked.dry_run = dry_run;
    return asked;
}

/// The commits in `range` made by a request.
asio::awaitable<Result<std::vector<Range>>> commits_of(const storage::Store& store,
                                                       const UndoAsked& asked, Turns& turns) {
    std::vector<Range> found;
    std::uint64_t positions = 0;
    for (std::uint64_t at = asked.range.from; at <= asked.range.to;) {
        const Position end = store.commit_end(Position{at});
        if (store.request_of(end) == asked.request_id) {
            found.push_back({at, std::min(end.value, asked.range.to)});
            positions += found.back().size();
        }
        at = end.value + 1;
        if (turns.pace().is_over()) {
            Result<void> in_time = co_await turns.next();
            if (!in_time) {
                co_return std::move(in_time.error());
            }
        }
    }
    if (found.empty()) {
        co_return Error{Errc::not_found,
                        fmt::format("The request {} wrote nothing at positions {} to {}",
                                    asked.request_id, asked.range.from, asked.range.to)};
    }
    if (positions > kUndoPositionsMax) {
        co_return too_many(kUndoPositionsMax);
    }
    co_return found;
}

/// One step for each resource; those written again since are in `conflicts`.
class UndoPlan {
  public:
    explicit UndoPlan(const Service& service) : store_(service.store()) {}

    asio::awaitable<Result<void>> make(const std::vector<Range>& ranges, Turns& turns) {
        for (const Range& range : ranges) {
            for (std::uint64_t at = range.from; at <= range.to; ++at) {
                if ((at - range.from) % kFetchedAtOnce == 0) {
                    co_await turns.fetched(
                        named_by({at, std::min(range.to, at + kFetchedAtOnce - 1)}));
                }
                Result<void> taken = take(Position{at});
                if (taken && turns.pace().is_over()) {
                    taken = co_await turns.next();
                }
                if (!taken) {
                    co_return std::move(taken.error());
                }
            }
        }
        for (const Written& one : written_) {
            judge(one);
            if (turns.pace().is_over()) {
                Result<void> in_time = co_await turns.next();
                if (!in_time) {
                    co_return std::move(in_time.error());
                }
            }
        }
        co_return Result<void>();
    }

    const std::vector<Step>& steps() const { return steps_; }

    const std::vector<std::string>& conflicts() const { return conflicts_; }

    /// Whether any of the versions was erased, perhaps just now, or by the same request, sent before.
    bool met_erased() const noexcept { return met_erased_; }

  private:
    /// A resource with versions to revert.
    struct Written {
        std::string id;
        VersionInfo first;
        Position last;
        std::optional<VersionInfo> between;  ///< another request's version among them
    };

    /// The versions that take() will load for these positions.
    std::vector<VersionInfo> named_by(Range range) const {
        std::vector<VersionInfo> versions;
        for (std::uint64_t at = range.from; at <= range.to; ++at) {
            const std::optional<VersionInfo> info = store_.at(Position{at});
            if (info && !places_.contains(info->resource)) {
                versions.push_back(*info);
            }
        }
        return versions;
    }

    Result<void> take(Position position) {
        const std::optional<VersionInfo> info = store_.at(position);
        if (!info) {
            met_erased_ = true;
            return {};
        }
        const auto known = places_.find(info->resource);
        if (known == places_.end()) {
            const Result<storage::StoredVersion> stored = store_.load(*info);
            if (!stored && stored.error().code == Errc::not_found) {
                met_erased_ = true;
                return {};
            }
            if (!stored) {
                return stored.error();
            }
            places_.emplace(info->resource, written_.size());
            written_.push_back({std::string(stored->id), *info, position, {}});
            return {};
        }
        Written& one = written_[known->second];
        const auto before = store_.current(info->type, one.id, Position{position.value - 1});
        if (before && before->position > one.last) {
            one.between = before;
        }
        one.last = position;
        return {};
    }

    void judge(const Written& one) {
        std::string name = resource_name(one.first.type, one.id);
        const auto now = store_.current(one.first.type, one.id);
        if (!now) {
            met_erased_ = true;
            return;
        }
        if (now->position > one.last) {
            conflicts_.push_back(fmt::format("{} has version {} by now", name, now->version.value));
            return;
        }
        if (one.between) {
            conflicts_.push_back(
                fmt::format("Version {} of {}, in between, was written by another request",
                            one.between->version.value, name));
            return;
        }
        std::optional<VersionInfo> before;
        if (one.first.position.value > 1) {
            before = store_.current(one.first.type, one.id, Position{one.first.position.value - 1});
        }
        // None means that it did not exist, unless versions were erased. History bundles may skip numbers.
        if (!before && one.first.version.value != 1 &&
            store_.head(one.first.type, one.id).erased_through.value != 0) {
            conflicts_.push_back(fmt::format("What {} was before version {} is no longer stored",
                                             name, one.first.version.value));
            return;
        }
        if (before && before->deletion) {
            before.reset();
        }
        if (before || !now->deletion) {
            steps_.push_back({std::move(name), *now, before});
        }
    }

    const storage::Store& store_;
    std::unordered_map<std::uint32_t, std::size_t>
        places_;  ///< in written_, by VersionInfo::resource
    std::vector<Written> written_;
    std::vector<Step> steps_;
    std::vector<std::string> conflicts_;
    bool met_erased_ = false;
};

Error conflict(const std::vector<std::string>& conflicts) {
    Error error{Errc::conflict, conflicts.front()};
    for (std::size_t i = 1; i < std::min(conflicts.size(), kConflictsToldMax); ++i) {
        error.others.push_back({Errc::conflict, conflicts[i]});
    }
    return error;
}

/// The steps as a transaction: all or nothing, each on the condition that the resource has not changed.
asio::awaitable<Result<std::string>> transaction_of(const Service& service, Turns& turns,
                                                    const std::vector<Step>& steps) {
    std::string out = R"({"resourceType":"Bundle","type":"transaction","entry":[)";
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (i % kFetchedAtOnce == 0) {
            std::vector<VersionInfo> versions;
            for (std::size_t j = i; j < std::min(steps.size(), i + kFetchedAtOnce); ++j) {
                if (steps[j].back_to) {
                    versions.push_back(*steps[j].back_to);
                }
            }
            co_await turns.fetched(versions);
        }
        const Step& step = steps[i];
        out += out.ends_with('[') ? "{" : ",{";
        if (step.back_to) {
            const Result<storage::StoredVersion> stored = service.store().load(*step.back_to);
            if (!stored) {
                co_return stored.error();
            }
            out += fmt::format(R"("resource":{},)", stored->body);
        }
        out += fmt::format(R"("request":{{"method":"{}","url":"{}","ifMatch":"W/\"{}\""}}}})",
                           step.back_to ? "PUT" : "DELETE", step.name, step.now.version.value);
        if (out.size() > service.config().limits.max_body) {
            co_return Error{Errc::too_costly, "This is too much to revert at once"};
        }
    }
    co_return out + "]}";
}

/// Executes the steps, or checks whether they would succeed. 200 with its audit trace, or the error.
asio::awaitable<Response> take_back(const Service& service, const Request& request,
                                    const std::vector<Step>& steps, bool dry_run, Turns& turns,
                                    std::chrono::steady_clock::time_point end) {
    const Result<std::string> bundle = co_await transaction_of(service, turns, steps);
    if (!bundle) {
        co_return bundle.error();
    }
    Request submitted = request;
    submitted.path = "/";
    submitted.query = {};
    submitted.headers.clear();
    submitted.body = *bundle;
    json::Parser parser(kJsonWrappedDepthMax);
    const Result<json::Document> parsed = parse_submitted(service.config(), parser, submitted.body);
    if (!parsed) {
        co_return parsed.error();
    }
    Response written = co_await run_transaction(
        service, submitted, *parsed, end, {.resolves = false, .rehearsed = dry_run, .sent = false});
    if (written.failure && written.status == 400) {
        // Another write came first, or the result would be invalid: nothing has changed.
        written.failure->code = Errc::conflict;
        co_return *written.failure;
    }
    if (written.status != 200) {
        co_return written;
    }
    Response response;
    response.position = written.position;
    response.entries = std::move(written.entries);
    co_return response;
}

/// In turns, but without a time limit: what was done must be reported. Lifetime: the arguments outlive the await.
asio::awaitable<std::string> parameters_of(const std::vector<Step>& steps, bool done,
                                           Turns& turns) {
    ParametersWriter out;
    out.reserve((steps.size() + 1) * kStepToldBytes);
    out.add_flag("done", done);
    out.add("count", "valueInteger", std::to_string(steps.size()));
    for (const Step& step : steps) {
        out.begin_parts("resource");
        out.add_text("reference", "valueString", step.name);
        out.add_text("version", "valueString", std::to_string(step.now.version.value));
        if (step.back_to) {
            out.add_text("backTo", "valueString", std::to_string(step.back_to->version.value));
        }
        out.end_parts();
        if (turns.pace().is_over()) {
            co_await turns.give_way();
        }
    }
    co_return out.resource();
}

}  // namespace

asio::awaitable<Response> undo_operation(const Service& service, const Request& request,
                                         const Target& /*target*/) {
    const Result<UndoAsked> asked = read_undo_asked(service, request);
    if (!asked) {
        co_return asked.error();
    }
    if (service.config().read_only && !asked->dry_run) {
        co_return Error{Errc::no_store};
    }
    const auto end = service.request_end();
    Turns turns(*request.loop, end);
    std::vector<Range> ranges{asked->range};
    if (!asked->request_id.empty()) {
        Result<std::vector<Range>> found = co_await commits_of(service.store(), *asked, turns);
        if (!found && found.error().code == Errc::not_found && !asked->dry_run) {
            // The id is gone with what was erased: the request may repeat one whose bytes are still there.
            const Result<void> erased = co_await check_erased(service, request);
            if (!erased) {
                co_return erased.error();
            }
        }
        if (!found) {
            co_return found.error();
        }
        ranges = *std::move(found);
    }
    UndoPlan plan(service);
    const Result<void> made = co_await plan.make(ranges, turns);
    if (!made) {
        co_return made.error();
    }
    if (!plan.conflicts().empty()) {
        co_return conflict(plan.conflicts());
    }
    Response response;
    // A read-only server refuses the entries of any transaction.
    if (!service.config().read_only && !plan.steps().empty()) {
        response = co_await take_back(service, request, plan.steps(), asked->dry_run, turns, end);
        if (response.status != 200) {
            co_return response;
        }
    }
    if (plan.met_erased() && !asked->dry_run) {
        const Result<void> erased = co_await check_erased(service, request);
        if (!erased) {
            Response left(erased.error());
            left.entries = std::move(response.entries);
            co_return left;
        }
    }
    std::string told = co_await parameters_of(plan.steps(), !asked->dry_run, turns);
    response.body = Body(std::move(told));
    co_return response;
}

}  // namespace annals::core
