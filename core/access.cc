#include "core/access.h"

#include "core/base/all_resource_types.h"
#include "core/base/digest.h"
#include "core/base/parts.h"
#include "core/interactions/search_types.h"
#include "core/operations/operations.h"
#include "core/search/compartments.h"
#include "core/service.h"
#include "core/target.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

/// Further scopes in a token are ignored.
constexpr int kScopesMax = 1000;
constexpr std::size_t kGrantsMax = 100;

constexpr std::string_view kLetters = "cruds";

/// The bits of a subset of "cruds" in this order; 0 for anything else.
std::uint8_t read_letters(std::string_view text) noexcept {
    std::uint8_t bits = 0;
    std::size_t from = 0;
    for (const char letter : text) {
        const std::size_t at = kLetters.find(letter, from);
        if (at == std::string_view::npos) {
            return 0;
        }
        bits = static_cast<std::uint8_t>(bits | 1U << at);
        from = at + 1;
    }
    return bits;
}

std::uint8_t read_permissions(std::string_view text) noexcept {
    if (text == "read") {
        return kMayRead | kMaySearch;
    }
    if (text == "write") {
        return kMayCreate | kMayUpdate | kMayDelete;
    }
    return text == "*" ? std::uint8_t{kMayAll} : read_letters(text);
}

std::string scope_text(std::uint8_t permissions, std::optional<TypeId> type) {
    return fmt::format("system/{}.{}", type ? resource_type_name(*type) : "*",
                       scope_letters(permissions));
}

std::string_view public_name(Access access, Level level) noexcept {
    switch (access) {
        case Access::open:
            return "metadata";
        case Access::read:
            return level == Level::instance_history ? "history" : "read";
        case Access::search:
            return level == Level::type_history || level == Level::system_history ? "history"
                                                                                  : "search";
        default:
            return {};
    }
}

bool may_search_anything(const Principal& principal) {
    return std::ranges::any_of(
        kAllResourceTypes, [&](TypeId type) { return principal.may_in_part(kMaySearch, type); });
}

/// Whether the request is a conditional create, update, patch or delete, whose answer reveals whether something matches.
bool is_conditional(const Request& request, const Target& target) {
    return target.level == Level::type &&
           (request.method == HttpMethod::post ? request.header("If-None-Exist").has_value()
                                               : true);
}

}  // namespace

bool is_public(const Config& config, std::string_view what) {
    const auto& list = config.auth.public_access;
    return std::ranges::find(list, what) != list.end();
}

std::optional<Scope> read_scope(std::string_view text) noexcept {
    Scope scope;
    const std::size_t slash = text.find('/');
    scope.context = text.substr(0, slash);
    if (slash == std::string_view::npos ||
        (scope.context != "system" && scope.context != "user" && scope.context != "patient")) {
        return std::nullopt;
    }
    std::string_view rest = text.substr(slash + 1);
    const std::size_t mark = rest.find('?');
    const bool granular = mark != std::string_view::npos;
    scope.query = granular ? rest.substr(mark + 1) : std::string_view();
    rest = rest.substr(0, mark);
    const std::size_t dot = rest.find('.');
    if (dot == std::string_view::npos) {
        return std::nullopt;
    }
    scope.type = rest.substr(0, dot);
    // SMART 1 scopes have no query.
    const std::string_view letters = rest.substr(dot + 1);
    scope.permissions = granular ? read_letters(letters) : read_permissions(letters);
    if (scope.permissions == 0 || (granular && scope.query.empty())) {
        return std::nullopt;
    }
    return scope;
}

std::string scope_letters(std::uint8_t permissions) {
    std::string text;
    for (std::size_t i = 0; i < kLetters.size(); ++i) {
        if ((permissions >> i & 1) != 0) {
            text += kLetters[i];
        }
    }
    return text;
}

