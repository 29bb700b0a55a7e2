#include "core/graphql/walk.h"

#include "core/graphql/elements.h"
#include "core/graphql/fhirpath.h"
#include "core/interactions/references.h"
#include "core/interactions/search_includes.h"
#include "core/scoped_view.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::graphql {

namespace {

/// The field among those with the same key that applies to resources of `type`; null if there is none.
FieldPlan* choose(FieldPlan& field, schema::Type type) {
    if (field.call.resolve.wants(type)) {
        return &field;
    }
    const auto found = std::ranges::find_if(
        field.others, [&](const FieldPlan& other) { return other.call.resolve.wants(type); });
    return found == field.others.end() ? nullptr : &*found;
}

json::Value find_contained(json::Value resource, std::string_view id) {
    if (id.empty()) {
        return resource;
    }
    for (const json::Value contained : resource["contained"].elements()) {
        if (contained["id"].equals(id)) {
            return contained;
        }
    }
    return {};
}

}  // namespace

asio::awaitable<Result<void>> Walker::walk(json::Value object, schema::Type type, ObjectPlan& plan,
                                           const Place& place, const Focus& focus) {
    for (FieldPlan& field : plan.fields) {
        Result<void> done = Result<void>();
        switch (field.definition.kind) {
            case FieldKind::type_name:
                done = execution_.add_text(place, field, false,
                                           json::quoted(type_name({ObjectKind::fhir, type})));
                break;
            case FieldKind::resource_type:
                done = execution_.add_text(place, field, false, json::quoted(type.name()));
                break;
            case FieldKind::list:
            case FieldKind::connection:
                done = begin_search(place, field, focus);
                break;
            case FieldKind::resolved:
                done = co_await resolve(object, field, place, focus);
                break;
            case FieldKind::sibling:
                done = co_await walk_siblings(object, field, place, focus);
                break;
            default:
                if (field.definition.is_leaf()) {
                    done = add_primitives(object, field, place);
                } else {
                    done = co_await walk_elements(object, field, place, focus);
                }
                break;
        }
        if (!done) {
            co_return std::move(done.error());
        }
    }
    co_return Result<void>();
}

asio::awaitable<Result<void>> Walker::walk_elements(json::Value object, FieldPlan& field,
                                                    const Place& place, const Focus& focus) {
    const schema::Element element = field.definition.element;
    const json::Value value = object[element.name()];
    const Result<std::vector<Numbered>> items =
        co_await choose_elements(value, field, focus.resource, turns_);
    if (!items) {
        co_return execution_.fail(place, field, items.error());
    }
    if (items->empty()) {
        co_return execution_.output().add_nothing(place, field, value && element.repeats());
    }
    for (const auto& [one, index] : *items) {
        const schema::Type type = type_of(element, one);
        std::string suffix;
        if (field.call.slice) {
            const Result<std::string> text =
                text_by(*field.call.slice, item_of(one, type), focus.resource, index);
            if (!text) {
                co_return execution_.fail(place, field, text.error());
            }
            suffix = text->empty() ? "" : "." + *text;
        }
        // Other resources can't refer to a contained resource.
        Focus contained;
        const bool is_contained = element.type() == schema::resource_base_type();
        if (is_contained) {
            contained.resource = focus.resource;
        }
        Result<void> done =
            co_await walk_child(one, type, field, place, element.repeats(), std::move(suffix),
                                is_contained ? contained : focus);
        if (!done) {
            co_return std::move(done.error());
        }
    }
    co_return Result<void>();
}

asio::awaitable<Result<void>> Walker::walk_siblings(json::Value object, FieldPlan& field,
                                                    const Place& place, const Focus& focus) {
    const schema::Element element = field.definition.element;
    const json::Value value = object["_" + std::string(element.name())];
    const schema::Type type = scope_of(field.definition).types.front();
    if (!value) {
        co_return execution_.output().add_nothing(place, field, false);
    }
    for (const json::Value one : values_of(value)) {
        Result<void> done = Result<void>();
        if (one.is_object()) {
            done = co_await walk_child(one, type, field, place, element.repeats(), "", focus);
        } else {
            done = execution_.add_text(place, field, element.repeats(), "null", type);
        }
        if (!done) {
            co_return std::move(done.error());
        }
        if (field.call.first) {
            break;
        }
    }
    co_return Result<void>();
}

