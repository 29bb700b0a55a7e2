// The memory that a network thread keeps after large requests.

#include "tests/allocations/counted_heap.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace annals::core {
namespace {

class ThreadMemory : public test::ServiceFixture {
  protected:
    /// What is held after a request in addition to what was before it.
    std::int64_t kept_by(std::string_view bundle, int status) {
        const std::int64_t before = test::held_bytes.load();
        const test::Answer answer =
            send("POST", "", bundle, {{"Content-Type", "application/fhir+json"}});
        EXPECT_EQ(answer.status, status) << answer.body.substr(0, 1000);
        on_loop([] {});  // what the request held is given back after its answer
        return test::held_bytes.load() - before;
    }

    /// 300,000 are so many that no parser keeps its memory for them.
    static std::string names(int count) {
        std::string text;
        for (int i = 0; i < count; ++i) {
            text += fmt::format(R"({}{{"text":"n{}"}})", i == 0 ? "" : ",", i);
        }
        return text;
    }
};

TEST_F(ThreadMemory, AfterATransactionIsNotThatOfItsLargeSearchEntries) {
    Config config;
    config.integrity_on_write = true;
    restart(config);
    const auto transaction = [](int count) {
        return fmt::format(
            R"({{"resourceType":"Bundle","type":"transaction","entry":[{{"resource":{{"resourceType":"Patient","name":[{}]}},)"
            R"("request":{{"method":"POST","url":"Patient"}}}},{{"resource":{{"resourceType":"Patient",)"
            R"("link":[{{"other":{{"reference":"Patient/none"}},"type":"seealso"}}]}},)"
            R"("request":{{"method":"POST","url":"Patient"}}}}]}})",
            names(count));
    };
    kept_by(transaction(1), 400);
    EXPECT_LT(kept_by(transaction(300'000), 400), 1 << 20);
}

TEST_F(ThreadMemory, AfterAHistoryBundleIsNotThatOfItsLargeVersions) {
    const auto history = [](std::string_view members) {
        return fmt::format(
            R"({{"resourceType":"Bundle","type":"history","entry":[{{"resource":{{"resourceType":"Patient","id":"p",)"
            R"("meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:00:00Z"}},{}}}}}]}})",
            members);
    };
    const std::string name = fmt::format(R"("name":[{}])", names(300'000));
    kept_by(history(name + R"(,"active":true)"), 200);
    // Compared with what is stored.
    EXPECT_LT(kept_by(history(R"("active":true,)" + name), 200), 1 << 20);
}

}  // namespace
}  // namespace annals::core
