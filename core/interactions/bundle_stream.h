// A Bundle whose entries are produced while it is sent, in slices if it is large.
//
// Layer:   core/interactions.
// Threads: runs on the loop of its request.

#pragma once

#include "core/body.h"
#include "core/exchange.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {

/// The entries of a Bundle.
class EntrySource {
  public:
    virtual ~EntrySource() = default;

    virtual std::size_t size() const noexcept = 0;

    /// Appends `before` and the entry at `index`. If the entry no longer exists, appends nothing and returns
    /// false.
    virtual bool append(Body& body, std::size_t index, std::string_view before) = 0;
};

/// A link of a Bundle: relation (static text), URL.
using BundleLink = std::pair<std::string_view, std::string>;

/// `base_url` escaped for a JSON string, for URLs that are assembled there.
std::string escaped_base(std::string_view base_url);

/// Appends `"link":[...]` to the head of a Bundle.
void append_links(std::string& head, const std::vector<BundleLink>& links);

/// 200 with `head`, a Bundle's JSON up to its entries, followed by `entries`.
Response stream_bundle(std::string head, std::unique_ptr<EntrySource> entries);

}  // namespace annals::core
