// Signatures: what each operation does and takes, in words and types, for OperationDefinitions
// and the OpenAPI document.
//
// Layer:   core/operations. A new operation needs a line in signatures.cc in addition to its row in table.cc.
// Spec:    FHIR R4 operationdefinition.html. An operation's own file determines what it accepts; tests compare.
// Threads: constant data, plain functions.

#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace annals::core {

struct Signature {
    std::string_view definition;  ///< Operation::definition
    std::string_view summary;
    /// "url:uri concept:Coding* name:string! input*(type:code url:url)": `*` repeats, `!` is required; a
    /// parameter with parts has no type.
    std::string_view parameters;
    std::string_view result = "Parameters";  ///< its out parameter's type; empty: no FHIR body
};

/// The whole table.
std::span<const Signature> signatures() noexcept;

/// Null if there is none.
const Signature* find_signature(std::string_view definition) noexcept;

struct SignatureParameter {
    std::string_view name;
    std::string_view type;   ///< empty: it has parts
    std::string_view parts;  ///< as Signature::parameters
    bool required = false;
    bool repeats = false;

    /// Whether it can be in a query.
    bool is_primitive() const noexcept {
        return !type.empty() && type.front() >= 'a' && type.front() <= 'z';
    }
};

/// Removes the first one from `parameters` and returns it; none if that is empty.
std::optional<SignatureParameter> next_parameter(std::string_view& parameters) noexcept;

}  // namespace annals::core
