#include "tests/net/fake_service.h"

#include "net/await.h"
#include "storage/file_system.h"

#include <asio/steady_timer.hpp>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <semaphore>
#include <thread>
#include <utility>

namespace annals::test {

namespace {

std::uint64_t number_of(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// Never destroyed: a server's thread may still be sending it while the process ends.
const std::string& filler() {
    static const auto* const text = new std::string(64 << 20, 'x');
    return *text;
}

std::binary_semaphore holding(0);
std::binary_semaphore letting_go(0);
std::atomic<std::uint64_t> handled{0};

class Slices : public core::BodySource {
  public:
    explicit Slices(std::uint64_t count, bool measured = false)
        : left_(count), measured_(measured) {}

    std::optional<std::uint64_t> size_left() const noexcept override {
        return measured_ ? std::optional(left_ * 10'000) : std::nullopt;
    }

    bool next(core::Body& slice) override {
        slice.append(std::string(10'000, static_cast<char>('a' + left_ % 26)));
        return --left_ > 0;
    }

  private:
    std::uint64_t left_;
    bool measured_;
};

std::string description(const core::Request& request) {
    std::string text =
        fmt::format("{} path={} query={} base={} body={}\n", core::method_name(request.method),
                    request.path, request.query, request.base_url, request.body.size());
    for (const core::Header& header : request.headers) {
        text += fmt::format("{}={}\n", header.name, header.value);
    }
    return text;
}

std::optional<core::Response> plain(const core::Service&, const core::Request& request,
                                    core::Route&) {
    const std::uint64_t before = handled++;
    core::Response response;
    response.content_type = core::ContentType::text;
    if (request.path == "/text") {
        response.body = core::Body("hello");
    } else if (request.path == "/view") {
        response.body.append_view(std::string_view(filler()).substr(0, number_of(request.query)),
                                  nullptr);
        response.etag = VersionNumber{3};
        response.last_modified = Instant{1'767'323'045'678'000};
    } else if (request.path == "/location") {
        response.location = filler().substr(0, number_of(request.query));
    } else if (request.path == "/breaks") {
        constexpr std::array<std::string_view, 3> kBreaks{"\r\n", "\n", "\r"};
        const std::string text = fmt::format("a{}X-Other: b", kBreaks.at(number_of(request.query)));
        response.body = core::Body("hello");
        response.media_type = text;
        response.location = text;
        response.content_location = text;
        response.headers.emplace_back("X-Given", text);
    } else if (request.path == "/pieces") {
        for (std::uint64_t i = 0; i < number_of(request.query); ++i) {
            response.body.append_view(std::string_view(filler()).substr(0, 1000), nullptr);
        }
    } else if (request.path == "/status") {
        response.status = static_cast<int>(number_of(request.query));
    } else if (request.path == "/describe") {
        response.body = core::Body(description(request));
    } else if (request.path == "/slices" || request.path == "/measured") {
        response.body = core::Body("begin:");
        response.more =
            std::make_unique<Slices>(number_of(request.query), request.path == "/measured");
    } else if (request.path == "/block") {
        std::this_thread::sleep_for(std::chrono::milliseconds(number_of(request.query)));
    } else if (request.path == "/hold") {
        holding.release();
        letting_go.acquire();
    } else if (request.path == "/count") {
        response.body = core::Body(std::to_string(before));
    } else if (request.path == "/close") {
        response.body = core::Body("bye");
        response.close = true;
    } else {
        return std::nullopt;
    }
    return response;
}

asio::awaitable<core::Response> awaiting(const core::Service&, const core::Request& request,
                                         const core::Route&) {
    core::Response response;
    response.content_type = core::ContentType::text;
    if (request.path == "/wait") {
        asio::steady_timer timer(request.loop->context());
        timer.expires_after(std::chrono::milliseconds(number_of(request.query)));
        co_await timer.async_wait(net::use_tuple);
        response.body = core::Body("waited");
    } else {
        co_await request.loop->yield();
        response.body = core::Body(std::string(request.body));
    }
    co_return response;
}

}  // namespace

net::Handlers fake_handlers() {
    return {.plain = plain, .awaiting = awaiting};
}

HeldLoop::HeldLoop() {
    holding.acquire();
}

HeldLoop::~HeldLoop() {
    let_go();
}

void HeldLoop::let_go() {
    if (std::exchange(held_, false)) {
        letting_go.release();
    }
}

FakeServer::FakeServer(const std::function<void(core::Config&)>& change) {
    core::Config config;
    config.listen = "127.0.0.1:0";
    config.threads = 2;
    if (change) {
        change(config);
    }
    auto store = storage::Store::open(storage::posix_file_system(), directory_.path(), {});
    ANNALS_CHECK(store.has_value());
    store_ = std::move(*store);
    service_ = std::make_unique<core::Service>(config, *store_);
    auto server = net::Server::start(*service_, fake_handlers());
    ANNALS_CHECK(server.has_value());
    server_ = std::move(*server);
}

FakeServer::~FakeServer() = default;

}  // namespace annals::test
