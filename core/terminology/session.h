// Session: the definitions used for one answer; what it has found stays the same until it ends.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 valueset-operation-expand.html (system-version and the like).
// Threads: belongs to one thread at a time.

#pragma once

#include "core/base/text_map.h"
#include "core/terminology/code_system.h"
#include "core/terminology/effort.h"
#include "core/terminology/source.h"
#include "core/terminology/value_set.h"

#include <string>
#include <string_view>
#include <vector>

namespace annals::terminology {

/// Which versions of code systems to use, by url.
struct Versions {
    TextMap<std::string> preferred;  ///< if no version is requested
    TextMap<std::string> demanded;   ///< the same; any other is an error
    TextMap<std::string> forced;     ///< even if another version is requested

    bool empty() const noexcept { return preferred.empty() && forced.empty() && demanded.empty(); }
};

class Session {
  public:
    /// Lifetime: both outlive this.
    Session(const Source& source, Effort& effort) : source_(source), effort_(effort) {}

    Effort& effort() noexcept { return effort_; }

    Versions& versions() noexcept { return versions_; }

    /// Whether expansions may contain whole code systems whose codes are unknown here; these then contain any code.
    bool open_systems = false;

    /// Whether codes that are abstract in a value set's expansion count as members.
    bool takes_abstract = false;

    /// A code system; null if it isn't available. `system` may include a version. Errors: those of the source;
    /// answer_too_costly; timeout; not_computable (not the demanded version).
    Result<CodeSystemPointer> code_system(std::string_view system, std::string_view version);

    /// A value set by canonical URL, with or without |version; null if it isn't available. Errors: those of the source;
    /// answer_too_costly; timeout; not_computable (an unknown filter).
    Result<ValueSetPointer> value_set(std::string_view canonical);

    /// The same, but also null if it has an unknown filter, since other value sets may still decide. Errors: those of the
    /// source; answer_too_costly; timeout.
    Result<ValueSetPointer> readable_value_set(std::string_view canonical);

    /// Any definition. Errors: those of the source; answer_too_costly; timeout.
    Result<Definition> find(std::string_view type, std::string_view url, std::string_view version);

    /// A lookup and its result; null: not found.
    struct Look {
        std::string type;
        std::string url;
        std::string version;
        Definition found;
    };

    const std::vector<Look>& looks() const noexcept { return looks_; }

    /// The value sets being looked into, the innermost last.
    std::vector<const json::Document*> within;

  private:
    const Source& source_;
    Effort& effort_;
    Versions versions_;
    std::vector<Look> looks_;
    TextMap<std::size_t> by_name_;  // indexes into looks_
    TextMap<CodeSystemPointer> code_systems_;
    TextMap<ValueSetPointer> value_sets_;
};

}  // namespace annals::terminology
