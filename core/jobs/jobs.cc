#include "core/jobs/jobs.h"

#include "core/access.h"
#include "core/base/log.h"
#include "core/base/plain_name.h"
#include "core/base/random.h"
#include "core/base/start_thread.h"
#include "core/jobs/asking_rate.h"
#include "core/jobs/settled.h"
#include "core/service.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace annals::core {

namespace {

constexpr int kJobNice = 10;

/// The maximum length of the name of a job's file.
constexpr std::size_t kFileNameCharsMax = 100;

/// How often the keeper looks for expired jobs.
constexpr std::chrono::seconds kExpiryPause{30};

/// Retry-After for a job that has been running for that long.
std::chrono::seconds retry_after(std::chrono::seconds running) {
    return std::clamp(running / 10, std::chrono::seconds(1), std::chrono::seconds(10));
}

}  // namespace

struct Jobs::Impl {
    struct Job {
        std::string id;
        JobOrder order;  // its task and principal: the thread's, until it has ended
        Instant begun;
        std::atomic<bool> stop = false;
        std::jthread thread;

        // Guarded by `mutex`.
        bool ended = false;  // the thread has nothing left to do
        JobState state;
        std::string progress;
        AskingRate rate;

        // Nobody asks for them again, and a task may have megabytes.
        void drop_task() {
            order.task.clear();
            order.task.shrink_to_fit();
            order.principal.reset();
        }
    };

    const Service& service;
    storage::FileSystem& files;
    const std::string directory;
    const JobsOptions options;

    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, std::shared_ptr<Job>, std::less<>> jobs;
    std::size_t running = 0;                    // threads, including those being started
    std::size_t removing = 0;                   // folders
    std::vector<std::shared_ptr<Job>> leaving;  // removed, until their threads have ended
    std::deque<std::function<void()>> tasks;
    bool stopping = false;
    std::shared_ptr<AccessLog> access_log;
    std::jthread keeper;

    Impl(const Service& the_service, storage::FileSystem& the_files, std::string the_directory,
         JobsOptions the_options)
        : service(the_service),
          files(the_files),
          directory(std::move(the_directory)),
          options(the_options) {}

    std::string folder(std::string_view id) const { return fmt::format("{}/{}", directory, id); }

    // ---- threads ----

    // Queues a task for the keeper. Requires: the lock is held.
    Result<void> give(std::function<void()> task) {
        if (!keeper.joinable()) {
            ANNALS_TRY(keeper, start_thread("jobs keeper", [this] { keep(); }));
        }
        tasks.push_back(std::move(task));
        changed.notify_all();
        return {};
    }

    void keep() {
        (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kJobNice);
        std::unique_lock lock(mutex);
        while (!stopping || !tasks.empty() || !leaving.empty()) {
            if (!tasks.empty()) {
                const std::function<void()> task = std::move(tasks.front());
                tasks.pop_front();
                lock.unlock();
                task();
                lock.lock();
                changed.notify_all();
                continue;
            }
            if (const auto left = find_left(); left != leaving.end()) {
                const std::shared_ptr<Job> job = std::move(*left);
                leaving.erase(left);
                lock.unlock();
                if (job->thread.joinable()) {
                    job->thread.join();
                }
                remove_folder(files, folder(job->id));
                lock.lock();
                --removing;
                changed.notify_all();
                continue;
            }
            if (!stopping) {
                remove_expired();
                start_waiting();
            }
            if (tasks.empty()) {
                changed.wait_for(lock, kExpiryPause, [this] {
                    return !tasks.empty() || find_left() != leaving.end() ||
                           (stopping && leaving.empty());
                });
            }
        }
    }

    // A removed job whose thread can be joined without waiting. Requires: the lock is held.
    std::vector<std::shared_ptr<Job>>::iterator find_left() {
        return std::ranges::find_if(leaving, [](const std::shared_ptr<Job>& job) {
            return job->ended || !job->thread.joinable();
        });
    }

    void remove_expired() {
        const Instant time = now();
        for (auto job = jobs.begin(); job != jobs.end();) {
            const bool over =
                job->second->state.stage != JobStage::running && expires(*job->second) <= time;
            if (over) {
                static_cast<void>(forget(job->second, nullptr));  // can't fail: this is the keeper
                job = jobs.erase(job);
            } else {
                ++job;
            }
        }
    }

    // Whether `owner` already has at least as many jobs as there is room left for, so that nobody uses up everything. False if
    // there are no identities to tell apart. Requires: the lock is held.
    bool keeps_too_many(std::string_view owner) const {
        if (service.config().auth.mode == "none") {
            return false;
        }
        const std::string_view name = Principal::name_in(owner);
        const auto own =
            static_cast<std::size_t>(std::ranges::count_if(jobs, [name](const auto& one) {
                return Principal::name_in(one.second->order.owner) == name;
            }));
        return own >= options.kept_max - std::min(options.kept_max, jobs.size());
    }

