#include "core/bulk/import_job.h"

#include "codec/json/resource.h"
#include "core/base/ids.h"
#include "core/base/text.h"
#include "core/bulk/import_line.h"
#include "core/bulk/import_task.h"
#include "core/bulk/line_reader.h"
#include "core/bulk/ndjson_files.h"
#include "core/bulk/stop_grace.h"
#include "core/bulk/taken_lines.h"
#include "core/interactions/history_answer.h"
#include "core/interactions/history_bundle.h"
#include "core/interactions/history_bundle_entry.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/write.h"
#include "core/jobs/job_folder.h"
#include "core/outcome.h"
#include "core/own_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace annals::core {

namespace {

using Status = storage::Submission::Status;

/// Size of a window of lines after which durability is awaited; two windows are under way at a time.
constexpr std::size_t kLinesPerWindow = 1024;
constexpr std::size_t kBytesPerWindow = 4 << 20;

/// Size of a group of history entries that are submitted together.
constexpr std::size_t kHistoryEntriesMax = 1000;
constexpr std::size_t kHistoryBytesMax = 8 << 20;

constexpr std::chrono::seconds kCheckpointInterval{2};
constexpr std::chrono::milliseconds kImportPause{200};

constexpr std::uint64_t kErrorFileBytesMax = 128 << 20;

/// The beginning of a gzip file, which is refused: it has no line offsets from which a restart could continue.
constexpr std::string_view kPackedFileMark = "\x1f\x8b";

class ImportJob {
  public:
    ImportJob(const Service& service, JobRun& run)
        : service_(service),
          store_(service.store()),
          run_(run),
          stop_grace_(run, service.config()),
          files_(run, kErrorFileBytesMax),
          loop_(store_),
          taken_(store_) {
        request_.base_url = run.order().base_url;
        request_.request_id = run.id();
    }

    Result<JobResult> work() {
        ANNALS_TRY(task_, parse_import_task(run_.order().task));
        counts_.resize(task_.inputs.size());
        ANNALS_TRY_VOID(begin());
        while (input_ < task_.inputs.size()) {
            ANNALS_TRY_VOID(read_input());
            ++input_;
            offset_ = 0;
            line_ = 0;
            ANNALS_TRY_VOID(checkpoint());
        }
        return finish();
    }

  private:
    // ---- progress ----

    Result<void> begin() {
        if (run_.saved().empty()) {
            begun_ = now();
            return checkpoint();
        }
        json::Parser parser;
        ANNALS_TRY(const json::Document saved, parser.parse(run_.saved()));
        const json::Value root = saved.root();
        ANNALS_TRY(begun_, parse_instant(root["begun"].string()));
        ANNALS_TRY(input_, saved_number(root["input"], "input"));
        ANNALS_TRY(offset_, saved_number(root["offset"], "offset"));
        ANNALS_TRY(line_, saved_number(root["line"], "line"));
        Position position;
        ANNALS_TRY(position.value, saved_number(root["position"], "position"));
        if (store_.last_position() < position) {
            // Continuing would silently leave out lines that were counted as imported.
            return Error{
                Errc::conflict,
                fmt::format("The store ends at position {}, but was at {} when the progress of the "
                            "import was last saved: it was restored to an earlier point, or lost "
                            "its newest writes in a power cut. Import the files again",
                            store_.last_position().value, position.value)};
        }
        taken_.begin(position);
        std::size_t i = 0;
        for (const json::Value count : root["counts"].elements()) {
            if (i < counts_.size()) {
                ANNALS_TRY(counts_[i++], saved_number(count, "counts"));
            }
        }
        last_checkpoint_ = std::chrono::steady_clock::now();
        return files_.restore(root["files"]);
    }

