// Writes whose checks or patches take so many steps that the worker does them, while others are answered.

#include "core/exchange.h"
#include "core/interactions/submitted_resource.h"
#include "core/service.h"
#include "tests/support/busy_worker_fixture.h"
#include "tests/support/costly_rules.h"

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

using std::chrono_literals::operator""ms;
using test::costly_patient;
using test::costly_profile;

class CostlyWrites : public test::BusyWorkerFixture {
  protected:
    /// A patch of Patient/p that makes it active waits for the worker. Meanwhile it keeps no erasure waiting, and it is made from
    /// the version that is the newest afterwards.
    void is_made_from_what_is_there_by_then(const Request& request) {
        std::promise<void> go_on;
        auto busy = occupy(go_on);
        auto patched = begin(request);
        on_loop([&] {
            const auto base = store().current(*find_resource_type("Patient"), "p");
            const Result<storage::StoredVersion> stored = store().load(*base);
            ASSERT_TRUE(stored);
            EXPECT_EQ(stored->pin.use_count(), 2) << "the segment's and this one";
        });
        EXPECT_EQ(
            send("PUT", "/Patient/p", R"({"resourceType":"Patient","id":"p","gender":"male"})")
                .status,
            200);
        go_on.set_value();
        EXPECT_TRUE(busy.get());
        const Response response = patched.get();
        EXPECT_EQ(response.status, 200);
        const std::string body = response.body.str();
        EXPECT_NE(body.find(R"("gender":"male","active":true)"), std::string::npos) << body;
    }

    /// How long the loop takes until it leaves the resource to the worker: deadlines are multiples of it, whatever the machine.
    std::chrono::milliseconds time_on_loop(std::string_view patient) {
        std::promise<void> go_on;
        auto busy = occupy(go_on);
        Request request = request_of(HttpMethod::post, "/Patient");
        request.body = patient;
        const auto begun = std::chrono::steady_clock::now();
        auto answer = begin(request);
        EXPECT_TRUE(waits_for_worker());
        const auto taken = std::chrono::steady_clock::now() - begun;
        go_on.set_value();
        EXPECT_TRUE(busy.get());
        EXPECT_EQ(answer.get().status, 201);
        return std::chrono::ceil<std::chrono::milliseconds>(taken);
    }

    /// An entry of a history bundle.
    static std::string version_1(std::string_view id, std::string_view resource) {
        return fmt::format(R"({{"fullUrl":"Patient/{}/_history/1","resource":{}}})", id, resource);
    }

    static std::string history_of(const std::vector<std::string>& entries) {
        return fmt::format(R"({{"resourceType":"Bundle","type":"history","entry":[{}]}})",
                           fmt::join(entries, ","));
    }

    Request patch_of_p(std::string_view operations,
                       std::string_view type = "application/json-patch+json") {
        Request request = request_of(HttpMethod::patch, "/Patient/p");
        request.headers.push_back({"Content-Type", type});
        request.body = operations;
        return request;
    }
};

TEST_F(CostlyWrites, ChecksWhatIsWrittenAndHasCostlyRulesWhileOthersAreAnswered) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    for (const std::string_view id : {"p", "q"}) {
        ASSERT_EQ(send("PUT", fmt::format("/Patient/{}", id), costly_patient(id)).status, 201);
    }
    Config config;
    config.validation = "full";
    config.limits.request_timeout = std::chrono::hours(1);  // they are checked one after another
    restart(config);
    const auto bundle = [](std::string_view type, std::string_view method, std::string_view url,
                           std::string_view resource) {
        return fmt::format(R"({{"resourceType":"Bundle","type":"{}","entry":[{{"resource":{},)"
                           R"("request":{{"method":"{}","url":"{}"}}}}]}})",
                           type, resource, method, url);
    };
    constexpr std::string_view kPatch =
        R"({"resourceType":"Parameters","parameter":[{"name":"operation","part":[)"
        R"({"name":"type","valueCode":"add"},{"name":"path","valueString":"Patient"},)"
        R"({"name":"name","valueString":"active"},{"name":"value","valueBoolean":true}]}]})";

    struct Case {
        std::string_view method;
        std::string target;
        std::string body;
        int status;
        std::string_view says;
    };

    const std::vector<Case> cases = {
        {"POST", "/Patient", costly_patient("new"), 201, ""},
        {"PUT", "/Patient/a", costly_patient("a"), 201, ""},
        {"PUT", "/Patient?identifier=none", costly_patient("b"), 201, ""},
        {"PATCH", "/Patient/p", std::string(kPatch), 200, "\"active\":true"},
        {"POST", "", bundle("transaction", "PUT", "Patient/c", costly_patient("c")), 200, "201"},
        {"POST", "", bundle("transaction", "PATCH", "Patient/q", kPatch), 200, "200"},
        {"POST", "", bundle("batch", "PUT", "Patient/d", costly_patient("d")), 200, "201"},
        {"POST", "", bundle("history", "PUT", "Patient/e", costly_patient("e")), 200, "201"},
        {"PUT", "/Patient/f", costly_patient("f", "x"), 422, "\"Patient.name[0]\""},
        {"POST", "", bundle("transaction", "PUT", "Patient/g", costly_patient("g", "x")), 400,
         "\"Bundle.entry[0].resource.name[0]\""},
        {"POST", "", bundle("history", "PUT", "Patient/h", costly_patient("h", "x")), 200,
         "\"Patient.name[0]\""},
    };
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    std::vector<std::future<test::Answer>> answers;
    for (const Case& one : cases) {
        answers.push_back(ask(one.method, one.target, one.body));
    }
    EXPECT_EQ(send("POST", "/Patient", R"({"resourceType":"Patient","active":true})").status, 201);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        EXPECT_EQ(answers[i].wait_for(20ms), std::future_status::timeout) << i;
    }
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const test::Answer answer = answers[i].get();
        EXPECT_EQ(answer.status, cases[i].status) << i << answer.body.substr(0, 500);
        EXPECT_TRUE(answer.says(cases[i].says)) << i << answer.body.substr(0, 500);
    }
}

