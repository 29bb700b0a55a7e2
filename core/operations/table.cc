#include "core/operations/operations.h"
#include "core/operations/reindex.h"
#include "core/operations/validate.h"

#include <fmt/format.h>

#include <array>

namespace annals::core {

namespace {

// clang-format off
constexpr auto kOperations = std::to_array<Operation>({
    {"$validate", kOnSystem | kOnType | kOnInstance, kOnInstance, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/Resource-validate", validate_operation},
    {"$reindex", kOnSystem, kOnSystem, true, Access::administer,
     "urn:x-annals:OperationDefinition:reindex",
     reindex_operation},
});
// clang-format on

std::uint8_t level_of(const Target& target) noexcept {
    switch (target.level) {
        case Level::system_operation:
            return kOnSystem;
        case Level::type_operation:
            return kOnType;
        case Level::instance_operation:
            return kOnInstance;
        default:
            return 0;
    }
}

}  // namespace

std::span<const Operation> operations() noexcept {
    return kOperations;
}

const Operation* find_operation(const Target& target) noexcept {
    for (const Operation& operation : kOperations) {
        if (operation.name == target.operation && (operation.levels & level_of(target)) != 0) {
            return &operation;
        }
    }
    return nullptr;
}

bool takes(const Operation& operation, const Target& target, HttpMethod method) noexcept {
    return method == HttpMethod::post ||
           (method == HttpMethod::get && (operation.by_get & level_of(target)) != 0);
}

asio::awaitable<Response> run_operation(const Service& service, const Request& request,
                                        const Target& target) {
    const Operation* const operation = find_operation(target);
    Response response = co_await operation->handler(service, request, target);
    co_return response;
}

std::string operations_json(std::uint8_t levels) {
    std::string out;
    for (const Operation& operation : kOperations) {
        if ((operation.levels & levels) != 0) {
            out += fmt::format(R"({}{{"name":"{}","definition":"{}"}})", out.empty() ? "[" : ",",
                               operation.name.substr(1), operation.definition);
        }
    }
    return out.empty() ? out : out + "]";
}

}  // namespace annals::core
