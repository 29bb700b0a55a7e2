// AccessTest: a service that asks for scopes, and the routes that it has.

#pragma once

#include "core/access.h"
#include "tests/core/access_routes.h"
#include "tests/support/service_fixture.h"

#include <string>
#include <utility>
#include <vector>

namespace annals::core {

class AccessTest : public test::ServiceFixture {
  protected:
    void guard(bool hard_delete, std::vector<std::string> open = {}) {
        Config config;
        config.auth.mode = "jwt";
        config.auth.public_access = std::move(open);
        config.hard_delete = hard_delete;
        restart(config);
    }

    int status_of(const AccessRoute& route, const Principal* principal) {
        send_as(principal);
        Headers headers{{"Content-Type", route.method == "PATCH" ? "application/json-patch+json"
                                                                 : "application/fhir+json"}};
        if (!route.condition.empty()) {
            headers.emplace_back("If-None-Exist", route.condition);
        }
        return send(route.method, route.target, route.body, headers).status;
    }
};

}  // namespace annals::core