/// Adds `active`, after operations whose paths take more than kPatchStepsOnLoop for a costly_patient() and lead to nothing.
std::string costly_patch(
    std::string_view path = "Patient.name.where(%resource.name.where(family = 'x').exists())") {
    std::string operations;
    for (int i = 0; i < 20; ++i) {
        operations += fmt::format(R"({{"name":"operation","part":[{{"name":"type",)"
                                  R"("valueCode":"delete"}},{{"name":"path",)"
                                  R"("valueString":"{}"}}]}},)",
                                  path);
    }
    return R"({"resourceType":"Parameters","parameter":[)" + operations +
           R"({"name":"operation","part":[{"name":"type","valueCode":"add"},)"
           R"({"name":"path","valueString":"Patient"},{"name":"name","valueString":"active"},)"
           R"({"name":"value","valueBoolean":true}]}]})";
}

TEST_F(CostlyWrites, AppliesCostlyPatchesWhileOthersAreAnswered) {
    for (const std::string_view id : {"p", "q", "r", "s"}) {
        ASSERT_EQ(send("PUT", fmt::format("/Patient/{}", id), costly_patient(id)).status, 201);
    }
    const auto bundle = [](std::string_view type, std::string_view url) {
        return fmt::format(R"({{"resourceType":"Bundle","type":"{}","entry":[{{"resource":{},)"
                           R"("request":{{"method":"PATCH","url":"{}"}}}}]}})",
                           type, costly_patch(), url);
    };
    const std::string too_costly = costly_patch(
        "Patient.name.where(%resource.name.where(%resource.name.where(family = 'x').exists())"
        ".exists())");
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    std::vector<std::future<test::Answer>> patched;
    patched.push_back(ask("PATCH", "/Patient/p", costly_patch()));
    patched.push_back(ask("PATCH", "/Patient?_id=q", costly_patch()));
    patched.push_back(ask("POST", "", bundle("transaction", "Patient/r")));
    patched.push_back(ask("POST", "", bundle("batch", "Patient/s")));
    auto refused = ask("PATCH", "/Patient/p", too_costly);
    EXPECT_EQ(send("POST", "/Patient", R"({"resourceType":"Patient","active":true})").status, 201);
    for (const std::future<test::Answer>& one : patched) {
        EXPECT_EQ(one.wait_for(20ms), std::future_status::timeout);
    }
    EXPECT_EQ(refused.wait_for(20ms), std::future_status::timeout);
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    for (std::future<test::Answer>& one : patched) {
        const test::Answer answer = one.get();
        EXPECT_EQ(answer.status, 200) << answer.body;
    }
    for (const std::string_view id : {"p", "q", "r", "s"}) {
        EXPECT_TRUE(send("GET", fmt::format("/Patient/{}", id)).says(R"("active":true)")) << id;
    }
    const test::Answer answer = refused.get();
    EXPECT_EQ(answer.status, 400);
    EXPECT_TRUE(answer.says("operation 0 (delete Patient.name.where(")) << answer.body;
    EXPECT_TRUE(answer.says("the evaluation takes too many steps")) << answer.body;
}

