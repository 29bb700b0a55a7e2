// What the execution of a GraphQL query has come to: the answer so far, and what is put off to the next step.
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

inline constexpr std::size_t kResourcesMax = 10'000;  ///< looked at for one query
inline constexpr std::size_t kSearchesMax = 1000;     ///< made for one query

/// What is put off to the next step: a search, or the fields of a resource.
struct Task {
    FieldPlan* field = nullptr;  ///< null: the operation's own
    Place place{};               ///< of a search, of its field; else of the resource's fields
    std::optional<storage::VersionInfo> resource{};
    bool optional = false;  ///< that the resource is gone is no error
    std::string focus{};    ///< of a search
};

/// Errors of its functions: invalid, too_costly: nothing comes of the query. What is wrong with one field alone is said
/// in the answer.
class Execution {
  public:
    explicit Execution(Planner planner) : planner_(std::move(planner)) {}

    Output& output() noexcept { return output_; }

    /// Of what the operation begins with, which goes into Output::kRoot.
    Result<std::unique_ptr<ObjectPlan>> plan_root(const ObjectType& type);

    /// Of objects of `type` that `field` leads to.
    Result<ObjectPlan*> plan_below(FieldPlan& field, const ObjectType& type) {
        return planner_.below(field, type, fault_);
    }

    /// Where it ended.
    Location fault() const noexcept { return fault_; }

    /// A field has failed: null, with an error. Errors: `error` itself, if it is_the_servers().
    Result<void> fail(const Place& place, const FieldPlan& field, Error error);

    Result<void> add_text(const Place& place, const FieldPlan& field, bool repeats,
                          std::string_view json, schema::Type type = {});

    /// The place for the fields of one of the objects that `field` leads to; none: it failed, which has been said.
    Result<std::optional<Place>> begin_object(const Place& place, FieldPlan& field,
                                              const ObjectType& type, bool repeats,
                                              std::string suffix = {});

    /// Keeps the place of a resource that is shown; its fields are put off. `optional`: as of Task.
    Result<void> begin_resource(const Place& place, FieldPlan& field,
                                const storage::VersionInfo& info, bool repeats, bool optional);

    /// Counts a resource that is looked at for `field`, or was looked for in vain.
    Result<void> count_resource(const FieldPlan& field);

    /// Keeps a field's place, and puts its search off. `focus`: whom what it finds refers to ("Patient/1"); empty: nobody.
    Result<void> begin_search(const Place& place, FieldPlan& field, std::string focus = {});

    /// What has been put off so far.
    std::vector<Task> take_step() { return std::exchange(tasks_, {}); }

    /// The first step of a query about one resource.
    void begin(const storage::VersionInfo& focus) { tasks_.push_back({.resource = focus}); }

  private:
    Result<std::optional<std::uint32_t>> add_value(const Place& place, const FieldPlan& field,
                                                   bool repeats, schema::Type type);
    Error too_many(const FieldPlan& field);

    Planner planner_;
    Output output_;
    std::vector<Task> tasks_;  // of the next step
    std::size_t resources_ = 0;
    std::size_t searches_ = 0;
    Location fault_;
};

/// Whether an error is about the whole request, and no value of a field.
bool is_the_servers(const Error& error) noexcept;

/// What is said of a resource that isn't there, or isn't shown.
Error absent(const FieldPlan& field);

}  // namespace annals::core::graphql
