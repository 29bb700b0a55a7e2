// The real binary's command line: exit codes, what goes to which stream, export and import.

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "tests/support/certificates.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"
#include "tools/commands/http_client.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

namespace annals {
namespace {

using std::chrono::seconds;
using test::Finished;
using test::RunningServer;
using test::TemporaryDirectory;

const std::string kBinary = ANNALS_BINARY;

Finished annals(const std::vector<std::string>& arguments) {
    return test::run_program(kBinary, arguments);
}

bool one_line(const std::string& text) {
    return !text.empty() && text.find('\n') == text.size() - 1;
}

std::string history_of(const std::string& data) {
    const TemporaryDirectory directory;
    const Finished done = annals({"export", "--data", data, "--to", directory.path(), "--history"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return test::read_whole_file(directory / "history.ndjson");
}

const std::string kHistory =
    R"({"fullUrl":"http://a/fhir/Patient/1/_history/1","resource":{"resourceType":"Patient","id":"1","meta":{"versionId":"1","lastUpdated":"2020-01-01T00:00:00.000Z"},"multipleBirthInteger":1},"request":{"method":"POST","url":"Patient/1"},"response":{"status":"201 Created","etag":"W/\"1\"","lastModified":"2020-01-01T00:00:00.000Z"}}
{"fullUrl":"http://a/fhir/Observation/o/_history/3","resource":{"resourceType":"Observation","id":"o","meta":{"versionId":"3","lastUpdated":"2020-01-01T00:00:01.000Z"},"status":"final","code":{"text":"x"},"valueQuantity":{"value":1.00}},"request":{"method":"PUT","url":"Observation/o"},"response":{"status":"200 OK","etag":"W/\"3\"","lastModified":"2020-01-01T00:00:01.000Z"}}
{"fullUrl":"http://a/fhir/Patient/1/_history/2","request":{"method":"DELETE","url":"Patient/1"},"response":{"status":"410 Gone","etag":"W/\"2\"","lastModified":"2020-01-01T00:00:02.123Z"}}
{"fullUrl":"http://a/fhir/Patient/1/_history/5","resource":{"resourceType":"Patient","id":"1","meta":{"versionId":"5","lastUpdated":"2020-01-01T00:00:03.000Z"},"active":true},"request":{"method":"PUT","url":"Patient/1"},"response":{"status":"200 OK","etag":"W/\"5\"","lastModified":"2020-01-01T00:00:03.000Z"}}
)";

TEST(CommandLine, SaysItsVersionAndItsCommands) {
    EXPECT_EQ(annals({"--version"}).output.substr(0, 7), "annals ");
    const Finished help = annals({"--help"});
    EXPECT_EQ(help.exit_code, 0);
    for (const char* name : {"serve", "verify", "export", "import", "replicate", "generate"}) {
        EXPECT_NE(help.output.find(std::string("\n  ") + name), std::string::npos) << name;
        const Finished one = annals({name, "--help"});
        EXPECT_EQ(one.exit_code, 0) << name;
        EXPECT_TRUE(one.errors.empty()) << name;
    }
}

TEST(CommandLine, RefusesWhatItDoesNotKnowWithCodeTwo) {
    for (const std::vector<std::string>& wrong :
         {std::vector<std::string>{}, std::vector<std::string>{"unknown"},
          std::vector<std::string>{"serve", "--unknown"}, std::vector<std::string>{"verify"},
          std::vector<std::string>{"export", "--to", "x"}, std::vector<std::string>{"import"},
          std::vector<std::string>{"import", "--server", "ftp://h/fhir"},
          std::vector<std::string>{"export", "--server", "http://", "--history", "--to", "x"},
          std::vector<std::string>{"generate", "--patients", "-1"},
          std::vector<std::string>{"replicate", "--from", "x", "--to", "http://h/fhir"}}) {
        const Finished done = annals(wrong);
        EXPECT_EQ(done.exit_code, 2);
        EXPECT_NE(done.errors.find("usage: annals"), std::string::npos) << done.errors;
        EXPECT_TRUE(done.output.empty());
    }
}

TEST(Bench, SaysWhyItsOwnServerCouldNotStart) {
    const TemporaryDirectory directory;
    const Finished done = annals(
        {"bench", "read", "--smoke", "--set", "no_such_key=1", "--directory", directory.path()});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_NE(done.errors.find("unknown key 'no_such_key'"), std::string::npos) << done.errors;
}

TEST(Serve, RefusesAnUnknownKeyAWrongTypeAndATakenPortAndTouchesNothing) {
    const TemporaryDirectory directory;
    RunningServer running(kBinary, directory / "other");
    ASSERT_FALSE(running.url().empty()) << running.process().errors();
    const std::string taken = "127.0.0.1:" + std::to_string(running.port());
    const std::string data = directory / "data";
    const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
        {"no_such_key", {"--set", "no_such_key=1"}},
        {"history_page_size", {"--set", "history_page_size=true"}},
        {taken, {"--listen", taken}},
        {"allow_damaged", {"--allow-damaged"}},
        {"data", {"--data", ""}},
        {"listen", {"--listen", ""}},
        {"nowhere.toml", {"--config", directory / "nowhere.toml"}},
    };
    for (const auto& [named, more] : cases) {
        std::vector<std::string> arguments = {"serve", "--data", data};
        if (named != taken) {
            arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0"});
        }
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Finished done = annals(arguments);
        EXPECT_EQ(done.exit_code, 2) << named;
        EXPECT_TRUE(one_line(done.errors)) << done.errors;
        EXPECT_NE(done.errors.find(named), std::string::npos) << done.errors;
        EXPECT_FALSE(std::filesystem::exists(data)) << named;
    }
}

// With such a limit the system lays memory out as ThreadSanitizer can't take it, so that no program of its starts.
#if !defined(__has_feature) || !__has_feature(thread_sanitizer)
TEST(Serve, DoesNotStartWithoutThreadsAndSaysSo) {
    const TemporaryDirectory directory;
    // No address space has room for stacks that large.
    const std::string refused =
        "ulimit -s 400000000000 && exec \"$0\" serve --data \"$1\" "
        "--listen 127.0.0.1:0";
    const Finished done =
        test::run_program("/bin/sh", {"-c", refused, kBinary, directory / "data"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_TRUE(one_line(done.errors)) << done.errors;
    EXPECT_NE(done.errors.find("no thread"), std::string::npos) << done.errors;
    EXPECT_TRUE(done.output.empty());
    RunningServer running(kBinary, directory / "data");
    EXPECT_FALSE(running.url().empty()) << running.process().errors();
}
#endif

/// Changes one byte of the first segment where `found` stands first.
void damage(const std::string& data, const std::string& found) {
    const std::string path = data + "/segments/0000000001.seg";
    std::string bytes = test::read_whole_file(path);
    const std::size_t at = bytes.find(found);
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    test::write_whole_file(path, bytes);
}

TEST(Serve, NamesSegmentAndOffsetOfDamageAndServesTheRestOnlyWhenTold) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    test::write_whole_file(directory / "in.ndjson", kHistory);
    ASSERT_EQ(annals({"import", "--data", data, directory / "in.ndjson"}).exit_code, 0);
    damage(data, "\"valueQuantity\"");
    const std::vector<std::string> plain = {"serve", "--data", data, "--listen", "127.0.0.1:0"};
    const Finished refused = annals(plain);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(one_line(refused.errors)) << refused.errors;
    EXPECT_NE(refused.errors.find("0000000001.seg"), std::string::npos) << refused.errors;
    EXPECT_NE(refused.errors.find("offset"), std::string::npos) << refused.errors;
    EXPECT_TRUE(refused.output.empty());

    const Finished verified = annals({"verify", "--data", data});
    EXPECT_EQ(verified.exit_code, 1);
    EXPECT_NE(verified.output.find("damage in 0000000001.seg at offset "), std::string::npos)
        << verified.output;

    RunningServer server(kBinary, data, {"--read-only", "--allow-damaged"});
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    tools::HttpClient client(*tools::parse_server_url(server.url()));
    tools::HttpRequest request;
    request.target = "/fhir/Patient/1";
    EXPECT_EQ(client.send(request)->status, 200);
    request.method = "DELETE";
    EXPECT_EQ(client.send(request)->status, 405);
}

TEST(Serve, RefusesANewerFormatAndTouchesNothing) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    test::write_whole_file(directory / "in.ndjson", kHistory);
    ASSERT_EQ(annals({"import", "--data", data, directory / "in.ndjson"}).exit_code, 0);
    const std::string path = data + "/segments/0000000001.seg";
    std::string bytes = test::read_whole_file(path);
    constexpr std::size_t kFormatVersionAt = 8;
    constexpr std::size_t kChecksumAt = 56;
    bytes[kFormatVersionAt] = 99;
    store_le(bytes.data() + kChecksumAt, hash64({bytes.data(), kChecksumAt}));
    test::write_whole_file(path, bytes);
    for (const char* command : {"serve", "verify", "import"}) {
        const Finished refused = annals({command, "--data", data});
        EXPECT_EQ(refused.exit_code, 2) << command;
        EXPECT_TRUE(one_line(refused.errors)) << refused.errors;
        EXPECT_NE(refused.errors.find("format"), std::string::npos) << refused.errors;
    }
    EXPECT_TRUE(test::read_whole_file(path) == bytes);
}

TEST(Serve, NamesAFlippedBitOfTheFormatVersionAsDamage) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    test::write_whole_file(directory / "in.ndjson", kHistory);
    ASSERT_EQ(annals({"import", "--data", data, directory / "in.ndjson"}).exit_code, 0);
    const std::string path = data + "/segments/0000000001.seg";
    std::string bytes = test::read_whole_file(path);
    constexpr std::size_t kFormatVersionAt = 8;
    bytes[kFormatVersionAt] = static_cast<char>(bytes[kFormatVersionAt] ^ 64);
    test::write_whole_file(path, bytes);
    for (const char* command : {"serve", "verify"}) {
        const Finished met = annals({command, "--data", data});
        EXPECT_EQ(met.exit_code, 1) << command;
        EXPECT_NE((met.output + met.errors).find("0000000001.seg"), std::string::npos)
            << met.output << met.errors;
    }
    EXPECT_TRUE(test::read_whole_file(path) == bytes);
}

TEST(Import, WritesNoLogLineIntoASegmentWhereStandardDescriptorsAreClosed) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    const Finished done =
        test::run_program("/bin/sh", {"-c", R"(exec "$0" "$@" <&- >&- 2>&-)", kBinary, "import",
                                      "--data", directory / "data", directory / "in.ndjson"});
    EXPECT_EQ(done.exit_code, 0);
    const Finished verified = annals({"verify", "--data", directory / "data"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
    EXPECT_NE(verified.output.find("versions 4"), std::string::npos) << verified.output;
}

TEST(Serve, PrintsOneLineAndIsSmallWhenEmpty) {
    const TemporaryDirectory directory;
    RunningServer server(kBinary, directory / "data");
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    EXPECT_EQ(server.process().output(), "annals ready on " + server.url() + "\n");
    const std::string status =
        test::read_whole_file("/proc/" + std::to_string(server.process().pid()) + "/status");
    const std::size_t at = status.find("VmRSS:");
    ASSERT_NE(at, std::string::npos);
    const long resident_kb = std::atol(status.c_str() + at + 6);
    RecordProperty("resident_kb", static_cast<int>(resident_kb));
#if !defined(__has_feature) || \
    !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
    EXPECT_LE(resident_kb, 30 * 1024);
#endif
    server.process().kill(SIGTERM);
    EXPECT_EQ(server.process().wait(seconds(20)), 0);
}

TEST(Serve, TakesALimitOfTheSizeOfFilesForAFullDevice) {
    const TemporaryDirectory directory;
    test::ChildProcess server("/bin/sh",
                              {"-c", "ulimit -f 300; exec \"$@\"", "sh", kBinary, "serve", "--data",
                               directory / "data", "--listen", "127.0.0.1:0"});
    const std::string prefix = "annals ready on ";
    const auto line = server.wait_for_line(prefix, seconds(30));
    ASSERT_TRUE(line) << server.errors();
    tools::HttpClient client(*tools::parse_server_url(line->substr(prefix.size())));
    tools::HttpRequest request;
    request.method = "PUT";
    request.target = "/fhir/Basic/1";
    // More than the limit, whether the shell counts in 512 bytes or in 1024.
    const std::string large = R"({"resourceType":"Basic","id":"1","code":{"text":")" +
                              std::string(400 << 10, 'x') + "\"}}";
    request.body = large;
    const auto refused = client.send(request);
    ASSERT_TRUE(refused) << server.errors();
    EXPECT_EQ(refused->status, 503);
    EXPECT_NE(refused->body.find("no-store"), std::string::npos) << refused->body;

    request.body = R"({"resourceType":"Basic","id":"1","code":{"text":"x"}})";
    tools::Patience patience;
    patience.give_up_after = seconds(20);
    const auto taken = client.send_patiently(request, patience);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->status, 201);
    server.kill(SIGTERM);
    EXPECT_EQ(server.wait(seconds(20)), 0);
}