TEST_F(CostlyWrites, HoldUpTheLoopOnceThoughTheyBeginTwice) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    Config config;
    config.validation = "full";
    restart(config);
    const std::string patient = costly_patient("p");
    for (const auto& [method, path] :
         {std::pair(HttpMethod::post, "/Patient"), std::pair(HttpMethod::put, "/Patient/p")}) {
        Request request = request_of(method, path);
        request.headers.push_back({"Content-Type", "application/fhir+json"});
        request.body = patient;
        on_loop([&] {
            const auto time_of = [](const auto& work) {
                const std::clock_t begin = std::clock();
                work();
                return std::clock() - begin;
            };
            Route route;
            ASSERT_FALSE(handle_plain(service(), request, route));
            const std::clock_t first = time_of([&] {
                EXPECT_FALSE(handle_early(service(), request, route));
                EXPECT_TRUE(route.tried_early);
            });
            const auto document = parse_submitted(service().config(), thread_parser(), patient);
            ASSERT_TRUE(document);
            Unfinished unfinished;
            const std::clock_t again = time_of([&] {
                static_cast<void>(check_resource(service(), document->root(), {}, &unfinished));
            });
            EXPECT_TRUE(unfinished.any());
            EXPECT_LT(first, again / 3);
        });
    }
}

TEST_F(CostlyWrites, AppliesACostlyPatchToWhatIsThereByThen) {
    ASSERT_EQ(send("PUT", "/Patient/p", costly_patient("p")).status, 201);
    const std::string operations = costly_patch();
    is_made_from_what_is_there_by_then(patch_of_p(operations, "application/fhir+json"));
}

TEST_F(CostlyWrites, EndsAHistoryBundleWhoseChecksTakeTooLong) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    Config config;
    config.validation = "full";
    config.limits.request_timeout = 1ms;
    restart(config);
    const auto entry = [](std::string_view id, std::string_view resource) {
        return fmt::format(R"({{"request":{{"method":"PUT","url":"Patient/{}"}},"resource":{}}})",
                           id, resource);
    };
    const test::Answer answer =
        send("POST", "",
             fmt::format(R"({{"resourceType":"Bundle","type":"history","entry":[{},{},{}]}})",
                         entry("a", R"({"resourceType":"Patient","id":"a","active":true})"),
                         entry("b", costly_patient("b")), entry("c", costly_patient("c"))));
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(answer.says("\"timeout\"")) << answer.body;
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
    EXPECT_EQ(send("GET", "/Patient/b").status, 404);
    EXPECT_EQ(send("GET", "/Patient/c").status, 404);
}

TEST_F(CostlyWrites, GetsFurtherWithAHistoryBundleThatIsSentAgain) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    Config config;
    config.validation = "full";
    restart(config);
    // Two entries are left to the worker before it.
    config.limits.request_timeout = 100ms + 10 * time_on_loop(costly_patient("x", "f", 90));
    restart(config);
    const std::string bundle = history_of({version_1("a", costly_patient("a", "f", 90)),
                                           version_1("b", costly_patient("b", "f", 90))});
    Request request = request_of(HttpMethod::post, "");
    request.body = bundle;
    const auto send_until_late = [&] {
        std::promise<void> go_on;
        auto busy = occupy(go_on);
        auto answer = begin(request);
        EXPECT_TRUE(waits_for_worker());
        std::this_thread::sleep_for(config.limits.request_timeout);
        go_on.set_value();
        EXPECT_TRUE(busy.get());
        EXPECT_EQ(answer.get().status, 503);  // the second time, the comparison is late
    };
    // The entry that waits is applied, the next one isn't.
    send_until_late();
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
    EXPECT_EQ(send("GET", "/Patient/b").status, 404);
    send_until_late();
    EXPECT_EQ(send("GET", "/Patient/b").status, 200);
}

TEST_F(CostlyWrites, GetsPastMoreStoredEntriesThanItCouldBeginToValidateInTime) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/stored", costly_patient("stored")).status, 201);
    Config config;
    config.validation = "full";
    restart(config);
    config.limits.request_timeout = 30 * time_on_loop(costly_patient("x"));
    restart(config);
    std::vector<std::string> entries(150, version_1("stored", costly_patient("stored")));
    entries.push_back(version_1("new", costly_patient("new")));
    send("POST", "", history_of(entries));
    EXPECT_EQ(send("GET", "/Patient/new").status, 200);
}

