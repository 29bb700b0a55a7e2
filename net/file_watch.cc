#include "net/file_watch.h"

#include "core/base/log.h"

#include <fmt/format.h>

#include <system_error>

namespace annals::net {

namespace {

/// A missing file also has a time.
std::filesystem::file_time_type write_time(const std::string& file) {
    std::error_code ignored;
    return std::filesystem::last_write_time(file, ignored);
}

}  // namespace

void FileWatch::add(std::string file) {
    const Time written = write_time(file);
    files_.emplace_back(std::move(file), written);
}

bool FileWatch::must_read() {
    changed_ = false;
    for (auto& [file, written] : files_) {
        const Time now = write_time(file);
        changed_ = changed_ || now != written;
        written = now;
    }
    return changed_ || failed_;
}

void FileWatch::warn(const Error& why, std::string_view kept) {
    log_warning(fmt::format("{}: {}", kept, why.detail));
}

}  // namespace annals::net
