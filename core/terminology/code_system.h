// CodeSystem: the concepts of a CodeSystem resource, found by code, and their hierarchy.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 codesystem.html, concept-properties.
// Threads: const once made.

#pragma once

#include "core/base/text_map.h"
#include "core/terminology/effort.h"
#include "core/terminology/source.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::terminology {

inline constexpr std::size_t kConceptsMax = 2'000'000;  ///< of one code system

/// How many of its codes a CodeSystem contains (CodeSystem.content).
enum class Content : std::uint8_t { not_present, example, fragment, complete, supplement };

class CodeSystem {
  public:
    /// Concepts are numbered in the order of the text; nested ones follow the one that contains them.
    using Number = std::uint32_t;

    /// Reads a CodeSystem. A supplement has no codes of its own. Errors: answer_too_costly (beyond kConceptsMax or `effort`);
    /// timeout.
    static Result<std::shared_ptr<const CodeSystem>> make(Definition definition, Effort& effort);

    json::Value root() const noexcept { return definition_->root(); }

    std::string_view url() const noexcept { return url_; }

    std::string_view version() const noexcept { return version_; }

    Content content() const noexcept { return content_; }

    bool is_complete() const noexcept { return content_ == Content::complete; }

    std::size_t size() const noexcept { return concepts_.size(); }

    /// Whether its codes are case-insensitive.
    bool ignores_case() const noexcept { return ignores_case_; }

    /// The concept with that code; ignores case if ignores_case().
    std::optional<Number> find(std::string_view code) const;

    std::string_view code(Number number) const noexcept { return concepts_[number].code; }

    /// The element of CodeSystem.concept.
    json::Value item(Number number) const noexcept { return concepts_[number].item; }

    std::string_view display(Number number) const noexcept { return concepts_[number].display; }

    bool is_inactive(Number number) const noexcept { return concepts_[number].inactive; }

    /// Whether it only groups other concepts (property notSelectable).
    bool is_abstract(Number number) const noexcept { return concepts_[number].is_abstract; }

    std::span<const Number> parents(Number number) const noexcept { return parents_.of(number); }

    std::span<const Number> children(Number number) const noexcept { return children_.of(number); }

    /// Whether `number` is below `ancestor` or the same. Cost: a step for each concept above `number`. Errors: as `effort`.
    Result<bool> is_below(Number number, Number ancestor, Effort& effort) const;

    /// `number` and all concepts above (or below) it, ascending. Cost: a step for each concept reached, and few for the size of
    /// all. Errors: as `effort`.
    Result<std::vector<Number>> reached(Number number, bool upwards, Effort& effort) const;

    /// Approximate memory use, including the document.
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
        std::vector<Number> first;  ///< where those of each concept begin, and one more for the end
        std::vector<Number> others;

        void make(std::vector<Edge>& edges, std::size_t concepts);

        std::span<const Number> of(Number number) const noexcept {
            return std::span(others).subspan(first[number], first[number + 1] - first[number]);
        }
    };

    explicit CodeSystem(Definition definition);
    Result<void> add(json::Value concepts, std::optional<Number> parent, std::size_t depth,
                     std::vector<Edge>& below, Effort& effort);
    void read_properties(std::vector<Edge>& below);

    Definition definition_;
    std::string_view url_;
    std::string_view version_;
    Content content_ = Content::not_present;
    bool ignores_case_ = false;
    std::deque<std::string> texts_;  ///< texts with resolved escapes or changed case
    std::vector<Concept> concepts_;
    TextMap<Number, std::string_view> by_code_;
    Edges parents_;
    Edges children_;
    std::size_t bytes_ = 0;
};

using CodeSystemPointer = std::shared_ptr<const CodeSystem>;

/// The text of a property's value; codes and literals unchanged.
std::string property_text(json::Value property);

/// Reads `definition`; the result is cached, bounded in memory. Errors: as make(). Threads: any.
Result<CodeSystemPointer> code_system_of(const Definition& definition, Effort& effort);

}  // namespace annals::terminology
