// Membership: whether a code is in a value set, as far as is known.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 valueset.html#compositions.
// Threads: of a Session, one thread at a time.

#pragma once

#include "core/terminology/session.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace annals::terminology {

/// A code as it was given.
struct Code {
    std::optional<std::string_view> system;  ///< nothing: of whatever system has it
    std::string_view code;
    std::string_view version{};  ///< of the system; empty: any
};

/// Is it in? Unknown: not all that tells is here.
enum class Member : std::uint8_t { no, unknown, yes };

/// Conjunction and negation of three values.
Member both(Member a, Member b) noexcept;
Member opposite(Member a) noexcept;

inline constexpr std::size_t kValueSetDepthMax = 16;  ///< value sets inside of value sets

/// Is the code in the value set, or the part of one? What isn't here makes it unknown.
/// Cost: no expansion is made; for each part a look-up, and what stands above the code where it is filtered by that.
/// Errors: of Session; processing: the value set includes itself.
Result<Member> member_of(Session& session, const ValueSet& value_set, const Code& code);
Result<Member> member_of(Session& session, std::string_view canonical, const Code& code);
Result<Member> member_of(Session& session, const Include& include, const Code& code);

/// The same without the value sets that it names.
Result<Member> member_of_system(Session& session, const Include& include, const Code& code);

/// The same of what a value set excludes, of a code that it includes by `version`: where the part names no version that is meant.
Result<Member> member_of_exclude(Session& session, const Include& exclude, Code code,
                                 std::string_view version);

/// The systems of which the value set, or one that it names, has a part that may have the code; each once, and last none ("").
/// Lifetime: as long as the value set and the session. Errors: as of member_of().
Result<std::vector<std::string_view>> systems_with(Session& session, const ValueSet& value_set,
                                                   std::string_view code);

/// The version of the code's system that the value set, or one that it names, has the code of; empty: none is named.
/// Lifetime: as long as the value set and the session. Errors: as of member_of().
Result<std::string_view> version_of(Session& session, const ValueSet& value_set, const Code& code);

/// Notes that `value_set` is being looked into, as long as this lives.
class Within {
  public:
    /// Errors of entered(): processing: it includes itself; not_computable: it is too deep inside of others.
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
