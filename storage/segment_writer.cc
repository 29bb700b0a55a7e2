#include "storage/segment_writer.h"

#include "core/base/random.h"
#include "core/base/thread_name.h"
#include "storage/whole_file.h"

#include <algorithm>
#include <chrono>

namespace annals::storage {
namespace {

// Written between two pauses: a sync of the log may have to wait for it.
constexpr std::uint64_t kZerosChunk = 1 << 20;
constexpr std::uint64_t kFirstSegmentBytesMax = 16 << 20;
constexpr std::uint64_t kSegmentBytesMin = 4096;
constexpr auto kPreparePause = std::chrono::milliseconds(8);

// The next segment is prepared once the open one holds this much, or 1 / kPrepareShare of its capacity: early, since a busy log
// fills the open one in less time than zeros take on a machine with fresh memory.
constexpr std::uint64_t kPrepareAfter = 1 << 20;
constexpr std::uint64_t kPrepareShare = 4;

// With zeros already in place, a sync needs no change of the file's metadata. When this much is synced at a time, that doesn't
// matter, but writing everything twice does.
constexpr std::uint64_t kPrepareSyncBytesMax = 192 << 10;
constexpr std::uint64_t kRecentSyncs = 8;

// What a small commit may need.
constexpr std::uint64_t kProbeBytes = 4 * kPageBytes;

// A file being filled with fewer zeros is not taken.
constexpr std::uint64_t kFilledBytesMin = 4 << 20;

// After a failed sync it is unknown what the device has, whatever the reason.
Result<void> final_if_failed(Result<void> result) {
    if (!result && result.error().code == Errc::no_store) {
        result.error().code = Errc::io;
    }
    return result;
}

}  // namespace

SegmentPreparer::~SegmentPreparer() {
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
        if (ready_ != nullptr) {
            ready_.reset();
            (void)fs_.remove(path_);  // If that fails, the next opening removes it.
        }
    }
}

void SegmentPreparer::start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void SegmentPreparer::request(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (ready_ != nullptr || wanted_bytes_ != 0) {
        return;
    }
    wanted_bytes_ = bytes;
    wake_.notify_one();
}

std::unique_ptr<File> SegmentPreparer::take(std::uint64_t least) {
    std::unique_lock lock(mutex_);
    if (wanted_bytes_ >= least && filled_bytes_ >= kFilledBytesMin) {
        cut_ = true;
        wake_.notify_one();
        done_.wait(lock, [&] { return !cut_; });
    }
    return ready_bytes_ >= least ? std::move(ready_) : nullptr;
}

void SegmentPreparer::run(const std::stop_token& stop) {
    name_thread("preparer");
    while (true) {
        std::uint64_t bytes = 0;
        {
            std::unique_lock lock(mutex_);
            if (!wake_.wait(lock, stop, [&] { return wanted_bytes_ != 0; })) {
                return;
            }
            bytes = wanted_bytes_;
        }
        auto file = fill(bytes, stop);
        const std::lock_guard lock(mutex_);
        ready_ = std::move(file);
        ready_bytes_ = ready_ != nullptr ? bytes : 0;
        wanted_bytes_ = 0;
        filled_bytes_ = 0;
        cut_ = false;
        done_.notify_one();
    }
}

std::unique_ptr<File> SegmentPreparer::fill(std::uint64_t bytes, const std::stop_token& stop) {
    const auto give_up = [&]() -> std::unique_ptr<File> {
        (void)fs_.remove(
            path_);  // The log writer then makes its own file and reports its own error.
        return nullptr;
    };
    auto created = create_anew(fs_, path_);
    if (!created) {
        return nullptr;
    }
    std::unique_ptr<File> file = *std::move(created);
    if (!file->allocate(bytes)) {
        return give_up();
    }
    for (std::uint64_t at = 0; at < bytes; at += kZerosChunk) {
        const std::uint64_t now = std::min(kZerosChunk, bytes - at);
        if (!file->write_zeros(at, now) || !file->sync()) {
            return give_up();
        }
        std::unique_lock lock(mutex_);
        filled_bytes_ = at + now;
        (void)wake_.wait_for(lock, stop, kPreparePause, [&] { return cut_; });
        if (stop.stop_requested()) {
            lock.unlock();
            return give_up();
        }
        if (cut_) {
            break;
        }
    }
    return file;
}

SegmentWriter::SegmentWriter(FileSystem& fs, std::string directory, Options options,
                             std::uint64_t store_id, SegmentTable& table)
    : fs_(fs),
      directory_(std::move(directory)),
      options_(options),
      store_id_(store_id),
      table_(table),
      preparer_(fs, directory_ + "/prepared.tmp"),
      drop_behind_(fs, directory_, options.kept_bytes) {
    if (options_.prepare_ahead) {
        preparer_.start();
    }
}

