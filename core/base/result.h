// Result<T>: a value or an Error, for failures that callers must expect.
//
// Layer:   core/base.
// Threads: plain values.

#pragma once

#include "core/base/check.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace annals {

/// One value per reaction that a caller (in the end: a FHIR client) can have. core/outcome.cc has the table of their HTTP
/// statuses and FHIR issue codes.
enum class Errc : std::uint8_t {
    invalid,              ///< 400 invalid: malformed input
    structure,            ///< 400 structure: wrong shape or JSON kind
    required,             ///< 400 required: something is missing
    value,                ///< 400 value: a primitive in the wrong format
    not_supported,        ///< 400 not-supported: a part of the request that this server can't do
    not_found,            ///< 404 not-found
    deleted,              ///< 410 deleted
    method_not_allowed,   ///< 405 not-supported
    not_acceptable,       ///< 406 not-supported
    request_timeout,      ///< 408 timeout: the client was too slow
    conflict,             ///< 409 conflict
    still_current,        ///< 409 business-rule: it is in use and can't be removed like this
    precondition,         ///< 412 conflict: If-Match failed
    multiple_matches,     ///< 412 multiple-matches
    body_too_large,       ///< 413 too-long
    too_costly,           ///< 413 too-costly
    uri_too_long,         ///< 414 too-long
    unsupported_media,    ///< 415 not-supported
    business_rule,        ///< 422 business-rule
    processing,           ///< 422 processing
    not_computable,       ///< 422 not-supported: something that the answer depends on isn't here
    answer_too_costly,    ///< 422 too-costly: the answer would be larger than this server makes
    headers_too_large,    ///< 431 too-long
    expired,              ///< 410 expired: a page link that can't be honoured any more
    unauthenticated,      ///< 401 login
    bad_credentials,      ///< 401 security
    credentials_expired,  ///< 401 expired
    forbidden,            ///< 403 forbidden
    insufficient_scope,   ///< 403 forbidden: another token would do
    throttled,            ///< 429 throttled: the client asks for too much at once
    overloaded,           ///< 503 transient: a bounded queue is full
    timeout,              ///< 503 timeout: the server was too slow
    no_store,             ///< 503 no-store: disk full, a failed sync, or read-only
    corrupt,              ///< 500 exception: bytes on disk are damaged
    io,                   ///< 500 exception: the operating system refused
    internal,             ///< 500 exception: anything else that is our fault
    not_implemented,      ///< 501 not-supported
    usage,                ///< no HTTP meaning: wrong arguments or configuration (exit code 2)
};

/// What went wrong. `detail` is written for people and may reach a client for the 4xx codes; it never names a path or an errno
/// there. `expression` is a FHIRPath-like place ("Patient.birthDate", "Bundle.entry[3]") or empty. `others` are further faults
/// of the same body, each an issue of its own on the wire; the status is this one's. `lacks` is the canonical URL of a
/// definition that is missing or unusable here, or "Type/id", for whoever can supply it. Empty if no single thing would help.
struct Error {
    Errc code = Errc::internal;
    std::string detail{};
    std::string expression{};
    std::vector<Error> others{};
    std::string lacks{};
};

/// A value of T or an Error; a strict subset of std::expected. Reading the wrong side aborts.
template <typename T>
class [[nodiscard]] Result {
  public:
    using value_type = T;

    Result(T value) : value_(std::move(value)) {}

    Result(Error error) : error_(std::move(error)), failed_(true) {}

    Result(const Result& other)
        requires std::is_copy_constructible_v<T>
        : failed_(other.failed_) {
        if (failed_) {
            std::construct_at(&error_, other.error_);
        } else {
            std::construct_at(&value_, other.value_);
        }
    }

    Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
        : failed_(other.failed_) {
        if (failed_) {
            std::construct_at(&error_, std::move(other.error_));
        } else {
            std::construct_at(&value_, std::move(other.value_));
        }
    }

    Result& operator=(Result other) noexcept {
        std::destroy_at(this);
        return *std::construct_at(this, std::move(other));
    }

    ~Result() {
        if (failed_) {
            std::destroy_at(&error_);
        } else {
            std::destroy_at(&value_);
        }
    }

    explicit operator bool() const noexcept { return !failed_; }

    bool has_value() const noexcept { return !failed_; }

    T& operator*() & { return value(); }

    const T& operator*() const& { return value(); }

    T&& operator*() && { return std::move(value()); }

    T* operator->() { return &value(); }

    const T* operator->() const { return &value(); }

    T& value() & {
        ANNALS_CHECK(!failed_, error_.detail);
        return value_;
    }

    const T& value() const& {
        ANNALS_CHECK(!failed_, error_.detail);
        return value_;
    }

    Error& error() {
        ANNALS_CHECK(failed_);
        return error_;
    }

    const Error& error() const {
        ANNALS_CHECK(failed_);
        return error_;
    }

  private:
    // std::variant would do the same, but cost a tenth of the whole compile time.
    union {
        T value_;
        Error error_;
    };

    bool failed_ = false;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;

    Result(Error error) : error_(std::move(error)) {}

    explicit operator bool() const noexcept { return !error_; }

    bool has_value() const noexcept { return !error_; }

    Error& error() {
        ANNALS_CHECK(error_.has_value());
        return *error_;
    }

    const Error& error() const {
        ANNALS_CHECK(error_.has_value());
        return *error_;
    }

  private:
    std::optional<Error> error_;
};

}  // namespace annals

#define ANNALS_CONCAT_INNER(a, b) a##b
#define ANNALS_CONCAT(a, b) ANNALS_CONCAT_INNER(a, b)

#define ANNALS_TRY_AS(result, declaration, ...) \
    auto result = (__VA_ARGS__);                \
    if (!result) [[unlikely]] {                 \
        return std::move(result.error());       \
    }                                           \
    declaration = *std::move(result)

/// ANNALS_TRY(auto x, f()); binds x to the value of f() or returns its Error.
#define ANNALS_TRY(declaration, ...) \
    ANNALS_TRY_AS(ANNALS_CONCAT(annals_try_, __COUNTER__), declaration, __VA_ARGS__)

/// ANNALS_TRY_VOID(f()); returns the Error of f() if there is one.
#define ANNALS_TRY_VOID(...)                                                       \
    do {                                                                           \
        if (auto annals_try_void = (__VA_ARGS__); !annals_try_void) [[unlikely]] { \
            return std::move(annals_try_void.error());                             \
        }                                                                          \
    } while (false)
