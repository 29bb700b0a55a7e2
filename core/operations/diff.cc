#include "core/operations/diff.h"

#include "codec/patch/fhirpath_diff.h"
#include "core/definitions.h"
#include "core/interactions/answer.h"
#include "core/interactions/references.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/turns.h"
#include "core/interactions/vread.h"
#include "core/operations/input.h"
#include "core/scoped_view.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace annals::core {

namespace {

using storage::VersionInfo;

struct Sides {
    VersionInfo from;
    VersionInfo to;
    bool meta = false;  ///< also compare meta
};

Result<VersionInfo> with_content(const VersionInfo& info) {
    if (info.deletion) {
        return Error{Errc::invalid, fmt::format("Version {} is a deletion: it has no content",
                                                info.version.value)};
    }
    return info;
}

/// By number: "3", or as in an ETag: W/"3".
Result<VersionInfo> find_shown(const Service& service, const ScopedView& view, TypeId type,
                               std::string_view id, std::string_view text) {
    std::string_view digits = text;
    if (digits.starts_with("W/\"") && digits.ends_with('"') && digits.size() > 4) {
        digits = digits.substr(3, digits.size() - 4);
    }
    const auto info = find_version(service.store(), type, id, digits);
    if (!info || !view.shows(*info)) {
        return no_such_version(type, id, text);
    }
    return with_content(*info);
}

/// The version before `info`.
Result<VersionInfo> find_previous(const Service& service, const ScopedView& view,
                                  std::string_view id, const VersionInfo& info) {
    storage::HistoryQuery query;
    query.type = info.type;
    query.id = id;
    query.after = info;
    query.count = 1;
    const storage::HistoryPage page = service.store().history(query);
    if (page.versions.empty() || !view.shows(page.versions.front())) {
        return Error{Errc::invalid, fmt::format("{} has no version before {}",
                                                resource_name(info.type, id), info.version.value)};
    }
    return with_content(page.versions.front());
}

/// A resource's newest version, or the one in the reference.
Result<VersionInfo> find_referred(const Service& service, const Request& request,
                                  const ScopedView& view, std::string_view reference) {
    const auto named = local_reference(reference, request.base_url);
    if (!named) {
        return Error{Errc::invalid,
                     fmt::format("'{}' is not a reference to a resource on this server",
                                 reference.substr(0, 200))};
    }
    ANNALS_TRY_VOID(require(service, request, kMayRead, named->first, Extent::part));
    if (const std::string_view version = referred_version(reference); !version.empty()) {
        return find_shown(service, view, named->first, named->second, version);
    }
    const auto info = service.store().current(named->first, named->second);
    if (!info || !view.shows(*info)) {
        return no_such_resource(named->first, named->second);
    }
    if (info->deletion) {
        return Error{Errc::deleted,
                     fmt::format("{} is deleted", resource_name(named->first, named->second))};
    }
    return *info;
}

Result<Sides> sides_of_instance(const Service& service, const ScopedView& view,
                                const Target& target, const OperationInput& input) {
    ANNALS_TRY_VOID(input.only({"from", "fromVersion", "to", "toVersion", "includeMeta"}));
    std::optional<std::string> texts[2];
    const std::string_view names[2][2] = {{"from", "fromVersion"}, {"to", "toVersion"}};
    for (int i = 0; i < 2; ++i) {
        ANNALS_TRY(texts[i], input.text(names[i][0]));
        ANNALS_TRY(std::optional<std::string> other, input.text(names[i][1]));
        if (texts[i] && other) {
            return Error{Errc::invalid,
                         fmt::format("{} and {} are identical", names[i][0], names[i][1])};
        }
        if (!texts[i]) {
            texts[i] = std::move(other);
        }
    }
    Sides sides;
    if (texts[1]) {
        ANNALS_TRY(sides.to, find_shown(service, view, target.type, target.id, *texts[1]));
    } else {
        const auto newest = service.store().current(target.type, target.id);
        if (!newest) {  // Erased since it was found.
            return no_such_resource(target.type, target.id);
        }
        ANNALS_TRY(sides.to, with_content(*newest));
    }
    if (texts[0]) {
        ANNALS_TRY(sides.from, find_shown(service, view, target.type, target.id, *texts[0]));
    } else {
        ANNALS_TRY(sides.from, find_previous(service, view, target.id, sides.to));
    }
    return sides;
}

Result<Sides> sides_of_system(const Service& service, const Request& request,
                              const ScopedView& view, const OperationInput& input) {
    ANNALS_TRY_VOID(input.only({"from", "to", "includeMeta"}));
    ANNALS_TRY(const std::optional<std::string> from, input.text("from"));
    ANNALS_TRY(const std::optional<std::string> to, input.text("to"));
    if (!from || !to) {
        return Error{Errc::required, "The parameters from and to are required"};
    }
    Sides sides;
    ANNALS_TRY(sides.from, find_referred(service, request, view, *from));
    ANNALS_TRY(sides.to, find_referred(service, request, view, *to));
    if (sides.from.type != sides.to.type) {
        return Error{Errc::invalid, "from and to have different resource types"};
    }
    return sides;
}

Result<Sides> read_sides(const Service& service, const Request& request, const ScopedView& view,
                         const Target& target) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY(const bool meta, input.flag("includeMeta"));
    ANNALS_TRY(Sides sides, target.level == Level::instance_operation
                                ? sides_of_instance(service, view, target, input)
                                : sides_of_system(service, request, view, input));
    for (const VersionInfo* const side : {&sides.from, &sides.to}) {
        if (!view.shows(*side)) {
            return Error{Errc::not_found, "One of the versions to compare does not exist"};
        }
    }
    sides.meta = meta;
    return sides;
}