TEST(Import, MakesAnIdenticalStoreOfAnExportedHistory) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    const Finished first = annals({"import", "--data", directory / "a", directory / "in.ndjson"});
    EXPECT_EQ(first.exit_code, 0) << first.errors;
    EXPECT_TRUE(first.errors.empty()) << first.errors;
    const std::string exported = history_of(directory / "a");
    EXPECT_NE(exported.find(R"("value":1.00)"), std::string::npos);
    test::write_whole_file(directory / "out.ndjson", exported);

    const Finished second = test::run_program(kBinary, {"import", "--data", directory / "b"},
                                              seconds(20), directory / "out.ndjson");
    EXPECT_EQ(second.exit_code, 0) << second.errors;
    EXPECT_EQ(history_of(directory / "b"), exported);

    {
        RunningServer server(kBinary, directory / "c");
        ASSERT_FALSE(server.url().empty()) << server.process().errors();
        const Finished third =
            annals({"import", "--server", server.url(), directory / "out.ndjson"});
        EXPECT_EQ(third.exit_code, 0) << third.errors;
        const Finished again =
            annals({"import", "--server", server.url(), directory / "out.ndjson"});
        EXPECT_EQ(again.exit_code, 0) << again.errors;
        EXPECT_NE(again.output.find("4 there already"), std::string::npos) << again.output;
        server.process().kill(SIGTERM);
        EXPECT_EQ(server.process().wait(seconds(20)), 0);
    }
    EXPECT_EQ(history_of(directory / "c"), exported);
    EXPECT_EQ(annals({"verify", "--data", directory / "c"}).exit_code, 0);
}