TEST_F(CostlyWrites, AppliesWhatFollowsAStoredEntryThatIsIgnoredLate) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/stored", costly_patient("stored")).status, 201);
    Config config;
    config.validation = "full";
    config.limits.request_timeout = 1ms;
    restart(config);
    const test::Answer answer =
        send("POST", "",
             history_of({version_1("stored", costly_patient("stored")),
                         version_1("new", R"({"resourceType":"Patient","id":"new"})")}));
    EXPECT_TRUE(answer.says("\"timeout\"")) << "nothing could be compared: " << answer.body;
    EXPECT_EQ(send("GET", "/Patient/new").status, 200);
}

TEST_F(CostlyWrites, ValidatesNothingAtLengthThatIsNoNewerThanWhatIsStored) {
    Config config;
    config.hard_delete = true;
    restart(config);
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/erased", costly_patient("erased")).status, 201);
    ASSERT_EQ(send("DELETE", "/Patient/erased").status, 204);
    const auto bundle_of = [](std::string_view id, int version, std::string_view resource) {
        return fmt::format(R"({{"resourceType":"Bundle","type":"history","entry":[)"
                           R"({{"fullUrl":"Patient/{}/_history/{}","resource":{}}}]}})",
                           id, version, resource);
    };
    ASSERT_EQ(send("POST", "", bundle_of("p", 3, costly_patient("p", "x"))).status, 200);
    config.validation = "full";
    restart(config);
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    const test::Answer same = send("POST", "", bundle_of("p", 3, costly_patient("p", "x")));
    EXPECT_TRUE(same.says("\"informational\"")) << same.body;
    EXPECT_FALSE(same.says("\"not-found\"")) << same.body;
    const test::Answer other = send("POST", "", bundle_of("p", 3, costly_patient("p", "y")));
    EXPECT_TRUE(other.says("\"conflict\"")) << other.body;
    for (const auto& [id, version] : {std::pair("p", 2), std::pair("erased", 1)}) {
        const test::Answer missing = send("POST", "", bundle_of(id, version, costly_patient(id)));
        EXPECT_TRUE(missing.says("\"informational\"")) << missing.body;
        EXPECT_TRUE(missing.says("\"not-found\"")) << missing.body;
    }
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    EXPECT_EQ(send("GET", "/Patient/p/_history/2").status, 404);
    EXPECT_NE(send("GET", "/Patient/erased").status, 200);
}

TEST_F(CostlyWrites, ChecksNoPatchOfWhatIsErasedBeforeItsTurn) {
    Config config;
    config.hard_delete = true;
    restart(config);
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/p", costly_patient("p")).status, 201);
    config.validation = "full";
    restart(config);
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    const Request request = patch_of_p(R"([{"op":"add","path":"/active","value":true}])");
    auto patched = begin(request);
    EXPECT_EQ(send("DELETE", "/Patient/p").status, 204);
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    EXPECT_EQ(patched.get().status, 404);
}

TEST_F(CostlyWrites, KeepsNoErasureWaitingForAPatchThatIsToBeChecked) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/p", costly_patient("p")).status, 201);
    Config config;
    config.validation = "full";
    restart(config);
    is_made_from_what_is_there_by_then(
        patch_of_p(R"([{"op":"add","path":"/active","value":true}])"));
}

TEST_F(CostlyWrites, GivesUpAPatchWhoseChecksAreAlwaysOutdated) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/p", costly_patient("p")).status, 201);
    Config config;
    config.validation = "full";
    restart(config);
    const Request patch =
        patch_of_p(R"([{"op":"add","path":"/meta/profile","value":["http://p/costly"]}])");
    // One update after another: each check sees at least one, as no check is waited for less than 1 ms.
    std::atomic<bool> stop = false;
    std::future<void> updates;
    on_loop([&] {
        const auto update = [&]() -> asio::awaitable<void> {
            const std::string patient = costly_patient("p", "f", 90);
            const std::string names = patient.substr(patient.find(R"("name")"));
            for (int i = 0; !stop; ++i) {
                const std::string body = fmt::format(
                    R"({{"resourceType":"Patient","id":"p","meta":{{"source":"http://s/{}"}},{})",
                    i, names);
                Request put = request_of(HttpMethod::put, "/Patient/p");
                put.body = body;
                EXPECT_EQ((co_await handle(service(), put)).status, 200);
                co_await loop().pause(1ms);  // the patch is made from this version
            }
        };
        updates = asio::co_spawn(loop().context(), update, asio::use_future);
    });
    EXPECT_EQ(begin(patch).get().status, 503);
    stop = true;
    updates.get();
}

}  // namespace
}  // namespace annals::core