    // Waits until everything read so far is durable, then saves the progress.
    Result<void> checkpoint() {
        ANNALS_TRY_VOID(submit_history());
        ANNALS_TRY_VOID(settle(last_ticket_));
        std::string counts;
        for (const std::uint64_t count : counts_) {
            counts += fmt::format("{}{}", counts.empty() ? "" : ",", count);
        }
        ANNALS_TRY(const std::string files, files_.checkpoint());
        ANNALS_TRY_VOID(run_.save(fmt::format(
            R"({{"begun":"{}","input":{},"offset":{},"line":{},"position":{},"counts":[{}],"files":{}}})",
            format_instant(begun_), input_, offset_, line_, taken_.position().value, counts,
            files)));
        last_checkpoint_ = std::chrono::steady_clock::now();
        return {};
    }

    Result<JobResult> finish() {
        JobResult result;
        result.time = begun_;
        for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
            const ImportTask::Input& input = task_.inputs[i];
            result.files.push_back({.part = "output",
                                    .type = input.type.empty() ? "Resource" : input.type,
                                    .name = {},
                                    .count = counts_[i],
                                    .input = input.name});
            if (input.uploaded) {
                static_cast<void>(run_.files().remove(run_.path(input.name)));
            }
        }
        ANNALS_TRY(std::vector<JobFile> errors, files_.finish());
        std::move(errors.begin(), errors.end(), std::back_inserter(result.files));
        return result;
    }

    // ---- lines ----

    const ImportTask::Input& input() const { return task_.inputs[input_]; }

    Result<void> read_input() {
        const std::string path =
            input().uploaded ? run_.path(input().name)
                             : fmt::format("{}/{}", import_folder(service_.config()), input().name);
        auto file = run_.files().open(path, storage::FileSystem::Mode::read);
        if (!file && file.error().code == Errc::no_store) {
            return std::move(file.error());  // no descriptors are left, which passes
        }
        if (!file) {
            return add_error({Errc::not_found, "The file cannot be opened"}, 0);
        }
        ANNALS_TRY(const std::uint64_t size, (*file)->size());
        if (size < offset_) {
            // It must be another file: there is no way to tell where to continue.
            return add_error(
                {Errc::invalid, "The file has become shorter than the part already read"}, 0);
        }
        LineReader reader(*std::move(file), offset_,
                          service_.config().limits.max_body + kBundleWrapBytes);
        std::size_t lines = 0;
        std::uint64_t window_begin = offset_;
        for (;;) {
            std::string_view line;
            ANNALS_TRY(const bool more, reader.next(line));
            if (!more) {
                return submit_history();
            }
            ++line_;
            if (line_ == 1 && line.starts_with(kByteOrderMark)) {
                line.remove_prefix(kByteOrderMark.size());
            }
            if (line_ == 1 && line.starts_with(kPackedFileMark)) {
                return add_error(
                    {Errc::invalid, "The file is compressed with gzip: decompress it first"}, 0);
            }
            if (reader.too_long()) {
                ANNALS_TRY_VOID(add_error({Errc::body_too_large, "The line is too long"}, line_));
            } else if (line.find_first_not_of(" \t") != std::string_view::npos) {
                ANNALS_TRY_VOID(take(line));
            }
            offset_ = reader.offset();
            // Validating a line may take most of a second, and a file may end before its first window does.
            if (++lines < kLinesPerWindow && offset_ - window_begin < kBytesPerWindow &&
                !stop_grace_.is_over()) {
                continue;
            }
            lines = 0;
            window_begin = offset_;
            ANNALS_TRY_VOID(end_window(size));
        }
    }

    Result<void> end_window(std::uint64_t size) {
        if (run_.stopping()) {
            static_cast<void>(checkpoint());
            return job_stopped();
        }
        store_.flush();
        ANNALS_TRY_VOID(settle(window_ticket_));
        window_ticket_ = last_ticket_;
        const std::uint64_t percent = size == 0 ? 100 : offset_ * 100 / size;
        run_.say(fmt::format("{}% of file {} of {} ({} lines)", percent, input_ + 1,
                             task_.inputs.size(), line_));
        return std::chrono::steady_clock::now() - last_checkpoint_ >= kCheckpointInterval
                   ? checkpoint()
                   : Result<void>();
    }

