#include "core/search/query.h"

#include "tests/core/search/corpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace annals::core::search {
namespace {

/// Two patients, what was done for them, and by whom.
void fill(Corpus& corpus) {
    corpus.add(R"({"resourceType":"Organization","id":"good","name":"Good Health"})");
    corpus.add(R"({"resourceType":"Organization","id":"best","name":"Best Care",
        "partOf":{"reference":"Organization/good"}})");
    corpus.add(R"({"resourceType":"Practitioner","id":"joe","name":[{"family":"Joe"}]})");
    corpus.add(R"({"resourceType":"Patient","id":"peter","name":[{"family":"Peter"}],
        "birthDate":"1970-01-01","generalPractitioner":[{"reference":"Practitioner/joe"}],
        "managingOrganization":{"reference":"Organization/best"},
        "meta":{"tag":[{"system":"http://t","code":"x"}],"profile":["http://p/A|1"],
                "security":[{"code":"R"}],"source":"http://src/here"},
        "text":{"status":"generated","div":"<div>A <b>B&#233;n&amp;Co</b> heart attack</div>"}})");
    corpus.add(R"({"resourceType":"Patient","id":"paul","name":[{"family":"Paul"}],
        "text":{"status":"generated","div":"<div>attack of the heart</div>"}})");
    corpus.add(R"({"resourceType":"Encounter","id":"e1","status":"finished","class":{"code":"AMB"},
        "subject":{"reference":"Patient/peter"}})");
    corpus.add(R"({"resourceType":"Observation","id":"o1","status":"final",
        "code":{"coding":[{"system":"http://loinc.org","code":"1234-5"}]},
        "subject":{"reference":"Patient/peter"},"encounter":{"reference":"Encounter/e1"}})");
    corpus.add(R"({"resourceType":"Observation","id":"o2","status":"final",
        "code":{"coding":[{"system":"http://loinc.org","code":"9999-9"}]},
        "subject":{"reference":"Patient/paul"}})");
    corpus.add(R"({"resourceType":"Provenance","id":"audit","recorded":"2020-01-01T00:00:00Z",
        "target":[{"reference":"Observation/o1"}],
        "agent":[{"who":{"reference":"Practitioner/joe"}}]})");
    corpus.add(R"({"resourceType":"Group","id":"102","type":"person","actual":true,
        "member":[{"entity":{"reference":"Patient/peter"}}]})");
    corpus.add(R"({"resourceType":"List","id":"42","status":"current","mode":"working","entry":[
        {"item":{"reference":"Patient/peter"}},{"item":{"reference":"Observation/o2"}},
        {"deleted":true,"item":{"reference":"Patient/paul"}}]})");
}

TEST(Query, FollowsChainsOfAnyDepth) {
    Corpus corpus;
    fill(corpus);
    check(
        corpus, "Observation",
        {{"subject:Patient.name=peter", "o1"},
         {"subject.name=peter", "o1"},
         {"patient.name=paul", "o2"},
         {"patient.name:exact=Paul", "o2"},
         {"patient.name:missing=true", ""},
         {"patient.birthdate=lt1980", "o1"},
         {"subject:Patient.general-practitioner.name=joe", "o1"},
         {"subject:Patient.general-practitioner:Practitioner.name=joe", "o1"},
         {"patient.organization.partof.name=good", "o1"},
         {"patient.organization.name=good", ""},
         {"subject._id=paul", "o2"},
         {"subject._id:missing=true", ""},
         {"subject._id:missing=false", "o1 o2"},
         {"subject._id:missing=maybe",
          "invalid: search parameter '_id:missing': true or false is needed"},
         {"subject._id:exact=true",
          "not-supported: search parameter '_id:exact': the modifier ':exact' is not "
          "supported"},
         {"subject:Nothing.name=x",
          "not-supported: search parameter 'subject:Nothing.name': the modifier ':Nothing' is not "
          "supported"},
         {"subject:.name=x",
          "not-supported: search parameter 'subject:.name': the modifier ':' is not supported"},
         {"status:=x",
          "not-supported: search parameter 'status:': the modifier ':' is not supported"},
         {"subject:Patient._tag=http://t|x", "o1"},
         {"subject.name=peter,paul", "o1 o2"},
         {"subject.name=peter&subject.name=paul", ""},
         {"encounter.patient.name=peter", "o1"},
         {"subject:Patient.nothing=x",
          "invalid: search parameter 'subject:Patient.nothing' is not known for Observation"},
         {"code.name=x", "invalid: search parameter 'code.name': only references can be followed"},
         {"subject:Encounter.status=x",
          "invalid: search parameter 'subject:Encounter.status': it does not lead to Encounter"},
         {"subject:Patient.birthdate=x",
          "invalid: search parameter 'birthdate': a date, a date with a time, or a year or month "
          "is needed"}});
}

