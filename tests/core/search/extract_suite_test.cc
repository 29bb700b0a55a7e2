// HL7's examples and Synthea's patients, below the folder that ANNALS_TEST_DATA names: what the walk extracts is what
// FHIRPath says of each parameter's whole expression.

#include "codec/fhirpath/fhirpath.h"
#include "codec/json/document.h"
#include "codec/schema/schema.h"
#include "core/search/extract.h"
#include "core/search/values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace annals::core::search {
namespace {

using fhirpath::Item;
using storage::SearchEntries;

constexpr std::uint64_t kSeed = 42;

std::string slurp(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return (std::ostringstream() << file.rdbuf()).str();
}

/// Every definition of an element by which a value may stand in the resource: by the names of its members from the
/// top.
schema::Element definition_of(json::Value value, schema::Type type, std::uint32_t node) {
    schema::Element element;
    for (bool deeper = true; deeper && value.index() != node;) {
        deeper = false;
        if (value.is_array()) {
            for (const json::Value one : value.elements()) {
                if (one.index() <= node && node < one.node().next) {
                    value = one;
                    deeper = true;
                    break;
                }
            }
            continue;
        }
        for (const auto [key, member] : value.members()) {
            if (member.index() <= node && node < member.node().next) {
                element = type.find(key.string());
                type = element.type();
                if (element && type == schema::resource_base_type()) {
                    return {};
                }
                value = member;
                deeper = true;
                break;
            }
        }
    }
    return element;
}

/// The slow way: each parameter's whole expression, as R4 has it, by the evaluator.
class Naive {
  public:
    Naive() : writer_(kSeed, "http://example.org/fhir") {
        hooks_.resolve = [](std::string_view text) -> Result<std::optional<Item>> {
            const auto type = read_reference(text, "http://example.org/fhir").type;
            return type ? std::optional(Item::of_type(schema::Type(*type))) : std::nullopt;
        };
    }

    void extract(schema::SearchParameter parameter, json::Value resource, SearchEntries& entries) {
        entries.clear();
        writer_.begin(resource, entries);
        const auto expression = cache_.get(parameter.expression());
        ASSERT_TRUE(expression) << parameter.expression();
        fhirpath::Environment environment;
        environment.hooks = &hooks_;
        const Item input = Item::resource(resource);
        const auto items = evaluator_.evaluate(*expression, input, environment);
        ASSERT_TRUE(items) << parameter.id() << ": " << items.error().detail;
        const Columns columns(column_of(parameter.code()));
        const Use use{&columns, {}};
        for (const Item& item : *items) {
            if (item.kind() == Item::Kind::boolean) {
                writer_.write(ValueKind::token_boolean, item.as_boolean() ? "true" : "false",
                              {&use, 1}, {});
                continue;
            }
            ASSERT_TRUE(item.is_element()) << parameter.id();
            if (const json::Value value = item.value()) {
                writer_.write(value_kind(parameter.type(), item.type()), value, {&use, 1},
                              implied_system(definition_of(resource, input.type(), value.index())));
            }
        }
    }

