#include "net/auth/clients.h"

#include "core/base/log.h"
#include "net/auth/files.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace annals::net::auth {

namespace {

constexpr std::string_view kSetting = "auth.token_endpoint.clients_file";

/// The keys in the file of clients, or in a file that it names; those at a URL are not known yet.
Result<KeySet> known_keys(const core::TokenClient& client) {
    if (!client.jwks_file.empty()) {
        return read_keys(kSetting, client.jwks_file);
    }
    if (client.jwks.empty()) {
        return KeySet();
    }
    auto keys = KeySet::read(client.jwks);
    if (!keys) {
        return Error{Errc::usage, fmt::format("{}: jwks of the client '{}': {}", kSetting,
                                              client.id, keys.error().detail)};
    }
    return keys;
}

/// Errors: overloaded: no thread could be started, which may pass.
Result<std::shared_ptr<KeyFetcher>> start_fetching(const std::string& name, const std::string& url,
                                                   const ClientCertificate* shown,
                                                   KeyFetcher::Take take) {
    try {
        return std::make_shared<KeyFetcher>(name, url, shown, std::move(take));
    } catch (const std::system_error& refused) {
        return Error{Errc::overloaded,
                     fmt::format("no thread can be started for the {}: {}", name, refused.what())};
    }
}

}  // namespace

Clients::Clients(std::string file, const ClientCertificate* shown)
    : file_(std::move(file)), shown_(shown) {
}

Clients::~Clients() {
    // Without the lock, because a fetcher that ends may be about to pass on its keys.
    All all;
    {
        const std::lock_guard lock(mutex_);
        all.swap(all_);
    }
    all.clear();
    retired_.clear();
}

Result<void> Clients::check(const std::string& file) {
    ANNALS_TRY_VOID(Clients(file, nullptr).read());
    return {};
}

Result<std::unique_ptr<Clients>> Clients::open(const std::string& file,
                                               const ClientCertificate* shown) {
    std::unique_ptr<Clients> clients(new Clients(file, shown));
    ANNALS_TRY(std::vector<Client> all, clients->read());
    ANNALS_TRY_VOID(clients->set(std::move(all)));
    return clients;
}

Result<std::vector<Client>> Clients::read() {
    watch_.clear();
    watch_.add(file_);
    ANNALS_TRY(std::vector<core::TokenClient> said, core::read_token_clients(file_));
    std::vector<Client> all;
    for (core::TokenClient& one : said) {
        Client& client = all.emplace_back();
        watch_.add(one.jwks_file);
        ANNALS_TRY(client.keys, known_keys(one));
        client.said = std::move(one);
    }
    return all;
}

/// Errors: as start_fetching(); then nothing has changed.
Result<void> Clients::set(std::vector<Client> clients) {
    All others;  // the clients that aren't in use afterwards
    Result<void> done;
    {
        const std::lock_guard lock(mutex_);
        done = complete(std::move(clients), others);
        if (done) {
            others.swap(all_);
        }
        std::erase_if(others, [this](const auto& other) {
            const auto there = all_.find(other.first);
            return there != all_.end() && there->second->fetcher == other.second->fetcher;
        });
    }
    // Without the lock, which a fetcher takes while it holds its own to pass on its keys.
    for (const auto& [id, client] : others) {
        if (client->fetcher != nullptr) {
            client->fetcher->stop();
            retired_.push_back(client->fetcher);
        }
    }
    return done;
}

/// A client with the same URL as before keeps its keys and its fetcher.
Result<void> Clients::complete(std::vector<Client> clients, All& all) {
    for (Client& client : clients) {
        const std::string id = client.said.id;
        const std::string url = client.said.jwks_url;
        const std::string whose = fmt::format("keys of the client '{}'", id);
        const auto old = all_.find(id);
        if (!url.empty() && old != all_.end() && old->second->said.jwks_url == url) {
            client.keys = old->second->keys;
            client.fetched = old->second->fetched;
            client.fetcher = old->second->fetcher;
        } else if (!url.empty()) {
            ANNALS_TRY(client.fetcher,
                       start_fetching(whose, url, shown_,
                                      [this, id, url](KeySet keys, std::uint64_t number) {
                                          set_keys(id, url, std::move(keys), number);
                                      }));
        } else {
            warn_of_no_keys(whose, client.keys);
        }
        all.emplace(id, std::make_shared<const Client>(std::move(client)));
    }
    return {};
}

void Clients::set_keys(const std::string& id, const std::string& url, KeySet keys,
                       std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(id);
    if (found == all_.end() || found->second->said.jwks_url != url) {
        return;
    }
    Client client = *found->second;
    client.keys = std::move(keys);
    client.fetched = number;
    found->second = std::make_shared<const Client>(std::move(client));
}

std::shared_ptr<const Client> Clients::find(std::string_view id) const {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(id);
    return found == all_.end() ? nullptr : found->second;
}

Settled Clients::ask_for_keys(const Client& client) {
    return client.fetcher == nullptr ? nullptr : client.fetcher->ask(client.fetched);
}

void Clients::reload_if_changed() {
    if (!watch_.must_read()) {
        return;
    }
    retired_.clear();
    auto all = read();
    // What fails may succeed later: a file that only the new state names appears, or a thread for a fetcher is available.
    const Result<void> done = all ? set(*std::move(all)) : Result<void>(all.error());
    watch_.note(done, "the clients are unchanged");
    if (done) {
        log_info("the clients were reloaded");
    }
}

}  // namespace annals::net::auth
