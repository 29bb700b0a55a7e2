// HL7's examples and Synthea's patients, in the folder that ANNALS_TEST_DATA names:
// the walk extracts what FHIRPath says of each parameter's whole expression.

#include "codec/fhirpath/fhirpath.h"
#include "codec/json/document.h"
#include "codec/schema/schema.h"
#include "core/search/canonical_links.h"
#include "core/search/container.h"
#include "core/search/extract.h"
#include "core/search/layout.h"
#include "core/search/values.h"
#include "tests/support/files.h"
#include "tests/support/search_parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace annals::core::search {
namespace {

using fhirpath::Item;
using schema::SearchType;
using storage::SearchEntries;

constexpr std::uint64_t kKeySeed = 42;

/// The definition of the element at `node`, by the names of the members that lead there; none inside of another resource.
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

/// The slow way: evaluates each parameter's whole expression, as in R4.
class Naive {
  public:
    Naive() : writer_(kKeySeed, "http://example.org/fhir", nullptr) {
        hooks_.resolve = [](std::string_view text) -> Result<std::optional<Item>> {
            const auto type = read_reference(text, "http://example.org/fhir").type;
            return type ? std::optional(Item::of_type(schema::Type(*type))) : std::nullopt;
        };
    }

    void extract(schema::SearchParameter parameter, json::Value resource, SearchEntries& entries) {
        entries.clear();
        write(parameter.expression(), parameter.type(), Columns(column_of(parameter.code())),
              Item::resource(resource), resource, entries);
    }

    /// What the elements of a composite have in common: each code of the key with each value.
    void extract(const Parameter& composite, std::size_t key_index, json::Value resource,
                 SearchEntries& entries) {
        entries.clear();
        const Parameter::Component& key = composite.components[key_index];
        const Parameter::Component& other = composite.components[1 - key_index];
        const Columns columns(composite.column);
        for (const Item& element :
             evaluate(composite.expression, Item::resource(resource), resource)) {
            SearchEntries keys;
            SearchEntries values;
            write(key.expression, SearchType::token, columns, element, resource, keys);
            write(other.expression, other.parameter->type, columns, element, resource, values);
            if (keys.terms.empty() || values.terms.empty()) {
                continue;
            }
            entries.terms.push_back(columns.present);
            for (const Item& value : evaluate(key.expression, element, resource)) {
                for (const auto& [system, code] : codes_of(value, resource)) {
                    pair(columns, system, code, values, entries);
                }
            }
        }
    }

  private:
    std::vector<Item> evaluate(std::string_view text, const Item& context, json::Value resource) {
        const auto expression = cache_.get(text);
        EXPECT_TRUE(expression) << text;
        fhirpath::Environment environment;
        environment.resource = Item::resource(resource);
        environment.hooks = &hooks_;
        const auto items = evaluator_.evaluate(*expression, context, environment);
        EXPECT_TRUE(items) << text;
        return items ? std::vector<Item>(items->begin(), items->end()) : std::vector<Item>();
    }

    void write(std::string_view expression, SearchType type, const Columns& columns,
               const Item& context, json::Value resource, SearchEntries& entries) {
        const std::vector<Item> items = evaluate(expression, context, resource);
        Container container(resource);
        writer_.begin(container, entries);
        const Use use{&columns, {}};
        for (const Item& item : items) {
            if (item.kind() == Item::Kind::boolean) {
                writer_.write(ValueKind::token_boolean, item.as_boolean() ? "true" : "false",
                              {&use, 1}, {});
                continue;
            }
            ASSERT_TRUE(item.is_element()) << expression;
            if (const json::Value value = item.value()) {
                writer_.write(value_kind(type, item.type()), value, {&use, 1},
                              implied(resource, value));
            }
        }
    }

    static std::string_view implied(json::Value resource, json::Value value) {
        return implied_system(
            definition_of(resource, Item::resource(resource).type(), value.index()));
    }

    using Codes = std::vector<std::pair<std::string, std::string>>;

