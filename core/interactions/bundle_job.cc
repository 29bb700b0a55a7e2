#include "core/interactions/bundle_job.h"

#include "codec/xml/reader.h"
#include "core/access.h"
#include "core/interactions/batch.h"
#include "core/interactions/bundle_entry.h"
#include "core/interactions/history_bundle.h"
#include "core/interactions/history_bundle_entry.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/transaction.h"
#include "core/jobs/access_log.h"
#include "core/jobs/answers.h"
#include "core/jobs/job_folder.h"
#include "core/outcome.h"
#include "core/own_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace annals::core {

namespace {

constexpr std::string_view kTypes[] = {"batch", "transaction", "history"};
constexpr std::string_view kBundleFile = "bundle.json";
constexpr std::string_view kDraftFile = "answer.tmp";
constexpr std::string_view kBegun = R"({"begun":true})";
constexpr std::string_view kToldOfItsEnd = R"({"begun":true,"told":true})";

/// The longest time until a job notices that it must stop.
constexpr std::chrono::milliseconds kJobStopPause{50};

/// How many bytes of the answer are written at a time.
constexpr std::size_t kSliceBytes = 1 << 20;

/// What is stored of the kick-off besides the Bundle and its sender.
struct BundleTask {
    BundleType type = BundleType::batch;
    std::uint64_t entries = 0;
    std::string prefer;
    std::string request_id;
    bool request_id_given = false;  ///< by the client
    std::vector<xml::UnreadableEntry> unreadable;
};

std::string task_json(const BundleTask& task) {
    std::string out = fmt::format(R"({{"type":"{}","entries":{},"prefer":)",
                                  kTypes[static_cast<std::size_t>(task.type)], task.entries);
    json::append_quoted(out, task.prefer);
    out += R"(,"requestId":)";
    json::append_quoted(out, task.request_id);
    out += fmt::format(R"(,"requestIdGiven":{},"unreadable":[)", task.request_id_given);
    for (const xml::UnreadableEntry& entry : task.unreadable) {
        out += fmt::format(R"({}{{"index":{},"code":"{}","detail":)",
                           &entry == task.unreadable.data() ? "" : ",", entry.index,
                           meaning_of(entry.error.code).issue_code);
        json::append_quoted(out, entry.error.detail);
        out += R"(,"expression":)";
        json::append_quoted(out, entry.error.expression);
        out += '}';
    }
    return out + "]}";
}

Result<BundleTask> parse_task(std::string_view text) {
    json::Parser parser;
    ANNALS_TRY(const json::Document document, parser.parse(text));
    const json::Value root = document.root();
    const auto* const type = std::ranges::find(kTypes, root["type"].string());
    if (type == std::end(kTypes)) {
        return Error{Errc::corrupt, "the stored request of a Bundle cannot be read"};
    }
    BundleTask task;
    task.type = static_cast<BundleType>(type - std::begin(kTypes));
    ANNALS_TRY(task.entries, saved_number(root["entries"], "entries"));
    task.prefer = root["prefer"].string();
    task.request_id = root["requestId"].string();
    task.request_id_given = root["requestIdGiven"].raw() == "true";
    for (const json::Value entry : root["unreadable"].elements()) {
        // The XML reader reports only these two for an entry.
        const Errc code = entry["code"].equals("value") ? Errc::value : Errc::structure;
        ANNALS_TRY(const std::uint64_t index, saved_number(entry["index"], "index"));
        task.unreadable.push_back(
            {index, {code, entry["detail"].string(), entry["expression"].string()}});
    }
    return task;
}

/// The Bundle as it was sent.
Result<json::Document> read_bundle(const Service& service, const JobRun& run) {
    ANNALS_TRY(const std::unique_ptr<storage::File> file,
               run.files().open(run.path(kBundleFile), storage::FileSystem::Mode::read));
    ANNALS_TRY(const std::uint64_t size, file->size());
    ANNALS_TRY(const auto bytes, file->map(size));
    json::Parser parser(kJsonWrappedDepthMax);
    return parse_submitted(service.config(), parser, {bytes.get(), size});
}

/// Whether every entry of a history states its version number: only then can versions be recognised as already stored.
bool is_numbered(const json::Document& bundle) {
    HistoryEntry read;
    for (const json::Value entry : bundle.root()["entry"].elements()) {
        if (read_history_entry(entry, read) && !read.version) {
            return false;
        }
    }
    return true;
}

/// Checks whether the Bundle may be begun if the server was restarted since, or its sender is no longer known.
Result<void> may_begin(const Service& service, const JobRun& run, BundleType type) {
    if (type == BundleType::history) {
        if (run.saved().empty()) {
            return {};  // the kick-off was allowed
        }
        ANNALS_TRY(const json::Document bundle, read_bundle(service, run));
        if (is_numbered(bundle)) {
            return {};  // versions that are already stored are skipped
        }
    }
    if (!run.saved().empty()) {
        return Error{Errc::processing,
                     type == BundleType::transaction
                         ? "The server stopped during the transaction: either all of it was "
                           "applied or nothing, but it is not known which"
                         : fmt::format("The server stopped during the {}: it is not known how many "
                                       "of its entries were applied",
                                       kTypes[static_cast<std::size_t>(type)])};
    }
    if (service.guarded() && run.order().principal == nullptr) {
        return Error{Errc::processing,
                     "The server stopped before it began to process the Bundle: send it again"};
    }
    return {};
}

class AnswerFile {
  public:
    static Result<AnswerFile> make(const JobRun& run, std::string_view name) {
        const std::string path = run.path(name);
        if (run.files().exists(path)) {
            ANNALS_TRY_VOID(run.files().remove(path));
        }
        AnswerFile answer;
        ANNALS_TRY(answer.file_, run.files().open(path, storage::FileSystem::Mode::create));
        return answer;
    }