TEST(Import, TurnsABundleRoundThatHasTheNewestFirst) {
    const TemporaryDirectory directory;
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < kHistory.size();) {
        const std::size_t end = kHistory.find('\n', begin);
        lines.push_back(kHistory.substr(begin, end - begin));
        begin = end + 1;
    }
    std::string bundle = "{\n\"resourceType\": \"Bundle\",\n\"type\": \"history\", \"entry\": [\n";
    for (std::size_t i = lines.size(); i > 0; --i) {
        bundle += lines[i - 1] + (i > 1 ? ",\n" : "]}\n");
    }
    test::write_whole_file(directory / "newest-first.json", bundle);
    test::write_whole_file(directory / "lines.ndjson", kHistory);
    const Finished a =
        annals({"import", "--data", directory / "a", directory / "newest-first.json"});
    EXPECT_EQ(a.exit_code, 0) << a.errors;
    const Finished b = annals({"import", "--data", directory / "b", directory / "lines.ndjson"});
    EXPECT_EQ(b.exit_code, 0) << b.errors;
    EXPECT_EQ(history_of(directory / "a"), history_of(directory / "b"));
}

TEST(Import, NamesTheLinesThatAreRefusedAndTakesTheOthers) {
    const TemporaryDirectory directory;
    const std::string file = directory / "in.ndjson";
    test::write_whole_file(file, R"({"resourceType":"Patient","id":"a"}
{"resourceType":"Patient","id":"b",}
{"resourceType":"Nothing","id":"c"}
{"resourceType":"Patient","id":"d d"}
{"resourceType":"Patient"}
{"a":1}
{"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"PUT","url":"Patient/e"},"resource":{"resourceType":"Patient","id":"f"}}]}
{"resourceType":"Bundle","type":"collection","entry":[{"resource":{"resourceType":"Patient","id":"g"}}]}
)");
    const Finished done = annals({"import", "--data", directory / "data", file});
    EXPECT_EQ(done.exit_code, 1);
    for (const int line : {2, 3, 4, 6, 7}) {
        EXPECT_NE(done.errors.find(file + ":" + std::to_string(line) + ":"), std::string::npos)
            << line << "\n"
            << done.errors;
    }
    EXPECT_NE(done.output.find("imported 3: 0 there already, 5 refused"), std::string::npos)
        << done.output;
}

TEST(Export, WritesLiveResourcesByTypeAndImportTakesThemBack) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    ASSERT_EQ(annals({"import", "--data", directory / "a", directory / "in.ndjson"}).exit_code, 0);
    const Finished done = annals({"export", "--data", directory / "a", "--to", directory / "out"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(
        test::read_whole_file(directory / "out/Patient.ndjson"),
        R"({"resourceType":"Patient","id":"1","meta":{"versionId":"5","lastUpdated":"2020-01-01T00:00:03.000Z"},"active":true})"
        "\n");
    EXPECT_NE(test::read_whole_file(directory / "out/Observation.ndjson"), "");
    const Finished over = annals({"export", "--data", directory / "a", "--to", directory / "out"});
    EXPECT_EQ(over.exit_code, 2);
    const Finished back = annals({"import", "--data", directory / "b", directory / "out"});
    EXPECT_EQ(back.exit_code, 0) << back.errors;
    EXPECT_NE(back.output.find("imported 2:"), std::string::npos) << back.output;
}

TEST(Export, RefusesADirectoryThatIsNoStore) {
    const TemporaryDirectory directory;
    const Finished done =
        annals({"export", "--data", directory / "none", "--to", directory / "out", "--history"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_TRUE(one_line(done.errors)) << done.errors;
    EXPECT_FALSE(std::filesystem::exists(directory / "none"));
}

TEST(CommandLine, RefusesAPlainFileForADirectoryWithCodeTwo) {
    const TemporaryDirectory directory;
    const std::string file = directory / "file";
    test::write_whole_file(directory / "in.ndjson", kHistory);
    test::write_whole_file(file, "mine");
    ASSERT_EQ(annals({"import", "--data", directory / "a", directory / "in.ndjson"}).exit_code, 0);
    for (const std::string& to : {file, file + "/below"}) {
        for (const std::string command : {"export", "backup"}) {
            const Finished done = annals({command, "--data", directory / "a", "--to", to});
            EXPECT_EQ(done.exit_code, 2) << command << ' ' << to;
            EXPECT_TRUE(one_line(done.errors)) << done.errors;
            EXPECT_NE(done.errors.find(to), std::string::npos) << done.errors;
        }
    }
    EXPECT_EQ(test::read_whole_file(file), "mine");
}

TEST(Replicate, CopiesAndSaysWhatItDid) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    ASSERT_EQ(annals({"import", "--data", directory / "a", directory / "in.ndjson"}).exit_code, 0);
    {
        RunningServer source(kBinary, directory / "a");
        RunningServer target(kBinary, directory / "b");
        ASSERT_FALSE(source.url().empty() || target.url().empty());
        const std::vector<std::string> arguments = {"replicate", "--from",     source.url(),
                                                    "--to",      target.url(), "--page",
                                                    "3",         "--state",    directory / "state"};
        const Finished first = annals(arguments);
        EXPECT_EQ(first.exit_code, 0) << first.errors;
        EXPECT_NE(first.output.find("replicated 4 versions: 0 there already"), std::string::npos)
            << first.output;
        EXPECT_NE(first.output.find("\ncursor "), std::string::npos) << first.output;
        const Finished second = annals(arguments);
        EXPECT_EQ(second.exit_code, 0) << second.errors;
        EXPECT_NE(second.output.find("replicated 0 versions"), std::string::npos) << second.output;
        std::filesystem::remove(directory / "state");
        const Finished third = annals(arguments);
        EXPECT_EQ(third.exit_code, 0) << third.errors;
        EXPECT_NE(third.output.find("replicated 4 versions: 4 there already"), std::string::npos)
            << third.output;
        for (RunningServer* server : {&source, &target}) {
            server->process().kill(SIGTERM);
            EXPECT_EQ(server->process().wait(seconds(20)), 0);
        }
    }
    EXPECT_EQ(history_of(directory / "a"), history_of(directory / "b"));
}

/// The `_cursor` of the next link that `target` is answered with; empty if there is none.
std::string next_cursor(const std::string& url, const std::string& target) {
    tools::HttpClient client(*tools::parse_server_url(url));
    tools::HttpRequest request;
    request.target = target;
    const auto reply = client.send(request);
    const std::size_t next = reply ? reply->body.find(R"("relation":"next")") : std::string::npos;
    if (next == std::string::npos) {
        return {};
    }
    const std::size_t begin = reply->body.find("_cursor=", next) + 8;
    return reply->body.substr(begin, reply->body.find_first_of("&\"", begin) - begin);
}

TEST(Replicate, BeginsAfterACursorOfCommitOrderAndNoOther) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    ASSERT_EQ(annals({"import", "--data", directory / "a", directory / "in.ndjson"}).exit_code, 0);
    RunningServer source(kBinary, directory / "a");
    RunningServer target(kBinary, directory / "b");
    ASSERT_FALSE(source.url().empty() || target.url().empty());
    const auto replicate = [&](const std::string& cursor) {
        return annals({"replicate", "--from", source.url(), "--to", target.url(), "--since", cursor,
                       "--state", directory / "state"});
    };
    // Newest first, and by an order in which later versions may come before what was read.
    for (const char* query : {"", "&_sort=_lastUpdated"}) {
        const std::string cursor =
            next_cursor(source.url(), std::string("/fhir/_history?_count=1") + query);
        ASSERT_FALSE(cursor.empty());
        const Finished refused = replicate(cursor);
        EXPECT_EQ(refused.exit_code, 2) << refused.output;
        EXPECT_NE(refused.errors.find("a cursor of the source's _sort=_position history"),
                  std::string::npos)
            << refused.errors;
        EXPECT_FALSE(std::filesystem::exists(directory / "state"));
    }
    const std::string cursor = next_cursor(source.url(), "/fhir/_history?_sort=_position&_count=1");
    ASSERT_FALSE(cursor.empty());
    const Finished done = replicate(cursor);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find("replicated 3 versions"), std::string::npos) << done.output;
    const std::size_t printed = done.output.find("\ncursor ");
    ASSERT_NE(printed, std::string::npos) << done.output;
    std::string end = done.output.substr(printed + 8);
    end.resize(end.find('\n'));
    const Finished again = replicate(end);
    EXPECT_EQ(again.exit_code, 0) << again.errors;
}

/// A history of `count` patients with some flesh on them.
std::string many_patients(int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
        const std::string id = "p" + std::to_string(i);
        lines +=
            R"({"resource":{"resourceType":"Patient","id":")" + id +
            R"(","meta":{"versionId":"1","lastUpdated":"2020-01-01T00:00:00.000Z"},"name":[{"family":")" +
            std::string(1000, 'f') + R"("}]},"request":{"method":"POST","url":"Patient/)" + id +
            R"("},"response":{"status":"201","etag":"W/\"1\"","lastModified":"2020-01-01T00:00:00.000Z"}})" +
            "\n";
    }
    return lines;
}