    Result<void> take(std::string_view text) {
        Result<ImportLine> line =
            read_import_line(service_.config(), text, input().type, task_.keep_versions);
        if (!line) {
            return add_error(line.error(), line_);
        }
        if (!line->entry.empty()) {
            return add_history(std::move(line->entry));
        }
        ANNALS_TRY_VOID(submit_history());  // keeps the order of the lines
        return put(line->type, std::move(line->resource));
    }

    // ---- resources ----

    Result<void> put(TypeId type, json::Document document) {
        const json::Value id_value = document.root()["id"];
        const std::string id = id_value ? id_value.string() : id_of_line(run_.id(), input_, line_);
        if (!is_resource_id(id)) {
            return add_error({Errc::value, fmt::format("'{}' is not a valid id", id.substr(0, 100)),
                              fmt::format("{}.id", resource_type_name(type))},
                             line_);
        }
        if (taken_.reading_again()) {
            const auto facts = json::read_facts(document.root());
            if (facts && taken_.has(type, id, &*facts)) {
                ++counts_[input_];
                return {};
            }
        }
        SubmittedResource resource;
        if (Result<void> fit = resource.take(service_, request_, type, std::move(document)); !fit) {
            return add_error(fit.error(), line_);
        }
        if (Result<void> fit = resource.check_whole(); !fit) {
            return add_error(fit.error(), line_);
        }
        storage::VersionWrite write;
        write.type = type;
        write.id = id;
        write.method = id_value ? storage::Method::put : storage::Method::post;
        for (;;) {
            const storage::Submission submission = resource.submit(service_, write);
            switch (submission.status) {
                case Status::accepted:
                    last_ticket_ = submission.ticket;
                    taken_.note_written();
                    ++counts_[input_];
                    return {};
                case Status::requirement_failed:
                    if (last_ticket_ != settled_) {
                        ANNALS_TRY_VOID(settle(last_ticket_));  // the target may be under way
                        continue;
                    }
                    return add_error(resource.missing_reference(submission.failed), line_);
                case Status::too_large:
                case Status::no_number:
                    return add_error(submission_error(submission.status), line_);
                case Status::busy:
                    ANNALS_TRY_VOID(settle(submission.ticket));
                    continue;
                case Status::overloaded:
                    ANNALS_TRY_VOID(settle(last_ticket_));
                    ANNALS_TRY_VOID(pause());
                    continue;
                default:
                    return submission_error(submission.status);
            }
        }
    }

    // ---- history ----

    Result<void> add_history(std::string entry) {
        if (taken_.reading_again() && was_taken(entry)) {
            ++counts_[input_];
            return {};
        }
        history_bytes_ += entry.size();
        history_.push_back({line_, std::move(entry)});
        return history_.size() == kHistoryEntriesMax || history_bytes_ >= kHistoryBytesMax
                   ? submit_history()
                   : Result<void>();
    }

    bool was_taken(std::string_view text) {
        json::Parser parser(kJsonWrappedDepthMax);
        const Result<json::Document> document = parse_submitted(service_.config(), parser, text);
        HistoryEntry entry;
        return document && read_history_entry(document->root(), entry) && taken_.has(entry);
    }

    Result<void> submit_history() {
        if (history_.empty()) {
            return {};
        }
        std::string text = R"({"resourceType":"Bundle","type":"history","entry":[)";
        for (std::size_t i = 0; i < history_.size(); ++i) {
            text += i == 0 ? "" : ",";
            text += history_[i].text;
        }
        text += "]}";
        json::Parser parser(kJsonWrappedDepthMax);
        ANNALS_TRY(const json::Document bundle, parse_submitted(service_.config(), parser, text));
        for (;;) {
            const Result<Response> response =
                loop_.run("import", request_, apply_history(service_, request_, bundle),
                          [this] { return stop_grace_.is_over(); });
            if (response && response->status == 200) {
                return judge_history(response->body.str());
            }
            if (!response && response.error().code == Errc::timeout) {
                return job_stopped();  // TakenLines finds what was written when it goes on
            }
            if (response) {
                // Some entries may be written. Once they are visible, going back to the last checkpoint takes none twice.
                ANNALS_TRY_VOID(check_store());
                ANNALS_TRY_VOID(settle(store_.last_ticket()));
                ANNALS_TRY_VOID(pause());
                return Error{Errc::overloaded};
            }
            ANNALS_TRY_VOID(pause());
        }
    }

