// Credentials: how we authenticate to a server, from the options of a subcommand.
//
// Layer:   tools.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"

#include <memory>
#include <string>
#include <vector>

namespace annals::tools {

class Arguments;
class TlsIdentity;

/// Headers for every request, and a TLS certificate. Secrets stay in files, so that process lists don't show them.
struct Credentials {
    std::vector<std::string> headers{};  ///< "Name: value", or "@FILE": a file with such lines
    std::string token_file{};            ///< a file with a bearer token; empty: none
    std::string cert_file{};             ///< PEM: a certificate and its chain; empty: none
    std::string key_file{};              ///< PEM: the key; empty: it is in cert_file
    std::shared_ptr<const TlsIdentity>
        identity{};  ///< from cert_file and key_file, if these can't be read again

    /// Whether they are in files, whose content may change.
    bool in_files() const;

    /// Whether there are none.
    bool none() const;
};

/// Declares `--header`, `--token-file`, `--cert` and `--key`; with `side` "from": `--from-header` and so on.
void declare_credentials(Arguments& arguments, const std::string& side, Credentials& into);

/// Checks that header_lines() and read_identity() will work, and copies the contents of pipes, which can't be read again, into
/// `credentials`. Errors: as theirs.
Result<void> settle_credentials(Credentials& credentials);

/// The lines to send, each with its line end. Reads the files again.
/// Errors: usage (a file can't be read or has no token, a line is not a header); the detail contains no secret.
Result<std::string> header_lines(const Credentials& credentials);

/// The certificate to show, null if there is none. Reads the files again.
/// Errors: usage (a file can't be read, a key without a certificate, and as TlsIdentity::make()).
Result<std::shared_ptr<const TlsIdentity>> read_identity(const Credentials& credentials);

}  // namespace annals::tools
