// BusyWorkerFixture: a service whose worker for long answers can be kept busy, so that a test sees what waits for it.
//
// Threads: the test's.

#pragma once

#include "core/base/result.h"
#include "core/definitions.h"
#include "core/exchange.h"
#include "core/service.h"
#include "core/terminology/worker.h"
#include "tests/support/service_fixture.h"

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace annals::test {

class BusyWorkerFixture : public ServiceFixture {
  protected:
    /// Returns once the service's own worker is busy, which it is until `until` is set.
    std::future<Result<void>> occupy(std::promise<void>& until) {
        const auto begun = std::make_shared<std::promise<void>>();
        const auto wait = [begun, &until] {
            begun->set_value();
            until.get_future().wait();
        };
        std::future<Result<void>> busy;
        on_loop([&] {
            busy =
                asio::co_spawn(loop().context(), service().definitions().worker().run(loop(), wait),
                               asio::use_future);
        });
        begun->get_future().wait();
        return busy;
    }

    /// Waits until so much waits for the busy worker; false if it does not within ten seconds.
    bool waits_for_worker(std::size_t count = 1) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (service().definitions().worker().waiting() < count) {
            if (std::chrono::steady_clock::now() > end) {
                return false;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }

    /// Stores the code system http://s/s with the codes c0, c1, ..., none below another. Returns the status.
    int put_code_system(std::size_t count) {
        std::string concepts = R"({"code":"c0"})";
        for (std::size_t i = 1; i < count; ++i) {
            concepts += fmt::format(R"(,{{"code":"c{}"}})", i);
        }
        return send("PUT", "/CodeSystem/s",
                    fmt::format(R"({{"resourceType":"CodeSystem","id":"s","url":"http://s/s",)"
                                R"("status":"active","content":"complete","concept":[{}]}})",
                                concepts))
            .status;
    }

    /// Stores the value set http://s/{id}, of one code, which is too large to be parsed on a loop. Returns the status.
    int put_large_value_set(std::string_view id) {
        return send("PUT", fmt::format("/ValueSet/{}", id),
                    fmt::format(R"({{"resourceType":"ValueSet","id":"{0}","url":"http://s/{0}",)"
                                R"("status":"active","description":"{1}",)"
                                R"("compose":{{"include":[{{"system":"http://s/s",)"
                                R"("concept":[{{"code":"a"}}]}}]}}}})",
                                id, std::string(terminology::Worker::kBytesOnLoop, 'x')))
            .status;
    }

    std::future<Answer> ask(std::string_view method, std::string target, std::string body = {}) {
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
};

}  // namespace annals::test
