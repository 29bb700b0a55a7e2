#include "core/jobs/job_folder.h"

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/outcome.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

constexpr std::uint64_t kFormat = 1;

/// The maximum size of either file; a larger one is damaged.
constexpr std::uint64_t kJobTextBytesMax = 256 << 20;

class ObjectWriter {
  public:
    void add(std::string_view name, std::string_view value) {
        key(name);
        json::append_quoted(text_, value);
    }

    void add_raw(std::string_view name, std::string_view json) {
        key(name);
        text_ += json;
    }

    std::string take() { return std::move(text_) + "}"; }

  private:
    void key(std::string_view name) {
        text_ += text_.empty() ? '{' : ',';
        text_ += fmt::format("\"{}\":", name);
    }

    std::string text_;
};

Error damaged(std::string_view what) {
    return {Errc::corrupt, fmt::format("a job's {} cannot be read", what)};
}

std::string files_json(const std::vector<JobFile>& files) {
    std::string out = "[";
    for (const JobFile& file : files) {
        ObjectWriter object;
        object.add("part", file.part);
        object.add("type", file.type);
        object.add("name", file.name);
        object.add_raw("count", std::to_string(file.count));
        object.add("input", file.input);
        out += out.size() > 1 ? "," : "";
        out += object.take();
    }
    return out + "]";
}

constexpr std::string_view kStages[] = {"running", "done", "failed"};

std::string order_json(const JobOrder& order, Instant begun) {
    ObjectWriter object;
    object.add_raw("format", std::to_string(kFormat));
    object.add("kind", order.kind);
    object.add("begun", format_instant(begun));
    object.add("owner", order.owner);
    object.add("scopes", order.scopes);
    object.add("url", order.url);
    object.add("baseUrl", order.base_url);
    object.add_raw("task", order.task.empty() ? "{}" : order.task);
    return object.take();
}

Result<FoundJob> read_order(std::string_view text) {
    json::Parser parser;
    const Result<json::Document> document = parser.parse(text);
    if (!document || !document->root().is_object()) {
        return damaged(kOrderFile);
    }
    const json::Value root = document->root();
    const auto format = saved_number(root["format"], "format");
    if (!format || *format != kFormat || !root["task"].is_object()) {
        return damaged(kOrderFile);
    }
    FoundJob read;
    ANNALS_TRY(read.begun, parse_instant(root["begun"].string()));
    read.order.kind = root["kind"].string();
    read.order.owner = root["owner"].string();
    read.order.scopes = root["scopes"].string();
    read.order.url = root["url"].string();
    read.order.base_url = root["baseUrl"].string();
    read.order.task = root["task"].raw();
    return read;
}

/// The state of a job that ended with `error`, as clients see it.
JobState failed_by(const Error& error, std::string_view id) {
    JobState state;
    state.finished = now();
    const ErrorMeaning meaning = meaning_of(error.code);
    state.stage = JobStage::failed;
    state.code = meaning.issue_code;
    if (error.code == Errc::no_store) {
        state.detail =
            "There is too little space, or there are too few file descriptors, for the job's "
            "output";
    } else if (meaning.status >= 500 || error.detail.empty()) {
        state.detail = meaning.text;
    } else {
        state.detail = error.detail;
    }
    log_error(fmt::format("job {} failed: {}", id, error.detail));
    return state;
}

// Removes the files that a job has written; the order and the state stay.
void remove_made_files(storage::FileSystem& files, const std::string& folder) {
    const auto names = files.list(folder);
    if (!names) {
        return;
    }
    for (const std::string& name : *names) {
        if (name != kOrderFile && name != kStateFile) {
            static_cast<void>(files.remove(fmt::format("{}/{}", folder, name)));
        }
    }
}

}  // namespace

std::string state_json(const JobState& state) {
    ObjectWriter object;
    object.add("state", kStages[static_cast<std::size_t>(state.stage)]);
    if (state.stage == JobStage::running) {
        if (!state.saved.empty()) {
            object.add_raw("progress", state.saved);
        }
        return object.take();
    }
    object.add("finished", format_instant(state.finished));
    if (state.stage == JobStage::failed) {
        object.add("code", state.code);
        object.add("detail", state.detail);
        return object.take();
    }
    object.add("time", format_instant(state.result.time));
    object.add_raw("files", files_json(state.result.files));
    return object.take();
}

