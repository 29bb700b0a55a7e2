// SimFileSystem: a disk in memory that loses power, tears, reorders, fills up, fails and is slow on demand.
//
// Fault model:
// - Bytes written to a file are durable once a later sync of that file has succeeded. At a power cut, each write that
//   no sync covers is independently kept, lost, cut at any byte, or kept in some of its 512-byte sectors only; so
//   writes may arrive in any order. A change of size that no sync covers is kept or lost.
// - Directory entries (creation, renaming, removal) are durable once the directory was synced; at a
//   power cut, the unsynced ones are kept up to a random one of them. A removed file's bytes are gone.
// - A file with several names is one file until the power is cut; after that, each name has its own.
// - A durable sector keeps its content, even while its neighbours are written.
// - While powered off, every call fails with io and changes nothing.
// - Calls can be made to fail: the next n of one kind with a chosen error, or growth beyond a given space. A failed
//   write may have written a part: its first half. A failed sync makes nothing durable.
// - Pages can be made unreadable: reads of them fail, and later mappings have zeros there.
//
// Threads: any; one mutex. Mapped bytes change under readers, like those of a real file.

#pragma once

#include "storage/file_system.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

/// The directory of the tests' stores on such a disk.
inline const std::string kDirectory = "/data";

class SimFileSystem final : public storage::FileSystem {
  public:
    enum class Call : std::uint8_t {
        write,
        sync,
        resize,
        allocate,
        create,
        rename,
        remove,
        link,
        sync_directory,
        // These change nothing.
        open,
        list,
        read,
        map
    };

    /// A call of File::forget().
    struct Forgotten {
        std::string path;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;

        bool operator==(const Forgotten&) const = default;
    };

    SimFileSystem() = default;

    // ---- faults ----

    /// Cuts the power at the `n`th (from 1) changing call from now on: it fails, and may have
    /// happened in part.
    void power_off_at(std::uint64_t n);

    /// The disk's content after power returns. Seed 0: nothing unsynced; seed 1: everything.
    std::unique_ptr<SimFileSystem> after_power_cut(std::uint64_t seed) const;

    /// Ends a power cut with nothing lost, as if only the process had been killed.
    void come_back();

    /// Makes the next `count` calls of a kind fail, after `passed` that succeed.
    void fail_next(Call call, Errc code, std::uint64_t count = 1, std::uint64_t passed = 0);

    /// Makes the page of a file at `offset` unreadable, or readable again: read() fails with io, and mappings made meanwhile
    /// have zeros there, and show no later writes.
    void set_readable(const std::string& path, std::uint64_t offset, bool readable);

    /// From now on, a failed sync loses the writes it was to cover, except for sizes: they are seen until the power is cut, but
    /// no later sync makes them durable, as when a kernel could not write its pages. Others that have the file open then
    /// get the error at their next sync, once.
    void lose_on_failed_sync() noexcept { lose_on_failed_sync_ = true; }

    /// The most bytes that all files may have together; none: no limit.
    void set_space(std::optional<std::uint64_t> bytes);

    /// The most files that may be open at once, including the one that sync_directory() opens itself; none: no limit.
    void set_descriptors(std::optional<std::uint64_t> count);

    /// Makes every sync take this long.
    void set_sync_ms(std::uint32_t ms);

    /// Syncs block until release_syncs(), or only those of files with `part` in their paths.
    void hold_syncs(std::string_view part = {});
    void release_syncs();

    /// Waits until hold_syncs() blocks a sync.
    void await_held_sync();

    /// From now on, mapped bytes are on the device only: each call of in_memory() says so, and is counted. Reading them does
    /// not wait.
    void forget_all() noexcept { forgotten_all_ = true; }

    /// The same for about half of the calls.
    void forget_some() noexcept { forgets_some_ = true; }

    std::uint64_t memory_looks() const noexcept { return memory_looks_; }

    /// Calls `hook` at each announcement of a read.
    void on_will_read(std::function<void()> hook) {
        const std::lock_guard lock(hook_mutex_);
        on_will_read_ = std::move(hook);
    }

    /// Calls `hook` once, after a file's number of names was read but before it is returned.
    void after_links(std::function<void()> hook);

    /// Calls `hook` whenever a directory was listed, before the list is returned.
    void after_list(std::function<void()> hook);

    // ---- access from outside ----

    std::uint64_t changing_calls() const;

    /// Calls of a kind so far, including failed ones.
    std::uint64_t calls(Call call) const;

    std::uint64_t file_syncs() const;
    std::uint64_t open_files() const;
    std::vector<Forgotten> forgotten() const;
    std::vector<std::string> paths() const;
    std::string content(const std::string& path) const;

