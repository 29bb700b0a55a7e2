#include "net/tls.h"

#include "core/base/base64.h"
#include "core/base/log.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pemerr.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509err.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

namespace annals::net {

namespace {

/// One record's worth: more at a time would only fill more records.
constexpr std::size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;

/// How often the socket is read in one step. Otherwise a client could keep the thread in one step by sending
/// records without content for HTTP, such as key updates.
constexpr int kReadsPerStep = 2;

/// Name, encryption key and authentication key of session tickets.
constexpr std::size_t kTicketKeyBytes = 80;

// Forward secrecy and authenticated encryption only.
constexpr const char* kCiphers12 = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr const char* kGroups = "X25519:P-256:P-384";

/// OpenSSL's first error; the others are dropped.
std::string openssl_reason() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    if (reason != nullptr) {
        return reason;
    }
    // OpenSSL has no texts for system errors.
    return ERR_SYSTEM_ERROR(code) ? std::strerror(ERR_GET_REASON(code)) : "unknown reason";
}

/// OpenSSL's first error with a file; for common mistakes in words for people who do not know OpenSSL.
std::string file_reason() {
    const unsigned long code = ERR_peek_error();
    switch (ERR_PACK(ERR_GET_LIB(code), 0, ERR_GET_REASON(code))) {
        case ERR_PACK(ERR_LIB_PEM, 0, PEM_R_NO_START_LINE):
            return "it has no certificate";
        // Nothing in the file is a key, or our callback gave no passphrase for it.
        case ERR_PACK(ERR_LIB_OSSL_DECODER, 0, ERR_R_UNSUPPORTED):
        case ERR_PACK(ERR_LIB_CRYPTO, 0, ERR_R_INTERRUPTED_OR_CANCELLED):
            return "it has no key without a passphrase";
        // OpenSSL keeps a pair for each type of key: a key of another type than the certificate's has none.
        case ERR_PACK(ERR_LIB_X509, 0, X509_R_KEY_VALUES_MISMATCH):
        case ERR_PACK(ERR_LIB_SSL, 0, SSL_R_NO_CERTIFICATE_ASSIGNED):
            return "the key does not belong to the certificate";
        default:
            return openssl_reason();
    }
}

Error file_error(std::string_view key, const std::string& file) {
    const std::string reason = file_reason();
    ERR_clear_error();
    return {Errc::usage, fmt::format("{}: {}: {}", key, file, reason)};
}

/// TLS 1.3 has no signatures for keys on other curves, and TLS 1.2 uses them only with clients that ask for the curve.
void warn_of_curve(const std::string& file, SSL_CTX* context) {
    static constexpr std::array<std::string_view, 3> kUsual{SN_X9_62_prime256v1, SN_secp384r1,
                                                            SN_secp521r1};
    std::array<char, 64> name;
    std::size_t size = 0;
    if (EVP_PKEY_get_group_name(SSL_CTX_get0_privatekey(context), name.data(), name.size(),
                                &size) != 1 ||
        std::ranges::find(kUsual, std::string_view(name.data(), size)) != kUsual.end()) {
        return;
    }
    log_warning(
        fmt::format("tls.key_file: {}: browsers and most other clients do not support its curve, "
                    "{}, and cannot connect",
                    file, std::string_view(name.data(), size)));
}

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned int in_size, void*) {
    static constexpr std::array<unsigned char, 9> kHttp11{8,   'h', 't', 't', 'p',
                                                          '/', '1', '.', '1'};
    unsigned char* chosen = nullptr;
    if (SSL_select_next_proto(&chosen, out_size, kHttp11.data(), kHttp11.size(), in, in_size) !=
        OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/// Called before and after operations on the socket. Beyond kReadsPerStep, it pretends that nothing has arrived.
long bound_reads(BIO* socket, int operation, const char*, std::size_t, int, long, int result,
                 std::size_t*) {
    if (operation == BIO_CB_READ) {
        int& reads_left = *reinterpret_cast<int*>(BIO_get_callback_arg(socket));
        if (reads_left == 0) {
            BIO_clear_retry_flags(socket);
            BIO_set_retry_read(socket);
            return -1;
        }
        --reads_left;
    }
    return result;
}

/// A context without the contents of the files.
Result<std::shared_ptr<SSL_CTX>> make_context() {
    ERR_clear_error();
    const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    SSL_CTX* const ctx = context.get();
    if (ctx == nullptr || SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(ctx, kCiphers12) != 1 ||
        SSL_CTX_set1_groups_list(ctx, kGroups) != 1) {
        return Error{Errc::usage, fmt::format("tls: {}", openssl_reason())};
    }
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, nullptr);
    // Sessions are resumed with tickets, which the server need not store.
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    static constexpr std::string_view kSessions = "annals";
    SSL_CTX_set_session_id_context(ctx, reinterpret_cast<const unsigned char*>(kSessions.data()),
                                   kSessions.size());
    return context;
}

void ask_clients(SSL_CTX* context, STACK_OF(X509_NAME) * authorities) {
    SSL_CTX_set_client_CA_list(context, authorities);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

/// The lists of revoked certificates (CRLs) in a context that no other thread uses yet: handshakes sort its certificates.
std::vector<X509_CRL*> revocations_in(SSL_CTX* context) {
    const STACK_OF(X509_OBJECT)* const all =
        X509_STORE_get0_objects(SSL_CTX_get_cert_store(context));
    std::vector<X509_CRL*> lists;
    for (int i = 0; i < sk_X509_OBJECT_num(all); ++i) {
        if (X509_CRL* const list = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(all, i))) {
            lists.push_back(list);
        }
    }
    return lists;
}

/// Refuses certificates that a list of revoked ones names. One list in the file makes a list of every authority in a client's
/// chain necessary, and none may be out of date: otherwise it isn't known whether a certificate was revoked.
void heed_revocations(SSL_CTX* context) {
    if (!revocations_in(context).empty()) {
        X509_STORE_set_flags(SSL_CTX_get_cert_store(context),
                             X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    }
}

/// When the first of its lists of revoked certificates goes out of date; none: never.
std::optional<Instant> end_of_revocations(SSL_CTX* context) {
    std::optional<Instant> first;
    for (const X509_CRL* const list : revocations_in(context)) {
        const ASN1_TIME* const end = X509_CRL_get0_nextUpdate(list);
        std::tm parts{};
        if (end != nullptr && ASN1_TIME_to_tm(end, &parts) == 1) {
            const Instant one{::timegm(&parts) * 1'000'000};
            first = std::min(first.value_or(one), one);
        }
    }
    return first;
}

/// A context with the contents of `old`'s files and a new ticket key.
Result<std::shared_ptr<SSL_CTX>> make_again(SSL_CTX* old) {
    ANNALS_TRY(std::shared_ptr<SSL_CTX> context, make_context());
    STACK_OF(X509)* chain = nullptr;
    SSL_CTX_get0_chain_certs(old, &chain);
    if (SSL_CTX_use_cert_and_key(context.get(), SSL_CTX_get0_certificate(old),
                                 SSL_CTX_get0_privatekey(old), chain, 1) != 1) {
        return Error{Errc::usage, fmt::format("tls: {}", openssl_reason())};
    }
    if (SSL_CTX_get_verify_mode(old) != SSL_VERIFY_NONE) {
        SSL_CTX_set1_cert_store(context.get(), SSL_CTX_get_cert_store(old));
        ask_clients(context.get(), SSL_dup_CA_list(SSL_CTX_get_client_CA_list(old)));
    }
    return context;
}

}  // namespace

// ---- the context ----

Result<std::unique_ptr<TlsContext>> TlsContext::create(
    const core::Config::Tls& files, std::chrono::steady_clock::duration ticket_key_life) {
    // OpenSSL writes in a way that raises a signal if the socket is closed.
    std::signal(SIGPIPE, SIG_IGN);
    std::unique_ptr<TlsContext> context(new TlsContext(files, ticket_key_life));
    ANNALS_TRY(context->current_, context->read());
    warn_of_curve(files.key_file, context->current_.get());
    context->revocations_end_ = end_of_revocations(context->current_.get());
    context->warn_of_old_revocations();
    return context;
}

void TlsContext::warn_of_old_revocations() {
    const bool old = revocations_end_ && *revocations_end_ <= now();
    if (old && !warned_) {
        log_warning(fmt::format(
            "tls.client_ca_file {}: a list of revoked certificates is out of date; clients "
            "of its authority are refused until there is a new one",
            files_.client_ca_file));
    }
    warned_ = old;
}

Result<std::shared_ptr<SSL_CTX>> TlsContext::read() const {
    ANNALS_TRY(std::shared_ptr<SSL_CTX> context, make_context());
    SSL_CTX* const ctx = context.get();
    // There is nobody to type a passphrase.
    SSL_CTX_set_default_passwd_cb(ctx, [](char*, int, int, void*) { return -1; });
    if (SSL_CTX_use_certificate_chain_file(ctx, files_.cert_file.c_str()) != 1) {
        return file_error("tls.cert_file", files_.cert_file);
    }
    if (SSL_CTX_use_PrivateKey_file(ctx, files_.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(ctx) != 1) {
        return file_error("tls.key_file", files_.key_file);
    }
    if (!files_.client_ca_file.empty()) {
        STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(files_.client_ca_file.c_str());
        if (names == nullptr || SSL_CTX_load_verify_file(ctx, files_.client_ca_file.c_str()) != 1) {
            sk_X509_NAME_pop_free(names, X509_NAME_free);
            return file_error("tls.client_ca_file", files_.client_ca_file);
        }
        heed_revocations(ctx);
        ask_clients(ctx, names);
    }
    return context;
}

void TlsContext::reload_if_changed() {
    const bool due = watch_.must_read();
    const auto time = std::chrono::steady_clock::now();
    const bool stale = time - ticket_key_made_ >= ticket_key_life_;
    warn_of_old_revocations();
    if (!due && !stale) {
        return;
    }
    auto next = read();
    watch_.note(next, "the certificate is unchanged");
    const bool is_news = next && due;
    if (next) {  // not that of make_again(), whose certificates are in use
        revocations_end_ = end_of_revocations(next->get());
    }
    if (!next && stale) {
        next = make_again(current_.get());
    }
    if (!next) {
        return;
    }
    if (stale || !files_.client_ca_file.empty()) {
        ticket_key_made_ = time;
    } else {
        std::array<unsigned char, kTicketKeyBytes> keys;
        if (SSL_CTX_get_tlsext_ticket_keys(current_.get(), keys.data(), keys.size()) == 1) {
            SSL_CTX_set_tlsext_ticket_keys(next->get(), keys.data(), keys.size());
        }
        OPENSSL_cleanse(keys.data(), keys.size());
    }
    {
        const std::lock_guard lock(mutex_);
        current_ = *std::move(next);
    }
    if (is_news) {
        log_info("the certificate was reloaded");
        warn_of_curve(files_.key_file, current().get());
    }
}

std::shared_ptr<SSL_CTX> TlsContext::current() const {
    const std::lock_guard lock(mutex_);
    return current_;
}

// ---- one connection ----

void TlsStream::Free::operator()(SSL* ssl) const noexcept {
    SSL_free(ssl);
}

TlsStream::TlsStream(const TlsContext& context, int fd) : ssl_(SSL_new(context.current().get())) {
    if (ssl_ != nullptr && SSL_set_fd(ssl_.get(), fd) == 1) {
        BIO* const socket = SSL_get_rbio(ssl_.get());
        BIO_set_callback_ex(socket, bound_reads);
        BIO_set_callback_arg(socket, reinterpret_cast<char*>(&reads_left_));
        SSL_set_accept_state(ssl_.get());
    } else {
        ssl_.reset();
    }
}

TlsStream::~TlsStream() = default;

TlsStream::Step TlsStream::step_after(int result) {
    switch (SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_READ:
            return Step::wants_read;
        case SSL_ERROR_WANT_WRITE:
            return Step::wants_write;
        case SSL_ERROR_ZERO_RETURN:
            return Step::closed;
        default:
            usable_ = false;
            ERR_clear_error();
            return Step::broken;
    }
}

TlsStream::Step TlsStream::handshake() {
    if (ssl_ == nullptr) {
        return Step::broken;
    }
    ERR_clear_error();
    reads_left_ = kReadsPerStep;
    const int result = SSL_do_handshake(ssl_.get());
    if (result == 1) {
        usable_ = true;
        return Step::done;
    }
    return step_after(result);
}

std::string TlsStream::client_certificate() const {
    X509* const certificate = ssl_ != nullptr ? SSL_get0_peer_certificate(ssl_.get()) : nullptr;
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
    if (certificate == nullptr ||
        X509_digest(certificate, EVP_sha256(), digest.data(), nullptr) != 1) {
        return {};
    }
    return encode_base64url({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

TlsStream::Step TlsStream::read(std::span<char> room, std::size_t& count) {
    if (ssl_ == nullptr) {
        return Step::broken;
    }
    ERR_clear_error();
    reads_left_ = kReadsPerStep;
    const int result = SSL_read_ex(ssl_.get(), room.data(), room.size(), &count);
    return result == 1 ? Step::done : step_after(result);
}

std::size_t TlsStream::add(std::string_view bytes) {
    if (record_ == nullptr) {
        record_ = std::make_unique_for_overwrite<char[]>(kRecordBytes);
    }
    const std::size_t taken = std::min(bytes.size(), kRecordBytes - end_);
    std::memcpy(record_.get() + end_, bytes.data(), taken);
    end_ += taken;
    return taken;
}

TlsStream::Step TlsStream::flush() {
    if (ssl_ == nullptr) {
        return Step::broken;
    }
    while (begin_ < end_) {
        ERR_clear_error();
        reads_left_ = kReadsPerStep;
        std::size_t written = 0;
        const int result =
            SSL_write_ex(ssl_.get(), record_.get() + begin_, end_ - begin_, &written);
        if (result != 1) {
            return step_after(result);
        }
        begin_ += written;
    }
    begin_ = end_ = 0;
    return Step::done;
}

void TlsStream::close() {
    if (ssl_ != nullptr && usable_) {
        ERR_clear_error();
        SSL_shutdown(ssl_.get());
        ERR_clear_error();
        usable_ = false;
    }
}

}  // namespace annals::net
