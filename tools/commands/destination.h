// Destination: where import puts what it reads, a running server or a data directory of its own.
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

    /// Submits a Bundle to the root and waits for the answer. `repeatable` as HttpRequest has it.
    /// Errors: io, timeout; the outcome may be unknown. no_store: nothing of it was stored, and nothing will be.
    virtual Result<DestinationReply> submit(std::string_view bundle, bool repeatable) = 0;

    /// What keeps it from storing anything at present, where it knows more than its answers say; empty: nothing.
    virtual std::string_view ails() const { return {}; }
};

/// A connection of its own to `server`.
std::unique_ptr<Destination> connect_to_server(ServerUrl server, Patience patience);

/// A data directory opened by this process, served to Destinations without a socket: the same code and
/// the same rules as over HTTP.
class DirectStore {
  public:
    /// Errors: usage (held by another process, a newer format), corrupt, io.
    static Result<std::unique_ptr<DirectStore>> open(const core::Config& config);

    /// Closes, where that was not done before.
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
