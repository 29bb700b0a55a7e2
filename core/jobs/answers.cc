#include "core/jobs/answers.h"

#include "codec/json/document.h"
#include "core/access.h"
#include "core/base/all_resource_types.h"
#include "core/base/text.h"
#include "core/interactions/answer.h"
#include "core/interactions/media_type.h"
#include "core/interactions/preconditions.h"
#include "core/mapped_body.h"
#include "core/outcome.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace annals::core {

namespace {

Error no_such_job() {
    return {Errc::not_found, "The job does not exist, or has expired"};
}

// Those of all permissions that `permits` one by one.
template <typename Permits>
std::uint8_t permissions_that(Permits permits) {
    std::uint8_t permissions = 0;
    for (unsigned bit = kMayCreate; bit < kMayAll; bit <<= 1U) {
        const auto one = static_cast<std::uint8_t>(bit);
        permissions |= permits(one) ? one : std::uint8_t{0};
    }
    return permissions;
}

std::uint8_t permissions_on(const Principal& principal, std::optional<TypeId> type) {
    return permissions_that([&](std::uint8_t one) { return principal.may(one, type); });
}

void add_scope(std::string_view context, std::string_view type, std::uint8_t permissions,
               std::string& scopes) {
    scopes += fmt::format("{}{}/{}.{}", scopes.empty() ? "" : " ", context, type,
                          scope_letters(permissions));
}

// The permissions of `principal` on whole types, as scopes.
std::string scopes_of(const Principal& principal) {
    std::string scopes;
    const std::uint8_t everywhere = permissions_on(principal, std::nullopt);
    const std::uint8_t on_system =
        permissions_that([&](std::uint8_t one) { return principal.may_on_system(one); });
    if (on_system != 0) {
        add_scope("system", "*", on_system, scopes);
    }
    if (everywhere != on_system) {
        add_scope("user", "*", everywhere, scopes);
    }
    for (const TypeId type : kAllResourceTypes) {
        if (const std::uint8_t own = permissions_on(principal, type); own != everywhere) {
            add_scope("user", resource_type_name(type), own, scopes);
        }
    }
    return scopes;
}

// Whether `principal` has all permissions listed by scopes_of(). What only scopes of the context system permit needs at least those
// of a history bundle; otherwise the context doesn't matter.
bool may_all_of(const Principal& principal, std::string_view scopes) {
    while (!scopes.empty()) {
        const std::optional<Scope> scope = read_scope(next_part(scopes, ' '));
        if (!scope) {
            continue;
        }
        const bool on_system = scope->context == "system" && scope->type == "*" &&
                               (scope->permissions & kMayWrite) == kMayWrite;
        const bool may = on_system
                             ? principal.may_on_system(scope->permissions)
                             : principal.may(scope->permissions, find_resource_type(scope->type));
        if (!may) {
            return false;
        }
    }
    return true;
}

// Whether the sender may see the job: its owner, unless it was started with a token that permits more, or anyone who may do
// everything.
bool may_see(const Service& service, const Request& request, const JobView& view) {
    const Principal* const asker = request.principal;
    return !service.guarded() ||
           (asker != nullptr && !view.owner.empty() && asker->identity() == view.owner &&
            may_all_of(*asker, view.scopes)) ||
           require_on_system(service, request, kMayAll);
}

Result<JobView> find(const Service& service, const Request& request, std::string_view id,
                     bool asked) {
    ANNALS_TRY(std::optional<JobView> view, service.jobs().look(id));
    // To others the job doesn't exist, and their polling doesn't count.
    const bool seen = view && may_see(service, request, *view);
    if (seen && asked) {
        ANNALS_TRY(view, service.jobs().look(id, true));
    }
    if (!seen || !view) {
        return no_such_job();
    }
    return *std::move(view);
}

void append_file(std::string& out, std::string_view base_url, std::string_view id,
                 const JobFile& file) {
    out += R"({"type":)";
    json::append_quoted(out, file.type);
    if (!file.name.empty()) {
        out += R"(,"url":)";
        json::append_quoted(out, fmt::format("{}/_jobs/{}/{}", base_url, id, file.name));
    }
    if (!file.input.empty()) {
        out += R"(,"inputUrl":)";
        json::append_quoted(out, file.input);
    }
    out += fmt::format(R"(,"count":{}}})", file.count);
}

std::string manifest(const JobView& view, std::string_view base_url, std::string_view id,
                     bool guarded) {
    std::string out = fmt::format(R"({{"transactionTime":"{}","request":)",
                                  format_instant(view.state.result.time));
    json::append_quoted(out, view.url);
    out += fmt::format(R"(,"requiresAccessToken":{})", guarded);
    for (const std::string_view part : {"output", "deleted", "error"}) {
        std::string list;
        for (const JobFile& file : view.state.result.files) {
            if (file.part == part) {
                list += list.empty() ? "" : ",";
                append_file(list, base_url, id, file);
            }
        }
        if (!list.empty() || part != "deleted") {
            out += fmt::format(R"(,"{}":[{}])", part, list);
        }
    }
    return out + "}";
}

bool has_answer(const JobView& view) {
    return view.state.result.files.size() == 1 &&
           view.state.result.files.front().part == kAnswerPart;
}

struct MappedFile {
    std::shared_ptr<const char> pin;
    std::string_view bytes;
};

Result<MappedFile> map_answer(const Service& service, std::string_view id) {
    ANNALS_TRY(const auto file, service.jobs().open(id, kAnswerFile));
    ANNALS_TRY(const std::uint64_t size, file->size());
    ANNALS_TRY(auto pin, file->map(size));
    const std::string_view bytes(pin.get(), static_cast<std::size_t>(size));
    return MappedFile{std::move(pin), bytes};
}

// The bytes [first, last) of a file.
struct ByteRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

// The range that a header asks for; none if the header is to be ignored because it is malformed or has several ranges. An empty
// range lies outside the file.
std::optional<ByteRange> read_range(std::string_view header, std::uint64_t size) {
    constexpr std::string_view kUnit = "bytes=";
    if (!header.starts_with(kUnit)) {
        return {};
    }
    header.remove_prefix(kUnit.size());
    const std::size_t dash = header.find('-');
    if (dash == std::string_view::npos || header.find(',') != std::string_view::npos) {
        return {};
    }
    const std::string_view first = header.substr(0, dash);
    const std::string_view last = header.substr(dash + 1);
    ByteRange range{0, size};
    if (first.empty()) {
        const auto count = parse_number(last);
        if (!count) {
            return {};
        }
        range.first = size - std::min(*count, size);
        return range;
    }
    const auto begin = parse_number(first);
    if (!begin) {
        return {};
    }
    range.first = *begin;
    if (!last.empty()) {
        const auto end = parse_number(last);
        if (!end || *end < range.first) {
            return {};
        }
        range.last = *end < size ? *end + 1 : size;
    }
    range.first = std::min(range.first, range.last);
    return range;
}

Response refused_range(std::uint64_t size) {
    Response response = Error{Errc::invalid, "The range is outside the file"};
    response.status = 416;
    response.headers.emplace_back("Content-Range", fmt::format("bytes */{}", size));
    return response;
}

}  // namespace

