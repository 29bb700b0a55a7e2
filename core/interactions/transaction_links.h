// Links between the resources of a transaction: what each one is replaced by.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#trules, bundle.html#references.
// Threads: plain values.

#pragma once

#include "codec/json/resource.h"
#include "core/interactions/transaction_entry.h"

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annals::core {

/// What the fullUrls of a bundle stand for, and the edits that follow from it.
class TransactionLinks {
  public:
    /// What a conditional reference names: "Patient/1".
    using Resolve = std::function<Result<std::string>(std::string_view reference)>;

    /// `base_url`: links below it are right already.
    explicit TransactionLinks(std::string_view base_url) : base_url_(base_url) {}

    /// Says that `full_url` is `name`: "Patient/1". Lifetime: `full_url` outlives the object.
    /// Errors: invalid (it stands for two resources).
    Result<void> add(std::string_view full_url, const std::string& name);

    /// The edits of `resource`, which stands in an entry with `full_url`, ascending; none inside of the entries of a
    /// Bundle. Errors: those of `resolve`.
    Result<std::vector<json::Edit>> edits(const EntryResource& resource, std::string_view full_url,
                                          const Resolve& resolve) const;

    /// What an entry to come would have to have as its fullUrl to be meant by a link of `resource`, whichever of them it is.
    std::vector<std::string> unknown(const EntryResource& resource,
                                     std::string_view full_url) const;

  private:
    /// What stands instead of `link`, if it names a resource of the bundle; `base` is the referring entry's.
    std::optional<std::string> find(std::string_view link, std::string_view base) const;

    std::string_view base_url_;
    std::unordered_map<std::string_view, std::string> names_;
};

}  // namespace annals::core
