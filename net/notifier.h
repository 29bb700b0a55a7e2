// Notifier: sends the notifications of subscriptions to their endpoints.
//
// Layer:   net; it and net/auth/fetch.cc are the users of libcurl.
// Spec:    docs/api/subscriptions.md.
// Threads: has its own thread, which waits for all receivers at once; members may be called from any thread.

#pragma once

#include "core/base/result.h"
#include "core/service.h"
#include "core/subscriptions/dispatcher.h"
#include "core/subscriptions/pings.h"
#include "net/auth/client_certificate.h"
#include "storage/file_system.h"

#include <memory>

namespace annals::net {

class Notifier {
  public:
    /// Starts the thread. `shown`: the certificate for receivers that ask for one. Lifetime: all arguments outlive it.
    /// Errors: those of core::Dispatcher::saved().
    static Result<std::unique_ptr<Notifier>> begin(const core::Service& service,
                                                   storage::FileSystem& files, core::Pings& pings,
                                                   const auth::ClientCertificate& shown);

    ~Notifier();

    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    /// Ends the thread; notifications whose responses have not arrived by then count as not delivered. Threads: one.
    void stop();

    std::shared_ptr<const core::SubscriptionStats> stats() const;

  private:
    struct Impl;
    explicit Notifier(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
};

/// How much of a response's body is read, so that the connection can be reused; a longer response is a failure.
inline constexpr std::size_t kReceiptBytesMax = 64 << 10;

}  // namespace annals::net
