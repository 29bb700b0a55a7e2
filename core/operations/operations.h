// Operations: named interactions ($validate), one row each in one table.
//
// Layer:   core. A new operation is a file here, a row in table.cc and a line in signatures.cc (docs/architecture.md).
// Spec:    FHIR R4 operations.html. Pages: docs/api/operations.md and one each.
// Threads: plain functions and constant data.

#pragma once

#include "core/service.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace annals::core {

/// Levels as bits; in `by_get`, those at which it can be called by GET.
enum OperationLevel : std::uint8_t { kOnSystem = 1, kOnType = 2, kOnInstance = 4, kOnVersion = 8 };

struct Operation {
    std::string_view name;  ///< with its $
    std::uint8_t levels;
    std::uint8_t by_get;  ///< levels at which all inputs can be in the query
    bool affects_state;
    Access access;                ///< needed on its type, or on all
    std::string_view definition;  ///< canonical URL of its OperationDefinition
    AwaitingHandler handler;
    std::string_view types = {};  ///< the types it applies to, separated by blanks; empty: all
    Extent extent = Extent::all;  ///< part: its handler checks each resource with a ScopedView
    bool (*enabled)(const Config&) = nullptr;  ///< null: always
};

/// Whether it is enabled by the configuration.
bool is_on(const Operation& operation, const Config& config) noexcept;

/// Whether clients are told about it: it is on, and could succeed under this configuration (read_only, update_create).
bool is_told(const Operation& operation, const Config& config) noexcept;

/// The whole table. An operation may have several rows, for different types or levels.
std::span<const Operation> operations() noexcept;

/// The operation that `target` names, at its level; null if there is none.
const Operation* find_operation(const Target& target) noexcept;

/// Whether it can be called by `method` at the level of `target`.
bool takes(const Operation& operation, const Target& target, HttpMethod method) noexcept;

/// Runs the operation that `target` names. Requires: there is one, and it takes the method.
asio::awaitable<Response> run_operation(const Service& service, const Request& request,
                                        const Target& target);

/// Whether it applies to resources of this type.
bool is_for(const Operation& operation, TypeId type) noexcept;

}  // namespace annals::core
