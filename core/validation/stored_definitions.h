// StoredDefinitions: the conformance resources stored on this server, by canonical URL.
//
// Layer:   core, inside core/validation; core/definitions.h has the one of a server.
// Threads: every member from any thread.

#pragma once

#include "core/base/resource_types.h"
#include "core/terminology/listed.h"
#include "core/validation/validate.h"
#include "storage/store.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annals::validation {

/// Follows the store: find() sees everything committed before the call. If several resources have the same url, the requested
/// version is returned, or else the one written last.
///
/// Lifetime: the store outlives it.
/// Cost:     the first find() of a type reads all its resources; later calls read what is new.
class StoredDefinitions {
  public:
    explicit StoredDefinitions(const storage::Store& store);

    /// As Source::find(). `unread`: receives the positions of what is not in memory, which counts as missing; null: waits for
    /// the device. `large`: set to true if the definition is larger than Worker::kBytesOnLoop and not parsed yet; it counts as
    /// missing, too; null: it is parsed.
    Definition find(std::string_view type, std::string_view url, std::string_view version,
                    std::vector<Position>* unread, bool* large = nullptr) const;

    /// The urls of the stored resources of a type, each once, at most `count`.
    std::vector<std::string> canonicals(std::string_view type, std::size_t count) const;

    /// The stored code systems, grouped by url, the one that find() prefers first; at most `count`.
    std::vector<terminology::ListedCodeSystem> code_systems(std::size_t count) const;

    /// Reads what is new in each type. Returns the positions that are not in memory; once they have been fetched, the caller
    /// calls again. None: everything stored is known. Other threads can proceed between two pages.
    std::vector<Position> read_resident() const;

    /// Whether nothing is new since read_resident(); also false while another thread holds the lock. Never waits.
    bool is_current() const;

  private:
    struct Entry {
        storage::VersionInfo info;
        std::string url;  ///< empty: no definition, or deleted
        std::string version;
        bool has_codes = false;  ///< for a CodeSystem
    };

    /// Those with the same url, the one written last at the end.
    using Named = std::map<Position, const Entry*>;

    struct Known {
        TypeId type;
        std::string_view name;
        storage::Totals totals;  ///< at the last read
        std::optional<storage::VersionInfo> last;
        Position
            told;  ///< the start of a page reported by read_resident(): next time, it is read even if it is not in memory
        std::unordered_map<std::uint32_t, Entry> entries;  ///< by resource
        std::map<std::string, Named, std::less<>> by_url;  ///< into `entries`
    };

    /// How a page of new versions is read.
    struct Reading {
        bool may_block = true;
        std::vector<Position> unread = {};  ///< if it may not block, what has to be fetched first
        std::unique_lock<std::mutex>* lock =
            nullptr;  ///< released while the page is parsed; null: the caller's lock stays held
    };

    void refresh(Known& known, Reading& reading) const;
    bool read_page(Known& known, Reading& reading) const;
    Entry read_entry(const Known& known, const storage::VersionInfo& info) const;
    void put(Known& known, Entry entry) const;
    void drop(Known& known, std::uint32_t resource) const;
    Definition load(const Known& known, const storage::VersionInfo& info,
                    std::vector<Position>* unread, bool* large) const;

    const storage::Store& store_;
    mutable std::mutex mutex_;
    mutable std::array<Known, 4> known_;  // guarded by mutex_
    mutable std::unordered_map<std::uint64_t, Definition>
        parsed_;                            // by position; guarded by mutex_
    mutable std::size_t parsed_bytes_ = 0;  // guarded by mutex_
};

}  // namespace annals::validation
