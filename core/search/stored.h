// StoredResources: what reading a query needs from the store, at the query's snapshot.
//
// Layer:   core/search.
// Threads: const members from any thread; an object serves one query.

#pragma once

#include "codec/json/document.h"
#include "core/base/ids.h"
#include "core/base/resource_types.h"
#include "core/base/result.h"
#include "core/base/text_map.h"
#include "core/terminology/r4.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::search {

/// Null if there is no such resource.
using StoredDocument = std::shared_ptr<const json::Document>;

class StoredResources;

/// Work that reading a query leaves to another turn, or to another thread: value sets and code systems that take long to process.
/// The query is read again then and uses the results, though they may be of a slightly earlier snapshot.
struct PutOff {
    /// When the work is to end.
    struct Limit {
        std::chrono::steady_clock::time_point end;
        const std::atomic<bool>* stopping = nullptr;  ///< unless null, it ends once this is set
    };

    struct Held {
        std::shared_ptr<const void> made;  ///< its type depends on the question
        std::size_t bytes = 0;             ///< of memory
    };

    using Made = Result<Held>;

    struct Work {
        std::string question;  ///< as the text that `done` knows it by
        std::function<Made(const StoredResources&, const Limit&)> make;
    };

    /// Adds a result, which the next reading uses.
    void keep(std::string question, Made made) {
        bytes += made ? made->bytes : 0;
        done.insert_or_assign(std::move(question), std::move(made));
    }

    Position at;  ///< of the query's snapshot
    /// What this reading of the query may still take: steps of terminology, and bytes that it parses.
    std::uint64_t steps_left = 0;
    std::size_t bytes_left = 0;
    /// That was too little for the next question, which is an error in this reading.
    bool spent = false;
    bool large = false;  ///< a resource that takes long to parse was needed and was an error
    /// What takes long by itself, and is an error in this reading; each once.
    std::vector<Work> work;
    TextMap<Made> done;     ///< by question
    std::size_t bytes = 0;  ///< of all that is done
};

class StoredResources {
  public:
    virtual ~StoredResources() = default;

    /// The seed of keys (Store::search_seed).
    virtual std::uint64_t seed() const = 0;

    /// SearchRun::key() of a resource, whether or not it exists.
    virtual std::uint64_t key(TypeId type, std::string_view id) const = 0;

    /// The resource, if it is live. `put_off`: put_off() if it is read for work that can be put off, otherwise null. Errors:
    /// corrupt.
    virtual Result<StoredDocument> read(TypeId type, std::string_view id,
                                        PutOff* put_off) const = 0;

    /// The resource with this `url`. If there are several: the one with `version` or, if that is empty, the one written
    /// last. Errors: corrupt.
    virtual Result<StoredDocument> find(TypeId type, std::string_view url,
                                        std::string_view version) const = 0;

    /// Other value sets and code systems: those of packages, and R4's own.
    virtual const terminology::Source& others() const { return terminology::r4_definitions(); }

    /// Has the results of work that takes long, or receives it, which is then an error. Null: it is done immediately.
    virtual PutOff* put_off() const { return nullptr; }
};

}  // namespace annals::core::search