void SegmentWriter::resume(OpenSegment segment) {
    next_number_ = segment.header.number + 1;
    newest_number_.store(segment.header.number, std::memory_order_release);
    open_number_.store(segment.header.number, std::memory_order_release);
    synced_ = segment.end;
    open_ = std::make_unique<OpenSegment>(std::move(segment));
    drop_behind_.begin(open_->header.number, open_->end);
}

Result<void> SegmentWriter::begin(std::uint64_t number, Position first_position,
                                  Instant last_instant) {
    next_number_ = number;
    newest_number_.store(number - 1, std::memory_order_release);
    return begin_with(0, true, first_position, last_instant);
}

bool SegmentWriter::fits(const Need& need) const noexcept {
    // Keeps room for a mark, so that an orderly end never has to begin a segment.
    return open_->end + need.bytes + kFrameHeaderBytes + open_->footer.bytes() +
               FooterBuilder::bytes_for(need.records) <=
           open_->bytes;
}

Result<void> SegmentWriter::make_room(const Need& need, Position first_position,
                                      Instant last_instant) {
    if (open_ != nullptr) {
        if (!sealing_ && fits(need)) {
            return {};
        }
        ANNALS_TRY_VOID(seal(last_instant));
    }
    const std::uint64_t least = kSegmentHeaderBytes + need.bytes + kFrameHeaderBytes +
                                FooterBuilder(first_position).bytes() +
                                FooterBuilder::bytes_for(need.records);
    return begin_with(least, false, first_position, last_instant);
}

Result<void> SegmentWriter::write(std::string_view frames) {
    const std::uint64_t last_page = (open_->end + frames.size()) / kPageBytes * kPageBytes;
    auto written = last_page + kPageBytes <= open_->bytes
                       ? open_->file->write_pages(open_->end, frames)
                       : open_->file->write(open_->end, frames);
    if (!written) {
        dirty_bytes_ = std::max<std::uint64_t>(dirty_bytes_, frames.size());
        return written;
    }
    open_->end += frames.size();
    open_->marked = false;
    if (options_.prepare_ahead && recent_sync_bytes_ > 0 &&
        recent_sync_bytes_ <= kPrepareSyncBytesMax &&
        open_->end > std::min(kPrepareAfter, open_->bytes / kPrepareShare)) {
        preparer_.request(options_.segment_bytes);
    }
    return {};
}

Result<void> SegmentWriter::sync() {
    if (open_ != nullptr && synced_ < open_->end) {
        ANNALS_TRY_VOID(sync_file());
        const std::uint64_t bytes = open_->end - synced_;
        recent_sync_bytes_ =
            recent_sync_bytes_ == 0
                ? bytes
                : recent_sync_bytes_ - recent_sync_bytes_ / kRecentSyncs + bytes / kRecentSyncs;
        synced_ = open_->end;
        drop_behind_.durable(synced_, DropBehind::Clock::now());
    }
    return {};
}

Result<void> SegmentWriter::sync_file() {
    return final_if_failed(open_->file->sync());
}

Result<void> SegmentWriter::clean() {
    if (dirty_bytes_ > 0) {
        ANNALS_TRY_VOID(open_->file->write_zeros(open_->end, dirty_bytes_));
        ANNALS_TRY_VOID(sync_file());
        synced_ = open_->end;
        dirty_bytes_ = 0;
    }
    return {};
}

Result<void> SegmentWriter::probe(Instant last_instant) {
    ANNALS_TRY_VOID(clean());
    if (open_ != nullptr && (sealing_ || !fits({.bytes = kFrameHeaderBytes, .records = 1}))) {
        ANNALS_TRY_VOID(seal(last_instant));
    }
    if (open_ == nullptr) {
        return try_new_file();
    }
    // There are zeros already: whatever part of this is written, nothing changes.
    ANNALS_TRY_VOID(
        open_->file->write_zeros(open_->end, std::min(kProbeBytes, open_->bytes - open_->end)));
    ANNALS_TRY_VOID(sync_file());
    synced_ = open_->end;
    return {};
}

/// Tests with a temporary file: an empty segment would be left over if the next commit needs a larger one.
Result<void> SegmentWriter::try_new_file() {
    const std::string path = directory_ + "/new.tmp";
    ANNALS_TRY(std::unique_ptr<File> file, create_anew(fs_, path));
    auto written = file->write_zeros(0, kProbeBytes);
    if (written) {
        written = file->sync();
    }
    if (written) {
        written = fs_.sync_directory(directory_);  // A segment needs another descriptor for it.
    }
    file.reset();
    (void)fs_.remove(path);  // If that fails, the next segment's file replaces it.
    return written;
}

Result<void> SegmentWriter::mark(Position next_position, Instant last_instant) {
    if (open_ == nullptr || sealing_ || open_->marked || open_->end == kSegmentHeaderBytes) {
        return {};
    }
    ANNALS_TRY_VOID(clean());
    ANNALS_TRY_VOID(sync());
    char frame[kFrameHeaderBytes] = {};
    finish_frame({.length = sizeof frame,
                  .first_position = next_position,
                  .instant = last_instant,
                  .synced_offset = synced_,
                  .record_count = 0},
                 salt(), frame);
    ANNALS_TRY_VOID(write({frame, sizeof frame}));
    open_->marked = true;
    return sync();
}

