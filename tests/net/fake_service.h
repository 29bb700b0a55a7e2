// A server on a socket with a test's handlers: no FHIR, every kind of response on demand.
//
// Below /fhir:
//   /text            "hello"
//   /view?N          N bytes in one view, with ETag and Last-Modified
//   /location?N      a Location of N characters
//   /breaks?N        headers with a line break inside: 0: CR LF, 1: LF, 2: CR
//   /pieces?N        N views of 1000 bytes
//   /status?N        status N, empty body
//   /echo            awaited; returns the request's body, method, base URL and headers as a client sent them
//   /describe        method, path, query, base URL, headers, body size
//   /slices?N        N slices of 10,000 bytes, pulled
//   /measured?N      the same, with a known size
//   /wait?MS         awaited; answers after MS milliseconds
//   /block?MS        blocks the loop for MS milliseconds
//   /hold            blocks the loop until a HeldLoop lets go
//   /count           how many requests plain handlers got before it
//   /close           asks to close the connection
//
// Threads: the handlers are plain functions; a FakeServer belongs to the test's thread.

#pragma once

#include "net/server.h"
#include "storage/store.h"
#include "tests/support/http_exchange.h"
#include "tests/support/temporary_directory.h"

#include <functional>
#include <memory>

namespace annals::test {

net::Handlers fake_handlers();

/// A loop that a request for /hold blocks. At the end of its lifetime the loop goes on.
class HeldLoop {
  public:
    /// Waits until a loop is blocked.
    HeldLoop();
    ~HeldLoop();
    HeldLoop(const HeldLoop&) = delete;
    HeldLoop& operator=(const HeldLoop&) = delete;

    /// Lets the loop go on before that.
    void let_go();

  private:
    bool held_ = true;
};

/// Lifetime: outlives each HeldLoop, without which it would wait for ever for its thread.
class FakeServer {
  public:
    explicit FakeServer(const std::function<void(core::Config&)>& change = {});
    ~FakeServer();

    std::uint16_t port() const { return server_->port(); }

    net::Server& server() { return *server_; }

  private:
    TemporaryDirectory directory_;
    std::unique_ptr<storage::Store> store_;
    std::unique_ptr<core::Service> service_;
    std::unique_ptr<net::Server> server_;
};

}  // namespace annals::test
