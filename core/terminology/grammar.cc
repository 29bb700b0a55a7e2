#include "core/terminology/grammar.h"

#include "codec/fhirpath/ucum.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace annals::terminology {

namespace {

Member judge_unit(std::string_view code) {
    return fhirpath::is_unit(code) ? Member::yes : Member::no;
}

// Parameters are not judged: R4 itself has values in them that RFC 2045 would have in quotes (Signature.targetFormat).
Member judge_media_type(std::string_view code) {
    static const re2::RE2 kMediaType(R"((?s)([A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}/)"
                                     R"([A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126})[ \t]*(;.*)?)");
    if (code == "xml" || code == "json" || code == "ttl") {
        return Member::unknown;  // R4 permits them in CapabilityStatement.format.
    }
    return re2::RE2::FullMatch(code, kMediaType) ? Member::yes : Member::no;
}

Member judge_language(std::string_view code) {
    static const re2::RE2 kLanguage(
        "(?i)"
        "([a-z]{2,3}(-[a-z]{3}){0,3}|[a-z]{4,8})"  // language
        "(-[a-z]{4})?"                             // script
        "(-([a-z]{2}|[0-9]{3}))?"                  // region
        "(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"     // variants
        "(-[a-wyz0-9](-[a-z0-9]{2,8})+)*"          // extensions
        "(-x(-[a-z0-9]{1,8})+)?"                   // private use
        "|x(-[a-z0-9]{1,8})+"
        "|en-GB-oed|sgn-(BE-FR|BE-NL|CH-DE)"  // from before the grammar, like those below
        "|i-(ami|bnn|default|enochian|hak|klingon|lux|mingo|navajo|pwn|tao|tay|tsu)");
    if (!re2::RE2::FullMatch(code, kLanguage)) {
        return Member::no;
    }
    // The grammar permits longer languages, but none has been registered so far.
    constexpr std::size_t kLanguageChars = 3;
    return code.substr(0, code.find('-')).size() <= kLanguageChars ? Member::yes : Member::unknown;
}

constexpr std::array<Grammar, 3> kGrammars{{
    {fhirpath::kUcum, "UCUM", judge_unit, true},
    {"urn:ietf:bcp:13", "BCP 13", judge_media_type, false},
    {"urn:ietf:bcp:47", "BCP 47", judge_language, false},
}};

/// The work to parse a unit.
constexpr std::uint64_t kStepsPerUnit = 50;

std::string_view base_unit_of(std::string_view property) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kBaseUnits{
        {{"length", "m"},
         {"time", "s"},
         {"mass", "g"},
         {"plane angle", "rad"},
         {"temperature", "K"},
         {"electric charge", "C"},
         {"luminous intensity", "cd"}}};
    for (const auto& [known, unit] : kBaseUnits) {
        if (known == property) {
            return unit;
        }
    }
    return {};
}

/// For comparisons: to UCUM, mol is a number.
std::optional<fhirpath::Unit> unit_without_mol(std::string_view code) {
    std::optional<fhirpath::Unit> unit = fhirpath::parse_unit(code);
    if (unit) {
        unit->powers[fhirpath::Unit::kDimensions - 1] = 0;
    }
    return unit;
}

Member judge_comparable(const std::optional<fhirpath::Unit>& a,
                        const std::optional<fhirpath::Unit>& b) {
    if (!a || !b || a->arbitrary != b->arbitrary) {
        return Member::unknown;  // Cel is comparable with K, although it can't be converted here.
    }
    return a->same_dimension(*b) ? Member::yes : Member::no;
}

}  // namespace

std::span<const Grammar> grammars() {
    return kGrammars;
}

const Grammar* grammar_of(std::string_view system) {
    const auto found = std::find_if(kGrammars.begin(), kGrammars.end(),
                                    [&](const Grammar& one) { return one.system == system; });
    return found == kGrammars.end() ? nullptr : &*found;
}

Member judge_code(const CodeSystem* listed, std::string_view system, std::string_view code) {
    if (listed != nullptr && listed->find(code)) {
        return Member::yes;
    }
    if (listed != nullptr && listed->is_complete()) {
        return Member::no;
    }
    const Grammar* const grammar = grammar_of(system);
    return grammar == nullptr ? Member::unknown : grammar->judge(code);
}

Result<Member> judge_filter(std::string_view system, const Filter& filter, std::string_view code,
                            Effort& effort) {
    const bool by_property = filter.property() == "property";
    if (system != fhirpath::kUcum || filter.accepted().empty() ||
        !(by_property || filter.property() == "canonical")) {
        return Member::unknown;
    }
    ANNALS_TRY_VOID(effort.spend(kStepsPerUnit * (1 + filter.accepted().size())));
    const std::optional<fhirpath::Unit> unit = unit_without_mol(code);
    Member in = Member::no;
    for (const std::string& one : filter.accepted()) {
        const std::string_view other = by_property ? base_unit_of(one) : std::string_view(one);
        in = std::max(in, judge_comparable(unit, unit_without_mol(other)));
    }
    return in;
}

Result<Member> judge_listed(const CodeSystem& listed, std::string_view system, const Filter& filter,
                            CodeSystem::Number number, Effort& effort) {
    ANNALS_TRY(const bool passes, filter.passes(listed, number, effort));
    if (passes) {
        return Member::yes;
    }
    return listed.is_complete() || grammar_of(system) == nullptr
               ? Member::no
               : judge_filter(system, filter, listed.code(number), effort);
}

}  // namespace annals::terminology
