#include "core/graphql/execute.h"

#include "core/graphql/fhirpath.h"
#include "core/graphql/output.h"
#include "core/graphql/parser.h"
#include "core/graphql/plan.h"
#include "core/graphql/search.h"
#include "core/graphql/validate.h"
#include "core/interactions/search_includes.h"
#include "core/outcome.h"
#include "core/scoped_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace annals::core::graphql {

namespace {

using storage::VersionInfo;

/// Whether an error is about the whole request, and no value of a field.
bool is_the_servers(const Error& error) noexcept {
    return meaning_of(error.code).status >= 500;
}

/// What is put off to the next step: a search, or the fields of a resource.
struct Task {
    FieldPlan* field = nullptr;  ///< null: the operation's own
    Place place{};               ///< of a search, of its field; else of the resource's fields
    std::optional<VersionInfo> resource{};
    bool shown = false;     ///< the resource is known to be
    bool optional = false;  ///< that it isn't is no error
    std::string focus{};    ///< of a search
};

/// The resource that is being looked at.
struct Focus {
    json::Value resource;   ///< with what it contains
    std::string reference;  ///< "Patient/1"; empty: it is contained
};

class Executor {
  public:
    Executor(const Service& service, const Request& request, const Document& document,
             const OperationDefinition& operation, const Variables& variables,
             std::shared_ptr<const search::ParameterSet> parameters, const ScopedView& searched,
             search::Snapshot& snapshot)
        : service_(service),
          request_(request),
          snapshot_(snapshot),
          read_(service, request, kMayRead, "read"),
          turns_(*request.loop, service.config().limits.request_timeout),
          planner_(document, operation, variables, *parameters),
          searcher_(service, request, searched, parameters, snapshot, turns_),
          reader_(service.store()) {}

    /// Where it ended.
    Location fault() const noexcept { return fault_; }

    /// Errors: invalid, too_costly: nothing comes of it; those of the server.
    asio::awaitable<Result<std::string>> run(std::optional<VersionInfo> focus) {
        const ObjectType type =
            focus ? ObjectType{ObjectKind::fhir, schema::Type(focus->type)} : ObjectType{};
        Result<std::unique_ptr<ObjectPlan>> root = planner_.root(type, fault_);
        if (!root) {
            co_return std::move(root.error());
        }
        root_ = *std::move(root);
        output_.set_object(Output::kRoot, root_->collates);
        if (focus) {
            tasks_.push_back({.resource = focus, .shown = true});
        } else {
            Result<void> begun = begin_query();
            if (!begun) {
                co_return std::move(begun.error());
            }
        }
        while (!tasks_.empty()) {
            std::vector<Task> step = std::exchange(tasks_, {});
            Result<void> done = co_await run_step(step);
            if (!done) {
                co_return std::move(done.error());
            }
        }
        co_return output_.json();
    }

  private:
    /// A field has failed: null, with an error.
    Result<void> fail(const Place& place, const FieldPlan& field, const Error& error) {
        output_.add_error(error, field.selection->at, place.node, field.key + place.suffix);
        return output_.add_nothing(place, field, false);
    }

    Result<void> begin_query() {
        const Place place;
        for (FieldPlan& field : root_->fields) {
            if (field.definition.kind == FieldKind::type_name) {
                ANNALS_TRY_VOID(add_text(place, field, false, R"("Query")"));
            } else if (field.definition.kind == FieldKind::read) {
                ANNALS_TRY_VOID(begin_read(place, field));
            } else {
                ANNALS_TRY_VOID(output_.reserve(place, field));
                ANNALS_TRY_VOID(add_task({.field = &field, .place = place}));
            }
        }
        return {};
    }

    Result<void> begin_read(const Place& place, FieldPlan& field) {
        const TypeId type = *field.definition.type.resource_type();
        if (const Result<void> may = require(service_, request_, kMayRead, type, Extent::part);
            !may) {
            return fail(place, field, may.error());
        }
        const std::string& id = field.call.id;
        const auto info = is_resource_id(id)
                              ? service_.store().current(type, id, snapshot_.position())
                              : std::nullopt;
        if (!info || info->deletion || snapshot_.position().value == 0) {
            return fail(place, field, absent(field));
        }
        return begin_resource(place, field, *info, false, false, false);
    }