Principal::Principal(std::string name, std::string_view scopes, std::string_view patient)
    : name_(std::move(name)), patient_(patient), identity_(name_) {
    for (int i = 0; i < kScopesMax && !scopes.empty(); ++i) {
        add_scope(take_until(scopes, ' '));
    }
    std::erase_if(grants_,
                  [this](const Grant& grant) { return may(grant.permissions, grant.type); });
    // A name that contains a newline could be mistaken for the identity of a restricted principal.
    if (is_restricted() || name_.find('\n') != std::string::npos) {
        std::uint64_t hash = 0;
        for (const Grant& grant : grants_) {
            // A sum, so that the order of the grants doesn't matter.
            hash +=
                hash64(fmt::format("{} {} {}", grant.permissions,
                                   grant.type ? resource_type_name(*grant.type) : "*", grant.query),
                       hash64(grant.of_patient ? patient_ : ""));
        }
        identity_ += fmt::format("\n{:016x}", hash);
    }
}

std::string_view Principal::name_in(std::string_view identity) noexcept {
    constexpr std::size_t kPartBytes = 1 + 16;
    const std::size_t before = identity.size() - std::min(identity.size(), kPartBytes);
    return before > 0 && identity[before] == '\n' ? identity.substr(0, before) : identity;
}

void Principal::add_scope(std::string_view text) {
    const std::optional<Scope> scope = read_scope(text);
    if (!scope) {
        return;
    }
    const auto type = find_resource_type(scope->type);
    if (!type && scope->type != "*") {
        return;
    }
    const bool of_patient = scope->context == "patient";
    if (of_patient || !scope->query.empty()) {
        const Grant grant{scope->permissions, type, of_patient, std::string(scope->query)};
        if ((!of_patient || !patient_.empty()) && concerns(grant, type) &&
            grants_.size() < kGrantsMax) {
            grants_.push_back(grant);
        }
    } else if (type) {
        types_[type->value] |= scope->permissions;
    } else {
        everywhere_ |= scope->permissions;
        if (scope->context == "system") {
            on_system_ |= scope->permissions;
        }
    }
}

bool Principal::may_nothing() const noexcept {
    return everywhere_ == 0 && grants_.empty() &&
           std::ranges::all_of(types_, [](std::uint8_t permissions) { return permissions == 0; });
}

bool Principal::may(std::uint8_t permissions, std::optional<TypeId> type) const noexcept {
    const std::uint8_t has = type ? types_[type->value] | everywhere_ : everywhere_;
    return (has & permissions) == permissions;
}

bool Principal::may_in_part(std::uint8_t permissions, std::optional<TypeId> type) const noexcept {
    std::uint8_t has = type ? types_[type->value] | everywhere_ : everywhere_;
    for (const Grant& grant : grants_) {
        has |= concerns(grant, type) ? grant.permissions : std::uint8_t{0};
    }
    return (has & permissions) == permissions;
}

bool concerns(const Grant& grant, std::optional<TypeId> type) noexcept {
    if (!type) {
        return !grant.type;
    }
    return (!grant.type || *grant.type == *type) &&
           (!grant.of_patient || search::may_be_of_patients(*type));
}

Result<void> require(const Service& service, const Request& request, std::uint8_t permissions,
                     std::optional<TypeId> type, Extent extent) {
    if (!service.guarded()) {
        return {};
    }
    if (request.principal == nullptr) {
        return Error{Errc::unauthenticated};
    }
    const Principal& principal = *request.principal;
    if (!principal.may(permissions, type) &&
        (extent == Extent::all || !principal.may_in_part(permissions, type))) {
        return Error{Errc::insufficient_scope,
                     fmt::format("The scope {} is needed", scope_text(permissions, type))};
    }
    return {};
}

Result<void> require_on_system(const Service& service, const Request& request,
                               std::uint8_t permissions) {
    ANNALS_TRY_VOID(require(service, request, permissions, std::nullopt));
    if (service.guarded() && !request.principal->may_on_system(permissions)) {
        return Error{Errc::insufficient_scope,
                     fmt::format("The scope {} is needed: those of the context user do not count",
                                 scope_text(permissions, std::nullopt))};
    }
    return {};
}

