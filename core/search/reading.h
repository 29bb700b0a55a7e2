// Reading: what the query_*.cc files share, each of which reads one type of parameter or a special parameter.
//
// Layer:   core/search, behind query.h; core/scoped_view.cc uses read_local(), too.
// Spec:    FHIR R4 search.html#ptypes, #escaping, #prefix.
// Threads: a Reading belongs to one thread.

#pragma once

#include "core/search/extract.h"
#include "core/search/layout.h"
#include "core/search/query.h"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::search {

/// The state of reading one query.
struct Reading {
    const QueryContext& context;
    std::size_t spent = 0;         ///< number of conditions made
    std::size_t followed = 0;      ///< number of plans made for targets of chains, including copies
    std::vector<TypeId> others{};  ///< that chains, _has and _list lead to, if visible
    std::array<std::size_t, kResourceTypeCount> full_texts{};  ///< how many of each type

    /// Errors: too_costly beyond kSearchConditionsMax.
    Result<void> spend(std::size_t conditions = 1);

    /// Errors: too_costly beyond kSearchTargetsMax.
    Result<void> follow(std::size_t targets = 1);

    /// `plan`, for resources of `type` that a link leads to, restricted to what is visible.
    Plan linked(TypeId type, Plan plan);
};

/// Ignores, with a warning, what is not understood. Errors: invalid in a strict context.
Result<void> pass_over(const QueryContext& context, std::string detail, Query& query);

/// The error (invalid) for a value that the parameter `name` doesn't accept.
Error bad_value(std::string_view name, std::string_view why);

/// The error (not_supported) for a modifier of the parameter `name`.
Error unsupported_modifier(std::string_view name, std::string_view modifier);

/// A parameter as it occurs in the query.
struct Asked {
    Reading& reading;
    TypeId type;
    const Parameter& parameter;
    std::string_view name;      ///< as sent, for messages
    std::string_view modifier;  ///< after its colon, or empty
    std::size_t depth = 0;      ///< number of chain links before it

    Error bad(std::string_view why) const { return bad_value(name, why); }

    Error unsupported() const { return unsupported_modifier(name, modifier); }

    /// How the parameter is laid out in the index.
    const Layout& layout() const { return layout_of(reading.context.parameters, type, parameter); }
};

/// Whether it is a reference parameter that can lead to resources of `type`.
bool leads_to(const Parameter& parameter, TypeId type);

/// The type that the modifier of a reference parameter names: subject:Patient. Errors: not_supported: it names no type;
/// invalid: the parameter doesn't lead there.
Result<TypeId> type_in_modifier(const Asked& asked);

/// Whether the parameter finds an element for which `holds` is true. False if its expression is more than paths.
bool finds_element(const Asked& asked, bool (*holds)(schema::Element element));

/// How many conditions a test counts for that parses each candidate's body.
inline constexpr std::size_t kBodyConditions = 50;

/// The candidates that have a value of the parameter for which `holds` is true, as their bodies tell. Errors: too_costly.
Result<Plan> with_value(const Asked& asked, Plan candidates,
                        std::function<bool(json::Value own)> holds);

/// Provides extractors for plans that verify bodies, on whichever thread and whenever they are executed.
class ExtractReader {
  public:
    explicit ExtractReader(const QueryContext& context);

    /// As thread_extractor().
    Extractor& extractor() const;

  private:
    std::shared_ptr<const ParameterSet> parameters_;
    std::uint64_t seed_;
    std::string base_url_;
};

// ---- texts ----

/// The beginning of a text from a client, short enough for a message.
std::string_view shown(std::string_view text) noexcept;

/// Splits `text` at separators that are not escaped by a backslash; escapes are kept.
std::vector<std::string_view> split_unescaped(std::string_view text, char separator);

/// Resolves FHIR's escapes (those of escape_value()): \, \$ \| and \\. None if there is any other.
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
    std::string_view version;  ///< empty if there is none
};

/// Reads `Type/id` and `Type/id/_history/version`, absolute below `base_url` or not.
std::optional<LocalReference> read_local(std::string_view text, std::string_view base_url);

