// What is said beside a field: its arguments and directives, with the variables put in.
//
// Layer:   core/graphql.
// Spec:    FHIR R4 graphql.html, "Field Arguments", "Searching resources", "Data Flattening Directives".
// Threads: plain functions and values.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "core/base/result.h"
#include "core/graphql/document.h"
#include "core/graphql/types.h"
#include "core/search/parameters.h"
#include "core/search/query.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace annals::core::graphql {

/// Variables as they are sent.
inline constexpr std::size_t kVariablesBytesMax = 64 << 10;

/// By name; one that has no value isn't there.
using Variables = std::map<std::string, Value, std::less<>>;

/// The variables of an operation: as they were given (a JSON object, or missing), else their defaults.
/// Errors: invalid (`fault`: where it is defined); too_costly beyond kVariablesBytesMax.
Result<Variables> read_variables(const OperationDefinition& operation, json::Value given,
                                 Location& fault);

/// Which elements of a list are wanted.
struct ElementFilter {
    std::vector<std::pair<std::string, std::string>> equal;  ///< sub-elements and their values
    std::optional<fhirpath::Expression> filter;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> count;
};

/// What to search for.
struct SearchCall {
    std::vector<search::QueryPair> criteria;
    std::optional<std::string> reference;  ///< the parameter by which the focus is referred to
    std::optional<std::string> cursor;
    std::optional<std::uint64_t> count;  ///< it is among the criteria, too
    std::optional<fhirpath::Expression> filter;
};

/// Of a Reference's resource.
struct ResolveCall {
    bool optional = false;
    std::vector<schema::Type> types;  ///< only these; empty: any

    bool wants(schema::Type type) const noexcept;
};

struct Call {
    std::string id;  ///< of a read
    ElementFilter elements;
    SearchCall search;
    ResolveCall resolve;
    bool flatten = false;
    bool first = false;
    bool singleton = false;
    std::optional<fhirpath::Expression> slice;
};

/// Where a field stands and what its arguments mean there.
struct CallContext {
    const Variables& variables;
    const search::ParameterSet& parameters;
    bool at_root = false;  ///< of the system level: searches are for themselves, and have cursors
};

/// Reads what stands beside a field, which is defined by `field` on some type.
///
/// Errors: invalid, not_supported. `fault`: where.
Result<Call> read_call(const FieldDefinition& field, const Selection& selection,
                       const CallContext& context, Location& fault);

/// Whether @skip and @include leave it in. Errors: as read_call(), also of directives that may not stand there.
Result<bool> is_included(const Selection& selection, const Variables& variables, Location& fault);

/// What the parameter of a search is called that an argument means: GraphQL's names have no '-'. Empty: there is none.
std::string parameter_name(const search::ParameterSet& parameters, TypeId type,
                           std::string_view name);

/// The variable in which FHIRPath finds the number of an element in its list.
inline constexpr std::string_view kIndexVariable = "elementIndex";

}  // namespace annals::core::graphql
