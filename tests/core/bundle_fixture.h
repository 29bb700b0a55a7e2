// BundleFixture: a service over a store of its own, called as net calls it, for tests of bundles.
//
// Threads: requests run on the thread of a loop; the test waits for their answers.

#pragma once

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "core/interactions/entry_answer.h"
#include "core/service.h"
#include "storage/file_system.h"
#include "storage/store.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::core {

inline constexpr std::string_view kBase = "http://test/fhir";

struct Sent {
    HttpMethod method = HttpMethod::get;
    std::string path;
    std::string query = {};
    std::string body = {};
    std::vector<std::pair<std::string, std::string>> headers = {};
    bool oversized = false;
};

struct Received {
    int status = 0;
    std::string body;
    std::optional<VersionNumber> etag;
    std::size_t place = 0;  ///< how many were answered before it
};

/// A server without sockets.
class TestService {
  public:
    explicit TestService(Config config = {}, storage::FileSystem& fs = storage::posix_file_system(),
                         storage::StoreOptions options = {}) {
        if (!options.search) {
            options.search = search_setup(config);
        }
        auto opened = storage::Store::open(fs, directory_ / "store", std::move(options));
        EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().detail);
        store_ = *std::move(opened);
        service_ = std::make_unique<Service>(config, *store_);
        loop_ = std::make_unique<Loop>(*store_);
        thread_ = std::thread([this] { loop_->run(); });
    }

    ~TestService() {
        loop_->stop();
        thread_.join();
        loop_.reset();
        service_.reset();
        store_.reset();
    }

    TestService(const TestService&) = delete;
    TestService& operator=(const TestService&) = delete;

    storage::Store& store() { return *store_; }

    const Service& service() const { return *service_; }

    /// Starts all requests at once and waits for their answers.
    std::vector<Received> send_all(const std::vector<Sent>& all) {
        std::vector<std::promise<Received>> promises(all.size());
        std::promise<void> started;
        loop_->post([&] {
            for (std::size_t i = 0; i < all.size(); ++i) {
                spawn(*loop_, "test request", answer(all[i], promises[i]));
            }
            started.set_value();
        });
        started.get_future().wait();
        std::vector<Received> answers;
        for (auto& promise : promises) {
            answers.push_back(promise.get_future().get());
        }
        return answers;
    }

    Received send(Sent sent) { return send_all({std::move(sent)}).front(); }

    Received get(std::string path) { return send({HttpMethod::get, std::move(path)}); }

    Received put(std::string path, std::string body) {
        return send({HttpMethod::put, std::move(path), {}, std::move(body)});
    }

    Received submit(std::string bundle) {
        return send({HttpMethod::post, "", {}, std::move(bundle)});
    }

  private:
    asio::awaitable<void> answer(const Sent& sent, std::promise<Received>& promise) {
        Request request;
        request.method = sent.method;
        request.path = sent.path;
        request.query = sent.query;
        request.body = sent.body;
        request.base_url = kBase;
        request.request_id = "test";
        request.loop = loop_.get();
        request.oversized = sent.oversized;
        for (const auto& [name, value] : sent.headers) {
            request.headers.push_back({name, value});
        }
        Response response = co_await handle(*service_, request);
        Received answer;
        answer.status = response.status;
        answer.etag = response.etag;
        bool more = response.more != nullptr;
        while (more) {
            Body slice;
            more = response.more->next(slice);
            response.body.append(std::move(slice));
        }
        answer.body = response.body.str();
        answer.place = answered_++;
        promise.set_value(std::move(answer));
    }

    test::TemporaryDirectory directory_;
    std::unique_ptr<storage::Store> store_;
    std::unique_ptr<Service> service_;
    std::unique_ptr<Loop> loop_;
    std::thread thread_;
    std::size_t answered_ = 0;  ///< used by the loop
};

/// Limits the answers inside one Bundle to 64 KiB in total: six resources of ten thousand bytes, and no more.
inline Config with_little_room() {
    Config config;
    config.limits.max_body = (64 << 10) / kAnswerBodies;
    return config;
}