Result<void> require_read(const Service& service, const Request& request, TypeId type,
                          Extent extent) {
    return everybody_may_read(service) ? Result<void>()
                                       : require(service, request, kMayRead, type, extent);
}

Result<void> require_search(const Service& service, const Request& request, TypeId type,
                            Extent extent) {
    return everybody_may_search(service) ? Result<void>()
                                         : require(service, request, kMaySearch, type, extent);
}

Result<void> require_search(const Service& service, const Request& request,
                            std::span<const TypeId> types, Extent extent) {
    for (const TypeId type : types) {
        ANNALS_TRY_VOID(require_search(service, request, type, extent));
    }
    return {};
}

Error beyond_scopes(std::uint8_t permissions, TypeId type) {
    return {Errc::insufficient_scope,
            fmt::format("The scopes do not permit this for this resource; {} would",
                        scope_text(permissions, type))};
}

bool is_public(const Config& config, const Interaction& row, Access access) {
    // Of the operations, only those that are the same for everybody are public.
    const std::string_view name = row.access == Access::operation && access != Access::open
                                      ? ""
                                      : public_name(access, row.level);
    return !name.empty() && is_public(config, name);
}

Result<void> authorise(const Service& service, const Request& request, const Interaction& row,
                       const Target& target) {
    if (!service.guarded()) {
        return {};
    }
    Access access = row.access;
    Extent extent = row.extent;
    if (access == Access::operation) {
        const Operation* const operation = find_operation(target);
        access = operation->access;
        extent = operation->extent;
    }
    if (is_public(service.config(), row, access)) {
        return {};
    }
    if (request.principal == nullptr) {
        return Error{Errc::unauthenticated};
    }
    std::optional<TypeId> type;
    if (is_compartment(target.level)) {
        type = find_resource_type(target.member);  // none for `*`
    } else if (names_a_type(target.level)) {
        type = target.type;
    }
    std::uint8_t needed = 0;
    switch (access) {
        case Access::open:
        case Access::bundle:
        case Access::operation:
        case Access::judged:
            return {};
        case Access::read:
            needed = kMayRead;
            break;
        case Access::search:
            // The types may be given in the query or a form: search_resources() checks access to them.
            if (finds_several_types(target) && may_search_anything(*request.principal)) {
                return {};
            }
            needed = kMaySearch;
            break;
        case Access::create:
            needed = kMayCreate;
            break;
        case Access::update:
            needed = kMayUpdate;
            break;
        case Access::remove:
            needed = kMayDelete;
            break;
        case Access::erase:
        case Access::administer:
            return require_on_system(service, request, kMayAll);
    }
    if (access == Access::create || access == Access::update || access == Access::remove) {
        if (is_conditional(request, target) && !everybody_may_search(service)) {
            needed |= kMaySearch;
        }
        if (access == Access::remove && service.config().hard_delete) {
            return require_on_system(service, request, kMayAll);
        }
    }
    return require(service, request, needed, type, extent);
}

bool everybody_may_read(const Service& service) {
    return !service.guarded() || is_public(service.config(), "read");
}

bool everybody_may_search(const Service& service) {
    return !service.guarded() || is_public(service.config(), "search");
}

void add_challenge(const Service& service, const Error& error, Response& response) {
    std::string bearer = R"(Bearer realm="fhir")";
    switch (error.code) {
        case Errc::unauthenticated:
            break;
        case Errc::bad_credentials:
            bearer += R"(, error="invalid_token", error_description="credentials not accepted")";
            break;
        case Errc::credentials_expired:
            bearer += R"(, error="invalid_token", error_description="token expired")";
            break;
        default:
            return;
    }
    // Bearer is sent even if only API keys are accepted, because clients look for it.
    response.headers.emplace_back("WWW-Authenticate", std::move(bearer));
    if (service.config().auth.takes_keys()) {
        response.headers.emplace_back("WWW-Authenticate", R"(ApiKey realm="fhir")");
    }
}

}  // namespace annals::core
