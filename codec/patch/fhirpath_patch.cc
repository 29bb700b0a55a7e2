#include "codec/patch/fhirpath_patch.h"

#include "codec/fhirpath/fhirpath.h"
#include "codec/patch/element_tree.h"
#include "codec/patch/patch_operation.h"
#include "codec/patch/patch_value.h"
#include "core/base/ascii.h"
#include "core/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace annals::patch {

namespace {

using fhirpath::Item;
using fhirpath::Place;
using json::Kind;
using json::Value;

// kEvaluationStepsMax is divided evenly; this is the minimum for one operation.
constexpr std::uint64_t kOperationStepsMin = 50'000;

// The bytes that may be parsed again per step of Limits.
constexpr std::size_t kParsedBytesPerStep = 4;

// The elements of one list: an object's member that is an array, and its sibling.
struct ListPlace {
    Way parent;
    std::string name;
    schema::Type type;  // of its elements
    std::size_t size = 0;
};

// Splits off the last step of a path if that may be a name: "Patient.contact.where(x)" and "name". None if it isn't.
std::optional<std::pair<std::string_view, std::string_view>> split_path(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) {
        return {};
    }
    const std::string_view name = path.substr(dot + 1);
    const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), is_letter_or_digit);
    return is_name ? std::optional(std::pair{path.substr(0, dot), name}) : std::nullopt;
}

/// Applies one operation to one state of the resource.
class Application {
  public:
    /// `steps`: the most that one evaluation may take. `steps_left`: those that the patch may still take.
    Application(Value resource, Value parameters, const Limits& limits, std::uint64_t steps,
                std::uint64_t& steps_left, fhirpath::Evaluator& evaluator)
        : resource_(resource),
          elements_(resource, parameters, limits),
          steps_(steps),
          steps_left_(steps_left),
          evaluator_(evaluator) {}

    /// Errors: invalid, without the operation's name.
    Result<void> apply(const Operation& operation) {
        path_ = operation.path.string();
        const Value type = operation.type;
        if (type.equals("add")) {
            return add(operation);
        }
        if (type.equals("insert")) {
            return insert(operation);
        }
        if (type.equals("delete")) {
            return remove();
        }
        if (type.equals("replace")) {
            return replace(operation);
        }
        if (type.equals("move")) {
            return move(operation);
        }
        return invalid("'type' must be add, insert, delete, replace or move");
    }

    EditTree& tree() noexcept { return elements_.tree(); }

  private:
    static Error invalid(std::string detail) { return {Errc::invalid, std::move(detail)}; }

    /// The elements at `path`. Lifetime: until the next call.
    Result<std::span<const Item>> evaluate(std::string_view path) {
        Result<fhirpath::Expression> expression = fhirpath::Expression::parse(path);
        if (!expression) {
            return invalid(std::move(expression.error().detail));
        }
        expression_ = *std::move(expression);
        environment_.limits.steps = std::min({fhirpath::Limits().steps, steps_, steps_left_});
        Result<std::span<const Item>> items =
            evaluator_.evaluate(*expression_, Item::resource(resource_), environment_);
        steps_left_ -= std::min(evaluator_.steps(), environment_.limits.steps);
        if (!items) {
            return invalid(std::move(items.error().detail));
        }
        for (const Item& item : *items) {
            if (!item.is_element() || item.place().tree != &resource_.tree()) {
                return invalid("the path must lead to elements of the resource");
            }
        }
        return *items;
    }

    Result<Item> evaluate_single(std::string_view path) {
        ANNALS_TRY(const std::span<const Item> items, evaluate(path));
        if (items.size() != 1) {
            return invalid(fmt::format("the path must lead to one element, not {}", items.size()));
        }
        return items.front();
    }

    static std::string name_of(const Item& item) {
        std::string name = item.key().string();
        return name.starts_with('_') ? name.substr(1) : name;
    }

    Result<void> add(const Operation& operation) {
        if (!operation.name.is_string()) {
            return invalid("'name' is missing");
        }
        return add_child(path_, operation.name.string(), operation.value);
    }

    /// Adds a child to the single element at `path`.
    Result<void> add_child(std::string_view path, std::string_view name, Value part) {
        ANNALS_TRY(const Item item, evaluate_single(path));
        ANNALS_TRY(const Way way, way_into(item));
        const bool beside = !item.value().is_object();
        return add_to(way, beside ? schema::find_type("Element") : item.type(), name, part);
    }

