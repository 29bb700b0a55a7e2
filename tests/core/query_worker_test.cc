// What the queries of requests leave to the worker while others are answered.

#include "core/exchange.h"
#include "core/terminology/worker.h"
#include "tests/support/busy_worker_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <list>
#include <string>
#include <string_view>
#include <utility>

namespace annals::core {
namespace {

using std::chrono_literals::operator""ms;
using terminology::Worker;

class QueriesAndTheWorker : public test::BusyWorkerFixture {
  protected:
    static constexpr std::string_view kObservation =
        R"({"resourceType":"Observation","status":"final","subject":{"reference":"Patient/p"},)"
        R"("code":{"coding":[{"system":"http://s/s","code":"a"}]}})";

    /// Stores Patient/p and an Observation of it, with the code that is in the large value sets.
    void fill() {
        ASSERT_EQ(send("PUT", "/Patient/p", R"({"resourceType":"Patient","id":"p"})").status, 201);
        ASSERT_EQ(send("POST", "/Observation", kObservation).status, 201);
    }
};

TEST_F(QueriesAndTheWorker, TakeWhatSearchesNameApartWhileOthersAreAnswered) {
    ASSERT_EQ(put_code_system(30'000), 201);
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

TEST_F(QueriesAndTheWorker, TakeWhatQueriesNameApartWhereverTheyCome) {
    fill();

    struct Case {
        std::string_view method;
        std::string_view target;
        std::string_view if_none_exist;
        int status;
    };

    int number = 0;
    for (const Case& one :
         {Case{"GET", "/Patient?_has:Observation:patient:code:in={}", "", 200},
          Case{"GET", "/Observation?has-member:Observation.code:in={}", "", 200},
          Case{"GET", "/Observation?_filter=code%20in%20%22{}%22", "", 200},
          Case{"HEAD", "/$export?_typeFilter=Observation%3Fcode:in%3D{}", "", 202},
          Case{"POST", "/Observation", "code:in={}", 200},
          Case{"PUT", "/Observation?code:in={}", "", 200},
          Case{"DELETE", "/Observation?code:in={}", "", 204}}) {
        // Another one each time: what was taken apart once is kept.
        const std::string id = fmt::format("v{}", ++number);
        ASSERT_EQ(put_large_value_set(id), 201);
        const std::string url = "http://s/" + id;
        std::promise<void> go_on;
        auto busy = occupy(go_on);
        auto answer = std::async(std::launch::async, [&] {
            Headers headers{{"Content-Type", "application/fhir+json"}};
            if (one.method == "HEAD") {
                headers.push_back({"Prefer", "respond-async"});
            }
            if (!one.if_none_exist.empty()) {
                headers.push_back(
                    {"If-None-Exist", fmt::format(fmt::runtime(one.if_none_exist), url)});
            }
            return send(one.method, fmt::format(fmt::runtime(one.target), url),
                        one.method == "POST" || one.method == "PUT" ? kObservation : "", headers);
        });
        EXPECT_TRUE(waits_for_worker()) << one.method << " " << one.target;
        EXPECT_EQ(send("GET", "/Patient/p").status, 200) << "others are answered";
        go_on.set_value();
        EXPECT_TRUE(busy.get());
        EXPECT_EQ(answer.get().status, one.status) << one.method << " " << one.target;
    }
}

TEST_F(QueriesAndTheWorker, TakeWhatBundlesNameApartWhileOthersAreAnswered) {
    fill();

    struct Case {
        std::string_view type;
        std::string_view method;
        std::string_view url;
        std::string_view if_none_exist;
        std::string_view resource;
        std::string_view says;
    };

    constexpr std::string_view kBasic =
        R"({"resourceType":"Basic","code":{"text":"x"},"subject":{"reference":")"
        R"(Observation?code:in=ValueSet/large"}})";
    for (const Case& one :
         {Case{"batch", "GET", "Observation?code:in=ValueSet/large", "", "", R"("total":1)"},
          Case{"transaction", "GET", "Observation?code:in=ValueSet/large", "", "", R"("total":1)"},
          Case{"transaction", "POST", "Observation", "code:in=ValueSet/large", kObservation,
               R"("status":"200)"},
          Case{"transaction", "PUT", "Observation?code:in=ValueSet/large", "", kObservation,
               R"("status":"200)"},
          Case{"transaction", "DELETE", "Observation?code:in=ValueSet/large", "", "",
               R"("status":"204)"},
          Case{"transaction", "PUT", "Observation?subject=urn:uuid:1&code:in=ValueSet/large", "",
               kObservation, "Observation/"},
          Case{"transaction", "POST", "Basic", "", kBasic, "Basic/"}}) {
        // It is changed each time, so that nothing is known about it.
        ASSERT_LT(put_large_value_set("large"), 300);
        std::string entries = R"({"fullUrl":"urn:uuid:1","resource":{"resourceType":"Patient"},)"
                              R"("request":{"method":"POST","url":"Patient"}},)";
        entries += fmt::format(
            R"({{"request":{{"method":"{}","url":"{}"{}}}{}}})", one.method, one.url,
            one.if_none_exist.empty() ? ""
                                      : fmt::format(R"(,"ifNoneExist":"{}")", one.if_none_exist),
            one.resource.empty() ? "" : fmt::format(R"(,"resource":{})", one.resource));
        std::promise<void> go_on;
        auto busy = occupy(go_on);
        auto answer = ask("POST", "/",
                          fmt::format(R"({{"resourceType":"Bundle","type":"{}","entry":[{}]}})",
                                      one.type, entries));
        EXPECT_TRUE(waits_for_worker()) << one.type << " " << one.url;
        EXPECT_EQ(send("GET", "/Patient/p").status, 200) << "others are answered";
        go_on.set_value();
        EXPECT_TRUE(busy.get());
        const test::Answer got = answer.get();
        EXPECT_EQ(got.status, 200) << one.type << " " << one.url << got.body;
        EXPECT_TRUE(got.says(one.says)) << one.type << " " << one.url << got.body;
    }
}

TEST_F(QueriesAndTheWorker, LeaveEachThingThatTheyAskToIt) {
    for (const std::string_view id : {"u", "v", "w"}) {
        ASSERT_EQ(put_large_value_set(id), 201);
    }
    std::string concepts = R"({"code":"c1"})";
    for (std::uint64_t i = 2; i <= Worker::kStepsOnLoop; ++i) {
        concepts += fmt::format(R"(,{{"code":"c{}"}})", i);
    }
    ASSERT_EQ(send("PUT", "/CodeSystem/s",
                   R"({"resourceType":"CodeSystem","id":"s","url":"http://s/s","status":"active",)"
                   R"("content":"complete","concept":[{"code":"c0","concept":[)" +
                       concepts + "]}]}")
                  .status,
              201);
    const auto answer_to = [&](std::string_view query, int things) {
        std::list<std::promise<void>> let_go(1);
        auto busy = occupy(let_go.back());
        Request request = request_of(HttpMethod::get, "/Observation");
        request.query = query;
        auto answer = begin(request);
        for (int thing = 0; thing < things; ++thing) {
            EXPECT_TRUE(waits_for_worker()) << query;
            EXPECT_EQ(send("GET", "/ValueSet/v").status, 200) << query << ": others are answered";
            on_loop([] {});
            EXPECT_EQ(answer.wait_for(0ms), std::future_status::timeout)
                << query << ": each is left to it, also number " << thing;
            std::promise<void>& let_it = let_go.back();
            let_go.emplace_back();
            auto next = std::async(std::launch::async, [&] { return occupy(let_go.back()); });
            EXPECT_TRUE(waits_for_worker(2));
            let_it.set_value();
            EXPECT_TRUE(busy.get());
            busy = next.get();  // so it has been found out
        }
        const int status = answer.get().status;
        let_go.back().set_value();
        EXPECT_TRUE(busy.get());
        return status;
    };
    EXPECT_EQ(answer_to("category:below=http://s/s|c1&code:below=http://s/s|c0", 2), 413);
    EXPECT_EQ(answer_to("code:in=http://s/u,http://s/v,http://s/w,ValueSet/u,ValueSet/v&"
                        "category:in=ValueSet/w,ValueSet/u",
                        6),
              200);
}

TEST_F(QueriesAndTheWorker, AreReadInTurnsWhereTheyNameMuchThatIsSmall) {
    core::Config config;
    config.limits.request_timeout = std::chrono::seconds(100);
    restart(config);
    constexpr int kCount = 6'000;
    std::string values;
    for (int i = 0; i < kCount; ++i) {
        values += fmt::format("{}http://s/s|c{}", i == 0 ? "" : ",", i);
    }
    ASSERT_EQ(put_code_system(kCount), 201);
    ASSERT_EQ(send("PUT", "/Observation/o",
                   fmt::format(R"({{"resourceType":"Observation","id":"o","status":"final",)"
                               R"("code":{{"coding":[{{"system":"http://s/s","code":"c{}"}}]}}}})",
                               kCount - 1))
                  .status,
              201);
    ASSERT_EQ(send("GET", "/Observation?code:below=http://s/s|c0").status, 200)
        << "the code system is taken apart once";
    // Nothing of it is left to the worker, which is busy.
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    auto found = ask("GET", "/Observation?code:below=" + values);
    EXPECT_EQ(found.wait_for(90'000ms), std::future_status::ready);
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    const test::Answer answer = found.get();
    EXPECT_EQ(answer.status, 200) << answer.body.substr(0, 1000);
    EXPECT_TRUE(answer.says(R"("total":1)"));
}

}  // namespace
}  // namespace annals::core
