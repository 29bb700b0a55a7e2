#include "core/base/digest.h"
#include "core/definitions.h"
#include "core/terminology/worker.h"
#include "tests/support/costly_rules.h"
#include "tests/support/service_fixture.h"

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::terminology {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using test::costly_patient;
using test::costly_profile;

class TerminologyWorker : public test::ServiceFixture {
  protected:
    std::future<Result<void>> run(std::function<void()> work) {
        std::future<Result<void>> answer;
        on_loop([&] {
            answer = asio::co_spawn(loop().context(), worker_->run(loop(), std::move(work)),
                                    asio::use_future);
        });
        return answer;
    }

    /// Keeps the service's own worker busy until then.
    std::future<Result<void>> occupy(std::promise<void>& until) {
        std::future<Result<void>> busy;
        on_loop([&] {
            busy = asio::co_spawn(
                loop().context(),
                service().definitions().worker().run(loop(), [&] { until.get_future().wait(); }),
                asio::use_future);
        });
        return busy;
    }

    std::future<test::Answer> ask(std::string_view method, std::string target,
                                  std::string body = {}) {
        return std::async(
            std::launch::async, [this, method, target = std::move(target), body = std::move(body)] {
                return send(method, target, body, {{"Content-Type", "application/fhir+json"}});
            });
    }

    core::Request request_of(core::HttpMethod method, std::string_view path) {
        core::Request request;
        request.method = method;
        request.path = path;
        request.base_url = kBaseUrl;
        request.loop = &loop();
        return request;
    }

    core::Request patch_of_p(std::string_view operations,
                             std::string_view type = "application/json-patch+json") {
        core::Request request = request_of(core::HttpMethod::patch, "/Patient/p");
        request.headers.push_back({"Content-Type", type});
        request.body = operations;
        return request;
    }

    /// Handles it, before whatever is sent later. Lifetime: `request` until it is answered.
    std::future<core::Response> begin(const core::Request& request) {
        std::future<core::Response> answer;
        on_loop([&] {
            answer = asio::co_spawn(loop().context(), core::handle(service(), request),
                                    asio::use_future);
        });
        on_loop([] {});  // it waits by now
        return answer;
    }

    std::unique_ptr<Worker> worker_ = std::make_unique<Worker>();
};

TEST_F(TerminologyWorker, DoesOneThingAfterAnotherAndLetsSixtyFourWait) {
    std::promise<void> begun;
    std::promise<void> go_on;
    std::vector<int> done;
    std::vector<std::future<Result<void>>> runs;
    runs.push_back(run([&] {
        begun.set_value();
        go_on.get_future().wait();
        done.push_back(0);
    }));
    begun.get_future().wait();
    constexpr int kWaiting = 64;
    for (int i = 1; i <= kWaiting; ++i) {
        runs.push_back(run([&done, i] { done.push_back(i); }));
    }
    const Result<void> refused = run([&] { done.push_back(-1); }).get();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::overloaded);
    go_on.set_value();
    for (std::future<Result<void>>& one : runs) {
        EXPECT_TRUE(one.get());
    }
    ASSERT_EQ(done.size(), runs.size());
    for (int i = 0; i <= kWaiting; ++i) {
        EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
    }
    EXPECT_TRUE(run([] {}).get()) << "there is room again";
}

TEST_F(TerminologyWorker, EndsWhatIsUnderWayAndDropsWhatHasNotBegun) {
    std::promise<void> begun;
    const auto stopped = std::make_shared<std::atomic<bool>>(false);
    const auto second = std::make_shared<std::atomic<bool>>(false);
    const std::atomic<bool>& stopping = worker_->stopping();
    const auto first_run = run([&begun, &stopping, stopped] {
        begun.set_value();
        while (!stopping) {
            std::this_thread::sleep_for(1ms);
        }
        *stopped = true;
    });
    begun.get_future().wait();
    const auto second_run = run([second] { *second = true; });
    on_loop([] {});  // the second one waits by now
    worker_.reset();
    EXPECT_TRUE(*stopped);
    EXPECT_FALSE(*second);
}

