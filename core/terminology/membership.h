// Membership: whether a code is in a value set, as far as can be told.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 valueset.html#compositions.
// Threads: as Session, one thread at a time.

#pragma once

#include "core/terminology/session.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace annals::terminology {

/// How many urls of code systems are compared per step.
inline constexpr std::size_t kSystemsPerStep = 16;

/// A code to look for.
struct Code {
    std::optional<std::string_view> system;  ///< none: any system that has the code
    std::string_view code;
    std::string_view version{};  ///< of the system; empty: any
};

/// Whether a code is a member; unknown if something that decides it isn't available.
enum class Member : std::uint8_t { no, unknown, yes };

/// Three-valued conjunction.
Member both(Member a, Member b) noexcept;

inline constexpr std::size_t kValueSetDepthMax = 16;  ///< value sets nested in value sets

/// Whether the code is in the value set, or in one part of it; unknown if something isn't available. Cost: doesn't expand; a
/// look-up for each part and, for filters by hierarchy, the concepts above the code. Errors: those of Session; processing: the
/// value set includes itself.
Result<Member> member_of(Session& session, const ValueSet& value_set, const Code& code);
Result<Member> member_of(Session& session, std::string_view canonical, const Code& code);
Result<Member> member_of(Session& session, const Include& include, const Code& code);

/// The same, ignoring the value sets that the part refers to.
Result<Member> member_of_system(Session& session, const Include& include, const Code& code);

/// The same for an excluded part and a code that is included by `version`, which applies if the part gives no version.
Result<Member> member_of_exclude(Session& session, const Include& exclude, Code code,
                                 std::string_view version);

/// The systems of parts that may contain the code, in the value set or those that it refers to; each once, and "" last if there
/// is one. Lifetime: as long as the value set and the session. Errors: as member_of().
Result<std::vector<std::string_view>> systems_with(Session& session, const ValueSet& value_set,
                                                   std::string_view code);

/// The version of the code's system by which the value set, or one that it refers to, contains the code; empty: none is given.
/// Lifetime: as long as the value set and the session. Errors: as member_of().
Result<std::string_view> version_of(Session& session, const ValueSet& value_set, const Code& code);

/// Marks `value_set` as being looked into, as long as this lives.
class Within {
  public:
    /// Errors of entered(): processing (it includes itself); not_computable (nested too deep).
    Within(Session& session, const ValueSet& value_set);

    ~Within();
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

    const Result<void>& entered() const noexcept { return entered_; }

  private:
    Session& session_;
    Result<void> entered_;
};

}  // namespace annals::terminology