TEST(Query, FollowsReferencesToTheTypesThatTakeWhatIsAsked) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"QuestionnaireResponse","id":"answers","status":"completed",
        "source":{"reference":"Patient/p"}})");
    corpus.add(R"({"resourceType":"List","id":"list","status":"current","mode":"working",
        "entry":[{"item":{"reference":"QuestionnaireResponse/answers"}}]})");
    // A DocumentManifest's source is a uri, which doesn't have this modifier.
    check(corpus, "List", {{"item.source:Patient=p", "list"}, {"item.source:Patient=q", ""}});
}

TEST(Query, FollowsReferencesIntoWhatIsContained) {
    Corpus corpus;
    fill(corpus);
    corpus.add(R"({"resourceType":"Observation","id":"inner","status":"final","code":{"text":"c"},
        "subject":{"reference":"#p"},"performer":[{"reference":"#doc"}],"contained":[
        {"resourceType":"Patient","id":"p","name":[{"family":"Inner"}],"gender":"male",
         "generalPractitioner":[{"reference":"#doc"},{"reference":"Practitioner/joe"}]},
        {"resourceType":"Patient","id":"unused","name":[{"family":"Unused"}]},
        {"resourceType":"Practitioner","id":"doc","name":[{"family":"Who"}]}]})");
    corpus.add(R"({"resourceType":"QuestionnaireResponse","id":"form","status":"completed",
        "questionnaire":"#q","contained":[{"resourceType":"Questionnaire","id":"q","status":"draft",
        "title":"Form"}]})");
    check(corpus, "Observation",
          {{"subject.name=inner", "inner"},
           {"subject:Patient.name=inner,peter", "o1 inner"},
           {"patient.name=inner", "inner"},
           {"patient.gender:not=female", "o1 o2 inner"},
           {"patient.name:missing=false", "o1 o2 inner"},
           {"patient.birthdate:missing=true", "o2 inner"},
           {"subject.name=unused", ""},
           {"subject:Group.code=x", ""},
           {"subject._id=p", ""},
           {"patient._has:Group:member:_id=102", "o1"},
           {"patient.general-practitioner.name=who", "inner"},
           {"patient.general-practitioner.name=joe", "o1 inner"},
           {"patient.general-practitioner=Practitioner/joe", "o1 inner"},
           {"_filter=subject.name eq inner", "inner"},
           {"_filter=subject[gender eq male].name co nn", "inner"}});
    check(corpus, "QuestionnaireResponse", {{"questionnaire.title=form", "form"}});
}

