#include "tools/bench/working_folder.h"

#include "core/base/random.h"
#include "storage/file_system.h"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <utility>

namespace annals::bench {
namespace {

void remove(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}

}  // namespace

Result<std::unique_ptr<WorkingFolder>> WorkingFolder::create(const std::string& directory) {
    std::string path = fmt::format("{}/annals-bench-{:016x}", directory, random_u64());
    ANNALS_TRY_VOID(storage::posix_file_system().make_directory(path));
    return std::unique_ptr<WorkingFolder>(new WorkingFolder(std::move(path)));
}

WorkingFolder::WorkingFolder(std::string path) : path_(std::move(path)) {
    int ends[2];
    // Servers that we start inherit the write end, so no one writes any more once the read end sees its end.
    if (::pipe(ends) != 0) {
        return;
    }
    remover_ = ::fork();
    if (remover_ == 0) {
        ::setsid();  // ignores the terminal's signals
        ::close(ends[1]);
        char byte = 0;
        while (::read(ends[0], &byte, 1) < 0 && errno == EINTR) {
        }
        remove(path_);
        ::_exit(0);
    }
    ::close(ends[0]);
    held_ = ends[1];
}

WorkingFolder::~WorkingFolder() {
    remove(path_);
    if (held_ >= 0) {
        ::close(held_);
    }
    if (remover_ > 0) {
        ::kill(remover_, SIGKILL);
        ::waitpid(remover_, nullptr, 0);
    }
}

}  // namespace annals::bench