    Instant expires(const Job& job) const {
        return {job.state.finished.us +
                std::chrono::duration_cast<std::chrono::microseconds>(options.keep).count()};
    }

    Result<void> start(const std::shared_ptr<Job>& job) {
        ANNALS_TRY(job->thread, start_thread("job", [this, job] { work(*job); }));
        return {};
    }

    // Starts the jobs that have no thread: at first all of them, later those for which none could be started. Requires: the lock
    // is held.
    void start_waiting() {
        for (const auto& [id, job] : jobs) {
            if (job->state.stage == JobStage::running && !job->thread.joinable() && start(job)) {
                ++running;
            }
        }
    }

    void work(Job& job) {
        (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kJobNice);
        JobRun run(job.id, job.order, folder(job.id), job.state.saved, files,
                   {.stopping = [&job] { return job.stop.load(std::memory_order_relaxed); },
                    .say =
                        [this, &job](std::string progress) {
                            const std::lock_guard lock(mutex);
                            job.progress = std::move(progress);
                        },
                    .access_log =
                        [this] {
                            const std::lock_guard lock(mutex);
                            return access_log;
                        }});
        const JobWork work_of_kind = options.work(job.order.kind);
        Result<JobResult> result =
            work_of_kind != nullptr
                ? work_of_kind(service, run)
                : Result<JobResult>(Error{Errc::internal, "a job of an unknown kind"});
        if (!run.stopping() || result) {
            end(job, std::move(result));
        }
        const std::lock_guard lock(mutex);
        --running;
        job.ended = true;
        changed.notify_all();
    }

    void end(Job& job, Result<JobResult> result) {
        JobState state = keep_end(files, folder(job.id), job.id, std::move(result));
        job.drop_task();
        const std::lock_guard lock(mutex);
        job.state = std::move(state);
    }

    // ---- beginning and removal, by the keeper ----

    void create(const std::shared_ptr<Job>& job, const std::vector<JobInput>& inputs,
                Settled& settled) {
        Result<void> made = make_folder(files, directory, job->id, job->order, job->begun, inputs);
        {
            const std::lock_guard lock(mutex);
            if (made && !stopping) {
                made = start(job);
            }
            if (made) {
                jobs.emplace(job->id, job);
            }
            if (!made || stopping) {
                --running;
                changed.notify_all();
            }
        }
        if (!made) {
            remove_folder(files, folder(job->id), kOrderFile);
        }
        settled.settle(std::move(made));
    }

    // Requires: the lock is held, and the job has been taken out of `jobs`. If it can't be removed and somebody waits at
    // `settled` to learn that, it is put back unchanged. The folder is removed once the job's thread has ended.
    Result<void> forget(const std::shared_ptr<Job>& job, const std::shared_ptr<Settled>& settled) {
        ANNALS_TRY_VOID(give([this, job, settled] {
            Result<void> gone = remove_order(files, folder(job->id));
            const bool comes_back = !gone && settled != nullptr;
            {
                const std::lock_guard lock(mutex);
                if (comes_back) {
                    jobs.emplace(job->id, job);
                    --removing;
                }
                if (!comes_back || stopping) {
                    job->stop.store(true, std::memory_order_relaxed);
                }
                if (!comes_back) {
                    leaving.push_back(job);
                }
                changed.notify_all();
            }
            if (settled != nullptr) {
                settled->settle(std::move(gone));
            }
        }));
        ++removing;
        return {};
    }

    // ---- start ----

    void take_up() {
        const auto names = files.list(directory);
        if (!names) {
            if (names.error().code != Errc::not_found) {
                log_error(fmt::format("jobs are ignored: {}", names.error().detail));
            }
            return;
        }
        for (const std::string& name : *names) {
            take_up(name);
        }
        const std::lock_guard lock(mutex);
        start_waiting();
        if (!jobs.empty()) {
            // Starts the keeper; otherwise jobs without a thread would wait until another is begun or removed.
            static_cast<void>(give([] {}));
        }
    }

    void take_up(const std::string& name) {
        const std::string own = folder(name);
        Result<FoundJob> found = read_folder(files, own);
        if (!found && found.error().code == Errc::not_found) {
            remove_folder(files, own);
            return;
        }
        if (!found) {
            log_error(fmt::format("the job in {} is ignored: {}", own, found.error().detail));
            return;
        }
        auto job = std::make_shared<Job>();
        job->id = name;
        job->order = std::move(found->order);
        job->begun = found->begun;
        job->state = std::move(found->state);
        if (job->state.stage != JobStage::running) {
            job->drop_task();
        }
        jobs.emplace(name, std::move(job));
    }

    void stop() {
        std::unique_lock lock(mutex);
        stopping = true;
        for (const auto& [id, job] : jobs) {
            job->stop.store(true, std::memory_order_relaxed);
        }
        changed.notify_all();
        lock.unlock();
        if (keeper.joinable()) {
            keeper.join();
        }
        for (const auto& [id, job] : jobs) {
            if (job->thread.joinable()) {
                job->thread.join();
            }
        }
    }
};

