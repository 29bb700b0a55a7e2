#include "storage/search_file_writer.h"

namespace annals::storage {
namespace {

/// Small enough for the nearer caches, and large enough that system calls don't matter.
constexpr std::size_t kBuffer = 256 << 10;

constexpr char kPadding[kSearchFileAligned] = {};

}  // namespace

SearchFileWriter::SearchFileWriter(std::unique_ptr<File> file, std::uint64_t number,
                                   std::uint64_t seed)
    : file_(std::move(file)), number_(number), checksum_(seed) {
    buffer_.reserve(kBuffer);
}

Result<SearchManifest::Place> SearchFileWriter::add(const SearchRun& run) {
    const std::uint64_t over = (written_ + buffer_.size()) % kSearchFileAligned;
    take({kPadding, over == 0 ? 0 : kSearchFileAligned - over});
    const std::uint64_t offset = written_ + buffer_.size();
    checksum_.restart();
    run.write([this](std::string_view part) {
        checksum_.add(part);
        take(part);
    });
    ANNALS_TRY_VOID(state_);
    return SearchManifest::Place{.file = number_,
                                 .offset = offset,
                                 .bytes = written_ + buffer_.size() - offset,
                                 .checksum = checksum_.value(),
                                 .documents = run.size()};
}

Result<void> SearchFileWriter::finish() {
    write(buffer_);
    buffer_.clear();
    return state_;
}

void SearchFileWriter::take(std::string_view part) {
    if (buffer_.size() + part.size() <= kBuffer) {
        buffer_ += part;
        return;
    }
    write(buffer_);
    buffer_.clear();
    if (part.size() < kBuffer) {
        buffer_ += part;
    } else {
        write(part);
    }
}

void SearchFileWriter::write(std::string_view bytes) {
    if (state_) {
        state_ = file_->write(written_, bytes);
    }
    written_ += bytes.size();
}

}  // namespace annals::storage