asio::awaitable<Response> begin_job(const Service& service, const Request& request,
                                    std::string kind, std::string task, std::string status,
                                    std::vector<JobInput> inputs) {
    JobOrder order;
    order.kind = std::move(kind);
    if (request.principal != nullptr && !request.principal->name().empty()) {
        order.owner = request.principal->identity();
        order.scopes = scopes_of(*request.principal);
    }
    order.base_url = request.base_url;
    order.url = fmt::format("{}{}{}{}", request.base_url, request.path,
                            request.query.empty() ? "" : "?", request.query);
    order.task = std::move(task);
    if (request.principal != nullptr) {
        order.principal = std::make_shared<const Principal>(*request.principal);
    }
    Result<std::string> id =
        co_await service.jobs().begin(*request.loop, std::move(order), std::move(inputs));
    if (!id) {
        Response refusal = id.error();
        if (id.error().code == Errc::throttled) {
            refusal.headers.emplace_back("Retry-After", "10");
        }
        co_return refusal;
    }
    Response response;
    response.status = 202;
    response.content_location = fmt::format("{}/{}/{}", request.base_url, status, *id);
    co_return response;
}

asio::awaitable<Response> job_status(const Service& service, const Request& request,
                                     const Target& target) {
    const Result<JobView> view = find(service, request, target.id, true);
    if (!view) {
        co_return view.error();
    }
    Response response;
    response.cache_control = "no-store";
    switch (view->stage) {
        case JobStage::running:
            response.status = 202;
            response.headers.emplace_back("X-Progress",
                                          view->progress.empty() ? "0%" : view->progress);
            response.headers.emplace_back("Retry-After", std::to_string(view->retry_after.count()));
            co_return response;
        case JobStage::failed:
            response.status = 500;
            response.body =
                Body(outcome_json({{"error", view->state.code, view->state.detail, ""}}));
            break;
        case JobStage::done:
            if (has_answer(*view)) {
                Result<MappedFile> answer = map_answer(service, target.id);
                if (!answer) {
                    co_return answer.error();
                }
                co_await put_mapped(*request.loop, answer->bytes, std::move(answer->pin), response);
                break;
            }
            response.content_type = ContentType::json;
            response.media_type = "application/json";
            response.body = Body(manifest(*view, request.base_url, target.id, service.guarded()));
            break;
    }
    response.headers.emplace_back("Expires", format_http_date(view->expires));
    co_return response;
}