/// The history of `source`, of the store "a", goes to "x".
void export_history_and_stop(const TemporaryDirectory& directory, RunningServer& source,
                             RunningServer& target) {
    const Finished exported = annals({"export", "--server", source.url(), "--to", directory / "x",
                                      "--history", "--base-url", "ignored"});
    EXPECT_EQ(exported.exit_code, 0) << exported.errors;
    for (RunningServer* server : {&source, &target}) {
        server->process().kill(SIGTERM);
        EXPECT_EQ(server->process().wait(seconds(20)), 0);
    }
}

/// The store "b", and one made of the history in "x", are what "a" is.
void expect_copies(const TemporaryDirectory& directory) {
    EXPECT_EQ(history_of(directory / "a"), history_of(directory / "b"));
    const Finished back =
        annals({"import", "--data", directory / "c", directory / "x/history.ndjson"});
    EXPECT_EQ(back.exit_code, 0) << back.errors;
    EXPECT_EQ(history_of(directory / "a"), history_of(directory / "c"));
}

TEST(Replicate, HalvesWhatIsTooLargeForTheTarget) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", many_patients(300));
    ASSERT_EQ(annals({"import", "--data", directory / "a", directory / "in.ndjson"}).exit_code, 0);
    {
        RunningServer source(kBinary, directory / "a");
        RunningServer target(kBinary, directory / "b", {"--set", "limits.max_body=20kB"});
        ASSERT_FALSE(source.url().empty() || target.url().empty());
        const Finished done = annals({"replicate", "--from", source.url(), "--to", target.url(),
                                      "--state", directory / "state", "--retry-for", "5"});
        EXPECT_EQ(done.exit_code, 0) << done.errors;
        export_history_and_stop(directory, source, target);
    }
    expect_copies(directory);
}