Result<void> SegmentWriter::seal(Instant last_instant) {
    ANNALS_TRY_VOID(clean());
    // A whole footer implies that the frames are whole, too: synced together, the device might end up with the footer alone.
    ANNALS_TRY_VOID(sync());
    sealing_ = true;
    const std::string footer = open_->footer.build(open_->end, last_instant, salt());
    ANNALS_TRY_VOID(open_->file->write(open_->end, footer));
    const std::uint64_t bytes = open_->end + footer.size();
    ANNALS_TRY_VOID(open_->file->resize(bytes));
    ANNALS_TRY_VOID(sync_file());
    drop_behind_.durable(bytes, DropBehind::Clock::now());
    log_bytes_ -= open_->bytes;
    log_bytes_ += bytes;
    open_number_.store(0, std::memory_order_release);
    open_.reset();
    sealing_ = false;
    return {};
}

/// A file of `bytes` or, if there is no room for that, of fewer, but at least `least`.
Result<SegmentWriter::NewFile> SegmentWriter::make_file(std::uint64_t bytes, std::uint64_t least,
                                                        bool zeros) {
    if (auto file = preparer_.take(least)) {
        ANNALS_TRY(bytes, file->size());
        return NewFile{preparer_.path(), std::move(file), bytes};
    }
    const std::string path = directory_ + "/new.tmp";
    ANNALS_TRY(std::unique_ptr<File> file, create_anew(fs_, path));
    // A nearly full device still has room for a smaller segment.
    while (true) {
        auto made = zeros ? file->write_zeros(0, bytes) : file->allocate(bytes);
        if (made) {
            return NewFile{path, std::move(file), bytes};
        }
        if (made.error().code != Errc::no_store || bytes / 2 < std::max(least, kSegmentBytesMin)) {
            file.reset();
            (void)fs_.remove(path);
            return std::move(made.error());
        }
        bytes /= 2;
        ANNALS_TRY_VOID(file->resize(0));
    }
}

/// Gives the next segment its name, durably. After no_store it doesn't have it.
Result<void> SegmentWriter::give_name(const std::string& path, const std::string& name) {
    ANNALS_TRY_VOID(fs_.rename(path, name));
    auto durable = fs_.sync_directory(directory_);
    if (!durable && durable.error().code == Errc::no_store) {
        // It is still empty, and the next attempt makes another. If this one survives a crash, it is an empty last segment.
        if (const auto removed = fs_.remove(name); !removed) {
            return Error{Errc::io, removed.error().detail};
        }
    }
    return durable;
}

Result<void> SegmentWriter::begin_with(std::uint64_t least, bool zeros, Position first_position,
                                       Instant last_instant) {
    if (next_number_ > SegmentTable::kSlotMax) {
        return Error{Errc::io, "no segment numbers are left"};
    }
    const std::string name = directory_ + "/" + segment_name(next_number_);
    if (fs_.exists(name)) {
        // Renaming would destroy a file that nobody has read.
        return Error{Errc::io, name + ": there already, though it should be the next segment"};
    }
    const std::uint64_t wanted = std::max(options_.segment_bytes, padded(least));
    ANNALS_TRY(NewFile made,
               make_file(zeros ? std::min(wanted, kFirstSegmentBytesMax) : wanted, least, zeros));
    const SegmentHeader header{.store_id = store_id_,
                               .number = next_number_,
                               .first_position = first_position,
                               .salt = random_u64(),
                               .last_instant = last_instant};
    char encoded[kSegmentHeaderBytes];
    encode_segment_header(header, encoded);
    ANNALS_TRY_VOID(made.file->write(0, {encoded, sizeof encoded}));
    ANNALS_TRY_VOID(final_if_failed(made.file->sync()));
    ANNALS_TRY(std::shared_ptr<const char> data, made.file->map(made.bytes));
    ANNALS_TRY_VOID(give_name(made.path, name));
    const std::uint32_t slot = table_.insert({header, std::move(data), made.bytes});
    open_ = std::make_unique<OpenSegment>(OpenSegment{.header = header,
                                                      .slot = slot,
                                                      .file = std::move(made.file),
                                                      .end = kSegmentHeaderBytes,
                                                      .bytes = made.bytes,
                                                      .footer = FooterBuilder(first_position),
                                                      .marked = false});
    log_bytes_ += made.bytes;
    synced_ = kSegmentHeaderBytes;
    dirty_bytes_ = 0;
    drop_behind_.begin(next_number_, kSegmentHeaderBytes);
    newest_number_.store(next_number_, std::memory_order_release);
    open_number_.store(next_number_, std::memory_order_release);
    ++next_number_;
    return {};
}

}  // namespace annals::storage
