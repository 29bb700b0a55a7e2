// The official FHIRPath tests for R4, and the expressions of R4's own definitions, in the folder that ANNALS_TEST_DATA names.

#include "codec/fhirpath/fhirpath.h"
#include "tests/support/files.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace annals::fhirpath {
namespace {

// The suite names types as FHIR does, those of System, too.
std::string suite_type(const Item& item) {
    switch (item.kind()) {
        case Item::Kind::boolean:
            return "boolean";
        case Item::Kind::integer:
            return "integer";
        case Item::Kind::decimal:
            return "decimal";
        case Item::Kind::string:
            return "string";
        case Item::Kind::date:
            return "date";
        case Item::Kind::date_time:
            return "dateTime";
        case Item::Kind::time:
            return "time";
        case Item::Kind::quantity:
            return "Quantity";
        default:
            return type_name(item);
    }
}

std::string without_at(std::string value) {
    if (value.starts_with("@T")) {
        return value.substr(2);
    }
    return value.starts_with("@") ? value.substr(1) : value;
}

class Suite {
  public:
    explicit Suite(std::filesystem::path folder) : folder_(std::move(folder)) {}

    json::Value input(std::string name) {
        if (name.ends_with(".xml")) {
            name.replace(name.size() - 4, 4, ".json");
        }
        auto found = inputs_.find(name);
        if (found == inputs_.end()) {
            Result<json::Document> document =
                parser_.parse(test::read_whole_file(folder_ / "input" / name));
            EXPECT_TRUE(document) << name;
            found = inputs_.emplace(name, std::move(*document)).first;
        }
        return found->second.root();
    }

    json::Parser& parser() { return parser_; }

  private:
    std::filesystem::path folder_;
    json::Parser parser_;
    std::map<std::string, json::Document> inputs_;
};

// Empty if the outcome is as the suite says, otherwise what it was.
std::string run(json::Value test, const Item& input, Evaluator& evaluator) {
    const std::string text = test["expression"].string();
    const std::string invalid = test["invalid"].string();
    const bool may_answer = invalid.empty() || test["outputs"].size() > 0;
    Result<Expression> expression = Expression::parse(text);
    if (!expression) {
        return invalid.empty() ? "refused: " + expression.error().detail : "";
    }
    if (invalid == "syntax") {
        return "parsed, but should not";
    }
    if (test["mode"].equals("strict") || invalid == "semantic") {
        if (!expression->check(input.type())) {
            return "";
        }
    } else if (const Result<void> checked = expression->check(input.type());
               invalid.empty() && !checked) {
        return "check: " + checked.error().detail;
    }
    Environment environment;
    environment.strict_as = true;
    const auto items = evaluator.evaluate(*expression, input, environment);
    if (!items) {
        return invalid.empty() ? "error: " + items.error().detail : "";
    }
    if (!may_answer) {
        return "no error, but " + std::to_string(items->size()) + " items";
    }
    std::vector<std::string> found;
    for (const Item& item : *items) {
        found.push_back(suite_type(item) + " " + to_text(item));
    }
    if (test["predicate"].raw() == "true") {
        found = {items->empty() ? "boolean false" : "boolean true"};
    }
    std::vector<std::string> expected;
    std::size_t i = 0;
    for (const json::Value output : test["outputs"].elements()) {
        const std::string value = without_at(output["value"].string());
        // If no type is named, any will do. -0.0 counts as 0.0.
        const std::string type = !output["type"].string().empty() ? output["type"].string()
                                 : i < found.size() ? found[i].substr(0, found[i].find(' '))
                                                    : "?";
        expected.push_back(type + " " + (value == "-0.0" ? "0.0" : value));
        ++i;
    }
    if (test["ordered"].equals("false")) {
        std::sort(found.begin(), found.end());
        std::sort(expected.begin(), expected.end());
    }
    if (found == expected) {
        return "";
    }
    std::string difference = "got";
    for (const std::string& one : found) {
        difference += " [" + one + "]";
    }
    difference += ", expected";
    for (const std::string& one : expected) {
        difference += " [" + one + "]";
    }
    return difference;
}

TEST(FhirPathSuite, GivesWhatTheOfficialTestsSay) {
    const std::filesystem::path folder = test::test_data("fhirpath-r4");
    if (folder.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no fhirpath-r4";
    }
    Suite suite(folder);
    Evaluator evaluator;
    std::ifstream lines(folder / "tests.ndjson");
    std::string line;
    int passed = 0;
    while (std::getline(lines, line)) {
        Result<json::Document> document = suite.parser().parse(line);
        ASSERT_TRUE(document);
        const json::Value test = document->root();
        const json::Value file = test["inputfile"];
        const Item input = file ? Item::resource(suite.input(file.string())) : Item();
        const std::string difference = run(test, input, evaluator);
        EXPECT_EQ(difference, "") << test["name"].string() << ": " << test["expression"].string();
        passed += difference.empty() ? 1 : 0;
    }
    EXPECT_EQ(passed, 935);
}

TEST(FhirPathSuite, ParsesEveryInvariantAndSearchParameterOfR4) {
    std::set<std::string> texts;
    for (const schema::Type type : schema::types()) {
        for (const schema::Invariant rule : type.invariants()) {
            texts.emplace(rule.expression());
        }
        for (const schema::Element element : type.elements()) {
            for (const schema::Invariant rule : element.invariants()) {
                texts.emplace(rule.expression());
            }
        }
    }
    std::size_t searches = 0;
    for (const schema::SearchParameter parameter : schema::search_parameters()) {
        if (!parameter.expression().empty()) {
            texts.emplace(parameter.expression());
            ++searches;
        }
        for (std::size_t i = 0; i < parameter.component_count(); ++i) {
            texts.emplace(parameter.component(i).expression);
        }
    }
    EXPECT_GT(searches, 1300U);
    for (const std::string& text : texts) {
        const Result<Expression> parsed = Expression::parse(text);
        EXPECT_TRUE(parsed) << text << "\n  " << (parsed ? "" : parsed.error().detail);
    }
    std::printf("FHIRPath: %zu expressions of R4 parse\n", texts.size());
}

// Evaluates the invariants of every element of a resource.
class Walk {
  public:
    void resource(json::Value value, const Item* root) {
        const Item item = Item::resource(value);
        if (!item.type()) {
            return;
        }
        environment_.resource = item;
        environment_.root_resource = root != nullptr ? *root : item;
        element(item, schema::Element());
    }

