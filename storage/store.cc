#include "storage/store.h"

#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "storage/file_system.h"
#include "storage/index.h"
#include "storage/log_writer.h"
#include "storage/recovery.h"
#include "storage/sequencer.h"

#include <fmt/format.h>

#include <chrono>

namespace annals::storage {

struct Store::Impl {
    std::uint64_t store_id = 0;
    std::unique_ptr<DirectoryLock> lock;
    SegmentTable segments;
    Index index;
    std::uint64_t log_bytes = 0;  ///< of a read-only store

    // None in a read-only store. In this order: each uses what stands above it.
    std::unique_ptr<SegmentWriter> segment_writer;
    std::unique_ptr<Sequencer> sequencer;
    std::unique_ptr<LogWriter> log_writer;

    Hash128 key(TypeId type, std::string_view id) const noexcept {
        return resource_key(store_id, type, id);
    }
};

namespace {

Result<void> prepare_directory(FileSystem& fs, const std::string& directory,
                               const std::string& segments, const StoreOptions& options,
                               std::unique_ptr<DirectoryLock>& lock) {
    if (fs.exists(segments)) {
        ANNALS_TRY_VOID(check_format(fs, segments));
    } else if (options.read_only) {
        return Error{Errc::usage, fmt::format("{}: no store is here", directory), {}};
    }
    if (options.read_only) {
        return {};
    }
    ANNALS_TRY_VOID(fs.make_directory(directory));
    ANNALS_TRY(lock, fs.lock(directory));
    ANNALS_TRY_VOID(fs.make_directory(segments));
    return fs.sync_directory(directory);
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(FileSystem& fs, std::string directory,
                                           StoreOptions options, OpenReport* report) {
    const auto start = std::chrono::steady_clock::now();
    OpenReport unused;
    OpenReport& found = report != nullptr ? *report : unused;
    found = {};
    auto impl = std::make_unique<Impl>();
    const std::string segments = directory + "/segments";
    ANNALS_TRY_VOID(prepare_directory(fs, directory, segments, options, impl->lock));
    ANNALS_TRY(Recovered recovered,
               recover(fs, segments, options, impl->index, impl->segments, found));
    const bool fresh = recovered.last_number == 0;
    while (fresh && recovered.store_id == 0) {
        recovered.store_id = random_u64();
    }
    impl->store_id = recovered.store_id;
    impl->log_bytes = recovered.log_bytes;

    if (!options.read_only) {
        impl->segment_writer = std::make_unique<SegmentWriter>(
            fs, segments, SegmentWriter::Options{options.segment_bytes, options.prepare_segments},
            impl->store_id, impl->segments);
        impl->segment_writer->add_log_bytes(recovered.log_bytes);
        Result<void> begun;
        if (recovered.open) {
            impl->segment_writer->resume(std::move(*recovered.open));
        } else {
            begun = impl->segment_writer->begin(recovered.last_number + 1,
                                                {recovered.last_position.value + 1},
                                                recovered.last_instant);
            if (!begun && (fresh || begun.error().code != Errc::no_store)) {
                return std::move(begun.error());
            }
        }
        impl->sequencer = std::make_unique<Sequencer>(
            impl->index,
            Sequencer::Start{impl->store_id, recovered.last_position, recovered.last_instant},
            options.clock ? std::move(options.clock) : std::function<Instant()>(now));
        if (!begun) {
            log_warning(
                fmt::format("log: {}: reading only, until there is space", begun.error().detail));
            impl->sequencer->drop(WriteState::no_space);
        }
        impl->log_writer = std::make_unique<LogWriter>(
            *impl->sequencer, *impl->segment_writer, impl->index,
            LogWriter::Options{options.durability, options.sync_interval_ms});
    }
    found.segments = impl->segments.size();
    found.resources = impl->index.totals({}).resources;
    found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

Store::~Store() = default;

Submission Store::submit(Commit commit) {
    if (impl_->sequencer == nullptr) {
        Submission refused;
        refused.status = Submission::Status::read_only;
        return refused;
    }
    return impl_->sequencer->submit(commit);
}

void Store::flush() noexcept {
    if (impl_->sequencer != nullptr) {
        impl_->sequencer->flush();
    }
}

Result<void> Store::wait(Ticket ticket) {
    if (impl_->log_writer == nullptr || ticket.value == 0) {
        return {};
    }
    flush();
    return impl_->log_writer->wait(ticket);
}

void Store::add_listener(SettleListener& listener) {
    if (impl_->log_writer != nullptr) {
        impl_->log_writer->add_listener(listener);
    }
}

void Store::remove_listener(SettleListener& listener) {
    if (impl_->log_writer != nullptr) {
        impl_->log_writer->remove_listener(listener);
    }
}

WriteState Store::write_state() const noexcept {
    return impl_->sequencer == nullptr ? WriteState::read_only : impl_->sequencer->state();
}

Position Store::last_position() const noexcept {
    return impl_->index.last_position();
}

std::optional<VersionInfo> Store::current(TypeId type, std::string_view id, Position bound) const {
    return impl_->index.current(impl_->key(type, id), bound);
}

std::optional<VersionInfo> Store::version(TypeId type, std::string_view id,
                                          VersionNumber number) const {
    return impl_->index.version(impl_->key(type, id), number);
}

std::optional<VersionInfo> Store::current_at(TypeId type, std::string_view id,
                                             Instant instant) const {
    return impl_->index.current_at(impl_->key(type, id), instant);
}

std::optional<VersionInfo> Store::at(Position position) const {
    return impl_->index.at(position);
}

Head Store::head(TypeId type, std::string_view id) const {
    return impl_->sequencer == nullptr ? impl_->index.head(impl_->key(type, id))
                                       : impl_->sequencer->head(type, id);
}

Result<StoredVersion> Store::load(const VersionInfo& info) const {
    const Location location = impl_->index.location(info.position);
    const Segment* segment = impl_->segments.find(location.segment);
    const auto corrupt = [&](std::string_view why) {
        return Error{Errc::corrupt,
                     fmt::format("segments/{}: offset {}: {}", segment_name(location.segment),
                                 location.offset, why),
                     {}};
    };
    if (segment == nullptr) {
        return Error{Errc::not_found, "the version was erased", {}};
    }
    auto record = decode_record(segment->view(), location.offset);
    if (!record) {
        return corrupt("damaged record");
    }
    if (record->kind != RecordKind::version || record->version != info.version ||
        record->instant != info.instant || record->deletion != info.deletion ||
        record->type != resource_type_name(info.type)) {
        return corrupt("the record is of another version");
    }
    return StoredVersion{
        .info = info, .id = record->id, .body = record->body, .pin = segment->data};
}

HistoryPage Store::history(const HistoryQuery& query) const {
    std::optional<Hash128> key;
    if (query.type && query.id) {
        key = impl_->key(*query.type, *query.id);
    }
    return impl_->index.history(query, key);
}

std::vector<VersionInfo> Store::current_at(std::optional<TypeId> type, Instant instant,
                                           Position bound, std::uint32_t& from,
                                           std::uint32_t count_scanned) const {
    return impl_->index.current_at(type, instant, bound, from, count_scanned);
}

std::uint32_t Store::resource_count() const noexcept {
    return impl_->index.resource_count();
}

std::vector<VersionInfo> Store::carriers(TypeId type, std::uint64_t term) const {
    return impl_->index.carriers(type, term);
}

Totals Store::totals(std::optional<TypeId> type) const {
    return impl_->index.totals(type);
}

StoreMetrics Store::metrics() const {
    StoreMetrics metrics;
    metrics.segments = impl_->segments.size();
    metrics.index_bytes = impl_->index.bytes();
    metrics.log_bytes = impl_->log_bytes;
    if (impl_->log_writer != nullptr) {
        impl_->log_writer->count(metrics);
        metrics.log_bytes = impl_->segment_writer->log_bytes();
        metrics.gathered_bytes = impl_->sequencer->unsettled_bytes();
    }
    return metrics;
}

std::uint64_t identifier_term(TypeId type, std::string_view value) noexcept {
    return hash64(value, hash64(resource_type_name(type)));
}

}  // namespace annals::storage
