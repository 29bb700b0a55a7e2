#include "codec/json/resource.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace annals::json {
namespace {

class ResourceTest : public testing::Test {
  protected:
    Value parse(std::string_view text) {
        Result<Document> document = parser_.parse(text);
        EXPECT_TRUE(document) << text;
        documents_.push_back(std::move(*document));
        return documents_.back().root();
    }

    // The body, with VV and TT in place of what the store fills in.
    std::string body(std::string_view text, std::string_view id, const BodyPlan::Keep& keep = {},
                     const std::vector<Edit>& edits = {}) {
        const Result<ResourceFacts> facts = read_facts(parse(text));
        EXPECT_TRUE(facts) << text;
        return render(BodyPlan(*facts, id, keep, edits));
    }

    static std::string render(const BodyPlan& plan) {
        std::string out;
        for (const BodyPiece& piece : plan.pieces()) {
            out += piece.kind == BodyPiece::Kind::version   ? "VV"
                   : piece.kind == BodyPiece::Kind::instant ? "TT"
                                                            : piece.text;
        }
        return out;
    }

    std::string error(std::string_view text) {
        Result<ResourceFacts> facts = read_facts(parse(text));
        EXPECT_FALSE(facts) << text;
        return facts ? "none"
                     : std::to_string(static_cast<int>(facts.error().code)) + " " +
                           facts.error().expression;
    }

    static std::string code(Errc errc, const std::string& expression) {
        return std::to_string(static_cast<int>(errc)) + " " + expression;
    }

    Parser parser_;
    std::vector<Document> documents_;
};

using ResourceFactsTest = ResourceTest;
using BodyPlanTest = ResourceTest;
using ReferencesTest = ResourceTest;
using ExpressionTest = ResourceTest;

TEST_F(ResourceFactsTest, FindsIdAndMetaWhereverTheyStand) {
    const Value resource = parse(
        R"({"meta":{"profile":["p"],"lastUpdated":"2020-01-01T00:00:00Z","versionId":"7"},)"
        R"("contained":[{"resourceType":"Practitioner","id":"no"}],"id":"a","resourceType":"Patient"})");
    const Result<ResourceFacts> facts = read_facts(resource);
    ASSERT_TRUE(facts);
    EXPECT_EQ(resource_type_name(facts->type), "Patient");
    EXPECT_EQ(facts->id, "a");
    EXPECT_EQ(facts->version_id, "7");
    EXPECT_EQ(facts->last_updated, "2020-01-01T00:00:00Z");
    EXPECT_EQ(facts->meta.index(), resource["meta"].index());
    EXPECT_EQ(facts->resource.index(), resource.index());
}

TEST_F(ResourceFactsTest, LeavesOutWhatIsNotThere) {
    const Result<ResourceFacts> facts = read_facts(parse(R"({"resourceType":"\u0050atient"})"));
    ASSERT_TRUE(facts);
    EXPECT_EQ(resource_type_name(facts->type), "Patient");
    EXPECT_FALSE(facts->id || facts->meta || facts->version_id || facts->last_updated);
}

TEST_F(ResourceFactsTest, FindsIdBehindMetaAndTheMembersOfMetaInEitherOrder) {
    const Result<ResourceFacts> facts = read_facts(parse(
        R"({"resourceType":"Patient","meta":{"versionId":"7","lastUpdated":"2020-01-01T00:00:00Z"},"id":"a"})"));
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->id, "a");
    EXPECT_EQ(facts->version_id, "7");
    EXPECT_EQ(facts->last_updated, "2020-01-01T00:00:00Z");
}

TEST_F(ResourceFactsTest, NamesTheElementThatIsWrong) {
    EXPECT_EQ(error("[]"), code(Errc::structure, ""));
    EXPECT_EQ(error("null"), code(Errc::structure, ""));
    EXPECT_EQ(error("{}"), code(Errc::required, "resourceType"));
    EXPECT_EQ(error(R"({"resourceType":1})"), code(Errc::structure, "resourceType"));
    EXPECT_EQ(error(R"({"resourceType":"patient"})"), code(Errc::value, "resourceType"));
    EXPECT_EQ(error(R"({"resourceType":"DomainResource"})"), code(Errc::value, "resourceType"));
    const std::string open = R"({"resourceType":"Patient",)";
    EXPECT_EQ(error(open + R"("id":1})"), code(Errc::structure, "Patient.id"));
    EXPECT_EQ(error(open + R"("id":null})"), code(Errc::structure, "Patient.id"));
    EXPECT_EQ(error(open + R"("meta":null})"), code(Errc::structure, "Patient.meta"));
    EXPECT_EQ(error(open + R"("meta":[]})"), code(Errc::structure, "Patient.meta"));
    EXPECT_EQ(error(open + R"("meta":{"versionId":1}})"),
              code(Errc::structure, "Patient.meta.versionId"));
    EXPECT_EQ(error(open + R"("meta":{"lastUpdated":null}})"),
              code(Errc::structure, "Patient.meta.lastUpdated"));
}

