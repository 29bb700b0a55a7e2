#include "net/auth/credentials.h"

#include "core/base/log.h"
#include "net/auth/fetch.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace annals::net::auth {

namespace {

constexpr std::size_t kFileBytesMax = 1 << 20;
constexpr std::size_t kSecretBytesMin = 32;
constexpr std::chrono::seconds kFetchLimit{5};
constexpr std::chrono::minutes kFetchInterval{5};
constexpr std::chrono::seconds kAskInterval{10};

Result<std::string> read_file(std::string_view key, const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream || text.str().empty() || text.str().size() > kFileBytesMax) {
        return Error{Errc::usage, fmt::format("{}: {}: cannot be read", key, file), ""};
    }
    return text.str();
}

bool takes_tokens(const core::Config::Auth& config) {
    return config.mode == "jwt" || config.mode == "jwt_or_api_key";
}

bool takes_keys(const core::Config::Auth& config) {
    return config.mode == "api_key" || config.mode == "jwt_or_api_key";
}

}  // namespace

Credentials::Credentials(const core::Config& config) : config_(config.auth) {
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
    if (takes_tokens(config.auth) && !config.auth.jwt_jwks_url.empty()) {
        credentials->wanted_ = true;
        credentials->thread_ = std::thread([self = credentials.get()] { self->fetch_keys(); });
    }
    return credentials;
}

Credentials::~Credentials() {
    {
        // Under the lock, or the thread may look just before and go to sleep just after.
        const std::lock_guard lock(mutex_);
        quit_.store(true);
    }
    wake_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

Result<Trusted> Credentials::read() const {
    Trusted trusted;
    if (takes_tokens(config_)) {
        trusted.rules = {config_.jwt_issuer, config_.jwt_audience, config_.jwt_leeway, ""};
        if (!config_.jwt_jwks_file.empty()) {
            ANNALS_TRY(const std::string text,
                       read_file("auth.jwt.jwks_file", config_.jwt_jwks_file));
            auto keys = KeySet::read(text);
            if (!keys) {
                return Error{Errc::usage,
                             fmt::format("auth.jwt.jwks_file: {}: {}", config_.jwt_jwks_file,
                                         keys.error().detail),
                             ""};
            }
            trusted.keys = *std::move(keys);
        }
        if (!config_.jwt_hs256_secret_file.empty()) {
            ANNALS_TRY(trusted.rules.secret,
                       read_file("auth.jwt.hs256_secret_file", config_.jwt_hs256_secret_file));
            while (trusted.rules.secret.ends_with('\n') || trusted.rules.secret.ends_with('\r')) {
                trusted.rules.secret.pop_back();
            }
            if (trusted.rules.secret.size() < kSecretBytesMin) {
                return Error{Errc::usage,
                             fmt::format("auth.jwt.hs256_secret_file: {}: a secret must have {} "
                                         "bytes or more",
                                         config_.jwt_hs256_secret_file, kSecretBytesMin),
                             ""};
            }
        }
    }
    if (takes_keys(config_)) {
        ANNALS_TRY(trusted.api_keys, core::read_api_keys(config_.api_keys_file));
    }
    return trusted;
}

std::vector<std::filesystem::file_time_type> Credentials::times() const {
    std::vector<std::filesystem::file_time_type> times;
    for (const std::string* file :
         {&config_.jwt_jwks_file, &config_.jwt_hs256_secret_file, &config_.api_keys_file}) {
        std::error_code ignored;
        times.push_back(std::filesystem::last_write_time(*file, ignored));
    }
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
        if (thread_.joinable()) {
            trusted->keys = current_->keys;
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

bool Credentials::ask_for_keys(std::uint64_t seen) {
    if (!thread_.joinable()) {
        return false;
    }
    const std::lock_guard lock(mutex_);
    if (wanted_ || fetching_ || number() != seen) {
        return true;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < kAskInterval) {
        return false;
    }
    asked_ = now;
    wanted_ = true;
    wake_.notify_all();
    return true;
}

void Credentials::fetch_keys() {
    std::unique_lock lock(mutex_);
    while (!quit_) {
        wake_.wait_for(lock, kFetchInterval, [this] { return wanted_ || quit_; });
        if (quit_) {
            break;
        }
        wanted_ = false;
        fetching_ = true;
        lock.unlock();
        const auto text = fetch(config_.jwt_jwks_url, kFetchLimit, quit_);
        auto keys = text ? KeySet::read(*text) : Result<KeySet>(text.error());
        if (!keys && !quit_) {
            log_warning(fmt::format("auth.jwt.jwks_url: {}; the keys stay as they were",
                                    keys.error().detail));
        }
        lock.lock();
        if (keys) {
            Trusted trusted = *current_;
            trusted.keys = *std::move(keys);
            set(std::move(trusted));
        }
        fetching_ = false;
    }
}

}  // namespace annals::net::auth