Result<std::string> compare(std::string_view from, std::string_view to, bool meta) {
    json::Parser parser;  // two documents at a time
    ANNALS_TRY(const json::Document before, thread_parser().parse(from));
    ANNALS_TRY(const json::Document after, parser.parse(to));
    return patch::diff_resources(before.root(), after.root(), {.meta = meta});
}

/// The difference, if both are small enough to be compared on the loop.
Result<std::optional<std::string>> compare_small(const storage::Store& store, const Sides& sides) {
    ANNALS_TRY(const storage::StoredVersion from, store.load(sides.from));
    ANNALS_TRY(const storage::StoredVersion to, store.load(sides.to));
    if (from.body.size() + to.body.size() > terminology::Worker::kBytesOnLoop) {
        return std::optional<std::string>();
    }
    ANNALS_TRY(std::string made, compare(from.body, to.body, sides.meta));
    return std::optional(std::move(made));
}

/// A copy: an erasure doesn't wait until large resources have been compared.
Result<std::string> copied_body(const storage::Store& store, const VersionInfo& info) {
    ANNALS_TRY(const storage::StoredVersion stored, store.load(info));
    return std::string(stored.body);
}

Result<std::string> compare_copies(const storage::Store& store, const Sides& sides) {
    ANNALS_TRY(const std::string from, copied_body(store, sides.from));
    ANNALS_TRY(const std::string to, copied_body(store, sides.to));
    return compare(from, to, sides.meta);
}

asio::awaitable<Result<std::string>> compare_where_it_fits(const Service& service,
                                                           const Request& request,
                                                           const Sides& sides) {
    const storage::Store& store = service.store();
    Result<std::optional<std::string>> small = compare_small(store, sides);
    if (!small) {
        co_return small.error();
    }
    if (*small) {
        co_return std::move(**small);
    }
    // The worker loads them, so that nothing is held while this waits for its turn.
    Result<std::string> made = co_await service.definitions().worker().make<std::string>(
        *request.loop, [&store, sides] { return compare_copies(store, sides); },
        service.request_end());
    co_return made;
}

}  // namespace

asio::awaitable<Response> diff_operation(const Service& service, const Request& request,
                                         const Target& target) {
    if (target.level == Level::instance_operation) {
        co_await fetch_newest(service, request, target.type, target.id);
        const ScopedView view(service, request, kMayRead);
        const auto newest = service.store().current(target.type, target.id);
        if (!newest || !view.shows(*newest)) {
            co_return no_such_resource(target.type, target.id);
        }
    }
    const Result<Sides> sides =
        co_await fetch_and_look(*request.loop, [&](std::vector<Position>* unread) {
            ScopedView view(service, request, kMayRead);
            view.defer(unread);
            return read_sides(service, request, view, target);
        });
    if (!sides) {
        co_return sides.error();
    }
    const VersionInfo both[] = {sides->from, sides->to};
    co_await request.loop->fetched(both);
    Result<std::string> parameters = co_await compare_where_it_fits(service, request, *sides);
    if (!parameters) {
        co_return parameters.error();
    }
    Response response;
    response.body = Body(*std::move(parameters));
    co_return response;
}

}  // namespace annals::core
