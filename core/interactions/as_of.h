// _asOf: reads and searches of the store as it stood at an earlier instant or position.
//
// Layer:   core/interactions.
// Spec:    docs/api/as-of.md.
// Threads: plain functions, on the loop of their request.

#pragma once

#include "core/interactions/turns.h"
#include "core/search/parameters.h"
#include "core/search/snapshot.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace annals::core {

/// The position meant by a value of `_asOf`: an integer is the position itself; for a date or time it is the last one
/// before the first version that is younger, or 0 if there was none. Errors: invalid (neither, or a position that
/// does not exist yet).
Result<Position> read_as_of(const storage::Store& store, std::string_view text);

/// The same for the `_asOf` of a query; none if it has none. Errors: as read_as_of(), and invalid if there are
/// several.
Result<std::optional<Position>> find_as_of(const storage::Store& store, std::string_view query);

/// The version of a resource that was current at `position`, which may be a deletion; none if there was none (as at position 0),
/// or if it was a deletion that has been removed from the history since.
std::optional<storage::VersionInfo> current_as_of(const storage::Store& store, TypeId type,
                                                  std::string_view id, Position position);

/// Enables `snapshot` to answer for each of `types`, if necessary by reading the bodies that were current then.
/// Errors: too_costly, timeout.
asio::awaitable<Result<void>> reach_back(const Service& service,
                                         std::shared_ptr<const search::ParameterSet> parameters,
                                         std::span<const TypeId> types, search::Snapshot& snapshot,
                                         Turns& turns);

}  // namespace annals::core
