// The files of SimFileSystem, as their users have them open.

#include "tests/support/sim_file_system.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace annals::test {

class SimFileSystem::SimFile final : public storage::File {
  public:
    SimFile(SimFileSystem& fs, std::shared_ptr<Inode> inode)
        : fs_(fs), inode_(std::move(inode)), losses_told_(inode_->losses), open_(fs.open_files_) {}

    Result<void> write(std::uint64_t offset, std::string_view bytes) override {
        const std::lock_guard lock(fs_.mutex_);
        const bool was_off = fs_.off_;
        auto begun = fs_.begin_call(Call::write);
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
        if (Result<void> begun = fs_.begin_call(Call::sync); !begun) {
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
            change.apply_to(inode_->durable);
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
        const std::lock_guard lock(fs_.mutex_);
        ANNALS_TRY_VOID(fs_.begin_call(call));
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

std::unique_ptr<storage::File> SimFileSystem::open_file(std::shared_ptr<Inode> inode) {
    return std::make_unique<SimFile>(*this, std::move(inode));
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

}  // namespace annals::test
