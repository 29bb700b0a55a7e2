#include "net/auth/fetch.h"

#include "core/base/owned.h"
#include "core/config/config_checks.h"

#include <fmt/format.h>

#include <curl/curl.h>

#include <array>
#include <cstdlib>
#include <mutex>

namespace annals::net::auth {

namespace {

std::size_t take(char* bytes, std::size_t size, std::size_t count, void* out) {
    auto& text = *static_cast<std::string*>(out);
    if (text.size() + size * count > kFetchedBytesMax) {
        return 0;
    }
    text.append(bytes, size * count);
    return size * count;
}

int stop_if_asked(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<const std::atomic<bool>*>(stop)->load() ? 1 : 0;
}

using Handle = Owned<CURL, curl_easy_cleanup>;

Handle make_handle() {
    initialise_curl();
    return Handle(curl_easy_init());
}

Error not_set_up() {
    return {Errc::io, "libcurl cannot be set up"};
}

/// Escapes as in a form: everything except letters, digits and "-._~" as %XX.
std::string escape(CURL* curl, const std::string& text) {
    const Owned<char, curl_free> escaped(
        curl_easy_escape(curl, text.data(), static_cast<int>(text.size())));
    return escaped == nullptr ? std::string() : std::string(escaped.get());
}

Result<std::string> perform(CURL* curl, const std::string& url, std::chrono::milliseconds limit,
                            const std::atomic<bool>& stop, const ClientCertificate* shown) {
    std::string text;
    std::array<char, CURL_ERROR_SIZE> reason{};
    prepare_request(curl, url, limit, shown);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason.data());
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &text);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, stop_if_asked);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &stop);
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);  // the handle outlives it
    if (code == CURLE_WRITE_ERROR) {
        return Error{Errc::body_too_large, fmt::format("{}: the response is too long", url)};
    }
    if (code != CURLE_OK) {
        return Error{
            code == CURLE_OPERATION_TIMEDOUT ? Errc::timeout : Errc::io,
            fmt::format("{}: {}", url,
                        reason.front() != '\0' ? reason.data() : curl_easy_strerror(code))};
    }
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
        return Error{Errc::io, fmt::format("{}: status {}", url, status)};
    }
    return text;
}

}  // namespace

void initialise_curl() {
    static std::once_flag initialised;
    std::call_once(initialised, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

void prepare_request(void* curl, const std::string& url, std::chrono::milliseconds limit,
                     const ClientCertificate* shown) {
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    if (url.starts_with("http://") && core::is_safe_url(url)) {
        // Requests to this machine, with secrets and tokens, must not leave it for a proxy named by the environment.
        curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    }
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(limit.count()));
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    // Otherwise the limit, and whoever ends the request, would wait for a name server that does not respond.
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    if (const char* const file = std::getenv("SSL_CERT_FILE"); file != nullptr && *file != '\0') {
        curl_easy_setopt(curl, CURLOPT_CAINFO, file);
    }
    if (const auto own = shown != nullptr ? shown->current() : nullptr) {
        curl_blob chain{const_cast<char*>(own->chain.data()), own->chain.size(), CURL_BLOB_COPY};
        curl_blob key{const_cast<char*>(own->key.data()), own->key.size(), CURL_BLOB_COPY};
        curl_easy_setopt(curl, CURLOPT_SSLCERT_BLOB, &chain);
        curl_easy_setopt(curl, CURLOPT_SSLKEY_BLOB, &key);
    }
}

Result<std::string> fetch(const std::string& url, std::chrono::milliseconds limit,
                          const std::atomic<bool>& stop, const ClientCertificate* shown) {
    const Handle handle = make_handle();
    return handle == nullptr ? not_set_up() : perform(handle.get(), url, limit, stop, shown);
}

Result<std::string> post_form(const std::string& url, const Form& form,
                              std::chrono::milliseconds limit, const std::atomic<bool>& stop,
                              const ClientCertificate* shown) {
    const Handle handle = make_handle();
    if (handle == nullptr) {
        return not_set_up();
    }
    CURL* const curl = handle.get();
    std::string body;
    for (const auto& [name, value] : form.fields) {
        body += (body.empty() ? "" : "&") + escape(curl, name) + '=' + escape(curl, value);
    }
    const Owned<curl_slist, curl_slist_free_all> headers(
        curl_slist_append(nullptr, "Accept: application/json"));
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, body.c_str());
    if (!form.client.empty()) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        curl_easy_setopt(curl, CURLOPT_USERNAME, escape(curl, form.client).c_str());
        curl_easy_setopt(curl, CURLOPT_PASSWORD, escape(curl, form.secret).c_str());
    }
    return perform(curl, url, limit, stop, shown);
}

}  // namespace annals::net::auth