TEST(Query, LooksOnceAtWhatIsContainedHoweverManyReferToIt) {
    // It used to be extracted for each of them.
    const auto time = [](int patients) {
        std::string text =
            R"({"resourceType":"Observation","id":"o","status":"final","code":{"text":"c"},"contained":[
                {"resourceType":"Organization","id":"org","alias":["x")";
        for (int i = 0; i < 20'000; ++i) {
            text += fmt::format(R"(,"alias {}")", i);
        }
        std::string focus;
        text += "]}";
        for (int i = 0; i < patients; ++i) {
            text += fmt::format(
                R"(,{{"resourceType":"Patient","id":"p{}","managingOrganization":{{"reference":"#org"}}}})",
                i);
            focus += fmt::format(R"({}{{"reference":"#p{}"}})", i == 0 ? "" : ",", i);
        }
        Corpus corpus;
        corpus.add(text + "],\"focus\":[" + focus + "]}");
        EXPECT_EQ(corpus.ask("Observation", "focus:Patient.organization.name=alias 19999"), "o");
        const std::clock_t begin = std::clock();
        EXPECT_EQ(corpus.ask("Observation", "focus:Patient.organization.name=none"), "");
        return std::clock() - begin;
    };
    const std::clock_t usual = time(1);
    EXPECT_LT(time(100), 30 * usual);
}

TEST(Query, FollowsADocumentToItsCompositionAndAMessageToItsHeader) {
    Corpus corpus;
    fill(corpus);
    corpus.add(R"({"resourceType":"Bundle","id":"doc","type":"document","entry":[
        {"resource":{"resourceType":"Composition","id":"c","title":"Discharge",
         "subject":{"reference":"Patient/peter"},"author":[{"reference":"#me"}],
         "contained":[{"resourceType":"Practitioner","id":"me","name":[{"family":"Me"}]}]}},
        {"resource":{"resourceType":"Composition","id":"d","title":"Other"}}]})");
    corpus.add(R"({"resourceType":"Bundle","id":"sent","type":"message","entry":[
        {"resource":{"resourceType":"MessageHeader","eventUri":"http://e/1"}}]})");
    corpus.add(R"({"resourceType":"Bundle","id":"empty","type":"document"})");
    check(corpus, "Bundle",
          {{"composition.title=discharge", "doc"},
           {"composition.title=other", ""},
           {"composition.patient.name=peter", "doc"},
           {"composition.author:Practitioner.name=me", "doc"},
           {"composition.title:missing=true", ""},
           {"message.event=http://e/1", "sent"},
           {"composition=c", "doc"}});
}

TEST(Query, FollowsReferencesBackwards) {
    Corpus corpus;
    fill(corpus);
    check(
        corpus, "Patient",
        {{"_has:Observation:patient:code=1234-5", "peter"},
         {"_has:Observation:patient:code=1234-5,9999-9", "peter paul"},
         {"_has:Observation:subject:_has:Provenance:target:agent=Practitioner/joe", "peter"},
         {"_has:Observation:patient:encounter.status=finished", "peter"},
         {"_has:Group:member:_id=102", "peter"},
         {"general-practitioner.name=joe&_has:Observation:patient:code=1234-5", "peter"},
         {"_has:Observation:patient:code:not=1234-5", "paul"},
         {"_has:Observation:patient:nothing=1",
          "invalid: search parameter '_has:Observation:patient:nothing' is not known for Patient"},
         {"_has:Observation:code:status=1",
          "invalid: search parameter '_has:Observation:code:status': 'code' of Observation does "
          "not lead to Patient"},
         {"_has:Nothing:patient:code=1",
          "invalid: search parameter '_has:Nothing:patient:code': 'Nothing' is not a resource "
          "type"},
         {"_has:Observation:nothing:status=1",
          "invalid: search parameter '_has:Observation:nothing:status': 'nothing' of Observation "
          "does not lead to Patient"},
         {"_has:Observation=1",
          "invalid: search parameter '_has:Observation': _has:Type:reference:parameter is needed"},
         {"_has:Observation:patient=1",
          "invalid: search parameter '_has:Observation:patient': _has:Type:reference:parameter is "
          "needed"}});
    check(corpus, "Encounter", {{"patient._has:Group:member:_id=102", "e1"}});
}

TEST(Query, AnswersWhatEveryTypeCanBeAskedFor) {
    Corpus corpus;
    fill(corpus);
    check(corpus, "Patient",
          {{"_id=peter", "peter"},
           {"_id=peter,paul,other", "peter paul"},
           {"_id:not=peter", "paul"},
           {"_id=a_b", "invalid: search parameter '_id': an id has 1 to 64 of A-Z a-z 0-9 - ."},
           {"_tag=http://t|x", "peter"},
           {"_tag:not=x", "paul"},
           {"_security=R", "peter"},
           {"_profile=http://p/A", "peter"},
           {"_profile=http://p/A|1", "peter"},
           {"_profile=http://p/A|2", ""},
           {"_profile:below=http://p/", "peter"},
           {"_source=http://src/here", "peter"},
           {"_source:below=http://src/", "peter"},
           {"_source:above=http://src/here/there", "peter"},
           {"_list=42", "peter"},
           {"_list=List/42", "peter"},
           {"_list=43", ""},
           {"_list=$current-problems",
            "not-supported: _list: the functional list '$current-problems' is not supported"},
           {"_query=mine", "not-supported: _query: the query 'mine' does not exist"},
           {"_lastUpdated:missing=true", ""},
           {"_tag:text=x", ""}});
    check(corpus, "Observation", {{"_list=42", "o2"}});
}