/// A body, parsed for inspection.
class Json {
  public:
    explicit Json(std::string_view text) {
        json::Parser parser(kJsonWrappedDepthMax);
        auto parsed = parser.parse(text);
        EXPECT_TRUE(parsed.has_value()) << text.substr(0, 300);
        if (parsed) {
            document_ = *std::move(parsed);
        }
    }

    json::Value root() const { return document_.text().empty() ? json::Value() : document_.root(); }

    json::Value entry(std::size_t index) const {
        std::size_t i = 0;
        for (const json::Value value : root()["entry"].elements()) {
            if (i++ == index) {
                return value;
            }
        }
        return {};
    }

    /// The "201" in entry[index].response.status.
    std::string status(std::size_t index) const {
        return entry(index)["response"]["status"].string().substr(0, 3);
    }

    /// The statuses of all entries: "201 200 404".
    std::string statuses() const {
        std::string all;
        for (std::size_t i = 0; i < root()["entry"].size(); ++i) {
            all += (i == 0 ? "" : " ") + status(i);
        }
        return all;
    }

    /// A member of the first issue of an OperationOutcome.
    static std::string issue(json::Value outcome, std::string_view member) {
        for (const json::Value issue : outcome["issue"].elements()) {
            return issue[member].string();
        }
        return {};
    }

    std::string issue(std::string_view member) const { return issue(root(), member); }

    std::string issue(std::size_t index, std::string_view member) const {
        return issue(entry(index)["response"]["outcome"], member);
    }

  private:
    json::Document document_;
};

/// "a b": the ids of a Bundle's resources, which must be as many as its total says; the status if that isn't 200.
inline std::string ids_of_all(const Received& answer) {
    if (answer.status != 200) {
        return std::to_string(answer.status);
    }
    const Json bundle(answer.body);
    std::string ids;
    for (const json::Value entry : bundle.root()["entry"].elements()) {
        ids += (ids.empty() ? "" : " ") + entry["resource"]["id"].string();
    }
    EXPECT_EQ(bundle.root()["total"].raw(), std::to_string(bundle.root()["entry"].size()));
    return ids;
}

/// A Bundle of serialized entries.
inline std::string bundle_of(std::string_view type, const std::vector<std::string>& entries) {
    std::string text = R"({"resourceType":"Bundle","type":")" + std::string(type) + '"';
    for (std::size_t i = 0; i < entries.size(); ++i) {
        text += (i == 0 ? R"(,"entry":[)" : ",") + entries[i];
    }
    return text + (entries.empty() ? "}" : "]}");
}

/// An entry: request and, if given, resource; `more` are further members ("\"fullUrl\":\"urn:uuid:1\"").
inline std::string entry_of(std::string_view method, std::string_view url,
                            std::string_view resource = {}, std::string_view more = {},
                            std::string_view more_of_request = {}) {
    std::string text = "{";
    if (!more.empty()) {
        text += std::string(more) + ',';
    }
    if (!resource.empty()) {
        text += R"("resource":)" + std::string(resource) + ',';
    }
    text +=
        R"("request":{"method":")" + std::string(method) + R"(","url":")" + std::string(url) + '"';
    if (!more_of_request.empty()) {
        text += ',' + std::string(more_of_request);
    }
    return text + "}}";
}

inline std::string patient_json(std::string_view id, std::string_view more = {}) {
    std::string text = R"({"resourceType":"Patient")";
    if (!id.empty()) {
        text += R"(,"id":")" + std::string(id) + '"';
    }
    if (!more.empty()) {
        text += ',' + std::string(more);
    }
    return text + '}';
}

/// A Patient nested this deep.
inline std::string deep_patient(std::string_view id, std::size_t levels) {
    return patient_json(
        id, R"("x":)" + std::string(levels - 1, '[') + "1" + std::string(levels - 1, ']'));
}

/// A Patient of about this many bytes.
inline std::string long_patient(std::string_view id, std::size_t bytes) {
    return patient_json(id, R"("name":[{"text":")" + std::string(bytes, 'x') + R"("}])");
}

}  // namespace annals::core
