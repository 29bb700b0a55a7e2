// Clients of the token endpoint, and their requests.

#pragma once

#include "codec/json/document.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/tokens.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace annals::test {

inline const std::string kBase = "https://annals.example.org/fhir";
inline const std::string kTokenUrl = kBase + "/auth/token";
inline const std::string kScopes = R"(["system/Patient.rs", "system/Observation.cruds"])";

inline std::string client_entry(const std::string& id, const std::string& keys,
                                const std::string& scopes = kScopes) {
    return fmt::format("[[client]]\nid = \"{}\"\nscopes = {}\n{}\n", id, scopes, keys);
}

inline std::string inline_keys(const SigningKey& key) {
    return fmt::format("jwks = '{}'", jwk_set({key.jwk()}));
}

/// Makes the server issue tokens.
inline GuardedServer::Change with_clients(const std::string& clients,
                                          std::uint64_t rate = 100'000) {
    return [=](core::Config& config, GuardedServer& server) {
        config.base_url = kBase;
        config.auth.mode = "jwt";
        config.auth.token_endpoint.clients_file = server.file("clients.toml");
        config.auth.token_endpoint.rate = rate;
        write_whole_file(server.file("clients.toml"), clients);
    };
}

inline std::int64_t seconds_from_now(std::int64_t seconds) {
    return now().us / 1'000'000 + seconds;
}

/// The claims of an assertion; `jti` makes it unique.
inline std::string claims(const std::string& client, const std::string& jti,
                          std::int64_t life = 240, const std::string& audience = kTokenUrl) {
    return fmt::format(R"({{"iss":"{0}","sub":"{0}","aud":"{1}","exp":{2},"jti":"{3}"}})", client,
                       audience, seconds_from_now(life), jti);
}

inline std::string form(const std::string& assertion,
                        const std::string& scope = "system%2FPatient.rs") {
    return "grant_type=client_credentials&scope=" + scope +
           "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
           "&client_assertion=" +
           assertion;
}

inline HttpResponse post(GuardedServer& server, const std::string& body,
                         const std::string& type = "application/x-www-form-urlencoded") {
    return server.send("POST", "/auth/token", body, {{"Content-Type", type}});
}

inline std::string member(const HttpResponse& response, std::string_view name) {
    json::Parser parser;
    const auto document = parser.parse(response.body);
    EXPECT_TRUE(document) << response.body;
    return document ? document->root()[name].string() : "";
}

inline void expect_refused(const HttpResponse& response, const std::string& error,
                           const std::string& why = "") {
    EXPECT_EQ(response.status, 400) << response.body;
    EXPECT_EQ(member(response, "error"), error) << response.body;
    EXPECT_THAT(response.body, testing::HasSubstr(why));
    EXPECT_EQ(response.header("Cache-Control"), "no-store");
}

}  // namespace annals::test
