#include "tests/support/service_fixture.h"

#include "core/base/base64.h"
#include "core/jobs/jobs.h"

#include <fmt/format.h>

#include <future>

namespace annals::test {

namespace {

core::HttpMethod method_of(std::string_view name) {
    for (const auto method : {core::HttpMethod::get, core::HttpMethod::head, core::HttpMethod::post,
                              core::HttpMethod::put, core::HttpMethod::patch,
                              core::HttpMethod::delete_, core::HttpMethod::options}) {
        if (core::method_name(method) == name) {
            return method;
        }
    }
    return core::HttpMethod::other;
}

Answer read_answer(core::Response response) {
    Answer answer;
    answer.status = response.status;
    answer.body = response.body.str();
    bool more = response.more != nullptr;
    while (more) {
        core::Body slice;
        more = response.more->next(slice);
        answer.body += slice.str();
        ++answer.slices;
    }
    if (!answer.body.empty()) {
        answer.content_type = response.media_type.empty()
                                  ? std::string(core::content_type_name(response.content_type))
                                  : response.media_type;
    }
    answer.etag = response.etag ? response.etag->value : 0;
    answer.position = response.position ? response.position->value : 0;
    answer.has_last_modified = response.last_modified.has_value();
    answer.last_modified = response.last_modified.value_or(Instant{});
    answer.location = std::move(response.location);
    answer.content_location = std::move(response.content_location);
    answer.cache_control = response.cache_control;
    answer.allow = std::move(response.allow);
    answer.headers = std::move(response.headers);
    answer.entries = std::move(response.entries);
    return answer;
}

// A parameter of the coroutine, so that it lives as long as its frame.
asio::awaitable<void> run_request(const core::Service& service, const core::Request& request,
                                  std::promise<Answer>& promise) {
    core::Response response = co_await core::handle(service, request);
    promise.set_value(read_answer(std::move(response)));
}

}  // namespace

ServiceFixture::ServiceFixture() : files_(std::shared_ptr<void>(), &storage::posix_file_system()) {
    start(core::Config());
}

ServiceFixture::~ServiceFixture() {
    stop();
}

void ServiceFixture::restart(const core::Config& config) {
    stop();
    start(config);
}

void ServiceFixture::restart_on(std::shared_ptr<storage::FileSystem> files,
                                const core::Config& config) {
    stop();
    files_ = std::move(files);
    start(config);
}

void ServiceFixture::start(const core::Config& config) {
    storage::StoreOptions options = store_options_;
    options.search = core::search_setup(config);
    auto store = storage::Store::open(*files_, directory_.path(), std::move(options));
    ANNALS_CHECK(store.has_value(), store.error().detail);
    store_ = *std::move(store);
    core::Config settings = config;
    settings.data = directory_.path();
    service_ = std::make_unique<core::Service>(settings, *store_, *files_);
    service_->jobs().start();
    loop_ = std::make_unique<core::Loop>(*store_);
    thread_ = std::thread([this] { loop_->run(); });
}

void ServiceFixture::stop() {
    loop_->stop();
    thread_.join();
    loop_.reset();
    service_.reset();
    store_.reset();
}

Answer ServiceFixture::send(std::string_view method, std::string_view target, std::string_view body,
                            const Headers& headers) {
    return send_on(*loop_, method, target, body, headers);
}

Answer ServiceFixture::send_on(core::Loop& loop, std::string_view method, std::string_view target,
                               std::string_view body, const Headers& headers) {
    return send_for(principal_, loop, method, target, body, headers);
}

Answer ServiceFixture::send_for(const core::Principal* principal, core::Loop& loop,
                                std::string_view method, std::string_view target,
                                std::string_view body, const Headers& headers) {
    const std::size_t mark = target.find('?');
    core::Request request;
    request.method = method_of(method);
    request.path = target.substr(0, mark);
    request.query = mark == std::string_view::npos ? "" : target.substr(mark + 1);
    for (const auto& [name, value] : headers) {
        request.headers.push_back({name, value});
    }
    request.min_position = request.header("X-Annals-Min-Position");
    request.body = body;
    request.base_url = kBaseUrl;
    request.request_id = "test-1";
    request.client_request_id = request.header("X-Request-Id").value_or("");
    request.loop = &loop;
    request.principal = principal;

    std::promise<Answer> promise;
    std::future<Answer> future = promise.get_future();
    loop.post([&] { core::spawn(loop, "test request", run_request(*service_, request, promise)); });
    return future.get();
}

void ServiceFixture::on_loop(const std::function<void()>& work) {
    std::promise<void> done;
    loop_->post([&] {
        work();
        done.set_value();
    });
    done.get_future().get();
}

int ServiceFixture::put_patient(std::string_view id, std::string_view family,
                                const Headers& headers) {
    return send("PUT", fmt::format("/Patient/{}", id), patient(id, family), headers).status;
}

void ServiceFixture::install_package(std::string_view archive) {
    std::string text;
    append_base64(archive, text);
    const Answer answer = send(
        "POST", "/$install-package",
        R"({"resourceType":"Parameters","parameter":[{"name":"package","valueBase64Binary":")" +
            text + R"("}]})");
    ASSERT_EQ(answer.status, 200) << answer.body;
}

std::optional<json::Document> ServiceFixture::bundle_in(const Answer& answer,
                                                        std::string_view type) {
    json::Parser parser;
    Result<json::Document> document = parser.parse(answer.body);
    EXPECT_TRUE(document.has_value()) << answer.body;
    if (!document || answer.status != 200) {
        return {};
    }
    EXPECT_TRUE(document->root()["type"].equals(type));
    EXPECT_EQ(answer.cache_control, "no-cache");
    return *std::move(document);
}

std::map<std::string, std::string> ServiceFixture::links_of(json::Value bundle) {
    std::map<std::string, std::string> links;
    for (const json::Value link : bundle["link"].elements()) {
        const std::string url = link["url"].string();
        EXPECT_TRUE(url.starts_with(kBaseUrl)) << url;
        links[link["relation"].string()] = url.substr(kBaseUrl.size());
    }
    return links;
}

std::string patient(std::string_view id, std::string_view family) {
    return fmt::format(R"({{"resourceType":"Patient",{}"name":[{{"family":{}}}]}})",
                       id.empty() ? "" : fmt::format(R"("id":"{}",)", id), json::quoted(family));
}

std::string patient_with(std::string_view id,
                         const std::vector<std::pair<std::string, std::string>>& identifiers) {
    std::string list;
    for (const auto& [system, value] : identifiers) {
        list += fmt::format(R"({}{{"system":"{}","value":"{}"}})", list.empty() ? "" : ",", system,
                            value);
    }
    return fmt::format(R"({{"resourceType":"Patient",{}"identifier":[{}]}})",
                       id.empty() ? "" : fmt::format(R"("id":"{}",)", id), list);
}

}  // namespace annals::test
