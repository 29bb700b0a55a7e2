// The real binary's command line: exit codes, what goes to which stream, export and import.

#include "core/base/limits.h"
#include "tests/support/certificates.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"
#include "tools/commands/http_client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace annals {
namespace {

using std::chrono::seconds;
using test::Finished;
using test::RunningServer;
using test::TemporaryDirectory;

TEST(CommandLine, SaysItsVersionAndItsCommands) {
    EXPECT_EQ(annals({"--version"}).output.substr(0, 7), "annals ");
    const Finished help = annals({"--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_EQ(annals({"-h"}).output, help.output);
    EXPECT_EQ(annals({"help"}).output, help.output);
    EXPECT_NE(annals({"serve", "--help"}).output.find("history_page_size"), std::string::npos)
        << "its settings";
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
          std::vector<std::string>{"--version", "more"}, std::vector<std::string>{"help", "more"},
          std::vector<std::string>{"serve", "--unknown"}, std::vector<std::string>{"verify"},
          std::vector<std::string>{"export", "--to", "x"}, std::vector<std::string>{"import"},
          std::vector<std::string>{"import", "--server", "ftp://h/fhir"},
          std::vector<std::string>{"replicate", "--from", "http://h/fhir", "--to", "http://i/fhir",
                                   "--verify", "--follow"},
          std::vector<std::string>{"replicate", "--from", "http://h/fhir", "--to", "http://i/fhir",
                                   "--retry-for", "9999999999"},
          std::vector<std::string>{"replicate", "--from", "http://h/fhir", "--to",
                                   "http://h:80/fhir/"},
          std::vector<std::string>{"import", "--server", "http://h/fhir", "--set", "threads=1"},
          std::vector<std::string>{"bench", "unknown"},
          std::vector<std::string>{"compact", "--data", "x", "--keep", "Patient"},
          std::vector<std::string>{"export", "--server", "http://", "--history", "--to", "x"},
          std::vector<std::string>{"generate", "--patients", "-1"},
          std::vector<std::string>{"generate", "--from", "1900-01-01T00:00:00Z"},
          std::vector<std::string>{"replicate", "--from", "x", "--to", "http://h/fhir"}}) {
        const Finished done = annals(wrong);
        EXPECT_EQ(done.exit_code, 2);
        EXPECT_NE(done.errors.find("usage: annals"), std::string::npos) << done.errors;
        EXPECT_TRUE(done.output.empty());
    }
}

TEST(CommandLine, SaysPlainlyWhichCommandThereIsNot) {
    EXPECT_EQ(annals({"a\x1b[2J\nb"}).errors,
              "annals: unknown command 'a [2J b'\n"
              "usage: annals COMMAND [OPTION]... (annals --help lists the commands)\n");
}

TEST(Bench, SaysWhyItsOwnServerCouldNotStart) {
    const TemporaryDirectory directory;
    const Finished done = annals(
        {"bench", "read", "--smoke", "--set", "no_such_key=1", "--directory", directory.path()});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_NE(done.errors.find("unknown key 'no_such_key'"), std::string::npos) << done.errors;
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

TEST(CommandLine, MeetsAFaultWhereStdoutDoesNotTakeWhatItTells) {
    const TemporaryDirectory directory;
    import_history(directory / "data");
    const auto with_full_stdout = [](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"-c", R"(exec "$0" "$@" >/dev/full)", kBinary});
        return test::run_program("/bin/sh", arguments);
    };
    const std::vector<std::vector<std::string>> commands{
        {"--help"},
        {"--version"},
        {"serve", "--help"},
        {"generate", "--patients", "1"},
        {"verify", "--data", directory / "data"},
        {"compact", "--data", directory / "data", "--dry-run"},
        {"export", "--data", directory / "data", "--to", directory / "saved"},
        {"backup", "--data", directory / "data", "--to", directory / "backup"},
        {"restore", "--from", directory / "backup", "--data", directory / "restored"},
        {"import", "--data", directory / "imported", directory / "saved"}};
    for (const std::vector<std::string>& arguments : commands) {
        const Finished done = with_full_stdout(arguments);
        EXPECT_EQ(done.exit_code, 1) << arguments[0];
        EXPECT_EQ(done.errors.find("annals: stdout: "), 0U) << done.errors;
        EXPECT_TRUE(one_line(done.errors)) << done.errors;
    }
}

