// Destination: where import writes to: a running server, or a data directory that it opens itself.
//
// Layer:   tools.
// Threads: a Destination belongs to one thread; several may share one DirectStore.

#pragma once

#include "core/base/result.h"
#include "core/config/config.h"
#include "tools/commands/http_client.h"

#include <memory>
#include <string>
#include <string_view>

namespace annals::tools {

struct DestinationReply {
    int status = 0;
    std::string body;
};

class Destination {
  public:
    virtual ~Destination() = default;

    /// Submits a Bundle to the root and waits for the reply. `repeatable`: see HttpRequest.
    /// Errors: io, timeout; the outcome may be unknown. no_store: nothing was stored, and nothing will be.
    virtual Result<DestinationReply> submit(std::string_view bundle, bool repeatable) = 0;

    /// What currently keeps it from storing anything, if it knows more than its replies say; empty: nothing.
    virtual std::string_view ails() const { return {}; }
};

/// A Destination with its own connection to `server`.
std::unique_ptr<Destination> connect_to_server(ServerUrl server, Patience patience);

/// A data directory opened by this process and used by Destinations without a socket: with the same code and
/// rules as over HTTP.
class DirectStore {
  public:
    /// Errors: usage (in use by another process, a newer format), corrupt, io.
    static Result<std::unique_ptr<DirectStore>> open(const core::Config& config);

    /// Closes the store, if that was not done before.
    ~DirectStore();
    DirectStore(const DirectStore&) = delete;
    DirectStore& operator=(const DirectStore&) = delete;

    std::unique_ptr<Destination> connect();

    /// As Store::close(). Requires: its Destinations are gone.
    Result<void> close();

  private:
    struct Impl;
    explicit DirectStore(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::tools
