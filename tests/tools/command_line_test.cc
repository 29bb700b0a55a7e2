// The real binary's command line: exit codes, what goes to which stream, and what it may not read or write.

#include "core/base/parts.h"
#include "tests/support/certificates.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
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
    EXPECT_EQ(annals({"help", "help"}).output, help.output);
    EXPECT_EQ(annals({"help", "--help"}).output, help.output);
    EXPECT_NE(annals({"serve", "--help"}).output.find("history_page_size"), std::string::npos)
        << "its settings";
    const auto columns = [](const std::string& text) {
        std::size_t widest = 0;
        for (std::string_view rest = text; !rest.empty();) {
            widest = std::max(widest, take_until(rest, '\n').size());
        }
        return widest;
    };
    EXPECT_LE(columns(help.output), 80U) << help.output;
    for (const char* name : {"serve", "verify", "backup", "restore", "compact", "export", "import",
                             "replicate", "generate", "bench"}) {
        EXPECT_NE(help.output.find(std::string("\n  ") + name), std::string::npos) << name;
        const Finished one = annals({name, "--help"});
        EXPECT_LE(columns(one.output), 80U) << one.output;
        EXPECT_EQ(one.exit_code, 0) << name;
        EXPECT_TRUE(one.errors.empty()) << name;
        EXPECT_EQ(annals({"help", name}).output, one.output) << name;
    }
}

TEST(CommandLine, RefusesWhatItDoesNotKnowWithCodeTwo) {
    for (const std::vector<std::string>& wrong :
         {std::vector<std::string>{},
          std::vector<std::string>{"unknown"},
          std::vector<std::string>{"--version", "more"},
          std::vector<std::string>{"help", "more"},
          std::vector<std::string>{"help", "serve", "more"},
          std::vector<std::string>{"--help", "serve"},
          std::vector<std::string>{"serve", "--unknown"},
          std::vector<std::string>{"verify"},
          std::vector<std::string>{"export", "--to", "x"},
          std::vector<std::string>{"import"},
          std::vector<std::string>{"import", "--server", "ftp://h/fhir"},
          std::vector<std::string>{"replicate", "--from", "http://h/fhir", "--to", "http://i/fhir",
                                   "--verify", "--follow"},
          std::vector<std::string>{"replicate", "--from", "http://h/fhir", "--to", "http://i/fhir",
                                   "--retry-for", "9999999999"},
          std::vector<std::string>{"replicate", "--from", "http://h/fhir", "--to",
                                   "http://h:80/fhir/"},
          std::vector<std::string>{"import", "--server", "http://h/fhir", "--set", "threads=1"},
          std::vector<std::string>{"import", "--data", "x", "--connections", "257"},
          std::vector<std::string>{"restore", "--from", "x", "--data", "y", "--to-position", "0"},
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
    EXPECT_TRUE(
        annals({"help", "nothing"}).errors.starts_with("annals: unknown command 'nothing'\n"));
}

TEST(CommandLine, SaysWhichArgumentIsNotExpectedAfterHelp) {
    for (const char* const topic : {"serve", "help"}) {
        EXPECT_TRUE(
            annals({"help", topic, "more"})
                .errors.starts_with("annals help: The following argument was not expected: more\n"))
            << topic;
    }
}

TEST(Bench, SaysWhyItsOwnServerCouldNotStart) {
    const TemporaryDirectory directory;
    const Finished done = annals(
        {"bench", "read", "--smoke", "--set", "no_such_key=1", "--directory", directory.path()});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_NE(done.errors.find("unknown key 'no_such_key'"), std::string::npos) << done.errors;
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
    for (const auto& [path, arguments] :
         {std::pair{in + "/hidden",
                    std::vector<std::string>{"import", "--data", directory / "new", in}},
          std::pair{in, std::vector<std::string>{"bench", "import", "--smoke", "--directory",
                                                 directory / "work", "--files", in}}}) {
        const Finished done = run(arguments);
        EXPECT_EQ(done.exit_code, 2) << arguments[0];
        EXPECT_NE(done.errors.find(": " + path + ": Permission denied\n"), std::string::npos)
            << done.errors;
    }
    ASSERT_EQ(::chmod((in + "/hidden").c_str(), 0750), 0);
    for (const std::string& to : {closed, saved}) {
        EXPECT_EQ(run({"restore", "--from", backup, "--data", to}).exit_code, 2) << to;
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
