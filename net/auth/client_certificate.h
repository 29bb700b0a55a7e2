// ClientCertificate: this server's own certificate for the TLS requests that it makes.
//
// Layer:   net/auth; passed to libcurl by net/auth/fetch.cc and net/notifier.cc.
// Spec:    docs/operations.md, "TLS"; RFC 8705 for introspection.
// Threads: any thread; reload_if_changed() from one only; what current() returns is immutable.

#pragma once

#include "core/base/result.h"
#include "core/config/config.h"
#include "net/file_watch.h"

#include <memory>
#include <mutex>
#include <string>

namespace annals::net::auth {

class ClientCertificate {
  public:
    /// Both as PEM; the certificate is followed by the intermediate ones.
    struct Pem {
        std::string chain;
        std::string key;
    };

    /// Reads the certificate and its key; there is none if `files` names none. Errors: usage: one line that
    /// names the key of the configuration, the file and what is wrong with it.
    static Result<std::unique_ptr<ClientCertificate>> open(const core::Config::Outgoing& files);

    ClientCertificate(const ClientCertificate&) = delete;
    ClientCertificate& operator=(const ClientCertificate&) = delete;

    /// The certificate for a new request. Null: there is none.
    std::shared_ptr<const Pem> current() const;

    /// Reads the files again if one has changed. If they can't be used, a warning is logged, the old ones
    /// stay, and each call tries again.
    void reload_if_changed();

  private:
    explicit ClientCertificate(core::Config::Outgoing files);

    Result<std::shared_ptr<const Pem>> read() const;

    const core::Config::Outgoing files_;
    FileWatch watch_;  ///< used by the thread that reloads
    mutable std::mutex mutex_;
    std::shared_ptr<const Pem> current_;
};

}  // namespace annals::net::auth
