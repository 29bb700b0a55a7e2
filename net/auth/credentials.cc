#include "net/auth/credentials.h"

#include "core/base/log.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace annals::net::auth {

namespace {

constexpr std::size_t kFileBytesMax = 1 << 20;
constexpr std::size_t kSecretBytesMin = 32;

Result<std::string> read_file(std::string_view key, const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream || text.str().empty() || text.str().size() > kFileBytesMax) {
        return Error{Errc::usage, fmt::format("{}: {}: cannot be read", key, file), ""};
    }
    return text.str();
}

/// Without the line end that editors leave.
Result<std::string> read_secret(std::string_view key, const std::string& file) {
    ANNALS_TRY(std::string secret, read_file(key, file));
    while (secret.ends_with('\n') || secret.ends_with('\r')) {
        secret.pop_back();
    }
    if (secret.empty()) {
        return Error{Errc::usage, fmt::format("{}: {}: it has no secret", key, file), ""};
    }
    return secret;
}

Result<KeySet> read_keys(std::string_view key, const std::string& file) {
    ANNALS_TRY(const std::string text, read_file(key, file));
    auto keys = KeySet::read(text);
    if (!keys) {
        return Error{Errc::usage, fmt::format("{}: {}: {}", key, file, keys.error().detail), ""};
    }
    return keys;
}

std::vector<core::Config::Auth::Issuer> all_issuers(const core::Config::Auth& config) {
    std::vector<core::Config::Auth::Issuer> all;
    if (config.takes_tokens()) {
        if (config.has_own_issuer()) {
            all.push_back({config.jwt_issuer, config.jwt_audience, config.jwt_jwks_file,
                           config.jwt_jwks_url});
        }
        all.insert(all.end(), config.jwt_issuers.begin(), config.jwt_issuers.end());
    }
    return all;
}

}  // namespace

Credentials::Credentials(const core::Config& config)
    : config_(config.auth), issuers_(all_issuers(config.auth)) {
}

Result<void> Credentials::check(const core::Config& config) {
    ANNALS_TRY_VOID(Credentials(config).read());
    return {};
}

Result<std::unique_ptr<Credentials>> Credentials::open(const core::Config& config) {
    std::unique_ptr<Credentials> credentials(new Credentials(config));
    credentials->times_ = credentials->times();
    ANNALS_TRY(Trusted trusted, credentials->read());
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
                      issuer.jwks_url, [self, i](KeySet keys, std::uint64_t number) {
                          self->set_keys(i, std::move(keys), number);
                      }));
    }
    if (config.auth.takes_tokens() && !config.auth.introspection.url.empty()) {
        self->introspector_ =
            std::make_unique<Introspector>(config.auth, self->current()->introspection_secret);
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
    if (config_.takes_tokens() && !config_.jwt_hs256_secret_file.empty()) {
        std::string& secret = trusted.issuers.front().rules.secret;
        ANNALS_TRY(secret,
                   read_secret("auth.jwt.hs256_secret_file", config_.jwt_hs256_secret_file));
        if (secret.size() < kSecretBytesMin) {
            return Error{Errc::usage,
                         fmt::format("auth.jwt.hs256_secret_file: {}: a secret must have {} "
                                     "bytes or more",
                                     config_.jwt_hs256_secret_file, kSecretBytesMin),
                         ""};
        }
    }
    if (config_.takes_tokens() && !config_.introspection.url.empty()) {
        ANNALS_TRY(trusted.introspection_secret,
                   read_secret("auth.introspection.client_secret_file",
                               config_.introspection.client_secret_file));
    }
    if (config_.takes_keys()) {
        ANNALS_TRY(trusted.api_keys, core::read_api_keys(config_.api_keys_file));
    }
    return trusted;
}

std::vector<std::filesystem::file_time_type> Credentials::times() const {
    std::vector<std::filesystem::file_time_type> times;
    const auto add = [&](const std::string& file) {
        std::error_code ignored;
        times.push_back(std::filesystem::last_write_time(file, ignored));
    };
    for (const core::Config::Auth::Issuer& issuer : issuers_) {
        add(issuer.jwks_file);
    }
    add(config_.jwt_hs256_secret_file);
    add(config_.introspection.client_secret_file);
    add(config_.api_keys_file);
    return times;
}

void Credentials::reload_if_changed() {
    auto found = times();
    if (found == times_) {
        return;
    }
    times_ = std::move(found);
    auto trusted = read();
    if (!trusted) {
        log_warning(fmt::format("credentials stay as they were: {}", trusted.error().detail));
        return;
    }
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
    log_info("credentials were read again");
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
