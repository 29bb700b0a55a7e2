#include "codec/patch/fhirpath_diff.h"

#include "codec/json/same.h"
#include "codec/schema/schema.h"
#include "core/base/ascii.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace annals::patch {

namespace {

using json::Value;

std::vector<Value> all_of(Value list) {
    std::vector<Value> out;
    for (const Value element : list.elements()) {
        out.push_back(element);
    }
    return out;
}

/// One value of an element: the value of its name, and of _name beside it.
struct Content {
    Value value;
    Value sibling;

    bool operator==(const Content& other) const {
        return json::is_same(value, other.value) && json::is_same(sibling, other.sibling);
    }
};

/// What an object has for one element: for a choice, the option that is present.
struct Held {
    schema::Element element;  ///< missing: nothing
    std::vector<Content> contents;
};

Value unless_null(Value value) {
    return value.is(json::Kind::null) ? Value() : value;
}

Held read_held(Value object, schema::Element element) {
    Held held;
    const Value value = object[element.name()];
    const Value sibling = object[fmt::format("_{}", element.name())];
    if (!value && !sibling) {
        return held;
    }
    held.element = element;
    if (!element.repeats()) {
        held.contents.push_back({unless_null(value), unless_null(sibling)});
        return held;
    }
    const std::vector<Value> values = all_of(value);
    const std::vector<Value> siblings = all_of(sibling);
    for (std::size_t i = 0; i < std::max(values.size(), siblings.size()); ++i) {
        held.contents.push_back({i < values.size() ? unless_null(values[i]) : Value(),
                                 i < siblings.size() ? unless_null(siblings[i]) : Value()});
    }
    return held;
}

/// "valueHumanName" if Parameters can have a value of that type; else empty.
std::string value_name(schema::Type type) {
    static const schema::Type kParameter = schema::find_type("Parameters.parameter");
    static const schema::Type kQuantity = schema::find_type("Quantity");
    for (const std::string_view its : {type.name(), type.is_a(kQuantity) ? kQuantity.name() : ""}) {
        if (!its.empty()) {
            std::string name = fmt::format("value{}", its);
            name[5] = ascii_upper(its[0]);
            if (kParameter.find(name)) {
                return name;
            }
        }
    }
    return type.is_primitive() ? "valueString" : "";
}

class Differ {
  public:
    explicit Differ(const DiffOptions& options) : options_(options) {}

    std::string run(Value from, Value to) {
        const std::string type = from["resourceType"].string();
        compare_objects(type, schema::find_type(type), from, to);
        return R"({"resourceType":"Parameters")" +
               (operations_.empty() ? "}" : R"(,"parameter":[)" + operations_ + "]}");
    }

  private:
    enum class Depth : std::uint8_t { resource, meta, inner };

    bool is_compared(schema::Element element, Depth depth) const {
        const std::string_view name = element.name();
        if (depth == Depth::resource) {
            return name != "id" && (name != "meta" || options_.meta);
        }
        return depth == Depth::inner || (name != "versionId" && name != "lastUpdated");
    }

    Depth depth_of(const std::string& path) const {
        if (path.find('.') == std::string::npos) {
            return Depth::resource;
        }
        return path.ends_with(".meta") && path.find('.') == path.rfind('.') ? Depth::meta
                                                                            : Depth::inner;
    }

    /// Additions come before removals, so that no object is empty in between.
    void compare_objects(const std::string& path, schema::Type type, Value from, Value to) {
        const Depth depth = depth_of(path);
        std::vector<std::pair<std::string, Held>> gone;
        Held before;
        Held after;
        std::string_view base;
        const auto settle = [&] {
            if (before.element && !after.element) {
                gone.emplace_back(fmt::format("{}.{}", path, base), before);
            } else if (after.element) {
                compare_held(path, base, before, after);
            }
            before = {};
            after = {};
        };
        for (const schema::Element element : type.elements()) {
            if (element.is_primitive_value() || !is_compared(element, depth)) {
                continue;
            }
            if (element.base_name() != base) {
                settle();
                base = element.base_name();
            }
            if (Held held = read_held(from, element); held.element) {
                before = std::move(held);
            }
            if (Held held = read_held(to, element); held.element) {
                after = std::move(held);
            }
        }
        settle();
        for (const auto& [its_path, held] : gone) {
            const schema::Type its_type = held.element.type();
            for (std::size_t i = held.contents.size(); i-- > 0;) {
                remove(held.element.repeats() ? fmt::format("{}[{}]", its_path, i) : its_path,
                       its_type, held.contents[i]);
            }
        }
    }

    void compare_held(const std::string& path, std::string_view base, const Held& before,
                      const Held& after) {
        const std::string its_path = fmt::format("{}.{}", path, base);
        if (after.element.repeats()) {
            compare_lists(path, base, before, after);
        } else if (!before.element) {
            add(path, base, after.element.type(), after.contents[0]);
        } else if (before.element != after.element) {
            replace(its_path, before.element.type(), before.contents[0], after.element.type(),
                    after.contents[0]);
        } else {
            compare_contents(its_path, after.element.type(), before.contents[0], after.contents[0]);
        }
    }

