#include "tests/support/sim_file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace annals::test {
namespace {

constexpr std::size_t kSectorBytes = 512;

std::string parent_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

void apply(std::string& content, std::uint64_t offset, std::string_view bytes) {
    if (content.size() < offset + bytes.size()) {
        content.resize(offset + bytes.size());
    }
    content.replace(offset, bytes.size(), bytes);
}

/// Puts a random part of an unsynced write into `content`.
void apply_torn(std::string& content, std::uint64_t offset, std::string_view bytes,
                std::mt19937_64& random) {
    switch (random() % 4) {
        case 0:
            break;
        case 1:
            apply(content, offset, bytes);
            break;
        case 2:
            apply(content, offset, bytes.substr(0, random() % (bytes.size() + 1)));
            break;
        default: {
            std::uint64_t at = 0;
            while (at < bytes.size()) {
                const std::uint64_t left_in_sector = kSectorBytes - (offset + at) % kSectorBytes;
                const std::string_view part = bytes.substr(at, left_in_sector);
                if (random() % 2 == 0) {
                    apply(content, offset + at, part);
                }
                at += part.size();
            }
            break;
        }
    }
}

}  // namespace

class SimFileSystem::SimLock final : public storage::DirectoryLock {
  public:
    SimLock(SimFileSystem& fs, std::string directory) : fs_(fs), directory_(std::move(directory)) {}

    ~SimLock() override {
        const std::lock_guard lock(fs_.mutex_);
        fs_.locked_.erase(directory_);
    }

    SimLock(const SimLock&) = delete;
    SimLock& operator=(const SimLock&) = delete;

  private:
    SimFileSystem& fs_;
    std::string directory_;
};

Error SimFileSystem::failed(Errc code, std::string_view what) {
    return {code, fmt::format("simulated fault: {}", what), {}};
}

void SimFileSystem::Change::apply_to(std::string& content) const {
    if (size) {
        content.resize(*size);
    } else {
        apply(content, offset, bytes);
    }
}

void SimFileSystem::power_off_at(std::uint64_t n) {
    const std::lock_guard lock(mutex_);
    power_off_at_ = changing_calls_ + n;
}

std::unique_ptr<SimFileSystem> SimFileSystem::after_power_cut(std::uint64_t seed) const {
    const std::lock_guard lock(mutex_);
    std::mt19937_64 random(seed);
    auto next = std::make_unique<SimFileSystem>();
    next->directories_ = directories_;

    Entries entries = durable_entries_;
    std::size_t kept = seed == 0   ? 0
                       : seed == 1 ? unsynced_entries_.size()
                                   : random() % (unsynced_entries_.size() + 1);
    for (const EntryChange& change : unsynced_entries_) {
        if (kept-- == 0) {
            break;
        }
        if (change.inode == nullptr) {
            entries.erase(change.path);
        } else {
            entries[change.path] = change.inode;
        }
    }
    for (const auto& [path, inode] : entries) {
        std::string content = inode->durable;
        for (const Change& change : inode->unsynced) {
            if (seed == 0) {
                break;
            }
            if (seed == 1 || (change.size && random() % 2 == 0)) {
                change.apply_to(content);
            } else if (!change.size) {
                apply_torn(content, change.offset, change.bytes, random);
            }
        }
        next->set_content(path, content);
        next->directories_.insert(
            parent_of(path));  // It may have been removed with all that was in it.
    }
    return next;
}

void SimFileSystem::come_back() {
    const std::lock_guard lock(mutex_);
    off_ = false;
    power_off_at_ = 0;
}

void SimFileSystem::fail_next(Call call, Errc code, std::uint64_t count, std::uint64_t passed) {
    const std::lock_guard lock(mutex_);
    failures_[call] = {.code = code, .count = count, .passed = passed};
}

void SimFileSystem::set_readable(const std::string& path, std::uint64_t offset, bool readable) {
    const std::lock_guard lock(mutex_);
    std::set<std::uint64_t>& pages = entries_.at(path)->unreadable;
    if (readable) {
        pages.erase(offset / storage::kPageBytes);
    } else {
        pages.insert(offset / storage::kPageBytes);
    }
}

void SimFileSystem::set_space(std::optional<std::uint64_t> bytes) {
    const std::lock_guard lock(mutex_);
    space_ = bytes;
}

void SimFileSystem::set_descriptors(std::optional<std::uint64_t> count) {
    const std::lock_guard lock(mutex_);
    descriptors_ = count;
}

