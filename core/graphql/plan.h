// Plans: the fields selected for objects of one type, and their keys; made when the first such object is met.
//
// Layer:   core/graphql.
// Spec:    GraphQL (June 2018), 6.3.2 Field Collection.
// Threads: belongs to one request.

#pragma once

#include "core/base/result.h"
#include "core/graphql/call.h"
#include "core/graphql/document.h"
#include "core/graphql/types.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace annals::core::graphql {

/// The maximum number of fields in all plans of a request.
inline constexpr std::size_t kPlannedMax = 20'000;

struct ObjectPlan;

struct FieldPlan {
    std::string key;  ///< in the answer
    FieldDefinition definition;
    Call call;
    const Selection* selection = nullptr;  ///< the first one with that key
    /// The sub-selections of all equivalent selections with that key.
    std::vector<const std::vector<Selection>*> selections;
    /// Fields with the same key for other types of resources (`resource(type: ...)`).
    std::vector<FieldPlan> others;
    std::vector<std::pair<ObjectType, std::unique_ptr<ObjectPlan>>> below;
};

struct ObjectPlan {
    std::vector<FieldPlan> fields;
    /// Fields of nested objects are put into it (@flatten), or one of its fields appears under any number of keys (@slice).
    bool collates = false;
};

/// Lifetime: the arguments of the constructor outlive it and its plans.
class Planner {
  public:
    Planner(const Document& document, const OperationDefinition& operation,
            const Variables& variables, const search::ParameterSet& parameters)
        : document_(document),
          operation_(operation),
          variables_(variables),
          parameters_(parameters) {}

    /// The plan for the root object. Requires: the operation is valid. Errors: as below().
    Result<std::unique_ptr<ObjectPlan>> root(const ObjectType& type, Location& fault);

    /// The plan for objects of `type` that `field` leads to. Lifetime: the result lives as long as `field`.
    /// Errors: invalid (two different fields have the same key); too_costly. `fault`: where.
    Result<ObjectPlan*> below(FieldPlan& field, const ObjectType& type, Location& fault);

  private:
    struct Collecting;
    Result<std::unique_ptr<ObjectPlan>> make(
        const std::vector<const std::vector<Selection>*>& selections, const ObjectType& type,
        bool at_root, Location& fault);
    Result<void> collect(const std::vector<Selection>& selections, Collecting& collecting);
    Result<std::vector<FieldPlan>*> find_list(const Selection& selection,
                                              const FieldDefinition& definition,
                                              Collecting& collecting);
    Result<void> add(const Selection& selection, Collecting& collecting);

    const Document& document_;
    const OperationDefinition& operation_;
    const Variables& variables_;
    const search::ParameterSet& parameters_;
    std::size_t planned_ = 0;
};

}  // namespace annals::core::graphql