TEST(Query, SearchesSeveralTypesByWhatTheyHaveInCommon) {
    Corpus corpus;
    fill(corpus);
    check(corpus, "",
          {{"_id=peter,o1,102", "peter o1 102"},
           {"_type=Patient,Observation&_id=peter,o1,102", "peter o1"},
           {"_type=Patient&name=paul", "paul"},
           {"_type=Patient,Practitioner&name=joe,paul", "joe paul"},
           {"_type=Patient&_type=Patient,Group", "peter paul"},
           {"_type=Nothing", "invalid: _type: 'Nothing' is not a resource type"},
           {"_type:not=Patient",
            "not-supported: search parameter '_type:not': the modifier ':not' is not supported"},
           {"_type=Patient,Observation&birthdate=1970",
            "invalid: search parameter 'birthdate' is not known for all searched types"}});
    EXPECT_EQ(corpus.parse("", "")->types.size(), kResourceTypeCount);
    EXPECT_EQ(corpus.parse("", "_type=Patient,Group")->types.size(), 2U);
    EXPECT_EQ(corpus.ask("Patient", "_type=Group"), "");
}

TEST(Query, SaysWhatItPassedOverAndWhatItUsed) {
    Corpus corpus;
    fill(corpus);
    const auto query =
        corpus.parse("Patient", "name=p%2Bq&nothing=1&_count=5&birthdate=&_sort=foo,-birthdate");
    ASSERT_TRUE(query);
    EXPECT_EQ(query->used,
              (std::vector<QueryPair>{{"name", "p+q"}, {"_count", "5"}, {"_sort", "-birthdate"}}));
    EXPECT_EQ(query->warnings,
              (std::vector<std::string>{"search parameter 'nothing' is not known for Patient",
                                        "search parameter 'birthdate' has no value",
                                        "_sort: sorting by 'foo' is not supported"}));
    const auto mixed = corpus.parse("", "_type=Provenance,SearchParameter&_sort=target");
    ASSERT_TRUE(mixed);
    EXPECT_EQ(mixed->warnings,
              (std::vector<std::string>{"_sort: sorting by 'target' is not supported"}));
    // A parameter that is unknown is so with any modifier.
    for (const std::string name : {"nothing", "nothing:x", "nothing:", "nothing:.name"}) {
        const auto unknown = corpus.parse("Patient", name + "=1");
        ASSERT_TRUE(unknown) << name;
        EXPECT_EQ(unknown->warnings,
                  std::vector{"search parameter '" + name + "' is not known for Patient"});
    }
    // Unknown modifiers and invalid values are never passed over.
    for (const char* const criterion :
         {"name:x=1", "name:=1", "_id:=1", "_text:=1", "link:.name=1"}) {
        EXPECT_EQ(corpus.parse("Patient", criterion).error().code, Errc::not_supported)
            << criterion;
    }
    EXPECT_EQ(corpus.parse("Patient", "birthdate=x").error().code, Errc::invalid);
    EXPECT_EQ(corpus.parse("Patient", "_query=x").error().code, Errc::not_supported);
}

TEST(Query, IsRefusedWhereItIsStrict) {
    Corpus corpus;
    fill(corpus);
    EXPECT_EQ(corpus.ask("Patient", "nothing=1"),
              "invalid: search parameter 'nothing' is not known for Patient");
    EXPECT_EQ(corpus.ask("Patient", "birthdate="),
              "invalid: search parameter 'birthdate' has no value");
    EXPECT_EQ(corpus.ask("Patient", "_sort=foo"),
              "invalid: _sort: sorting by 'foo' is not supported");
    EXPECT_EQ(corpus.ask("Patient", "_include=Patient:foo"),
              "invalid: _include: Patient has no reference parameter 'foo'");
}