void SimFileSystem::set_sync_ms(std::uint32_t ms) {
    const std::lock_guard lock(mutex_);
    sync_ms_ = ms;
}

void SimFileSystem::after_links(std::function<void()> hook) {
    const std::lock_guard lock(mutex_);
    after_links_ = std::move(hook);
}

void SimFileSystem::after_list(std::function<void()> hook) {
    const std::lock_guard lock(mutex_);
    after_list_ = std::move(hook);
}

void SimFileSystem::hold_syncs(std::string_view part) {
    const std::lock_guard lock(mutex_);
    hold_syncs_ = true;
    held_part_ = part;
}

void SimFileSystem::release_syncs() {
    const std::lock_guard lock(mutex_);
    hold_syncs_ = false;
    changed_.notify_all();
}

void SimFileSystem::await_held_sync() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_ > 0; });
}

/// Empty if it has no name any more.
std::string SimFileSystem::path_of(const std::shared_ptr<Inode>& inode) const {
    const auto entry =
        std::ranges::find_if(entries_, [&](const auto& named) { return named.second == inode; });
    return entry != entries_.end() ? entry->first : "";
}

std::uint64_t SimFileSystem::changing_calls() const {
    const std::lock_guard lock(mutex_);
    return changing_calls_;
}

std::vector<SimFileSystem::Forgotten> SimFileSystem::forgotten() const {
    const std::lock_guard lock(mutex_);
    return forgotten_;
}

std::uint64_t SimFileSystem::calls(Call call) const {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(call);
    return found == calls_.end() ? 0 : found->second;
}

std::uint64_t SimFileSystem::file_syncs() const {
    const std::lock_guard lock(mutex_);
    return file_syncs_;
}

std::uint64_t SimFileSystem::open_files() const {
    return static_cast<std::uint64_t>(open_files_.use_count()) - 1;
}

std::vector<std::string> SimFileSystem::paths() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> paths;
    for (const auto& [path, inode] : entries_) {
        paths.push_back(path);
    }
    return paths;
}

std::string SimFileSystem::content(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(path);
    ANNALS_CHECK(found != entries_.end(), path);
    return {found->second->memory.get(), found->second->size};
}

std::vector<std::string> SimFileSystem::contents() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> contents;
    for (const auto& [path, inode] : entries_) {
        contents.emplace_back(inode->memory.get(), inode->size);
    }
    return contents;
}

void SimFileSystem::set_content(const std::string& path, std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    auto inode = std::make_shared<Inode>();
    inode->durable = bytes;
    inode->capacity = bytes.size();
    inode->size = bytes.size();
    inode->memory =
        std::shared_ptr<char>(new char[bytes.size() + 1], std::default_delete<char[]>());
    std::memcpy(inode->memory.get(), bytes.data(), bytes.size());
    entries_[path] = inode;
    durable_entries_[path] = inode;
}

void SimFileSystem::add_name(const std::string& path, const std::string& name) {
    const std::lock_guard lock(mutex_);
    entries_[name] = entries_.at(path);
    durable_entries_[name] = entries_.at(path);
}

Result<void> SimFileSystem::begin_call(Call call) {
    if (off_) {
        return failed(Errc::io, "the power is off");
    }
    ++changing_calls_;
    if (changing_calls_ == power_off_at_) {
        off_ = true;
        return failed(Errc::io, "the power goes");
    }
    return fail_if_told(call);
}

Result<void> SimFileSystem::fail_if_told(Call call) {
    ++calls_[call];
    if (const auto found = failures_.find(call); found != failures_.end()) {
        Failures& failures = found->second;
        if (failures.passed > 0) {
            --failures.passed;
        } else if (failures.count > 0) {
            --failures.count;
            return failed(failures.code, "a call was told to fail");
        }
    }
    return {};
}

Result<void> SimFileSystem::take_descriptor() const {
    if (descriptors_ && open_files() >= *descriptors_) {
        return failed(Errc::no_store, "no descriptor is left");
    }
    return {};
}

void SimFileSystem::change_entry(const std::string& path, std::shared_ptr<Inode> inode) {
    unsynced_entries_.push_back({path, inode});
    if (inode == nullptr) {
        entries_.erase(path);
    } else {
        entries_[path] = std::move(inode);
    }
}

