#include "core/operations/restore_run.h"

#include "codec/json/document.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/start_thread.h"
#include "core/interactions/history_answer.h"
#include "core/interactions/history_bundle.h"
#include "core/interactions/submitted_resource.h"
#include "core/operations/backup_run.h"
#include "core/own_loop.h"
#include "core/service.h"
#include "storage/backup_manifest.h"
#include "storage/file_system.h"
#include "storage/segment_check.h"
#include "storage/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace annals::core {

namespace {

/// How many versions are submitted together.
constexpr std::size_t kRestoredEntriesMax = 1000;
constexpr std::size_t kRestoredBytesMax = 8 << 20;

constexpr std::uint64_t kRestoredPerStep = 1000;

/// The log names this many versions that were not accepted; the response tells how many there are.
constexpr std::uint64_t kFailuresLogged = 10;

constexpr std::chrono::milliseconds kRetryPause{200};

Error server_stopped() {
    return {Errc::no_store, "the server was stopped"};
}

void append_entry(std::string& out, const storage::StoredVersion& version) {
    const storage::VersionInfo& info = version.info;
    out += out.ends_with('[') ? "{" : ",{";
    if (!info.deletion) {
        out.append(R"("resource":)").append(version.body) += ',';
    }
    out += fmt::format(
        R"("request":{{"method":"{}","url":"{}/{}"}},"response":{{"status":"{}","etag":"W/\"{}\"","lastModified":"{}"}}}})",
        info.deletion ? "DELETE" : "PUT", resource_type_name(info.type), version.id,
        info.deletion ? "410" : "200", info.version.value, format_instant(info.instant));
}

/// Brings the versions of a backup into the store.
class Restoration {
  public:
    struct Hooks {
        std::function<bool()> stop;
        std::function<void(Position total)> found;
        std::function<void(Position done, const RestoreCounts& counts)> progress;
    };

    Restoration(const Service& service, std::string from, const RestoreBound& bound,
                const Hooks& hooks)
        : service_(service),
          from_(std::move(from)),
          bound_(bound),
          hooks_(hooks),
          loop_(service.store()) {
        request_.base_url = service.config().base_url;
        request_.request_id = "restore";
    }

    Result<void> run() {
        ANNALS_TRY_VOID(open());
        const Position end = end_;
        hooks_.progress({}, counts_);
        const storage::LogScan what{.bound = end, .every_version = true};
        std::vector<storage::VersionInfo> versions;
        for (Position after; after < end;) {
            versions.clear();
            backup_->scan(what, after, kRestoredPerStep, versions);
            for (const storage::VersionInfo& info : versions) {
                const auto version = backup_->load(info);
                if (!version && version.error().code == Errc::not_found) {
                    continue;  // erased
                }
                if (!version) {
                    return version.error();
                }
                begin_bundle();
                append_entry(text_, *version);
                positions_.push_back(info.position);
                if (positions_.size() == kRestoredEntriesMax || text_.size() >= kRestoredBytesMax) {
                    ANNALS_TRY_VOID(submit());
                }
            }
            if (hooks_.stop()) {
                return server_stopped();
            }
        }
        return submit();
    }

    const RestoreCounts& counts() const noexcept { return counts_; }

  private:
    Result<void> open() {
        storage::FileSystem& files = storage::posix_file_system();
        if (!files.exists(from_ + "/segments")) {
            return Error{Errc::not_found, "The backup does not exist"};
        }
        ANNALS_TRY(const auto manifest, storage::read_backup_manifest(files, from_));
        if (files.exists(fmt::format("{}/{}", from_, storage::kBackupPartial)) || !manifest) {
            return Error{Errc::conflict, "The backup is in progress, or was not finished"};
        }
        auto lock = files.lock(from_);
        if (lock) {
            lock_ = *std::move(lock);
        } else if (lock.error().code == Errc::usage) {
            return Error{Errc::conflict, "The backup is in progress"};
        }  // otherwise nobody can write there
        if (bound_.position && *bound_.position > manifest->position) {
            return Error{Errc::processing,
                         fmt::format("The backup ends at position {}", manifest->position.value)};
        }
        hooks_.found(manifest->position);
        ANNALS_TRY_VOID(check(files, *manifest));
        if (end_.value == 0 && (bound_.position || bound_.instant)) {
            return Error{Errc::processing, "The backup contains nothing that was written by then"};
        }
        hooks_.found(end_);
        storage::StoreOptions options;
        options.read_only = true;
        ANNALS_TRY(backup_, storage::Store::open(files, from_, options));
        if (backup_->last_position() != manifest->position) {
            return Error{Errc::corrupt,
                         fmt::format("ends at position {}, and at {} in the manifest",
                                     backup_->last_position().value, manifest->position.value)};
        }
        return {};
    }

    /// Checked before anything is taken: a copy that lacks its end looks like an intact, shorter one.
    Result<void> check(storage::FileSystem& files, const storage::BackupManifest& manifest) {
        ANNALS_TRY_VOID(storage::check_backup_parts(files, from_, manifest));
        for (const storage::BackupManifest::Part& part : manifest.parts) {
            if (hooks_.stop()) {
                return server_stopped();
            }
            const std::string path = from_ + "/segments/" + storage::segment_name(part.number);
            ANNALS_TRY(const storage::CheckedSegment segment,
                       storage::check_segment(files, path, [this](const auto& frame) {
                           see(frame);
                           return true;
                       }));
            if (const std::string why = part.fault(segment.file_view()); !why.empty()) {
                return Error{Errc::corrupt, fmt::format("{}: the segment {}", path, why)};
            }
        }
        return {};
    }

