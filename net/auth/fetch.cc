#include "net/auth/fetch.h"

#include <fmt/format.h>

#include <curl/curl.h>

#include <memory>
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

}  // namespace

Result<std::string> fetch(const std::string& url, std::chrono::milliseconds limit,
                          const std::atomic<bool>& stop) {
    static std::once_flag initialised;
    std::call_once(initialised, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(curl_easy_init(),
                                                                     curl_easy_cleanup);
    CURL* const curl = handle.get();
    if (curl == nullptr) {
        return Error{Errc::io, "libcurl cannot be set up", ""};
    }
    std::string text;
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(limit.count()));
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &text);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, stop_if_asked);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &stop);
    const CURLcode code = curl_easy_perform(curl);
    if (code == CURLE_WRITE_ERROR) {
        return Error{Errc::body_too_large, fmt::format("{}: the answer is too long", url), ""};
    }
    if (code != CURLE_OK) {
        return Error{code == CURLE_OPERATION_TIMEDOUT ? Errc::timeout : Errc::io,
                     fmt::format("{}: {}", url, curl_easy_strerror(code)), ""};
    }
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
        return Error{Errc::io, fmt::format("{}: status {}", url, status), ""};
    }
    return text;
}

}  // namespace annals::net::auth