Result<std::unique_ptr<storage::File>> SimFileSystem::open(const std::string& path, Mode mode) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(path);
    if (mode != Mode::create) {
        ANNALS_TRY_VOID(fail_if_told(Call::open));
        ANNALS_TRY_VOID(take_descriptor());
        if (found == entries_.end()) {
            return failed(Errc::not_found, path);
        }
        return open_file(found->second);
    }
    ANNALS_TRY_VOID(begin_call(Call::create));
    ANNALS_TRY_VOID(take_descriptor());
    if (found != entries_.end() || !directories_.contains(parent_of(path))) {
        return failed(Errc::io, path);
    }
    auto inode = std::make_shared<Inode>();
    change_entry(path, inode);
    return open_file(inode);
}

Result<std::vector<std::string>> SimFileSystem::list(const std::string& directory) {
    std::unique_lock lock(mutex_);
    ANNALS_TRY_VOID(fail_if_told(Call::list));
    if (!directories_.contains(directory)) {
        return failed(Errc::not_found, directory);
    }
    std::vector<std::string> names;
    for (const auto& [path, inode] : entries_) {
        if (parent_of(path) == directory) {
            names.push_back(path.substr(directory.size() + 1));
        }
    }
    for (const std::string& path : directories_) {
        if (path.size() > directory.size() && parent_of(path) == directory) {
            names.push_back(path.substr(directory.size() + 1));
        }
    }
    const auto hook = after_list_;
    lock.unlock();
    if (hook) {
        hook();
    }
    return names;
}

// Directories are durable at once: the store makes them before it holds anything.
Result<void> SimFileSystem::make_directory(const std::string& path) {
    const std::lock_guard lock(mutex_);
    directories_.insert(path);
    return {};
}

Result<void> SimFileSystem::rename(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    ANNALS_TRY_VOID(begin_call(Call::rename));
    const auto found = entries_.find(from);
    if (found == entries_.end()) {
        return failed(Errc::not_found, from);
    }
    // One change for the journal, like a real rename: both names or neither.
    const std::shared_ptr<Inode> inode = found->second;
    entries_.erase(found);
    entries_[to] = inode;
    unsynced_entries_.push_back({to, inode});
    unsynced_entries_.push_back({from, nullptr});
    return {};
}

Result<void> SimFileSystem::link(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    ANNALS_TRY_VOID(begin_call(Call::link));
    const auto found = entries_.find(from);
    if (found == entries_.end() || entries_.contains(to) || !directories_.contains(parent_of(to))) {
        return failed(Errc::io, to);
    }
    change_entry(to, found->second);
    return {};
}

Result<storage::FileFacts> SimFileSystem::facts(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(path);
    if (found == entries_.end()) {
        return failed(Errc::not_found, path);
    }
    const Inode* const inode = found->second.get();
    return storage::FileFacts{.device = 1,
                              .number = reinterpret_cast<std::uintptr_t>(inode),
                              .bytes = inode->size,
                              .changed_ns = inode->changes};
}

Result<void> SimFileSystem::remove(const std::string& path) {
    const std::lock_guard lock(mutex_);
    ANNALS_TRY_VOID(begin_call(Call::remove));
    if (!entries_.contains(path)) {
        return failed(Errc::not_found, path);
    }
    change_entry(path, nullptr);
    return {};
}

Result<void> SimFileSystem::remove_directory(const std::string& path) {
    const std::lock_guard lock(mutex_);
    ANNALS_TRY_VOID(begin_call(Call::remove));
    const bool used = std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
        return parent_of(entry.first) == path;
    });
    if (used) {
        return failed(Errc::io, path);
    }
    return directories_.erase(path) == 0 ? Result<void>(failed(Errc::not_found, path))
                                         : Result<void>();
}

Result<void> SimFileSystem::sync_directory(const std::string& path) {
    const std::lock_guard lock(mutex_);
    ANNALS_TRY_VOID(begin_call(Call::sync_directory));
    ANNALS_TRY_VOID(take_descriptor());
    std::erase_if(unsynced_entries_, [&](const EntryChange& change) {
        if (parent_of(change.path) != path) {
            return false;
        }
        if (change.inode == nullptr) {
            durable_entries_.erase(change.path);
        } else {
            durable_entries_[change.path] = change.inode;
        }
        return true;
    });
    return {};
}

Result<std::unique_ptr<storage::DirectoryLock>> SimFileSystem::lock(const std::string& directory) {
    const std::lock_guard lock(mutex_);
    if (!locked_.insert(directory).second) {
        return Error{Errc::usage, fmt::format("{}: in use by another process", directory), {}};
    }
    return std::unique_ptr<storage::DirectoryLock>(std::make_unique<SimLock>(*this, directory));
}

bool SimFileSystem::exists(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return entries_.contains(path) || directories_.contains(path);
}

}  // namespace annals::test