asio::awaitable<Response> delete_job(const Service& service, const Request& request,
                                     const Target& target) {
    const Result<JobView> view = find(service, request, target.id, false);
    if (!view) {
        co_return view.error();
    }
    const Result<void> removed =
        co_await service.jobs().remove(*request.loop, std::string(target.id));
    if (!removed) {
        co_return removed.error();
    }
    Response response;
    response.status = 202;
    response.body = Body(information("The job is being stopped, and its files removed"));
    co_return response;
}

asio::awaitable<Response> job_file(const Service& service, const Request& request,
                                   const Target& target) {
    const Result<JobView> view = find(service, request, target.id, false);
    if (!view) {
        co_return view.error();
    }
    if (has_answer(*view)) {
        co_return Error{Errc::not_found, "The job has no files: request its status"};
    }
    const auto file = service.jobs().open(target.id, target.member);
    if (!file) {
        co_return file.error();
    }
    const Result<std::uint64_t> size = (*file)->size();
    if (!size) {
        co_return size.error();
    }
    Response response;
    response.content_type = ContentType::ndjson;  // no resource: can't be put into a Bundle entry
    response.cache_control = "private";
    response.last_modified = view->state.finished;
    const std::string tag = fmt::format(R"("{}/{}")", target.id, target.member);
    response.headers.emplace_back("ETag", tag);
    response.headers.emplace_back("Accept-Ranges", "bytes");
    if (file_not_modified(request, unquoted(tag), view->state.finished)) {
        response.status = 304;
        co_return response;
    }

    ByteRange range{0, *size};
    const auto condition = request.header("If-Range");
    // Ranges are only defined for GET (RFC 9110 section 14.2).
    if (const auto header = request.header("Range");
        header && request.method == HttpMethod::get && (!condition || *condition == tag)) {
        if (const std::optional<ByteRange> asked = read_range(*header, *size)) {
            if (asked->first == asked->last) {
                co_return refused_range(*size);
            }
            range = *asked;
            response.status = 206;
            response.headers.emplace_back(
                "Content-Range", fmt::format("bytes {}-{}/{}", range.first, range.last - 1, *size));
        }
    }
    if (*size == 0) {
        co_return response;
    }
    const auto bytes = (*file)->map(*size);
    if (!bytes) {
        co_return bytes.error();
    }
    const std::string_view whole(bytes->get(), static_cast<std::size_t>(*size));
    co_await put_mapped(*request.loop, whole.substr(range.first, range.last - range.first), *bytes,
                        response);
    co_return response;
}

}  // namespace annals::core