TEST_F(BodyPlanTest, AddsIdAndMetaBehindResourceType) {
    EXPECT_EQ(
        body(R"({"resourceType":"Patient"})", "a"),
        R"({"resourceType":"Patient","id":"a","meta":{"versionId":"VV","lastUpdated":"TT"}})");
    EXPECT_EQ(body(R"({"active":true,"resourceType":"Patient","gender":"male"})", "a"),
              R"({"active":true,"resourceType":"Patient","id":"a",)"
              R"("meta":{"versionId":"VV","lastUpdated":"TT"},"gender":"male"})");
}

TEST_F(BodyPlanTest, KeepsIdWhereItStands) {
    EXPECT_EQ(body(R"({"resourceType":"Patient","active":true,"id":"a"})", "a"),
              R"({"resourceType":"Patient","active":true,"id":"a",)"
              R"("meta":{"versionId":"VV","lastUpdated":"TT"}})");
    EXPECT_EQ(
        body(R"({"id":"old","resourceType":"Patient"})", "new"),
        R"({"id":"new","meta":{"versionId":"VV","lastUpdated":"TT"},"resourceType":"Patient"})");
    EXPECT_EQ(
        body(R"({"id":"b","resourceType":"Patient","meta":{}})", "a"),
        R"({"id":"a","resourceType":"Patient","meta":{"versionId":"VV","lastUpdated":"TT"}})");
}