    Result<void> add(std::string_view text) {
        buffer_.append(text);
        return buffer_.size() >= kSliceBytes ? flush() : Result<void>();
    }

    Result<void> add(const Body& body) {
        for (std::size_t i = 0; i < body.piece_count(); ++i) {
            ANNALS_TRY_VOID(add(body.piece(i)));
        }
        return {};
    }

    Result<void> finish() {
        ANNALS_TRY_VOID(flush());
        return file_->sync();
    }

  private:
    Result<void> flush() {
        ANNALS_TRY_VOID(file_->write(written_, buffer_));
        written_ += buffer_.size();
        buffer_.clear();
        return {};
    }

    std::unique_ptr<storage::File> file_;
    std::uint64_t written_ = 0;
    std::string buffer_;
};

Result<void> write_answer(const JobRun& run, Response& response) {
    ANNALS_TRY(AnswerFile file, AnswerFile::make(run, kDraftFile));
    ANNALS_TRY_VOID(file.add(R"({"resourceType":"Bundle","type":"batch-response","entry":[{)"));
    std::string status = R"("response":{)";
    append_entry_response(status, response.status, "", std::nullopt, std::nullopt);
    const bool fits = response.status < 300;
    if (!fits) {
        ANNALS_TRY_VOID(file.add(status));
    }
    ANNALS_TRY_VOID(file.add(fits ? R"("resource":)" : R"(,"outcome":)"));
    ANNALS_TRY_VOID(file.add(response.body));
    for (bool more = response.more != nullptr; more;) {
        Body slice;
        more = response.more->next(slice);
        ANNALS_TRY_VOID(file.add(slice));
    }
    ANNALS_TRY_VOID(file.add(fits ? "," + status + "}}]}" : "}}]}"));
    ANNALS_TRY_VOID(file.finish());
    ANNALS_TRY_VOID(run.files().rename(run.path(kDraftFile), run.path(kAnswerFile)));
    return run.files().sync_directory(run.folder());
}

/// A reservation in the access log, held until it is used.
class AuditPlace {
  public:
    /// Waits for a reservation if accesses are logged. Errors: timeout: the job must stop.
    static Result<AuditPlace> take(const Service& service, const JobRun& run) {
        AuditPlace place;
        while (service.config().audited() && place.log_ == nullptr) {
            if (std::shared_ptr<AccessLog> log = run.access_log(); log && log->reserve()) {
                place.log_ = std::move(log);
            } else if (run.stopping()) {
                return Error{Errc::timeout, "stopped"};
            } else {
                std::this_thread::sleep_for(kJobStopPause);
            }
        }
        return place;
    }

    AuditPlace() = default;
    AuditPlace(AuditPlace&&) = default;
    AuditPlace& operator=(AuditPlace&&) = delete;

    ~AuditPlace() {
        if (log_ != nullptr) {
            log_->release();
        }
    }

    void record(const Request& request, const Response& response, std::string_view job) {
        if (const auto log = std::move(log_)) {
            log->record(request, response, job);
        }
    }

