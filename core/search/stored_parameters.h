// StoredParameters: the SearchParameter resources that are stored, as a ParameterSet.
//
// Layer:   core/search.
// Threads: not safe by itself: one at a time.

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
    /// More are not looked at.
    static constexpr std::size_t kResourcesMax = 10'000;

    /// The sets that it makes have these `references` and this `zone`. Lifetime: `store` outlives it.
    StoredParameters(const storage::Store& store, References references,
                     std::shared_ptr<const TimeZone> zone);

    /// Another number once refresh() may find anything new. Cost: some loads. Threads: any.
    static std::uint64_t stamp(const storage::Store& store) noexcept;

    /// Reads what has been committed since the last time.
    void refresh();

    /// R4's own and those of the resources read, of which those whose url is in `unready` are not ready. Cost: some
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
