// Clients: those who may get tokens of this server, with the keys by which they are known, kept up to date while it runs.
//
// Layer:   net/auth.
// Spec:    SMART App Launch 2.0, Backend Services, registration; docs/security.md, "Tokens of its own".
// Threads: for all threads, reload_if_changed() for one; a Client is immutable.

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
    core::TokenClient said;  ///< in the file of clients
    KeySet keys;
    std::uint64_t fetched = 0;  ///< KeyFetcher's number of the keys; 0: none have been fetched
    std::shared_ptr<KeyFetcher> fetcher;  ///< null: its keys are in a file
};

class Clients {
  public:
    /// Reads `file` (auth.token_endpoint.clients_file), and whatever files of keys it names. Errors: usage: one line; overloaded:
    /// there is no thread to fetch keys of a URL.
    /// Lifetime: `shown`, the certificate for whom it asks for keys, outlives it.
    static Result<std::unique_ptr<Clients>> open(const std::string& file,
                                                 const ClientCertificate* shown = nullptr);

    /// Whether the files are of use. Errors: as open().
    static Result<void> check(const std::string& file);

    ~Clients();
    Clients(const Clients&) = delete;
    Clients& operator=(const Clients&) = delete;

    /// Null: there is none of that name.
    std::shared_ptr<const Client> find(std::string_view id) const;

    /// An assertion names a key that isn't among those of `client`: asks for newer ones. Null: none are to be expected.
    static Settled ask_for_keys(const Client& client);

    /// Reads files again that have changed. If one is of no use, a warning is logged, the old state stays, and each call
    /// tries again.
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
    FileWatch watch_;      ///< of the thread that reloads: the files that were read
    bool unread_ = false;  ///< likewise: they were of no use
    std::vector<std::shared_ptr<KeyFetcher>> retired_;  ///< likewise: on their way to end

    mutable std::mutex mutex_;
    All all_;
};

}  // namespace annals::net::auth