Result<JobState> read_state(std::string_view text) {
    json::Parser parser;
    const Result<json::Document> document = parser.parse(text);
    if (!document || !document->root().is_object()) {
        return damaged(kStateFile);
    }
    const json::Value root = document->root();
    JobState state;
    if (root["state"].equals("running")) {
        state.saved = root["progress"].raw();
        return state;
    }
    ANNALS_TRY(state.finished, parse_instant(root["finished"].string()));
    if (root["state"].equals("failed")) {
        state.stage = JobStage::failed;
        state.code = root["code"].string();
        state.detail = root["detail"].string();
        return state;
    }
    if (!root["state"].equals("done")) {
        return damaged(kStateFile);
    }
    state.stage = JobStage::done;
    ANNALS_TRY(state.result.time, parse_instant(root["time"].string()));
    for (const json::Value file : root["files"].elements()) {
        ANNALS_TRY(const std::uint64_t count, saved_number(file["count"], "count"));
        state.result.files.push_back({.part = file["part"].string(),
                                      .type = file["type"].string(),
                                      .name = file["name"].string(),
                                      .count = count,
                                      .input = file["input"].string()});
    }
    return state;
}

Result<std::uint64_t> saved_number(json::Value value, std::string_view name) {
    const auto number = parse_number(value.raw());
    if (!number) {
        return Error{Errc::corrupt, fmt::format("a job's '{}' is not a number", name)};
    }
    return *number;
}

Result<void> make_folder(storage::FileSystem& files, const std::string& directory,
                         std::string_view id, const JobOrder& order, Instant begun,
                         const std::vector<JobInput>& inputs) {
    const std::string folder = fmt::format("{}/{}", directory, id);
    ANNALS_TRY_VOID(files.make_directory(directory));
    ANNALS_TRY_VOID(files.make_directory(folder));
    for (const auto& [name, content] : inputs) {
        ANNALS_TRY_VOID(storage::replace_file(files, folder + "/" + name, content));
    }
    ANNALS_TRY_VOID(storage::replace_file(files, fmt::format("{}/{}", folder, kOrderFile),
                                          order_json(order, begun)));
    return files.sync_directory(directory);
}

Result<FoundJob> read_folder(storage::FileSystem& files, const std::string& folder) {
    const auto text = [&](std::string_view name) {
        return storage::read_whole(files, fmt::format("{}/{}", folder, name), kJobTextBytesMax);
    };
    ANNALS_TRY(const std::string order, text(kOrderFile));
    ANNALS_TRY(FoundJob found, read_order(order));
    const Result<std::string> state = text(kStateFile);
    if (state) {
        ANNALS_TRY(found.state, read_state(*state));
    } else if (state.error().code != Errc::not_found) {
        return state.error();
    }
    return found;
}

JobState keep_end(storage::FileSystem& files, const std::string& folder, std::string_view id,
                  Result<JobResult> result) {
    const std::string path = fmt::format("{}/{}", folder, kStateFile);
    JobState state;
    if (result) {
        state.stage = JobStage::done;
        state.finished = now();
        state.result = *std::move(result);
    } else {
        state = failed_by(result.error(), id);
    }
    Result<void> kept = storage::replace_file(files, path, state_json(state));
    if (!kept && state.stage == JobStage::done) {
        state = failed_by(kept.error(), id);
    }
    if (state.stage == JobStage::failed) {
        remove_made_files(files, folder);  // makes room
        if (!kept) {
            kept = storage::replace_file(files, path, state_json(state));
        }
    }
    if (!kept) {
        log_error(fmt::format("job {}: its outcome cannot be saved: {}", id, kept.error().detail));
        // Otherwise the next start would continue the job and look for the removed files.
        static_cast<void>(remove_order(files, folder));
    }
    return state;
}

Result<void> remove_order(storage::FileSystem& files, const std::string& folder) {
    const Result<void> removed = files.remove(fmt::format("{}/{}", folder, kOrderFile));
    if (!removed && removed.error().code != Errc::not_found) {
        return removed;
    }
    return files.sync_directory(folder);
}

void remove_folder(storage::FileSystem& files, const std::string& folder, std::string_view first) {
    const auto drop = [](const Result<void>& done) {
        if (!done && done.error().code != Errc::not_found) {
            log_warning(
                fmt::format("a job's folder could not be removed: {}", done.error().detail));
        }
    };
    if (!first.empty()) {
        drop(files.remove(fmt::format("{}/{}", folder, first)));
        drop(files.sync_directory(folder));
    }
    if (const auto names = files.list(folder)) {
        for (const std::string& name : *names) {
            drop(files.remove(fmt::format("{}/{}", folder, name)));
        }
    }
    drop(files.remove_directory(folder));
}

Result<void> JobRun::save(std::string progress) {
    JobState state;
    state.saved = std::move(progress);
    ANNALS_TRY_VOID(storage::replace_file(files_, path(kStateFile), state_json(state)));
    saved_ = std::move(state.saved);
    return {};
}

}  // namespace annals::core
