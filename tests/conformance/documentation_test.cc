// Users copy from the pages of docs/api: their curl examples are run as they are, against the real binary.

#include "core/operations/operations.h"
#include "tests/support/archives.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/http_exchange.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace annals {
namespace {

const std::filesystem::path kPages = ANNALS_SOURCE_DIR "/docs/api";

/// The shell blocks of a page, joined.
std::string examples_of(const std::filesystem::path& page) {
    std::string examples;
    bool inside = false;
    std::istringstream lines(test::read_whole_file(page.string()));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("```")) {
            inside = line == "```sh";
        } else if (inside && !line.starts_with("python3 ")) {
            examples += line + "\n";
        }
    }
    return examples;
}

std::vector<std::string> pages_with_examples() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(kPages)) {
        if (examples_of(entry.path()).find("curl ") != std::string::npos) {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
        text.replace(at, what.size(), by);
    }
}

/// Precedes the examples: a curl that fails if the answer is an error, and the id of the last job begun.
constexpr std::string_view kShell = R"(
set -e
curl() {
    if [ "$1" = -N ]; then
        command curl -sS --fail --max-time 2 "$@" || [ $? = 28 ]
        return
    fi
    command curl -sS --fail-with-body --max-time 60 -D head "$@"
    cat head >> heads
}
job() {
    sed -n 's,^[Cc]ontent-[Ll]ocation: .*/\([0-9a-f-]*\).*$,\1,p' heads | tail -n 1
}
)";

/// A store with what the examples refer to, and a directory to run them in.
class Documented {
  public:
    explicit Documented(const std::string& page) {
        write_files();
        server_.emplace(
            ANNALS_BINARY, directory_ / "annals-data",
            std::vector<std::string>{
                "--set", "packages_dir=\"" + directory_ / "packages" + "\"", "--set",
                "subscriptions.enabled=true", "--set",
                "subscriptions.endpoints=[\"https://hooks.example.org/fhir/\"]", "--set",
                page == "history-deletion" ? "hard_delete=true" : "hard_delete=false"});
        EXPECT_FALSE(server_->url().empty()) << server_->process().errors();
        fill(page == "update" ? 1 : 3);
        if (page == "restore") {
            back_up();
        }
    }

    test::Finished run(std::string examples) {
        replace_all(examples, "http://127.0.0.1:8080/fhir", server_->url());
        replace_all(examples, "8b1a9953-c461-4296-a827-abf8c47804d7", "$(job)");
        replace_all(examples, "_asOf=2026-01-02T03:04:05Z", "_asOf=" + instant_);
        return test::run_program(
            "/bin/sh", {"-c", fmt::format("cd '{}'\n{}{}", directory_.path(), kShell, examples)});
    }

  private:
    void write_files() {
        const std::string patient = R"({"resourceType":"Patient","id":"1","active":true})";
        test::write_whole_file(directory_ / "Patient.ndjson", patient + "\n");
        test::write_whole_file(directory_ / "patient.json", patient);
        test::write_whole_file(directory_ / "a.png", "\x89PNG\r\n\x1a\n");
        std::filesystem::create_directories(directory_ / "packages");
        test::write_whole_file(
            directory_ / "packages/hl7.fhir.us.core#3.1.1.tgz",
            test::make_package(
                "hl7.fhir.us.core", "3.1.1",
                {R"({"resourceType":"ValueSet","id":"us-core-smoking","status":"active",
                                   "url":"http://hl7.org/fhir/us/core/ValueSet/us-core-smoking"})"}));
    }

    test::HttpResponse send(const std::string& method, const std::string& target,
                            const std::string& body) {
        const test::HttpResponse response = test::exchange(
            static_cast<std::uint16_t>(server_->port()), method, "/fhir" + target, body,
            {{"Content-Type", "application/fhir+json"}, {"X-Request-Id", "nightly-load-7"}});
        EXPECT_TRUE(response.status == 200 || response.status == 201)
            << target << ": " << response.body;
        return response;
    }

    /// Makes the backup for the restore.
    void back_up() {
        const auto ask = [this](const char* method, const char* target) {
            return test::exchange(static_cast<std::uint16_t>(server_->port()), method, target, "",
                                  {});
        };
        EXPECT_EQ(ask("POST", "/fhir/$backup?to=nightly").status, 202);
        int status = 202;
        while (status == 202) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            status = ask("GET", "/fhir/$backup").status;
        }
        EXPECT_EQ(status, 200);
    }

