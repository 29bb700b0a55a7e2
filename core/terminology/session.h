// Session: the definitions that one answer looks at; what it found once stays found until it ends.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 valueset-operation-expand.html (system-version and its like).
// Threads: belongs to one thread at a time.

#pragma once

#include "core/terminology/code_system.h"
#include "core/terminology/effort.h"
#include "core/terminology/source.h"
#include "core/terminology/value_set.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annals::terminology {

/// Which versions of code systems are to be used; by url.
struct Versions {
    std::unordered_map<std::string, std::string> preferred;  ///< where no version is asked for
    std::unordered_map<std::string, std::string> demanded;   ///< so, too; any other is an error
    std::unordered_map<std::string, std::string> forced;     ///< whatever is asked for

    bool empty() const noexcept { return preferred.empty() && forced.empty() && demanded.empty(); }
};

class Session {
  public:
    /// Lifetime: both outlive this.
    Session(const Source& source, Effort& effort) : source_(source), effort_(effort) {}

    Effort& effort() noexcept { return effort_; }

    Versions& versions() noexcept { return versions_; }

    /// A code system as a whole whose codes are not known here may be part of an expansion; it has any code.
    bool open_systems = false;

    /// Also the codes are in a value set that its expansion has as abstract.
    bool takes_abstract = false;

    /// Of its code system; null if it isn't here. `system` may name a version itself.
    /// Errors: of the source; answer_too_costly; timeout; not_computable: not the version that is demanded.
    Result<CodeSystemPointer> code_system(std::string_view system, std::string_view version);

    /// By canonical URL, with or without |version; null if it isn't here.
    /// Errors: of the source; answer_too_costly; timeout; not_computable: a filter that isn't known.
    Result<ValueSetPointer> value_set(std::string_view canonical);

    /// The same; null as well if it has a filter that isn't known: what others have can still be told.
    /// Errors: of the source; answer_too_costly; timeout.
    Result<ValueSetPointer> readable_value_set(std::string_view canonical);

    /// Any definition. Errors: of the source; answer_too_costly; timeout.
    Result<Definition> find(std::string_view type, std::string_view url, std::string_view version);

    /// What was looked for, and found; null: nothing.
    struct Look {
        std::string type;
        std::string url;
        std::string version;
        Definition found;
    };

    const std::vector<Look>& looks() const noexcept { return looks_; }

    /// The value sets that are being looked into, the innermost last.
    std::vector<const json::Document*> within;

  private:
    const Source& source_;
    Effort& effort_;
    Versions versions_;
    std::vector<Look> looks_;
    std::unordered_map<std::string, std::size_t> by_name_;  // numbers in looks_
    std::unordered_map<std::string, CodeSystemPointer> code_systems_;
    std::unordered_map<std::string, ValueSetPointer> value_sets_;
};

}  // namespace annals::terminology
