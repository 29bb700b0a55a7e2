// Requests as bytes, and a server that answers them, for tests at the level of the socket.

#pragma once

#include "tests/net/fake_service.h"

#include <chrono>
#include <ostream>
#include <string>

namespace annals::test {

/// The server for all exchanges of this process.
inline FakeServer& server() {
    // On a busy machine, sending a head byte by byte takes a while.
    static FakeServer value(
        [](core::Config& config) { config.limits.header_timeout = std::chrono::minutes(1); });
    return value;
}

/// A request and the expected answer.
struct Exchange {
    const char* name;
    std::string bytes;
    int status;
    bool closes;
    std::string in_body;  // a part of the body
};

inline std::ostream& operator<<(std::ostream& out, const Exchange& exchange) {
    return out << exchange.name;
}

inline const std::string kHost = "Host: annals.test\r\n";

inline std::string get(const std::string& target, const std::string& headers = {}) {
    return "GET " + target + " HTTP/1.1\r\n" + kHost + headers + "\r\n";
}

inline std::string post(const std::string& headers, const std::string& body) {
    return "POST /fhir/echo HTTP/1.1\r\n" + kHost + headers + "\r\n" + body;
}

inline std::string with_headers(int count) {
    std::string headers;
    for (int i = 0; i < count; ++i) {
        headers += "X-" + std::to_string(i) + ": y\r\n";
    }
    return headers;
}

}  // namespace annals::test
