// Expansion: all codes of a value set, in order.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 valueset.html#expansion, valueset-operation-expand.html.
// Threads: expand() is of a Session, one thread at a time; an Expansion is const after it was made.

#pragma once

#include "core/terminology/membership.h"
#include "core/terminology/session.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace annals::terminology {

struct Expansion {
    struct System {
        std::string url;
        std::string version;        ///< where the value set names one; empty: it doesn't
        CodeSystemPointer content;  ///< null: not here
        std::unordered_map<std::string_view, std::uint32_t> by_code{};  ///< numbers in `entries`
    };

    struct Entry {
        std::string_view code;
        std::string_view display;
        std::uint32_t system = 0;                  ///< number in `systems`
        std::optional<CodeSystem::Number> number;  ///< in the system's content
        json::Value listed;  ///< the element that lists it in the value set; missing: none does
        bool is_abstract = false;
        bool inactive = false;
    };

    std::vector<System> systems;
    std::vector<Entry> entries;
    /// Code systems that are in as a whole and whose codes are not known here.
    std::vector<std::string> open_systems;
    /// What it was made of: "used-codesystem", "used-valueset" or "fragment", and its canonical URL.
    std::vector<std::pair<std::string_view, std::string>> used;
    /// What the entries point into.
    std::vector<std::shared_ptr<const void>> held;

    bool has(std::string_view system, std::string_view code) const;
};

using ExpansionPointer = std::shared_ptr<const Expansion>;

struct ExpandOptions {
    std::size_t codes_max = 100'000;
    /// Which codes are wanted; null: all.
    std::function<bool(std::string_view code, std::string_view display)> wanted;
    /// Which code systems are not looked at, by url and by the version that the value set names, if any; null: none.
    std::function<bool(std::string_view url, std::string_view version)> skipped{};
};

/// Expands a value set. What was made before is used again as long as what it was made of is still what is found.
///
/// Errors: answer_too_costly: more codes than codes_max, or too many steps; not_computable: it names what isn't here,
///         or a code system whose codes aren't; processing: it includes itself; of Session.
Result<ExpansionPointer> expand(Session& session, const ValueSetPointer& value_set,
                                const ExpandOptions& options = {});

}  // namespace annals::terminology
