// ClientCertificate: who this server is where it asks others, by TLS.
//
// Layer:   net/auth; given to libcurl by net/auth/fetch.cc and net/notifier.cc.
// Spec:    docs/operations.md, "TLS"; RFC 8705 for introspection.
// Threads: for all threads, reload_if_changed() for one; what current() gives is immutable.

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
    /// What is shown: both as PEM, the certificate with those between it and its root behind it.
    struct Pem {
        std::string chain;
        std::string key;
    };

    /// Reads the certificate and its key; none is shown where `files` names none.
    /// Errors: usage: one line that names the key of the configuration, the file and what is wrong with it.
    static Result<std::unique_ptr<ClientCertificate>> open(const core::Config::Outgoing& files);

    ClientCertificate(const ClientCertificate&) = delete;
    ClientCertificate& operator=(const ClientCertificate&) = delete;

    /// For a request that begins now. Null: there is none.
    std::shared_ptr<const Pem> current() const;

    /// Reads the files again if one of them has changed since. If they are of no use, a warning is logged, the old ones stay,
    /// and each call tries again.
    void reload_if_changed();

  private:
    explicit ClientCertificate(core::Config::Outgoing files);

    Result<std::shared_ptr<const Pem>> read() const;

    const core::Config::Outgoing files_;
    FileWatch watch_;      ///< of the thread that reloads
    bool unread_ = false;  ///< likewise: the files were of no use
    mutable std::mutex mutex_;
    std::shared_ptr<const Pem> current_;
};

}  // namespace annals::net::auth
