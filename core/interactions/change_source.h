// The change feed as bytes: ndjson lines, which end, or Server-Sent Events, which don't.
//
// Layer:   core/interactions.
// Spec:    docs/api/changes.md; WHATWG HTML, Server-sent events.
// Threads: on the loop of their request.

#pragma once

#include "core/body.h"
#include "core/interactions/change_reader.h"
#include "core/service.h"

#include <memory>
#include <string_view>
#include <vector>

namespace annals::core {

/// One line per version. Lifetime: `service` outlives it.
std::unique_ptr<BodySource> change_lines(const Service& service, std::string_view base_url,
                                         std::vector<Change> changes);

/// One event per commit, existing and new ones, without end. Lifetime: `service` outlives it.
std::unique_ptr<BodySource> change_events(const Service& service, std::string_view base_url,
                                          ChangeReader reader);

}  // namespace annals::core
