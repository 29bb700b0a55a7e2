// Plans: which fields of an object of one type are wanted, under which names, made when the first such object comes.
//
// Layer:   core/graphql.
// Spec:    GraphQL (June 2018), 6.3.2 Field Collection.
// Threads: belong to one request.

#pragma once

#include "core/base/result.h"
#include "core/graphql/call.h"
#include "core/graphql/document.h"
#include "core/graphql/types.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::graphql {

/// Fields of all plans of a request.
inline constexpr std::size_t kPlannedMax = 20'000;

struct ObjectPlan;

struct FieldPlan {
    std::string key;  ///< in the answer
    FieldDefinition definition;
    Call call;
    const Selection* selection = nullptr;  ///< the first one of that key
    /// What is selected of it, by all that mean the same.
    std::vector<const std::vector<Selection>*> selections;
    /// Others of the same key that are for other types of resources (`resource(type: ...)`).
    std::vector<FieldPlan> others;
    std::vector<std::pair<ObjectType, std::unique_ptr<ObjectPlan>>> below;
};

struct ObjectPlan {
    std::vector<FieldPlan> fields;
    /// Fields of what is below come into it (@flatten), or one of its own under any number of names (@slice).
    bool collates = false;
};

/// Lifetime: what it is made of outlives it and its plans.
class Planner {
  public:
    Planner(const Document& document, const OperationDefinition& operation,
            const Variables& variables, const search::ParameterSet& parameters)
        : document_(document),
          operation_(operation),
          variables_(variables),
          parameters_(parameters) {}

    /// Of what the operation begins with. Requires: it is valid. Errors: as below().
    Result<std::unique_ptr<ObjectPlan>> root(const ObjectType& type, Location& fault);

    /// Of objects of `type` that `field` leads to. Lifetime of what is returned: of `field`.
    /// Errors: invalid (two fields of one name differ); too_costly. `fault`: where.
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
