#include "codec/patch/json_patch.h"

#include "core/base/ascii.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace annals::patch {

namespace {

using json::Kind;
using json::Value;
using Ref = EditTree::Ref;
using Slot = EditTree::Slot;

// How many bytes of a pointer a message shows.
constexpr std::size_t kPointerBytesShown = 200;

/// The tokens of a JSON Pointer, escapes resolved.
using Pointer = std::vector<std::string>;

std::optional<Pointer> parse_pointer(std::string_view text) {
    Pointer tokens;
    if (!text.empty() && text.front() != '/') {
        return {};
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '/') {
            tokens.emplace_back();
        } else if (text[i] != '~') {
            tokens.back() += text[i];
        } else if (++i < text.size() && (text[i] == '0' || text[i] == '1')) {
            tokens.back() += text[i] == '0' ? '~' : '/';
        } else {
            return {};
        }
    }
    return tokens;
}

bool is_prefix(const Pointer& prefix, const Pointer& of) {
    return prefix.size() < of.size() && std::equal(prefix.begin(), prefix.end(), of.begin());
}

/// An array index: digits without leading zeros.
std::optional<std::size_t> parse_index(std::string_view token) noexcept {
    if (!is_digits(token) || (token.size() > 1 && token.front() == '0')) {
        return {};
    }
    constexpr std::size_t kDigits = 11;  // no array has that many elements
    std::size_t index = 0;
    for (const char digit : token.substr(0, kDigits)) {
        index = index * 10 + static_cast<std::size_t>(digit - '0');
    }
    return index;
}

/// "Patient.name[0].given", as far as the pointer can be expressed in FHIRPath.
std::string expression_of(std::string_view type, const Pointer& pointer) {
    std::string out(type);
    if (out.empty()) {
        return out;
    }
    const auto is_name = [](std::string_view token) {
        return !token.empty() && std::all_of(token.begin(), token.end(), [](char c) {
            return is_letter_or_digit(c) || c == '_';
        });
    };
    for (const std::string& token : pointer) {
        if (is_digits(token)) {
            out += fmt::format("[{}]", token);
        } else if (is_name(token)) {
            out += fmt::format(".{}", token);
        } else {
            break;
        }
    }
    return out;
}

std::string shown(std::string text) {
    if (text.size() > kPointerBytesShown) {
        text.resize(kPointerBytesShown);
        text += "...";
    }
    return text;
}

/// Applies one patch.
class JsonPatch {
  public:
    JsonPatch(Value document, Value patch, const Limits& limits)
        : type_(document["resourceType"].string()), patch_(patch), tree_(document, patch, limits) {}

    Result<std::string> apply() {
        for (const Value operation : patch_.elements()) {
            operation_ = operation;
            ANNALS_TRY_VOID(apply_operation());
            if (tree_.exhausted()) {
                return fault("the patch takes too many steps");
            }
            if (tree_.too_large()) {
                return fault("the result is too large");
            }
            ++number_;
        }
        return tree_.render();
    }

  private:
    Error fault(std::string_view what, Errc code = Errc::invalid) const {
        const std::string path = operation_["path"].string();
        return {code,
                fmt::format("operation {} ({}{}{}): {}", number_,
                            shown(operation_["op"].is_string() ? operation_["op"].string() : "?"),
                            path.empty() ? "" : " ", shown(path), what),
                shown(expression_of(type_, path_))};
    }

    Result<void> apply_operation() {
        path_.clear();
        if (!operation_.is_object()) {
            return fault("an operation must be an object");
        }
        const Value op = operation_["op"];
        if (!op.is_string()) {
            return fault("'op' is missing or not a string");
        }
        ANNALS_TRY(path_, read_pointer("path"));
        if (op.equals("add")) {
            return add_value();
        }
        if (op.equals("remove")) {
            return remove(path_);
        }
        if (op.equals("replace")) {
            return replace_value();
        }
        if (op.equals("move")) {
            return move_value();
        }
        if (op.equals("copy")) {
            return copy_value();
        }
        if (op.equals("test")) {
            return test_value();
        }
        return fault("'op' must be add, remove, replace, move, copy or test");
    }

    Result<Pointer> read_pointer(std::string_view name) const {
        const Value value = operation_[name];
        if (!value.is_string()) {
            return fault(fmt::format("'{}' is missing or not a string", name));
        }
        std::optional<Pointer> pointer = parse_pointer(value.string());
        if (!pointer) {
            return fault(fmt::format("'{}' is not a JSON Pointer", name));
        }
        return *std::move(pointer);
    }

    Result<Value> read_value() const {
        const Value value = operation_["value"];
        if (!value) {
            return fault("'value' is missing");
        }
        return value;
    }