  private:
    ValueWriter writer_;
    fhirpath::Hooks hooks_;
    fhirpath::ExpressionCache cache_{4096};
    fhirpath::Evaluator evaluator_;
};

template <typename T, typename Key>
auto keys(const std::vector<T>& values, const Key& key) {
    std::set<decltype(key(values.front()))> all;
    for (const T& value : values) {
        all.insert(key(value));
    }
    return all;
}

auto facts(const SearchEntries& entries) {
    return std::tuple(
        keys(entries.terms, [](Term term) { return term; }),
        keys(entries.intervals, [](const auto& i) { return std::tuple(i.column, i.low, i.high); }),
        keys(entries.links, [](const auto& l) { return std::tuple(l.column, l.target); }),
        keys(entries.texts,
             [&](const auto& t) { return std::tuple(t.column, std::string(entries.text(t))); }));
}

class Suite {
  public:
    void resource(json::Value resource, const std::string& file) {
        const auto type = find_resource_type(resource["resourceType"].string());
        ASSERT_TRUE(type) << file;
        ++resources;
        SearchEntries whole;
        SearchEntries naive_whole;
        extractor_.extract(*type, resource, whole);
        EXPECT_TRUE(std::is_sorted(whole.terms.begin(), whole.terms.end()));
        EXPECT_EQ(std::adjacent_find(whole.terms.begin(), whole.terms.end()), whole.terms.end());
        for (const Parameter& parameter : ParameterSet::standard()->of(*type)) {
            if (parameter.type == schema::SearchType::composite || parameter.expression.empty()) {
                continue;
            }
            const auto defined = schema::find_search_parameter(schema::Type(*type), parameter.code);
            SearchEntries one;
            SearchEntries naive;
            extractor_.extract(parameter, *type, resource, one);
            naive_.extract(defined, resource, naive);
            EXPECT_EQ(facts(one), facts(naive)) << file << ' ' << parameter.code;
            if (!one.terms.empty()) {
                ++found[std::string(resource_type_name(*type)) + "." + parameter.code];
            }
            if (parameter.code != "_id" && parameter.code != "_lastUpdated") {
                const auto offset = static_cast<std::uint32_t>(naive_whole.characters.size());
                naive_whole.characters += naive.characters;
                for (SearchEntries::Text text : naive.texts) {
                    text.begin += offset;
                    naive_whole.texts.push_back(text);
                }
                naive_whole.terms.insert(naive_whole.terms.end(), naive.terms.begin(),
                                         naive.terms.end());
                naive_whole.intervals.insert(naive_whole.intervals.end(), naive.intervals.begin(),
                                             naive.intervals.end());
                naive_whole.links.insert(naive_whole.links.end(), naive.links.begin(),
                                         naive.links.end());
            }
        }
        EXPECT_EQ(facts(whole), facts(naive_whole)) << file;
    }

    int resources = 0;
    std::map<std::string, int> found;

  private:
    Extractor extractor_{ParameterSet::standard(), kSeed, "http://example.org/fhir"};
    Naive naive_;
};

std::filesystem::path folder(const char* name) {
    const char* data = std::getenv("ANNALS_TEST_DATA");
    const std::filesystem::path path = data == nullptr ? "" : std::filesystem::path(data) / name;
    return data != nullptr && std::filesystem::exists(path) ? path : std::filesystem::path();
}

TEST(ExtractSuite, AgreesWithFhirPathOnTheOfficialExamples) {
    const auto data = folder("r4-official-dev");
    if (data.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no r4-official-dev";
    }
    Suite suite;
    json::Parser parser;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
        if (!entry.is_regular_file() || entry.path().extension() != ".json") {
            continue;
        }
        Result<json::Document> document = parser.parse(slurp(entry.path()));
        ASSERT_TRUE(document) << entry.path();
        suite.resource(document->root(), entry.path().filename().string());
    }
    std::printf(
        "extraction: %d examples, %zu parameters of %zu find something\n", suite.resources,
        suite.found.size(), [] {
            std::size_t all = 0;
            for (std::size_t type = 0; type < kResourceTypeCount; ++type) {
                all +=
                    ParameterSet::standard()->of(TypeId{static_cast<std::uint16_t>(type)}).size();
            }
            return all;
        }());
    EXPECT_GT(suite.resources, 500);
}

TEST(ExtractSuite, AgreesWithFhirPathOnSyntheasPatients) {
    const auto data = folder("synthea-2019-dev/SYNTHEA");
    if (data.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no synthea-2019-dev";
    }
    Suite suite;
    json::Parser parser;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(data)) {
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
        return std::filesystem::file_size(a) < std::filesystem::file_size(b);
    });
    files.resize(std::min<std::size_t>(files.size(), 8));
    for (const auto& file : files) {
        Result<json::Document> document = parser.parse(slurp(file));
        ASSERT_TRUE(document) << file;
        for (const json::Value entry : document->root()["entry"].elements()) {
            suite.resource(entry["resource"], file.filename().string());
        }
    }
    EXPECT_GT(suite.resources, 100);
}

}  // namespace
}  // namespace annals::core::search
