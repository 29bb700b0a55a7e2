// instruction_counts SCENARIO N: does a thing N times, to be counted under valgrind by tools/count_instructions.
//
// The requests go through core::handle_plain() and handle_routed() as net's do, on one loop, over a real store; sockets
// are left out, since the system's part is not counted. What is written is not synced, so that the disk has no say in
// how commits are grouped.

#include "codec/json/document.h"
#include "codec/schema/structure.h"
#include "core/base/check.h"
#include "core/loop.h"
#include "core/service.h"
#include "storage/file_system.h"
#include "tools/bench/working_folder.h"
#include "tools/bench/workloads.h"
#include "tools/generate/generator.h"

#include <asio/awaitable.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>

namespace annals {
namespace {

constexpr std::size_t kBodyBytes = 1400;
constexpr std::size_t kTogether = 64;  // requests in flight

/// A service over a store in a folder of its own.
class Server {
  public:
    Server() : folder_("."), store_(open(folder_.path())), service_({}, *store_), loop_(*store_) {
        thread_ = std::thread([this] { loop_.run(); });
    }

    ~Server() {
        loop_.stop();
        thread_.join();
    }

    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Sends the requests, all at once, and waits for their answers. Returns the ids of what was created.
    std::vector<std::string> send(core::HttpMethod method, const std::vector<std::string>& targets,
                                  const std::vector<std::string_view>& bodies, int status) {
        std::vector<std::string> ids(targets.size());
        std::promise<void> all;
        std::size_t open = targets.size();
        const auto answered = [&](std::size_t number, core::Response response) {
            ANNALS_CHECK(response.status == status, response.body.str());
            ids[number] = bench::id_in_location(response.location);
            bytes_ += drain(response);
            if (--open == 0) {
                all.set_value();
            }
        };
        loop_.post([&] {
            for (std::size_t i = 0; i < targets.size(); ++i) {
                const core::Request request = make_request(method, targets[i], bodies[i]);
                core::Route route;
                if (auto response = core::handle_plain(service_, request, route)) {
                    answered(i, std::move(*response));
                } else {
                    core::spawn(loop_, "request", run(service_, request, route, answered, i));
                }
            }
        });
        all.get_future().wait();
        return ids;
    }

  private:
    static std::unique_ptr<storage::Store> open(const std::string& folder) {
        storage::StoreOptions options;
        options.search = core::search::search_setup("");
        options.durability = storage::Durability::none;
        options.prepare_segments = false;
        auto store = storage::Store::open(storage::posix_file_system(), folder, std::move(options));
        ANNALS_CHECK(store.has_value(), store.error().detail);
        return *std::move(store);
    }

    core::Request make_request(core::HttpMethod method, std::string_view target,
                               std::string_view body) {
        core::Request request;
        const std::size_t mark = target.find('?');
        request.method = method;
        request.path = target.substr(0, mark);
        request.query = mark == std::string_view::npos ? "" : target.substr(mark + 1);
        request.headers = {{"Accept", "application/fhir+json"}};
        if (!body.empty()) {
            request.headers.push_back({"Content-Type", "application/fhir+json"});
        }
        request.body = body;
        request.base_url = "http://localhost/fhir";
        request.request_id = "1";
        request.loop = &loop_;
        return request;
    }

    // What net would send.
    static std::size_t drain(core::Response& response) {
        std::size_t bytes = response.body.size();
        bool more = response.more != nullptr;
        while (more) {
            core::Body slice;
            more = response.more->next(slice);
            bytes += slice.size();
        }
        return bytes;
    }

    template <typename Answered>
    static asio::awaitable<void> run(const core::Service& service, core::Request request,
                                     core::Route route, const Answered& answered,
                                     std::size_t number) {
        core::Response response = co_await core::handle_routed(service, request, route);
        answered(number, std::move(response));
    }

