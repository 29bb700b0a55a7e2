// The worker by itself, and what is left to it while others are answered.

#include "core/base/digest.h"
#include "core/terminology/worker.h"
#include "tests/support/busy_worker_fixture.h"
#include "tests/support/costly_rules.h"

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
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

class TerminologyWorker : public test::BusyWorkerFixture {
  protected:
    std::future<Result<void>> run(std::function<void()> work) {
        std::future<Result<void>> answer;
        on_loop([&] {
            answer = asio::co_spawn(loop().context(), worker_->run(loop(), std::move(work)),
                                    asio::use_future);
        });
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
    EXPECT_EQ(first_run.wait_for(0s), std::future_status::timeout) << "what has begun is awaited";
    go_on.set_value();
    EXPECT_TRUE(first_run.get());
    const Result<void> dropped = second_run.get();
    ASSERT_FALSE(dropped);
    EXPECT_EQ(dropped.error().code, Errc::overloaded);
    EXPECT_FALSE(*second);
    bool third = false;
    EXPECT_FALSE(run([&third] { third = true; }).get());
    EXPECT_FALSE(third) << "nothing begins from then on";
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

TEST_F(TerminologyWorker, IsNotReplacedByTheLoopWhenTooMuchWaits) {
    ASSERT_EQ(put_large_value_set("v"), 201);
    ASSERT_EQ(send("PUT", "/Patient/p", R"({"resourceType":"Patient","id":"p"})").status, 201);
    ASSERT_EQ(send("PUT", "/Composition/c",
                   R"({"resourceType":"Composition","id":"c","status":"final","date":"2026",)"
                   R"("type":{"text":"x"},"title":"x","author":[{"reference":"Patient/p"}]})")
                  .status,
              201);
    ASSERT_EQ(send("PUT", "/GraphDefinition/g",
                   R"({"resourceType":"GraphDefinition","id":"g","url":"http://s/g","name":"G",)"
                   R"("status":"active","start":"Composition","link":[{"target":[{)"
                   R"("type":"Observation","params":"focus={ref}&code:in=http://s/v"}]}]})")
                  .status,
              201);
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    Worker& worker = service().definitions().worker();
    std::vector<std::future<Result<void>>> waiting;
    on_loop([&] {
        for (int i = 0; i < 64; ++i) {
            waiting.push_back(
                asio::co_spawn(loop().context(), worker.run(loop(), [] {}), asio::use_future));
        }
    });
    EXPECT_TRUE(waits_for_worker(waiting.size()));
    const test::Answer refused = send("GET", "/Observation?code:in=http://s/v");
    EXPECT_EQ(refused.status, 503) << refused.body;
    EXPECT_EQ(send("GET", "/metadata?mode=terminology").status, 503) << "definitions are new";
    constexpr std::string_view kDocument = "/Composition/c/$document?graph=http://s/g";
    const test::Answer of_graph = send("GET", kDocument);
    EXPECT_EQ(of_graph.status, 503) << "the graph is not to blame: " << of_graph.body;
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    for (std::future<Result<void>>& one : waiting) {
        EXPECT_TRUE(one.get());
    }
    EXPECT_EQ(send("GET", "/Observation?code:in=http://s/v").status, 200);
    EXPECT_EQ(send("GET", kDocument).status, 200);
}

TEST_F(TerminologyWorker, LeavesWhatQueriesNameWhenTheirTimeIsOver) {
    ASSERT_EQ(put_code_system(Worker::kStepsOnLoop + 1), 201);
    core::Config config;
    config.limits.request_timeout = 20ms;
    restart(config);
    for (const std::string_view time : {"first", "second"}) {
        std::promise<void> go_on;
        auto busy = occupy(go_on);
        auto found = ask("GET", "/Observation?code:below=http://s/s|c7");
        EXPECT_EQ(found.wait_for(10s), std::future_status::ready) << time << ": the worker is busy";
        EXPECT_EQ(service().definitions().worker().waiting(), 0);
        go_on.set_value();
        EXPECT_TRUE(busy.get());
        const test::Answer answer = found.get();
        EXPECT_EQ(answer.status, 503) << answer.body;
        EXPECT_TRUE(answer.says(R"("code":"timeout")")) << answer.body;
    }
}

TEST_F(TerminologyWorker, LeavesAnswersWhenTheirTimeIsOver) {
    for (const int status : {201, 200}) {
        ASSERT_EQ(put_large_value_set("v"), status);
    }
    core::Config config;
    config.limits.request_timeout = 20ms;
    restart(config);
    const std::string large = fmt::format(R"({{"resourceType":"Basic","code":{{"text":"{}"}}}})",
                                          std::string(Worker::kBytesOnLoop, 'x'));
    const auto expect_timeout = [&](const std::string& target, std::string body = {}) {
        std::promise<void> go_on;
        auto busy = occupy(go_on);
        auto asked = ask(body.empty() ? "GET" : "POST", target, std::move(body));
        EXPECT_EQ(asked.wait_for(10s), std::future_status::ready) << "the worker is busy";
        EXPECT_EQ(service().definitions().worker().waiting(), 0);
        go_on.set_value();
        EXPECT_TRUE(busy.get());
        const test::Answer answer = asked.get();
        EXPECT_EQ(answer.status, 503) << target;
        EXPECT_TRUE(answer.says(R"("code":"timeout")")) << target << answer.body;
    };
    const std::string terminology = "/metadata?mode=terminology";
    expect_timeout(terminology);  // reads what is new
    const auto end = Worker::Clock::now() + 10s;
    while (send("GET", terminology).status != 200 && Worker::Clock::now() < end) {
    }
    expect_timeout("/ValueSet/$expand?url=http://s/v");
    expect_timeout("/Basic/$validate", large);
    expect_timeout("/ValueSet/v/$diff");
}

TEST_F(TerminologyWorker, IsNotReplacedByALoopThatHasGivenUp) {
    ASSERT_EQ(put_large_value_set("v"), 201);
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    core::Request to_search = request_of(core::HttpMethod::get, "/Observation");
    to_search.query = "code:in=http://s/v";
    auto found = begin(to_search);
    core::Request to_describe = request_of(core::HttpMethod::get, "/metadata");
    to_describe.query = "mode=terminology";
    auto described = begin(to_describe);
    on_loop([&] { loop().give_up(); });
    EXPECT_EQ(found.get().status, 503) << "the value set is not taken apart on the loop";
    EXPECT_EQ(described.get().status, 503) << "definitions are not read on the loop";
    go_on.set_value();
    busy.wait();
}

}  // namespace
}  // namespace annals::terminology