/// Why a text that folds to the empty string is refused: every text begins with that, and contains it.
inline constexpr std::string_view kFoldsToNothing =
    "a text is needed that consists of more than white space and marks";

// ---- one value of a parameter; alternatives and negations are handled by parameter_plan() ----

Result<Plan> string_plan(const Asked& asked, std::string_view value);
Result<Plan> token_plan(const Asked& asked, std::string_view value);
Result<Plan> reference_plan(const Asked& asked, std::string_view value);
Result<Plan> date_plan(const Asked& asked, std::string_view value);
Result<Plan> number_plan(const Asked& asked, std::string_view value);
Result<Plan> quantity_plan(const Asked& asked, std::string_view value);
Result<Plan> uri_plan(const Asked& asked, std::string_view value);
Result<Plan> composite_plan(const Asked& asked, std::string_view value);

/// Matches if an element has a value for each component of a composite.
Plan composite_presence(const Asked& asked);

Result<Plan> near_plan(const Asked& asked, std::string_view value);

/// The plan for a value without a prefix: `comparison` is the prefix already read, or a _filter operator.
Result<Plan> date_plan(const Asked& asked, Comparison comparison, std::string_view value);
Result<Plan> number_plan(const Asked& asked, Comparison comparison, std::string_view value);
Result<Plan> quantity_plan(const Asked& asked, Comparison comparison, std::string_view value);

/// The result of `plan_of` for the parameter or, if it combines others, the disjunction of the results for those.
Result<Plan> any_part(const Asked& asked, const std::function<Result<Plan>(const Asked&)>& plan_of);

/// value_plan() on the parameter's own columns, even if its layout says that it combines others.
Result<Plan> own_value_plan(const Asked& asked, std::string_view value);

/// The plan for a value, by the parameter's type.
Result<Plan> value_plan(const Asked& asked, std::string_view value);

/// The plan for a whole value: comma-separated alternatives, `:missing`, `:not` and `:not-in`.
Result<Plan> parameter_plan(const Asked& asked, std::string_view value);

/// Matches if there is any value.
Plan presence_plan(const Asked& asked);

/// `:missing`.
Result<Plan> missing_plan(const Asked& asked, std::string_view value);

/// A token in a query.
struct TokenText {
    std::optional<std::string> system;  ///< none: any; empty: without one
    std::string code;                   ///< empty: any
};

/// Errors: invalid.
Result<TokenText> read_token(const Asked& asked, std::string_view value);

/// The plan for the token `value` in a column other than the parameter's own.
Result<Plan> token_in(const Asked& asked, Column column, std::string_view value);

// ---- criteria: parameters, chains, and parameters of all types ----

/// The plan for one criterion on resources of `type`. `name` as sent: a parameter with its modifier, a chain, _has, or
/// one that search.html#all lists. None if the name is unknown for the type.
Result<std::optional<Plan>> criterion_plan(Reading& reading, TypeId type, std::string_view name,
                                           std::string_view value, std::size_t depth = 0);

/// The plan for the resources that a link leads to; none if the criterion's name is unknown for `target`.
using TargetPlan = std::function<Result<std::optional<Plan>>(TypeId target, std::size_t depth)>;

/// One link of a chain: a reference by `asked.parameter`, only to the type in the modifier if there is one.
Result<std::optional<Plan>> link_plan(const Asked& asked, const TargetPlan& target);

/// `_has:Observation:patient:name`; `target` reads the last name for the referring type.
Result<std::optional<Plan>> has_plan(
    Reading& reading, TypeId type, std::string_view name, std::size_t depth,
    const std::function<Result<std::optional<Plan>>(TypeId source, std::string_view name,
                                                    std::size_t depth)>& target);

/// `_filter` (filter_plan.cc).
Result<Plan> filter_plan(Reading& reading, TypeId type, std::string_view text);

/// `_list` (query_list.cc): the entries of stored Lists.
Result<Plan> list_plan(Reading& reading, TypeId type, std::string_view value);

/// `_text` and `_content` (full_text.cc).
Result<Plan> full_text_plan(std::string_view name, std::string_view value);

}  // namespace annals::core::search
