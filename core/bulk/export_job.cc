#include "core/bulk/export_job.h"

#include "codec/json/resource.h"
#include "core/bulk/export_links.h"
#include "core/bulk/export_moment.h"
#include "core/bulk/export_scope.h"
#include "core/bulk/export_task.h"
#include "core/bulk/ndjson_files.h"
#include "core/bulk/stop_grace.h"
#include "core/definitions.h"
#include "core/interactions/history_bundle_entry.h"
#include "core/jobs/job_folder.h"
#include "core/outcome.h"
#include "core/search/compartments.h"
#include "core/search/execute.h"
#include "core/search/past_runs.h"
#include "core/service.h"
#include "core/subset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

namespace annals::core {

namespace {

/// Positions of the log, matches or versions that are processed between two steps.
constexpr std::uint64_t kPositionsPerStep = 1024;
constexpr std::size_t kMatchesPerStep = 16'384;
constexpr std::size_t kVersionsPerStep = 1024;

/// The most that has to be written again after a restart.
constexpr std::uint64_t kBytesPerCheckpoint = 256 << 20;
constexpr std::chrono::seconds kTimePerCheckpoint{10};

constexpr std::size_t kDeletionsPerBundle = 100;

class ExportJob {
  public:
    ExportJob(const Service& service, JobRun& run)
        : service_(service),
          store_(service.store()),
          run_(run),
          stop_grace_(run, service.config()) {
        files_.emplace(run, service.config().export_max_file, &stop_grace_);
    }

    Result<JobResult> work() {
        ANNALS_TRY(task_, parse_export_task(run_.order().task));
        for (const std::string& list : task_.elements) {
            ANNALS_TRY_VOID(read_elements(list, subset_.elements));
        }
        ANNALS_TRY_VOID(begin());
        ANNALS_TRY_VOID(take_scope());
        if (pass_ == 0) {
            if (after_.value == 0) {
                for (const std::string& warning : scope_.warnings) {
                    ANNALS_TRY_VOID(add_outcome("information", "informational", warning));
                }
            }
            ANNALS_TRY_VOID(scan_log());
            next_pass();
        }
        ANNALS_TRY_VOID(take_searched());
        ANNALS_TRY_VOID(add_deletions());
        ANNALS_TRY(std::vector<JobFile> files, files_->finish());
        return JobResult{moment_.time, std::move(files)};
    }

  private:
    // ---- progress ----

    Result<void> begin() {
        parameters_ = service_.indexing().parameters();
        last_checkpoint_ = std::chrono::steady_clock::now();
        if (run_.saved().empty()) {
            return begin_anew();
        }
        json::Parser parser;
        ANNALS_TRY(const json::Document saved, parser.parse(run_.saved()));
        const json::Value root = saved.root();
        ANNALS_TRY(moment_.position.value, saved_number(root["position"], "position"));
        ANNALS_TRY(moment_.time, parse_instant(root["time"].string()));
        ANNALS_TRY(pass_, saved_number(root["pass"], "pass"));
        ANNALS_TRY(after_.value, saved_number(root["after"], "after"));
        ANNALS_TRY(resources_, saved_number(root["resources"], "resources"));
        if (moment_.position > store_.last_position()) {
            return begin_anew();  // the store was restored to an earlier state
        }
        snapshot_.emplace(store_, moment_.position);
        return files_->restore(root["files"]);
    }

    Result<void> begin_anew() {
        moment_ = take_moment(store_);
        if (task_.as_of) {
            if (*task_.as_of > moment_.position) {
                return Error{Errc::expired, "The store no longer has this state"};
            }
            moment_ = earlier_moment(store_, *task_.as_of, moment_);
        }
        snapshot_.emplace(store_, moment_.position);
        pass_ = 0;
        after_ = {};
        resources_ = 0;
        files_.emplace(run_, service_.config().export_max_file, &stop_grace_);
        series_.fill(nullptr);
        return checkpoint();
    }

    Result<void> checkpoint() {
        ANNALS_TRY_VOID(add_deletions());
        ANNALS_TRY(const std::string files, files_->checkpoint());
        last_checkpoint_ = std::chrono::steady_clock::now();
        bytes_at_checkpoint_ = files_->bytes();
        return run_.save(fmt::format(
            R"({{"position":{},"time":"{}","pass":{},"after":{},"resources":{},"files":{}}})",
            moment_.position.value, format_instant(moment_.time), pass_, after_.value, resources_,
            files));
    }

