// The memory of requests that wait for the thread for long answers.

#include "core/definitions.h"
#include "tests/allocations/counted_heap.h"
#include "tests/support/service_fixture.h"

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <utility>

namespace annals::core {
namespace {

class WaitingMemory : public test::ServiceFixture {};

/// A profile of a type with rules about all of its elements `name`.
std::string profile_of(std::string_view type, std::string_view name) {
    std::string rules;
    for (int i = 0; i < 3; ++i) {
        rules += fmt::format(R"r({}{{"key":"r{}","severity":"error","human":"Sound",
            "expression":"{}.where(text = 'x').empty()"}})r",
                             i == 0 ? "" : ",", i, name);
    }
    return fmt::format(
        R"({{"resourceType":"StructureDefinition","id":"{0}","url":"http://p/{0}","name":"P",)"
        R"("status":"active","kind":"resource","abstract":false,"type":"{0}","baseDefinition":)"
        R"("http://hl7.org/fhir/StructureDefinition/{0}","derivation":"constraint",)"
        R"("differential":{{"element":[{{"id":"{0}","path":"{0}","constraint":[{1}]}}]}}}})",
        type, rules);
}

TEST_F(WaitingMemory, OfWhatIsToBeCheckedIsItsText) {
    std::string many;  // enough that no parser keeps the memory of their nodes
    for (int i = 0; i < 300'000; ++i) {
        many += R"({"text":"c"},)";
    }
    many += R"({"text":"c"}])";
    const std::string patient =
        R"({"resourceType":"Patient","id":"p","meta":{"profile":["http://p/Patient"]},"name":[)" +
        many + "}";
    const std::string composition =
        R"({"resourceType":"Composition","id":"c","meta":{"profile":["http://p/Composition"]},)"
        R"("status":"final","date":"2020","type":{"text":"t"},"title":"t",)"
        R"("author":[{"reference":"Patient/a"}],"category":[)" +
        many + "}";
    const std::pair<std::string_view, std::string> stored[] = {
        {"/StructureDefinition/Patient", profile_of("Patient", "name")},
        {"/StructureDefinition/Composition", profile_of("Composition", "category")},
        {"/Patient/a", R"({"resourceType":"Patient","id":"a"})"},
        {"/Patient/p", patient},
        {"/Composition/c", composition}};
    for (const auto& [path, body] : stored) {
        ASSERT_EQ(send("PUT", path, body).status, 201) << path;
    }
    Config config;
    config.validation = "full";
    restart(config);

    struct Case {
        HttpMethod method;
        std::string_view path;
        std::string_view query;
        std::string_view content_type;
        std::string_view body;
        int status;
        int texts;  ///< at most, each in memory of its own
    };

    for (const Case& one : {
             Case{HttpMethod::put, "/Patient/p", "", "", patient, 200, 2},
             Case{HttpMethod::post, "/Patient", "", "", patient, 201, 2},
             Case{HttpMethod::patch, "/Patient/p", "", "application/json-patch+json",
                  R"([{"op":"add","path":"/active","value":true}])", 200, 2},
             Case{HttpMethod::post, "/Composition/c/$document", "persist=true", "", "", 200, 4},
         }) {
        Request request;
        request.method = one.method;
        request.path = one.path;
        request.query = one.query;
        if (!one.content_type.empty()) {
            request.headers.push_back({"Content-Type", one.content_type});
        }
        request.body = one.body;
        request.base_url = kBaseUrl;
        request.loop = &loop();
        const auto begin = [&] {
            std::future<Response> answer;
            on_loop([&] {
                answer =
                    asio::co_spawn(loop().context(), handle(service(), request), asio::use_future);
            });
            return answer;
        };
        ASSERT_EQ(begin().get().status, one.status) << "what is kept has been allocated now";
        std::promise<void> begun;
        std::promise<void> go_on;
        std::future<Result<void>> busy;
        terminology::Worker& worker = service().definitions().worker();
        const auto wait = [&] {
            begun.set_value();
            go_on.get_future().wait();
        };
        on_loop([&] {
            busy = asio::co_spawn(loop().context(), worker.run(loop(), wait), asio::use_future);
        });
        begun.get_future().wait();
        const std::int64_t before = test::held_bytes.load();
        std::future<Response> answer = begin();
        while (worker.waiting() == 0 &&
               answer.wait_for(std::chrono::seconds(0)) == std::future_status::timeout) {
            on_loop([] {});
        }
        EXPECT_EQ(worker.waiting(), 1U) << one.path;
        on_loop([&] {
            EXPECT_LT(test::held_bytes.load() - before,
                      one.texts * static_cast<std::int64_t>(many.size()))
                << one.path;
        });
        go_on.set_value();
        EXPECT_TRUE(busy.get());
        EXPECT_LT(answer.get().status, 300);
    }
}

}  // namespace
}  // namespace annals::core
