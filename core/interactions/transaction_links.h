// Links between the resources of a transaction, and what they are replaced by.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#trules, bundle.html#references.
// Threads: plain values.

#pragma once

#include "codec/json/resource.h"
#include "core/base/text_map.h"
#include "core/interactions/transaction_entry.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// The resources that the fullUrls of a bundle stand for, and the edits to the references to them.
class TransactionLinks {
  public:
    /// Returns the name of the resource that a conditional reference finds: "Patient/1".
    using Resolve = std::function<Result<std::string>(std::string_view reference)>;

    /// `base_url`: links below it need no change.
    explicit TransactionLinks(std::string_view base_url) : base_url_(base_url) {}

    /// Adds that `full_url` stands for `name`: "Patient/1". `created`: with an id assigned here, so that links to any
    /// version of it mean its first one. Lifetime: `full_url` outlives the object. Errors: invalid (it stands for two
    /// resources).
    Result<void> add(std::string_view full_url, const std::string& name, bool created);

    /// The name of the resource ("Patient/1") that an absolute `link` in criteria stands for, if it is the fullUrl of one.
    std::optional<std::string> named(std::string_view link) const { return replaced(link, {}); }

    /// The edits to `resource`, whose entry has `full_url`, ascending; none inside the entries of a Bundle. Errors:
    /// those of `resolve`.
    Result<std::vector<json::Edit>> edits(const EntryResource& resource, std::string_view full_url,
                                          const Resolve& resolve) const;

    /// The fullUrls that a later entry could have to be the target of an unresolved link of `resource`.
    std::vector<std::string> unknown(const EntryResource& resource,
                                     std::string_view full_url) const;

  private:
    struct Named {
        std::string name;
        bool created = false;
    };

    /// What a link stands for. Lifetime: that of the object.
    struct Found {
        std::string_view name;
        std::string_view version;  ///< "/_history/1", or empty
    };

    /// What `link`, which has no fragment, stands for, if it names a resource of the bundle. `base` is that of the
    /// referring entry's fullUrl.
    std::optional<Found> find(std::string_view link, std::string_view base) const;
    const Named* find_exactly(std::string_view link, std::string_view base) const;

    /// What replaces `link`, which may have a fragment.
    std::optional<std::string> replaced(std::string_view link, std::string_view base) const;

    std::string_view base_url_;
    TextMap<Named, std::string_view> names_;
};

}  // namespace annals::core