    // Between two steps: stops if that is requested, and saves a checkpoint if one is due.
    Result<void> step(std::uint64_t share_done, std::uint64_t share_of) {
        if (run_.stopping()) {
            // Else everything since the last checkpoint would be written again, as it is where this takes too long: a file for
            // each type has to be synced.
            static_cast<void>(checkpoint());
            return job_stopped();
        }
        if (files_->bytes() - bytes_at_checkpoint_ >= kBytesPerCheckpoint ||
            std::chrono::steady_clock::now() - last_checkpoint_ >= kTimePerCheckpoint) {
            ANNALS_TRY_VOID(checkpoint());
        }
        const std::uint64_t passes = scope_.searched.size() + 1;
        const std::uint64_t percent =
            (pass_ * 100 + (share_of == 0 ? 100 : share_done * 100 / share_of)) / passes;
        const std::string_view type =
            pass_ == 0 ? "all types" : resource_type_name(scope_.searched[pass_ - 1].type);
        run_.say(fmt::format("{}% ({}: {} resources in {} files)",
                             std::min<std::uint64_t>(percent, 99), type, resources_,
                             files_->file_count()));
        return {};
    }

    Result<void> take_scope() {
        ANNALS_TRY(scope_, scope_at_snapshot());
        if (snapshot_answers()) {
            return {};
        }
        if (task_.as_of) {
            return reach_back();
        }
        // While nothing held the snapshot, the index dropped what it needs: starts again at a new snapshot.
        ANNALS_TRY_VOID(begin_anew());
        ANNALS_TRY(scope_, scope_at_snapshot());
        return snapshot_answers() ? Result<void>() : search::expired_snapshot();
    }

    Result<ExportScope> scope_at_snapshot() {
        return find_scope(task_, *snapshot_, parameters_, service_.definitions().carried(),
                          run_.order().base_url, [this] { return run_.stopping(); });
    }

    // Rebuilds what the index no longer has from the bodies that were current at that position.
    Result<void> reach_back() {
        for (const TypeId type : types_looked_at()) {
            if (snapshot_->answers(type)) {
                continue;
            }
            search::PastRuns past(store_, parameters_, service_.config().base_url, type,
                                  moment_.position, search::kPastDocumentsOfJobMax);
            search::Pace pace(std::chrono::milliseconds(50));
            for (bool done = false; !done;) {
                if (run_.stopping()) {
                    return job_stopped();
                }
                run_.say(fmt::format("0% (the index of {})", resource_type_name(type)));
                pace.begin_turn();
                ANNALS_TRY(done, past.advance(pace));
            }
            snapshot_->use(type, past.runs());
        }
        return {};
    }

    void next_pass() {
        ++pass_;
        after_ = {};
    }

    std::vector<TypeId> types_looked_at() const {
        std::vector<TypeId> types = scope_.looked_at;
        for (const ExportScope::Searched& one : scope_.searched) {
            types.push_back(one.type);
        }
        if (scope_.of_patients && !scope_.patients) {
            types.push_back(search::patient_type());  // its compartments are exported
        }
        return types;
    }

    bool snapshot_answers() {
        // Also holds the snapshot's index from now on.
        return std::ranges::all_of(types_looked_at(),
                                   [&](TypeId type) { return snapshot_->answers(type); });
    }

    bool is_in_time(const storage::VersionInfo& info) const {
        return (!task_.since || info.instant >= *task_.since) &&
               (!task_.until || info.instant < *task_.until);
    }

    // ---- the log: the types that are exported completely, and deletions ----

    Result<void> scan_log() {
        const bool deletions = task_.since.has_value() || task_.history;
        if (!deletions && !std::ranges::any_of(scope_.whole, [](bool is) { return is; })) {
            return {};
        }
        const storage::LogScan what{.bound = moment_.position,
                                    .every_version = task_.history,
                                    .since = task_.since,
                                    .before = task_.until};
        std::vector<storage::VersionInfo> found;
        while (after_ < moment_.position) {
            Position after = after_;
            store_.scan(what, after, kPositionsPerStep, found);
            for (const storage::VersionInfo& info : found) {
                if (info.deletion) {
                    if (deletions && scope_.types[info.type.value]) {
                        ANNALS_TRY_VOID(take_deletion(info));
                    }
                } else if (scope_.whole[info.type.value]) {
                    ANNALS_TRY_VOID(add_version(info));
                }
            }
            after_ = after;
            ANNALS_TRY_VOID(step(after_.value, moment_.position.value));
        }
        return {};
    }