TEST(CommandLine, IsEndedBySignalsAsTheFirstProcessOfAContainer) {
    const TemporaryDirectory directory;
    const std::string pipe = directory / "pipe";  // nobody writes to it
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const int signal : {SIGINT, SIGTERM}) {
        const std::string data = directory / std::to_string(signal);
        test::ChildProcess container("/usr/bin/unshare",
                                     {"--map-root-user", "--pid", "--fork", "--kill-child", kBinary,
                                      "import", "--data", data, pipe});
        const std::string children =
            fmt::format("/proc/{}/task/{}/children", container.pid(), container.pid());
        int first = 0;
        for (int i = 0; i < 300 && first == 0 && container.running(); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            if (std::filesystem::exists(data + "/segments")) {
                std::ifstream(children) >> first;
            }
        }
        if (first == 0) {
            GTEST_SKIP() << "no namespaces here: " << container.errors();
        }
        ::kill(first, signal);
        EXPECT_EQ(container.wait(seconds(20)), 128 + signal) << container.errors();
    }
}

TEST(CommandLine, ReadsNoStoreThatIsServedAlsoWhereItMayNotBeWritten) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    import_history(data);
    const auto verify_read_only = [&] {
        return test::run_program(
            "/usr/bin/unshare",
            {"--map-root-user", "--mount", "/bin/sh", "-c",
             R"(mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$0" verify --data "$1")",
             kBinary, data});
    };
    const Finished alone = verify_read_only();
    if (alone.errors.find("mount") != std::string::npos ||
        alone.errors.find("unshare") != std::string::npos) {
        GTEST_SKIP() << "no namespaces here: " << alone.errors;
    }
    EXPECT_EQ(alone.exit_code, 0) << alone.errors;
    RunningServer server(kBinary, data);
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    const Finished refused = verify_read_only();
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_EQ(refused.errors, "annals: " + data + ": in use by another process\n");
}

