#include "core/search/indexing.h"

#include "core/base/all_resource_types.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/thread_name.h"
#include "core/search/stored_parameters.h"
#include "core/search/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace annals::core::search {

namespace {

/// How long it may take to notice a change while there are no writes or searches.
constexpr std::chrono::seconds kLookInterval(1);

/// Extracts entries of stored bodies, for one of the store's threads.
class BodyExtractor {
  public:
    BodyExtractor(std::shared_ptr<const ParameterSet> parameters, std::uint64_t seed,
                  std::string base_url)
        : extractor_(std::move(parameters), seed, std::move(base_url)) {}

    Result<void> extract(TypeId type, std::string_view body, storage::SearchEntries& entries) {
        ANNALS_TRY(json::Document document, parser_.parse(body));
        extractor_.extract_for_run(type, document.root(), entries);
        parser_.recycle(std::move(document));
        return {};
    }

  private:
    json::Parser parser_;
    Extractor extractor_;
};

storage::SearchSetup setup_of(std::shared_ptr<const ParameterSet> parameters, std::uint64_t seed,
                              const std::string& base_url) {
    storage::SearchSetup setup;
    for (const TypeId type : kAllResourceTypes) {
        setup.fingerprints[type.value] = hash64(base_url, parameters->fingerprint(type));
    }
    setup.last_updated_column = column_of("_lastUpdated");
    setup.identity = [](std::uint64_t key) { return identity(key); };
    setup.extractor = [parameters = std::move(parameters), seed,
                       base_url]() -> storage::SearchExtract {
        auto extractor = std::make_shared<BodyExtractor>(parameters, seed, base_url);
        return [extractor](TypeId type, std::string_view /*id*/, std::string_view body,
                           storage::SearchEntries& entries) {
            return extractor->extract(type, body, entries);
        };
    };
    return setup;
}

}  // namespace

std::function<storage::SearchSetup(const storage::Store&)> search_setup(
    std::string base_url, References references, std::shared_ptr<const TimeZone> zone) {
    return [base_url = std::move(base_url), references,
            zone = std::move(zone)](const storage::Store& store) {
        StoredParameters stored(store, references, zone);
        stored.refresh();
        return setup_of(stored.make(), store.search_seed(), base_url);
    };
}

void Indexing::Epoch::extract(TypeId type, json::Value resource,
                              storage::SearchEntries& entries) const {
    thread_extractor(parameters_, seed_, base_url_).extract_for_run(type, resource, entries);
}

const storage::SearchEntries& Indexing::Epoch::entries_of(TypeId type, json::Value resource) const {
    thread_local storage::SearchEntries entries;
    extract(type, resource, entries);
    return entries;
}

struct Indexing::Impl {
    Impl(storage::Store& of, std::string base, References references,
         std::shared_ptr<const TimeZone> zone)
        : store(of),
          base_url(std::move(base)),
          stored(of, references, std::move(zone)),
          thread([this] { run(); }) {}

    ~Impl() {
        {
            const std::scoped_lock lock(mutex);
            stopping = true;
        }
        wake.notify_all();
        thread.join();
    }

    /// Makes the stored parameters current, and requests a rebuild of the types whose parameters changed. Requires: `mutex`.
    void refresh(std::uint64_t stamp) {
        stored.refresh();
        const auto before = now_current();
        faults.clear();
        auto set = stored.make({}, &faults);
        if (before != nullptr) {
            std::vector<TypeId> changed;
            for (const TypeId type : kAllResourceTypes) {
                if (set->fingerprint(type) != before->parameters()->fingerprint(type)) {
                    changed.push_back(type);
                    store.mix_search(type);
                    add_unready(*set, *before->parameters(), type);
                }
            }
            if (!unready.empty()) {
                faults.clear();
                set = stored.make(unready, &faults);
            }
            if (!changed.empty()) {
                retired.push_back(before);
                ask(changed);
            }
        }
        for (const Error& fault : faults) {
            log_warning(
                fmt::format("search: {} cannot be used: {}", fault.expression, fault.detail));
        }
        make_current(std::make_shared<const Epoch>(std::move(set), store.search_seed(), base_url));
        seen.store(stamp, std::memory_order_release);
    }

    /// Calls refresh() if the stored parameters may have changed. Requires: `mutex`.
    void look() {
        const std::uint64_t stamp = StoredParameters::stamp(store);
        if (stamp != seen.load(std::memory_order_relaxed)) {
            refresh(stamp);
        }
    }

    /// New or changed parameters of `type` can't be used until it has been rebuilt.
    void add_unready(const ParameterSet& set, const ParameterSet& before, TypeId type) {
        for (const Parameter& parameter : set.of(type)) {
            const Parameter* const was = before.find(type, parameter.code);
            const auto alike = [](const Parameter::Component& a, const Parameter::Component& b) {
                return a.parameter->code == b.parameter->code && a.expression == b.expression;
            };
            const bool same = was != nullptr && was->url == parameter.url &&
                              was->type == parameter.type &&
                              was->expression == parameter.expression &&
                              std::ranges::equal(was->components, parameter.components, alike);
            if (!parameter.standard && !same &&
                std::ranges::find(unready, parameter.url) == unready.end()) {
                unready.push_back(parameter.url);
            }
        }
    }

    /// Requires: `mutex`.
    void ask(std::span<const TypeId> types) {
        for (const TypeId type : types) {
            if (std::ranges::find(asked, type) == asked.end()) {
                asked.push_back(type);
            }
        }
        wake.notify_all();
    }