TEST_F(TerminologyWorker, DropsWhatHasNotBegunWhenItsLoopGivesUp) {
    std::promise<void> begun;
    std::promise<void> go_on;
    auto first_run = run([&] {
        begun.set_value();
        go_on.get_future().wait();
    });
    begun.get_future().wait();
    const auto second = std::make_shared<std::atomic<bool>>(false);
    auto second_run = run([second] { *second = true; });
    on_loop([&] { loop().give_up(); });
    EXPECT_EQ(second_run.wait_for(10s), std::future_status::ready);
    EXPECT_EQ(first_run.wait_for(0s), std::future_status::timeout)
        << "what has begun may use what its caller holds";
    go_on.set_value();
    EXPECT_TRUE(first_run.get());
    const Result<void> dropped = second_run.get();
    ASSERT_FALSE(dropped);
    EXPECT_EQ(dropped.error().code, Errc::overloaded);
    EXPECT_FALSE(*second);
}

TEST_F(TerminologyWorker, LooksAtLargeResourcesWhileOthersAreAnswered) {
    const std::string long_text(Worker::kBytesOnLoop, 'x');
    const std::string end = R"("code":{"text":")" + long_text + "\"}}";
    const std::string begin = R"({"resourceType":"Observation","id":"large",)";
    for (const std::string_view status : {"preliminary", "final"}) {
        ASSERT_LT(send("PUT", "/Observation/large",
                       fmt::format(R"({}"status":"{}",{})", begin, status, end))
                      .status,
                  300);
    }
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    auto compared = ask("GET", "/Observation/large/$diff");
    auto sound = ask("GET", "/Observation/large/$validate");
    auto unsound = ask("POST", "/Observation/$validate", begin + end);
    EXPECT_EQ(send("GET", "/Observation/large").status, 200);
    for (std::future<test::Answer>* const one : {&compared, &sound, &unsound}) {
        EXPECT_EQ(one->wait_for(20ms), std::future_status::timeout);
    }
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    EXPECT_TRUE(compared.get().says(R"("previousValue","valueCode":"preliminary")"));
    EXPECT_TRUE(sound.get().says("No issues detected"));
    EXPECT_TRUE(unsound.get().says("Observation.status"));
}

TEST_F(TerminologyWorker, ComparesNoneThatWasErasedBeforeItsTurn) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    const std::string long_text(Worker::kBytesOnLoop, 'x');
    for (const std::string_view status : {"preliminary", "final"}) {
        ASSERT_LT(send("PUT", "/Observation/large",
                       fmt::format(R"({{"resourceType":"Observation","id":"large","status":"{}",)"
                                   R"("code":{{"text":"{}"}}}})",
                                   status, long_text))
                      .status,
                  300);
    }
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    const core::Request request = request_of(core::HttpMethod::get, "/Observation/large/$diff");
    auto compared = begin(request);
    EXPECT_EQ(send("DELETE", "/Observation/large/_history/1").status, 204);
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    EXPECT_EQ(compared.get().status, 404);
}

TEST_F(TerminologyWorker, ReadsAClosureTableThatIsErasedBeforeItsTurn) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    const std::string code(Worker::kStepsOnLoop, 'x');
    ASSERT_EQ(send("PUT", "/CodeSystem/s",
                   fmt::format(R"({{"resourceType":"CodeSystem","id":"s","url":"http://s/s",)"
                               R"("status":"active","content":"complete",)"
                               R"("concept":[{{"code":"{}","concept":[{{"code":"below"}}]}}]}})",
                               code))
                  .status,
              201);
    const auto closure = [](std::string_view more) {
        return fmt::format(R"({{"resourceType":"Parameters","parameter":[)"
                           R"({{"name":"name","valueString":"mine"}}{}]}})",
                           more);
    };
    const auto adding = [&](std::string_view added) {
        return closure(fmt::format(
            R"(,{{"name":"concept","valueCoding":{{"system":"http://s/s","code":"{}"}}}})", added));
    };
    ASSERT_EQ(send("POST", "/$closure", closure("")).status, 200);
    ASSERT_EQ(send("POST", "/$closure", adding(code)).status, 200);
    ASSERT_EQ(send("POST", "/$closure", adding("below")).status, 200);
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    core::Request request = request_of(core::HttpMethod::post, "/$closure");
    const std::string since = closure(R"(,{"name":"version","valueString":"2"})");
    request.body = since;
    auto told = begin(request);
    EXPECT_EQ(send("DELETE", "/ConceptMap/closure-" + sha256_hex("mine").substr(0, 32)).status,
              204);
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    const core::Response response = told.get();
    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.body.str().find(R"("code":"below")"), std::string::npos);
}

