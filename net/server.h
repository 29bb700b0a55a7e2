// Server: listens, reads HTTP/1.1, hands requests to core and writes the responses.
//
// Layer:   net; depends on core. tools/commands/serve.cc and tests start it.
// Threads: start(), stop() and the destructor from the owner's thread; the loops have threads of their own.

#pragma once

#include "core/base/result.h"
#include "core/config/config.h"
#include "core/service.h"
#include "net/handlers.h"

#include <cstdint>
#include <memory>
#include <string>

namespace annals::net {

/// A running server. Lifetime: `service` outlives it.
class Server {
  public:
    /// Binds the configuration's `listen` ("HOST:PORT", "[::1]:0") and starts the threads.
    /// Errors: usage (bad address, port taken); one line.
    static Result<std::unique_ptr<Server>> start(const core::Service& service,
                                                 const Handlers& handlers = {});

    /// Checks that `listen`, as in the configuration, can be bound now. Errors: usage; one line.
    static Result<void> try_address(const std::string& listen);

    /// Checks the files named in `config`: certificates, credentials, the audit log.
    /// Errors: usage; one line that names the key and the file.
    static Result<void> check(const core::Config& config);

    /// Stops at once, without the grace period of stop(), if that was not called.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// "http://127.0.0.1:8080/fhir", with the port that was actually bound.
    std::string url() const;
    std::uint16_t port() const noexcept;

    /// Graceful: stops accepting, lets current requests finish (at most shutdown_timeout), closes idle
    /// connections, joins the threads. Handlers that are still at work then have some seconds more.
    void stop();

  private:
    struct Impl;
    explicit Server(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::net
