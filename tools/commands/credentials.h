// Credentials: what shows a server who we are, as the options of a subcommand name it.
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

/// Headers that go with every request, and a certificate for TLS. Secrets stay in files, so that no list of processes shows them.
struct Credentials {
    std::vector<std::string> headers{};  ///< "Name: value", or "@FILE": a file with such lines
    std::string token_file{};            ///< a file with a bearer token; empty: none
    std::string cert_file{};             ///< PEM: a certificate and its chain; empty: none
    std::string key_file{};              ///< PEM: the key; empty: it is in cert_file
    std::shared_ptr<const TlsIdentity>
        identity{};  ///< what these two held, where it is not to be read again

    /// Whether a file may say something else later.
    bool in_files() const;

    /// Whether there are none.
    bool none() const;
};

/// Why they are refused where no server is named.
inline constexpr const char* kCredentialsGoWithServer =
    "--header, --token-file, --cert and --key go with --server";

/// Declares `--header`, `--token-file`, `--cert` and `--key`; with `side` ("from") `--from-header` and so on.
void declare_credentials(Arguments& arguments, const std::string& side, Credentials& into);

/// Looks whether header_lines() and read_identity() can make something of them, and takes what comes from a pipe, which can't be
/// read again, into `credentials`. Errors: as theirs.
Result<void> settle_credentials(Credentials& credentials);

/// The lines to send, each with its end. Files are read anew.
/// Errors: usage (a file can't be read or holds no token, a line is no header); the detail has no secret.
Result<std::string> header_lines(const Credentials& credentials);

/// The certificate to show, null if there is none. Files are read anew.
/// Errors: usage (a file can't be read, a key without a certificate, and as TlsIdentity::make()).
Result<std::shared_ptr<const TlsIdentity>> read_identity(const Credentials& credentials);

}  // namespace annals::tools