TEST_F(TerminologyWorker, LooksAtWhatHasCostlyRulesWhileOthersAreAnswered) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    const std::string target = "/Patient/$validate?profile=http://p/costly";
    ASSERT_EQ(send("POST", target, R"({"resourceType":"Patient"})").status, 200);
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    auto costly = ask("POST", "/Patient/$validate", costly_patient("p"));
    EXPECT_EQ(costly.wait_for(100ms), std::future_status::timeout);
    EXPECT_EQ(send("POST", target, R"({"resourceType":"Patient"})").status, 200);
    EXPECT_EQ(costly.wait_for(20ms), std::future_status::timeout) << "it was answered first";
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    const test::Answer answer = costly.get();
    EXPECT_TRUE(answer.says("No issues detected")) << answer.body;
}

TEST_F(TerminologyWorker, ChecksWhatIsWrittenAndHasCostlyRulesWhileOthersAreAnswered) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    for (const std::string_view id : {"p", "q"}) {
        ASSERT_EQ(send("PUT", fmt::format("/Patient/{}", id), costly_patient(id)).status, 201);
    }
    core::Config config;
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

TEST_F(TerminologyWorker, AppliesCostlyPatchesWhileOthersAreAnswered) {
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

TEST_F(TerminologyWorker, AppliesACostlyPatchToWhatIsThereByThen) {
    ASSERT_EQ(send("PUT", "/Patient/p", costly_patient("p")).status, 201);
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    const std::string operations = costly_patch();
    const core::Request request = patch_of_p(operations, "application/fhir+json");
    auto patched = begin(request);
    on_loop([&] {
        const auto base = store().current(*find_resource_type("Patient"), "p");
        const Result<storage::StoredVersion> stored = store().load(*base);
        ASSERT_TRUE(stored);
        EXPECT_EQ(stored->pin.use_count(), 2) << "the segment's and this one";
    });
    EXPECT_EQ(
        send("PUT", "/Patient/p", R"({"resourceType":"Patient","id":"p","gender":"male"})").status,
        200);
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    const core::Response response = patched.get();
    EXPECT_EQ(response.status, 200);
    const std::string body = response.body.str();
    EXPECT_NE(body.find(R"("gender":"male","active":true)"), std::string::npos) << body;
}

TEST_F(TerminologyWorker, EndsAHistoryBundleWhoseChecksTakeTooLong) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    core::Config config;
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

TEST_F(TerminologyWorker, ChecksNoPatchOfWhatIsErasedBeforeItsTurn) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/p", costly_patient("p")).status, 201);
    config.validation = "full";
    restart(config);
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    const core::Request request = patch_of_p(R"([{"op":"add","path":"/active","value":true}])");
    auto patched = begin(request);
    EXPECT_EQ(send("DELETE", "/Patient/p").status, 204);
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    EXPECT_EQ(patched.get().status, 404);
}

TEST_F(TerminologyWorker, KeepsNoErasureWaitingForAPatchThatIsToBeChecked) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/p", costly_patient("p")).status, 201);
    core::Config config;
    config.validation = "full";
    restart(config);
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    const core::Request request = patch_of_p(R"([{"op":"add","path":"/active","value":true}])");
    auto patched = begin(request);
    on_loop([&] {
        const auto base = store().current(*find_resource_type("Patient"), "p");
        const Result<storage::StoredVersion> stored = store().load(*base);
        ASSERT_TRUE(stored);
        EXPECT_EQ(stored->pin.use_count(), 2) << "the segment's and this one";
    });
    // It is computed from what is there by then.
    EXPECT_EQ(
        send("PUT", "/Patient/p", R"({"resourceType":"Patient","id":"p","gender":"male"})").status,
        200);
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    const core::Response response = patched.get();
    EXPECT_EQ(response.status, 200);
    const std::string body = response.body.str();
    EXPECT_NE(body.find(R"("gender":"male","active":true)"), std::string::npos) << body;
}

