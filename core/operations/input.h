// OperationInput: the parameters of an operation, from its query and its body, read in one place.
//
// Layer:   core/operations.
// Spec:    FHIR R4 operations.html#request, parameters.html; docs/api/operations.md.
// Threads: plain values; read() parses with the parser of its thread.

#pragma once

#include "codec/json/document.h"
#include "core/base/instant.h"
#include "core/base/result.h"
#include "core/exchange.h"
#include "core/target.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// The most parameters of a body, all of which are visited each time one is looked for; an export may name 100,000 patients.
inline constexpr std::size_t kParametersMax = 200'000;

/// The parameters of the query and of the Parameters resource in the body, or the bare resource of the body.
///
/// Lifetime: the Values that it returns point into it, even after it has been moved.
class OperationInput {
  public:
    /// Reads query and body (JSON; handle() has converted XML to it).
    /// Errors: invalid (malformed query or body, a parameter without a name or with no value or several),
    ///         unsupported_media; too_costly (more than kParametersMax).
    static Result<OperationInput> read(const Request& request);

    /// The same for an operation that takes any resource: Parameters with a name that isn't among `known` are
    /// that resource, and their contents aren't parameters; an empty Parameters gives none.
    static Result<OperationInput> read_any(const Request& request,
                                           std::initializer_list<std::string_view> known);

    /// Whether there is a parameter of that name.
    bool has(std::string_view name) const;

    /// All values of that name, the query's first, as text; numbers and booleans as in JSON. Errors: invalid
    /// (a value that is not a primitive).
    Result<std::vector<std::string>> texts(std::string_view name) const;

    /// The only text of that name. Errors: invalid (several, or a value that is not a primitive).
    Result<std::optional<std::string>> text(std::string_view name) const;

    /// The same, which must be there. Errors: also required.
    Result<std::string> required_text(std::string_view name) const;

    /// Errors: invalid (several, or neither true nor false).
    Result<std::optional<bool>> boolean(std::string_view name) const;

    /// The same; false if there is none.
    Result<bool> flag(std::string_view name) const;

    /// A non-negative integer. Errors: invalid.
    Result<std::optional<std::uint64_t>> number(std::string_view name) const;

    /// The same, but not 0.
    Result<std::optional<std::uint64_t>> positive(std::string_view name) const;

    /// A date, dateTime or instant; for a whole day, month or year its beginning. Errors: invalid.
    Result<std::optional<Instant>> instant(std::string_view name) const;

    /// The first resource of that name; missing if there is none.
    json::Value resource(std::string_view name) const;

    /// The first value of that name that is not a primitive (a Coding, a Meta); missing if there is none.
    json::Value value(std::string_view name) const;

    /// The parameter elements of that name, whose values or parts can't be in a query. Errors: invalid (the query has one).
    Result<std::vector<json::Value>> parts(std::string_view name) const;

    /// The body, if it isn't the operation's Parameters; missing if it is, or if there is no body.
    json::Value bare_resource() const;

    /// Rejects names that aren't `known`; parameters of representation (_format, _pretty, _summary,
    /// _elements) are allowed. Errors: invalid, naming the first; a body that is not Parameters.
    Result<void> only(std::initializer_list<std::string_view> known) const;

    /// The same for an operation that also takes a bare resource.
    Result<void> only_beside_resource(std::initializer_list<std::string_view> known) const;

    /// The names that are there, without duplicates, in the order of their characters; without those of
    /// representation. Errors: invalid (a body that is not Parameters).
    Result<std::vector<std::string>> names() const;

    /// Rejects all parameters: for a request that only asks for an operation's progress. Errors: invalid.
    static Result<void> none(const Request& request);

    /// Rejects these names if they are there more than once. Errors: invalid, naming the first.
    Result<void> once(std::initializer_list<std::string_view> names) const;

  private:
    Result<void> read_body(const Request& request);
    std::size_t count(std::string_view name) const;

    Parameters query_;
    json::Document body_;
    json::Value parameters_;  // of the body's Parameters: the array
    bool bare_ = false;
};

/// value[x] of a parameter (or of one of its parts); missing if it has none.
json::Value value_of(json::Value parameter);

/// value[x] of a parameter as text, if it is a primitive.
std::optional<std::string> text_of(json::Value parameter);

/// The first part of that name of a parameter; missing if there is none.
json::Value part_of(json::Value parameter, std::string_view name);

}  // namespace annals::core
