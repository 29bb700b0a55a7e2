#include "core/terminology/filter.h"

#include "core/base/parts.h"
#include "core/base/text.h"

#include <fmt/format.h>

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace annals::terminology {

namespace {

constexpr std::size_t kRegexBytesMax = 1000;
constexpr std::size_t kBytesPerStep = 64;  // of compared text
constexpr std::size_t kNodesPerStep = 5;   // a property is an object with two members

// A byte of text usually takes a regular expression a nanosecond; if its automaton gets a new state with each, or does not fit
// into its memory, it takes 2.5 ns for each instruction, of which there are up to some ten thousand.
constexpr std::uint64_t kInstructionsPerStep = 4;

// The most that a regular expression may take for one text at worst, a second: nothing ends it meanwhile.
constexpr std::uint64_t kStepsPerTextMax = 100'000'000;

constexpr std::array<std::pair<std::string_view, Filter::Operator>, 9> kOperators{{
    {"=", Filter::Operator::equal},
    {"is-a", Filter::Operator::is_a},
    {"descendent-of", Filter::Operator::descendent_of},
    {"is-not-a", Filter::Operator::is_not_a},
    {"regex", Filter::Operator::regex},
    {"in", Filter::Operator::in},
    {"not-in", Filter::Operator::not_in},
    {"generalizes", Filter::Operator::generalizes},
    {"exists", Filter::Operator::exists},
}};

std::vector<std::string> listed(std::string_view list) {
    std::vector<std::string> items;
    while (!list.empty()) {
        items.emplace_back(trimmed(take_until(list, ',')));
    }
    return items;
}

}  // namespace

Filter::Filter() = default;
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

Result<Filter> Filter::read(json::Value filter) {
    Filter made;
    made.property_ = filter["property"].string();
    made.value_ = filter["value"].string();
    const std::string op = filter["op"].string();
    const auto known = std::find_if(kOperators.begin(), kOperators.end(),
                                    [&](const auto& pair) { return pair.first == op; });
    if (known == kOperators.end() || made.property_.empty()) {
        return Error{Errc::not_computable,
                     fmt::format("The filter '{} {}' of a value set is not supported",
                                 made.property_.substr(0, 60), op.substr(0, 60))};
    }
    made.operator_ = known->second;
    if (made.operator_ == Operator::in || made.operator_ == Operator::not_in) {
        made.values_ = listed(made.value_);
        std::sort(made.values_.begin(), made.values_.end());
    } else if (made.operator_ == Operator::equal) {
        made.values_ = {made.value_};
    } else if (made.operator_ == Operator::regex) {
        RE2::Options options(RE2::Quiet);
        options.set_max_mem(static_cast<std::int64_t>(kRegexMemoryMax));
        if (made.value_.size() <= kRegexBytesMax) {
            made.regex_ = std::make_unique<RE2>(made.value_, options);
        }
        if (made.regex_ == nullptr || !made.regex_->ok()) {
            return Error{Errc::not_computable,
                         fmt::format("The regular expression '{}' of a value set cannot be used",
                                     made.value_.substr(0, 60))};
        }
        made.steps_per_byte_ =
            static_cast<std::uint64_t>(made.regex_->ProgramSize()) / kInstructionsPerStep;
    }
    return made;
}

bool Filter::is_by_hierarchy() const noexcept {
    return operator_ == Operator::is_a || operator_ == Operator::descendent_of ||
           operator_ == Operator::is_not_a || operator_ == Operator::generalizes;
}

Result<std::optional<std::vector<bool>>> Filter::passing(const CodeSystem& system,
                                                         Effort& effort) const {
    if (!is_by_hierarchy()) {
        return std::optional<std::vector<bool>>();
    }
    const auto named = system.find(value_);
    if (!named) {
        return std::optional(std::vector<bool>(system.size(), operator_ == Operator::is_not_a));
    }
    ANNALS_TRY(const auto reached,
               system.reached(*named, operator_ == Operator::generalizes, effort));
    std::vector<bool> passing(system.size());
    for (const CodeSystem::Number number : reached) {
        passing[number] = true;
    }
    if (operator_ == Operator::descendent_of) {
        passing[*named] = false;
    } else if (operator_ == Operator::is_not_a) {
        passing.flip();
    }
    return std::optional(std::move(passing));
}

Result<bool> Filter::passes(const CodeSystem& system, CodeSystem::Number number,
                            Effort& effort) const {
    ANNALS_TRY_VOID(effort.spend(1));
    if (!is_by_hierarchy()) {
        ANNALS_TRY(const bool has, has_value(system, number, effort));
        const bool wanted =
            operator_ != Operator::not_in && !(operator_ == Operator::exists && value_ == "false");
        return has == wanted;
    }
    const auto named = system.find(value_);
    if (!named) {
        return operator_ == Operator::is_not_a;
    }
    if (operator_ == Operator::generalizes) {
        return system.is_below(*named, number, effort);
    }
    ANNALS_TRY(const bool below, system.is_below(number, *named, effort));
    return operator_ == Operator::is_not_a ? !below
           : operator_ == Operator::is_a   ? below
                                           : below && number != *named;
}

bool Filter::holds(std::string_view own) const {
    switch (operator_) {
        case Operator::regex:
            return RE2::FullMatch(re2::StringPiece(own.data(), own.size()), *regex_);
        case Operator::equal:
        case Operator::in:
        case Operator::not_in:
            return std::binary_search(values_.begin(), values_.end(), own);
        default:
            return true;  // exists
    }
}

Result<bool> Filter::has_value(const CodeSystem& system, CodeSystem::Number number,
                               Effort& effort) const {
    const auto compared = [&](std::string_view own) -> Result<bool> {
        const std::uint64_t usual = own.size() / kBytesPerStep;
        const std::uint64_t worst = own.size() * steps_per_byte_;
        if (worst > kStepsPerTextMax) {
            return Error{Errc::answer_too_costly,
                         fmt::format("The regular expression '{}' takes too long for a long text",
                                     value_.substr(0, 60))};
        }
        const auto begin = worst > usual ? Effort::Clock::now() : Effort::Clock::time_point();
        const bool held = holds(own);
        std::uint64_t taken = usual;
        if (worst > usual) {
            // Whether the automaton thrashes shows only in the time. That passes while other threads run, too, but never counts as
            // more than the worst; asking for the processor time of this one would take longer than most comparisons.
            const auto time = Effort::Clock::now() - begin;
            taken =
                std::clamp(static_cast<std::uint64_t>(time / Effort::kTimePerStep), usual, worst);
        }
        ANNALS_TRY_VOID(effort.spend(usual, taken));
        return held;
    };
    if (property_ == "code" || property_ == "concept") {
        return compared(system.code(number));
    }
    if (property_ == "display") {
        return system.item(number)["display"] ? compared(system.display(number)) : false;
    }
    bool said = false;
    if (const json::Value properties = system.item(number)["property"]) {
        ANNALS_TRY_VOID(
            effort.spend((properties.node().next - properties.index()) / kNodesPerStep));
        for (const json::Value own : properties.elements()) {
            if (own["code"].equals(property_)) {
                said = true;
                if (operator_ == Operator::exists) {
                    return true;
                }
                ANNALS_TRY(const bool found, compared(property_text(own)));
                if (found) {
                    return true;
                }
            }
        }
    }
    // Implied by nesting or by default.
    const auto any_of = [&](std::span<const CodeSystem::Number> others) -> Result<bool> {
        for (const CodeSystem::Number other : others) {
            ANNALS_TRY_VOID(effort.spend());
            ANNALS_TRY(const bool found, compared(system.code(other)));
            if (found) {
                return true;
            }
        }
        return false;
    };
    if (property_ == "parent") {
        return any_of(system.parents(number));
    }
    if (property_ == "child") {
        return any_of(system.children(number));
    }
    if (!said && operator_ != Operator::exists) {
        return (property_ == "inactive" && holds(system.is_inactive(number) ? "true" : "false")) ||
               (property_ == "notSelectable" &&
                holds(system.is_abstract(number) ? "true" : "false"));
    }
    return false;
}

}  // namespace annals::terminology
