#include "net/auth/credentials.h"

#include "core/access.h"
#include "core/base/log.h"
#include "core/config/config_checks.h"
#include "core/interactions/media_type.h"
#include "net/auth/files.h"

#include <fmt/format.h>

namespace annals::net::auth {

namespace {

constexpr std::size_t kSecretBytesMin = 32;

std::vector<core::Config::Auth::Issuer> all_issuers(const core::Config& config) {
    const core::Config::Auth& auth = config.auth;
    std::vector<core::Config::Auth::Issuer> all;
    if (!auth.takes_tokens()) {
        return all;
    }
    if (auth.has_own_issuer()) {
        all.push_back({auth.jwt_issuer, auth.jwt_audience, auth.jwt_jwks_file, auth.jwt_jwks_url});
    }
    all.insert(all.end(), auth.jwt_issuers.begin(), auth.jwt_issuers.end());
    if (auth.issues_tokens()) {
        // Its keys are not fetched: this server has them.
        all.push_back({config.base_url, config.base_url, "", ""});
    }
    return all;
}

/// Warns about scopes that grant nothing, so that a typo is not found only by a 403.
void warn_of_idle_scopes(const std::vector<core::ApiKey>& keys) {
    for (const core::ApiKey& key : keys) {
        std::string_view rest = key.scopes;
        while (!rest.empty()) {
            const std::string_view word = core::next_part(rest, ' ');
            if (!word.empty() && core::Principal(key.id, word).may_nothing()) {
                log_warning(fmt::format(
                    "auth.api_keys_file: the scope '{}' of the key '{}' grants no permission",
                    core::one_line(word), core::one_line(key.id)));
            }
        }
    }
}

}  // namespace

Credentials::Credentials(const core::Config& config, KeySet own_keys)
    : config_(config.auth), issuers_(all_issuers(config)), own_keys_(std::move(own_keys)) {
    for (const std::string& file :
         {config_.jwt_hs256_secret_file, config_.introspection.client_secret_file,
          config_.api_keys_file}) {
        watch_.add(file);
    }
    for (const core::Config::Auth::Issuer& issuer : issuers_) {
        watch_.add(issuer.jwks_file);
    }
}

Result<void> Credentials::check(const core::Config& config) {
    ANNALS_TRY_VOID(Credentials(config, {}).read());
    return {};
}

Result<std::unique_ptr<Credentials>> Credentials::open(const core::Config& config, KeySet own_keys,
                                                       const ClientCertificate* shown) {
    std::unique_ptr<Credentials> credentials(new Credentials(config, std::move(own_keys)));
    ANNALS_TRY(Trusted trusted, credentials->read());
    credentials->warn_of(trusted);
    {
        const std::lock_guard lock(credentials->mutex_);
        credentials->set(std::move(trusted));
    }
    Credentials* const self = credentials.get();
    for (std::size_t i = 0; i < self->issuers_.size(); ++i) {
        const core::Config::Auth::Issuer& issuer = self->issuers_[i];
        self->fetchers_.push_back(
            issuer.jwks_url.empty()
                ? nullptr
                : std::make_unique<KeyFetcher>(
                      issuer.issuer.empty() ? std::string("auth.jwt.jwks_url")
                                            : fmt::format("keys of '{}'", issuer.issuer),
                      issuer.jwks_url, shown, [self, i](KeySet keys, std::uint64_t number) {
                          self->set_keys(i, std::move(keys), number);
                      }));
    }
    if (config.auth.takes_tokens() && !config.auth.introspection.url.empty()) {
        self->introspector_ = std::make_unique<Introspector>(
            config.auth, self->current()->introspection_secret, shown);
    }
    return credentials;
}

Result<Trusted> Credentials::read() const {
    Trusted trusted;
    for (const core::Config::Auth::Issuer& issuer : issuers_) {
        TrustedIssuer& one = trusted.issuers.emplace_back();
        one.rules = {issuer.issuer, issuer.audience, config_.jwt_leeway, ""};
        if (!issuer.jwks_file.empty()) {
            const bool own = config_.has_own_issuer() && trusted.issuers.size() == 1;
            ANNALS_TRY(one.keys, read_keys(own ? "auth.jwt.jwks_file" : "auth.jwt.issuers",
                                           issuer.jwks_file));
        }
    }
    if (config_.takes_tokens() && config_.issues_tokens()) {
        trusted.issuers.back().keys = own_keys_;
    }
    if (config_.takes_tokens() && !config_.jwt_hs256_secret_file.empty()) {
        std::string& secret = trusted.issuers.front().rules.secret;
        ANNALS_TRY(secret,
                   read_secret("auth.jwt.hs256_secret_file", config_.jwt_hs256_secret_file));
        if (secret.size() < kSecretBytesMin) {
            return Error{
                Errc::usage,
                fmt::format(
                    "auth.jwt.hs256_secret_file: {}: the secret must have at least {} bytes",
                    config_.jwt_hs256_secret_file, kSecretBytesMin)};
        }
    }
    if (config_.takes_tokens() && !config_.introspection.url.empty() &&
        !config_.introspection.client_secret_file.empty()) {
        ANNALS_TRY(trusted.introspection_secret,
                   read_secret("auth.introspection.client_secret_file",
                               config_.introspection.client_secret_file));
    }
    if (config_.takes_keys()) {
        ANNALS_TRY(trusted.api_keys, core::read_api_keys(config_.api_keys_file));
    }
    return trusted;
}

void Credentials::reload_if_changed() {
    if (!watch_.must_read()) {
        return;
    }
    auto trusted = read();
    watch_.note(trusted, "the credentials are unchanged");
    if (!trusted) {
        return;
    }
    warn_of(*trusted);
    {
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; i < issuers_.size(); ++i) {
            if (fetchers_[i] != nullptr) {
                trusted->issuers[i].keys = current_->issuers[i].keys;
                trusted->issuers[i].fetched = current_->issuers[i].fetched;
            }
        }
        if (introspector_ != nullptr) {
            introspector_->set_secret(trusted->introspection_secret);
        }
        set(*std::move(trusted));
    }
    log_info("the credentials were reloaded");
}

void Credentials::warn_of(const Trusted& trusted) const {
    warn_of_idle_scopes(trusted.api_keys);
    for (std::size_t i = 0; i < issuers_.size(); ++i) {
        if (!issuers_[i].jwks_file.empty()) {
            warn_of_no_keys(issuers_[i].jwks_file, trusted.issuers[i].keys);
        }
    }
}

std::shared_ptr<const Trusted> Credentials::current() const {
    const std::lock_guard lock(mutex_);
    return current_;
}

void Credentials::set(Trusted trusted) {
    trusted.number = number_.load(std::memory_order_relaxed) + 1;
    current_ = std::make_shared<const Trusted>(std::move(trusted));
    number_.store(current_->number, std::memory_order_release);
}

void Credentials::set_keys(std::size_t index, KeySet keys, std::uint64_t fetched) {
    const std::lock_guard lock(mutex_);
    Trusted trusted = *current_;
    trusted.issuers[index].keys = std::move(keys);
    trusted.issuers[index].fetched = fetched;
    set(std::move(trusted));
}

Settled Credentials::ask_for_keys(std::size_t index, std::uint64_t seen) {
    return fetchers_[index] == nullptr ? nullptr : fetchers_[index]->ask(seen);
}

}  // namespace annals::net::auth
