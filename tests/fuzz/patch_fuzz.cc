// A document and a patch, or a document and bytes that choose operations on it: nothing crashes;
// the result is JSON as the parser would have it, within the limits; a JSON Patch gives the same
// as a simple one working on copies, and is refused by that, too, if at all; a FHIRPath Patch
// leaves nothing empty that wasn't there, and no list of extensions longer than its values.

#include "codec/patch/fhirpath_patch.h"
#include "codec/patch/json_patch.h"
#include "codec/patch/same_number.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::patch {
namespace {

using json::Value;

/// A value independent of documents, with keys resolved. Slow and simple.
struct Model {
    json::Kind kind = json::Kind::null;
    std::string text;               ///< of a scalar
    std::vector<std::string> keys;  ///< of an object's members
    std::vector<Model> values;      ///< members or elements

    Model* member(std::string_view key) {
        const auto at = std::find(keys.begin(), keys.end(), key);
        return at == keys.end() ? nullptr : &values[static_cast<std::size_t>(at - keys.begin())];
    }
};

Model model_of(Value value) {
    Model model;
    model.kind = value.node().kind;
    for (const auto [key, member] : value.members()) {
        model.keys.push_back(key.string());
        model.values.push_back(model_of(member));
    }
    for (const Value element : value.elements()) {
        model.values.push_back(model_of(element));
    }
    if (!value.is_object() && !value.is_array()) {
        model.text = value.is_string() ? value.string() : std::string(value.raw());
    }
    return model;
}

bool equal(Model& a, Model& b) {
    if (a.kind != b.kind || a.values.size() != b.values.size()) {
        return false;
    }
    if (a.kind == json::Kind::number) {
        return same_number(a.text, b.text);
    }
    for (std::size_t i = 0; i < a.values.size(); ++i) {
        Model* other = a.kind == json::Kind::object ? b.member(a.keys[i]) : &b.values[i];
        if (other == nullptr || !equal(a.values[i], *other)) {
            return false;
        }
    }
    return a.text == b.text;
}

using Pointer = std::vector<std::string>;

std::optional<Pointer> read_pointer(Value text) {
    if (!text.is_string()) {
        return {};
    }
    Pointer tokens;
    const std::string pointer = text.string();
    std::size_t begin = 0;
    while (begin < pointer.size()) {
        if (pointer[begin] != '/') {
            return {};
        }
        const std::size_t end = std::min(pointer.find('/', begin + 1), pointer.size());
        std::string token = pointer.substr(begin + 1, end - begin - 1);
        for (std::size_t i = token.find('~'); i != std::string::npos; i = token.find('~', i + 1)) {
            if (i + 1 == token.size() || (token[i + 1] != '0' && token[i + 1] != '1')) {
                return {};
            }
            token.replace(i, 2, token[i + 1] == '0' ? "~" : "/");
        }
        tokens.push_back(token);
        begin = end;
    }
    return tokens;
}

std::optional<std::size_t> index_in(const std::string& token, std::size_t limit) {
    for (std::size_t i = 0; i < limit; ++i) {
        if (token == std::to_string(i)) {
            return i;
        }
    }
    return {};
}

Model* find(Model& root, const Pointer& pointer, std::size_t count) {
    Model* at = &root;
    for (std::size_t i = 0; i < count && at != nullptr; ++i) {
        if (at->kind == json::Kind::object) {
            at = at->member(pointer[i]);
        } else {
            const auto index = index_in(pointer[i], at->values.size());
            at = index ? &at->values[*index] : nullptr;
        }
    }
    return at;
}

bool add(Model& root, const Pointer& pointer, Model value) {
    if (pointer.empty()) {
        root = std::move(value);
        return true;
    }
    Model* parent = find(root, pointer, pointer.size() - 1);
    if (parent == nullptr) {
        return false;
    }
    const std::string& last = pointer.back();
    if (parent->kind == json::Kind::object) {
        if (Model* member = parent->member(last)) {
            *member = std::move(value);
        } else {
            parent->keys.push_back(last);
            parent->values.push_back(std::move(value));
        }
        return true;
    }
    const auto index =
        last == "-" ? parent->values.size() : index_in(last, parent->values.size() + 1);
    if (parent->kind != json::Kind::array || !index) {
        return false;
    }
    parent->values.insert(parent->values.begin() + static_cast<std::ptrdiff_t>(*index),
                          std::move(value));
    return true;
}

bool remove(Model& root, const Pointer& pointer) {
    if (pointer.empty() || find(root, pointer, pointer.size()) == nullptr) {
        return false;
    }
    Model* parent = find(root, pointer, pointer.size() - 1);
    const Model* target = find(root, pointer, pointer.size());
    const auto index = target - parent->values.data();
    if (parent->kind == json::Kind::object) {
        parent->keys.erase(parent->keys.begin() + index);
    }
    parent->values.erase(parent->values.begin() + index);
    return true;
}

bool apply(Model& root, Value operation) {
    const auto path = read_pointer(operation["path"]);
    if (!operation.is_object() || !path) {
        return false;
    }
    const std::string op = operation["op"].string();
    const Value value = operation["value"];
    Model* target = find(root, *path, path->size());
    if (op == "add") {
        return value && add(root, *path, model_of(value));
    }
    if (op == "remove") {
        return remove(root, *path);
    }
    if (op == "replace") {
        if (!value || target == nullptr) {
            return false;
        }
        *target = model_of(value);
        return true;
    }
    if (op == "test") {
        Model wanted = value ? model_of(value) : Model();
        return value && target != nullptr && equal(*target, wanted);
    }
    const auto from = read_pointer(operation["from"]);
    const Model* source = from ? find(root, *from, from->size()) : nullptr;
    if (source == nullptr) {
        return false;
    }
    Model copy = *source;
    if (op == "copy") {
        return add(root, *path, std::move(copy));
    }
    if (op != "move" ||
        (from->size() < path->size() && std::equal(from->begin(), from->end(), path->begin()))) {
        return false;
    }
    return *from == *path || (remove(root, *from) && add(root, *path, std::move(copy)));
}

std::string escaped(std::string token) {
    std::string out;
    for (const char c : token) {
        out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    return out;
}

/// Every place in the document, and some that don't exist.
void list_pointers(Value value, const std::string& at, std::vector<std::string>& out) {
    out.push_back(at);
    std::size_t index = 0;
    for (const Value element : value.elements()) {
        list_pointers(element, at + "/" + std::to_string(index++), out);
    }
    for (const auto [key, member] : value.members()) {
        list_pointers(member, at + "/" + escaped(key.string()), out);
    }
    out.push_back(at + (value.is_array() ? "/-" : "/new"));
}

/// A patch with operations chosen by the bytes.
std::string made_patch(Value document, std::string_view bytes) {
    static constexpr const char* kOps[] = {"add", "remove", "replace", "move", "copy", "test"};
    static constexpr const char* kValues[] = {"1.0", "\"x\"", "{\"a\":[1]}", "[]", "null"};
    std::vector<std::string> pointers;
    list_pointers(document, "", pointers);
    std::string patch = "[";
    for (std::size_t i = 0; i + 3 <= bytes.size() && i < 90; i += 3) {
        const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(bytes[i + k]); };
        patch += i == 0 ? "{" : ",{";
        patch += "\"op\":\"" + std::string(kOps[byte(0) % 6]) + "\",\"path\":";
        patch += json::quoted(pointers[byte(1) % pointers.size()]) + ",\"from\":";
        patch += json::quoted(pointers[byte(2) % pointers.size()]) + ",\"value\":";
        patch += kValues[byte(2) % 5];
        patch += "}";
    }
    return patch + "]";
}

void check(Value document, Value patch) {
    constexpr Limits kLimits{.bytes_max = 1 << 16, .steps_max = 1 << 20};
    const Result<std::string> result = apply_json_patch(document, patch, kLimits);
    if (!result && result.error().code == Errc::invalid &&
        (result.error().detail.ends_with("too large") || result.error().detail.ends_with("steps") ||
         result.error().detail.ends_with("levels"))) {
        return;
    }
    if (!patch.is_array() || patch.size() > kPatchOperationsMax) {
        ANNALS_CHECK(!result);
        return;
    }
    Model model = model_of(document);
    bool fits = true;
    for (const Value operation : patch.elements()) {
        fits = fits && operation["op"].is_string() && apply(model, operation);
    }
    ANNALS_CHECK(fits == result.has_value(), result ? "accepted" : result.error().detail);
    if (!result) {
        return;
    }
    ANNALS_CHECK(result->size() <= kLimits.bytes_max);
    json::Parser parser;
    const Result<json::Document> after = parser.parse(*result);
    ANNALS_CHECK(after && after->text() == *result, *result);
    Model made = model_of(after->root());
    ANNALS_CHECK(equal(made, model), *result);
}

/// FHIRPath expressions for every place below `value`.
void list_paths(Value value, const std::string& at, std::vector<std::string>& out) {
    out.push_back(at);
    std::size_t index = 0;
    for (const Value element : value.elements()) {
        list_paths(element, at + "[" + std::to_string(index++) + "]", out);
    }
    for (const auto [key, member] : value.members()) {
        std::string name = key.string();
        name = name.starts_with('_') ? name.substr(1) : name;
        list_paths(member, at + "." + name, out);
    }
}

/// Parameters with operations chosen by the bytes.
std::string made_parameters(Value resource, std::string_view bytes) {
    static constexpr const char* kTypes[] = {"add", "insert", "delete", "replace", "move"};
    static constexpr const char* kNames[] = {"name",   "given",    "extension", "id",
                                             "active", "deceased", "contact",   "value"};
    static constexpr const char* kValues[] = {
        R"("valueString":"s")",
        R"("valueBoolean":true)",
        R"("_valueString":{"id":"i"})",
        R"("valueHumanName":{"given":["a","b"],"_given":[null,{"id":"x"}]})",
        R"("part":[{"name":"url","valueUri":"u"},{"name":"value","valueString":"v"}])",
        R"("part":[{"name":"given","valueString":"v"},{"name":"given","_valueString":{"id":"y"}}])",
        R"("part":[{"name":"name","valueHumanName":{"text":"t"}}])",
        R"("valueString":"t","_valueString":{"extension":[{"url":"u"}]})"};
    std::vector<std::string> paths;
    list_paths(resource, resource["resourceType"].string(), paths);
    std::string out = R"({"resourceType":"Parameters","parameter":[)";
    for (std::size_t i = 0; i + 4 <= bytes.size() && i < 80; i += 4) {
        const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(bytes[i + k]); };
        out += i == 0 ? "" : ",";
        out += R"({"name":"operation","part":[{"name":"type","valueCode":")" +
               std::string(kTypes[byte(0) % 5]);
        out += R"("},{"name":"path","valueString":)" + json::quoted(paths[byte(1) % paths.size()]);
        out += R"(},{"name":"name","valueString":")" + std::string(kNames[byte(2) % 8]);
        out += R"("},{"name":"value",)" + std::string(kValues[byte(3) % 8]);
        for (const char* name : {"index", "source", "destination"}) {
            out += R"(},{"name":")" + std::string(name) + R"(","valueInteger":)" +
                   std::to_string(byte(2) / (name[0] == 'd' ? 2 : 1) % 4);
        }
        out += "}]}";
    }
    return out + "]}";
}