    /// The way to the object that holds the children of `item`; for a primitive it is the one
    /// beside it, created if needed.
    Result<Way> way_into(const Item& item) {
        const Place& place = item.place();
        if (item.value().is_object()) {
            return elements_.way_to(place.value);
        }
        if (place.parent == Place::kNone) {
            return invalid("nothing can be added at the path");
        }
        const bool in_list = place.index != Place::kNone;
        return elements_.way_beside(
            elements_.way_to(place.parent), name_of(item),
            in_list ? std::optional<std::size_t>(place.index) : std::nullopt);
    }

    Result<void> add_to(const Way& way, schema::Type type, std::string_view name, Value part) {
        ANNALS_TRY(const schema::Type its_type, value_type(part));
        ANNALS_TRY(const schema::Element element, find_element(type, name, its_type));
        ANNALS_TRY(PatchValue value, read_value(part, element.type()));
        const std::string json_name(element.name());
        if (element.repeats()) {
            const std::size_t size = elements_.list_size(way, json_name);
            elements_.insert_element(way, json_name, size, size, std::move(value));
            return {};
        }
        for (const schema::Element option : type.find_base(element.base_name())) {
            if (elements_.has(way, option.name())) {
                return invalid(fmt::format("'{}' already exists", option.name()));
            }
        }
        elements_.set_members(way, json_name, std::move(value));
        return {};
    }

    Result<void> remove() {
        ANNALS_TRY(const std::span<const Item> items, evaluate(path_));
        if (items.empty()) {
            return {};
        }
        if (items.size() > 1) {
            return invalid(fmt::format("the path must lead to one element, not {}", items.size()));
        }
        const Item item = items.front();
        const Place& place = item.place();
        if (place.parent == Place::kNone) {
            return invalid("the resource itself cannot be deleted");
        }
        const Way way = elements_.way_to(place.parent);
        if (place.index == Place::kNone) {
            elements_.remove_members(way, name_of(item));
        } else {
            elements_.remove_element(way, name_of(item), place.index);
        }
        return {};
    }

    Result<void> replace(const Operation& operation) {
        ANNALS_TRY(const Item item, evaluate_single(path_));
        const Place& place = item.place();
        if (place.parent == Place::kNone) {
            return invalid("the resource itself cannot be replaced");
        }
        ANNALS_TRY(const schema::Type its_type, value_type(operation.value));
        const Way way = elements_.way_to(place.parent);
        const std::string name = name_of(item);
        const schema::Type parent = elements_.type_at(place.parent);
        const schema::Element current = parent.find(name);
        if (!current) {
            return invalid(fmt::format("'{}' is not a known element", name));
        }
        ANNALS_TRY(
            const schema::Element element,
            find_element(parent, current.is_choice() ? current.base_name() : name, its_type));
        ANNALS_TRY(PatchValue value, read_value(operation.value, element.type()));
        if (place.index != Place::kNone) {
            elements_.replace_element(way, name, place.index, std::move(value));
            return {};
        }
        elements_.replace_members(way, name, std::string(element.name()), std::move(value));
        return {};
    }

    static Result<std::size_t> read_index(Value value, std::string_view name) {
        const auto index = parse_number<std::size_t>(value.raw());
        if (!value.is(Kind::number) || !index) {
            return invalid(fmt::format("'{}' must be an integer of at least 0", name));
        }
        return *index;
    }

    /// The list at path_; none if there is nothing.
    Result<std::optional<ListPlace>> find_list() {
        ANNALS_TRY(const std::span<const Item> items, evaluate(path_));
        if (items.empty()) {
            return std::optional<ListPlace>();
        }
        const Item& first = items.front();
        ListPlace list;
        list.name = name_of(first);
        // A list of resources accepts any.
        list.type = first.type().is_resource() ? schema::resource_base_type() : first.type();
        bool whole = first.place().parent != Place::kNone;
        for (const Item& item : items) {
            whole = whole && item.place().index != Place::kNone &&
                    item.place().parent == first.place().parent && name_of(item) == list.name;
        }
        if (whole) {
            list.parent = elements_.way_to(first.place().parent);
            list.size = elements_.list_size(list.parent, list.name);
            whole = list.size == items.size();
        }
        if (!whole) {
            return invalid("the path must lead to a whole list");
        }
        return std::optional(std::move(list));
    }