    /// Two objects with a member in common are compared recursively; anything else is replaced.
    void compare_contents(const std::string& path, schema::Type type, const Content& before,
                          const Content& after) {
        if (before == after) {
            return;
        }
        const bool inside =
            before.value.is_object() && after.value.is_object() && !type.is_resource() &&
            (has_common_member(type, before.value, after.value) || depth_of(path) == Depth::meta);
        if (inside) {
            compare_objects(path, type, before.value, after.value);
        } else {
            replace(path, type, before, type, after);
        }
    }

    static bool has_common_member(schema::Type type, Value before, Value after) {
        for (const auto [key, value] : before.members()) {
            const std::string name = key.string();
            if (type.find(name) && after[name]) {
                return true;
            }
        }
        return false;
    }

    void compare_lists(const std::string& path, std::string_view base, const Held& before,
                       const Held& after) {
        const std::string list = fmt::format("{}.{}", path, base);
        const schema::Type type = after.element.type();
        const std::vector<Content>& a = before.contents;
        const std::vector<Content>& b = after.contents;
        std::size_t first = 0;
        while (first < a.size() && first < b.size() && a[first] == b[first]) {
            ++first;
        }
        std::size_t a_end = a.size();
        std::size_t b_end = b.size();
        while (a_end > first && b_end > first && a[a_end - 1] == b[b_end - 1]) {
            --a_end;
            --b_end;
        }
        std::size_t at = first;
        for (; at < a_end && at < b_end; ++at) {
            compare_contents(fmt::format("{}[{}]", list, at), type, a[at], b[at]);
        }
        for (std::size_t i = at; i < b_end; ++i) {
            if (a_end == a.size()) {
                add(path, base, type, b[i]);
            } else {
                insert(list, i, type, b[i]);
            }
        }
        for (std::size_t i = a_end; i-- > at;) {
            remove(fmt::format("{}[{}]", list, i), type, a[i]);
        }
    }

    // ---- operations ----

    void begin(std::string_view type, std::string_view path) {
        operations_ += operations_.empty() ? "" : ",";
        operations_ +=
            fmt::format(R"({{"name":"operation","part":[{{"name":"type","valueCode":"{}"}},)"
                        R"({{"name":"path","valueString":{}}})",
                        type, json::quoted(path));
    }

    void end() { operations_ += "]}"; }

    void append_part(std::string_view name, schema::Type type, const Content& content) {
        operations_ += ',';
        write_part(name, type, content);
    }

    void add(const std::string& path, std::string_view name, schema::Type type,
             const Content& content) {
        begin("add", path);
        operations_ += fmt::format(R"(,{{"name":"name","valueString":"{}"}})", name);
        append_part("value", type, content);
        end();
    }

    void insert(const std::string& list, std::size_t index, schema::Type type,
                const Content& content) {
        begin("insert", list);
        operations_ += fmt::format(R"(,{{"name":"index","valueInteger":{}}})", index);
        append_part("value", type, content);
        end();
    }

    void replace(const std::string& path, schema::Type from, const Content& before, schema::Type to,
                 const Content& after) {
        begin("replace", path);
        append_part("value", to, after);
        append_part("previousValue", from, before);
        end();
    }

    void remove(const std::string& path, schema::Type type, const Content& before) {
        begin("delete", path);
        append_part("previousValue", type, before);
        end();
    }

    /// One value as a part of Parameters; of a type that Parameters can't have, as nested parts.
    void write_part(std::string_view name, schema::Type type, const Content& content) {
        operations_ += fmt::format(R"({{"name":"{}")", name);
        const std::string its_name = value_name(type);
        if (type.is_resource() && content.value) {
            operations_ += R"(,"resource":)";
            operations_ += content.value.raw();
        } else if (!its_name.empty()) {
            if (content.value) {
                operations_ += fmt::format(R"(,"{}":{})", its_name, content.value.raw());
            }
            if (content.sibling) {
                operations_ += fmt::format(R"(,"_{}":{})", its_name, content.sibling.raw());
            }
        } else {
            write_parts(type, content.value);
        }
        operations_ += '}';
    }

    void write_parts(schema::Type type, Value object) {
        bool any = false;
        for (const schema::Element element : type.elements()) {
            if (element.is_primitive_value()) {
                continue;
            }
            for (const Content& content : read_held(object, element).contents) {
                operations_ += any ? "," : R"(,"part":[)";
                any = true;
                write_part(element.base_name(), element.type(), content);
            }
        }
        operations_ += any ? "]" : "";
    }

    const DiffOptions& options_;
    std::string operations_;
};

}  // namespace

std::string diff_resources(Value from, Value to, const DiffOptions& options) {
    return Differ(options).run(from, to);
}

}  // namespace annals::patch