    Result<void> take_deletion(const storage::VersionInfo& info) {
        const Result<storage::StoredVersion> deletion = store_.load(info);
        if (!deletion) {
            return add_damage(info, deletion.error());
        }
        // With all versions, there may be deletions of resources that were created again.
        if (task_.history) {
            const auto newest = store_.current(info.type, deletion->id, moment_.position);
            if (!newest || newest->position != info.position) {
                return {};
            }
        }
        if (scope_.of_patients && !was_of_patients(*deletion)) {
            return {};
        }
        deletions_ += deletions_.empty() ? "" : ",";
        deletions_ += fmt::format(R"({{"request":{{"method":"DELETE","url":"{}/{}"}}}})",
                                  resource_type_name(info.type), deletion->id);
        return ++deletion_count_ == kDeletionsPerBundle ? add_deletions() : Result<void>();
    }

    // Judged by the resource before its deletion: whether it refers to one of the patients anywhere. Reporting one deletion too
    // many does no harm; leaving one out would.
    bool was_of_patients(const storage::StoredVersion& deletion) {
        if (deletion.info.type == search::patient_type()) {
            return !scope_.patients || scope_.patients->contains(deletion.id);
        }
        storage::HistoryQuery query;
        query.type = deletion.info.type;
        query.id = deletion.id;
        query.bound = deletion.info.position;
        query.count = 16;
        for (const storage::VersionInfo& info : store_.history(query).versions) {
            if (info.deletion) {
                continue;
            }
            const Result<storage::StoredVersion> before = store_.load(info);
            const Result<json::Document> document =
                before ? parser_.parse(before->body) : Result<json::Document>(before.error());
            return document && refers_to_patients(document->root());
        }
        return !scope_.patients;  // its content is unknown
    }

    bool refers_to_patients(json::Value resource) const {
        std::vector<json::ReferenceSite> sites;
        json::find_references(resource, sites);
        return std::ranges::any_of(sites, [&](const json::ReferenceSite& site) {
            const std::string text = site.value.string();
            const std::optional<ResourceUrl> url = parse_resource_url(text);
            return site.kind == json::ReferenceSite::Kind::reference && url &&
                   url->type == search::patient_type() &&
                   (!scope_.patients || scope_.patients->contains(url->id));
        });
    }

    Result<void> add_deletions() {
        if (deletion_count_ == 0) {
            return {};
        }
        const std::string bundle = fmt::format(
            R"({{"resourceType":"Bundle","type":"transaction","entry":[{}]}})", deletions_);
        deletions_.clear();
        deletion_count_ = 0;
        return files_->add(files_->series("deleted", "Bundle", "deleted"), bundle);
    }

    // ---- searches ----

    Result<void> take_searched() {
        const std::vector<ExportScope::Searched>& all = scope_.searched;
        ExportLinks links(scope_, *parameters_);
        if (links.any() && pass_ <= all.size() && scope_.whole[search::patient_type().value]) {
            ANNALS_TRY_VOID(take_links(links, search::patient_type(), search::everything()));
        }
        // Passes completed before a restart are only repeated for their links.
        for (std::size_t i = links.any() ? 0 : pass_ - 1; i < all.size() && pass_ <= all.size();
             ++i) {
            const bool is_linked = all[i].link != ExportScope::Link::none;
            const search::Plan plan = is_linked ? links.plan(all[i]) : scope_.plan(all[i]);
            if (i + 1 == pass_) {
                const bool first_linked =
                    is_linked && (i == 0 || all[i - 1].link == ExportScope::Link::none);
                if (first_linked && after_.value == 0 && links.is_full()) {
                    ANNALS_TRY_VOID(add_outcome("warning", "too-costly",
                                                fmt::format("Some of the resources linked to these "
                                                            "are left out: there are more than {}",
                                                            search::kMatchesMax)));
                }
                ANNALS_TRY_VOID(write_searched(all[i].type, plan));
                next_pass();
            }
            if (links.any() && i + 1 < all.size()) {
                ANNALS_TRY_VOID(take_links(links, all[i].type, plan));
            }
        }
        return {};
    }

    Result<void> take_links(ExportLinks& links, TypeId type, const search::Plan& plan) {
        search::Execution execution(*snapshot_, type, plan);
        std::vector<search::Match> matches;
        Position after;
        do {
            execution.want({.after = after, .upwards = true, .limit = kMatchesPerStep});
            ANNALS_TRY(const bool done, execution.advance(search::Pace()));
            ANNALS_CHECK(done);
            matches.swap(execution.matches());
            links.take(matches);
            ANNALS_TRY_VOID(step(0, 1));
            if (!matches.empty()) {
                after = matches.back().position();
            }
        } while (matches.size() == kMatchesPerStep && !links.is_full());
        return {};
    }

