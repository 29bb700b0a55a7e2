#include "core/bulk/ndjson_files.h"

#include "core/jobs/job_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace annals::core {

namespace {

constexpr std::size_t kBufferBytes = 256 << 10;

std::string name_of(const NdjsonFiles::Series& series) {
    return fmt::format("{}-{}.ndjson", series.stem, series.number);
}

void append_file(std::string& out, const NdjsonFiles::Series& series, std::string_view name,
                 std::uint64_t count, std::uint64_t bytes, bool open) {
    out += fmt::format(
        R"({}{{"part":"{}","type":"{}","stem":"{}","number":{},"name":"{}","count":{},"bytes":{},"open":{}}})",
        out.empty() ? "" : ",", series.part, series.type, series.stem, series.number, name, count,
        bytes, open);
}

}  // namespace

bool is_ndjson(std::string_view name) noexcept {
    return name == "application/fhir+ndjson" || name == "application/ndjson" || name == "ndjson";
}

NdjsonFiles::Series& NdjsonFiles::series(std::string_view part, std::string_view type,
                                         std::string_view stem) {
    for (const auto& one : series_) {
        if (one->stem == stem) {
            return *one;
        }
    }
    series_.push_back(std::make_unique<Series>());
    Series& made = *series_.back();
    made.part = part;
    made.type = type;
    made.stem = stem;
    return made;
}

Result<void> NdjsonFiles::open(Series& series) {
    ++series.number;
    const std::string path = run_.path(name_of(series));
    if (run_.files().exists(path)) {  // left from before a restart
        ANNALS_TRY_VOID(run_.files().remove(path));
    }
    ANNALS_TRY(series.file, run_.files().open(path, storage::FileSystem::Mode::create));
    series.written = 0;
    series.count = 0;
    series.buffer.reserve(kBufferBytes);
    ++open_count_;
    return {};
}

Result<void> NdjsonFiles::flush(Series& series) {
    if (series.buffer.empty()) {
        return {};
    }
    ANNALS_TRY_VOID(series.file->write(series.written, series.buffer));
    series.written += series.buffer.size();
    series.buffer.clear();
    series.unsynced = true;
    return {};
}

Result<void> NdjsonFiles::close(Series& series) {
    if (series.file == nullptr) {
        return {};
    }
    ANNALS_TRY_VOID(flush(series));
    ANNALS_TRY_VOID(series.file->sync());
    series.file.reset();
    series.unsynced = false;
    --open_count_;
    done_.push_back({.part = series.part,
                     .type = series.type,
                     .name = name_of(series),
                     .count = series.count,
                     .input = {}});
    return {};
}

Result<void> NdjsonFiles::add(Series& series, std::string_view line) {
    const std::uint64_t bytes = line.size() + 1;
    if (series.file != nullptr && series.written + series.buffer.size() + bytes > bytes_max_) {
        ANNALS_TRY_VOID(close(series));
    }
    if (series.file == nullptr) {
        ANNALS_TRY_VOID(open(series));
    }
    if (series.buffer.size() + bytes > kBufferBytes) {
        ANNALS_TRY_VOID(flush(series));
    }
    series.buffer.append(line);
    series.buffer.push_back('\n');
    ++series.count;
    bytes_ += bytes;
    return {};
}

Result<std::string> NdjsonFiles::checkpoint() {
    std::string list;
    for (const JobFile& file : done_) {
        list += fmt::format(R"({}{{"part":"{}","type":"{}","name":"{}","count":{},"open":false}})",
                            list.empty() ? "" : ",", file.part, file.type, file.name, file.count);
    }
    std::string open;
    for (const auto& one : series_) {
        if (one->file == nullptr) {
            if (one->number > 0) {
                append_file(open, *one, "", 0, 0, false);
            }
            continue;
        }
        if (is_grace_over()) {
            return job_stopped();
        }
        ANNALS_TRY_VOID(flush(*one));
        if (one->unsynced) {
            ANNALS_TRY_VOID(one->file->sync());
            one->unsynced = false;
        }
        append_file(open, *one, name_of(*one), one->count, one->written, true);
    }
    ANNALS_TRY_VOID(run_.files().sync_directory(run_.folder()));
    return fmt::format(R"({{"done":[{}],"series":[{}],"bytes":{}}})", list, open, bytes_);
}

Result<void> NdjsonFiles::restore(json::Value checkpoint) {
    ANNALS_TRY(bytes_, saved_number(checkpoint["bytes"], "bytes"));
    for (const json::Value file : checkpoint["done"].elements()) {
        ANNALS_TRY(const std::uint64_t count, saved_number(file["count"], "count"));
        done_.push_back({.part = file["part"].string(),
                         .type = file["type"].string(),
                         .name = file["name"].string(),
                         .count = count,
                         .input = {}});
    }
    for (const json::Value kept : checkpoint["series"].elements()) {
        Series& one = series(kept["part"].string(), kept["type"].string(), kept["stem"].string());
        ANNALS_TRY(one.number, saved_number(kept["number"], "number"));
        if (kept["open"].raw() != "true") {
            continue;
        }
        ANNALS_TRY(one.count, saved_number(kept["count"], "count"));
        ANNALS_TRY(one.written, saved_number(kept["bytes"], "bytes"));
        auto file = run_.files().open(run_.path(kept["name"].string()),
                                      storage::FileSystem::Mode::read_write);
        if (!file && file.error().code == Errc::no_store) {
            return std::move(file.error());  // no descriptors are left, which passes
        }
        if (!file) {
            return Error{Errc::io, std::move(file.error().detail)};  // nobody else removes it
        }
        one.file = *std::move(file);
        ANNALS_TRY_VOID(one.file->resize(one.written));
        one.unsynced = true;
        ++open_count_;
    }
    return {};
}

Result<std::vector<JobFile>> NdjsonFiles::finish() {
    for (const auto& one : series_) {
        if (is_grace_over()) {
            return job_stopped();
        }
        ANNALS_TRY_VOID(close(*one));
    }
    ANNALS_TRY_VOID(run_.files().sync_directory(run_.folder()));
    std::sort(done_.begin(), done_.end(), [](const JobFile& a, const JobFile& b) {
        // Shorter names first, so that 10 comes after 9.
        return std::tuple(std::string_view(a.type), a.name.size(), std::string_view(a.name)) <
               std::tuple(std::string_view(b.type), b.name.size(), std::string_view(b.name));
    });
    return std::move(done_);
}

}  // namespace annals::core
