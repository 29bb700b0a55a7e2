// Credentials: what shows a server who we are, as the options of a subcommand name it.
//
// Layer:   tools.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace annals::tools {

class Arguments;

/// Headers that go with every request. Secrets stay in files, so that no list of processes shows them.
struct Credentials {
    std::vector<std::string> headers;  ///< "Name: value", or "@FILE": a file with such lines
    std::string token_file;            ///< a file with a bearer token; empty: none

    /// Whether a file may say something else later.
    bool in_files() const;
};

/// Declares `--header` and `--token-file`; with `side` ("from") `--from-header` and `--from-token-file`.
void declare_credentials(Arguments& arguments, const std::string& side, Credentials& into);

/// Looks whether header_lines() can make lines of them, and takes what comes from a pipe, which can't be read again, into
/// `credentials`. Errors: as header_lines().
Result<void> settle_credentials(Credentials& credentials);

/// The lines to send, each with its end. Files are read anew.
/// Errors: usage (a file can't be read or holds no token, a line is no header); the detail has no secret.
Result<std::string> header_lines(const Credentials& credentials);

}  // namespace annals::tools