TEST(CommandLine, TakesWhatItMayNotReadOrWriteForNoDamage) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    const std::string closed = directory / "closed";
    import_history(data);
    std::filesystem::create_directory(closed);
    ASSERT_EQ(::chmod(closed.c_str(), 0550), 0);
    // Without the capabilities that let root read and write everything.
    const std::string script = ::geteuid() == 0
                                   ? "exec setpriv --bounding-set=-dac_override,-dac_read_search "
                                     "\"$0\" \"$@\""
                                   : "exec \"$0\" \"$@\"";
    const auto run = [&](const std::vector<std::string>& arguments) {
        std::vector<std::string> all{"-c", script, kBinary};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return test::run_program("/bin/sh", all);
    };
    const std::vector<std::string> verify{"verify", "--data", data};
    const std::vector<std::vector<std::string>> writing{
        {"serve", "--data", data, "--listen", "127.0.0.1:0"},
        {"import", "--data", data, "/dev/null"},
        {"compact", "--data", data}};
    if (const Finished done = run(verify); done.errors.starts_with("setpriv: ")) {
        GTEST_SKIP() << done.errors;
    }
    const std::string segments = data + "/segments";
    const auto expect_refused = [&](const std::vector<std::string>& arguments,
                                    const std::string& path) {
        const Finished done = run(arguments);
        EXPECT_EQ(done.exit_code, 2) << arguments[0];
        EXPECT_EQ(done.errors, "annals: " + path + ": Permission denied\n") << arguments[0];
    };
    for (const std::string& path : {segments + "/0000000001.seg", segments}) {
        ASSERT_EQ(::chmod(path.c_str(), 0), 0);
        expect_refused(verify, path);
        for (const std::vector<std::string>& arguments : writing) {
            expect_refused(arguments, path);
        }
        ASSERT_EQ(::chmod(path.c_str(), 0550), 0);
        EXPECT_EQ(run(verify).exit_code, 0);
        for (const std::vector<std::string>& arguments : writing) {
            expect_refused(arguments, path);
        }
        ASSERT_EQ(::chmod(path.c_str(), 0750), 0);
    }
    EXPECT_EQ(run(writing.back()).exit_code, 0);
    // What a server keeps beside its store.
    const std::string packages = data + "/packages";
    const std::string notified = data + "/subscriptions";
    std::filesystem::create_directories(packages + "/installed");
    test::write_whole_file(packages + "/installed/p#1.0.0.tgz", "");
    std::filesystem::create_directory(notified);
    test::write_whole_file(notified + "/positions.json", "{}");
    for (const std::string& path :
         {packages, packages + "/installed", packages + "/installed/p#1.0.0.tgz"}) {
        ASSERT_EQ(::chmod(path.c_str(), 0), 0);
        expect_refused(writing[0], path);
        expect_refused(writing[1], path);
        ASSERT_EQ(::chmod(path.c_str(), 0750), 0);
    }
    std::filesystem::remove_all(packages);
    for (const std::string& path : {notified, notified + "/positions.json"}) {
        ASSERT_EQ(::chmod(path.c_str(), 0), 0);
        expect_refused({"serve", "--data", data, "--listen", "127.0.0.1:0", "--set",
                        "subscriptions.enabled=true"},
                       path);
        EXPECT_EQ(run(writing[1]).exit_code, 0) << path;
        ASSERT_EQ(::chmod(path.c_str(), 0750), 0);
    }
    const std::string backup = directory / "backup";
    ASSERT_EQ(annals({"backup", "--data", data, "--to", backup}).exit_code, 0);
    // Files that can be made again are passed over by those who open the store.
    for (const std::string& path : {data + "/search/manifest", data + "/search"}) {
        ASSERT_EQ(::chmod(path.c_str(), 0), 0);
        expect_refused(verify, path);
        EXPECT_EQ(run(writing.back()).exit_code, 0) << path;
        ASSERT_EQ(::chmod(path.c_str(), 0750), 0);
    }
    for (const std::string& path : {backup + "/backup.manifest", backup + "/segments"}) {
        ASSERT_EQ(::chmod(path.c_str(), 0), 0);
        expect_refused({"verify", "--data", backup}, path);
        expect_refused({"restore", "--from", backup, "--data", directory / "new"}, path);
        ASSERT_EQ(::chmod(path.c_str(), 0750), 0);
    }

    const std::string saved = closed + "/saved";
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"generate", "--patients", "1", "--to", closed},
          std::vector<std::string>{"generate", "--patients", "1", "--to", saved},
          std::vector<std::string>{"export", "--data", data, "--to", closed},
          std::vector<std::string>{"export", "--data", data, "--to", saved},
          std::vector<std::string>{"export", "--data", data, "--history", "--to", closed},
          std::vector<std::string>{"backup", "--data", data, "--to", closed},
          std::vector<std::string>{"backup", "--data", data, "--to", saved},
          std::vector<std::string>{"bench", "read", "--smoke", "--directory", closed},
          std::vector<std::string>{"import", "--data", saved, "/dev/null"},
          std::vector<std::string>{"serve", "--data", closed, "--listen", "127.0.0.1:0"},
          std::vector<std::string>{"serve", "--data", saved, "--listen", "127.0.0.1:0"}}) {
        const Finished done = run(arguments);
        EXPECT_EQ(done.exit_code, 2) << arguments[0] << ' ' << arguments.back();
        EXPECT_NE(done.errors.find("Permission denied"), std::string::npos)
            << arguments[0] << ' ' << done.errors;
        EXPECT_TRUE(one_line(done.errors)) << done.errors;
    }
    EXPECT_TRUE(std::filesystem::is_empty(closed));
    const std::string in = directory / "in";
    std::filesystem::create_directories(in + "/hidden");
    ASSERT_EQ(::chmod((in + "/hidden").c_str(), 0), 0);
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"import", "--data", directory / "new", in},
          std::vector<std::string>{"bench", "import", "--smoke", "--directory", directory / "work",
                                   "--files", in}}) {
        const Finished done = run(arguments);
        EXPECT_EQ(done.exit_code, 2) << arguments[0];
        EXPECT_NE(done.errors.find(": " + in + ": Permission denied\n"), std::string::npos)
            << done.errors;
    }
    ASSERT_EQ(::chmod((in + "/hidden").c_str(), 0750), 0);
    for (const std::string& to : {closed, saved}) {
        EXPECT_EQ(run({"restore", "--from", backup, "--data", to}).exit_code, 2) << to;
    }
}

