// A filter (after a first byte of '('), or a type, '?' and a query string: nothing crashes;
// what is accepted can be executed; the used part of a query is accepted again, even strictly,
// and used as a whole; a filter that is written out again is read as the same filter.

#include "codec/json/unicode.h"
#include "core/search/filter.h"
#include "core/target.h"
#include "tests/core/search/corpus.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::search {
namespace {

const Corpus& corpus() {
    static const Corpus* const made = [] {
        auto* out = new Corpus;
        out->add(R"({"resourceType":"CodeSystem","id":"cs","url":"http://s","content":"complete",
            "concept":[{"code":"a","concept":[{"code":"b"}]}]})");
        out->add(R"({"resourceType":"ValueSet","id":"vs","url":"http://v","compose":{"include":[
            {"system":"http://s","filter":[{"property":"concept","op":"is-a","value":"a"}]}]}})");
        out->add(R"({"resourceType":"List","id":"l","status":"current","mode":"working","entry":[
            {"item":{"reference":"Patient/p"}}]})");
        out->add(R"({"resourceType":"Patient","id":"p","name":[{"family":"Chalmers"}],
            "birthDate":"1970-01","managingOrganization":{"reference":"Organization/o"},
            "text":{"status":"generated","div":"<div>heart &amp; attack</div>"}})");
        out->add(
            R"({"resourceType":"Location","id":"here","position":{"latitude":1,"longitude":2}})");
        out->add(R"({"resourceType":"Observation","id":"o","status":"final",
            "subject":{"reference":"Patient/p"},"code":{"coding":[{"system":"http://s","code":"b"}]},
            "component":[{"code":{"coding":[{"system":"http://s","code":"b"}]},
            "valueQuantity":{"value":1.5,"system":"http://unitsofmeasure.org","code":"mg"}}]})");
        return out;
    }();
    return *made;
}

std::string encoded(const std::vector<QueryPair>& pairs) {
    std::string out;
    for (const auto& [name, value] : pairs) {
        out += out.empty() ? "" : "&";
        out += percent_encode(name) + "=" + percent_encode(value);
    }
    return out;
}

void check_query(std::string_view type, std::string_view text) {
    if (!type.empty() && !find_resource_type(type)) {
        return;
    }
    const auto query = corpus().parse(type, text);
    if (!query) {
        const Errc code = query.error().code;
        ANNALS_CHECK(code == Errc::invalid || code == Errc::not_supported ||
                     code == Errc::too_costly);
        return;
    }
    const std::string again = encoded(query->used);
    const auto same = corpus().parse(type, again, true);
    ANNALS_CHECK(same, again);
    ANNALS_CHECK(same->used == query->used && same->warnings.empty(), again);
    ANNALS_CHECK(same->types.size() == query->types.size(), again);
    corpus().ask(type, again);
    for (const Query::TypePlan& of : query->types) {
        guard_terms(of.plan);
    }
}

std::string written(const Filter& filter) {
    static constexpr std::string_view kOperations[] = {"eq", "ne", "co", "sw", "ew", "gt", "lt",
                                                       "ge", "le", "ap", "sa", "eb", "pr", "po",
                                                       "ss", "sb", "in", "ni", "re"};
    std::string out;
    switch (filter.kind) {
        case Filter::Kind::test:
            for (const Filter::Step& step : filter.path) {
                out += (out.empty() ? "" : ".") + step.name;
                if (!step.where.empty()) {
                    out += "[" + written(step.where.front()) + "]";
                }
            }
            out += ' ';
            out += kOperations[static_cast<std::size_t>(filter.operation)];
            return out + " " + json::quoted(filter.value);
        case Filter::Kind::negation:
            return "not(" + written(filter.parts[0]) + ")";
        case Filter::Kind::sequence:
            break;
    }
    for (std::size_t i = 0; i < filter.parts.size(); ++i) {
        out += i == 0 ? "" : filter.conjunctions[i - 1] ? " and " : " or ";
        const bool nested = filter.parts[i].kind == Filter::Kind::sequence;
        out += nested ? "(" + written(filter.parts[i]) + ")" : written(filter.parts[i]);
    }
    return out;
}

void check_filter(std::string_view text) {
    const auto filter = parse_filter(text);
    if (!filter) {
        return;
    }
    const std::string once = written(*filter);
    const auto again = parse_filter(once);
    ANNALS_CHECK(again, once);
    ANNALS_CHECK(written(*again) == once, once);
    for (const char* type : {"Patient", "Observation"}) {
        check_query(type, "_filter=" + percent_encode(text));
    }
}

}  // namespace
}  // namespace annals::core::search

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace annals::core;
    const std::vector<char> copy(data, data + size);
    const std::string_view text(copy.data(), copy.size());
    if (text.starts_with('(')) {
        // Decoded queries contain no other characters.
        if (annals::json::is_utf8(text) && text.find('\0') == std::string_view::npos) {
            search::check_filter(text.substr(1));
        }
        return 0;
    }
    const std::size_t mark = text.find('?');
    if (mark != std::string_view::npos) {
        search::check_query(text.substr(0, mark), text.substr(mark + 1));
    }
    return 0;
}