    /// Cuts like `annals restore`: after a whole commit.
    void see(const storage::CheckedFrame& frame) {
        const bool wanted = (!bound_.position || frame.last_position <= *bound_.position) &&
                            (!bound_.instant || frame.instant <= *bound_.instant);
        if (frame.has_versions && !cut_) {
            cut_ = !wanted;
            end_ = wanted ? frame.last_position : end_;
        }
    }

    void begin_bundle() {
        if (positions_.empty()) {
            text_ = R"({"resourceType":"Bundle","type":"history","entry":[)";
        }
    }

    Result<void> submit() {
        if (positions_.empty()) {
            return {};
        }
        text_ += "]}";
        ANNALS_TRY(json::Document bundle, parse_submitted(service_.config(), parser_, text_));
        for (;;) {
            if (hooks_.stop()) {
                return server_stopped();
            }
            const Result<Response> response = loop_.run(
                "restore", request_, apply_history(service_, request_, bundle), hooks_.stop);
            if (response && response->status == 200) {
                ANNALS_TRY_VOID(judge(response->body.str()));
                break;
            }
            // Versions that exist already are ignored, so everything can be submitted again.
            const bool overloaded =
                !response || (response->failure && response->failure->code == Errc::overloaded);
            if (!overloaded) {
                return response->failure ? *response->failure
                                         : Error{Errc::internal, "no response to a Bundle"};
            }
            std::this_thread::sleep_for(kRetryPause);
        }
        parser_.recycle(std::move(bundle));
        hooks_.progress(positions_.back(), counts_);
        positions_.clear();
        return {};
    }

    Result<void> judge(const std::string& answer) {
        using Kind = HistoryVerdict::Kind;
        ANNALS_TRY(const std::vector<HistoryVerdict> verdicts, read_history_answer(answer));
        for (std::size_t i = 0; i < std::min(verdicts.size(), positions_.size()); ++i) {
            switch (verdicts[i].kind) {
                case Kind::stored:
                    ++counts_.restored;
                    break;
                case Kind::there:
                    ++counts_.ignored;
                    break;
                case Kind::differs:
                    ++counts_.ignored;
                    ++counts_.differing;
                    break;
                case Kind::refused:
                    fail(positions_[i], verdicts[i].code);
                    break;
            }
        }
        return {};
    }

    void fail(Position position, std::string_view code) {
        if (++counts_.failed <= kFailuresLogged) {
            log_warning(fmt::format("restore {}: the version at position {} was not accepted: {}",
                                    from_, position.value, code));
        }
    }

    const Service& service_;
    const std::string from_;
    const RestoreBound bound_;
    const Hooks& hooks_;
    Request request_;
    OwnLoop loop_;
    std::unique_ptr<storage::DirectoryLock> lock_;
    Position end_;      ///< of the last commit to restore
    bool cut_ = false;  ///< the commit after it is left out
    std::unique_ptr<storage::Store> backup_;
    json::Parser parser_{kJsonWrappedDepthMax};
    std::string text_;
    std::vector<Position> positions_;  // in the backup, for the entries in text_
    RestoreCounts counts_;
};

}  // namespace

RestoreRun::RestoreRun(const Service& service)
    : service_(service), backups_(backup_folder(service.config())) {
}

RestoreRun::~RestoreRun() {
    stop_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

Result<std::uint64_t> RestoreRun::start(const std::string& name, const RestoreBound& bound) {
    const std::lock_guard lock(mutex_);
    if (status_.running) {
        return Error{Errc::conflict, "A backup is already being restored"};
    }
    if (thread_.joinable()) {
        thread_.join();  // it is about to end
    }
    // The thread waits for the lock before it reports anything.
    ANNALS_TRY(thread_, start_thread("restore", [this, from = backups_ + "/" + name, bound] {
                   run(from, bound);
               }));
    const std::uint64_t number = status_.number + 1;
    if (status_.found) {
        before_ = std::move(status_);
    }
    status_ = {};
    status_.number = number;
    status_.name = name;
    status_.running = true;
    return number;
}

RestoreRun::Status RestoreRun::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

RestoreRun::Status RestoreRun::last_begun() const {
    const std::lock_guard lock(mutex_);
    return status_.found ? status_ : before_;
}

void RestoreRun::run(const std::string& from, const RestoreBound& bound) {
    Restoration::Hooks hooks;
    hooks.stop = [this] { return stop_.load(); };
    hooks.found = [this](Position total) {
        const std::lock_guard lock(mutex_);
        status_.found = true;
        status_.total = total;
    };
    hooks.progress = [this](Position done, const RestoreCounts& counts) {
        const std::lock_guard lock(mutex_);
        status_.done = done;
        status_.counts = counts;
    };
    Result<void> done;
    RestoreCounts counts;
    {
        Restoration restoration(service_, from, bound, hooks);
        done = restoration.run();
        counts = restoration.counts();
    }
    const std::string figures =
        fmt::format("{} restored, {} ignored ({} differ), {} failed", counts.restored,
                    counts.ignored, counts.differing, counts.failed);
    if (done) {
        log_info(fmt::format("restore {}: {}", from, figures));
    } else if (status().found) {
        log_error(fmt::format("restore {}: {}; until then {}", from, done.error().detail, figures));
    }
    const std::lock_guard lock(mutex_);
    status_.running = false;
    status_.counts = counts;
    if (!done) {
        status_.error = std::move(done.error());
    }
}

}  // namespace annals::core
