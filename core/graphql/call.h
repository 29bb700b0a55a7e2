// The arguments and directives of a field, with variables replaced by their values.
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

/// The maximum size of the variables as sent.
inline constexpr std::size_t kVariablesBytesMax = 64 << 10;

/// By name; variables without a value are missing.
using Variables = std::map<std::string, Value, std::less<>>;

/// The variables of an operation: their values in `given` (a JSON object, or missing), or else their defaults. Errors: invalid
/// (`fault`: where the variable is defined); too_costly (beyond kVariablesBytesMax).
Result<Variables> read_variables(const OperationDefinition& operation, json::Value given,
                                 Location& fault);

/// Which elements of a list are selected.
struct ElementFilter {
    std::vector<std::pair<std::string, std::string>> equal;  ///< sub-elements and their values
    std::optional<fhirpath::Expression> filter;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> count;
};

/// The arguments of a search.
struct SearchCall {
    std::vector<search::QueryPair> criteria;
    std::optional<std::string> reference;  ///< the parameter that refers to the focus
    std::optional<std::string> cursor;
    std::optional<std::uint64_t> count;  ///< also among the criteria
    std::optional<fhirpath::Expression> filter;
};

/// The arguments of a Reference's `resource`.
struct ResolveCall {
    bool optional = false;
    std::vector<schema::Type> types;  ///< only these types; empty: any

    bool wants(schema::Type type) const noexcept;
};

struct Call {
    std::string id;  ///< for FieldKind::read
    ElementFilter elements;
    SearchCall search;
    ResolveCall resolve;
    bool flatten = false;
    bool first = false;
    bool singleton = false;
    std::optional<fhirpath::Expression> slice;
};

/// What the meaning of a field's arguments depends on.
struct CallContext {
    const Variables& variables;
    const search::ParameterSet& parameters;
    bool at_root = false;  ///< at the system level: searches have no focus, but cursors
};

/// Reads the arguments and directives of a field that is defined by `field` for some type.
///
/// Errors: invalid, required, not_supported. `fault`: where.
Result<Call> read_call(const FieldDefinition& field, const Selection& selection,
                       const CallContext& context, Location& fault);

/// Whether @skip and @include keep the field. Errors: as read_call(), also for misplaced directives.
Result<bool> is_included(const Selection& selection, const Variables& variables, Location& fault);

/// The name of the search parameter that an argument denotes, since GraphQL names can't contain '-'. Empty: there is none.
std::string parameter_name(const search::ParameterSet& parameters, TypeId type,
                           std::string_view name);

/// The FHIRPath variable that holds an element's index in its list.
inline constexpr std::string_view kIndexVariable = "elementIndex";

}  // namespace annals::core::graphql