Jobs::Jobs(const Service& service, storage::FileSystem& files, std::string directory,
           JobsOptions options)
    : impl_(std::make_unique<Impl>(service, files, std::move(directory), options)) {
}

void Jobs::start() {
    if (!impl_->options.read_only) {
        impl_->take_up();
    }
}

Jobs::~Jobs() {
    impl_->stop();
}

asio::awaitable<Result<std::string>> Jobs::begin(Loop& loop, JobOrder order,
                                                 std::vector<JobInput> inputs) {
    auto job = std::make_shared<Impl::Job>();
    job->id = make_uuid();
    job->order = std::move(order);
    job->begun = now();
    auto settled = std::make_shared<Settled>();
    {
        const std::lock_guard lock(impl_->mutex);
        if (impl_->options.read_only) {
            co_return Error{Errc::no_store};
        }
        if (impl_->running >= impl_->options.running_max) {
            co_return Error{Errc::throttled, fmt::format("{} jobs are in progress; try again later",
                                                         impl_->running)};
        }
        if (impl_->jobs.size() >= impl_->options.kept_max) {
            co_return Error{Errc::throttled, "Too many jobs are kept: delete some"};
        }
        if (impl_->keeps_too_many(job->order.owner)) {
            co_return Error{Errc::throttled,
                            "You keep as many jobs as remain for all others: delete some of yours"};
        }
        Result<void> given = impl_->give([impl = impl_.get(), job, inputs = std::move(inputs),
                                          settled] { impl->create(job, inputs, *settled); });
        if (!given) {
            co_return std::move(given.error());
        }
        ++impl_->running;
    }
    Result<void> created = co_await Settled::outcome_of(loop, settled);
    if (!created) {
        co_return std::move(created.error());
    }
    co_return job->id;
}

asio::awaitable<Result<void>> Jobs::remove(Loop& loop, std::string id) {
    auto settled = std::make_shared<Settled>();
    {
        const std::lock_guard lock(impl_->mutex);
        const auto found = impl_->jobs.find(id);
        if (found == impl_->jobs.end()) {
            co_return Error{Errc::not_found, "There is no such job"};
        }
        Result<void> forgotten = impl_->forget(found->second, settled);
        if (!forgotten) {
            co_return forgotten;
        }
        impl_->jobs.erase(found);
    }
    Result<void> gone = co_await Settled::outcome_of(loop, settled);
    co_return gone;
}

Result<std::optional<JobView>> Jobs::look(std::string_view id, bool asked) {
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->jobs.find(id);
    if (found == impl_->jobs.end()) {
        return std::optional<JobView>();
    }
    Impl::Job& job = *found->second;
    JobView view;
    view.owner = job.order.owner;
    view.scopes = job.order.scopes;
    view.url = job.order.url;
    view.stage = job.state.stage;
    if (view.stage != JobStage::running) {
        view.state = job.state;
        view.expires = impl_->expires(job);
        return std::optional(std::move(view));
    }
    view.progress = job.progress;
    view.retry_after = retry_after(std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::microseconds(now().us - job.begun.us)));
    if (asked && !job.rate.take()) {
        return Error{Errc::throttled, "Polled too often: observe Retry-After"};
    }
    return std::optional(std::move(view));
}

Result<std::unique_ptr<storage::File>> Jobs::open(std::string_view id, std::string_view name) {
    const Error missing{Errc::not_found, "The file does not exist"};
    {
        const std::lock_guard lock(impl_->mutex);
        const auto found = impl_->jobs.find(id);
        const bool there =
            found != impl_->jobs.end() && found->second->state.stage == JobStage::done &&
            is_plain_name(name, kFileNameCharsMax) &&
            std::ranges::any_of(found->second->state.result.files,
                                [&](const JobFile& file) { return file.name == name; });
        if (!there) {
            return missing;
        }
    }
    auto file = impl_->files.open(fmt::format("{}/{}", impl_->folder(id), name),
                                  storage::FileSystem::Mode::read);
    if (!file && file.error().code == Errc::no_store) {
        // Reading needs no space: the process is out of descriptors.
        file.error().code = Errc::overloaded;
    }
    if (!file && file.error().code == Errc::not_found) {
        return missing;  // removed in the meantime; the error must not reveal its path
    }
    return file;
}

void Jobs::set_access_log(std::shared_ptr<AccessLog> log) {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->access_log.swap(log);
    }
    // The previous log is released without the lock, since it may have lines to write.
}

storage::FileSystem& Jobs::files() const noexcept {
    return impl_->files;
}

void Jobs::wait_until_idle() {
    std::unique_lock lock(impl_->mutex);
    impl_->changed.wait(lock, [this] {
        return impl_->running == 0 && impl_->removing == 0 && impl_->tasks.empty();
    });
}

}  // namespace annals::core
