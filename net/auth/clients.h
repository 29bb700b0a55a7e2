// Clients: the clients that may get tokens from this server, with their public keys, kept up to date while it runs.
//
// Layer:   net/auth.
// Spec:    SMART App Launch 2.0, Backend Services, registration; docs/security.md, "Tokens of its own".
// Threads: any thread; reload_if_changed() from one only; a Client is immutable.

#pragma once

#include "core/config/token_clients.h"
#include "net/auth/client_certificate.h"
#include "net/auth/key_fetcher.h"
#include "net/auth/key_set.h"
#include "net/auth/settled.h"
#include "net/file_watch.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace annals::net::auth {

struct Client {
    core::TokenClient said;  ///< as in the file of clients
    KeySet keys;
    std::uint64_t fetched = 0;            ///< KeyFetcher's number of the keys; 0: none fetched yet
    std::shared_ptr<KeyFetcher> fetcher;  ///< null: its keys are in a file
};

class Clients {
  public:
    /// Reads `file` (auth.token_endpoint.clients_file) and the key files that it names. Errors: usage: one
    /// line; overloaded: no thread could be started to fetch keys from a URL. Lifetime: `shown`, the
    /// certificate used for fetching keys, outlives it.
    static Result<std::unique_ptr<Clients>> open(const std::string& file,
                                                 const ClientCertificate* shown = nullptr);

    /// Whether the files can be used. Errors: as open().
    static Result<void> check(const std::string& file);

    ~Clients();
    Clients(const Clients&) = delete;
    Clients& operator=(const Clients&) = delete;

    /// Null if there is no client of that name.
    std::shared_ptr<const Client> find(std::string_view id) const;

    /// Asks for newer keys, after an assertion named a key that `client` doesn't have. Null: none are expected.
    static Settled ask_for_keys(const Client& client);

    /// Reads files again that have changed. If one can't be used, a warning is logged, the old state stays,
    /// and each call tries again.
    void reload_if_changed();

  private:
    using All = std::map<std::string, std::shared_ptr<const Client>, std::less<>>;

    Clients(std::string file, const ClientCertificate* shown);

    Result<std::vector<Client>> read();
    Result<void> set(std::vector<Client> clients);
    Result<void> complete(std::vector<Client> clients, All& all);  ///< under the mutex
    void set_keys(const std::string& id, const std::string& url, KeySet keys, std::uint64_t number);

    const std::string file_;
    const ClientCertificate* const shown_;
    FileWatch watch_;  ///< used by the thread that reloads: the files that were read
    std::vector<std::shared_ptr<KeyFetcher>> retired_;  ///< likewise: stopped, about to end

    mutable std::mutex mutex_;
    All all_;
};

}  // namespace annals::net::auth
