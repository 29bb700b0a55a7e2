// RequestReader: reads the head line by line.

#include "core/base/parts.h"
#include "core/interactions/media_type.h"
#include "core/target.h"
#include "net/characters.h"
#include "net/request_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace annals::net {

std::size_t RequestReader::target_bytes_max(std::string_view head) noexcept {
    head = head.substr(0, std::min(head.find('\n'), kRequestTargetBytesMax));
    const std::size_t mark = head.find('?');
    return mark != std::string_view::npos && head.substr(mark).starts_with("?_cursor=")
               ? kPageTargetBytesMax
               : kRequestTargetBytesMax;
}

std::size_t RequestReader::head_bytes_max(std::string_view head) noexcept {
    return kHeaderBytesMax + target_bytes_max(head) - kRequestTargetBytesMax;
}

bool RequestReader::read_request_line(std::size_t& position) {
    const std::string_view head(origin(), end_ - begin_);
    const std::size_t line_end = head.find('\n');
    const std::string_view line = head.substr(0, line_end);
    const std::size_t method_end = line.find(' ');
    const std::size_t target_end = line.find(' ', method_end + 1);
    // llhttp skips a lone carriage return before the method.
    if (line.starts_with('\r') || method_end == std::string_view::npos ||
        target_end == std::string_view::npos || line.size() != target_end + 10 ||
        line.substr(target_end + 1, 7) != "HTTP/1." || line.back() != '\r') {
        return refuse(Errc::invalid, "the request line is malformed");
    }
    const std::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
    if (target.size() > kRequestTargetBytesMax && target.size() > target_bytes_max(line)) {
        return refuse(Errc::uri_too_long, "the request target is too long; use POST and _search");
    }
    position = line_end + 1;
    return read_target(target);
}

bool RequestReader::read_target(std::string_view target) {
    // A loop without an early exit is vectorized.
    bool printable = true;
    for (const char c : target) {
        printable &= c > ' ' && c < 0x7f && c != '#';
    }
    if (!printable) {
        return refuse(Errc::invalid, kMalformedTarget);
    }
    if (!target.empty() && target.front() != '/' && target != "*") {
        const std::size_t scheme_end = target.find("://");
        const std::string_view scheme = target.substr(0, scheme_end);
        if (scheme_end == std::string_view::npos ||
            (!same(scheme, "http") && !same(scheme, "https"))) {
            return refuse(Errc::invalid, "the request target is neither a path nor a URL");
        }
        target.remove_prefix(scheme_end + 3);
        const std::string_view authority = target.substr(0, target.find_first_of("/?"));
        if (!is_authority(authority)) {
            return refuse(Errc::invalid, "the request target's host is malformed");
        }
        // RFC 9112 section 3.2.2: it overrides the Host header.
        host_from_target_ = true;
        host_place_ = {origin(), authority};
        target.remove_prefix(authority.size());
    }
    const std::string_view path = take_until(target, '?');
    core::unescape_path(path, unescaped_path_);
    path_place_ = {origin(), path};
    query_place_ = {origin(), target};
    return true;
}

bool RequestReader::read_headers(std::size_t& position) {
    const char* const head = origin();
    const char* const limit = buffer_.get() + end_;
    const char* at = head + position;
    for (;;) {
        if (limit - at >= 2 && at[0] == '\r' && at[1] == '\n') {
            position = static_cast<std::size_t>(at + 2 - head);
            return true;
        }
        // A line that begins with white space (obs-fold) has no name either.
        const char* name_end = at;
        while (name_end < limit && is_in(kToken, *name_end)) {
            ++name_end;
        }
        if (name_end == at || name_end == limit || *name_end != ':') {
            return refuse(Errc::invalid, "a header line is malformed");
        }
        const char* value = name_end + 1;
        const void* found = std::memchr(value, '\n', static_cast<std::size_t>(limit - value));
        const char* value_end = static_cast<const char*>(found);
        if (value_end == nullptr || value_end == value || value_end[-1] != '\r') {
            return refuse(Errc::invalid, "a header line does not end in CR LF");
        }
        const char* const next = value_end + 1;
        --value_end;
        while (value < value_end && (*value == ' ' || *value == '\t')) {
            ++value;
        }
        while (value < value_end && (value_end[-1] == ' ' || value_end[-1] == '\t')) {
            --value_end;
        }
        if (places_.size() == kHeaderCountMax) {
            return refuse(Errc::headers_too_large, "the request has too many headers");
        }
        const std::string_view name(at, name_end);
        const std::string_view text(value, value_end);
        places_.push_back({{head, name}, {head, text}});
        if (!apply_header(name, text)) {
            return false;
        }
        at = next;
    }
}

