#include "core/terminology/value_set.h"

#include "core/canonical.h"
#include "core/terminology/kept.h"

namespace annals::terminology {

namespace {

constexpr std::size_t kKeptValueSetBytesMax = 256 << 20;
constexpr std::size_t kBytesPerCode = 180;
constexpr std::size_t kIncludesMax = 1000;
constexpr std::size_t kRegexesMax = 100;
constexpr std::uint64_t kStepsPerRegex = 10'000;

}  // namespace

Result<ValueSetPointer> ValueSet::make(Definition definition, Effort& effort) {
    ANNALS_TRY_VOID(effort.spend(definition->nodes().size() / 4));
    std::shared_ptr<ValueSet> made(new ValueSet(std::move(definition)));
    const json::Value compose = made->root()["compose"];
    made->has_compose_ = compose["include"].size() > 0;
    made->active_only_ = compose["inactive"].raw() == "false";
    ANNALS_TRY_VOID(made->read(compose["include"], made->includes_, effort));
    ANNALS_TRY_VOID(made->read(compose["exclude"], made->excludes_, effort));
    const json::Value expansion = made->root()["expansion"];
    if (expansion) {
        ANNALS_TRY_VOID(made->read_contained(expansion["contains"], 0, effort));
        // A single page of an expansion is not complete.
        const std::string_view total = expansion["total"].raw();
        made->has_expansion_ = total.empty() || total == std::to_string(made->contained_.size());
        for (std::uint32_t i = 0; i < made->contained_.size(); ++i) {
            made->contained_by_code_.emplace(made->contained_[i].code, i);
        }
    }
    return ValueSetPointer(made);
}

Result<void> ValueSet::read(json::Value parts, std::vector<Include>& out, Effort& effort) {
    if (parts.size() > kIncludesMax) {
        return Error{Errc::answer_too_costly, "The value set has too many parts"};
    }
    for (const json::Value part : parts.elements()) {
        Include include;
        // Some have a canonical with a version here.
        const std::string system = part["system"].string();
        const core::Canonical canonical = core::split_canonical(system);
        include.system = canonical.url;
        include.version = part["version"].string();
        if (include.version.empty()) {
            include.version = canonical.version;
        }
        for (const json::Value item : part["concept"].elements()) {
            ANNALS_TRY_VOID(effort.spend());
            const std::string_view code = characters_of(item["code"], texts_);
            include.lists = true;
            const auto number = static_cast<std::uint32_t>(include.concepts.size());
            if (!code.empty() && include.by_code.try_emplace(code, number).second) {
                include.concepts.push_back({code, characters_of(item["display"], texts_), item});
                if (std::string lower = ascii_lower(code); lower != code) {
                    include.in_lower_case.insert(std::move(lower));
                }
            }
        }
        for (const json::Value item : part["filter"].elements()) {
            ANNALS_TRY_VOID(effort.spend(item["op"].equals("regex") ? kStepsPerRegex
                                                                    : 1 + item.raw().size() / 64));
            ANNALS_TRY(Filter filter, Filter::read(item));
            if (filter.is_regex() && ++regexes_ > kRegexesMax) {
                return Error{Errc::answer_too_costly,
                             "The value set has too many regular expressions"};
            }
            include.filters.push_back(std::move(filter));
        }
        for (const json::Value name : part["valueSet"].elements()) {
            include.value_sets.push_back(name.string());
        }
        out.push_back(std::move(include));
    }
    return {};
}

Result<void> ValueSet::read_contained(json::Value contains, std::size_t depth, Effort& effort) {
    if (depth > kJsonDepthMax) {
        return {};
    }
    for (const json::Value item : contains.elements()) {
        ANNALS_TRY_VOID(effort.spend());
        if (item["code"].is_string()) {
            contained_.push_back(
                {characters_of(item["system"], texts_), characters_of(item["code"], texts_),
                 characters_of(item["display"], texts_), item, item["abstract"].raw() == "true",
                 item["inactive"].raw() == "true"});
        }
        ANNALS_TRY_VOID(read_contained(item["contains"], depth + 1, effort));
    }
    return {};
}

Result<ValueSetPointer> value_set_of(const Definition& definition, Effort& effort) {
    static Kept<ValueSet> kept(kKeptValueSetBytesMax);
    if (ValueSetPointer known = kept.find(definition)) {
        return known;
    }
    ANNALS_TRY(ValueSetPointer made, ValueSet::make(definition, effort));
    std::size_t codes = made->contained().size();
    for (const Include& include : made->includes()) {
        codes += include.concepts.size();
    }
    for (const Include& include : made->excludes()) {
        codes += include.concepts.size();
    }
    kept.keep(definition, made,
              sizeof(ValueSet) + bytes_of(*definition) + codes * kBytesPerCode +
                  made->regexes() * kRegexMemoryMax);
    return made;
}

}  // namespace annals::terminology
