// StoredParameters: makes a ParameterSet of the stored SearchParameter resources.
//
// Layer:   core/search.
// Threads: not thread-safe.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "core/search/parameters.h"
#include "storage/store.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace annals::core::search {

class StoredParameters {
  public:
    /// Further resources are ignored.
    static constexpr std::size_t kResourcesMax = 10'000;

    /// The sets are made with `references` and `zone`. Lifetime: `store` outlives it.
    StoredParameters(const storage::Store& store, References references,
                     std::shared_ptr<const TimeZone> zone);

    /// Changes when refresh() may find something new. Cost: a few loads. Threads: any.
    static std::uint64_t stamp(const storage::Store& store) noexcept;

    /// Reads what has been committed since the last call.
    void refresh();

    /// R4's own parameters and those of the resources read; those whose url is in `unready` are not ready. Cost: some
    /// milliseconds.
    std::shared_ptr<const ParameterSet> make(std::span<const std::string> unready = {},
                                             std::vector<Error>* faults = nullptr) const;

  private:
    struct Kept {
        Position position;
        json::Document document;
    };

    void take(const storage::VersionInfo& info);

    const storage::Store& store_;
    References references_;
    std::shared_ptr<const TimeZone> zone_;
    std::optional<storage::VersionInfo> last_;
    std::map<std::uint32_t, Kept> kept_;  ///< by resource
};

}  // namespace annals::core::search