TEST_F(BodyPlanTest, FillsMetaWhereItStands) {
    const auto with_meta = [&](const std::string& meta) {
        const std::string open = R"({"resourceType":"Patient","id":"a","meta":)";
        const std::string close = R"(,"active":true})";
        const std::string out = body(open + meta + close, "a");
        EXPECT_TRUE(out.starts_with(open) && out.ends_with(close)) << out;
        return out.substr(open.size(), out.size() - open.size() - close.size());
    };
    EXPECT_EQ(with_meta(R"({})"), R"({"versionId":"VV","lastUpdated":"TT"})");
    EXPECT_EQ(with_meta(R"({"versionId":"3"})"), R"({"versionId":"VV","lastUpdated":"TT"})");
    EXPECT_EQ(with_meta(R"({"lastUpdated":"x"})"), R"({"versionId":"VV","lastUpdated":"TT"})");
    EXPECT_EQ(with_meta(R"({"lastUpdated":"x","versionId":"3"})"),
              R"({"lastUpdated":"TT","versionId":"VV"})");
    EXPECT_EQ(with_meta(R"({"profile":["p"]})"),
              R"({"versionId":"VV","lastUpdated":"TT","profile":["p"]})");
    EXPECT_EQ(with_meta(R"({"profile":["p"],"versionId":"3","tag":[]})"),
              R"({"profile":["p"],"versionId":"VV","lastUpdated":"TT","tag":[]})");
    EXPECT_EQ(with_meta(R"({"profile":["p"],"lastUpdated":"x","tag":[]})"),
              R"({"versionId":"VV","profile":["p"],"lastUpdated":"TT","tag":[]})");
    EXPECT_EQ(with_meta(R"({"versionId":"","source":"#","lastUpdated":""})"),
              R"({"versionId":"VV","source":"#","lastUpdated":"TT"})");
}

TEST_F(BodyPlanTest, TakesMetaBeforeResourceType) {
    EXPECT_EQ(
        body(R"({"meta":{"tag":[]},"resourceType":"Patient"})", "a"),
        R"({"meta":{"versionId":"VV","lastUpdated":"TT","tag":[]},"resourceType":"Patient","id":"a"})");
    EXPECT_EQ(
        body(R"({"meta":{},"id":"b","resourceType":"Patient"})", "a"),
        R"({"meta":{"versionId":"VV","lastUpdated":"TT"},"id":"a","resourceType":"Patient"})");
}

TEST_F(BodyPlanTest, WritesWhatIsKept) {
    const BodyPlan::Keep both{"7", "2020-01-01T00:00:00.5+01:00"};
    const std::string same =
        R"({"resourceType":"Patient","id":"a","meta":{"versionId":"7","lastUpdated":"2020-01-01T00:00:00.5+01:00"}})";
    EXPECT_EQ(body(R"({"resourceType":"Patient"})", "a", both), same);
    EXPECT_EQ(body(R"({"resourceType":"Patient","id":"b","meta":{"versionId":"6"}})", "a", both),
              same);
    EXPECT_EQ(body(same, "a", both), same);
    EXPECT_EQ(body(R"({"resourceType":"Patient","meta":{"lastUpdated":"x"}})", "a", {"7", {}}),
              R"({"resourceType":"Patient","id":"a","meta":{"versionId":"7","lastUpdated":"TT"}})");

    // Nothing changes, so there is a single run.
    const Result<ResourceFacts> facts = read_facts(parse(same));
    ASSERT_TRUE(facts);
    const BodyPlan plan(*facts, "a", both);
    ASSERT_EQ(plan.pieces().size(), 1U);
    EXPECT_EQ(plan.pieces().front().text, same);
}

TEST_F(BodyPlanTest, AppliesEditsBeforeBetweenAndAfter) {
    const std::string text =
        R"({"a":"1","resourceType":"Patient","b":"2","id":"x","c":"3","meta":{"source":"4"},"d":"5"})";
    std::vector<Edit> edits;
    for (const char c : {'1', '2', '3', '4', '5'}) {
        const auto at = static_cast<std::uint32_t>(text.find(std::string("\"") + c + "\""));
        edits.push_back({at, at + 3, std::string("[") + c + c + c + "]"});
    }
    EXPECT_EQ(body(text, "y", {}, edits),
              R"({"a":[111],"resourceType":"Patient","b":[222],"id":"y","c":[333],)"
              R"("meta":{"versionId":"VV","lastUpdated":"TT","source":[444]},"d":[555]})");
}

TEST_F(BodyPlanTest, WritesOneResourceOfABundleAlone) {
    const Value bundle = parse(
        R"({"resourceType":"Bundle","id":"b","entry":[{"resource":{"resourceType":"Patient","name":[{"id":"n"}]}}]})");
    const Value resource = *bundle["entry"].elements().begin();
    const Result<ResourceFacts> facts = read_facts(resource["resource"]);
    ASSERT_TRUE(facts);
    EXPECT_EQ(render(BodyPlan(*facts, "p", {})),
              R"({"resourceType":"Patient","id":"p","meta":{"versionId":"VV","lastUpdated":"TT"},)"
              R"("name":[{"id":"n"}]})");
}

TEST_F(ReferencesTest, AreFoundInTextOrder) {
    const Value resource = parse(R"({
        "resourceType": "Observation",
        "meta": {"profile": ["urn:uuid:0"], "source": "urn:uuid:0"},
        "implicitRules": "urn:uuid:0",
        "text": {"status": "generated", "div": "<div>1</div>"},
        "contained": [{"resourceType": "Patient", "text": {"div": "<div>2</div>"},
                       "link": [{"other": {"reference": "3"}}]}],
        "extension": [{"url": "urn:uuid:0", "valueReference": {"reference": "4"}},
                      {"url": "urn:uuid:0", "valueUri": "5"}, {"url": "urn:uuid:0", "valueUrl": "6"},
                      {"url": "urn:uuid:0", "valueOid": "urn:uuid:0"}, {"url": "urn:uuid:0", "valueUuid": "urn:uuid:0"},
                      {"url": "urn:uuid:0", "valueCanonical": "urn:uuid:0"},
                      {"url": "urn:uuid:0", "extension": [{"url": "urn:uuid:0", "valueString": "urn:uuid:0"}]},
                      {"url": "urn:uuid:0"}],
        "modifierExtension": [{"url": "urn:uuid:0"}],
        "list": [{"reference": 1, "valueUri": null, "url": ["urn:uuid:0"]}],
        "identifier": [{"system": "urn:uuid:0", "value": "urn:uuid:0"}],
        "subject": {"reference": "9", "type": "Patient", "display": "urn:uuid:0"},
        "instantiatesCanonical": "urn:uuid:0",
        "instantiatesUri": ["A", "B"],
        "photo": [{"contentType": "image/png", "url": "C", "title": "x"}],
        "policy": ["D"],
        "source": {"endpoint": "E"},
        "endpoint": [{"reference": "F"}],
        "content": {"attachment": {"url": "G", "_title": {"id": "t"}}},
        "coding": [{"system": "urn:uuid:0", "code": "urn:uuid:0"}],
        "request": {"method": "GET", "url": "urn:uuid:0"},
        "relatedArtifact": [{"type": "citation", "url": "I", "resource": "urn:uuid:0"}],
        "action": [{"documentation": [{"type": "documentation", "url": "J"}]}],
        "output": [{"valueRelatedArtifact": {"type": "citation", "url": "K"}}],
        "div": "urn:uuid:0",
        "reference": {"reference": "H"}
    })");
    std::vector<ReferenceSite> sites;
    find_references(resource, sites);
    std::string seen;
    for (const ReferenceSite& site : sites) {
        const std::string_view kinds[] = {"r", "u", "n"};
        seen += kinds[static_cast<std::size_t>(site.kind)];
        seen += site.value.string() + " ";
        EXPECT_EQ(site.path, site.value.index());
    }
    EXPECT_EQ(seen, "n<div>1</div> n<div>2</div> r3 r4 u5 u6 r9 uA uB uC uD uE rF uG uI uJ uK rH ");
}

TEST_F(ExpressionTest, NamesEveryPlace) {
    const Value resource = parse(
        R"({"resourceType":"Patient","name":[{"given":["a","b"]},{"family":"c"}],"x":{"y":1}})");
    const auto name = [&](Value value) { return expression_of(resource, value.index()); };
    EXPECT_EQ(name(resource), "Patient");
    EXPECT_EQ(name(resource["name"]), "Patient.name");
    const Value second = *++resource["name"].elements().begin();
    EXPECT_EQ(name(second), "Patient.name[1]");
    EXPECT_EQ(name(second["family"]), "Patient.name[1].family");
    EXPECT_EQ(name((*second.members().begin()).key), "Patient.name[1].family");
    EXPECT_EQ(name(*++(*resource["name"].elements().begin())["given"].elements().begin()),
              "Patient.name[0].given[1]");
    EXPECT_EQ(name(resource["x"]["y"]), "Patient.x.y");
    for (const Member member : resource.members()) {
        EXPECT_EQ(name(member.key), "Patient." + member.key.string());
    }

    const Value bundle = parse(
        R"({"resourceType":"Bundle","entry":[{},{"resource":{"resourceType":"Patient","id":"a"}}]})");
    const Value entry = *++bundle["entry"].elements().begin();
    EXPECT_EQ(expression_of(bundle, entry["resource"]["id"].index()),
              "Bundle.entry[1].resource.id");
    EXPECT_EQ(expression_of(entry["resource"], entry["resource"]["id"].index()), "Patient.id");
    EXPECT_EQ(expression_of(parse("{\"a\":[1]}"), 3), "a[0]");
}

TEST_F(ResourceFactsTest, ResolvesEscapes) {
    Result<ResourceFacts> facts = read_facts(parse(
        R"({"resourceType":"Patient","id":"\u0061","meta":{"versionId":"\u0037","lastUpdated":"2020-01-01T00:00:00\u002B02:00"}})"));
    ASSERT_TRUE(facts);
    const ResourceFacts moved = *std::move(facts);
    EXPECT_EQ(moved.id, "a");
    EXPECT_EQ(moved.version_id, "7");
    EXPECT_EQ(moved.last_updated, "2020-01-01T00:00:00+02:00");
    const BodyPlan plan(moved, "a", {.version = "7", .last_updated = moved.last_updated});
    std::string text;
    for (const BodyPiece& piece : plan.pieces()) {
        text += piece.text;
    }
    EXPECT_EQ(
        text,
        R"({"resourceType":"Patient","id":"a","meta":{"versionId":"7","lastUpdated":"2020-01-01T00:00:00+02:00"}})");
}

TEST_F(ResourceFactsTest, ResolvesEscapesInAnyOneOfThem) {
    const auto told = [&](std::string_view text) {
        const Result<ResourceFacts> facts = read_facts(parse(text));
        EXPECT_TRUE(facts) << text;
        return std::string(facts->id.value_or("-")) + ' ' +
               std::string(facts->version_id.value_or("-")) + ' ' +
               std::string(facts->last_updated.value_or("-"));
    };
    EXPECT_EQ(told(R"({"resourceType":"Patient","id":"\u0061"})"), "a - -");
    EXPECT_EQ(told(R"({"resourceType":"Patient","meta":{"versionId":"\u0037"}})"), "- 7 -");
    EXPECT_EQ(told(R"({"resourceType":"Patient","meta":{"lastUpdated":"\u0032"}})"), "- - 2");
    EXPECT_EQ(
        told(
            R"({"resourceTyp\u0065":"Patient","i\u0064":"a","m\u0065ta":{"v\u0065rsionId":"7","lastUpdat\u0065d":"2"}})"),
        "a 7 2");
}

}  // namespace
}  // namespace annals::json