TEST(Replicate, TakesWhateverTheSourceHasTaken) {
    const TemporaryDirectory directory;
    constexpr std::size_t kLimit = 20'000;
    const std::vector<std::string> limits{"--set", "limits.max_body=20000"};
    {
        RunningServer source(kBinary, directory / "a", limits);
        RunningServer target(kBinary, directory / "b", limits);
        ASSERT_FALSE(source.url().empty() || target.url().empty());
        tools::HttpClient writer(*tools::parse_server_url(source.url()));
        const auto put = [&](const std::string& id, const std::string& x) {
            const std::string body =
                R"({"resourceType":"Patient","id":")" + id + R"(","x":)" + x + "}";
            tools::HttpRequest request;
            request.target = "/fhir/Patient/" + id;
            request.method = "PUT";
            request.body = body;
            const auto written = writer.send(request);
            return written ? written->status : 0;
        };
        EXPECT_EQ(put("deep", std::string(63, '[') + "1" + std::string(63, ']')), 201);
        EXPECT_EQ(put("deeper", std::string(64, '[') + "1" + std::string(64, ']')), 400);
        // As large as it can be: with what the server adds to it one byte more is too many.
        std::size_t bytes = kLimit - 300;
        while (put("large", '"' + std::string(bytes, 'x') + '"') < 300) {
            ++bytes;
        }
        EXPECT_GT(bytes, kLimit - 300);
        tools::HttpRequest request;
        request.target = "/fhir/Patient/large";
        const auto large = writer.send(request);
        ASSERT_TRUE(large);
        EXPECT_GT(large->body.size(), kLimit - 50);
        const std::string body(large->body);
        request.method = "PUT";
        request.body = body;
        const auto again = writer.send(request);
        EXPECT_TRUE(again && again->status == 200) << "it can be written as it was read";

        const Finished done = annals({"replicate", "--from", source.url(), "--to", target.url(),
                                      "--state", directory / "state", "--retry-for", "5"});
        EXPECT_EQ(done.exit_code, 0) << done.errors;
        export_history_and_stop(directory, source, target);
    }
    expect_copies(directory);
    // The same without the versions.
    EXPECT_EQ(annals({"export", "--data", directory / "a", "--to", directory / "y"}).exit_code, 0);
    RunningServer last(kBinary, directory / "d", limits);
    const Finished plain = annals({"import", "--server", last.url(), directory / "y"});
    EXPECT_EQ(plain.exit_code, 0) << plain.errors;
}

