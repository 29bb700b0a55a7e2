// Replays the conversations in cases/ over a socket; see README.md there for their form.

#include "codec/json/document.h"
#include "core/search/indexing.h"
#include "core/service.h"
#include "net/server.h"
#include "storage/file_system.h"
#include "storage/store.h"
#include "tests/support/http_exchange.h"
#include "tests/support/temporary_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace annals {
namespace {

struct Exchange {
    int line = 0;
    std::string sentence;
    std::vector<std::string> request;   ///< lines after "> "
    std::vector<std::string> expected;  ///< lines after "< "
};

struct Conversation {
    std::vector<std::string> settings;
    std::vector<Exchange> exchanges;
};

Conversation read_conversation(const std::filesystem::path& path) {
    Conversation conversation;
    std::ifstream file(path);
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        if (line.starts_with("config ")) {
            std::string setting = line.substr(7);
            setting.erase(std::remove(setting.begin(), setting.end(), ' '), setting.end());
            conversation.settings.push_back(setting);
        } else if (line.starts_with("== ")) {
            conversation.exchanges.push_back({number, line.substr(3), {}, {}});
        } else if (line.starts_with(">")) {
            EXPECT_FALSE(conversation.exchanges.empty()) << path << ":" << number;
            conversation.exchanges.back().request.push_back(line.substr(line.size() > 1 ? 2 : 1));
        } else if (line.starts_with("< ")) {
            EXPECT_FALSE(conversation.exchanges.empty()) << path << ":" << number;
            conversation.exchanges.back().expected.push_back(line.substr(2));
        } else {
            EXPECT_TRUE(line.empty() || line.starts_with("#")) << path << ":" << number;
        }
    }
    return conversation;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) {
        return text.empty();
    }
    if (pattern.front() == '*') {
        for (std::size_t i = 0; i <= text.size(); ++i) {
            if (matches_glob(pattern.substr(1), text.substr(i))) {
                return true;
            }
        }
        return false;
    }
    return !text.empty() && text.front() == pattern.front() &&
           matches_glob(pattern.substr(1), text.substr(1));
}

// The value at a place like ".entry[0].response.status"; missing if any step is.
json::Value find_place(const json::Document& document, std::string_view place) {
    json::Value value = document.root();
    while (!place.empty() && value) {
        if (place.front() == '.') {
            const std::size_t end = std::min(place.find_first_of(".[", 1), place.size());
            value = end == 1 ? value : value[place.substr(1, end - 1)];
            place.remove_prefix(end);
        } else {
            std::size_t index = 0;
            const std::size_t close = place.find(']');
            std::from_chars(place.data() + 1, place.data() + close, index);
            json::Value found;
            for (const json::Value element : value.elements()) {
                if (index-- == 0) {
                    found = element;
                    break;
                }
            }
            value = found;
            place.remove_prefix(close + 1);
        }
    }
    return value;
}

std::string text_of(json::Value value) {
    return value.is_string() ? value.string() : std::string(value.raw());
}

/// For a job's status: the request is repeated as long as the answer is 202.
constexpr std::string_view kWhileAccepted = "202 then ";

class Replay {
  public:
    explicit Replay(const Conversation& conversation) {
        core::ConfigSources sources;
        sources.sets = conversation.settings;
        sources.sets.push_back("listen=\"127.0.0.1:0\"");
        sources.sets.push_back("threads=1");
        sources.sets.push_back("data=\"" + directory_ / "data" + "\"");
        auto config = core::load_config(sources);
        if (!config) {
            ADD_FAILURE() << config.error().detail;
            return;
        }
        config->data = directory_ / "data";
        storage::StoreOptions options;
        options.segment_bytes = 4 << 20;
        options.search = core::search_setup(*config);
        auto store =
            storage::Store::open(storage::posix_file_system(), directory_ / "data", options);
        if (!store) {
            ADD_FAILURE() << store.error().detail;
            return;
        }
        store_ = *std::move(store);
        service_ = std::make_unique<core::Service>(*config, *store_);
        auto server = net::Server::start(*service_);
        if (!server) {
            ADD_FAILURE() << server.error().detail;
            return;
        }
        server_ = *std::move(server);
        variables_["base"] = server_->url();
    }

    void play(const Exchange& exchange) {
        if (server_ == nullptr) {
            return;
        }
        ASSERT_FALSE(exchange.request.empty());
        const std::string first = fill_in(exchange.request[0]);
        const std::size_t blank = first.find(' ');
        ASSERT_NE(blank, std::string::npos) << first;
        const std::string method = first.substr(0, blank);
        std::string target = first.substr(blank + 1);
        if (target.starts_with(server_->url())) {
            target.erase(0, server_->url().size());
        }
        target = target.starts_with("//") ? target.substr(1) : "/fhir" + target;

        std::vector<std::pair<std::string, std::string>> headers;
        std::size_t i = 1;
        bool typed = false;
        for (; i < exchange.request.size() && !exchange.request[i].empty(); ++i) {
            const std::string header = fill_in(exchange.request[i]);
            const std::size_t colon = header.find(':');
            ASSERT_NE(colon, std::string::npos) << header;
            typed = typed || header.starts_with("Content-Type");
            headers.emplace_back(header.substr(0, colon), header.substr(colon + 2));
        }
        std::string body;
        for (++i; i < exchange.request.size(); ++i) {
            body += fill_in(exchange.request[i]);
            body += i + 1 < exchange.request.size() ? "\n" : "";
        }
        if (!body.empty() && !typed) {
            headers.emplace_back("Content-Type", "application/fhir+json");
        }
        // Instants have milliseconds: conversations with _at and _since need their writes apart.
        std::this_thread::sleep_for(std::chrono::milliseconds(method == "GET" ? 0 : 2));
        test::HttpResponse response =
            test::exchange(server_->port(), method, target, body, headers);
        if (exchange.expected.front().starts_with(kWhileAccepted)) {
            const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
            while (response.status == 202 && std::chrono::steady_clock::now() < end) {
                std::this_thread::sleep_for(std::chrono::milliseconds(200));
                response = test::exchange(server_->port(), method, target, body, headers);
            }
        }
        std::string shown = std::to_string(response.status) + "\n";
        std::set<std::string> names;
        for (const auto& [name, value] : response.headers) {
            shown += name + ": " + value + "\n";
            // RFC 9110 section 5.3: only some headers may be repeated.
            EXPECT_TRUE(names.insert(name).second || name == "WWW-Authenticate")
                << name << " comes twice";
        }
        SCOPED_TRACE(shown + "\n" + response.body.substr(0, 2000));
        for (const std::string& expected : exchange.expected) {
            check(expected, response);
        }
    }

