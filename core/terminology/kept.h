// Kept: what was made of definitions lately, bounded in memory.
//
// Layer:   core/terminology.
// Threads: every member from any thread.

#pragma once

#include "core/base/result.h"
#include "core/terminology/source.h"

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace annals::terminology {

/// Memory that a definition takes, about.
inline std::size_t bytes_of(const json::Document& document) {
    return document.text().size() + document.nodes().size() * sizeof(json::Node);
}

/// Of each definition what was made of it; what was asked for least lately goes first. A definition is a version
/// that never changes, so nothing kept is ever wrong.
template <typename T>
class Kept {
  public:
    explicit Kept(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    /// Null if it isn't here.
    std::shared_ptr<const T> find(const Definition& definition) {
        const std::lock_guard lock(mutex_);
        const auto found = by_document_.find(definition.get());
        if (found == by_document_.end()) {
            return nullptr;
        }
        entries_.splice(entries_.begin(), entries_, found->second);
        return found->second->made;
    }

    /// `documents`: what `made` holds besides its own `bytes`; each counts once, whoever else holds it here.
    void keep(const Definition& definition, std::shared_ptr<const T> made, std::size_t bytes,
              std::vector<Definition> documents = {}) {
        std::ranges::sort(documents);
        documents.erase(std::unique(documents.begin(), documents.end()), documents.end());
        const std::lock_guard lock(mutex_);
        std::size_t all = bytes;
        for (const Definition& document : documents) {
            all += bytes_of(*document);
        }
        if (bytes > bytes_max_ / 2 || all > bytes_max_) {
            return;  // It would but send away all others.
        }
        if (const auto old = by_document_.find(definition.get()); old != by_document_.end()) {
            drop(old->second);
        }
        bytes_ += bytes;
        for (const Definition& document : documents) {
            bytes_ += holders_[document.get()]++ == 0 ? bytes_of(*document) : 0;
        }
        entries_.push_front({definition, std::move(made), bytes, std::move(documents)});
        by_document_[definition.get()] = entries_.begin();
        while (bytes_ > bytes_max_) {
            drop(std::prev(entries_.end()));
        }
    }

  private:
    struct Entry {
        Definition definition;  ///< kept, so that no other document can be at its place
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
    std::mutex mutex_;
    std::list<Entry> entries_;                                        // guarded by mutex_
    std::unordered_map<const json::Document*, Place> by_document_;    // guarded by mutex_
    std::unordered_map<const json::Document*, std::size_t> holders_;  // guarded by mutex_
    std::size_t bytes_ = 0;                                           // guarded by mutex_
};

}  // namespace annals::terminology