    int evaluated = 0;
    std::map<std::string, int> errors;
    std::map<std::string, int> broken;
    std::string file;

  private:
    void element(const Item& item, schema::Element definition) {
        for (const schema::Invariant rule : item.type().invariants()) {
            evaluate(rule, item);
        }
        if (definition) {
            for (const schema::Invariant rule : definition.invariants()) {
                evaluate(rule, item);
            }
        }
        const json::Value object = item.value().is_object() ? item.value() : item.sibling();
        for (const auto [key, value] : object.members()) {
            std::string name(key.raw_string());
            if (name.starts_with("_") && object[name.substr(1)]) {
                continue;
            }
            name = name.starts_with("_") ? name.substr(1) : name;
            const schema::Element member = item.type().find(name);
            if (!member) {
                continue;
            }
            const json::Value plain = object[name];
            const json::Value beside = object["_" + name];
            const std::size_t count =
                plain.is_array() || beside.is_array() ? std::max(plain.size(), beside.size()) : 1;
            for (std::size_t i = 0; i < count; ++i) {
                member_of(member, object, key, nth(plain, i), nth(beside, i), i);
            }
        }
    }

    static json::Value nth(json::Value value, std::size_t i) {
        if (!value.is_array()) {
            return value;
        }
        for (const json::Value element : value.elements()) {
            if (i-- == 0) {
                return element.is(json::Kind::null) ? json::Value() : element;
            }
        }
        return {};
    }

    void member_of(schema::Element definition, json::Value parent, json::Value key,
                   json::Value value, json::Value sibling, std::size_t i) {
        if (!value && !sibling) {
            return;
        }
        if (definition.type() == schema::resource_base_type()) {
            const std::optional<Item> resource_before = environment_.resource;
            const std::optional<Item> root_before = environment_.root_resource;
            const bool contained = definition.name() == "contained";
            const Item outer = *environment_.root_resource;
            resource(value, contained ? &outer : nullptr);
            environment_.resource = resource_before;
            environment_.root_resource = root_before;
            return;
        }
        Place place;
        place.tree = &parent.tree();
        place.value = value ? value.index() : Place::kNone;
        place.sibling = sibling ? sibling.index() : Place::kNone;
        place.parent = parent.index();
        place.key = key.index();
        place.index = static_cast<std::uint32_t>(i);
        element(Item::element(place, definition.type()), definition);
    }

    void evaluate(schema::Invariant rule, const Item& item) {
        const Result<Expression> expression = cache_.get(rule.expression());
        ASSERT_TRUE(expression);
        const auto outcome = evaluator_.evaluate_boolean(*expression, item, environment_);
        ++evaluated;
        const std::string key(rule.key());
        if (!outcome) {
            ++errors[key + ": " + outcome.error().detail];
        } else if (rule.is_error() && outcome->has_value() && !**outcome) {
            ++broken[key + " in " + file];
        }
    }

    Environment environment_;
    Evaluator evaluator_;
    ExpressionCache cache_;
};

TEST(FhirPathSuite, EvaluatesTheInvariantsOfTheOfficialExamples) {
    const auto files = test::test_data_files("r4-official-dev");
    if (files.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no r4-official-dev";
    }
    json::Parser parser;
    Walk walk;
    for (const auto& file : files) {
        Result<json::Document> document = parser.parse(test::read_whole_file(file));
        ASSERT_TRUE(document) << file;
        walk.file = file.filename();
        walk.resource(document->root(), nullptr);
    }
    std::printf("FHIRPath: %d invariants evaluated on %zu examples, %zu don't hold\n",
                walk.evaluated, files.size(), walk.broken.size());
    for (const auto& [what, count] : walk.errors) {
        ADD_FAILURE() << count << " times " << what;
    }
    // Two examples have narratives that txt-1 forbids.
    for (const auto& [what, count] : walk.broken) {
        EXPECT_TRUE(what.starts_with("txt-")) << what << ", " << count << " times";
    }
}

}  // namespace
}  // namespace annals::fhirpath