    bench::WorkingFolder folder_;
    std::unique_ptr<storage::Store> store_;
    core::Service service_;
    core::Loop loop_;
    std::thread thread_;
    std::size_t bytes_ = 0;
};

// Creates `count` resources, 64 at a time; where they are.
std::vector<std::string> create(Server& server, std::size_t count) {
    const std::vector<bench::Body> bodies = bench::bodies_near(kBodyBytes, 256, 1);
    std::vector<std::string> known;
    for (std::size_t done = 0; done < count; done += kTogether) {
        std::vector<std::string> targets;
        std::vector<std::string_view> texts;
        for (std::size_t i = 0; i < std::min(kTogether, count - done); ++i) {
            const bench::Body& body = bodies[(done + i) % bodies.size()];
            targets.push_back(fmt::format("/{}", body.type));
            texts.push_back(body.text);
        }
        const std::vector<std::string> ids =
            server.send(core::HttpMethod::post, targets, texts, 201);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            known.push_back(fmt::format("{}/{}", targets[i], ids[i]));
        }
    }
    return known;
}

void parse(std::size_t count) {
    const std::vector<bench::Body> bodies = bench::bodies_near(kBodyBytes, 256, 1);
    json::Parser parser;
    for (std::size_t i = 0; i < count; ++i) {
        Result<json::Document> document = parser.parse_resource(bodies[i % bodies.size()].text);
        ANNALS_CHECK(document.has_value(), document.error().detail);
        const Result<void> sound = schema::check_structure(document->root(), {});
        ANNALS_CHECK(sound.has_value(), sound.error().detail);
        parser.recycle(std::move(*document));
    }
}

void read(std::size_t count) {
    Server server;
    const std::vector<std::string> known = create(server, 1000);
    for (std::size_t done = 0; done < count; done += kTogether) {
        std::vector<std::string> targets;
        for (std::size_t i = 0; i < kTogether; ++i) {
            targets.push_back(known[(done + i) * 7 % known.size()]);
        }
        server.send(core::HttpMethod::get, targets, std::vector<std::string_view>(kTogether), 200);
    }
}

void apply(std::size_t count) {
    constexpr std::size_t kEntries = 1000;
    Server server;
    generate::Options options;
    options.form = generate::Form::history;
    options.bundle_entries = kEntries;
    options.versions = count;
    options.from = Instant{1'420'070'400'000'000};
    options.until = Instant{1'735'689'600'000'000};
    generate::Generator generator(options);
    std::string bundle;
    while (generator.next(bundle)) {
        server.send(core::HttpMethod::post, {""}, {bundle}, 200);
    }
}

void search(std::size_t count) {
    constexpr std::string_view kSearches[] = {
        "/Observation?code=http://loinc.org%7C85354-9&_count=20",
        "/Patient?name=a&_count=20",
        "/Patient?birthdate=ge1960-01-01&_count=20",
        "/Observation?date=lt2020-01-01&_count=20",
        "/Encounter?status=finished&_count=20",
        "/Observation?category=vital-signs&_summary=count",
    };
    Server server;
    create(server, 2000);
    for (std::size_t i = 0; i < count; ++i) {
        server.send(core::HttpMethod::get, {std::string(kSearches[i % std::size(kSearches)])}, {{}},
                    200);
    }
}

}  // namespace
}  // namespace annals

int main(int argc, char** argv) {
    const std::string_view scenario = argc == 3 ? argv[1] : "";
    const std::size_t count = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
    if (scenario == "parse") {
        annals::parse(count);
    } else if (scenario == "read") {
        annals::read(count);
    } else if (scenario == "create") {
        annals::Server server;
        annals::create(server, count);
    } else if (scenario == "apply") {
        annals::apply(count);
    } else if (scenario == "search") {
        annals::search(count);
    } else {
        std::fputs("usage: instruction_counts parse|read|create|apply|search N\n", stderr);
        return 2;
    }
    return 0;
}
