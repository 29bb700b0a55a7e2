// What --compress changes of what import, export and replicate send and ask for.

#include "net/coding.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"
#include "tools/commands/http_client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace annals {
namespace {

using test::Finished;
using test::HookReceiver;
using test::ReceivedHook;
using test::RunningServer;
using test::TemporaryDirectory;

/// Passes each request on to a server, with its body as it came.
HookReceiver::Answer passes_on_to(const std::string& server) {
    return [server](const ReceivedHook& hook, std::size_t, const auto&) {
        tools::HttpClient client(*tools::parse_server_url(server));
        tools::HttpRequest request;
        request.method = hook.method;
        request.target = hook.target;
        request.body = hook.body;
        if (const std::string coding = hook.header("content-encoding"); !coding.empty()) {
            request.headers = {{"Content-Encoding", coding}};
        }
        const auto reply = client.send(request);
        return reply ? fmt::format("HTTP/1.1 {} -\r\nContent-Length: {}\r\n\r\n{}", reply->status,
                                   reply->body.size(), reply->body)
                     : std::string("HTTP/1.1 500 -\r\nContent-Length: 0\r\n\r\n");
    };
}

std::string decoded(const ReceivedHook& hook) {
    std::string plain;
    const auto decoder = net::make_decoder(*net::coding_named(hook.header("content-encoding")));
    EXPECT_EQ(decoder->add(hook.body, 1 << 20, plain), net::Decoder::Step::taken);
    EXPECT_TRUE(decoder->complete());
    return plain;
}

void expect_asked_for(const std::vector<ReceivedHook>& requests, std::string_view codings) {
    EXPECT_FALSE(requests.empty());
    for (const ReceivedHook& request : requests) {
        EXPECT_EQ(request.header("accept-encoding"), codings) << request.target;
    }
}

TEST(CompressedTransfers, AreMadeByReplicateWhenItIsTold) {
    const TemporaryDirectory directory;
    import_history(directory / "a");
    for (const bool told : {false, true}) {
        const std::string copy = directory / (told ? "b" : "c");
        {
            RunningServer source(kBinary, directory / "a");
            RunningServer target(kBinary, copy);
            ASSERT_FALSE(source.url().empty() || target.url().empty());
            const HookReceiver from(passes_on_to(source.url()));
            const HookReceiver to(passes_on_to(target.url()));
            std::vector<std::string> arguments{
                "replicate",        "--from",  from.url() + "/fhir", "--to",
                to.url() + "/fhir", "--state", copy + ".state"};
            if (told) {
                arguments.emplace_back("--compress");
            }
            const Finished done = annals(arguments);
            EXPECT_EQ(done.exit_code, 0) << done.errors;
            expect_asked_for(from.received(), told ? "zstd, gzip" : "identity");
            expect_asked_for(to.received(), told ? "zstd, gzip" : "identity");
            ASSERT_EQ(to.received().size(), 1U);
            const ReceivedHook bundle = to.received().front();
            EXPECT_EQ(bundle.header("content-encoding"), told ? "zstd" : "");
            const std::string plain = told ? decoded(bundle) : bundle.body;
            EXPECT_TRUE(plain.starts_with(R"({"resourceType":"Bundle","type":"history")")) << plain;
        }
        EXPECT_EQ(history_of(copy), history_of(directory / "a"));
    }
}

TEST(CompressedTransfers, AreMadeByImportAndExportWhenTheyAreTold) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    RunningServer server(kBinary, directory / "data");
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    const HookReceiver relay(passes_on_to(server.url()));
    const std::string url = relay.url() + "/fhir";
    const Finished imported =
        annals({"import", "--server", url, "--compress", directory / "in.ndjson"});
    EXPECT_EQ(imported.exit_code, 0) << imported.errors;
    EXPECT_NE(imported.output.find("imported 4: 0 there already"), std::string::npos);
    const Finished exported =
        annals({"export", "--server", url, "--compress", "--history", "--to", directory / "out"});
    EXPECT_EQ(exported.exit_code, 0) << exported.errors;
    EXPECT_EQ(std::ranges::count(test::read_whole_file(directory / "out/history.ndjson"), '\n'), 4);
    expect_asked_for(relay.received(), "zstd, gzip");
    EXPECT_EQ(relay.received().front().header("content-encoding"), "zstd");
    EXPECT_NE(decoded(relay.received().front()).find("Observation"), std::string::npos);
}

TEST(CompressedTransfers, AreGivenUpWhereTheServerRefusesThem) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    RunningServer server(kBinary, directory / "data");
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    const HookReceiver::Answer pass = passes_on_to(server.url());
    const HookReceiver relay([&](const ReceivedHook& hook, std::size_t number, const auto& send) {
        return hook.header("content-encoding").empty()
                   ? pass(hook, number, send)
                   : std::string("HTTP/1.1 415 -\r\nContent-Length: 0\r\n\r\n");
    });
    const Finished imported = annals(
        {"import", "--server", relay.url() + "/fhir", "--compress", directory / "in.ndjson"});
    EXPECT_EQ(imported.exit_code, 0) << imported.errors;
    EXPECT_NE(imported.output.find("imported 4: 0 there already"), std::string::npos);
    EXPECT_NE(imported.errors.find("compressed bodies are not accepted"), std::string::npos);
    EXPECT_TRUE(one_line(imported.errors)) << imported.errors;
}

TEST(CompressedTransfers, AreNotOfWhatNoServerTakesPartIn) {
    const TemporaryDirectory directory;
    import_history(directory / "data");
    for (std::vector<std::string> arguments :
         {std::vector<std::string>{"import", "/dev/null"}, {"export", "--to", directory / "out"}}) {
        arguments.insert(arguments.end(), {"--data", directory / "data", "--compress"});
        const Finished done = annals(arguments);
        EXPECT_EQ(done.exit_code, 2) << arguments[0];
        EXPECT_NE(done.errors.find("--compress goes with --server"), std::string::npos)
            << done.errors;
    }
}

}  // namespace
}  // namespace annals