TEST(Replicate, FollowsWhatIsWrittenLaterUntilItIsToldToStop) {
    const TemporaryDirectory directory;
    RunningServer source(kBinary, directory / "a");
    RunningServer target(kBinary, directory / "b");
    ASSERT_FALSE(source.url().empty() || target.url().empty());
    test::ChildProcess follower(kBinary, {"replicate", "--from", source.url(), "--to", target.url(),
                                          "--state", directory / "state", "--follow"});
    tools::HttpClient writer(*tools::parse_server_url(source.url()));
    tools::HttpClient reader(*tools::parse_server_url(target.url()));
    for (const char* id : {"one", "two", "three"}) {
        const std::string body = std::string(R"({"resourceType":"Patient","id":")") + id + "\"}";
        tools::HttpRequest request;
        request.target = std::string("/fhir/Patient/") + id;
        request.method = "PUT";
        request.body = body;
        const auto written = writer.send(request);
        ASSERT_TRUE(written);
        ASSERT_EQ(written->status, 201);
        request.method = "GET";
        request.body = {};
        std::string seen;
        const auto end = std::chrono::steady_clock::now() + seconds(10);
        while (seen.empty() && std::chrono::steady_clock::now() < end) {
            const auto reply = reader.send(request);
            ASSERT_TRUE(reply);
            seen = reply->status == 200 ? reply->body : "";
        }
        EXPECT_EQ(seen, written->body);
    }
    follower.kill(SIGTERM);
    EXPECT_EQ(follower.wait(seconds(10)), 0) << follower.errors();
    EXPECT_NE(follower.output().find("replicated 3 versions"), std::string::npos)
        << follower.output();
}