TEST(Query, OfAConditionalInteractionHasCriteriaOnly) {
    Corpus corpus;
    fill(corpus);
    const auto parse = [&](const char* text) {
        QueryContext context = corpus.context();
        context.conditional = true;
        const auto pairs = decode_pairs(text);
        const TypeId type = *find_resource_type("Patient");
        const auto query = parse_query(context, {type}, *pairs);
        return query ? std::string("fine") : Corpus::fault(query.error());
    };
    EXPECT_EQ(parse("identifier=x&_format=json&_pretty=true&_summary=text"), "fine");
    EXPECT_EQ(parse("name=x&_has:Group:member:_id=1"), "fine");
    EXPECT_EQ(parse(""), "invalid: there are no search criteria");
    EXPECT_EQ(parse("_format=json"), "invalid: there are no search criteria");
    EXPECT_EQ(parse("identifier="), "invalid: search parameter 'identifier' has no value");
    EXPECT_EQ(parse("identifier=x&_count=1"),
              "invalid: '_count' is not a search parameter that can be used here");
    EXPECT_EQ(parse("identifier=x&_include=Patient:link"),
              "invalid: '_include' is not a search parameter that can be used here");
    EXPECT_EQ(parse("identifier=x&nothing=1"),
              "invalid: search parameter 'nothing' is not known for Patient");
}

TEST(Query, KnowsParametersThatWereAddedOnceAllIsIndexedByThem) {
    Corpus corpus;
    fill(corpus);
    json::Parser parser;
    const auto definition = parser.parse(R"({"resourceType":"SearchParameter","id":"alive",
        "url":"http://example.org/alive","name":"alive","status":"active","description":"x",
        "code":"alive","base":["Patient"],"type":"token","expression":"Patient.active"})");
    ASSERT_TRUE(definition);
    const std::vector<json::Value> added{definition->root()};
    const std::vector<std::string> unready{"http://example.org/alive"};
    QueryContext context = corpus.context();
    const TypeId type = *find_resource_type("Patient");
    const std::vector<QueryPair> pairs{{"alive", "true"}};

    context.parameters = ParameterSet::with(added, unready);
    const auto waiting = parse_query(context, {type}, pairs);
    ASSERT_TRUE(waiting);
    EXPECT_EQ(waiting->warnings,
              (std::vector<std::string>{"search parameter 'alive' is new: the stored resources are "
                                        "still being indexed by it"}));
    EXPECT_EQ(waiting->types[0].plan.kind, Plan::Kind::everything);
    const std::vector<QueryPair> filter{{"_filter", "alive eq true"}};
    const auto refused = parse_query(context, {type}, filter);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().detail,
              "_filter: 'alive' is new: the stored resources are still being indexed by it");

    context.parameters = ParameterSet::with(added);
    const auto ready = parse_query(context, {type}, pairs);
    ASSERT_TRUE(ready);
    EXPECT_EQ(ready->used, pairs);
    EXPECT_EQ(ready->types[0].plan.terms, (std::vector<Term>{token(column_of("alive"), "true")}));
}

