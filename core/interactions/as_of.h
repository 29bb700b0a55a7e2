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

/// The position that a value of `_asOf` means: itself if it is an integer, else the last one before the first version
/// that is younger than the date or time; 0 if there was nothing then. Errors: invalid (neither, or a position that
/// isn't there yet).
Result<Position> read_as_of(const storage::Store& store, std::string_view text);

/// The same of a query; none if it has no _asOf. Errors: invalid (also if there are several).
Result<std::optional<Position>> find_as_of(const storage::Store& store, std::string_view query);

/// What a resource was at `position`, deleted or not; none also where that deletion was removed from the history since.
std::optional<storage::VersionInfo> current_as_of(const storage::Store& store, TypeId type,
                                                  std::string_view id, Position position);

/// Makes `snapshot` answer for each of `types`, be it by looking at the bodies that were current then.
/// Errors: too_costly, timeout.
asio::awaitable<Result<void>> reach_back(const Service& service,
                                         std::shared_ptr<const search::ParameterSet> parameters,
                                         std::span<const TypeId> types, search::Snapshot& snapshot,
                                         Turns& turns);

}  // namespace annals::core
