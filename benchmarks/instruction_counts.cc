// instruction_counts SCENARIO N: repeats an operation N times, to be counted under valgrind by tools/count_instructions.
//
// Requests go through core::handle_plain(), handle_early() and handle_routed() like net's, on one loop, over a real store; sockets
// are left out, since the system's share is not counted. Writes are not synced, so that the disk does not affect
// how commits are grouped.

#include "codec/json/document.h"
#include "codec/schema/structure.h"
#include "core/base/check.h"
#include "tools/bench/workloads.h"
#include "tools/generate/generator.h"

#include <asio/awaitable.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <future>

#include "benchmarks/looped_service.h"

namespace annals {
namespace {

constexpr std::size_t kTogether = 64;  // requests in flight

/// A service on one loop; one thread sends all requests and waits for the answers.
class Server {
  public:
    /// Sends the requests, all at once, and waits for their answers. Returns the ids of created resources.
    std::vector<std::string> send(core::HttpMethod method, const std::vector<std::string>& targets,
                                  const std::vector<std::string_view>& bodies, int status) {
        std::vector<std::string> ids(targets.size());
        std::promise<void> all;
        std::size_t open = targets.size();
        const auto answered = [&](std::size_t number, core::Response response) {
            ANNALS_CHECK(response.status == status, response.body.str());
            ids[number] = bench::id_in_location(response.location);
            bytes_ += LoopedService::drain(response);
            if (--open == 0) {
                all.set_value();
            }
        };
        core::Loop& loop = looped_.loop(0);
        loop.post([&] {
            for (std::size_t i = 0; i < targets.size(); ++i) {
                const core::Request request =
                    LoopedService::request(loop, method, targets[i], bodies[i]);
                core::Route route;
                if (auto response = core::handle_plain(looped_.service(), request, route)) {
                    answered(i, std::move(*response));
                } else {
                    core::spawn(loop, "request",
                                run(looped_.service(), request, route, answered, i));
                }
            }
        });
        all.get_future().wait();
        return ids;
    }

  private:
    static storage::StoreOptions options() {
        storage::StoreOptions options;
        options.durability = storage::Durability::none;
        options.prepare_segments = false;
        return options;
    }

    template <typename Answered>
    static asio::awaitable<void> run(const core::Service& service, core::Request request,
                                     core::Route route, const Answered& answered,
                                     std::size_t number) {
        if (auto early = core::handle_early(service, request, route)) {
            const Result<void> durable = co_await request.loop->settled_ticket(early->unsettled);
            ANNALS_CHECK(durable.has_value());
            answered(number, *std::move(early));
        } else {
            core::Response response = co_await core::handle_routed(service, request, route);
            answered(number, std::move(response));
        }
    }

    LoopedService looped_{".", 1, options()};
    std::size_t bytes_ = 0;
};

// Creates `count` resources, 64 at a time; returns their targets.
std::vector<std::string> create(Server& server, std::size_t count) {
    const std::vector<bench::Body> bodies = bench::usual_bodies(1);
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
    const std::vector<bench::Body> bodies = bench::usual_bodies(1);
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
