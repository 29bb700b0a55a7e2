#include "core/graphql/execution.h"

#include "core/outcome.h"

#include <fmt/format.h>

namespace annals::core::graphql {

Result<std::unique_ptr<ObjectPlan>> Execution::plan_root(const ObjectType& type) {
    ANNALS_TRY(std::unique_ptr<ObjectPlan> root, planner_.root(type, fault_));
    output_.set_object(Output::kRoot, root->collates);
    return root;
}

Result<void> Execution::fail(const Place& place, const FieldPlan& field, Error error) {
    if (is_the_servers(error)) {
        return error;
    }
    ANNALS_TRY_VOID(report(error, place, field));
    return output_.add_nothing(place, field, false);
}

Result<void> Execution::add_text(const Place& place, const FieldPlan& field, bool repeats,
                                 std::string_view json, schema::Type type) {
    ANNALS_TRY(const std::optional<std::uint32_t> node, add_value(place, field, repeats, type));
    return node ? output_.set_text(*node, json) : Result<void>();
}

Result<std::optional<Place>> Execution::begin_object(const Place& place, FieldPlan& field,
                                                     const ObjectType& type, bool repeats,
                                                     std::string suffix) {
    if (field.call.flatten) {
        return std::optional<Place>(Place{
            place.node, true, place.list || (repeats && !field.call.first), place.suffix + suffix});
    }
    Place sliced = place;
    sliced.suffix += suffix;
    ANNALS_TRY(const std::optional<std::uint32_t> node,
               add_value(sliced, field, repeats,
                         field.definition.is_any_resource() ? schema::Type() : type.type));
    if (!node) {
        return std::optional<Place>();
    }
    ANNALS_TRY(const ObjectPlan* const plan, plan_below(field, type));
    output_.set_object(*node, plan->collates);
    return std::optional<Place>(Place{.node = *node});
}

Result<void> Execution::begin_resource(const Place& place, FieldPlan& field,
                                       const storage::VersionInfo& info, bool repeats,
                                       bool optional) {
    const ObjectType type{ObjectKind::fhir, schema::Type(info.type)};
    ANNALS_TRY(std::optional<Place> own, begin_object(place, field, type, repeats));
    if (!own) {
        return {};
    }
    ANNALS_TRY_VOID(count_resource(field));
    tasks_.push_back(
        {.field = &field, .place = *std::move(own), .resource = info, .optional = optional});
    return {};
}

Result<void> Execution::begin_search(const Place& place, FieldPlan& field, std::string focus) {
    ANNALS_TRY_VOID(output_.reserve(place, field));
    if (++searches_ > kSearchesMax) {
        return too_many(field);
    }
    tasks_.push_back({.field = &field, .place = place, .focus = std::move(focus)});
    return {};
}

/// None: the field failed, which has been reported.
Result<std::optional<std::uint32_t>> Execution::add_value(const Place& place,
                                                          const FieldPlan& field, bool repeats,
                                                          schema::Type type) {
    Result<std::uint32_t> node = output_.add(place, field, repeats, type);
    if (node) {
        return std::optional<std::uint32_t>(*node);
    }
    if (node.error().code != Errc::processing) {
        fault_ = field.selection->at;
        return std::move(node.error());
    }
    ANNALS_TRY_VOID(report(node.error(), place, field));
    return std::optional<std::uint32_t>();
}

Result<void> Execution::report(const Error& error, const Place& place, const FieldPlan& field) {
    Result<void> reported =
        output_.add_error(error, field.selection->at, place.node, field.key + place.suffix);
    if (!reported) {
        fault_ = field.selection->at;
    }
    return reported;
}

Result<void> Execution::count_resource(const FieldPlan& field) {
    return ++resources_ > kResourcesMax ? too_many(field) : Result<void>();
}

Error Execution::too_many(const FieldPlan& field) {
    fault_ = field.selection->at;
    return {Errc::too_costly,
            fmt::format("More than {} resources would be read, or {} searches made", kResourcesMax,
                        kSearchesMax)};
}

bool is_the_servers(const Error& error) noexcept {
    return meaning_of(error.code).status >= 500;
}

Error absent(const FieldPlan& field) {
    if (field.definition.kind == FieldKind::read) {
        return {Errc::not_found, fmt::format("{}/{} does not exist", field.definition.type.name(),
                                             field.call.id.substr(0, 64))};
    }
    return {Errc::not_found, field.definition.kind == FieldKind::resolved
                                 ? "The reference does not lead to a resource on this server"
                                 : "A resource that was found cannot be read"};
}

}  // namespace annals::core::graphql
