// GuardedServer: a whole server on a socket, with its own credential files.
//
// Threads: the test's.

#pragma once

#include "core/config/config.h"
#include "core/service.h"
#include "net/server.h"
#include "storage/store.h"
#include "tests/support/http_exchange.h"
#include "tests/support/temporary_directory.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace annals::test {

/// Permits everything, forever.
inline const std::string kClaims = R"({"sub":"lab","exp":4000000000,"scope":"system/*.cruds"})";

class GuardedServer {
  public:
    using Change = std::function<void(core::Config&, GuardedServer&)>;
    using Headers = std::vector<std::pair<std::string, std::string>>;

    explicit GuardedServer(const Change& change);

    /// A path in the server's folder.
    std::string file(const std::string& name) const { return folder_ / name; }

    std::uint16_t port() const { return server_->port(); }

    net::Server& server() { return *server_; }

    HttpResponse send(const std::string& method, const std::string& target,
                      const std::string& body = {}, const Headers& headers = {}) {
        return exchange(port(), method, "/fhir" + target, body, headers);
    }

    HttpResponse get(const std::string& target, const Headers& headers = {}) {
        return send("GET", target, {}, headers);
    }

    HttpResponse get_with_token(const std::string& target, const std::string& token) {
        return get(target, {{"Authorization", "Bearer " + token}});
    }

  private:
    TemporaryDirectory folder_;
    std::unique_ptr<storage::Store> store_;
    std::unique_ptr<core::Service> service_;
    std::unique_ptr<net::Server> server_;
};

/// Changes to the configuration: accept tokens of this key set; or tokens, keys or both, where "the key of lab 7" may read
/// and search everything.
GuardedServer::Change with_tokens(const std::string& set);
GuardedServer::Change with_keys(const std::string& mode, const std::string& set);

/// An entry for a file of API keys.
std::string key_entry(const std::string& id, const std::string& secret, const std::string& scopes);

/// Waits until `condition()` is true, at most half a minute; returns whether it is.
template <typename Condition>
bool becomes_true(const Condition& condition) {
    for (int i = 0; i < 3000 && !condition(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
}

}  // namespace annals::test