    Result<void> write_searched(TypeId type, const search::Plan& plan) {
        search::Execution execution(*snapshot_, type, plan);
        std::vector<search::Match> matches;
        do {
            execution.want({.after = after_, .upwards = true, .limit = kMatchesPerStep});
            ANNALS_TRY(const bool done, execution.advance(search::Pace()));
            ANNALS_CHECK(done);
            matches.swap(execution.matches());
            for (std::size_t i = 0; i < matches.size(); ++i) {
                ANNALS_TRY_VOID(write_match(matches[i].position()));
                after_ = matches[i].position();
                if (i % kVersionsPerStep == kVersionsPerStep - 1) {
                    ANNALS_TRY_VOID(step(after_.value, moment_.position.value));
                }
            }
        } while (matches.size() == kMatchesPerStep);
        return step(1, 1);
    }

    Result<void> write_match(Position position) {
        const std::optional<storage::VersionInfo> info = store_.at(position);
        if (!info) {
            return {};  // erased a moment ago
        }
        if (task_.history) {
            return write_versions(*info);
        }
        return is_in_time(*info) ? add_version(*info) : Result<void>();
    }

    Result<void> write_versions(const storage::VersionInfo& newest) {
        const Result<storage::StoredVersion> stored = store_.load(newest);
        if (!stored) {
            return add_damage(newest, stored.error());
        }
        storage::HistoryQuery query;
        query.type = newest.type;
        query.id = stored->id;
        query.order = storage::HistoryOrder::oldest_first;
        query.bound = moment_.position;
        query.count = kVersionsPerStep;
        for (;;) {
            const storage::HistoryPage page = store_.history(query);
            for (const storage::VersionInfo& info : page.versions) {
                if (!info.deletion && is_in_time(info)) {
                    ANNALS_TRY_VOID(add_version(info));
                }
            }
            if (!page.more || page.versions.empty()) {
                return {};
            }
            query.after = page.versions.back();
        }
    }

    // ---- lines ----

    Result<void> add_version(const storage::VersionInfo& info) {
        const Result<storage::StoredVersion> version = store_.load(info);
        if (!version) {
            return add_damage(info, version.error());
        }
        NdjsonFiles::Series*& series = series_[info.type.value];
        if (series == nullptr) {
            const std::string_view type = resource_type_name(info.type);
            series = &files_->series("output", type, type);
        }
        ++resources_;
        if (subset_.whole()) {
            return files_->add(*series, version->body);
        }
        ANNALS_TRY(const json::Document document, parser_.parse(version->body));
        line_.clear();
        append_subset(document.root(), subset_, line_);
        return files_->add(*series, line_);
    }

    Result<void> add_damage(const storage::VersionInfo& info, const Error& error) {
        if (error.code == Errc::not_found) {
            return {};  // erased in the meantime
        }
        return add_outcome("error", "exception",
                           fmt::format("A {} cannot be read: the version at position {}",
                                       resource_type_name(info.type), info.position.value));
    }

    Result<void> add_outcome(std::string_view severity, std::string_view code,
                             const std::string& text) {
        return files_->add(files_->series("error", "OperationOutcome", "error"),
                           outcome_json({{severity, code, text, ""}}));
    }

    const Service& service_;
    storage::Store& store_;
    JobRun& run_;
    ExportTask task_;
    Subset subset_;
    StopGrace stop_grace_;
    std::optional<NdjsonFiles> files_;
    std::shared_ptr<const search::ParameterSet> parameters_;
    std::optional<search::Snapshot> snapshot_;
    ExportScope scope_;
    json::Parser parser_;
    std::string line_;
    std::array<NdjsonFiles::Series*, kResourceTypeCount> series_{};
    std::string deletions_;
    std::size_t deletion_count_ = 0;

    ExportMoment moment_;
    std::uint64_t pass_ = 0;  // 0: the log; from 1 on, the types in scope_.searched
    Position after_;          // in this pass, everything up to here is done
    std::uint64_t resources_ = 0;
    std::uint64_t bytes_at_checkpoint_ = 0;
    std::chrono::steady_clock::time_point last_checkpoint_;
};

}  // namespace

Result<JobResult> export_job(const Service& service, JobRun& run) {
    return ExportJob(service, run).work();
}

}  // namespace annals::core
