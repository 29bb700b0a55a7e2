// LoopedService: a service with its own store and loops, without sockets or a client.
//
// Threads: one creates and destroys it; work gets onto its loops by Loop::post().

#pragma once

#include "core/base/check.h"
#include "core/loop.h"
#include "core/service.h"
#include "storage/file_system.h"
#include "tools/bench/working_folder.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals {

/// Runs its loops, each on its own thread, until it is destroyed.
class LoopedService {
  public:
    /// The store is created below `folder`, and removed with this object.
    LoopedService(const std::string& folder, std::size_t loops, storage::StoreOptions options)
        : folder_(*bench::WorkingFolder::create(folder)),
          store_(open(folder_->path(), std::move(options))),
          service_({}, *store_) {
        for (std::size_t i = 0; i < loops; ++i) {
            loops_.push_back(std::make_unique<core::Loop>(*store_));
        }
        for (const auto& loop : loops_) {
            threads_.emplace_back([&loop = *loop] { loop.run(); });
        }
    }

    ~LoopedService() {
        for (const auto& loop : loops_) {
            loop->stop();
        }
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }

    LoopedService(const LoopedService&) = delete;
    LoopedService& operator=(const LoopedService&) = delete;

    const core::Service& service() const noexcept { return service_; }

    core::Loop& loop(std::size_t number) noexcept { return *loops_[number]; }

    /// A JSON request as net would make it. Lifetime: the texts outlive its handling.
    static core::Request request(core::Loop& loop, core::HttpMethod method, std::string_view target,
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
        request.loop = &loop;
        return request;
    }

    /// Consumes what net would send. Returns its bytes.
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

  private:
    static std::unique_ptr<storage::Store> open(const std::string& folder,
                                                storage::StoreOptions options) {
        options.search = core::search::search_setup("");
        auto store = storage::Store::open(storage::posix_file_system(), folder, std::move(options));
        ANNALS_CHECK(store.has_value(), store.error().detail);
        return *std::move(store);
    }

    std::unique_ptr<bench::WorkingFolder> folder_;
    std::unique_ptr<storage::Store> store_;
    core::Service service_;
    std::vector<std::unique_ptr<core::Loop>> loops_;
    std::vector<std::thread> threads_;
};

}  // namespace annals