TEST(Replicate, ReportsAConflictAndKeepsWhatIsThere) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    std::string other = kHistory;
    other.replace(other.find("\"active\":true"), 13, "\"active\":null");
    other.replace(other.find("\"active\":null"), 13, "\"active\":false");
    test::write_whole_file(directory / "other.ndjson", other);
    ASSERT_EQ(annals({"import", "--data", directory / "a", directory / "in.ndjson"}).exit_code, 0);
    ASSERT_EQ(annals({"import", "--data", directory / "b", directory / "other.ndjson"}).exit_code,
              0);
    RunningServer source(kBinary, directory / "a");
    RunningServer target(kBinary, directory / "b");
    ASSERT_FALSE(source.url().empty() || target.url().empty());
    const Finished done = annals({"replicate", "--from", source.url(), "--to", target.url(),
                                  "--state", directory / "state"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.errors.find("Patient/1/_history/5: conflict"), std::string::npos) << done.errors;
    EXPECT_NE(done.output.find("1 conflicts"), std::string::npos) << done.output;
}

TEST(Replicate, GivesUpOnAServerThatIsNotThere) {
    const TemporaryDirectory directory;
    const Finished done =
        annals({"replicate", "--from", "http://127.0.0.1:9/fhir", "--to", "http://127.0.0.1:9/fhir",
                "--retry-for", "1", "--state", directory / "state"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.errors.find("127.0.0.1:9"), std::string::npos) << done.errors;
}

TEST(CommandLine, ServesImportsAndReplicatesOverTls) {
    const TemporaryDirectory directory;
    const test::Certificate certificate("annals");
    certificate.write(directory / "cert.pem", directory / "key.pem");
    const std::vector<std::string> tls{"--set", "tls.cert_file=" + (directory / "cert.pem"),
                                       "--set", "tls.key_file=" + (directory / "key.pem")};
    RunningServer source(kBinary, directory / "a", tls);
    RunningServer target(kBinary, directory / "b", tls);
    ASSERT_TRUE(source.url().starts_with("https://")) << source.process().errors();
    test::write_whole_file(directory / "patient.ndjson",
                           R"({"resourceType":"Patient","id":"p","active":true})"
                           "\n");
    const std::vector<std::string> import{"import", "--server", source.url(),
                                          directory / "patient.ndjson"};

    const Finished distrustful = annals(import);
    EXPECT_NE(distrustful.exit_code, 0);
    EXPECT_NE(distrustful.errors.find("the server's certificate"), std::string::npos)
        << distrustful.errors;

    EXPECT_EQ(distrustful.errors.find("may have been stored"), std::string::npos)
        << "nothing was sent";

    ::setenv("SSL_CERT_FILE", std::string(directory / "cert.pem").c_str(), 1);
    const Finished imported = annals(import);
    EXPECT_EQ(imported.exit_code, 0) << imported.errors;
    const Finished copied = annals({"replicate", "--from", source.url(), "--to", target.url(),
                                    "--state", directory / "state"});
    EXPECT_EQ(copied.exit_code, 0) << copied.errors;
    const Finished exported =
        annals({"export", "--server", target.url(), "--to", directory / "out", "--history"});
    EXPECT_EQ(exported.exit_code, 0) << exported.errors;
    EXPECT_NE(test::read_whole_file(directory / "out/history.ndjson").find(R"("id":"p")"),
              std::string::npos);
    ::unsetenv("SSL_CERT_FILE");
}

TEST(CommandLine, SaysWhichCertificateIsOfNoUse) {
    const TemporaryDirectory directory;
    const Finished missing =
        annals({"serve", "--data", directory / "data", "--listen", "127.0.0.1:0", "--set",
                "tls.cert_file=" + (directory / "none.pem"), "--set",
                "tls.key_file=" + (directory / "none.pem")});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_NE(missing.errors.find("tls.cert_file"), std::string::npos) << missing.errors;
    EXPECT_FALSE(std::filesystem::exists(directory / "data"));
}

}  // namespace
}  // namespace annals
