// Expansion: all codes of a value set, in order.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 valueset.html#expansion, valueset-operation-expand.html.
// Threads: expand() as Session; an Expansion is const once made.

#pragma once

#include "core/base/text_map.h"
#include "core/terminology/membership.h"
#include "core/terminology/session.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::terminology {

struct Expansion {
    struct System {
        std::string url;
        std::string version;        ///< as given in the value set; empty: not given
        CodeSystemPointer content;  ///< null: not available
        TextMap<std::uint32_t, std::string_view> by_code{};  ///< indexes into `entries`
    };

    struct Entry {
        std::string_view code;
        std::string_view display;
        std::uint32_t system = 0;                  ///< index into `systems`
        std::optional<CodeSystem::Number> number;  ///< in the system's content
        json::Value listed;  ///< the value set's element that lists it; missing: none
        bool is_abstract = false;
        bool inactive = false;
    };

    std::vector<System> systems;
    std::vector<Entry> entries;
    /// Code systems that are included as a whole, but whose codes are unknown here.
    std::vector<std::string> open_systems;
    /// What it was made from: "used-codesystem", "used-valueset" or "fragment", and the canonical URL.
    std::vector<std::pair<std::string_view, std::string>> used;
    /// Keeps alive what the entries point into.
    std::vector<std::shared_ptr<const void>> held;

    bool has(std::string_view system, std::string_view code) const;
};

using ExpansionPointer = std::shared_ptr<const Expansion>;

struct ExpandOptions {
    std::size_t codes_max = 100'000;
    /// Which codes to include; null: all.
    std::function<bool(std::string_view code, std::string_view display)> wanted;
    /// Which code systems to skip, by url and the version given in the value set, if any; null: none.
    std::function<bool(std::string_view url, std::string_view version)> skipped{};
};

/// Expands a value set. A previous expansion is reused as long as all definitions that it was made from are still current.
///
/// Errors: answer_too_costly (more codes than codes_max, or too many steps); not_computable (it refers to something that isn't
/// available, or to a code system without its codes); processing (it includes itself); those of Session.
Result<ExpansionPointer> expand(Session& session, const ValueSetPointer& value_set,
                                const ExpandOptions& options = {});

}  // namespace annals::terminology