bool RequestReader::apply_header(std::string_view name, std::string_view value) {
    switch (name.size()) {
        case 4:
            if (same(name, "host")) {
                if (++host_count_ > 1 || !is_authority(value)) {
                    return refuse(Errc::invalid, "the Host header is malformed or repeated");
                }
                if (!host_from_target_) {
                    host_place_ = {origin(), value};
                }
            }
            break;
        case 6:
            if (same(name, "expect") && !http_1_0_) {
                if (!same(value, "100-continue")) {
                    return refuse(Errc::invalid, "the only supported expectation is 100-continue",
                                  417);
                }
                expects_continue_ = true;
            }
            break;
        case 10:
            // llhttp does not strip a tab after a value.
            while (same(name, "connection") && !value.empty()) {
                closes_ = same(core::next_part(value, ','), "close") || closes_;
            }
            break;
        case 12:
            if (same(name, "content-type") && std::exchange(has_type_, true)) {
                return refuse(Errc::invalid, "the Content-Type header is repeated");
            }
            if (same(name, "x-request-id") && !id_place_) {
                id_place_ = {origin(), value};
            }
            break;
        case 15:
            if (same(name, "accept-encoding") && ++coding_count_ == 1) {
                coding_place_ = {origin(), value};
            }
            break;
        case 16:
            if (same(name, "content-encoding")) {
                return apply_content_coding(value);
            }
            break;
        case 17:
            if (same(name, "transfer-encoding")) {
                if (http_1_0_ || chunked_) {
                    return refuse(Errc::invalid, "Transfer-Encoding is not allowed here");
                }
                if (!same(value, "chunked")) {
                    return refuse(Errc::not_implemented,
                                  "the only supported transfer coding is chunked");
                }
                chunked_ = true;
            }
            break;
        case 21:
            if (same(name, "x-annals-min-position")) {
                position_place_ = {origin(), value};
            }
            break;
        default:
            break;
    }
    return true;
}

bool RequestReader::apply_content_coding(std::string_view value) {
    const std::optional<Coding> coding = coding_named(value);
    if (!coding || (decoder_ != nullptr && *coding != Coding::identity)) {
        return refuse(Errc::unsupported_media, "the supported content codings are gzip and zstd");
    }
    if (*coding != Coding::identity) {
        decoder_ = make_decoder(*coding);
        if (decoder_ == nullptr) {
            return refuse(Errc::overloaded, "there is not enough memory to decode the body");
        }
    }
    return true;
}

void RequestReader::set_head() {
    const char* const head = origin();
    request_.path = unescaped_path_.empty() ? path_place_.text(head) : unescaped_path_;
    request_.query = query_place_.text(head);
    request_.min_position.reset();
    if (position_place_) {
        request_.min_position = position_place_->text(head);
    }
    request_.headers.clear();
    for (const HeaderPlace& place : places_) {
        request_.headers.push_back({place.name.text(head), place.value.text(head)});
    }
    host_ = host_place_.text(head);
    request_id_ = id_place_ ? id_place_->text(head) : "";
    accept_encoding_ = coding_place_.text(head);
    if (coding_count_ > 1) {
        // RFC 9110 section 5.3: lines of one name are one list.
        joined_codings_.clear();
        for (const core::Header& header : request_.headers) {
            if (same(header.name, "accept-encoding")) {
                joined_codings_.append(header.value).append(",");
            }
        }
        accept_encoding_ = joined_codings_;
    }
}

}  // namespace annals::net
