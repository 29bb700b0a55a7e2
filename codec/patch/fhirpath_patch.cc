#include "codec/patch/fhirpath_patch.h"

#include "codec/fhirpath/fhirpath.h"
#include "codec/patch/patch_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::patch {

namespace {

using fhirpath::Item;
using fhirpath::Place;
using json::Kind;
using json::Value;
using Slot = EditTree::Slot;

// Bytes of a path that a message shows.
constexpr std::size_t kPathBytesShown = 200;

// Steps of FHIRPath evaluation: of a whole patch, shared out evenly, and at least of one operation.
constexpr std::uint64_t kEvaluationStepsMax = 50'000'000;
constexpr std::uint64_t kOperationStepsMin = 50'000;

// Bytes that may be parsed again for each of the steps of Limits.
constexpr std::size_t kParsedBytesPerStep = 4;

std::string shown(std::string text) {
    if (text.size() > kPathBytesShown) {
        text.resize(kPathBytesShown);
        text += "...";
    }
    return text;
}

// A step from an object or array to its child.
struct Step {
    std::string key;  // of an object's member
    std::size_t index = 0;
    bool into_object = false;
};

using Way = std::vector<Step>;

// One operation, its parts sorted by name.
struct Operation {
    Value type;
    Value path;
    Value name;
    Value value;
    Value index;
    Value source;
    Value destination;
};

// The first value[x] of a part.
Value simple_value(Value part) {
    for (const auto [key, value] : part.members()) {
        if (key.raw_string().starts_with("value")) {
            return value;
        }
    }
    return {};
}

// Elements of one list: an object's member that is an array, with what stands beside it.
struct ListPlace {
    Way parent;
    std::string name;
    schema::Type type;  // of its elements
    std::size_t size = 0;
};

// The end of a path that a name could be: "Patient.contact.where(x)" and "name". None if there is no such end.
std::optional<std::pair<std::string_view, std::string_view>> split_path(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) {
        return {};
    }
    const std::string_view name = path.substr(dot + 1);
    const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    });
    return is_name ? std::optional(std::pair{path.substr(0, dot), name}) : std::nullopt;
}

/// One operation being applied to one state of the resource.
class Application {
  public:
    Application(Value resource, Value parameters, const Limits& limits, std::uint64_t steps,
                fhirpath::Evaluator& evaluator)
        : resource_(resource), tree_(resource, parameters, limits), evaluator_(evaluator) {
        environment_.limits.steps = std::min(environment_.limits.steps, steps);
    }

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

    EditTree& tree() noexcept { return tree_; }

  private:
    static Error invalid(std::string detail) { return {Errc::invalid, std::move(detail), {}}; }