  private:
    std::string fill_in(std::string text) const {
        for (const auto& [name, value] : variables_) {
            const std::string mark = "$" + name;
            for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;
                 at += value.size()) {
                text.replace(at, mark.size(), value);
            }
        }
        return text;
    }

    void check(const std::string& line, const test::HttpResponse& response) {
        if (line.find_first_not_of("0123456789") == std::string::npos) {
            EXPECT_EQ(std::to_string(response.status), line);
        } else if (line.starts_with(kWhileAccepted)) {
            EXPECT_EQ(std::to_string(response.status), line.substr(kWhileAccepted.size()));
        } else if (line == "empty") {
            EXPECT_TRUE(response.body.empty());
        } else if (line.starts_with("body = ")) {
            EXPECT_EQ(response.body, fill_in(line.substr(7)));
        } else if (line.starts_with("body ~ ")) {
            EXPECT_THAT(response.body, testing::HasSubstr(fill_in(line.substr(7))));
        } else if (line.starts_with("let ")) {
            keep(line.substr(4), response);
        } else if (line.starts_with("!")) {
            EXPECT_FALSE(response.header(line.substr(1))) << line;
        } else if (line.starts_with(".")) {
            check_place(line, response);
        } else {
            const std::size_t colon = line.find(": ");
            ASSERT_NE(colon, std::string::npos) << "not an expectation: " << line;
            const auto value = response.header(line.substr(0, colon));
            ASSERT_TRUE(value) << "no header " << line;
            EXPECT_TRUE(matches_glob(fill_in(line.substr(colon + 2)), *value))
                << line << " but it is " << *value;
        }
    }

    void keep(const std::string& assignment, const test::HttpResponse& response) {
        const std::size_t equals = assignment.find(" = ");
        ASSERT_NE(equals, std::string::npos) << assignment;
        const std::string source = assignment.substr(equals + 3);
        std::string& kept = variables_[assignment.substr(0, equals)];
        if (source.starts_with("header ")) {
            const auto value = response.header(source.substr(7));
            ASSERT_TRUE(value) << source;
            kept = *value;
            return;
        }
        json::Parser parser;
        const auto document = parser.parse(response.body);
        ASSERT_TRUE(document) << assignment;
        const json::Value value = find_place(*document, source);
        ASSERT_TRUE(value) << assignment;
        kept = text_of(value);
    }

    void check_place(const std::string& line, const test::HttpResponse& response) {
        json::Parser parser;
        const auto document = parser.parse(response.body);
        ASSERT_TRUE(document) << "the body is not JSON: " << line;
        const std::size_t blank = line.find(' ');
        ASSERT_NE(blank, std::string::npos) << line;
        const json::Value value = find_place(*document, line.substr(0, blank));
        const std::string rest = line.substr(blank + 1);
        if (rest == "absent") {
            EXPECT_FALSE(value) << line;
            return;
        }
        ASSERT_TRUE(value) << "nothing at " << line;
        if (rest.starts_with("= ")) {
            EXPECT_EQ(text_of(value), fill_in(rest.substr(2))) << line;
        } else if (rest.starts_with("~ ")) {
            EXPECT_NE(text_of(value).find(fill_in(rest.substr(2))), std::string::npos)
                << line << " but it is " << text_of(value);
        } else if (rest.starts_with("# ")) {
            EXPECT_EQ(std::to_string(value.size()), rest.substr(2)) << line;
        } else {
            EXPECT_EQ(rest, "exists") << "not an expectation: " << line;
        }
    }

    test::TemporaryDirectory directory_;
    std::unique_ptr<storage::Store> store_;
    std::unique_ptr<core::Service> service_;
    std::unique_ptr<net::Server> server_;
    std::map<std::string, std::string> variables_;
};

std::vector<std::string> case_names() {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(ANNALS_SOURCE_DIR "/tests/conformance/cases")) {
        names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

class Conformance : public testing::TestWithParam<std::string> {};

TEST_P(Conformance, HoldsOverASocket) {
    const auto path =
        std::filesystem::path(ANNALS_SOURCE_DIR "/tests/conformance/cases") / (GetParam() + ".txt");
    const Conversation conversation = read_conversation(path);
    ASSERT_FALSE(conversation.exchanges.empty()) << path;
    Replay replay(conversation);
    for (const Exchange& exchange : conversation.exchanges) {
        SCOPED_TRACE(path.string() + ":" + std::to_string(exchange.line) + " " + exchange.sentence);
        ASSERT_NO_FATAL_FAILURE(replay.play(exchange));
        ASSERT_FALSE(exchange.expected.empty());
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, Conformance, testing::ValuesIn(case_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace annals
