// Reading: what the files share that read one query, each a type of parameter or a special one.
//
// Layer:   core/search, behind query.h.
// Spec:    FHIR R4 search.html#ptypes, #escaping, #prefix.
// Threads: of one query, one thread.

#pragma once

#include "core/search/extract.h"
#include "core/search/layout.h"
#include "core/search/query.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::search {

/// One query while it is read.
struct Reading {
    const QueryContext& context;
    std::size_t spent = 0;         ///< conditions that were made
    std::size_t followed = 0;      ///< targets of chains that plans were made for, and copied
    std::vector<TypeId> others{};  ///< that chains, _has and _list lead to, if they are seen
    std::array<std::size_t, kResourceTypeCount> full_texts{};  ///< by type

    /// Errors: too_costly beyond kSearchConditionsMax.
    Result<void> spend(std::size_t conditions = 1);

    /// Errors: too_costly beyond kSearchTargetsMax.
    Result<void> follow(std::size_t targets = 1);

    /// What resources of `type` match `plan` that a link leads to, as far as they are seen.
    Plan linked(TypeId type, Plan plan);
};

/// One parameter of a type as it is asked for.
struct Asked {
    Reading& reading;
    TypeId type;
    const Parameter& parameter;
    std::string_view name;      ///< as it was sent, for messages
    std::string_view modifier;  ///< what stands behind its colon, or empty
    std::size_t depth = 0;      ///< links of the chain that lead here

    /// invalid: the value is not what the parameter takes.
    Error bad(std::string_view why) const;

    /// not_supported: the modifier.
    Error unsupported() const;

    /// How the index keeps the parameter.
    const Layout& layout() const { return layout_of(reading.context.parameters, type, parameter); }
};

/// What verifying needs to take a body apart again, wherever and whenever a plan is executed.
class ExtractReader {
  public:
    explicit ExtractReader(const QueryContext& context);

    /// An extractor of the calling thread, which keeps it for the next one who asks for the like.
    Extractor& extractor() const;

  private:
    std::shared_ptr<const ParameterSet> parameters_;
    std::uint64_t seed_;
    std::string base_url_;
};

// ---- texts ----

/// The beginning of what a client sent, short enough to be said back.
std::string_view shown(std::string_view text) noexcept;

/// The parts of `text` between separators that no backslash escapes; escapes stay.
std::vector<std::string_view> split_unescaped(std::string_view text, char separator);

/// FHIR's escapes, as escape_value() makes them, resolved: \, \$ \| and \\; nothing for any other.
std::optional<std::string> unescape(std::string_view text);

/// The prefix at the beginning of a date, number or quantity.
struct Prefixed {
    Comparison comparison = Comparison::eq;
    std::string_view rest;
};

Prefixed take_prefix(std::string_view value) noexcept;

/// A reference that leads to a resource of this server.
struct LocalReference {
    TypeId type;
    std::string_view id;
    std::string_view version;  ///< empty if it names none
};

/// Reads `Type/id` and `Type/id/_history/version`, absolute below `base_url` or not.
std::optional<LocalReference> read_local(std::string_view text, std::string_view base_url);

/// Why a text is refused of which folding leaves nothing: every text begins with that, and contains it.
inline constexpr std::string_view kFoldsToNothing =
    "a text is needed that is more than white space and marks";

// ---- one value of a parameter; alternatives and negations are parameter_plan()'s ----

Result<Plan> string_plan(const Asked& asked, std::string_view value);
Result<Plan> token_plan(const Asked& asked, std::string_view value);
Result<Plan> reference_plan(const Asked& asked, std::string_view value);
Result<Plan> date_plan(const Asked& asked, std::string_view value);
Result<Plan> number_plan(const Asked& asked, std::string_view value);
Result<Plan> quantity_plan(const Asked& asked, std::string_view value);
Result<Plan> uri_plan(const Asked& asked, std::string_view value);
Result<Plan> composite_plan(const Asked& asked, std::string_view value);

/// Whether an element has a value for each component of a composite.
Plan composite_presence(const Asked& asked);

Result<Plan> near_plan(const Asked& asked, std::string_view value);

/// The plan for a value whose prefix was read already, or is given by an operator (_filter), as `comparison`.
Result<Plan> date_plan(const Asked& asked, Comparison comparison, std::string_view value);
Result<Plan> number_plan(const Asked& asked, Comparison comparison, std::string_view value);
Result<Plan> quantity_plan(const Asked& asked, Comparison comparison, std::string_view value);

/// What `plan_of` says of the parameter or, if it finds what others find together, of any of those.
Result<Plan> any_part(const Asked& asked, const std::function<Result<Plan>(const Asked&)>& plan_of);

/// value_plan() of a parameter by its own columns, whatever its layout says.
Result<Plan> own_value_plan(const Asked& asked, std::string_view value);

/// Any of these by the parameter's type.
Result<Plan> value_plan(const Asked& asked, std::string_view value);

/// A whole value: alternatives between commas, `:missing`, `:not` and `:not-in`.
Result<Plan> parameter_plan(const Asked& asked, std::string_view value);

/// Whether there is a value at all.
Plan presence_plan(const Asked& asked);

/// `:missing`.
Result<Plan> missing_plan(const Asked& asked, std::string_view value);

/// A token as it is asked for.
struct TokenText {
    std::optional<std::string> system;  ///< none: any; empty: without one
    std::string code;                   ///< empty: any
};

/// Errors: invalid.
Result<TokenText> read_token(const Asked& asked, std::string_view value);

/// The token `value` in another column than the parameter's own.
Result<Plan> token_in(const Asked& asked, Column column, std::string_view value);

// ---- criteria: parameters, chains, and what every type has ----

/// A criterion of a resource of `type`, by the name as sent: a parameter with its modifier, a chain, _has, and what
/// search.html#all lists. Nothing if no such name is known for the type.
Result<std::optional<Plan>> criterion_plan(Reading& reading, TypeId type, std::string_view name,
                                           std::string_view value, std::size_t depth = 0);

/// What a resource that is reached by a link must be; nothing if the name that it asks for is unknown.
using TargetPlan = std::function<Result<std::optional<Plan>>(TypeId target, std::size_t depth)>;

/// A link of a chain: refers by `asked.parameter`, to a resource of the type that the modifier names if there is one.
Result<std::optional<Plan>> link_plan(const Asked& asked, const TargetPlan& target);

/// `_has:Observation:patient:` and a name, which `target` reads for the type that refers.
Result<std::optional<Plan>> has_plan(
    Reading& reading, TypeId type, std::string_view name, std::size_t depth,
    const std::function<Result<std::optional<Plan>>(TypeId source, std::string_view name,
                                                    std::size_t depth)>& target);

/// `_filter` (filter.cc).
Result<Plan> filter_plan(Reading& reading, TypeId type, std::string_view text);

/// `_list` (query_list.cc): the entries of stored Lists.
Result<Plan> list_plan(Reading& reading, TypeId type, std::string_view value);

/// `_text` and `_content` (full_text.cc).
Result<Plan> full_text_plan(std::string_view name, std::string_view value);

}  // namespace annals::core::search
