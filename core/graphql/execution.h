// The state of a GraphQL query in execution: the answer so far, and the tasks for the next step.
//
// Layer:   core/graphql.
// Spec:    GraphQL (June 2018), section 6 Execution.
// Threads: belongs to one request.

#pragma once

#include "core/base/result.h"
#include "core/graphql/document.h"
#include "core/graphql/output.h"
#include "core/graphql/plan.h"
#include "core/graphql/types.h"
#include "storage/types.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::graphql {

inline constexpr std::size_t kResourcesMax = 10'000;  ///< per query
inline constexpr std::size_t kSearchesMax = 1000;     ///< per query

/// A task for the next step: a search, or the fields of a resource.
struct Task {
    FieldPlan* field = nullptr;  ///< null: the root selection of the operation
    Place place{};               ///< of the field to search for, or of the resource's fields
    std::optional<storage::VersionInfo> resource{};
    bool optional = false;  ///< a resource that is gone is no error
    std::string focus{};    ///< for a search
};

/// Errors of its functions: invalid, too_costly: the whole query fails. Faults of a single field are reported in the answer
/// instead.
class Execution {
  public:
    explicit Execution(Planner planner) : planner_(planner) {}

    Output& output() noexcept { return output_; }

    /// The plan for the operation's root object, Output::kRoot.
    Result<std::unique_ptr<ObjectPlan>> plan_root(const ObjectType& type);

    /// The plan for objects of `type` that `field` leads to.
    Result<ObjectPlan*> plan_below(FieldPlan& field, const ObjectType& type) {
        return planner_.below(field, type, fault_);
    }

    /// Where the query failed.
    Location fault() const noexcept { return fault_; }

    /// Reports that a field failed, and sets it to null. Errors: `error` itself, if it is_the_servers().
    Result<void> fail(const Place& place, const FieldPlan& field, Error error);

    Result<void> add_text(const Place& place, const FieldPlan& field, bool repeats,
                          std::string_view json, schema::Type type = {});

    /// The place for the fields of an object that `field` leads to; none: the field failed, which has been reported.
    Result<std::optional<Place>> begin_object(const Place& place, FieldPlan& field,
                                              const ObjectType& type, bool repeats,
                                              std::string suffix = {});

    /// Reserves the place of a visible resource; its fields follow in the next step. `optional`: as in Task.
    Result<void> begin_resource(const Place& place, FieldPlan& field,
                                const storage::VersionInfo& info, bool repeats, bool optional);

    /// Counts a resource that was looked up for `field`, whether found or not.
    Result<void> count_resource(const FieldPlan& field);

    /// Reserves a field's place, and puts its search off to the next step. `focus`: what the matches must refer to
    /// ("Patient/1"); empty: nothing.
    Result<void> begin_search(const Place& place, FieldPlan& field, std::string focus = {});

    /// Returns and removes the tasks for the next step.
    std::vector<Task> take_step() { return std::exchange(tasks_, {}); }

    /// Begins a query about one resource.
    void begin(const storage::VersionInfo& focus) { tasks_.push_back({.resource = focus}); }

  private:
    Result<std::optional<std::uint32_t>> add_value(const Place& place, const FieldPlan& field,
                                                   bool repeats, schema::Type type);
    /// Reports that `field` failed. Errors: too_costly.
    Result<void> report(const Error& error, const Place& place, const FieldPlan& field);
    Error too_many(const FieldPlan& field);

    Planner planner_;
    Output output_;
    std::vector<Task> tasks_;  // for the next step
    std::size_t resources_ = 0;
    std::size_t searches_ = 0;
    Location fault_;
};

/// Whether an error concerns the whole request instead of a single field.
bool is_the_servers(const Error& error) noexcept;

/// The error for a resource that doesn't exist or isn't visible.
Error absent(const FieldPlan& field);

}  // namespace annals::core::graphql