TEST(Export, TakesNoOptionThatItHasNoUseFor) {
    const TemporaryDirectory directory;
    import_history(directory / "data");
    const std::string server = "http://127.0.0.1:1/fhir";
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--data", directory / "data", "--header", "X-API-Key: k"},
          {"--data", directory / "data", "--token-file", "/dev/null"},
          {"--data", directory / "data", "--cert", "/dev/null"},
          {"--server", server, "--base-url", "https://a.example/fhir"}}) {
        std::vector<std::string> arguments{"export", "--history", "--to", directory / "saved"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Finished done = annals(arguments);
        EXPECT_EQ(done.exit_code, 2) << more[2];
        EXPECT_NE(done.errors.find(more[2]), std::string::npos) << done.errors;
        EXPECT_FALSE(std::filesystem::exists(directory / "saved")) << more[2];
    }
}

TEST(CommandLine, TakesADataDirectoryWhoseNameIsNoText) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    for (const char* const name : {"a\xff", "a\x7f", "2026"}) {
        const std::string data = directory / name;
        EXPECT_EQ(annals({"import", "--data", data, directory / "in.ndjson"}).exit_code, 0);
        EXPECT_EQ(annals({"verify", "--data", data}).exit_code, 0) << name;
        RunningServer server(kBinary, data);
        EXPECT_EQ(annals({"verify", "--data", data}).exit_code, 2) << "nobody holds " << name;
    }
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

TEST(Import, TurnsABundleRoundWhereOnlyUrlsSayWhichVersionIsNewer) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.json",
                           R"({"resourceType":"Bundle","type":"history","entry":[
{"fullUrl":"http://a/fhir/Patient/1/_history/2","request":{"method":"DELETE","url":"Patient/1/_history/2"}},
{"fullUrl":"http://a/fhir/Patient/1/_history/1","resource":{"resourceType":"Patient","id":"1"},"request":{"method":"POST","url":"Patient"}}]})");
    const Finished done = annals({"import", "--data", directory / "a", directory / "in.json"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find("imported 2: 0 there already"), std::string::npos) << done.output;
}

TEST(Import, DatesADeletionThatSaysNoInstantByTheVersionBeforeIt) {
    const TemporaryDirectory directory;
    const auto version = [](int number) {
        return fmt::format(
            R"({{"fullUrl":"http://a/fhir/Patient/1","resource":{{"resourceType":"Patient","id":"1","meta":{{"versionId":"{0}","lastUpdated":"2024-01-0{0}T00:00:00.000+00:00"}}}},"request":{{"method":"PUT","url":"Patient/1/_history/{0}"}},"response":{{"status":"200 OK","etag":"W/\"{0}\""}}}})",
            number);
    };
    const std::string deletion =
        R"({"fullUrl":"http://a/fhir/Patient/1","request":{"method":"DELETE","url":"Patient/1/_history/2"},"response":{"status":"200 OK","etag":"W/\"2\""}})";
    const auto page = [&](const std::string& name, const std::string& entries) {
        test::write_whole_file(
            directory / name,
            R"({"resourceType":"Bundle","type":"history","entry":[)" + entries + "]}");
    };
    // HAPI's pages, newest first, in files with descending names. They overlap if HAPI writes in the meantime.
    page("1.json", version(1));
    page("2.json", version(3) + "," + deletion);
    page("3.json", version(4) + "," + version(3) + "," + deletion);
    for (const std::string_view expected :
         {"imported 4: 2 there already, 0 refused", "imported 0: 6 there already, 0 refused"}) {
        const Finished done = annals({"import", "--data", directory / "a", directory / "1.json",
                                      directory / "2.json", directory / "3.json"});
        EXPECT_EQ(done.exit_code, 0) << done.errors;
        EXPECT_NE(done.output.find(expected), std::string::npos) << done.output;
    }
    const std::string history = history_of(directory / "a");
    EXPECT_NE(history.find(R"("etag":"W/\"2\"","lastModified":"2024-01-01T00:00:00.000Z")"),
              std::string::npos)
        << history;
}

