#include "tools/commands/destination.h"

#include "core/loop.h"
#include "core/service.h"
#include "storage/file_system.h"
#include "storage/store.h"
#include "tools/commands/bundle_answers.h"
#include "tools/commands/store_access.h"

#include <future>
#include <thread>

namespace annals::tools {

namespace {

class ServerDestination : public Destination {
  public:
    ServerDestination(ServerUrl server, Patience patience)
        : client_(std::move(server)), patience_(std::move(patience)) {}

    Result<DestinationReply> submit(std::string_view bundle, bool repeatable) override {
        HttpRequest request;
        request.method = "POST";
        request.target = client_.server().base_path;
        request.body = bundle;
        request.headers = {{"Prefer", "return=minimal"}};
        request.repeatable = repeatable;
        auto reply = client_.send_patiently(request, patience_);
        if (!reply) {
            // Without access, nothing was carried out.
            return client_.sent() && reply.error().code != Errc::usage
                       ? std::move(reply.error())
                       : Error{Errc::no_store, reply.error().detail};
        }
        // The request was retried until patience ended.
        if (reply->status == 503) {
            json::Parser parser;
            return Error{Errc::no_store, "503 " + outcome_text(parser, reply->body)};
        }
        return DestinationReply{reply->status, std::move(reply->body)};
    }

  private:
    HttpClient client_;
    Patience patience_;
};

/// Lifetime: the caller of submit() waits until `done` is set, and `request` is not used after that. The
/// promise is shared, because the waiter may be gone before set_value() returns.
asio::awaitable<void> answer(const core::Service& service, const core::Request& request,
                             std::shared_ptr<std::promise<DestinationReply>> done) {
    core::Response response = co_await core::handle(service, request);
    DestinationReply reply{response.status, response.body.str()};
    bool more = response.more != nullptr;
    while (more) {
        core::Body slice;
        more = response.more->next(slice);
        reply.body += slice.str();
    }
    done->set_value(std::move(reply));
}

class DirectDestination : public Destination {
  public:
    DirectDestination(const storage::Store& store, const core::Service& service, core::Loop& loop)
        : store_(store), service_(service), loop_(loop) {}

    Result<DestinationReply> submit(std::string_view bundle, bool) override {
        core::Request request;
        request.method = core::HttpMethod::post;
        request.headers = {{"Content-Type", "application/fhir+json"},
                           {"Accept", "application/fhir+json"},
                           {"Prefer", "return=minimal"}};
        request.body = bundle;
        request.base_url = "http://localhost/fhir";
        request.request_id = "import";
        request.loop = &loop_;
        const auto done = std::make_shared<std::promise<DestinationReply>>();
        auto future = done->get_future();
        loop_.post([&] { core::spawn(loop_, "import", answer(service_, request, done)); });
        return future.get();
    }

    std::string_view ails() const override {
        switch (store_.write_state()) {
            case storage::WriteState::no_space:
                return "there is not enough space on the device, or there are not enough file "
                       "descriptors";
            case storage::WriteState::failed:
                return "a write or sync failed";
            case storage::WriteState::ready:
            case storage::WriteState::read_only:
                break;
        }
        return {};
    }

  private:
    const storage::Store& store_;
    const core::Service& service_;
    core::Loop& loop_;
};

}  // namespace

std::unique_ptr<Destination> connect_to_server(ServerUrl server, Patience patience) {
    return std::make_unique<ServerDestination>(std::move(server), std::move(patience));
}

struct DirectStore::Impl {
    explicit Impl(const core::Config& config, std::unique_ptr<storage::Store> opened)
        : store(std::move(opened)), service(config, *store), loop(*store) {}

    std::unique_ptr<storage::Store> store;
    core::Service service;
    core::Loop loop;
    std::thread thread;
};

Result<std::unique_ptr<DirectStore>> DirectStore::open(const core::Config& config) {
    ANNALS_TRY_VOID(check_permissions(config.data, true));
    ANNALS_TRY_VOID(check_package_permissions(config));
    ANNALS_TRY(auto store, storage::Store::open(storage::posix_file_system(), config.data,
                                                store_options(config)));
    auto impl = std::make_unique<Impl>(config, std::move(store));
    ANNALS_TRY_VOID(check_packages(config, impl->service));
    impl->thread = std::thread([loop = &impl->loop] { loop->run(); });
    return std::unique_ptr<DirectStore>(new DirectStore(std::move(impl)));
}

DirectStore::DirectStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

DirectStore::~DirectStore() {
    (void)close();
}

Result<void> DirectStore::close() {
    if (impl_->thread.joinable()) {
        impl_->loop.stop();
        impl_->thread.join();
    }
    return impl_->store->close();
}

std::unique_ptr<Destination> DirectStore::connect() {
    return std::make_unique<DirectDestination>(*impl_->store, impl_->service, impl_->loop);
}

}  // namespace annals::tools
