#include "storage/drop_behind.h"

#include "storage/format.h"

#include <algorithm>

namespace annals::storage {
namespace {

/// The system keeps pages in groups of up to this many bytes and drops a group only as a whole: one that two chunks share goes
/// with the second.
constexpr std::uint64_t kPageGroupMax = 2 << 20;

}  // namespace

void DropBehind::begin(std::uint64_t number, std::uint64_t offset) {
    if (kept_bytes_ == 0) {
        return;
    }
    chunks_.push_back({.number = number, .offset = offset, .end = offset, .written = {}});
}

void DropBehind::durable(std::uint64_t end, Clock::time_point now) {
    if (kept_bytes_ == 0) {
        return;
    }
    kept_ += end - chunks_.back().end;
    chunks_.back().end = end;
    chunks_.back().written = now;
    if (end - chunks_.back().offset >= kChunk) {
        begin(chunks_.back().number, end);
    }
    while (kept_ - (chunks_.front().end - chunks_.front().offset) >= kept_bytes_) {
        const Chunk oldest = chunks_.front();
        chunks_.pop_front();
        kept_ -= oldest.end - oldest.offset;
        if (now - oldest.written < kPoured) {
            forget(oldest);
        }
    }
}

void DropBehind::forget(const Chunk& chunk) {
    // Opened by name, so that a removed file is not kept open. What cannot be opened stays as it is.
    if (auto file =
            fs_.open(directory_ + "/" + segment_name(chunk.number), FileSystem::Mode::read)) {
        const std::uint64_t begin = chunk.offset - std::min(chunk.offset, kPageGroupMax);
        (*file)->forget(begin, chunk.end - begin);
    }
}

}  // namespace annals::storage
