// Kept: a cache of objects made from definitions, bounded in memory.
//
// Layer:   core/terminology.
// Threads: every member from any thread.

#pragma once

#include "core/base/result.h"
#include "core/base/sort_unique.h"
#include "core/terminology/source.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace annals::terminology {

/// The approximate memory use of a definition.
inline std::size_t bytes_of(const json::Document& document) {
    return document.text().size() + document.nodes().size() * sizeof(json::Node);
}

/// The characters of a string; of one with escapes, they are kept in `texts`. Empty if it isn't a string.
inline std::string_view characters_of(json::Value string, std::deque<std::string>& texts) {
    if (!string.is_string()) {
        return {};
    }
    return string.node().escaped ? texts.emplace_back(string.string()) : string.raw_string();
}

/// Keeps what was made from each definition; the least recently used goes first. What is too large to be kept is found as long
/// as others hold it. Its definition is an immutable version; whoever makes it from others, too, must check that they are current.
/// Requires: a T holds its definition.
template <typename T>
class Kept {
  public:
    explicit Kept(std::size_t bytes_max, std::size_t entries_max = SIZE_MAX)
        : bytes_max_(bytes_max), entries_max_(entries_max) {}

    /// Null if there is none.
    std::shared_ptr<const T> find(const Definition& definition) {
        const std::lock_guard lock(mutex_);
        const auto found = by_document_.find(definition.get());
        if (found == by_document_.end()) {
            const auto large = large_.find(definition.get());
            return large == large_.end() ? nullptr : large->second.lock();
        }
        entries_.splice(entries_.begin(), entries_, found->second);
        return found->second->made;
    }

    /// `documents`: held by `made` beyond its own `bytes`; each is counted once, even if several entries hold it.
    void keep(const Definition& definition, std::shared_ptr<const T> made, std::size_t bytes,
              std::vector<Definition> documents = {}) {
        sort_unique(documents);
        const std::lock_guard lock(mutex_);
        std::size_t all = bytes;
        for (const Definition& document : documents) {
            all += bytes_of(*document);
        }
        if (const auto old = by_document_.find(definition.get()); old != by_document_.end()) {
            drop(old->second);
        }
        large_.erase(definition.get());
        if (bytes > bytes_max_ / 2 || all > bytes_max_) {  // It would displace all others.
            std::erase_if(large_, [](const auto& one) { return one.second.expired(); });
            large_.emplace(definition.get(), made);
            return;
        }
        bytes_ += bytes;
        for (const Definition& document : documents) {
            bytes_ += holders_[document.get()]++ == 0 ? bytes_of(*document) : 0;
        }
        entries_.push_front({definition, std::move(made), bytes, std::move(documents)});
        by_document_[definition.get()] = entries_.begin();
        while (bytes_ > bytes_max_ || entries_.size() > entries_max_) {
            drop(std::prev(entries_.end()));
        }
    }

  private:
    struct Entry {
        Definition definition;  ///< held, so that no other document can get its address
        std::shared_ptr<const T> made;
        std::size_t bytes;
        std::vector<Definition> documents;
    };

    using Place = typename std::list<Entry>::iterator;

    void drop(Place place) {
        bytes_ -= place->bytes;
        for (const Definition& document : place->documents) {
            const auto holders = holders_.find(document.get());
            if (--holders->second == 0) {
                bytes_ -= bytes_of(*document);
                holders_.erase(holders);
            }
        }
        by_document_.erase(place->definition.get());
        entries_.erase(place);
    }

    const std::size_t bytes_max_;
    const std::size_t entries_max_;
    std::mutex mutex_;
    std::list<Entry> entries_;                                                 // guarded by mutex_
    std::unordered_map<const json::Document*, Place> by_document_;             // guarded by mutex_
    std::unordered_map<const json::Document*, std::size_t> holders_;           // guarded by mutex_
    std::unordered_map<const json::Document*, std::weak_ptr<const T>> large_;  // guarded by mutex_
    std::size_t bytes_ = 0;                                                    // guarded by mutex_
};

}  // namespace annals::terminology