    /// The contents of all files at one moment: an open store may rename and remove some meanwhile.
    std::vector<std::string> contents() const;
    void set_content(const std::string& path, std::string_view bytes);

    /// Gives the file another name, like a backup does; durable at once.
    void add_name(const std::string& path, const std::string& name);

    // ---- FileSystem ----

    Result<std::unique_ptr<storage::File>> open(const std::string& path, Mode mode) override;
    Result<std::vector<std::string>> list(const std::string& directory) override;
    Result<void> make_directory(const std::string& path) override;
    Result<void> rename(const std::string& from, const std::string& to) override;
    Result<void> link(const std::string& from, const std::string& to) override;
    Result<storage::FileFacts> facts(const std::string& path) override;
    Result<void> remove(const std::string& path) override;
    Result<void> remove_directory(const std::string& path) override;
    Result<void> sync_directory(const std::string& path) override;
    Result<std::unique_ptr<storage::DirectoryLock>> lock(const std::string& directory) override;
    bool exists(const std::string& path) override;

    bool in_memory(std::string_view) const noexcept override {
        const std::uint64_t look = ++memory_looks_;
        return !forgotten_all_ && !(forgets_some_ && (look * 0x9e37'79b9'7f4a'7c15) >> 63 != 0);
    }

    void will_read(std::string_view) const noexcept override {
        std::unique_lock lock(hook_mutex_);
        const std::function<void()> hook = on_will_read_;
        lock.unlock();
        if (hook) {
            hook();
        }
    }

  private:
    class SimFile;
    class SimLock;

    /// A change to a file that no sync has covered.
    struct Change {
        std::uint64_t offset = 0;
        std::string bytes;
        std::optional<std::uint64_t> size;  ///< a change of size instead of a write

        void apply_to(std::string& content) const;
    };

    struct Inode {
        std::shared_ptr<char> memory;
        std::uint64_t capacity = 0;
        std::uint64_t size = 0;
        std::string durable;
        std::vector<Change> unsynced;
        std::int64_t changes = 0;            ///< total number
        std::uint64_t losses = 0;            ///< by failed syncs
        std::set<std::uint64_t> unreadable;  ///< numbers of pages
    };

    struct EntryChange {
        std::string path;
        std::shared_ptr<Inode> inode;  ///< null: removed
    };

    using Entries = std::map<std::string, std::shared_ptr<Inode>>;

    static Error failed(Errc code, std::string_view what);
    Result<void> begin_call(Call call);
    Result<void> fail_if_told(Call call);
    Result<void> take_descriptor() const;
    void change_entry(const std::string& path, std::shared_ptr<Inode> inode);
    std::unique_ptr<storage::File> open_file(std::shared_ptr<Inode> inode);
    Result<void> grow(Inode& inode, std::uint64_t size);
    std::string path_of(const std::shared_ptr<Inode>& inode) const;
    void wait_for_sync(const std::shared_ptr<Inode>& inode, std::unique_lock<std::mutex>& lock);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Entries entries_;
    Entries durable_entries_;
    std::vector<EntryChange> unsynced_entries_;
    std::set<std::string> directories_;
    std::set<std::string> locked_;

    struct Failures {
        Errc code = Errc::io;
        std::uint64_t count = 0;
        std::uint64_t passed = 0;  ///< successful calls before the first failure
    };

    std::map<Call, Failures> failures_;
    std::map<Call, std::uint64_t> calls_;
    std::optional<std::uint64_t> space_;
    std::optional<std::uint64_t> descriptors_;
    std::shared_ptr<int> open_files_ = std::make_shared<int>();  ///< shared with each open file
    std::uint64_t changing_calls_ = 0;
    std::uint64_t file_syncs_ = 0;
    std::vector<Forgotten> forgotten_;
    std::uint64_t power_off_at_ = 0;  ///< 0: never
    std::uint32_t sync_ms_ = 0;
    bool off_ = false;
    bool hold_syncs_ = false;
    std::string held_part_;  ///< of the paths of files whose syncs are held
    std::atomic<bool> lose_on_failed_sync_{false};
    std::uint32_t held_ = 0;
    std::function<void()> after_links_;
    std::function<void()> after_list_;
    std::atomic<bool> forgotten_all_{false};
    std::atomic<bool> forgets_some_{false};
    mutable std::atomic<std::uint64_t> memory_looks_{0};
    mutable std::mutex hook_mutex_;  ///< of on_will_read_, which is set while threads may read
    std::function<void()> on_will_read_;
};

}  // namespace annals::test