    /// The elements that `path` leads to. Lifetime: until the next call.
    Result<std::span<const Item>> evaluate(std::string_view path) {
        Result<fhirpath::Expression> expression = fhirpath::Expression::parse(path);
        if (!expression) {
            return invalid(std::move(expression.error().detail));
        }
        expression_ = *std::move(expression);
        Result<std::span<const Item>> items =
            evaluator_.evaluate(*expression_, Item::resource(resource_), environment_);
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

    /// The way from the resource to the object or value at `node`.
    Way way_to(std::uint32_t node) const {
        Way way;
        Value at = resource_;
        while (at.index() != node) {
            Value next;
            Step step;
            for (const auto [key, member] : at.members()) {
                if (member.index() <= node && node < member.node().next) {
                    step = {key.string(), 0, true};
                    next = member;
                }
            }
            std::size_t index = 0;
            for (const Value element : at.elements()) {
                if (element.index() <= node && node < element.node().next) {
                    step = {{}, index, false};
                    next = element;
                }
                ++index;
            }
            ANNALS_CHECK(next);
            way.push_back(std::move(step));
            at = next;
        }
        return way;
    }

    /// The slot at the end of the first `count` steps.
    Slot slot_at(const Way& way, std::size_t count) {
        Slot slot = tree_.root();
        for (std::size_t i = 0; i < count; ++i) {
            slot = way[i].into_object ? tree_.member(slot, way[i].key)
                                      : tree_.element(slot, way[i].index);
            ANNALS_CHECK(slot != nullptr);
        }
        return slot;
    }

    Slot slot_at(const Way& way) { return slot_at(way, way.size()); }

    /// The type of the object at `node`, by the names on the way to it; missing if one is not known.
    schema::Type type_at(std::uint32_t node) const {
        schema::Type type = schema::find_type(resource_["resourceType"].string());
        Value at = resource_;
        for (const Step& step : way_to(node)) {
            if (!step.into_object) {
                std::size_t index = 0;
                for (const Value element : at.elements()) {
                    if (index++ == step.index) {
                        at = element;
                        break;
                    }
                }
            } else {
                at = at[step.key];
                type = step.key.starts_with('_') ? schema::find_type("Element")
                                                 : type.find(step.key).type();
            }
            if (at.is_object() && type == schema::resource_base_type()) {
                type = schema::find_type(at["resourceType"].string());
            }
        }
        return type;
    }

    static std::string name_of(const Item& item) {
        std::string name = item.key().string();
        return name.starts_with('_') ? name.substr(1) : name;
    }

    /// Takes the member `name` with what stands beside it out of the object at the end of `way`; what is empty
    /// then goes, too.
    void remove_members(const Way& way, const std::string& name) {
        for (const std::string& key : {name, "_" + name}) {
            if (tree_.member(slot_at(way), key) != nullptr) {
                tree_.remove_member(slot_at(way), key);
            }
        }
        prune(way);
    }

    /// Removes the object at the end of `way` if nothing is left in it.
    void prune(Way way) {
        if (way.empty() || tree_.size(*slot_at(way)) != 0) {
            return;
        }
        const Step last = way.back();
        way.pop_back();
        if (last.into_object) {
            tree_.remove_member(slot_at(way), last.key);
            prune(std::move(way));
            return;
        }
        if (way.empty() || !way.back().into_object) {
            return;  // a list inside of a list: FHIR has none
        }
        const std::string key = way.back().key;
        way.pop_back();
        if (key.starts_with('_')) {
            // Its place in the list is that of the value beside it.
            tree_.replace(tree_.element(tree_.member(slot_at(way), key), last.index),
                          tree_.from_text("null"));
            drop_if_all_null(way, key);
            prune(std::move(way));
        } else {
            remove_element(way, key, last.index);
        }
    }

    /// Takes out the list `key` of the object at the end of `way` if nothing is in it.
    void drop_if_all_null(const Way& way, const std::string& key) {
        const Slot list = tree_.member(slot_at(way), key);
        if (list == nullptr) {
            return;
        }
        for (std::size_t i = 0; i < tree_.size(*list); ++i) {
            if (tree_.kind(*tree_.element(list, i)) != Kind::null) {
                return;
            }
        }
        tree_.remove_member(slot_at(way), key);
    }

    /// Takes an element out of a list, and out of the one beside it.
    void remove_element(const Way& way, const std::string& name, std::size_t index) {
        for (const std::string& key : {name, "_" + name}) {
            const Slot list = tree_.member(slot_at(way), key);
            if (list != nullptr && index < tree_.size(*list)) {
                tree_.remove_element(list, index);
            }
            drop_if_all_null(way, key);
        }
        prune(way);
    }

    /// The list `key` of the object at the end of `way`, made if it is not there, with at least `size` elements.
    Slot padded_list(const Way& way, const std::string& key, std::size_t size) {
        if (tree_.member(slot_at(way), key) == nullptr) {
            tree_.set_member(slot_at(way), key, tree_.make_array());
        }
        const Slot list = tree_.member(slot_at(way), key);
        while (tree_.size(*list) < size) {
            tree_.insert_element(list, tree_.size(*list), tree_.from_text("null"));
        }
        return list;
    }

    /// Puts a value into the list `name` of the object at the end of `way`, which has `size` elements.
    void insert_element(const Way& way, const std::string& name, std::size_t size,
                        std::size_t index, PatchValue value) {
        const std::string beside = "_" + name;
        const bool has_list = tree_.member(slot_at(way), name) != nullptr;
        if (!value.json.empty() || has_list) {
            tree_.insert_element(padded_list(way, name, std::min(index, size)), index,
                                 tree_.from_text(value.json.empty() ? "null" : value.json));
        }
        if (!value.sibling.empty() || tree_.member(slot_at(way), beside) != nullptr) {
            tree_.insert_element(padded_list(way, beside, std::min(index, size)), index,
                                 tree_.from_text(value.sibling.empty() ? "null" : value.sibling));
        }
    }

    /// Puts a value that does not repeat into the object at the end of `way`.
    void set_members(const Way& way, const std::string& name, PatchValue value) {
        if (!value.json.empty()) {
            tree_.set_member(slot_at(way), name, tree_.from_text(std::move(value.json)));
        }
        if (!value.sibling.empty()) {
            tree_.set_member(slot_at(way), "_" + name, tree_.from_text(std::move(value.sibling)));
        }
    }

    std::size_t list_size(const Way& way, const std::string& name) {
        std::size_t size = 0;
        for (const std::string& key : {name, "_" + name}) {
            const Slot list = tree_.member(slot_at(way), key);
            size = std::max(size, list == nullptr ? 0 : tree_.size(*list));
        }
        return size;
    }

    Result<void> add(const Operation& operation) {
        if (!operation.name.is_string()) {
            return invalid("'name' is missing");
        }
        ANNALS_TRY(const Item item, evaluate_single(path_));
        ANNALS_TRY(const Way way, way_into(item));
        const bool beside = !item.value().is_object();
        return add_to(way, beside ? schema::find_type("Element") : item.type(),
                      operation.name.string(), operation.value);
    }

    /// The way to the object that holds the children of `item`: beside a primitive, where one is made if needed.
    Result<Way> way_into(const Item& item) {
        const Place& place = item.place();
        if (item.value().is_object()) {
            return way_to(place.value);
        }
        if (place.parent == Place::kNone) {
            return invalid("nothing can be added there");
        }
        Way way = way_to(place.parent);
        const std::string key = "_" + name_of(item);
        if (place.index == Place::kNone) {
            if (tree_.member(slot_at(way), key) == nullptr) {
                tree_.set_member(slot_at(way), key, tree_.make_object());
            }
            way.push_back({key, 0, true});
            return way;
        }
        const Slot list = padded_list(way, key, place.index + 1);
        const Slot slot = tree_.element(list, place.index);
        if (tree_.kind(*slot) == Kind::null) {
            tree_.replace(slot, tree_.make_object());
        }
        way.push_back({key, 0, true});
        way.push_back({{}, place.index, false});
        return way;
    }

    Result<void> add_to(const Way& way, schema::Type type, std::string_view name, Value part) {
        ANNALS_TRY(const schema::Type its_type, value_type(part));
        ANNALS_TRY(const schema::Element element, find_element(type, name, its_type));
        ANNALS_TRY(PatchValue value, read_value(part, element.type()));
        const std::string json_name(element.name());
        if (element.repeats()) {
            const std::size_t size = list_size(way, json_name);
            insert_element(way, json_name, size, size, std::move(value));
            return {};
        }
        for (const schema::Element option : type.find_base(element.base_name())) {
            for (const char* prefix : {"", "_"}) {
                if (tree_.member(slot_at(way), std::string(prefix).append(option.name())) !=
                    nullptr) {
                    return invalid(fmt::format("'{}' is there already", option.name()));
                }
            }
        }
        set_members(way, json_name, std::move(value));
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
            return invalid("the resource itself can't be deleted");
        }
        const Way way = way_to(place.parent);
        if (place.index == Place::kNone) {
            remove_members(way, name_of(item));
        } else {
            remove_element(way, name_of(item), place.index);
        }
        return {};
    }