    /// The thread: rebuilds what was requested or has changed.
    void run() {
        name_thread("search indexing");
        std::unique_lock lock(mutex);
        for (;;) {
            while (
                !wake.wait_for(lock, kLookInterval, [&] { return stopping || !asked.empty(); })) {
                look();
            }
            if (stopping) {
                return;
            }
            if (!wait_for_writers(lock)) {
                return;
            }
            // From here on everything written is extracted with this set, or with a newer one that requests another rebuild.
            const auto set = now_current()->parameters();
            under_way = std::move(asked);
            asked.clear();
            // The store outlives this and may call back later.
            const auto left = std::make_shared<std::atomic<std::size_t>>(under_way.size());
            const storage::SearchSetup setup = setup_of(set, store.search_seed(), base_url);
            // Under the lock: if the set were replaced meanwhile, the types would be labelled with the wrong one.
            for (const TypeId type : under_way) {
                store.rebuild_search(type, setup, [left] { left->fetch_sub(1); });
            }
            while (!stopping && left->load() != 0) {
                wake.wait_for(lock, std::chrono::milliseconds(10));
            }
            if (stopping) {
                return;
            }
            under_way.clear();
            // Changes made meanwhile have been requested and are pending.
            if (asked.empty() && !unready.empty()) {
                unready.clear();
                retired.push_back(now_current());
                make_current(
                    std::make_shared<const Epoch>(stored.make(), store.search_seed(), base_url));
            }
            wake.notify_all();
        }
    }

    /// Waits until everything extracted with earlier sets can be found, so that a rebuild sees it. False if stopping.
    bool wait_for_writers(std::unique_lock<std::mutex>& lock) {
        while (!retired.empty()) {
            const std::shared_ptr<const Epoch> epoch = retired.back();
            retired.pop_back();
            while (epoch.use_count() > 1) {
                // Its holders are between two awaits and don't notify.
                if (wake.wait_for(lock, std::chrono::milliseconds(5), [&] { return stopping; })) {
                    return false;
                }
            }
            std::atomic_thread_fence(std::memory_order_acquire);
            const storage::Ticket last{epoch->last_ticket_.load(std::memory_order_acquire)};
            lock.unlock();
            // Dropped or durable, it is settled.
            static_cast<void>(store.wait(last));
            lock.lock();
        }
        return !stopping;
    }

    std::shared_ptr<const Epoch> now_current() const {
        const std::scoped_lock lock(current_mutex);
        return current;
    }

    void make_current(std::shared_ptr<const Epoch> epoch) {
        const std::scoped_lock lock(current_mutex);
        current.swap(epoch);
    }

    storage::Store& store;
    const std::string base_url;
    std::atomic<std::uint64_t> seen = 0;  ///< StoredParameters::stamp() when `current` was made
    // Held while a pointer is copied. (ThreadSanitizer reports the atomic shared_ptr of libstdc++ 12.)
    mutable std::mutex current_mutex;
    std::shared_ptr<const Epoch> current;

    mutable std::mutex mutex;  ///< guards what follows, and the making of `current`
    std::condition_variable wake;
    StoredParameters stored;
    std::vector<Error> faults;
    std::vector<std::string> unready;                   ///< urls
    std::vector<std::shared_ptr<const Epoch>> retired;  ///< that may still be in use
    std::vector<TypeId> asked;
    std::vector<TypeId> under_way;
    bool stopping = false;
    std::thread thread;  // last: it uses the members above
};

Indexing::Indexing(storage::Store& store, std::string base_url, References references,
                   std::shared_ptr<const TimeZone> zone)
    : impl_(std::make_unique<Impl>(store, std::move(base_url), references, std::move(zone))) {
    const std::scoped_lock lock(impl_->mutex);
    impl_->refresh(StoredParameters::stamp(store));
}

Indexing::~Indexing() = default;

std::shared_ptr<const Indexing::Epoch> Indexing::epoch() {
    const std::uint64_t stamp = StoredParameters::stamp(impl_->store);
    if (stamp != impl_->seen.load(std::memory_order_acquire)) {
        const std::scoped_lock lock(impl_->mutex);
        impl_->look();
    }
    return impl_->now_current();
}

std::shared_ptr<const ParameterSet> Indexing::parameters() {
    return epoch()->parameters();
}

void Indexing::submitted(const Epoch& epoch, storage::Ticket ticket) noexcept {
    std::uint64_t last = epoch.last_ticket_.load(std::memory_order_relaxed);
    while (last < ticket.value && !epoch.last_ticket_.compare_exchange_weak(
                                      last, ticket.value, std::memory_order_release)) {
    }
}

bool Indexing::reindex(std::span<const TypeId> types) {
    const std::scoped_lock lock(impl_->mutex);
    if (!impl_->asked.empty() || !impl_->under_way.empty()) {
        return false;
    }
    impl_->ask(types);
    return true;
}

Indexing::Progress Indexing::progress() const {
    const std::scoped_lock lock(impl_->mutex);
    Progress progress;
    progress.running = !impl_->asked.empty() || !impl_->under_way.empty();
    progress.types = impl_->asked;
    for (const TypeId type : impl_->under_way) {
        if (const auto of_type = impl_->store.rebuilding_search(type)) {
            progress.types.push_back(type);
            progress.documents_done += of_type->documents_done;
            progress.documents += of_type->documents;
        }
    }
    return progress;
}

std::vector<Error> Indexing::faults() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->faults;
}

void Indexing::wait_until_idle() {
    std::unique_lock lock(impl_->mutex);
    impl_->wake.wait(lock, [&] { return impl_->asked.empty() && impl_->under_way.empty(); });
}

}  // namespace annals::core::search
