#include "tests/support/guarded_server.h"

#include "core/base/digest.h"
#include "storage/file_system.h"
#include "tests/support/files.h"

#include <gtest/gtest.h>

namespace annals::test {

GuardedServer::GuardedServer(const Change& change) {
    core::Config config;
    config.listen = "127.0.0.1:0";
    config.threads = 1;
    config.data = folder_ / "data";
    change(config, *this);
    storage::StoreOptions options;
    options.search = core::search_setup(config);
    store_ = *storage::Store::open(storage::posix_file_system(), config.data, options);
    service_ = std::make_unique<core::Service>(config, *store_);
    auto server = net::Server::start(*service_);
    EXPECT_TRUE(server) << server.error().detail;
    server_ = *std::move(server);
}

GuardedServer::Change with_tokens(const std::string& set) {
    return [set](core::Config& config, GuardedServer& server) {
        config.auth.mode = "jwt";
        config.auth.jwt_jwks_file = server.file("jwks.json");
        write_whole_file(config.auth.jwt_jwks_file, set);
    };
}

std::string key_entry(const std::string& id, const std::string& secret, const std::string& scopes) {
    return "[[key]]\nid = \"" + id + "\"\nsha256 = \"" + sha256_hex(secret) +
           "\"\nscopes = " + scopes + "\n";
}

GuardedServer::Change with_keys(const std::string& mode, const std::string& set) {
    return [mode, set](core::Config& config, GuardedServer& server) {
        config.auth.mode = mode;
        config.auth.jwt_jwks_file = server.file("jwks.json");
        write_whole_file(config.auth.jwt_jwks_file, set);
        config.auth.api_keys_file = server.file("keys.toml");
        write_whole_file(config.auth.api_keys_file,
                         key_entry("lab-7", "the key of lab 7", R"(["system/*.rs"])"));
    };
}

}  // namespace annals::test