    /// What is said of a resource that isn't there, or isn't shown.
    static Error absent(const FieldPlan& field) {
        if (field.definition.kind == FieldKind::read) {
            return {Errc::not_found,
                    fmt::format("{}/{} does not exist", field.definition.type.name(),
                                field.call.id.substr(0, 64)),
                    ""};
        }
        return {Errc::not_found,
                field.definition.kind == FieldKind::resolved
                    ? "The reference leads to no resource of this server"
                    : "A resource that was found can't be read",
                ""};
    }

    Result<void> add_task(Task task) {
        if (task.resource ? ++resources_ > kResourcesMax : ++searches_ > kSearchesMax) {
            fault_ = task.field->selection->at;
            return Error{
                Errc::too_costly,
                fmt::format("More than {} resources would be looked at, or {} searches made",
                            kResourcesMax, kSearchesMax),
                ""};
        }
        tasks_.push_back(std::move(task));
        return {};
    }

    /// The place for the fields of one of the objects that `field` leads to; none: it failed, which has been said.
    Result<std::optional<Place>> begin_object(const Place& place, FieldPlan& field,
                                              const ObjectType& type, bool repeats,
                                              std::string suffix = {}) {
        if (field.call.flatten) {
            return std::optional<Place>(Place{place.node, true,
                                              place.list || (repeats && !field.call.first),
                                              place.suffix + suffix});
        }
        Place sliced = place;
        sliced.suffix += suffix;
        ANNALS_TRY(const std::optional<std::uint32_t> node,
                   add_value(sliced, field, repeats,
                             field.definition.is_any_resource() ? schema::Type() : type.type));
        if (!node) {
            return std::optional<Place>();
        }
        Result<ObjectPlan*> plan = planner_.below(field, type, fault_);
        if (!plan) {
            return std::move(plan.error());
        }
        output_.set_object(*node, (*plan)->collates);
        return std::optional<Place>(Place{.node = *node});
    }

    /// None: it failed, which has been said.
    Result<std::optional<std::uint32_t>> add_value(const Place& place, const FieldPlan& field,
                                                   bool repeats, schema::Type type) {
        Result<std::uint32_t> node = output_.add(place, field, repeats, type);
        if (node) {
            return std::optional<std::uint32_t>(*node);
        }
        if (node.error().code != Errc::processing) {
            fault_ = field.selection->at;
            return std::move(node.error());
        }
        output_.add_error(node.error(), field.selection->at, place.node, field.key + place.suffix);
        return std::optional<std::uint32_t>();
    }

    Result<void> add_text(const Place& place, const FieldPlan& field, bool repeats,
                          std::string_view json, schema::Type type = {}) {
        ANNALS_TRY(const std::optional<std::uint32_t> node, add_value(place, field, repeats, type));
        return node ? output_.set_text(*node, json) : Result<void>();
    }

    Result<void> begin_resource(const Place& place, FieldPlan& field, const VersionInfo& info,
                                bool repeats, bool shown, bool optional) {
        const ObjectType type{ObjectKind::fhir, schema::Type(info.type)};
        ANNALS_TRY(std::optional<Place> own, begin_object(place, field, type, repeats));
        if (!own) {
            return {};
        }
        return add_task({.field = &field,
                         .place = *std::move(own),
                         .resource = info,
                         .shown = shown,
                         .optional = optional});
    }

    asio::awaitable<Result<void>> run_step(std::vector<Task>& step) {
        std::vector<VersionInfo> versions;
        for (const Task& task : step) {
            if (task.resource) {
                versions.push_back(*task.resource);
            }
        }
        std::size_t at = 0;
        for (Task& task : step) {
            Result<void> done = Result<void>();
            if (!task.resource) {
                done = co_await run_search(task);
            } else {
                if (at % kFetchedAtOnce == 0) {
                    const auto rest = std::span<const VersionInfo>(versions).subspan(at);
                    co_await turns_.fetched(rest.first(std::min(rest.size(), kFetchedAtOnce)));
                }
                ++at;
                done = co_await run_resource(task);
            }
            if (!done) {
                co_return std::move(done.error());
            }
        }
        co_return Result<void>();
    }

