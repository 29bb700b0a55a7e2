// StoredResources: what reading a query asks of the store, as it stood at the query's snapshot.
//
// Layer:   core/search.
// Threads: const members from any thread; an object belongs to one query.

#pragma once

#include "codec/json/document.h"
#include "core/base/resource_types.h"
#include "core/base/result.h"
#include "core/terminology/r4.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace annals::core::search {

/// Null where there is no such resource.
using StoredDocument = std::shared_ptr<const json::Document>;

class StoredResources;

/// What reading a query leaves to another thread: value sets and code systems that take long to take apart. What comes of that is
/// kept, so that the query is read at once afterwards.
struct PutOff {
    bool large = false;  ///< what was come to takes long to parse, and was an error
    std::vector<std::function<void(const StoredResources&)>> work;
};

class StoredResources {
  public:
    virtual ~StoredResources() = default;

    /// Under which keys are made (Store::search_seed).
    virtual std::uint64_t seed() const = 0;

    /// SearchRun::key() of a resource, be there one or not.
    virtual std::uint64_t key(TypeId type, std::string_view id) const = 0;

    /// The resource, if it is live. Errors: corrupt.
    virtual Result<StoredDocument> read(TypeId type, std::string_view id) const = 0;

    /// The resource whose element `url` is this, of several the one of `version` if that is not empty, else the one
    /// that was written last. Errors: corrupt.
    virtual Result<StoredDocument> find(TypeId type, std::string_view url,
                                        std::string_view version) const = 0;

    /// What is known besides of value sets and code systems: of packages, and R4's own.
    virtual const terminology::Source& others() const { return terminology::r4_definitions(); }

    /// Where what takes long goes, which then is an error. Null: it is done at once.
    virtual PutOff* put_off() const { return nullptr; }
};

}  // namespace annals::core::search
