#include "core/operations/validate.h"

#include "core/definitions.h"
#include "core/interactions/answer.h"
#include "core/interactions/referrers.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/turns.h"
#include "core/operations/input.h"
#include "core/operations/terminology.h"
#include "core/outcome.h"
#include "core/scoped_view.h"
#include "core/validation/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

namespace annals::core {

namespace {

/// The request: Parameters, the query, or only the resource.
struct ValidateAsked {
    json::Value resource;  ///< missing: the stored one
    std::string mode;
    std::vector<std::string> profiles;
};

constexpr std::size_t kProfilesAskedMax = 20;

Result<void> take_mode(ValidateAsked& asked, std::string mode) {
    static constexpr std::string_view kModes[] = {"create", "update", "delete", "profile"};
    if (std::find(std::begin(kModes), std::end(kModes), mode) == std::end(kModes)) {
        return Error{Errc::invalid, fmt::format("The mode '{}' does not exist", mode)};
    }
    asked.mode = std::move(mode);
    return {};
}

Result<void> take_profile(ValidateAsked& asked, std::string profile) {
    if (profile.empty() || asked.profiles.size() >= kProfilesAskedMax) {
        return Error{Errc::invalid, "A profile is empty, or there are too many"};
    }
    asked.profiles.push_back(std::move(profile));
    return {};
}

Result<void> take(const OperationInput& input, ValidateAsked& asked) {
    ANNALS_TRY_VOID(input.only_beside_resource({"resource", "mode", "profile"}));
    ANNALS_TRY_VOID(input.once({"resource"}));
    asked.resource = input.bare_resource();
    if (!asked.resource && input.has("resource")) {
        asked.resource = input.resource("resource");
        if (!asked.resource) {
            return Error{Errc::invalid, "The parameter resource has no resource",
                         "Parameters.parameter"};
        }
    }
    ANNALS_TRY(std::optional<std::string> mode, input.text("mode"));
    if (mode) {
        ANNALS_TRY_VOID(take_mode(asked, *std::move(mode)));
    }
    ANNALS_TRY(std::vector<std::string> profiles, input.texts("profile"));
    for (std::string& profile : profiles) {
        ANNALS_TRY_VOID(take_profile(asked, std::move(profile)));
    }
    return {};
}

Response answer(const std::vector<Issue>& issues) {
    Response response;
    response.body = Body(
        issues.empty() ? outcome_json({{"information", "informational", "No issues detected", ""}})
                       : outcome_json(issues));
    return response;
}

/// An issue if type or id differ from the URL's.
std::optional<Issue> mismatch(const Target& target, const ValidateAsked& asked,
                              json::Value resource) {
    if (target.level == Level::system_operation) {
        return {};
    }
    const std::string type = resource["resourceType"].string();
    if (type.empty()) {
        return Issue{"error", "required",
                     fmt::format("The resource has no resourceType; the URL's is {}",
                                 resource_type_name(target.type)),
                     ""};
    }
    if (type != resource_type_name(target.type)) {
        return Issue{"error", "invalid",
                     fmt::format("The resource is of the type {}, the URL's type is {}", type,
                                 resource_type_name(target.type)),
                     type};
    }
    const json::Value id = resource["id"];
    if (asked.mode == "update" && !id.equals(target.id)) {
        return Issue{"error", "invalid",
                     fmt::format("The resource's id is not the URL's: {}", target.id),
                     type + ".id"};
    }
    return {};
}

/// A resource that takes long to validate.
struct LargeResource {
    std::string text;
    std::vector<std::string> profiles;
};

struct Found {
    std::vector<Issue> issues;
    bool of_deletion = false;  ///< references to the resource must still be searched
    std::shared_ptr<const LargeResource> large = nullptr;  ///< must still be validated
};

validation::Options options_for(const terminology::Source& definitions,
                                const std::vector<std::string>& profiles) {
    validation::Options options = validation::strict_options(definitions);
    options.profiles = profiles;
    return options;
}

Result<std::vector<Issue>> look_at(const LargeResource& large,
                                   const terminology::Source& definitions) {
    ANNALS_TRY(const json::Document document, thread_parser().parse(large.text));
    return validation::validate(document.root(), definitions,
                                options_for(definitions, large.profiles))
        .issues;
}

Result<Found> run(const Service& service, const Request& request, const Target& target,
                  const std::optional<storage::VersionInfo>& stored,
                  std::vector<Position>* unread) {
    ANNALS_TRY(const OperationInput input,
               OperationInput::read_any(request, {"resource", "mode", "profile"}));
    ValidateAsked asked;
    ANNALS_TRY_VOID(take(input, asked));
    if (asked.mode == "profile" && asked.profiles.empty()) {
        return Error{Errc::required, "The mode profile requires a profile"};
    }
    const bool of_instance = asked.mode == "update" || asked.mode == "delete";
    if (of_instance && !stored) {
        return Error{Errc::required,
                     fmt::format("The mode {} needs an instance: Type/id/$validate", asked.mode)};
    }
    if (asked.mode == "delete") {
        return Found{.issues = {}, .of_deletion = true};
    }

    Found found;
    storage::Pin pin;
    std::string_view text;
    if (asked.resource) {
        if (const auto issue = mismatch(target, asked, asked.resource)) {
            found.issues.push_back(*issue);
        }
        text = asked.resource.raw();
    } else if (stored) {
        ANNALS_TRY(const storage::StoredVersion version, service.store().load(*stored));
        pin = version.pin;
        text = version.body;
    } else {
        return Error{Errc::required, "There is no resource to validate"};
    }
    const auto leave_to_worker = [&] {
        found.large = std::make_shared<const LargeResource>(std::string(text), asked.profiles);
        return found;
    };
    if (text.size() > terminology::Worker::kBytesOnLoop) {
        return leave_to_worker();
    }
    // A nested or stored resource gets its own document, so that expressions begin with it.
    json::Document own;
    if (!asked.resource || asked.resource.index() != 0) {
        ANNALS_TRY(own, thread_parser().parse(text));
        asked.resource = own.root();
    }
    const Definitions::Resident definitions(service.definitions(), unread);
    validation::Options options = options_for(definitions, asked.profiles);
    options.steps = kValidationStepsOnLoop;
    validation::Report report = validation::validate(asked.resource, definitions, options);
    if (report.stopped) {
        if (unread != nullptr) {
            unread->clear();  // the worker reads the definitions itself
        }
        return leave_to_worker();
    }
    std::ranges::move(report.issues, std::back_inserter(found.issues));
    return found;
}

}  // namespace

asio::awaitable<Response> validate_operation(const Service& service, const Request& request,
                                             const Target& target) {
    std::optional<storage::VersionInfo> stored;
    if (target.level == Level::instance_operation) {
        co_await fetch_newest(service, request, target.type, target.id);
        stored = service.store().current(target.type, target.id);
        if (!stored || !ScopedView(service, request, kMayRead).shows(*stored)) {
            co_return no_such_resource(target.type, target.id);
        }
        if (stored->deletion) {
            co_return answer_deleted(service, target.id, *stored);
        }
    }
    const auto end = service.request_end();
    Result<void> fetched = co_await fetch_definitions(service, request, target, end);
    if (!fetched) {
        co_return std::move(fetched.error());
    }
    Result<Found> found =
        co_await fetch_and_look(*request.loop, [&](std::vector<Position>* unread) {
            return run(service, request, target, stored, unread);
        });
    if (!found) {
        co_return found.error();
    }
    if (found->large != nullptr) {
        const Definitions& definitions = service.definitions();
        Result<std::vector<Issue>> issues = co_await definitions.worker().make<std::vector<Issue>>(
            *request.loop,
            [large = found->large, &definitions] { return look_at(*large, definitions); }, end);
        if (!issues) {
            co_return issues.error();
        }
        std::ranges::move(*issues, std::back_inserter(found->issues));
    }
    if (found->of_deletion) {
        Referrers referrers(service, request);
        referrers.add_deleted(target.type, target.id);
        const Result<void> free = co_await referrers.check();
        if (!free && free.error().code != Errc::conflict) {
            co_return free.error();
        }
        if (!free) {
            found->issues.push_back({"error", "conflict", free.error().detail, ""});
        }
    }
    co_return answer(found->issues);
}

}  // namespace annals::core
