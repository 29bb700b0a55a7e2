// Notifier: sends the notifications of subscriptions, each to its endpoint.
//
// Layer:   net; with net/auth/fetch.cc the users of libcurl.
// Spec:    docs/api/subscriptions.md.
// Threads: a thread of its own, which waits for all receivers at once; members from any thread.

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
    /// Begins. Receivers that ask who we are are `shown` its certificate. Lifetime: all of them outlive it. Errors: those of core::Dispatcher::saved().
    static Result<std::unique_ptr<Notifier>> begin(const core::Service& service,
                                                   storage::FileSystem& files, core::Pings& pings,
                                                   const auth::ClientCertificate& shown);

    ~Notifier();

    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    /// Ends the thread, and what is under way, which counts as not delivered. From one thread.
    void stop();

    std::shared_ptr<const core::SubscriptionStats> stats() const;

  private:
    struct Impl;
    explicit Notifier(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
};

/// Bytes of an answer's body that are read, to have the connection for the next notification; a longer answer is a failure.
inline constexpr std::size_t kReceiptBytesMax = 64 << 10;

}  // namespace annals::net