/// The number of empty objects and arrays, and of lists shorter than the list of extensions beside them.
std::size_t count_odd(Value value) {
    std::size_t odd = (value.is_object() || value.is_array()) && value.size() == 0 ? 1 : 0;
    for (const Value element : value.elements()) {
        odd += count_odd(element);
    }
    for (const auto [key, member] : value.members()) {
        odd += count_odd(member);
        const std::string name = key.string();
        const Value other = name.starts_with('_') ? value[name.substr(1)] : Value();
        odd += other.is_array() && member.is_array() && other.size() < member.size() ? 1 : 0;
    }
    return odd;
}

void check_fhirpath(Value resource, Value parameters) {
    constexpr Limits kLimits{.bytes_max = 1 << 16, .steps_max = 1 << 20};
    const Result<std::string> result = apply_fhirpath_patch(resource, parameters, kLimits);
    if (!result) {
        ANNALS_CHECK(result.error().code == Errc::invalid, result.error().detail);
        return;
    }
    json::Parser parser;
    const Result<json::Document> after = parser.parse(*result);
    ANNALS_CHECK(after && after->text() == *result, *result);
    if (count_odd(resource) + count_odd(parameters) == 0) {
        ANNALS_CHECK(count_odd(after->root()) == 0, *result);
    }
}

}  // namespace
}  // namespace annals::patch

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace annals;
    static json::Parser parser;
    // The patch, a zero byte, the document. If the first byte is 1 or 2, a patch is made from the bytes after it.
    const std::vector<char> copy(data, data + size);
    const std::string_view all(copy.data(), copy.size());
    const std::size_t cut = all.find('\0');
    if (cut == std::string_view::npos) {
        return 0;
    }
    Result<json::Document> document = parser.parse(all.substr(cut + 1));
    if (!document) {
        return 0;
    }
    const char first = all.front();
    const std::string_view chosen = all.substr(1).substr(0, cut == 0 ? 0 : cut - 1);
    std::string made(all.substr(0, cut));
    if (first == 1) {
        made = patch::made_patch(document->root(), chosen);
    } else if (first == 2) {
        made = patch::made_parameters(document->root(), chosen);
    }
    Result<json::Document> patch = parser.parse(made);
    if (patch) {
        patch->root().is_array() ? patch::check(document->root(), patch->root())
                                 : patch::check_fhirpath(document->root(), patch->root());
        parser.recycle(std::move(*patch));
    }
    parser.recycle(std::move(*document));
    return 0;
}