    Result<void> judge_history(const std::string& answer) {
        using Kind = HistoryVerdict::Kind;
        ANNALS_TRY(std::vector<HistoryVerdict> verdicts, read_history_answer(answer));
        for (std::size_t i = 0; i < std::min(verdicts.size(), history_.size()); ++i) {
            HistoryVerdict& verdict = verdicts[i];
            const bool refused = verdict.kind == Kind::refused;
            if (refused || verdict.kind == Kind::differs) {
                ANNALS_TRY_VOID(add_issue({refused ? "error" : "warning", verdict.code,
                                           std::move(verdict.diagnostics), ""},
                                          history_[i].line));
            }
            counts_[input_] += refused ? 0 : 1;
            if (verdict.kind == Kind::stored) {
                taken_.note_written();
            }
        }
        history_.clear();
        history_bytes_ = 0;
        return {};
    }

    // ---- durability and errors ----

    // Waits until everything up to `ticket` is durable. If commits were dropped for lack of space, the import goes back to the
    // last checkpoint.
    Result<void> settle(storage::Ticket ticket) {
        if (ticket == storage::Ticket{} || ticket <= settled_) {
            return {};
        }
        ANNALS_TRY_VOID(store_.wait(ticket));
        settled_ = ticket;
        return {};
    }

    Result<void> check_store() {
        if (store_.write_state() == storage::WriteState::ready) {
            return {};
        }
        return submission_error(Status::no_space);
    }

    Result<void> pause() {
        std::this_thread::sleep_for(kImportPause);
        return run_.stopping() ? Result<void>(job_stopped()) : Result<void>();
    }

    Result<void> add_error(const Error& error, std::uint64_t line) {
        const ErrorMeaning meaning = meaning_of(error.code);
        return add_issue(
            {"error", meaning.issue_code,
             error.detail.empty() ? std::string(meaning.text) : error.detail, error.expression},
            line);
    }

    Result<void> add_issue(Issue issue, std::uint64_t line) {
        issue.diagnostics = line == 0
                                ? fmt::format("{}: {}", input().name, issue.diagnostics)
                                : fmt::format("{}:{}: {}", input().name, line, issue.diagnostics);
        return files_.add(files_.series("error", "OperationOutcome", "error"),
                          outcome_json({std::move(issue)}));
    }

    struct HistoryLine {
        std::uint64_t line = 0;
        std::string text;
    };

    const Service& service_;
    storage::Store& store_;
    JobRun& run_;
    StopGrace stop_grace_;
    NdjsonFiles files_;
    ImportTask task_;
    Request request_;
    OwnLoop loop_;
    Instant begun_;

    std::size_t input_ = 0;
    std::uint64_t offset_ = 0;  // of the next line in the input
    std::uint64_t line_ = 0;    // lines of the input read so far
    std::vector<std::uint64_t> counts_;
    std::vector<HistoryLine> history_;
    std::size_t history_bytes_ = 0;

    storage::Ticket last_ticket_;
    storage::Ticket window_ticket_;
    storage::Ticket settled_;
    std::chrono::steady_clock::time_point last_checkpoint_ = std::chrono::steady_clock::now();

    TakenLines taken_;
};

}  // namespace

Result<JobResult> import_job(const Service& service, JobRun& run) {
    for (;;) {
        Result<JobResult> result = ImportJob(service, run).work();
        const storage::WriteState state = service.store().write_state();
        const bool passes = !result && (result.error().code == Errc::no_store ||
                                        result.error().code == Errc::overloaded);
        if (!passes || run.stopping() || state == storage::WriteState::failed ||
            state == storage::WriteState::read_only) {
            return result;
        }
        // Tries again from the last checkpoint.
        if (result.error().code == Errc::no_store) {
            run.say("waiting for disk space or file descriptors");
            for (int i = 0; i < 5 && !run.stopping(); ++i) {
                std::this_thread::sleep_for(kImportPause);
            }
        }
    }
}

}  // namespace annals::core
