// $install-package: installs a FHIR package.
//
// Layer:   core/operations.
// Spec:    docs/api/install-package.md.
// Threads: runs on the loop of its request; the installation on the terminology worker's thread.

#pragma once

#include "core/service.h"

namespace annals::core {

/// POST $install-package with `name` and `version`, or `package`.
///
/// Status: 200 with Parameters (name, version, installed, skipped, dependency); 400 if it is not a package;
/// 404 if it isn't available; 409 if a different one of that name and version is installed; 422 if it, or a
/// dependency, can't be installed.
asio::awaitable<Response> install_package_operation(const Service& service, const Request& request,
                                                    const Target& target);

}  // namespace annals::core
