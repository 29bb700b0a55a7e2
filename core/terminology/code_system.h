// CodeSystem: the concepts of a CodeSystem resource, found by code, and which stand below which.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 codesystem.html, concept-properties.
// Threads: const after it was made.

#pragma once

#include "core/terminology/effort.h"
#include "core/terminology/source.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace annals::terminology {

inline constexpr std::size_t kConceptsMax = 2'000'000;  ///< of one code system

/// What a CodeSystem has of its codes (CodeSystem.content).
enum class Content : std::uint8_t { not_present, example, fragment, complete, supplement };

class CodeSystem {
  public:
    /// Concepts are numbered in the order of the text, nested ones behind what they stand in.
    using Number = std::uint32_t;

    /// Takes a CodeSystem apart. A supplement has no codes: those that it names are another's.
    /// Errors: answer_too_costly beyond kConceptsMax or `effort`; timeout.
    static Result<std::shared_ptr<const CodeSystem>> make(Definition definition, Effort& effort);

    json::Value root() const noexcept { return definition_->root(); }

    std::string_view url() const noexcept { return url_; }

    std::string_view version() const noexcept { return version_; }

    Content content() const noexcept { return content_; }

    bool is_complete() const noexcept { return content_ == Content::complete; }

    std::size_t size() const noexcept { return concepts_.size(); }

    /// Whether it says that upper and lower case are the same in its codes.
    bool ignores_case() const noexcept { return ignores_case_; }

    /// In whatever case if it ignores that.
    std::optional<Number> find(std::string_view code) const;

    std::string_view code(Number number) const noexcept { return concepts_[number].code; }

    /// The element of CodeSystem.concept.
    json::Value item(Number number) const noexcept { return concepts_[number].item; }

    std::string_view display(Number number) const noexcept { return concepts_[number].display; }

    bool is_inactive(Number number) const noexcept { return concepts_[number].inactive; }

    /// Whether it only groups others (property notSelectable).
    bool is_abstract(Number number) const noexcept { return concepts_[number].is_abstract; }

    std::span<const Number> parents(Number number) const noexcept { return parents_.of(number); }

    std::span<const Number> children(Number number) const noexcept { return children_.of(number); }

    /// Is `number` below `ancestor`, or the same? Cost: what stands above `number`, a step each. Errors: of `effort`.
    Result<bool> is_below(Number number, Number ancestor, Effort& effort) const;

    /// `number` and all that can be reached from it upwards or downwards: one flag per concept. Cost: a step for each.
    /// Errors: of `effort`.
    Result<std::vector<bool>> reached(Number number, bool upwards, Effort& effort) const;

    /// Memory that it takes, about, the document included.
    std::size_t bytes() const noexcept { return bytes_; }

  private:
    struct Concept {
        std::string_view code;
        std::string_view display;
        json::Value item;
        bool inactive = false;
        bool is_abstract = false;
    };

    using Edge = std::pair<Number, Number>;

    struct Edges {
        std::vector<Number> first;  ///< where those of a concept begin; one more at the end
        std::vector<Number> others;

        void make(std::vector<Edge>& edges, std::size_t concepts);

        std::span<const Number> of(Number number) const noexcept {
            return std::span(others).subspan(first[number], first[number + 1] - first[number]);
        }
    };

    explicit CodeSystem(Definition definition);
    std::string_view keep(json::Value text);
    Result<void> add(json::Value concepts, std::optional<Number> parent, std::size_t depth,
                     std::vector<Edge>& below, Effort& effort);
    void read_properties(std::vector<Edge>& below);

    Definition definition_;
    std::string_view url_;
    std::string_view version_;
    Content content_ = Content::not_present;
    bool ignores_case_ = false;
    std::deque<std::string> texts_;  ///< what stands with escapes, or in another case
    std::vector<Concept> concepts_;
    std::unordered_map<std::string_view, Number> by_code_;
    Edges parents_;
    Edges children_;
    std::size_t bytes_ = 0;
};

using CodeSystemPointer = std::shared_ptr<const CodeSystem>;

/// The text of a property's value, a code or a literal as it stands.
std::string property_text(json::Value property);

/// `definition` taken apart; kept a while, bounded in memory. Errors: of make(). Threads: any.
Result<CodeSystemPointer> code_system_of(const Definition& definition, Effort& effort);

}  // namespace annals::terminology
