// FirstPage: which answers are made again, and how often.

#include "core/interactions/first_page.h"

#include "tests/support/commits.h"
#include "tests/support/service_fixture.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::core {
namespace {

class FirstPageTest : public test::ServiceFixture {
  protected:
    void erase_one() {
        const std::string body = R"({"resourceType":"Patient","id":"p"})";
        ASSERT_LT(
            send("PUT", "/Patient/p", body, {{"Content-Type", "application/fhir+json"}}).status,
            300);
        test::CommitBuilder erasure;
        erasure.erase("Patient", "p");
        ASSERT_TRUE(store().wait(store().submit(erasure.commit()).ticket));
    }

    static Response with_status(int status) {
        Response response;
        response.status = status;
        return response;
    }
};

TEST_F(FirstPageTest, IsMadeAgainTwiceAtMostAndOnlyIfSomethingWasErasedMeanwhile) {
    FirstPage first(service());
    EXPECT_FALSE(first.begin_again(with_status(200)));
    erase_one();
    EXPECT_TRUE(first.begin_again(with_status(200)));
    EXPECT_FALSE(first.begin_again(with_status(200))) << "nothing more was erased";
    erase_one();
    EXPECT_TRUE(first.begin_again(with_status(200)));
    erase_one();
    EXPECT_FALSE(first.begin_again(with_status(200)));
}

TEST_F(FirstPageTest, IsMadeAgainUnlessItAskedForTooMuchOrTheServerHadNoTime) {
    for (const int status : {200, 400, 404, 410}) {
        FirstPage first(service());
        erase_one();
        EXPECT_TRUE(first.begin_again(with_status(status))) << status;
    }
    for (const int status : {413, 503}) {
        FirstPage first(service());
        erase_one();
        EXPECT_FALSE(first.begin_again(with_status(status))) << status;
    }
}

}  // namespace
}  // namespace annals::core
