// validate: full validation of a resource: bindings, invariants, profiles, references, rules of some types.
//
// Layer:   core; uses codec. Knows no HTTP and no store: conformance resources come through Source.
// Spec:    FHIR R4 validation.html, profiling.html, terminologies.html#strength, references.html, bundle.html;
//          docs/validation.md says what is checked and what is not.
// Threads: plain functions; a Source says its own.

#pragma once

#include "codec/json/document.h"
#include "core/base/ids.h"
#include "core/outcome.h"
#include "core/terminology/source.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::validation {

/// Where StructureDefinitions are found, too. What a source can't tell counts as not there.
using terminology::Definition;
using terminology::Source;

/// A source that knows nothing.
class EmptySource final : public Source {
  public:
    Result<Definition> find(std::string_view, std::string_view, std::string_view) const override {
        return Definition();
    }
};

struct Options {
    /// Profiles that the resource must conform to, besides those that it claims; unknown ones are errors.
    std::vector<std::string> profiles;
    /// Elements that FHIR does not have are errors.
    bool refuse_unknown_elements = false;
    /// Extensions below http://hl7.org/fhir/ whose definition isn't known are errors.
    bool refuse_unknown_extensions = false;
    /// Strings and markdown that look like HTML are errors, and not warnings.
    bool refuse_markup = false;
    /// A display that is none of the code's names is an error, and not a warning.
    bool refuse_wrong_displays = false;
    /// A code that its own system does not have is an error, and not a warning. Bindings are another matter.
    bool refuse_unknown_codes = true;
    /// The structure has been checked already, without a fault.
    bool structure_is_checked = false;
    /// Nothing is looked at but where references lead to.
    bool references_alone = false;
    std::size_t issues_max = 100;  ///< further ones are not told
    std::uint64_t steps =
        20'000'000;  ///< elements, rules and their nodes looked at; beyond: too-costly
};

/// What `$validate` goes by, as the official validator does: elements that FHIR does not have, and displays that are none of the
/// code's names, are errors; where `source` has the definitions of R4's own extensions, so are those of HL7's that it does not
/// know.
Options strict_options(const Source& source);

struct Report {
    std::vector<core::Issue> issues;
    bool valid = true;  ///< no issue is an error or worse
};

/// Checks `resource`, and every resource in it, against what R4 and its profiles demand.
///
/// `resource` is the root of its document. Its structure is checked first; where something isn't of the JSON kind that FHIR
/// has, nothing else is checked.
/// Cost: bounded by Options::steps and Options::issues_max.
Report validate(json::Value resource, const Source& source, const Options& options = {});

}  // namespace annals::validation