    Result<void> replace(const Operation& operation) {
        ANNALS_TRY(const Item item, evaluate_single(path_));
        const Place& place = item.place();
        if (place.parent == Place::kNone) {
            return invalid("the resource itself can't be replaced");
        }
        ANNALS_TRY(const schema::Type its_type, value_type(operation.value));
        const Way way = way_to(place.parent);
        const std::string name = name_of(item);
        const schema::Type parent = type_at(place.parent);
        const schema::Element current = parent.find(name);
        if (!current) {
            return invalid(fmt::format("'{}' is no element that is known", name));
        }
        ANNALS_TRY(
            const schema::Element element,
            find_element(parent, current.is_choice() ? current.base_name() : name, its_type));
        ANNALS_TRY(PatchValue value, read_value(operation.value, element.type()));
        if (place.index != Place::kNone) {
            replace_element(way, name, place.index, std::move(value));
            return {};
        }
        for (const std::string& key : {name, "_" + name}) {
            const std::string& text = key.size() == name.size() ? value.json : value.sibling;
            if (tree_.member(slot_at(way), key) != nullptr &&
                (text.empty() || element.name() != name)) {
                tree_.remove_member(slot_at(way), key);
            }
        }
        set_members(way, std::string(element.name()), std::move(value));
        return {};
    }

    void replace_element(const Way& way, const std::string& name, std::size_t index,
                         PatchValue value) {
        for (const bool beside : {false, true}) {
            const std::string key = beside ? "_" + name : name;
            const std::string& text = beside ? value.sibling : value.json;
            if (text.empty() && tree_.member(slot_at(way), key) == nullptr) {
                continue;
            }
            const Slot list = padded_list(way, key, index + 1);
            tree_.replace(tree_.element(list, index),
                          tree_.from_text(text.empty() ? "null" : text));
        }
        drop_if_all_null(way, "_" + name);
    }

    static Result<std::size_t> read_index(Value value, std::string_view name) {
        std::size_t index = 0;
        const std::string_view text = value.raw();
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
        if (!value.is(Kind::number) || error != std::errc() || end != text.data() + text.size()) {
            return invalid(fmt::format("'{}' must be a number from 0 on", name));
        }
        return index;
    }

