// Scopes for one patient: what others have does not show in any answer.

#include "tests/core/scopes_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

/// A store in which `theirs` is the other patient, as seen by me.
struct World : ScopesTest {
    explicit World(const std::string& theirs) {
        fill(theirs);
        Config config;
        config.integrity_on_write = true;
        config.integrity_on_delete = true;
        open(config);
        send_as(&mine_);
    }

    void TestBody() override {}

    using ScopesTest::send;
};

/// `body` without what differs between two answers to one question: times, ids made for it, cursors.
std::string lasting_part(std::string body) {
    for (const std::string_view before :
         {R"("lastUpdated":")", R"(lastUpdated value=")", R"("lastModified":")", R"("timestamp":")",
          "urn:uuid:", "_cursor="}) {
        for (std::size_t at = body.find(before); at != std::string::npos;
             at = body.find(before, at + 1)) {
            const std::size_t begin = at + before.size();
            body.erase(begin, body.find_first_of("\"&", begin) - begin);
        }
    }
    return body;
}

TEST(Scopes, GiveTheSameAnswersWhateverOthersHave) {
    std::vector<std::pair<std::string, std::string>> requests;
    const std::vector<std::string> places{"/Observation", "/Patient",     "/List",
                                          "/Composition", "/Patient/m/*", "/"};
    for (const char* criterion :
         {"_id=t-o1,m-o1", "_id:not=t-o1", "subject=Patient/t", "patient:not=t", "subject.name=z",
          "subject:missing=false", "code:text=z", "_tag=Zzyzx", "_tag:not=Zzyzx", "_list=t-l",
          "has-member=Observation/t-o1", "has-member.code:text=z", "item:Observation.code:text=z",
          "_has:Observation:has-member:_tag=Zzyzx", "_has:Observation:subject:code=c",
          "_has:List:item:_id=t-l", "_filter=code eq c or subject.name co z"}) {
        for (const char* result :
             {"_include=*", "_revinclude=*", "_revinclude=Observation:has-member",
              "_revinclude:iterate=List:item", "_sort=code", "_sort=-_lastUpdated", "_count=1",
              "_count=0", "_total=accurate&_count=2", "_summary=count", "_offset=1",
              "_contained=both", "_format=xml"}) {
            requests.emplace_back(
                "GET", fmt::format("{}?{}&{}", places[requests.size() % places.size()], criterion,
                                   result));
        }
    }
    for (const char* target :
         {"/_history", "/Observation/moved/_history", "/$meta", "/Patient/m/$everything",
          "/Patient/t/$everything", "/Composition/m-c/$document",
          "/Observation/moved/$diff?from=1&to=2", "/Observation/$lastn?patient=t,m&code=c",
          "/Observation/t-gone", "/Observation/t-o1/_history/2"}) {
        requests.emplace_back("GET", target);
    }
    for (const char* target :
         {"/Observation/t-o1", "/Observation?subject=Patient/t", "/Observation?_id=t-gone",
          "/Observation/m-o1", "/Patient/m", "/Observation/m-o2", "/Observation/moved"}) {
        requests.emplace_back("DELETE", target);
    }
    World one("t");
    World other("u");
    std::size_t answered = 0;
    for (const auto& [method, target] : requests) {
        const Answer answer = one.send(method, target);
        const Answer same = other.send(method, target);
        EXPECT_EQ(answer.status, same.status) << method << target;
        EXPECT_EQ(answer.etag, same.etag) << method << target;
        EXPECT_EQ(lasting_part(answer.body), lasting_part(same.body)) << method << target;
        answered += answer.status == 200 && answer.body.find("m-") != std::string::npos ? 1 : 0;
    }
    EXPECT_GT(answered, 60U) << "with something of mine";
}

TEST_F(ScopesTest, KeepWhatIsAnothersOutOfDocumentsThatMustHaveIt) {
    fill();
    send_as(&everybody_);
    put("/Composition/both",
        R"({"resourceType":"Composition","id":"both","status":"final","type":{"text":"x"},"date":"2026",
            "title":"x","subject":{"reference":"Patient/m"},"author":[{"display":"x"}],
            "encounter":{"reference":"Encounter/t-e"}})");
    EXPECT_EQ(send("GET", "/Composition/both/$document").status, 200);
    send_as(&mine_);
    const Answer answer = send("GET", "/Composition/both/$document");
    EXPECT_EQ(answer.status, 422);
    EXPECT_THAT(answer.body, HasSubstr("Encounter/t-e is not available"));
    EXPECT_THAT(answer.body, Not(HasSubstr(kMark)));
}

}  // namespace
}  // namespace annals::core
