#include "tests/support/sim_file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

namespace annals::test {
namespace {

constexpr std::size_t kSectorBytes = 512;

Error failed(Errc code, std::string_view what) {
    return {code, fmt::format("simulated fault: {}", what), {}};
}

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

class SimFileSystem::SimFile final : public storage::File {
  public:
    SimFile(SimFileSystem& fs, std::shared_ptr<Inode> inode)
        : fs_(fs), inode_(std::move(inode)), losses_told_(inode_->losses), open_(fs.open_files_) {}

    Result<void> write(std::uint64_t offset, std::string_view bytes) override {
        std::unique_lock lock(fs_.mutex_);
        const bool was_off = fs_.off_;
        auto begun = fs_.begin_call(Call::write, lock);
        if (was_off) {
            return begun;
        }
        if (!begun && !fs_.off_) {
            bytes = bytes.substr(0, bytes.size() / 2);
        }
        if (auto grown = fs_.grow(*inode_, offset + bytes.size()); !grown) {
            return begun ? grown : begun;
        }
        if (!bytes.empty()) {
            std::memcpy(inode_->memory.get() + offset, bytes.data(), bytes.size());
        }
        inode_->unsynced.push_back({offset, std::string(bytes), {}});
        ++inode_->changes;
        return begun;
    }

    Result<void> write_pages(std::uint64_t offset, std::string_view bytes) override {
        const std::uint64_t end = offset + bytes.size();
        std::string pages(bytes);
        pages.resize((end + storage::kPageBytes - 1) / storage::kPageBytes * storage::kPageBytes -
                     offset);
        return write(offset, pages);
    }

    void forget(std::uint64_t offset, std::uint64_t bytes) override {
        const std::lock_guard lock(fs_.mutex_);
        fs_.forgotten_.push_back({.path = fs_.path_of(inode_), .offset = offset, .bytes = bytes});
    }

    Result<void> write_zeros(std::uint64_t offset, std::uint64_t bytes) override {
        return write(offset, std::string(bytes, '\0'));
    }

    Result<std::size_t> read(std::uint64_t offset, std::span<char> into) const override {
        const std::lock_guard lock(fs_.mutex_);
        ANNALS_TRY_VOID(fs_.fail_if_told(Call::read));
        if (offset >= inode_->size) {
            return std::size_t{0};
        }
        const std::size_t count = std::min<std::size_t>(into.size(), inode_->size - offset);
        const auto bad = inode_->unreadable.lower_bound(offset / storage::kPageBytes);
        if (bad != inode_->unreadable.end() && *bad * storage::kPageBytes < offset + count) {
            return failed(Errc::io, "an unreadable page");
        }
        std::memcpy(into.data(), inode_->memory.get() + offset, count);
        return count;
    }

    Result<void> sync() override {
        std::unique_lock lock(fs_.mutex_);
        fs_.wait_for_sync(inode_, lock);
        if (Result<void> begun = fs_.begin_call(Call::sync, lock); !begun) {
            if (fs_.lose_on_failed_sync_ && !fs_.off_) {
                // Sizes are metadata of the file system, which are not lost.
                std::erase_if(inode_->unsynced, [](const Change& change) { return !change.size; });
                losses_told_ = ++inode_->losses;
            }
            return begun;
        }
        if (losses_told_ != inode_->losses) {
            losses_told_ = inode_->losses;
            return failed(Errc::io, "a sync before this one, by another descriptor");
        }
        ++fs_.file_syncs_;
        for (const Change& change : inode_->unsynced) {
            if (change.size) {
                inode_->durable.resize(*change.size);
            } else {
                apply(inode_->durable, change.offset, change.bytes);
            }
        }
        inode_->unsynced.clear();
        return {};
    }

    Result<std::uint64_t> size() const override {
        const std::lock_guard lock(fs_.mutex_);
        return inode_->size;
    }

    Result<std::uint64_t> links() const override {
        std::unique_lock lock(fs_.mutex_);
        std::uint64_t names = 0;
        for (const auto& [path, inode] : fs_.entries_) {
            names += inode == inode_ ? 1 : 0;
        }
        const auto hook = std::exchange(fs_.after_links_, nullptr);
        lock.unlock();
        if (hook) {
            hook();
        }
        return names;
    }

    Result<void> resize(std::uint64_t bytes) override { return set_size(Call::resize, bytes); }

    Result<void> allocate(std::uint64_t bytes) override { return set_size(Call::allocate, bytes); }

    Result<std::shared_ptr<const char>> map(std::uint64_t bytes) const override {
        const std::lock_guard lock(fs_.mutex_);
        ANNALS_TRY_VOID(fs_.fail_if_told(Call::map));
        if (bytes > inode_->size) {
            return failed(Errc::io, "a mapping beyond the end");
        }
        if (inode_->unreadable.empty()) {
            return std::shared_ptr<const char>(inode_->memory);
        }
        std::shared_ptr<char> seen(new char[inode_->size], std::default_delete<char[]>());
        std::memcpy(seen.get(), inode_->memory.get(), inode_->size);
        for (const std::uint64_t page : inode_->unreadable) {
            if (const std::uint64_t at = page * storage::kPageBytes; at < inode_->size) {
                std::memset(seen.get() + at, 0,
                            std::min<std::uint64_t>(storage::kPageBytes, inode_->size - at));
            }
        }
        return std::shared_ptr<const char>(std::move(seen));
    }

