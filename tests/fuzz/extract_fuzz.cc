// Extraction from any JSON, by R4's search parameters and by arbitrary SearchParameters: it ends, stays within
// its bounds and in order, and gives the same twice; extracting a single parameter gives a part of that.
//
// An input is a JSON array: the resource, then SearchParameter resources.

#include "core/base/check.h"
#include "core/search/extract.h"
#include "core/search/layout.h"
#include "core/search/values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::search {
namespace {

constexpr std::size_t kInputBytesMax = 20'000;

bool same(const storage::SearchEntries& a, const storage::SearchEntries& b) {
    return a.terms == b.terms && a.intervals == b.intervals && a.links == b.links &&
           std::equal(a.texts.begin(), a.texts.end(), b.texts.begin(), b.texts.end(),
                      [&](const auto& x, const auto& y) {
                          return x.column == y.column && a.text(x) == b.text(y);
                      });
}

void check(const storage::SearchEntries& entries) {
    ANNALS_CHECK(std::is_sorted(entries.terms.begin(), entries.terms.end()));
    ANNALS_CHECK(std::adjacent_find(entries.terms.begin(), entries.terms.end()) ==
                 entries.terms.end());
    ANNALS_CHECK(entries.terms.size() <= kTermsMax && entries.links.size() <= kLinksMax &&
                 entries.intervals.size() <= kIntervalsMax &&
                 entries.characters.size() <= kTextBytesMax);
    for (const auto& interval : entries.intervals) {
        ANNALS_CHECK(interval.low <= interval.high);
    }
    for (const auto& text : entries.texts) {
        ANNALS_CHECK(text.begin + std::size_t{text.size} <= entries.characters.size());
    }
}

void run(std::string_view input) {
    json::Parser parser;
    const Result<json::Document> document = parser.parse(input);
    if (!document || document->root().size() == 0 || !document->root().is_array()) {
        return;
    }
    std::vector<json::Value> parameters;
    json::Value resource;
    for (const json::Value element : document->root().elements()) {
        if (!resource) {
            resource = element;
        } else {
            parameters.push_back(element);
        }
    }
    const auto type = find_resource_type(resource["resourceType"].string());
    if (!type) {
        return;
    }
    std::vector<Error> faults;
    const auto set =
        parameters.empty() ? ParameterSet::standard() : ParameterSet::with(parameters, {}, &faults);
    Extractor extractor(set, 1, "http://example.org/fhir");
    storage::SearchEntries first;
    storage::SearchEntries second;
    extractor.extract(*type, resource, first);
    check(first);
    extractor.extract(*type, resource, second);
    ANNALS_CHECK(same(first, second));
    const bool whole = first.terms.size() < kTermsMax;
    for (const Parameter& parameter : set->of(*type)) {
        if (parameter.components.empty()) {
            extractor.extract(parameter, *type, resource, second);
            check(second);
            // What the store adds itself, and what others provide together, has no column.
            const bool own = parameter.code != "_id" && parameter.code != "_lastUpdated" &&
                             layout_of(set, *type, parameter).parts.empty();
            ANNALS_CHECK(!own || !whole ||
                         std::includes(first.terms.begin(), first.terms.end(), second.terms.begin(),
                                       second.terms.end()));
            continue;
        }
        for (const auto& element : extractor.extract_composite(parameter, resource)) {
            ANNALS_CHECK(element.size() == parameter.components.size());
            for (const storage::SearchEntries& entries : element) {
                check(entries);
            }
        }
    }
}

}  // namespace
}  // namespace annals::core::search

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size <= annals::core::search::kInputBytesMax) {
        annals::core::search::run({reinterpret_cast<const char*>(data), size});
    }
    return 0;
}
