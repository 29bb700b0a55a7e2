// Notifications of a server that is killed with -9 repeatedly.

#include "tests/support/child_process.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/http_exchange.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace annals::test {
namespace {

using namespace std::chrono_literals;

class SubscribedServer {
  public:
    SubscribedServer(const std::string& data, const std::string& endpoint)
        : process_(ANNALS_BINARY, {"serve", "--data", data, "--listen", "127.0.0.1:0", "--set",
                                   "subscriptions.enabled=true", "--set",
                                   fmt::format("subscriptions.endpoints=[\"{}\"]", endpoint)}) {
        const auto line = process_.wait_for_line("annals ready on ", 120s);
        EXPECT_TRUE(line) << process_.errors();
        const std::string url = line.value_or("annals ready on http://127.0.0.1:0/fhir");
        port_ = static_cast<std::uint16_t>(std::atoi(url.c_str() + url.rfind(':') + 1));
    }

    void put(const std::string& path, const std::string& body) {
        EXPECT_EQ(exchange(port_, "PUT", "/fhir/" + path, body,
                           {{"Content-Type", "application/fhir+json"}})
                      .status,
                  201);
    }

    void kill() {
        process_.kill(SIGKILL);
        EXPECT_EQ(process_.wait(60s), -SIGKILL);
    }

  private:
    ChildProcess process_;
    std::uint16_t port_ = 0;
};

TEST(KilledSubscriptions, SkipNothing) {
    const TemporaryDirectory folder;
    const HookReceiver receiver;
    std::vector<std::string> expected;
    for (int round = 0; round < 5; ++round) {
        SubscribedServer server(folder / "data", receiver.url());
        if (round == 0) {
            server.put(
                "Subscription/s",
                fmt::format(
                    R"({{"resourceType":"Subscription","id":"s","status":"requested","reason":"x",)"
                    R"("criteria":"Patient","channel":{{"type":"rest-hook","endpoint":"{}",)"
                    R"("payload":"application/fhir+json"}}}})",
                    receiver.url()));
        }
        const std::size_t before = receiver.received().size();
        for (int i = 0; i < 20; ++i) {
            const std::string id = fmt::format("p{}-{}", round, i);
            server.put("Patient/" + id,
                       fmt::format(R"({{"resourceType":"Patient","id":"{}"}})", id));
            expected.push_back("/Patient/" + id);
        }
        // Some of this round's notifications have arrived; the rest may or may not have.
        if (round % 2 == 0) {
            EXPECT_TRUE(eventually([&] { return receiver.received().size() > before + 3; }));
        }
        server.kill();
    }
    const SubscribedServer server(folder / "data", receiver.url());
    std::vector<std::string> first;
    EXPECT_TRUE(eventually([&] {
        first.clear();
        for (const ReceivedHook& one : receiver.received()) {
            if (std::find(first.begin(), first.end(), one.target) == first.end()) {
                first.push_back(one.target);
            }
        }
        return first.size() == expected.size();
    }));
    EXPECT_EQ(first, expected);
}

}  // namespace
}  // namespace annals::test