    static Codes codes_of(const Item& item, json::Value resource) {
        Codes codes;
        const json::Value value = item.value();
        const auto add = [&](json::Value coding) {
            if (!coding["code"].string().empty()) {
                codes.emplace_back(coding["system"].string(), coding["code"].string());
            }
        };
        if (value.is_string()) {
            codes.emplace_back("", value.string());
            codes.emplace_back(implied(resource, value), value.string());
        } else if (value["coding"].is_array()) {
            for (const json::Value coding : value["coding"].elements()) {
                add(coding);
            }
        } else {
            add(value);
        }
        return codes;
    }

    static void pair(const Columns& columns, const std::string& system, const std::string& code,
                     const SearchEntries& values, SearchEntries& entries) {
        const Column column = columns.column;
        for (const Term value : values.terms) {
            if (value != columns.present) {
                entries.terms.push_back(paired(token(column, code), value));
                entries.terms.push_back(paired(token(column, system, code), value));
            }
        }
        const std::string key = code + '\x1F' + system + '\x1F';
        for (const SearchEntries::Interval& interval : values.intervals) {
            std::string unit = key;
            for (const SearchEntries::Text& text : values.texts) {
                const std::string own(values.text(text));
                if (interval.column == beside(column, "=" + own)) {
                    unit = key + own;
                }
            }
            entries.add_text(columns.units, unit);
            entries.intervals.push_back({beside(column, "=" + unit), interval.low, interval.high});
        }
        for (const SearchEntries::Text& text : values.texts) {
            if (text.column == column) {
                entries.add_text(column, key + std::string(values.text(text)));
                entries.add_text(column, code + '\x1E' + std::string(values.text(text)));
            }
        }
    }

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
            const bool composite = parameter.type == schema::SearchType::composite;
            const Layout& layout = layout_of(ParameterSet::standard(), *type, parameter);
            if (composite ? !layout.composite : parameter.expression.empty()) {
                continue;
            }
            SearchEntries naive;
            if (composite) {
                naive_.extract(parameter, layout.composite->key, resource, naive);
            } else {
                const auto defined =
                    test::find_search_parameter(schema::Type(*type), parameter.code);
                SearchEntries one;
                extractor_.extract(parameter, *type, resource, one);
                naive_.extract(defined, resource, naive);
                EXPECT_EQ(facts(one), facts(naive)) << file << ' ' << parameter.code;
            }
            if (!naive.terms.empty()) {
                ++found[std::string(resource_type_name(*type)) + "." + parameter.code];
            }
            if (layout.parts.empty() && parameter.code != "_id" &&
                parameter.code != "_lastUpdated") {
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
        append_names(resource, kKeySeed, naive_whole);
        EXPECT_EQ(facts(whole), facts(naive_whole)) << file;
    }

    int resources = 0;
    std::map<std::string, int> found;

  private:
    Extractor extractor_{ParameterSet::standard(), kKeySeed, "http://example.org/fhir"};
    Naive naive_;
};

TEST(ExtractSuite, AgreesWithFhirPathOnTheOfficialExamples) {
    const auto files = test::test_data_files("r4-official-dev");
    if (files.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no r4-official-dev";
    }
    Suite suite;
    json::Parser parser;
    for (const auto& file : files) {
        Result<json::Document> document = parser.parse(test::read_whole_file(file));
        ASSERT_TRUE(document) << file;
        suite.resource(document->root(), file.filename().string());
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
    auto files = test::test_data_files("synthea-2019-dev/SYNTHEA");
    if (files.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no synthea-2019-dev";
    }
    Suite suite;
    json::Parser parser;
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
        return std::filesystem::file_size(a) < std::filesystem::file_size(b);
    });
    files.resize(std::min<std::size_t>(files.size(), 8));
    for (const auto& file : files) {
        Result<json::Document> document = parser.parse(test::read_whole_file(file));
        ASSERT_TRUE(document) << file;
        for (const json::Value entry : document->root()["entry"].elements()) {
            suite.resource(entry["resource"], file.filename().string());
        }
    }
    EXPECT_GT(suite.resources, 100);
}

}  // namespace
}  // namespace annals::core::search