    void fill(int versions) {
        test::HttpResponse patient;
        for (int i = 0; i < versions; ++i) {
            patient = send(
                "PUT", "/Patient/1",
                fmt::format(
                    R"({{"resourceType":"Patient","id":"1","active":true,"name":[{{"family":"Smith","given":["A{}"]}}]}})",
                    i));
        }
        std::string bundle = R"({"resourceType":"Bundle","type":"transaction","entry":[)";
        for (int i = 0; i < 140; ++i) {
            bundle += fmt::format(
                R"({{"resource":{{"resourceType":"Observation","status":"final","code":{{"text":"{}"}},)"
                R"("subject":{{"reference":"Patient/1"}}}},"request":{{"method":"POST","url":"Observation"}}}},)",
                i);
        }
        send(
            "POST", "",
            bundle +
                R"({"resource":{"resourceType":"Composition","id":"1","status":"final","type":{"text":"note"},"title":"Note",
                     "date":"2026-01-01","author":[{"reference":"Patient/1"}],"subject":{"reference":"Patient/1"}},
                     "request":{"method":"PUT","url":"Composition/1"}},
                    {"resource":{"resourceType":"ConceptMap","id":"map","url":"http://example.org/map","status":"active","group":[
                     {"source":"http://example.org/a","target":"http://example.org/b","element":[
                      {"code":"1","target":[{"code":"2","equivalence":"equivalent"}]}]}]},
                     "request":{"method":"PUT","url":"ConceptMap/map"}}]})");
        const std::string& body = patient.body;
        const std::size_t at = body.find("lastUpdated\":\"");
        ASSERT_NE(at, std::string::npos) << body;
        instant_ = body.substr(at + 14, body.find('"', at + 14) - at - 14);
    }

    test::TemporaryDirectory directory_;
    std::optional<test::RunningServer> server_;
    std::string instant_;
};

class Documentation : public testing::TestWithParam<std::string> {};

TEST_P(Documentation, HasExamplesThatWork) {
    if (test::run_program("/bin/sh", {"-c", "command -v curl"}).exit_code != 0) {
        GTEST_SKIP() << "there is no curl";
    }
    Documented documented(GetParam());
    const std::string examples = examples_of(kPages / (GetParam() + ".md"));
    const test::Finished finished = documented.run(examples);
    EXPECT_EQ(finished.exit_code, 0)
        << examples << finished.output.substr(0, 4000) << finished.errors;
}

INSTANTIATE_TEST_SUITE_P(Pages, Documentation, testing::ValuesIn(pages_with_examples()),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(Documentation, HasAPageForEveryOperationWithAnExampleOfIt) {
    const std::string table = test::read_whole_file((kPages / "operations.md").string());
    for (const core::Operation& operation : core::operations()) {
        const std::size_t row = table.find(fmt::format("`{}`", operation.name));
        ASSERT_NE(row, std::string::npos) << operation.name;
        const std::size_t link = table.find("](", row);
        ASSERT_LT(link, table.find('\n', row)) << operation.name;
        const std::string page = table.substr(link + 2, table.find(')', link) - link - 2);
        const std::string examples = examples_of(kPages / page);
        bool found = false;
        for (std::size_t at = 0; (at = examples.find(operation.name, at)) != std::string::npos;
             at += operation.name.size()) {
            const std::size_t end = at + operation.name.size();
            found = found || end == examples.size() ||
                    std::string_view("'? \n").find(examples[end]) != std::string_view::npos;
        }
        EXPECT_TRUE(found) << page << " has no example of " << operation.name;
    }
}

}  // namespace
}  // namespace annals