    asio::awaitable<Result<void>> run_resource(Task& task) {
        const VersionInfo& info = *task.resource;
        const json::Value body =
            task.shown || read_.shows(info) ? reader_.read(info.position) : json::Value();
        if (!body) {
            if (!task.place.flattened) {
                output_.set_null(task.place.node);
            }
            if (!task.optional && task.field != nullptr) {
                output_.add_error(absent(*task.field), task.field->selection->at, task.place.node);
            }
            co_return Result<void>();
        }
        const Focus focus{body, fmt::format("{}/{}", resource_type_name(info.type), reader_.id())};
        ObjectPlan* plan = root_.get();
        if (task.field != nullptr) {
            Result<ObjectPlan*> below =
                planner_.below(*task.field, {ObjectKind::fhir, schema::Type(info.type)}, fault_);
            if (!below) {
                co_return std::move(below.error());
            }
            plan = *below;
        }
        Result<void> done = co_await walk(body, schema::Type(info.type), *plan, task.place, focus);
        co_return done;
    }

    /// The fields of one object. What of it is small is done at once; a turn may end between objects.
    asio::awaitable<Result<void>> walk(json::Value object, schema::Type type, ObjectPlan& plan,
                                       const Place& place, const Focus& focus) {
        if (turns_.pace().is_over()) {
            Result<void> in_time = co_await turns_.next();
            if (!in_time) {
                co_return std::move(in_time.error());
            }
        }
        for (FieldPlan& field : plan.fields) {
            Result<void> done = Result<void>();
            switch (field.definition.kind) {
                case FieldKind::type_name:
                    done = add_text(place, field, false,
                                    json::quoted(type_name({ObjectKind::fhir, type})));
                    break;
                case FieldKind::resource_type:
                    done = add_text(place, field, false, json::quoted(type.name()));
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

    /// The values of an element, be there one or several.
    static std::vector<json::Value> values_of(json::Value value) {
        if (!value.is_array()) {
            return value ? std::vector{value} : std::vector<json::Value>();
        }
        std::vector<json::Value> values;
        for (const json::Value element : value.elements()) {
            values.push_back(element);
        }
        return values;
    }

    Result<void> add_primitives(json::Value object, const FieldPlan& field, const Place& place) {
        const schema::Element element = field.definition.element;
        const json::Value value = object[element.name()];
        if (!value) {
            return output_.add_nothing(place, field, false);
        }
        for (const json::Value one : values_of(value)) {
            const bool is_primitive = !one.is_object() && !one.is_array();
            ANNALS_TRY_VOID(add_text(place, field, element.repeats(),
                                     is_primitive ? one.raw() : "null", element.type()));
            if (field.call.first) {
                break;
            }
        }
        return {};
    }

    asio::awaitable<Result<void>> walk_siblings(json::Value object, FieldPlan& field,
                                                const Place& place, const Focus& focus) {
        const schema::Element element = field.definition.element;
        const json::Value value = object["_" + std::string(element.name())];
        const schema::Type type = scope_of(field.definition).types.front();
        if (!value) {
            co_return output_.add_nothing(place, field, false);
        }
        for (const json::Value one : values_of(value)) {
            Result<void> done = Result<void>();
            if (one.is_object()) {
                done = co_await walk_child(one, type, field, place, element.repeats(), "", focus);
            } else {
                done = add_text(place, field, element.repeats(), "null", type);
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

    asio::awaitable<Result<void>> walk_child(json::Value child, schema::Type type, FieldPlan& field,
                                             const Place& place, bool repeats, std::string suffix,
                                             const Focus& focus) {
        const ObjectType object{ObjectKind::fhir, type};
        Result<std::optional<Place>> own =
            begin_object(place, field, object, repeats, std::move(suffix));
        if (!own) {
            co_return std::move(own.error());
        }
        if (!*own) {
            co_return Result<void>();
        }
        Result<ObjectPlan*> plan = planner_.below(field, object, fault_);
        if (!plan) {
            co_return std::move(plan.error());
        }
        Result<void> done = co_await walk(child, type, **plan, **own, focus);
        co_return done;
    }

    /// An element that holds a resource is of that resource's type; missing: of none that is known.
    static schema::Type type_of(const schema::Element element, json::Value value) {
        if (element.type() != schema::resource_base_type()) {
            return element.type();
        }
        const schema::Type type = schema::find_type(value["resourceType"].string());
        return type.resource_type() ? type : schema::Type();
    }

    static fhirpath::Item item_of(json::Value value, schema::Type type) {
        if (type.is_resource()) {
            return fhirpath::Item::resource(value);
        }
        fhirpath::Place place;
        place.tree = &value.tree();
        place.value = value.index();
        return fhirpath::Item::element(place, type);
    }

    static bool equals(json::Value object, const std::pair<std::string, std::string>& wanted) {
        return std::ranges::any_of(values_of(object[wanted.first]), [&](json::Value value) {
            return value.is_string() ? value.equals(wanted.second) : value.raw() == wanted.second;
        });
    }

    /// An element, and its number in the list.
    using Numbered = std::pair<json::Value, std::uint64_t>;

    /// Whether the arguments ask for it, but for how many.
    static Result<bool> is_wanted(json::Value value, std::uint64_t index, const FieldPlan& field,
                                  const Focus& focus) {
        const ElementFilter& wanted = field.call.elements;
        const schema::Type type = type_of(field.definition.element, value);
        const bool fits = value.is_object() && type &&
                          std::ranges::all_of(
                              wanted.equal, [&](const auto& pair) { return equals(value, pair); });
        if (!fits || !wanted.filter) {
            return fits;
        }
        return passes_filter(*wanted.filter, item_of(value, type), focus.resource, index);
    }

    /// Those that the arguments ask for.
    asio::awaitable<Result<std::vector<Numbered>>> choose_elements(json::Value value,
                                                                   const FieldPlan& field,
                                                                   const Focus& focus) {
        const ElementFilter& wanted = field.call.elements;
        const std::uint64_t most = std::min<std::uint64_t>(wanted.count.value_or(UINT64_MAX),
                                                           field.call.first ? 1 : UINT64_MAX);
        std::vector<Numbered> out;
        std::uint64_t index = 0;
        std::uint64_t passed = 0;
        for (const json::Value one : values_of(value)) {
            if (out.size() == most) {
                break;
            }
            const Result<bool> passes = is_wanted(one, index, field, focus);
            if (!passes) {
                co_return passes.error();
            }
            if (*passes && passed++ >= wanted.offset) {
                out.emplace_back(one, index);
            }
            ++index;
            if (turns_.pace().is_over()) {
                Result<void> in_time = co_await turns_.next();
                if (!in_time) {
                    co_return std::move(in_time.error());
                }
            }
        }
        co_return out;
    }

    asio::awaitable<Result<void>> walk_elements(json::Value object, FieldPlan& field,
                                                const Place& place, const Focus& focus) {
        const schema::Element element = field.definition.element;
        const json::Value value = object[element.name()];
        const Result<std::vector<Numbered>> items = co_await choose_elements(value, field, focus);
        if (!items) {
            co_return is_the_servers(items.error()) ? items.error()
                                                    : fail(place, field, items.error());
        }
        if (items->empty()) {
            co_return output_.add_nothing(place, field, value && element.repeats());
        }
        for (const auto& [one, index] : *items) {
            const schema::Type type = type_of(element, one);
            std::string suffix;
            if (field.call.slice) {
                const Result<std::string> text =
                    text_by(*field.call.slice, item_of(one, type), focus.resource, index);
                if (!text) {
                    co_return fail(place, field, text.error());
                }
                suffix = text->empty() ? "" : "." + *text;
            }
            // What a resource contains is referred to by nobody else.
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

    /// Of the fields of that name the one that is for resources of `type`; null if none is.
    static FieldPlan* choose(FieldPlan& field, schema::Type type) {
        if (field.call.resolve.wants(type)) {
            return &field;
        }
        const auto found = std::ranges::find_if(
            field.others, [&](const FieldPlan& other) { return other.call.resolve.wants(type); });
        return found == field.others.end() ? nullptr : &*found;
    }

    /// The resource that a Reference leads to.
    asio::awaitable<Result<void>> resolve(json::Value reference, FieldPlan& field,
                                          const Place& place, const Focus& focus) {
        const std::string text = reference["reference"].string();
        if (text.starts_with('#')) {
            const json::Value contained = find_contained(focus.resource, text.substr(1));
            if (const schema::Type type = schema::find_type(contained["resourceType"].string());
                type.resource_type()) {
                FieldPlan* const wanted = choose(field, type);
                if (wanted == nullptr) {
                    co_return output_.add_nothing(place, field, false);
                }
                const Focus around{focus.resource, text == "#" ? focus.reference : ""};
                Result<void> done =
                    co_await walk_child(contained, type, *wanted, place, false, "", around);
                co_return done;
            }
        }
        const auto info =
            referred_version(service_.store(), text, request_.base_url, snapshot_.position());
        if (!info || info->deletion ||
            !require(service_, request_, kMayRead, info->type, Extent::part)) {
            co_return field.call.resolve.optional ? output_.add_nothing(place, field, false)
                                                  : fail(place, field, absent(field));
        }
        FieldPlan* const wanted = choose(field, schema::Type(info->type));
        co_return wanted == nullptr
            ? output_.add_nothing(place, field, false)
            : begin_resource(place, *wanted, *info, false, false, wanted->call.resolve.optional);
    }

    static json::Value find_contained(json::Value resource, std::string_view id) {
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

    Result<void> begin_search(const Place& place, FieldPlan& field, const Focus& focus) {
        if (focus.reference.empty()) {
            return fail(place, field,
                        {Errc::invalid, "Nothing refers to a contained resource from outside", ""});
        }
        ANNALS_TRY_VOID(output_.reserve(place, field));
        return add_task({.field = &field, .place = place, .focus = focus.reference});
    }

    asio::awaitable<Result<void>> run_search(Task& task) {
        FieldPlan& field = *task.field;
        const TypeId type = *field.definition.type.resource_type();
        if (field.definition.kind == FieldKind::connection) {
            co_return co_await run_connection(task, type);
        }
        const Result<FoundPage> found =
            co_await searcher_.list(type, field.call.search, std::move(task.focus));
        if (!found) {
            co_return is_the_servers(found.error()) ? found.error()
                                                    : fail(task.place, field, found.error());
        }
        if (found->matches.empty()) {
            co_return output_.add_nothing(task.place, field, true);
        }
        for (const VersionInfo& match : found->matches) {
            Result<void> begun = begin_resource(task.place, field, match, true, true, false);
            if (!begun || field.call.first) {
                co_return begun;
            }
        }
        co_return Result<void>();
    }

    asio::awaitable<Result<void>> run_connection(Task& task, TypeId type) {
        FieldPlan& field = *task.field;
        const ObjectType object{ObjectKind::connection, schema::Type(type)};
        Result<ObjectPlan*> plan = planner_.below(field, object, fault_);
        if (!plan) {
            co_return std::move(plan.error());
        }
        const bool counted = std::ranges::any_of((*plan)->fields, [](const FieldPlan& one) {
            return one.definition.kind == FieldKind::count ||
                   one.definition.kind == FieldKind::last;
        });
        const Result<FoundPage> page =
            co_await searcher_.page(type, field.call.search, std::move(task.focus), counted);
        if (!page) {
            co_return is_the_servers(page.error()) ? page.error()
                                                   : fail(task.place, field, page.error());
        }
        const Result<std::optional<Place>> own = begin_object(task.place, field, object, false);
        if (!own) {
            co_return own.error();
        }
        if (!*own) {
            co_return Result<void>();
        }
        co_return add_connection(object, **plan, **own, *page);
    }

    Result<void> add_connection(const ObjectType& type, ObjectPlan& plan, const Place& place,
                                const FoundPage& page) {
        const auto cursor = [](const std::string& text) {
            return text.empty() ? std::string("null") : json::quoted(text);
        };
        for (FieldPlan& field : plan.fields) {
            std::string text;
            switch (field.definition.kind) {
                case FieldKind::edges:
                    ANNALS_TRY_VOID(add_edges(field, place, page));
                    continue;
                case FieldKind::type_name:
                    text = json::quoted(type_name(type));
                    break;
                case FieldKind::count:
                    text = page.total ? std::to_string(*page.total) : "null";
                    break;
                case FieldKind::offset:
                    text = std::to_string(page.offset);
                    break;
                case FieldKind::pagesize:
                    text = std::to_string(page.size);
                    break;
                case FieldKind::first:
                    text = cursor(page.first);
                    break;
                case FieldKind::previous:
                    text = cursor(page.previous);
                    break;
                case FieldKind::next:
                    text = cursor(page.next);
                    break;
                default:
                    text = cursor(page.last);
                    break;
            }
            ANNALS_TRY_VOID(add_text(place, field, false, text));
        }
        return {};
    }

    Result<void> add_edges(FieldPlan& field, const Place& place, const FoundPage& page) {
        if (page.matches.empty()) {
            return output_.add_nothing(place, field, true);
        }
        const ObjectType type{ObjectKind::edge, field.definition.type};
        for (const VersionInfo& match : page.matches) {
            ANNALS_TRY(const std::optional<Place> own, begin_object(place, field, type, true));
            ANNALS_TRY(ObjectPlan* const plan, planner_.below(field, type, fault_));
            if (!own) {
                return {};
            }
            for (FieldPlan& one : plan->fields) {
                switch (one.definition.kind) {
                    case FieldKind::edge_resource:
                        ANNALS_TRY_VOID(begin_resource(*own, one, match, false, true, false));
                        break;
                    case FieldKind::mode:
                        ANNALS_TRY_VOID(add_text(*own, one, false, R"("match")"));
                        break;
                    case FieldKind::type_name:
                        ANNALS_TRY_VOID(add_text(*own, one, false, json::quoted(type_name(type))));
                        break;
                    default:
                        ANNALS_TRY_VOID(output_.add_nothing(*own, one, false));
                        break;
                }
            }
            if (field.call.first) {
                break;
            }
        }
        return {};
    }

    const Service& service_;
    const Request& request_;
    search::Snapshot& snapshot_;
    ScopedView read_;
    Turns turns_;
    Planner planner_;
    Searcher searcher_;
    search::BodyReader reader_;
    std::unique_ptr<ObjectPlan> root_;
    Output output_;
    std::vector<Task> tasks_;  // of the next step
    std::size_t resources_ = 0;
    std::size_t searches_ = 0;
    Location fault_;
};

}  // namespace

asio::awaitable<Result<std::string>> execute(const Service& service, const Request& request,
                                             const Query& query, search::Snapshot& snapshot,
                                             std::optional<VersionInfo> focus) {
    Location fault;
    const Result<Document> document = parse(query.document, fault);
    if (!document) {
        co_return failure_json(document.error(), fault);
    }
    const auto operation = choose_operation(*document, query.operation, fault);
    if (!operation) {
        co_return failure_json(operation.error(), fault);
    }
    const Result<Variables> variables = read_variables(**operation, query.variables, fault);
    if (!variables) {
        co_return failure_json(variables.error(), fault);
    }
    const ScopedView searched(service, request, kMaySearch, "search");
    const std::shared_ptr<const search::ParameterSet> parameters =
        searched.is_whole() ? service.indexing().parameters() : searched.parameters();
    const Scope root = focus ? Scope{ObjectKind::fhir, {schema::Type(focus->type)}} : Scope();
    const Result<void> valid =
        validate(*document, **operation, root, *variables, *parameters, fault);
    if (!valid) {
        co_return failure_json(valid.error(), fault);
    }
    Executor executor(service, request, *document, **operation, *variables, parameters, searched,
                      snapshot);
    Result<std::string> answer = co_await executor.run(focus);
    if (!answer && !is_the_servers(answer.error())) {
        co_return failure_json(answer.error(), executor.fault());
    }
    co_return answer;
}

}  // namespace annals::core::graphql