    /// The list that path_ leads to; none if it leads nowhere.
    Result<std::optional<ListPlace>> find_list() {
        ANNALS_TRY(const std::span<const Item> items, evaluate(path_));
        if (items.empty()) {
            return std::optional<ListPlace>();
        }
        const Item& first = items.front();
        ListPlace list;
        list.name = name_of(first);
        list.type = first.type();
        bool whole = first.place().parent != Place::kNone;
        for (const Item& item : items) {
            whole = whole && item.place().index != Place::kNone &&
                    item.place().parent == first.place().parent && name_of(item) == list.name;
        }
        if (whole) {
            list.parent = way_to(first.place().parent);
            list.size = list_size(list.parent, list.name);
            whole = list.size == items.size();
        }
        if (!whole) {
            return invalid("the path must lead to a list, and to all of it");
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
            ANNALS_TRY(const Item item, evaluate_single(container));
            ANNALS_TRY(const Way way, way_into(item));
            return add_to(way,
                          item.value().is_object() ? item.type() : schema::find_type("Element"),
                          name, operation.value);
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
        insert_element(list->parent, list->name, list->size, index, std::move(value));
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
        for (const std::string& key : {list->name, "_" + list->name}) {
            if (tree_.member(slot_at(list->parent), key) == nullptr) {
                continue;
            }
            const Slot slot = padded_list(list->parent, key, size);
            const EditTree::Ref moved = *tree_.element(slot, source);
            tree_.remove_element(slot, source);
            tree_.insert_element(slot, destination, moved);
        }
        return {};
    }

    Value resource_;
    EditTree tree_;
    std::string path_;
    fhirpath::Environment environment_;
    fhirpath::Evaluator& evaluator_;
    std::optional<fhirpath::Expression> expression_;  // the last one's items point into it
};

Result<Operation> read_operation(Value parameter) {
    if (!parameter["name"].equals("operation")) {
        return Error{Errc::invalid, "every parameter must have the name 'operation'", {}};
    }
    Operation operation;
    for (const Value part : parameter["part"].elements()) {
        const Value name = part["name"];
        if (name.equals("type")) {
            operation.type = simple_value(part);
        } else if (name.equals("path")) {
            operation.path = simple_value(part);
        } else if (name.equals("name")) {
            operation.name = simple_value(part);
        } else if (name.equals("value")) {
            operation.value = part;
        } else if (name.equals("index")) {
            operation.index = simple_value(part);
        } else if (name.equals("source")) {
            operation.source = simple_value(part);
        } else if (name.equals("destination")) {
            operation.destination = simple_value(part);
        }
    }
    if (!operation.type.is_string() || !operation.path.is_string()) {
        return Error{Errc::invalid, "'type' or 'path' is missing or no string", {}};
    }
    return operation;
}

/// `error`, with the operation that it is of.
Error fault_of(Error error, std::size_t number, const Operation& operation) {
    const std::string path = shown(operation.path.string());
    error.detail = operation.type.is_string()
                       ? fmt::format("operation {} ({} {}): {}", number,
                                     shown(operation.type.string()), path, error.detail)
                       : fmt::format("operation {}: {}", number, error.detail);
    error.expression = path;
    return error;
}

}  // namespace

Result<std::string> apply_fhirpath_patch(Value resource, Value parameters, const Limits& limits) {
    if (!parameters["resourceType"].equals("Parameters")) {
        return Error{Errc::invalid, "a FHIRPath Patch must be a Parameters resource", {}};
    }
    const Value list = parameters["parameter"];
    if ((list && !list.is_array()) || list.size() > kPatchOperationsMax) {
        return Error{Errc::invalid,
                     fmt::format("'parameter' must be an array of at most {} operations",
                                 kPatchOperationsMax),
                     "Parameters.parameter"};
    }
    if (!EditTree::fits(resource) || !EditTree::fits(parameters)) {
        return Error{Errc::invalid, "the resource is too large to be patched", {}};
    }
    const std::uint64_t steps =
        std::max(kOperationStepsMin, kEvaluationStepsMax / std::max<std::size_t>(list.size(), 1));

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
                    {Errc::invalid, "what the one before it made is nested too deeply", {}});
            }
            parser.recycle(std::move(document));
            document = *std::move(parsed);
            resource = document.root();
            bytes_parsed += text.size();
        }
        Application application(resource, parameters, limits, steps, evaluator);
        if (Result<void> applied = application.apply(operation); !applied) {
            return fault(std::move(applied.error()));
        }
        if (application.tree().exhausted() ||
            bytes_parsed / kParsedBytesPerStep > limits.steps_max) {
            return fault({Errc::invalid, "the patch takes too many steps", {}});
        }
        if (application.tree().too_large()) {
            return fault({Errc::invalid, "the result is too large", {}});
        }
        text = application.tree().render();
        ++number;
    }
    return text;
}

}  // namespace annals::patch