    Result<void> insert(const Operation& operation) {
        ANNALS_TRY(const std::size_t index, read_index(operation.index, "index"));
        ANNALS_TRY(std::optional<ListPlace> list, find_list());
        if (!list) {
            const auto split = split_path(path_);
            if (!split) {
                return invalid("the path leads nowhere");
            }
            if (index != 0) {
                return invalid(fmt::format("index {} is beyond the end of an empty list", index));
            }
            const auto [container, name] = *split;
            return add_child(container, name, operation.value);
        }
        if (index > list->size) {
            return invalid(
                fmt::format("index {} is beyond the end of a list of {}", index, list->size));
        }
        ANNALS_TRY(const schema::Type its_type, value_type(operation.value));
        if (!takes(list->type, its_type)) {
            return invalid(fmt::format("'{}' takes a {}, not {}", list->name, list->type.name(),
                                       its_type ? its_type.name() : "parts"));
        }
        ANNALS_TRY(PatchValue value, read_value(operation.value, list->type));
        elements_.insert_element(list->parent, list->name, list->size, index, std::move(value));
        return {};
    }

    Result<void> move(const Operation& operation) {
        ANNALS_TRY(const std::size_t source, read_index(operation.source, "source"));
        ANNALS_TRY(const std::size_t destination, read_index(operation.destination, "destination"));
        ANNALS_TRY(const std::optional<ListPlace> list, find_list());
        const std::size_t size = list ? list->size : 0;
        if (source >= size || destination >= size) {
            return invalid(fmt::format("the list has {} elements", size));
        }
        elements_.move_element(list->parent, list->name, source, destination);
        return {};
    }

    Value resource_;
    ElementTree elements_;
    std::string path_;
    fhirpath::Environment environment_;
    std::uint64_t steps_;
    std::uint64_t& steps_left_;
    fhirpath::Evaluator& evaluator_;
    std::optional<fhirpath::Expression> expression_;  // the last result's items point into it
};

}  // namespace

Result<std::string> apply_fhirpath_patch(Value resource, Value parameters, const Limits& limits) {
    if (!parameters["resourceType"].equals("Parameters")) {
        return Error{Errc::invalid, "a FHIRPath Patch must be a Parameters resource"};
    }
    const Value list = parameters["parameter"];
    if ((list && !list.is_array()) || list.size() > kPatchOperationsMax) {
        return Error{Errc::invalid,
                     fmt::format("'parameter' must be an array of at most {} operations",
                                 kPatchOperationsMax),
                     "Parameters.parameter"};
    }
    if (!EditTree::fits(resource) || !EditTree::fits(parameters)) {
        return Error{Errc::invalid, "the resource is too large to be patched"};
    }
    const std::uint64_t steps =
        std::max(kOperationStepsMin, kEvaluationStepsMax / std::max<std::size_t>(list.size(), 1));
    std::uint64_t steps_left = limits.evaluation_steps_max;

    fhirpath::Evaluator evaluator;
    json::Parser parser;
    json::Document document;
    std::string text(resource.raw());
    std::size_t bytes_parsed = 0;
    std::size_t number = 0;
    for (const Value parameter : list.elements()) {
        Operation operation;
        const auto fault = [&](Error error) {
            return fault_of(std::move(error), number, operation);
        };
        Result<Operation> read = read_operation(parameter);
        if (!read) {
            return fault(std::move(read.error()));
        }
        operation = *read;
        if (number > 0) {
            Result<json::Document> parsed = parser.parse(text);
            if (!parsed) {
                return fault(
                    {Errc::invalid, "the result of the previous operation is nested too deeply"});
            }
            parser.recycle(std::move(document));
            document = *std::move(parsed);
            resource = document.root();
            bytes_parsed += text.size();
        }
        Application application(resource, parameters, limits, steps, steps_left, evaluator);
        if (Result<void> applied = application.apply(operation); !applied) {
            if (steps_left == 0 && limits.evaluation_steps_max < kEvaluationStepsMax) {
                applied.error().code = Errc::too_costly;
            }
            return fault(std::move(applied.error()));
        }
        if (application.tree().exhausted() ||
            bytes_parsed / kParsedBytesPerStep > limits.steps_max) {
            return fault({Errc::invalid, "the patch takes too many steps"});
        }
        if (application.tree().too_large()) {
            return fault({Errc::invalid, "the result is too large"});
        }
        text = application.tree().render();
        ++number;
    }
    return text;
}

}  // namespace annals::patch