TEST_F(TerminologyWorker, GivesUpAPatchWhoseChecksAreAlwaysOutdated) {
    ASSERT_EQ(send("PUT", "/StructureDefinition/costly", costly_profile()).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/p", costly_patient("p")).status, 201);
    core::Config config;
    config.validation = "full";
    restart(config);
    const core::Request patch =
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
                core::Request put = request_of(core::HttpMethod::put, "/Patient/p");
                put.body = body;
                EXPECT_EQ((co_await core::handle(service(), put)).status, 200);
                co_await loop().pause(1ms);  // the patch is made from this version
            }
        };
        updates = asio::co_spawn(loop().context(), update, asio::use_future);
    });
    EXPECT_EQ(begin(patch).get().status, 503);
    stop = true;
    updates.get();
}

TEST_F(TerminologyWorker, ReadsAndParsesDefinitionsWhileOthersAreAnswered) {
    const auto put = [this](std::string_view id, std::size_t size) {
        return send("PUT", fmt::format("/CodeSystem/{}", id),
                    fmt::format(R"({{"resourceType":"CodeSystem","id":"{0}","url":"http://s/{0}",)"
                                R"("status":"active","content":"complete",)"
                                R"("concept":[{{"code":"a","display":"{1}"}}]}})",
                                id, std::string(size, 'x')))
            .status;
    };
    const auto lookup = [](std::string_view id) {
        return fmt::format("/CodeSystem/$lookup?system=http://s/{}&code=a", id);
    };
    ASSERT_EQ(put("small", 1), 201);
    ASSERT_EQ(put("large", Worker::kBytesOnLoop), 201);
    ASSERT_EQ(send("GET", lookup("small")).status, 200);
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    EXPECT_EQ(send("GET", lookup("small")).status, 200) << "nothing is new";
    auto large = ask("GET", lookup("large"));
    EXPECT_EQ(large.wait_for(20ms), std::future_status::timeout) << "is to be parsed";
    ASSERT_EQ(put("new", 1), 201);
    auto small = ask("GET", lookup("small"));
    EXPECT_EQ(small.wait_for(20ms), std::future_status::timeout) << "what is new is to be read";
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    EXPECT_EQ(large.get().status, 200);
    EXPECT_EQ(small.get().status, 200);
    EXPECT_EQ(send("GET", lookup("new")).status, 200);
}

TEST_F(TerminologyWorker, TakesWhatSearchesNameApartWhileOthersAreAnswered) {
    std::string concepts;
    for (int i = 0; i < 30'000; ++i) {
        concepts += fmt::format(R"({}{{"code":"c{}"}})", i == 0 ? "" : ",", i);
    }
    ASSERT_EQ(send("PUT", "/CodeSystem/s",
                   fmt::format(R"({{"resourceType":"CodeSystem","id":"s","url":"http://s/s",)"
                               R"("status":"active","content":"complete","concept":[{}]}})",
                               concepts))
                  .status,
              201);
    ASSERT_EQ(
        send("PUT", "/ValueSet/v",
             R"({"resourceType":"ValueSet","id":"v","url":"http://s/v","status":"active",)"
             R"("compose":{"include":[{"system":"http://s/s","filter":[{"property":"concept",)"
             R"("op":"is-a","value":"c7"}]}]}})")
            .status,
        201);
    ASSERT_EQ(send("PUT", "/Observation/o",
                   R"({"resourceType":"Observation","id":"o","status":"final",)"
                   R"("code":{"coding":[{"system":"http://s/s","code":"c7"}]}})")
                  .status,
              201);
    bool first = true;
    for (const std::string asked :
         {"code:in=http://s/v", "code:below=http://s/s|c7", "code:in=http://s/v"}) {
        std::promise<void> go_on;
        auto busy = occupy(go_on);
        auto found = ask("GET", "/Observation?" + asked);
        EXPECT_EQ(send("GET", "/Observation/o").status, 200);
        EXPECT_EQ(found.wait_for(first ? 20ms : 10'000ms),
                  first ? std::future_status::timeout : std::future_status::ready)
            << asked << ": what was taken apart once is kept";
        go_on.set_value();
        EXPECT_TRUE(busy.get());
        EXPECT_TRUE(found.get().says(R"("total":1)")) << asked;
        first = false;
    }
}

}  // namespace
}  // namespace annals::terminology