TEST(Query, IsBounded) {
    Corpus corpus;
    fill(corpus);
    std::string many = "_id=1";
    for (std::size_t i = 0; i < kSearchPairsMax; ++i) {
        many += "&_id=1";
    }
    const auto refused = [&](const char* type, const std::string& query) {
        const auto parsed = corpus.parse(type, query);
        return !parsed && parsed.error().code == Errc::too_costly;
    };
    EXPECT_TRUE(refused("Patient", many));
    std::string values = "_id=1";
    for (std::size_t i = 0; i < kSearchConditionsMax; ++i) {
        values += ",1";
    }
    EXPECT_TRUE(refused("Patient", values));
    // 5,000 quantities over 500 units used to hold up a loop for more than a second.
    std::string quantities = "value-quantity=1";
    for (int i = 1; i < 900; ++i) {
        quantities += ",1";
    }
    EXPECT_FALSE(refused("Observation", quantities));
    EXPECT_TRUE(refused("Observation", quantities + quantities.substr(16)));
    // Each candidate's body is read for each of these.
    std::string tests = "&_filter=name+ne+a";
    for (int i = 1; i < 900; ++i) {
        tests += "+and+name+ne+a";
    }
    EXPECT_FALSE(refused("Patient", tests.substr(1)));
    EXPECT_TRUE(refused("Patient", (tests + tests + tests).substr(1)));
    std::string composites = "code-value-quantity=http://loinc.org%7C$1";
    for (int i = 1; i < 50; ++i) {
        composites += ",http://loinc.org%7C$1";
    }
    EXPECT_FALSE(refused("Observation", composites));
    EXPECT_TRUE(refused("Observation", composites + "&" + composites));
    // Searching a body of 1 MB for 5,000 words used to take a minute, and nobody else had a turn.
    std::string texts = "_text=a";
    for (std::size_t i = 1; i < kFullTextsMax; ++i) {
        texts += "&_content=a";
    }
    EXPECT_FALSE(refused("Patient", texts));
    EXPECT_TRUE(refused("Patient", texts + "&_text=a"));
    EXPECT_TRUE(refused("Patient", texts + "&_filter=_text%20eq%20a"));
    EXPECT_TRUE(refused("Patient", "name=" + std::string(kSearchValueBytesMax + 1, 'x')));
    EXPECT_TRUE(refused("Patient", std::string(kSearchNameBytesMax + 1, 'x') + "=1"));
    // With a warning for each, 500,000 unknown keys used to make an answer of 47 MB.
    std::string keys = "_sort=a";
    for (int i = 0; i < 20; ++i) {
        keys += ",a";
    }
    EXPECT_FALSE(refused("Patient", keys.substr(0, keys.size() - 2)));
    EXPECT_TRUE(refused("Patient", keys));
    // A term for everything up to each slash in a megabyte used to take 7 s.
    std::string uri = "url:above=http://acme.org/";
    for (int i = 0; i < 10'000; ++i) {
        uri += "abcdefgh/";
    }
    const auto above = corpus.parse("ValueSet", uri);
    ASSERT_TRUE(above);
    EXPECT_LT(above->types.front().plan.terms.size(), 1000U);
    std::string chain = "link:Patient";
    for (std::size_t i = 0; i < kSearchChainMax; ++i) {
        chain += ".link:Patient";
    }
    EXPECT_TRUE(refused("Patient", chain + ".name=x"));
    // Each link keeps two plans of what follows it: 20,000 names after nine links took 12 s and 4.6 GB.
    std::string names = "a";
    for (std::size_t i = 0; i < 1000; ++i) {
        names += ",a" + std::to_string(i);
    }
    std::string links;
    for (int i = 0; i < 9; ++i) {
        links += "link:Patient.";
    }
    EXPECT_TRUE(refused("Patient", links + "name=" + names));
    EXPECT_FALSE(refused("Patient", links + "name=a,b"));
    EXPECT_FALSE(refused("Patient", "link:Patient.link:Patient.name=" + names));
    // References to any type, several of which have such references themselves, repeatedly.
    EXPECT_TRUE(refused("Composition", "subject.subject.subject.subject._id=1"));
    EXPECT_FALSE(refused("Composition", "subject.subject.subject._id=1"));
    EXPECT_FALSE(refused("AuditEvent", "entity.target.subject.name=x"));
    EXPECT_FALSE(refused("Provenance", "target.subject.link.name=x"));
    EXPECT_FALSE(refused("Provenance", "target:Observation.subject:Patient.link:Patient.name=x"));
    std::string has;
    for (std::size_t i = 0; i < kSearchChainMax; ++i) {
        has += "_has:Patient:link:";
    }
    EXPECT_FALSE(refused("Patient", has + "name=x"));
    EXPECT_TRUE(refused("Patient", has + "_has:Patient:link:name=x"));
}

TEST(DecodePairs, ReadsPercentAndPlus) {
    const auto pairs = decode_pairs("a=b%20c+d&%6eame=%C3%A9&x&=y&z=");
    ASSERT_TRUE(pairs);
    EXPECT_EQ(*pairs, (std::vector<QueryPair>{
                          {"a", "b c d"}, {"name", "é"}, {"x", ""}, {"", "y"}, {"z", ""}}));
    EXPECT_EQ(decode_pairs("a=%4").error().code, Errc::invalid);
    EXPECT_EQ(decode_pairs("a=%ff").error().code, Errc::invalid);
}

}  // namespace
}  // namespace annals::core::search
