// StoredDefinitions: the conformance resources that this server stores, by their canonical URLs.
//
// Layer:   core, inside core/validation.
// Threads: every member from any thread.

#pragma once

#include "core/base/resource_types.h"
#include "core/terminology/listed.h"
#include "core/validation/validate.h"
#include "storage/store.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annals::validation {

/// Follows the store: whatever has been committed when find() is called is found. Of several resources with one
/// url, the version asked for, else the one that was written last.
///
/// Lifetime: the store outlives it.
/// Cost:     the first find() of a type reads all its resources once; later ones what is new since.
class StoredDefinitions {
  public:
    explicit StoredDefinitions(const storage::Store& store);

    /// As Source::find(). What is on the device only goes to `unread`, and counts as not there; null: it is waited for. So does
    /// what is larger than Worker::kBytesOnLoop and has not been parsed: then `*large` is true; null: it is parsed.
    Definition find(std::string_view type, std::string_view url, std::string_view version,
                    std::vector<Position>* unread, bool* large = nullptr) const;

    /// The urls of all that is stored of a type, each once, `count` at most.
    std::vector<std::string> canonicals(std::string_view type, std::size_t count) const;

    /// The code systems that are stored, those of one url together, what find() takes of them first; `count` and a few more at
    /// most.
    std::vector<terminology::ListedCodeSystem> code_systems(std::size_t count) const;

    /// Reads what is new since a look at each type, until it comes to what is on the device only: its positions. Whoever has
    /// had that fetched asks again. None: all others here know all that is stored. Others are let in between two pages.
    std::vector<Position> read_resident() const;

    /// Whether nothing is new since that; false if that is being found out. Doesn't wait for anybody.
    bool is_current() const;

  private:
    struct Entry {
        storage::VersionInfo info;
        std::string url;  ///< empty: it is no definition, or is gone
        std::string version;
        bool has_codes = false;  ///< of a CodeSystem
    };

    struct Known {
        TypeId type;
        std::string_view name;
        storage::Totals totals;  ///< when it was read last
        std::optional<storage::VersionInfo> last;
        Position
            told;  ///< by read_resident(): what begins here is read the next time, wherever it is
        std::unordered_map<std::uint32_t, Entry> entries;  ///< by resource
        std::unordered_multimap<std::string, std::uint32_t> by_url;
    };

    /// How a page of what is new is read.
    struct Reading {
        bool may_block = true;
        std::vector<Position> unread = {};  ///< unless it may block, what has to be fetched first
        std::unique_lock<std::mutex>* lock =
            nullptr;  ///< is let go of while the page is parsed; null: is kept
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