asio::awaitable<Result<void>> Walker::walk_child(json::Value child, schema::Type type,
                                                 FieldPlan& field, const Place& place, bool repeats,
                                                 std::string suffix, const Focus& focus) {
    // Here, because an element that fails is not walked.
    if (turns_.pace().is_over()) {
        Result<void> in_time = co_await turns_.next();
        if (!in_time) {
            co_return std::move(in_time.error());
        }
    }
    const ObjectType object{ObjectKind::fhir, type};
    Result<std::optional<Place>> own =
        execution_.begin_object(place, field, object, repeats, std::move(suffix));
    if (!own) {
        co_return std::move(own.error());
    }
    if (!*own) {
        co_return Result<void>();
    }
    Result<ObjectPlan*> plan = execution_.plan_below(field, object);
    if (!plan) {
        co_return std::move(plan.error());
    }
    Result<void> done = co_await walk(child, type, **plan, **own, focus);
    co_return done;
}

/// Adds the resource that a Reference leads to.
asio::awaitable<Result<void>> Walker::resolve(json::Value reference, FieldPlan& field,
                                              const Place& place, const Focus& focus) {
    const std::string text = reference["reference"].string();
    if (text.starts_with('#')) {
        const json::Value contained = find_contained(focus.resource, text.substr(1));
        if (const schema::Type type = schema::find_type(contained["resourceType"].string());
            type.resource_type()) {
            FieldPlan* const wanted = choose(field, type);
            if (wanted == nullptr) {
                co_return execution_.output().add_nothing(place, field, false);
            }
            const Focus around{focus.resource, text == "#" ? focus.reference : ""};
            Result<void> done =
                co_await walk_child(contained, type, *wanted, place, false, "", around);
            co_return done;
        }
    }
    // Judged by the reference alone, so that the answer doesn't reveal whether an invisible resource exists.
    const auto named = local_reference(text, request_.base_url);
    FieldPlan* const wanted = named ? choose(field, schema::Type(named->first)) : &field;
    if (wanted == nullptr) {
        co_return execution_.output().add_nothing(place, field, false);
    }
    const bool optional = wanted->call.resolve.optional;
    const auto info =
        find_referred_version(service_.store(), text, request_.base_url, snapshot_.position());
    const Result<bool> readable = co_await is_readable(info, *wanted);
    if (!readable) {
        co_return readable.error();
    }
    if (!*readable) {
        co_return optional ? execution_.output().add_nothing(place, *wanted, false)
                           : execution_.fail(place, *wanted, absent(*wanted));
    }
    co_return execution_.begin_resource(place, *wanted, *info, false, optional);
}

Result<void> Walker::may_read(TypeId type) const {
    return require_read(service_, request_, type, Extent::part);
}

asio::awaitable<Result<bool>> Walker::is_readable(std::optional<storage::VersionInfo> info,
                                                  const FieldPlan& field) {
    bool readable = info && !info->deletion && may_read(info->type).has_value();
    if (readable && !read_.is_whole()) {
        co_await turns_.fetched(std::span(&*info, 1));
        readable = read_.shows(*info);
    }
    if (!readable && !read_.is_whole()) {
        if (Result<void> counted = execution_.count_resource(field); !counted) {
            co_return std::move(counted.error());
        }
    }
    co_return readable;
}

Result<void> Walker::add_primitives(json::Value object, const FieldPlan& field,
                                    const Place& place) {
    const schema::Element element = field.definition.element;
    const json::Value value = object[element.name()];
    if (!value) {
        return execution_.output().add_nothing(place, field, false);
    }
    for (const json::Value one : values_of(value)) {
        const bool is_primitive = !one.is_object() && !one.is_array();
        ANNALS_TRY_VOID(execution_.add_text(place, field, element.repeats(),
                                            is_primitive ? one.raw() : "null", element.type()));
        if (field.call.first) {
            break;
        }
    }
    return {};
}

Result<void> Walker::begin_search(const Place& place, FieldPlan& field, const Focus& focus) {
    if (focus.reference.empty()) {
        return execution_.fail(
            place, field,
            {Errc::invalid, "Nothing outside a resource refers to its contained resources"});
    }
    return execution_.begin_search(place, field, focus.reference);
}

}  // namespace annals::core::graphql