TEST(Import, LosesNoVersionWhereClocksDisagreed) {
    const TemporaryDirectory directory;
    const auto entry = [](std::string_view id, int version) {
        return fmt::format(
            R"({{"resource":{{"resourceType":"Patient","id":"{0}","meta":{{"versionId":"{1}"}}}},"request":{{"method":"PUT","url":"Patient/{0}/_history/{1}"}}}})",
            id, version);
    };
    // Newest first by instants; b's second version got its instant from a machine whose clock was behind.
    test::write_whole_file(
        directory / "in.json",
        fmt::format(R"({{"resourceType":"Bundle","type":"history","entry":[{},{},{},{},{}]}})",
                    entry("a", 3), entry("a", 2), entry("b", 1), entry("b", 2), entry("a", 1)));
    const Finished done = annals({"import", "--data", directory / "a", directory / "in.json"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find("imported 5: 0 there already"), std::string::npos) << done.output;
    EXPECT_EQ(done.errors.find("missing at the target"), std::string::npos) << done.errors;
}

TEST(Import, TakesNoRemarkOfTheServerForAVersion) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.json",
                           R"({"resourceType":"Bundle","type":"history","entry":[
{"resource":{"resourceType":"OperationOutcome","id":"o","issue":[{"severity":"information","code":"informational"}]},"search":{"mode":"outcome"}},
{"resource":{"resourceType":"Patient","id":"1","meta":{"versionId":"1"}},"request":{"method":"POST","url":"Patient"}}]})");
    const Finished done = annals({"import", "--data", directory / "a", directory / "in.json"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find("imported 1: 0 there already"), std::string::npos) << done.output;
    EXPECT_EQ(history_of(directory / "a").find("OperationOutcome"), std::string::npos);
}

TEST(Import, TellsOfVersionsThatCameAfterNewerOnes) {
    const TemporaryDirectory directory;
    // As pages of a server that gives the newest first.
    const std::size_t last = kHistory.rfind('\n', kHistory.size() - 2) + 1;
    test::write_whole_file(directory / "1.ndjson", kHistory.substr(last));
    test::write_whole_file(directory / "2.ndjson", kHistory.substr(0, last));
    const Finished done = annals(
        {"import", "--data", directory / "a", directory / "1.ndjson", directory / "2.ndjson"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find("imported 2: 0 there already"), std::string::npos) << done.output;
    EXPECT_NE(done.errors.find("2 versions were ignored and are missing at the target"),
              std::string::npos)
        << done.errors;
    const Finished again = annals({"import", "--data", directory / "a", directory / "1.ndjson"});
    EXPECT_NE(again.output.find("imported 0: 1 there already"), std::string::npos) << again.output;
    EXPECT_EQ(again.errors.find("missing at the target"), std::string::npos) << again.errors;
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

TEST(Import, RefusesALineThatNestsTooDeepForABundleAndTakesTheOthers) {
    const TemporaryDirectory directory;
    const std::string file = directory / "in.ndjson";
    const std::string deep = R"({"resourceType":"Patient","id":"a","x":)" +
                             std::string(kJsonWrappedDepthMax - 3, '[') +
                             std::string(kJsonWrappedDepthMax - 3, ']') + "}";
    const std::string request = R"("request":{"method":"PUT","url":"Patient/a"})";
    test::write_whole_file(file, deep + "\n" + R"({"resource":)" + deep + "," + request + "}\n" +
                                     R"({"resourceType":"Patient","id":"b"})" + "\n");
    const Finished done = annals({"import", "--data", directory / "data", file});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_EQ(done.errors.find("stopped here"), std::string::npos) << done.errors;
    EXPECT_NE(done.output.find("imported 1: 0 there already, 2 refused"), std::string::npos)
        << done.output;
}

TEST(Import, TakesWhatItHasReadBeforeAFileThatItCannotRead) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    const std::string data = directory / "data";
    const Finished done =
        annals({"import", "--data", data, directory / "in.ndjson", "/proc/self/mem"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.errors.find("/proc/self/mem: cannot be read"), std::string::npos) << done.errors;
    EXPECT_TRUE(done.output.starts_with("imported 4: ")) << done.output;
    EXPECT_NE(history_of(data).find("Patient/1/_history/5"), std::string::npos);
}

TEST(Import, AsksForNoAuthenticationWhereAServerOfTheSameSettingsWould) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "a.ndjson",
                           kHistory + R"({"resourceType":"Patient","id":"x"})" + "\n");
    for (const char* settings :
         {"listen = \"0.0.0.0:8080\"\n",
          "[auth]\nmode = \"api_key\"\napi_keys_file = \"/nowhere/at/all\"\n"}) {
        test::write_whole_file(directory / "annals.toml", settings);
        const Finished done = annals({"import", "--data", directory / "data", "--config",
                                      directory / "annals.toml", directory / "a.ndjson"});
        EXPECT_EQ(done.exit_code, 0) << done.errors;
    }
}

