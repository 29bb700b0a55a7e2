// The real binary: erased content is searched for in every file of the data directory.

#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/http_exchange.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

namespace annals {
namespace {

using std::chrono::seconds;
using test::RunningServer;
using test::TemporaryDirectory;

/// Files below `directory` that contain `text`, in lower or upper case.
std::vector<std::string> files_with(const std::string& directory, const std::string& text) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
        if (!entry.is_regular_file()) {
            continue;
        }
        std::string bytes = test::read_whole_file(entry.path());
        for (char& c : bytes) {
            c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        }
        if (bytes.find(text) != std::string::npos) {
            found.push_back(entry.path());
        }
    }
    return found;
}

class Client {
  public:
    explicit Client(const RunningServer& server)
        : port_(static_cast<std::uint16_t>(server.port())) {}

    int put(const std::string& id, const std::string& name) const {
        const std::string body =
            fmt::format(R"({{"resourceType":"Patient","id":"{}","name":[{{"family":"{}"}}],)"
                        R"("identifier":[{{"system":"urn:s","value":"{}"}}]}})",
                        id, name, name);
        return test::exchange(port_, "PUT", "/fhir/Patient/" + id, body,
                              {{"Content-Type", "application/fhir+json"}})
            .status;
    }

    int remove(const std::string& path) const {
        return test::exchange(port_, "DELETE", "/fhir/" + path).status;
    }

    test::HttpResponse get(const std::string& path) const {
        return test::exchange(port_, "GET", "/fhir/" + path);
    }

  private:
    std::uint16_t port_;
};

TEST(ErasedBytes, AreInNoFileOnceTheDeletionIsAnswered) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    const std::vector<std::string> arguments{"--set", "hard_delete=true"};
    {
        RunningServer server(ANNALS_BINARY, data, arguments);
        ASSERT_FALSE(server.url().empty()) << server.process().errors();
        const Client client(server);
        for (int i = 0; i < 20; ++i) {
            ASSERT_EQ(client.put(fmt::format("p{}", i), fmt::format("Marker{}x", i)), 201);
        }
        ASSERT_EQ(client.put("p1", "Second1x"), 200);
        server.process().kill(SIGTERM);  // The search index is written, names included.
        ASSERT_EQ(server.process().wait(seconds(60)), 0);
    }
    ASSERT_GE(files_with(data, "marker0x").size(), 2U);
    {
        RunningServer server(ANNALS_BINARY, data, arguments);
        ASSERT_FALSE(server.url().empty()) << server.process().errors();
        const Client client(server);
        ASSERT_EQ(client.remove("Patient/p0"), 204);
        EXPECT_TRUE(files_with(data, "marker0x").empty());
        ASSERT_EQ(client.remove("Patient/p1/_history/1"), 204);
        EXPECT_TRUE(files_with(data, "marker1x").empty());
        EXPECT_FALSE(files_with(data, "second1x").empty());
        EXPECT_FALSE(files_with(data, "marker2x").empty());
        server.process().kill(SIGKILL);
        EXPECT_EQ(server.process().wait(seconds(10)), -SIGKILL);
    }
    EXPECT_TRUE(files_with(data, "marker0x").empty());
    const auto verified = test::run_program(ANNALS_BINARY, {"verify", "--data", data});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    EXPECT_NE(
        verified.output.find("erased versions: 2 with their body removed, 0 still to be removed"),
        std::string::npos)
        << verified.output;
    RunningServer server(ANNALS_BINARY, data, arguments);
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    const Client client(server);
    EXPECT_EQ(client.get("Patient/p0").status, 404);
    const auto found = client.get("Patient?family=second1x");
    EXPECT_NE(found.body.find("Second1x"), std::string::npos) << found.body;
    server.process().kill(SIGTERM);
    EXPECT_EQ(server.process().wait(seconds(60)), 0);
    EXPECT_TRUE(files_with(data, "marker0x").empty());
    EXPECT_TRUE(files_with(data, "marker1x").empty());
}

}  // namespace
}  // namespace annals
