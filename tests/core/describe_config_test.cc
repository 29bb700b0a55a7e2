// The help's list of keys.

#include "core/config/config.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::core {
namespace {

TEST(DescribeConfig, HasOneLineForEveryKeyOfTheContract) {
    const std::string text = describe_config();
    for (const std::string key : {"listen",
                                  "data",
                                  "base_url",
                                  "threads",
                                  "durability",
                                  "sync_interval",
                                  "hard_delete",
                                  "max_history_versions",
                                  "history_cleanup_enabled",
                                  "history_cleanup_interval",
                                  "allow_history_bundles",
                                  "history_page_size",
                                  "search_page_size",
                                  "search.time_zone",
                                  "instance_history_page_size",
                                  "max_page_size",
                                  "interactions.instance.history",
                                  "interactions.instance.vread",
                                  "interactions.type.history",
                                  "interactions.system.history",
                                  "interactions.system.history_bundle",
                                  "update_create",
                                  "delete_absent",
                                  "referential_integrity.on_delete",
                                  "referential_integrity.on_write",
                                  "validation",
                                  "allow_unknown_elements",
                                  "limits.max_body",
                                  "limits.max_bundle_entries",
                                  "limits.max_expansion",
                                  "limits.max_connections",
                                  "limits.idle_timeout",
                                  "limits.header_timeout",
                                  "limits.body_timeout",
                                  "limits.request_timeout",
                                  "limits.max_memory",
                                  "limits.connections_per_address",
                                  "limits.rate",
                                  "limits.rate_burst",
                                  "shutdown_timeout",
                                  "auth.mode",
                                  "auth.jwt.issuer",
                                  "auth.jwt.audience",
                                  "auth.jwt.jwks_file",
                                  "auth.jwt.jwks_url",
                                  "auth.jwt.leeway",
                                  "auth.jwt.hs256_secret_file",
                                  "auth.jwt.issuers",
                                  "auth.introspection.url",
                                  "auth.introspection.client_id",
                                  "auth.introspection.client_secret_file",
                                  "auth.introspection.audience",
                                  "auth.introspection.cache",
                                  "auth.introspection.rate",
                                  "auth.api_keys_file",
                                  "auth.public",
                                  "allow_unauthenticated",
                                  "tls.cert_file",
                                  "tls.key_file",
                                  "tls.client_ca_file",
                                  "outgoing.cert_file",
                                  "outgoing.key_file",
                                  "audit.file",
                                  "audit.max_file",
                                  "audit.when_full",
                                  "auth.smart.authorization_endpoint",
                                  "auth.smart.token_endpoint",
                                  "auth.smart.introspection_endpoint",
                                  "auth.smart.revocation_endpoint",
                                  "auth.smart.management_endpoint",
                                  "auth.smart.registration_endpoint",
                                  "auth.smart.jwks_uri",
                                  "auth.smart.user_access_brand_bundle",
                                  "auth.smart.user_access_brand_identifier",
                                  "auth.smart.token_endpoint_auth_methods",
                                  "auth.smart.scopes",
                                  "auth.smart.capabilities",
                                  "cors.origins",
                                  "metadata.instantiates",
                                  "packages_dir"}) {
        EXPECT_NE(("\n" + text).find("\n" + key + " ("), std::string::npos) << key;
    }
}

TEST(DescribeConfig, SaysWhatValuesAKeyMayHave) {
    const std::string text = "\n" + describe_config();
    for (const std::string part : {"limits.max_body (size, default \"64MiB\")",
                                   "export.max_file (size from 1KiB on, default \"128MiB\")",
                                   "storage.written_memory (size, default \"0B\")",
                                   "threads (integer from 0 to 1024, default 0)",
                                   "history_page_size (integer from 1 on, default 100)",
                                   "auth.public (list of strings, default [\"metadata\"])",
                                   "validation (off | structure | full, default \"structure\")"}) {
        EXPECT_NE(text.find("\n" + part), std::string::npos) << part;
    }
}

}  // namespace
}  // namespace annals::core