TEST(Import, PassesOverLinksThatLeadNowhereInAFolder) {
    const TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "in");
    std::filesystem::create_symlink("/nowhere/at/all", directory / "in/.#lock.json");
    Finished done = annals({"import", "--data", directory / "data", directory / "in"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.errors.find("in: contains no .ndjson or .json file, compressed or not"),
              std::string::npos)
        << done.errors;
    test::write_whole_file(directory / "in/a.ndjson", kHistory);
    done = annals({"import", "--data", directory / "data", directory / "in"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_TRUE(done.output.starts_with("imported 4: ")) << done.output;
}

TEST(Export, WritesLiveResourcesByTypeAndImportTakesThemBack) {
    const TemporaryDirectory directory;
    import_history(directory / "a");
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

TEST(Generate, GivesAFileItsNameWhenItIsWhole) {
    const TemporaryDirectory directory;
    for (const char* form : {"transaction", "history", "ndjson"}) {
        const std::string folder = directory / form;
        const std::vector<std::string> arguments{"generate", "--patients", "1",   "--form",
                                                 form,       "--to",       folder};
        std::vector<std::string> limited{"-c", R"(ulimit -f 16; exec "$0" "$@")", kBinary};
        limited.insert(limited.end(), arguments.begin(), arguments.end());
        EXPECT_EQ(test::run_program("/bin/sh", limited).exit_code, 1) << form;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            EXPECT_EQ(entry.path().extension(), ".partial") << entry.path();
        }
        EXPECT_EQ(annals(arguments).exit_code, 0) << form;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
        }
    }
}

TEST(Export, BeginsItsUrlsWithNothingButAServersRoot) {
    const TemporaryDirectory directory;
    import_history(directory / "data");
    std::vector<std::string> arguments{
        "export",     "--data", directory / "data", "--to", directory / "saved", "--history",
        "--base-url", ""};
    for (const char* wrong : {"a\"b", "http://a\"b/fhir", "http://a/\nfhir", "http://a/\xff",
                              "http://a/fhir?x=1", "fhir"}) {
        arguments.back() = wrong;
        EXPECT_EQ(annals(arguments).exit_code, 2) << wrong;
        EXPECT_FALSE(std::filesystem::exists(directory / "saved")) << wrong;
    }
    arguments.back() = "https://a.example/fhir/";
    EXPECT_EQ(annals(arguments).exit_code, 0);
    const std::string lines = test::read_whole_file(directory / "saved/history.ndjson");
    EXPECT_TRUE(lines.starts_with(R"({"fullUrl":"https://a.example/fhir/Patient/1/_history/1",)"))
        << lines;
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
    test::write_whole_file(file, "mine");
    import_history(directory / "a");
    for (const std::string& to : {file, file + "/below"}) {
        for (const std::string command : {"export", "backup"}) {
            const Finished done = annals({command, "--data", directory / "a", "--to", to});
            EXPECT_EQ(done.exit_code, 2) << command << ' ' << to;
            EXPECT_TRUE(one_line(done.errors)) << done.errors;
            EXPECT_NE(done.errors.find(to), std::string::npos) << done.errors;
        }
    }
    const std::string backup = directory / "backup";
    ASSERT_EQ(annals({"backup", "--data", directory / "a", "--to", backup}).exit_code, 0);
    for (const std::string& to : {file, file + "/below"}) {
        const Finished done = annals({"restore", "--from", backup, "--data", to});
        EXPECT_EQ(done.exit_code, 2) << to;
        EXPECT_TRUE(one_line(done.errors)) << done.errors;
    }
    EXPECT_EQ(test::read_whole_file(file), "mine");
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

TEST(CommandLine, ExportsFromAServerWhatIsWholeAndNamesWhatIsDamagedThere) {
    const test::HttpEndpoint server([](const std::string& request) {
        const std::size_t begin = request.find(' ') + 1;
        const std::string target = request.substr(begin, request.find(' ', begin) - begin);
        return test::HttpEndpoint::Answer{
            200, R"({"resourceType":"Bundle","type":"history","link":[{"relation":"self","url":")" +
                     target +
                     R"("}],"entry":[{"response":{"status":"500 Internal Server Error","outcome":)"
                     R"({"resourceType":"OperationOutcome","issue":[{"severity":"error",)"
                     R"("code":"exception","diagnostics":"This version is damaged"}]}}},)"
                     R"({"request":{"method":"DELETE","url":"Patient/b"},)"
                     R"("response":{"status":"410 Gone","etag":"W/\"2\""}}]})"};
    });
    const TemporaryDirectory directory;
    const Finished done =
        annals({"export", "--server", server.url(), "--to", directory / "out", "--history"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.output.find("exported 2 versions"), std::string::npos) << done.output;
    EXPECT_NE(done.errors.find("history.ndjson:1: This version is damaged\n"), std::string::npos)
        << done.errors;
    EXPECT_NE(done.errors.find("1 of these are damaged at the server"), std::string::npos)
        << done.errors;
    EXPECT_TRUE(std::filesystem::exists(directory / "out/history.ndjson"));
}

