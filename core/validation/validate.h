// validate: full validation of a resource: bindings, invariants, profiles, references, and rules of certain types.
//
// Layer:   core; uses codec. Knows no HTTP and no store: conformance resources come through Source.
// Spec:    FHIR R4 validation.html, profiling.html, terminologies.html#strength, references.html, bundle.html;
//          docs/validation.md says what is checked and what is not.
// Threads: plain functions; those of a Source depend on the source.

#pragma once

#include "codec/json/document.h"
#include "core/base/ids.h"
#include "core/outcome.h"
#include "core/terminology/source.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::validation {

/// Also finds StructureDefinitions. What a source fails to find counts as missing.
using terminology::Definition;
using terminology::Source;

/// A source without any definitions.
class EmptySource final : public Source {
  public:
    Result<Definition> find(std::string_view, std::string_view, std::string_view) const override {
        return Definition();
    }
};

struct Options {
    /// Profiles that the resource must conform to, in addition to those that it claims; unknown ones are errors.
    std::vector<std::string> profiles;
    /// Elements that FHIR does not have are errors.
    bool refuse_unknown_elements = false;
    /// Extensions below http://hl7.org/fhir/ whose definition is unknown are errors.
    bool refuse_unknown_extensions = false;
    /// Strings and markdown that look like HTML are errors instead of warnings.
    bool refuse_markup = false;
    /// A display that is not among the code's names is an error instead of a warning.
    bool refuse_wrong_displays = false;
    /// A code that its system doesn't have is an error instead of a warning. Doesn't affect bindings.
    bool refuse_unknown_codes = true;
    /// The structure has been checked before and is valid.
    bool structure_is_checked = false;
    /// Checks nothing but the targets of references.
    bool references_alone = false;
    std::size_t issues_max = 100;  ///< further ones are dropped
    std::uint64_t steps =
        20'000'000;  ///< elements, rules and their nodes visited; beyond: too-costly
};

/// The options of `$validate`, which match the official validator: elements that FHIR doesn't have, and displays that are not
/// among the code's names, are errors; so are unknown extensions of HL7, if `source` has the definitions of R4's own
/// extensions.
Options strict_options(const Source& source);

struct Report {
    std::vector<core::Issue> issues;
    bool valid = true;     ///< no issue is an error or worse
    bool stopped = false;  ///< by Options::steps; an issue says so
};

/// Checks `resource`, and every resource in it, against R4 and its profiles.
///
/// `resource` is the root of its document. The structure is checked first; if anything has the wrong JSON kind, nothing else is
/// checked.
/// Cost: bounded by Options::steps and Options::issues_max.
Report validate(json::Value resource, const Source& source, const Options& options = {});

}  // namespace annals::validation
