// The container: built with the README's commands and without a list
// of packages of its own, and its health check. The systemd unit.

#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/temporary_directory.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace annals::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kSource = ANNALS_SOURCE_DIR;

/// The instructions without comments and with lines joined.
std::string containerfile() {
    std::ifstream file(kSource + "/tools/deploy/Containerfile");
    std::string text;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) {
            continue;
        }
        const bool goes_on = line.ends_with('\\');
        line.erase(0, line.find_first_not_of(' '));
        text += goes_on ? line.substr(0, line.size() - 1) : line + '\n';
    }
    return text;
}

bool has_sources(const std::filesystem::path& folder) {
    const std::filesystem::recursive_directory_iterator files(folder);
    return std::any_of(begin(files), end(files),
                       [](const auto& file) { return file.path().extension() == ".cc"; });
}

TEST(Containerfile, BuildsWithTheCommandsOfTheReadme) {
    const std::string text = containerfile();
    EXPECT_THAT(text, HasSubstr("\nRUN tools/setup\n"));
    EXPECT_THAT(text, HasSubstr("\nRUN tools/run --build-only\n"));
    // Everything that CMake reads is copied.
    for (const auto& entry : std::filesystem::directory_iterator(kSource)) {
        const std::string name = entry.path().filename();
        if (entry.is_directory() && !name.starts_with('.') && name != "build" &&
            has_sources(entry.path())) {
            EXPECT_THAT(text, HasSubstr("\nCOPY " + name + " " + name + "\n"));
        } else if (name.starts_with("CMake")) {
            EXPECT_THAT(text, HasSubstr(" " + name + " "));
        }
    }
}

TEST(Containerfile, HasNoListOfPackagesOfItsOwn) {
    const std::string text = containerfile();
    EXPECT_THAT(text, HasSubstr("\nRUN tools/deploy/runtime_packages build/release/annals > "
                                "/runtime-packages\n"));
    const std::string install =
        "xargs -a /tmp/runtime-packages apt-get install -qy --no-install-recommends && ";
    EXPECT_THAT(text, HasSubstr(install));
    EXPECT_EQ(text.find("apt-get install"), text.rfind("apt-get install"));
}

TEST(Containerfile, RunsAsNobodyInParticular) {
    const std::string text = containerfile();
    EXPECT_THAT(text, HasSubstr("\nUSER 10001:10001\n"));
    EXPECT_EQ(text.find("\nUSER "), text.rfind("\nUSER "));
    EXPECT_THAT(text, HasSubstr("\nVOLUME /var/lib/annals\n"));
    EXPECT_THAT(text, HasSubstr(R"(CMD ["/usr/libexec/annals-health"])"));
}

/// The values of `key` in the unit.
std::vector<std::string> unit_values(const std::string& key) {
    std::ifstream file(kSource + "/tools/deploy/annals.service");
    std::vector<std::string> values;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key + "=")) {
            values.push_back(line.substr(key.size() + 1));
        }
    }
    return values;
}

TEST(Unit, LetsTheServerAskWhatIsInMemory) {
    // Without mincore, network threads would read from the device themselves.
    EXPECT_THAT(unit_values("SystemCallFilter"),
                ElementsAre("@system-service", "~@privileged", "mincore"));
}

/// The commands with which the page of operations installs the unit, but for those of systemd, with `root` for the root.
std::string commands_to_install(const std::string& root) {
    const std::string page = read_whole_file(kSource + "/docs/operations.md");
    const std::size_t block = page.find("```sh\n", page.find("\n## Under systemd\n"));
    std::istringstream lines(page.substr(block, page.find("\n```\n", block) - block));
    std::string commands = "set -e; EDITOR=touch\n";
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        if (line.starts_with("systemctl ")) {
            continue;
        }
        const std::size_t built = line.find("build/release/annals");
        if (built != std::string::npos) {
            line.replace(built, 20, ANNALS_BINARY);
        }
        for (const char* folder : {" /usr/", " /etc/"}) {
            for (std::size_t at = 0; (at = line.find(folder, at)) != std::string::npos; ++at) {
                line.insert(at + 1, root);
            }
        }
        commands += line + "\n";
    }
    return commands;
}

TEST(Unit, FindsInPlaceWhatItNames) {
    const TemporaryDirectory root;
    std::filesystem::create_directories(root / "usr/bin");
    std::filesystem::create_directories(root / "etc/systemd/system");
    const Finished installed =
        run_program("/bin/sh", {"-c", "cd '" + kSource + "'\n" + commands_to_install(root.path())});
    ASSERT_EQ(installed.exit_code, 0) << installed.errors;

    ASSERT_EQ(unit_values("Documentation").size(), 1U);
    ASSERT_EQ(unit_values("ExecStart").size(), 1U);
    const std::string page = unit_values("Documentation").front();
    ASSERT_TRUE(page.starts_with("file:/")) << page;
    EXPECT_TRUE(std::filesystem::exists(root.path() + page.substr(5))) << page;
    std::istringstream command(unit_values("ExecStart").front());
    std::string program;
    command >> program;
    const std::filesystem::perms mode =
        std::filesystem::status(root.path() + program).permissions();
    EXPECT_EQ(mode, std::filesystem::perms(0755)) << program;
    EXPECT_TRUE(std::filesystem::exists(root / "etc/systemd/system/annals.service"));
    EXPECT_TRUE(std::filesystem::exists(root / "etc/annals/annals.toml"));
}

int health(const std::string& environment, const std::string& arguments) {
    const std::string command = environment + " " + kSource + "/tools/deploy/health " + arguments;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string port_of(const std::string& url) {
    const std::size_t colon = url.rfind(':');
    return url.substr(colon + 1, url.rfind('/') - colon - 1);
}

TEST(HealthCheck, SaysWhetherTheServerLives) {
    std::atomic<int> status = 200;
    std::atomic<bool> asked_for_health = false;
    const HttpEndpoint server([&](const std::string& request) {
        asked_for_health = request.starts_with("GET /healthz HTTP/1.1\r\n");
        return HttpEndpoint::Answer{status, ""};
    });
    EXPECT_EQ(health("", port_of(server.url())), 0);
    EXPECT_TRUE(asked_for_health);
    EXPECT_EQ(health("ANNALS_LISTEN=0.0.0.0:" + port_of(server.url()), ""), 0);
    status = 503;
    EXPECT_EQ(health("", port_of(server.url())), 1);
    EXPECT_EQ(health("", port_of(deserted_url())), 1);
}

}  // namespace
}  // namespace annals::test