TEST(Import, GoesOnWhereTheServerHasClosedAnIdleConnectionWithTls) {
    const TemporaryDirectory directory;
    const test::Certificate certificate("annals");
    certificate.write(directory / "cert.pem", directory / "key.pem");
    RunningServer server(
        kBinary, directory / "data",
        {"--set", "tls.cert_file=" + (directory / "cert.pem"), "--set",
         "tls.key_file=" + (directory / "key.pem"), "--set", "limits.idle_timeout=1s"});
    ASSERT_TRUE(server.url().starts_with("https://")) << server.process().errors();

    // Enough for a batch to be sent before the pause.
    const std::string line = R"({"resourceType":"Patient","name":[{"text":")" +
                             std::string(8000, 'x') +
                             R"("}]})"
                             "\n";
    const std::string lines = directory / "lines";
    ASSERT_EQ(::mkfifo(lines.c_str(), 0600), 0);
    std::signal(SIGPIPE, SIG_IGN);
    std::thread writer([&] {
        std::ofstream out(lines);
        for (int i = 0; i < 800; ++i) {
            out << line << std::flush;
            if (i == 399) {
                std::this_thread::sleep_for(seconds(3));
            }
        }
    });
    ::setenv("SSL_CERT_FILE", std::string(directory / "cert.pem").c_str(), 1);
    const Finished done = test::run_program(
        kBinary, {"import", "--server", server.url(), "--connections", "1"}, seconds(60), lines);
    ::unsetenv("SSL_CERT_FILE");
    writer.join();
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_TRUE(done.output.starts_with("imported 800: ")) << done.output;
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
