#include "core/operations/undo.h"

#include "codec/json/document.h"
#include "core/interactions/answer.h"
#include "core/interactions/bundle.h"
#include "core/interactions/turns.h"
#include "core/operations/input.h"
#include "core/outcome.h"

#include <fmt/format.h>

#include <unordered_set>

namespace annals::core {

namespace {

using storage::VersionInfo;

/// So many conflicts are named.
constexpr std::size_t kConflictsToldMax = 100;

/// What is to become of one resource that was written in the range.
struct Step {
    std::string name;  ///< "Patient/1"
    VersionInfo now;
    std::optional<VersionInfo> back_to;  ///< none: it was not there, or deleted
};

struct Range {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    bool dry_run = false;
};

Result<Range> read_range(const Service& service, const Request& request) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"from", "to", "position", "dryRun"}));
    ANNALS_TRY(const auto from, input.number("from"));
    ANNALS_TRY(const auto to, input.number("to"));
    ANNALS_TRY(const auto position, input.number("position"));
    ANNALS_TRY(const auto dry_run, input.boolean("dryRun"));
    if (position ? from || to : !from) {
        return Error{Errc::required, "Either position or from, and if need be to, is required", ""};
    }
    const std::uint64_t last = service.store().last_position().value;
    Range range;
    range.from = position ? *position : *from;
    range.to = position ? *position : to.value_or(last);
    range.dry_run = dry_run.value_or(false);
    if (range.from == 0 || range.from > range.to || range.to > last) {
        return Error{Errc::invalid, fmt::format("There are the positions 1 to {}", last), ""};
    }
    if (range.to - range.from >= kUndoPositionsMax) {
        return Error{Errc::too_costly,
                     fmt::format("More than {} positions at once", kUndoPositionsMax), ""};
    }
    return range;
}

/// The steps back, of each resource one; what has been written again since goes to `conflicts`.
class Plan {
  public:
    Plan(const Service& service, const Range& range) : store_(service.store()), range_(range) {}

    asio::awaitable<Result<void>> make(Turns& turns) {
        for (std::uint64_t at = range_.from; at <= range_.to; ++at) {
            if (const auto info = store_.at(Position{at})) {
                Result<void> done = take(*info);
                if (!done) {
                    co_return std::move(done.error());
                }
            }
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

  private:
    Result<void> take(const VersionInfo& info) {
        const Result<storage::StoredVersion> stored = store_.load(info);
        if (!stored && stored.error().code == Errc::not_found) {
            return {};  // erased a moment ago
        }
        if (!stored) {
            return Error(stored.error());
        }
        std::string name = resource_name(info.type, stored->id);
        if (!seen_.insert(name).second) {
            return {};
        }
        const auto now = store_.current(info.type, stored->id);
        if (!now) {
            return {};
        }
        if (now->position.value > range_.to) {
            conflicts_.push_back(
                fmt::format("{} is at version {} by now", name, now->version.value));
            return {};
        }
        std::optional<VersionInfo> before;
        if (range_.from > 1) {
            before = store_.current(info.type, stored->id, Position{range_.from - 1});
        }
        // The first in the range follows it, unless versions are gone.
        if ((before ? before->version.value : 0) + 1 != info.version.value) {
            conflicts_.push_back(fmt::format("What {} was before version {} is not kept any more",
                                             name, info.version.value));
            return {};
        }
        if (before && before->deletion) {
            before.reset();
        }
        if (before || !now->deletion) {
            steps_.push_back({std::move(name), *now, before});
        }
        return {};
    }

    const storage::Store& store_;
    const Range& range_;
    std::unordered_set<std::string> seen_;
    std::vector<Step> steps_;
    std::vector<std::string> conflicts_;
};

Response conflict(const std::vector<std::string>& conflicts, const Request& request) {
    Error error{Errc::conflict, conflicts.front(), ""};
    for (std::size_t i = 1; i < std::min(conflicts.size(), kConflictsToldMax); ++i) {
        error.others.push_back({Errc::conflict, conflicts[i], ""});
    }
    return outcome_response(error, request);
}

/// The steps as a transaction: all of it or nothing, if each resource is still as it was looked at.
Result<std::string> transaction_of(const Service& service, const std::vector<Step>& steps) {
    std::string out = R"({"resourceType":"Bundle","type":"transaction","entry":[)";
    for (const Step& step : steps) {
        out += out.ends_with('[') ? "{" : ",{";
        if (step.back_to) {
            ANNALS_TRY(const storage::StoredVersion stored, service.store().load(*step.back_to));
            out += fmt::format(R"("resource":{},)", stored.body);
        }
        out += fmt::format(R"("request":{{"method":"{}","url":"{}","ifMatch":"W/\"{}\""}}}})",
                           step.back_to ? "PUT" : "DELETE", step.name, step.now.version.value);
        if (out.size() > service.config().limits.max_body) {
            return Error{Errc::too_costly, "What is to be taken back is too much at once", ""};
        }
    }
    return out + "]}";
}

std::string parameters_of(const std::vector<Step>& steps, bool done) {
    std::string out = fmt::format(
        R"({{"resourceType":"Parameters","parameter":[{{"name":"done","valueBoolean":{}}},)"
        R"({{"name":"count","valueInteger":{}}})",
        done, steps.size());
    for (const Step& step : steps) {
        out +=
            fmt::format(R"(,{{"name":"resource","part":[{{"name":"reference","valueString":"{}"}},)"
                        R"({{"name":"version","valueString":"{}"}})",
                        step.name, step.now.version.value);
        if (step.back_to) {
            out += fmt::format(R"(,{{"name":"backTo","valueString":"{}"}})",
                               step.back_to->version.value);
        }
        out += "]}";
    }
    return out + "]}";
}

}  // namespace

asio::awaitable<Response> undo_operation(const Service& service, const Request& request,
                                         const Target& /*target*/) {
    const Result<Range> range = read_range(service, request);
    if (!range) {
        co_return outcome_response(range.error(), request);
    }
    Turns turns(*request.loop, service.config().limits.request_timeout);
    Plan plan(service, *range);
    const Result<void> made = co_await plan.make(turns);
    if (!made) {
        co_return outcome_response(made.error(), request);
    }
    if (!plan.conflicts().empty()) {
        co_return conflict(plan.conflicts(), request);
    }
    if (!range->dry_run && !plan.steps().empty()) {
        const Result<std::string> bundle = transaction_of(service, plan.steps());
        if (!bundle) {
            co_return outcome_response(bundle.error(), request);
        }
        Request submitted = request;
        submitted.path = "/";
        submitted.query = {};
        submitted.headers.clear();
        submitted.body = *bundle;
        Response written = co_await submit_bundle(service, submitted, Target());
        if (written.status != 200) {
            // Someone was faster, or what it would leave is refused: nothing has changed.
            if (written.failure && written.status == 400) {
                written.failure->code = Errc::conflict;
                co_return outcome_response(*written.failure, request);
            }
            co_return written;
        }
    }
    Response response;
    response.body = Body(parameters_of(plan.steps(), !range->dry_run));
    co_return response;
}

}  // namespace annals::core