  private:
    std::shared_ptr<AccessLog> log_;  ///< null: not logged
};

/// The kick-off request, as far as it was stored.
Request request_of(const JobRun& run, const BundleTask& task) {
    Request request;
    request.method = HttpMethod::post;
    request.base_url = run.order().base_url;
    request.request_id = task.request_id;
    if (task.request_id_given) {
        request.client_request_id = task.request_id;
    }
    request.principal = run.order().principal.get();
    return request;
}

/// Who began the job, by name.
Principal owner_of(const JobRun& run) {
    return {std::string(Principal::name_in(run.order().owner)), ""};
}

/// Logs that the server stopped while the Bundle was under way.
Result<void> tell_cut_off(const Service& service, const JobRun& run, const BundleTask& task) {
    ANNALS_TRY(AuditPlace place, AuditPlace::take(service, run));
    Request request = request_of(run, task);
    const Principal owner = owner_of(run);
    request.principal = owner.name().empty() ? nullptr : &owner;
    Response cut_off;
    cut_off.status = 503;
    place.record(request, cut_off, run.id());
    return {};
}

Result<Response> run_bundle(const Service& service, JobRun& run, const BundleTask& task) {
    ANNALS_TRY(const json::Document bundle, read_bundle(service, run));
    Request request = request_of(run, task);
    const Principal owner = owner_of(run);
    request.unreadable = task.unreadable.empty() ? nullptr : &task.unreadable;
    if (!task.prefer.empty()) {
        request.headers.push_back({"Prefer", task.prefer});
    }
    ANNALS_TRY(AuditPlace place, AuditPlace::take(service, run));
    OwnLoop loop(service.store());
    const auto answer = [&] {
        return loop.run("bundle job", request,
                        answer_bundle(service, request, task.type, bundle,
                                      std::chrono::steady_clock::time_point::max()),
                        [&run] { return run.stopping(); });
    };
    Result<Response> response = answer();
    while (!response && response.error().code == Errc::overloaded && !run.stopping()) {
        std::this_thread::sleep_for(kJobStopPause);
        response = answer();
    }
    if (request.principal == nullptr && !owner.name().empty()) {
        request.principal = &owner;  // for the log: after a restart only the name is known
    }
    if (!response) {
        Response cut_off;
        cut_off.status = 503;
        place.record(request, cut_off, run.id());
        if (run.stopping()) {
            static_cast<void>(run.save(std::string(kToldOfItsEnd)));  // else it is logged again
        }
        return response;
    }
    tell_failure(request, *response);
    place.record(request, *response, run.id());
    return response;
}

}  // namespace

asio::awaitable<Response> answer_bundle(const Service& service, const Request& request,
                                        BundleType type, const json::Document& bundle,
                                        std::chrono::steady_clock::time_point end) {
    switch (type) {
        case BundleType::batch:
            return run_batch(service, request, bundle, end);
        case BundleType::transaction:
            return run_transaction(service, request, bundle, end);
        case BundleType::history:
            break;
    }
    return apply_history(service, request, bundle, end);
}

asio::awaitable<Response> begin_bundle_job(const Service& service, const Request& request,
                                           BundleType type, const json::Document& bundle) {
    BundleTask task;
    task.type = type;
    task.entries = bundle.root()["entry"].size();
    task.request_id = request.request_id;
    task.request_id_given = !request.client_request_id.empty();
    for (const Header& header : request.headers) {
        if (equal_ignoring_case(header.name, "Prefer")) {
            task.prefer.append(task.prefer.empty() ? "" : ", ").append(header.value);
        }
    }
    if (request.unreadable != nullptr) {
        task.unreadable = *request.unreadable;
    }
    std::vector<JobInput> inputs;
    inputs.emplace_back(kBundleFile, bundle.text());
    Response response =
        co_await begin_job(service, request, "bundle", task_json(task), "_jobs", std::move(inputs));
    if (response.status == 202) {
        response.headers.emplace_back("Preference-Applied", "respond-async");
        if (service.config().audited()) {
            // The job logs the results; should it never run, this logs what was requested.
            for (const json::Value entry : bundle.root()["entry"].elements()) {
                response.entries.push_back(trace_asked(entry, response.status));
            }
        }
    }
    co_return response;
}

Result<JobResult> bundle_job(const Service& service, JobRun& run) {
    ANNALS_TRY(const BundleTask task, parse_task(run.order().task));
    JobResult result;
    result.files.push_back({.part = std::string(kAnswerPart),
                            .type = "Bundle",
                            .name = std::string(kAnswerFile),
                            .count = task.entries,
                            .input = ""});
    if (run.files().exists(run.path(kAnswerFile))) {
        result.time = now();  // the server stopped after the answer was written
        return result;
    }
    if (const Result<void> may = may_begin(service, run, task.type); !may) {
        if (!run.saved().empty() && run.saved() != kToldOfItsEnd) {
            ANNALS_TRY_VOID(tell_cut_off(service, run, task));
        }
        return Error(may.error());
    }
    run.say(fmt::format("a {} of {} entries", kTypes[static_cast<std::size_t>(task.type)],
                        task.entries));
    result.time = now();
    ANNALS_TRY_VOID(run.save(std::string(kBegun)));
    ANNALS_TRY(Response response, run_bundle(service, run, task));
    if (const Result<void> written = write_answer(run, response); !written) {
        if (written.error().code != Errc::no_store) {
            return Error(written.error());
        }
        return Error{
            Errc::processing,
            "The Bundle was processed, but there is too little space, or there are too few file "
            "descriptors, for its response"};
    }
    ANNALS_TRY_VOID(run.files().remove(run.path(kBundleFile)));
    return result;
}

}  // namespace annals::core
