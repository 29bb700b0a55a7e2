#include "tools/commands/replicate_state.h"

#include "core/base/parts.h"
#include "core/target.h"
#include "storage/file_system.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <charconv>

namespace annals::tools {

namespace {

constexpr std::string_view kFirstLine = "annals-replicate 1";
constexpr std::uint64_t kStateBytesMax = 64 << 20;  // a page's link may be as long as the page

std::string_view value_of(std::string_view line, std::string_view key) {
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ') {
        return line.substr(key.size() + 1);
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<storage::File>> lock_state(const std::string& path) {
    storage::FileSystem& files = storage::posix_file_system();
    const std::string name = path + ".lock";
    auto file = files.open(name, storage::FileSystem::Mode::read_write);
    if (!file && file.error().code == Errc::not_found) {
        file = files.open(name, storage::FileSystem::Mode::create);
        if (!file && files.exists(name)) {
            file = files.open(name, storage::FileSystem::Mode::read_write);
        }
    }
    if (file && !(*file)->lock()) {
        return Error{Errc::usage, path + ": in use by another process"};
    }
    return file;
}

Result<std::optional<ReplicateState>> read_state(const std::string& path, const std::string& from,
                                                 const std::string& to) {
    storage::FileSystem& files = storage::posix_file_system();
    if (!files.exists(path)) {
        return std::optional<ReplicateState>();
    }
    ANNALS_TRY(const std::string text, storage::read_whole(files, path, kStateBytesMax));
    std::string_view rest = text;
    if (take_until(rest, '\n') != kFirstLine) {
        return Error{Errc::usage, path + " is not a state file of annals replicate"};
    }
    ReplicateState state;
    while (!rest.empty()) {
        const std::string_view line = take_until(rest, '\n');
        if (const auto value = value_of(line, "from"); !value.empty()) {
            state.from = value;
        } else if (const auto server = value_of(line, "to"); !server.empty()) {
            state.to = server;
        } else if (const auto target = value_of(line, "target"); !target.empty()) {
            state.target = target;
        } else if (const auto mark = value_of(line, "after"); !mark.empty()) {
            std::uint64_t number = 0;
            std::from_chars(mark.data(), mark.data() + mark.size(), number, 16);
            state.after = number;
        }
    }
    if (state.from != from || state.to != to) {
        return Error{Errc::usage, fmt::format("{} belongs to the replication from {} to {}", path,
                                              state.from, state.to)};
    }
    return std::optional(std::move(state));
}

Result<void> check_state_place(const std::string& path) {
    storage::FileSystem& files = storage::posix_file_system();
    const std::string draft = path + ".tmp";  // the name that replace_file() uses
    ANNALS_TRY_VOID(storage::create_anew(files, draft));
    return files.remove(draft);
}

Result<void> write_state(const std::string& path, const ReplicateState& state) {
    std::string text = fmt::format("{}\nfrom {}\nto {}\n", kFirstLine, state.from, state.to);
    if (!state.target.empty()) {
        text += fmt::format("target {}\n", state.target);
    }
    if (state.after) {
        text += fmt::format("after {:016x}\n", *state.after);
    }
    return storage::replace_file(storage::posix_file_system(), path, text);
}

std::string cursor_of(const std::string& target) {
    const std::size_t question = target.find('?');
    if (question == std::string::npos) {
        return {};
    }
    if (const auto parameters = core::parse_query(std::string_view(target).substr(question + 1))) {
        for (const auto& [name, value] : *parameters) {
            if (name == "_cursor") {
                return value;
            }
        }
    }
    return {};
}

}  // namespace annals::tools