    /// The place of the first `count` tokens; null if there is nothing.
    Slot find(const Pointer& pointer, std::size_t count) {
        Slot slot = tree_.root();
        not_an_index_ = false;
        for (std::size_t i = 0; i < count && slot != nullptr; ++i) {
            if (tree_.kind(*slot) == Kind::array) {
                const auto index = parse_index(pointer[i]);
                not_an_index_ = !index;
                slot = index ? tree_.element(slot, *index) : nullptr;
            } else {
                slot = tree_.member(slot, pointer[i]);
            }
        }
        return slot;
    }

    Result<Slot> existing(const Pointer& pointer, std::string_view name) {
        const Slot slot = find(pointer, pointer.size());
        if (slot == nullptr) {
            return fault(fmt::format("there is nothing at '{}'", name));
        }
        return slot;
    }

    /// Adds `value` at path_.
    Result<void> add(Ref value) {
        if (path_.size() + tree_.depth(value) > kJsonDepthMax) {
            return fault(fmt::format("the result is nested deeper than {} levels", kJsonDepthMax));
        }
        if (path_.empty()) {
            tree_.replace(tree_.root(), value);
            return {};
        }
        const Slot parent = find(path_, path_.size() - 1);
        const Kind kind = parent == nullptr ? Kind::null : tree_.kind(*parent);
        const std::string& last = path_.back();
        if (kind == Kind::object) {
            tree_.set_member(parent, last, value);
            return {};
        }
        if (kind != Kind::array) {
            return fault("there is no object or array to add to");
        }
        const std::size_t size = tree_.size(*parent);
        const auto index = last == "-" ? std::optional(size) : parse_index(last);
        if (!index || *index > size) {
            return fault(fmt::format("'{}' is not an index of an array of {}", shown(last), size));
        }
        tree_.insert_element(parent, *index, value);
        return {};
    }

    Result<void> remove(const Pointer& pointer) {
        if (pointer.empty()) {
            return fault("the whole document cannot be removed");
        }
        ANNALS_TRY_VOID(existing(pointer, "path"));
        const Slot parent = find(pointer, pointer.size() - 1);
        if (tree_.kind(*parent) == Kind::object) {
            tree_.remove_member(parent, pointer.back());
        } else {
            tree_.remove_element(parent, *parse_index(pointer.back()));
        }
        return {};
    }

    Result<void> add_value() {
        ANNALS_TRY(const Value value, read_value());
        return add(tree_.from_source(value));
    }

    Result<void> replace_value() {
        ANNALS_TRY(const Value value, read_value());
        ANNALS_TRY(const Slot slot, existing(path_, "path"));
        const Ref ref = tree_.from_source(value);
        if (path_.size() + tree_.depth(ref) > kJsonDepthMax) {
            return fault(fmt::format("the result is nested deeper than {} levels", kJsonDepthMax));
        }
        tree_.replace(slot, ref);
        return {};
    }

    Result<void> move_value() {
        ANNALS_TRY(const Pointer from, read_pointer("from"));
        if (is_prefix(from, path_)) {
            return fault("a value cannot be moved into itself");
        }
        ANNALS_TRY(const Slot slot, existing(from, "from"));
        if (from == path_) {
            return {};
        }
        const Ref value = *slot;
        ANNALS_TRY_VOID(remove(from));
        return add(value);
    }

    Result<void> copy_value() {
        ANNALS_TRY(const Pointer from, read_pointer("from"));
        ANNALS_TRY(const Slot slot, existing(from, "from"));
        return add(tree_.clone(*slot));
    }

    Result<void> test_value() {
        ANNALS_TRY(const Value value, read_value());
        const Slot slot = find(path_, path_.size());
        if (slot == nullptr) {
            return not_an_index_ ? fault("the array has no such index")
                                 : fault("there is nothing to test", Errc::processing);
        }
        if (!tree_.equals(*slot, value) && !tree_.exhausted()) {
            return fault("the value differs", Errc::processing);
        }
        return {};
    }

    std::string type_;
    Value patch_;
    EditTree tree_;
    Value operation_;
    std::size_t number_ = 0;
    Pointer path_;
    bool not_an_index_ = false;  ///< the last find() got a non-index for an array
};

}  // namespace

Result<std::string> apply_json_patch(Value document, Value patch, const Limits& limits) {
    if (!patch.is_array()) {
        return Error{Errc::invalid, "a JSON Patch must be an array of operations"};
    }
    if (patch.size() > kPatchOperationsMax) {
        return Error{Errc::invalid, fmt::format("the patch has {} operations, the limit is {}",
                                                patch.size(), kPatchOperationsMax)};
    }
    if (!EditTree::fits(document) || !EditTree::fits(patch)) {
        return Error{Errc::invalid, "the document is too large to be patched"};
    }
    return JsonPatch(document, patch, limits).apply();
}

}  // namespace annals::patch