  private:
    Result<void> set_size(Call call, std::uint64_t bytes) {
        std::unique_lock lock(fs_.mutex_);
        ANNALS_TRY_VOID(fs_.begin_call(call, lock));
        if (call == Call::allocate && bytes <= inode_->size) {
            return {};
        }
        ANNALS_TRY_VOID(fs_.grow(*inode_, bytes));
        if (bytes < inode_->size) {
            // The mapped bytes stay as they are, for a reader's sake; growing again zeroes them.
            inode_->size = bytes;
        }
        inode_->unsynced.push_back({0, {}, bytes});
        ++inode_->changes;
        return {};
    }

    SimFileSystem& fs_;
    std::shared_ptr<Inode> inode_;
    std::uint64_t losses_told_;
    std::shared_ptr<int> open_;
};

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
            if (change.size) {
                if (seed == 1 || random() % 2 == 0) {
                    content.resize(*change.size);
                }
            } else if (seed == 1) {
                apply(content, change.offset, change.bytes);
            } else {
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

void SimFileSystem::wait_for_sync(const std::shared_ptr<Inode>& inode,
                                  std::unique_lock<std::mutex>& lock) {
    if (sync_ms_ > 0) {
        const auto delay = std::chrono::milliseconds(sync_ms_);
        lock.unlock();
        std::this_thread::sleep_for(delay);
        lock.lock();
    }
    if (hold_syncs_ && path_of(inode).find(held_part_) != std::string::npos) {
        ++held_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return !hold_syncs_; });
        --held_;
    }
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

Result<void> SimFileSystem::begin_call(Call call, std::unique_lock<std::mutex>&) {
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

Result<void> SimFileSystem::grow(Inode& inode, std::uint64_t size) {
    if (size <= inode.size) {
        return {};
    }
    if (space_) {
        std::uint64_t used = size - inode.size;
        for (const auto& [path, other] : entries_) {
            used += other->size;
        }
        if (used > *space_) {
            return failed(Errc::no_store, "the disk is full");
        }
    }
    if (size > inode.capacity) {
        const std::uint64_t capacity = std::max<std::uint64_t>(size, inode.capacity * 2);
        std::shared_ptr<char> memory(new char[capacity], std::default_delete<char[]>());
        if (inode.memory != nullptr) {
            std::memcpy(memory.get(), inode.memory.get(), inode.size);
        }
        inode.memory = std::move(memory);
        inode.capacity = capacity;
    }
    std::memset(inode.memory.get() + inode.size, 0, size - inode.size);
    inode.size = size;
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
    std::unique_lock lock(mutex_);
    const auto found = entries_.find(path);
    if (mode != Mode::create) {
        ANNALS_TRY_VOID(fail_if_told(Call::open));
        ANNALS_TRY_VOID(take_descriptor());
        if (found == entries_.end()) {
            return failed(Errc::not_found, path);
        }
        return std::unique_ptr<storage::File>(std::make_unique<SimFile>(*this, found->second));
    }
    ANNALS_TRY_VOID(begin_call(Call::create, lock));
    ANNALS_TRY_VOID(take_descriptor());
    if (found != entries_.end() || !directories_.contains(parent_of(path))) {
        return failed(Errc::io, path);
    }
    auto inode = std::make_shared<Inode>();
    change_entry(path, inode);
    return std::unique_ptr<storage::File>(std::make_unique<SimFile>(*this, inode));
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
    std::unique_lock lock(mutex_);
    ANNALS_TRY_VOID(begin_call(Call::rename, lock));
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
    std::unique_lock lock(mutex_);
    ANNALS_TRY_VOID(begin_call(Call::link, lock));
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
    std::uint64_t links = 0;
    for (const auto& [name, other] : entries_) {
        links += other.get() == inode ? 1 : 0;
    }
    return storage::FileFacts{.device = 1,
                              .number = reinterpret_cast<std::uintptr_t>(inode),
                              .links = links,
                              .bytes = inode->size,
                              .changed_ns = inode->changes};
}

Result<void> SimFileSystem::remove(const std::string& path) {
    std::unique_lock lock(mutex_);
    ANNALS_TRY_VOID(begin_call(Call::remove, lock));
    if (!entries_.contains(path)) {
        return failed(Errc::not_found, path);
    }
    change_entry(path, nullptr);
    return {};
}

Result<void> SimFileSystem::remove_directory(const std::string& path) {
    std::unique_lock lock(mutex_);
    ANNALS_TRY_VOID(begin_call(Call::remove, lock));
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
    std::unique_lock lock(mutex_);
    ANNALS_TRY_VOID(begin_call(Call::sync_directory, lock));
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
