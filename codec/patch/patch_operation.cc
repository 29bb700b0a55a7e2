#include "codec/patch/patch_operation.h"

#include <fmt/format.h>

#include <cstddef>

namespace annals::patch {

namespace {

using json::Value;

// How many bytes of a path a message shows.
constexpr std::size_t kPathBytesShown = 200;

std::string shortened(std::string text) {
    if (text.size() > kPathBytesShown) {
        text.resize(kPathBytesShown);
        text += "...";
    }
    return text;
}

// The first value[x] of a part.
Value simple_value(Value part) {
    for (const auto [key, value] : part.members()) {
        if (key.raw_string().starts_with("value")) {
            return value;
        }
    }
    return {};
}

}  // namespace

Result<Operation> read_operation(Value parameter) {
    if (!parameter["name"].equals("operation")) {
        return Error{Errc::invalid, "every parameter must have the name 'operation'"};
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
        return Error{Errc::invalid, "'type' or 'path' is missing or not a string"};
    }
    return operation;
}

Error fault_of(Error error, std::size_t number, const Operation& operation) {
    const std::string path = shortened(operation.path.string());
    error.detail = operation.type.is_string()
                       ? fmt::format("operation {} ({} {}): {}", number,
                                     shortened(operation.type.string()), path, error.detail)
                       : fmt::format("operation {}: {}", number, error.detail);
    error.expression = path;
    return error;
}

}  // namespace annals::patch
