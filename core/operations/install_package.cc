#include "core/operations/install_package.h"

#include "core/base/base64.h"
#include "core/definitions.h"
#include "core/operations/input.h"
#include "core/operations/parameters_writer.h"

#include <fmt/format.h>

#include <memory>

namespace annals::core {

namespace {

Result<packages::Wanted> read_wanted(const Request& request) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"name", "version", "package", "includeDependencies"}));
    packages::Wanted wanted;
    ANNALS_TRY(const auto name, input.text("name"));
    ANNALS_TRY(const auto version, input.text("version"));
    ANNALS_TRY(const auto archive, input.text("package"));
    ANNALS_TRY(wanted.with_dependencies, input.flag("includeDependencies"));
    if (!name && !archive) {
        return Error{Errc::required, "One of name and package is required"};
    }
    if ((name && !packages::is_package_name(*name)) ||
        (version && !packages::is_package_version(*version))) {
        return Error{Errc::invalid, "This is not the name of a package"};
    }
    wanted.name = name.value_or("");
    wanted.version = version.value_or("");
    if (archive) {
        wanted.archive = decode_base64(*archive);
        if (!wanted.archive) {
            return Error{Errc::invalid, "The package is not valid base64"};
        }
    }
    return wanted;
}

Response answer(const packages::Installation& done) {
    ParametersWriter out;
    out.add_text("name", "valueString", done.package.name);
    out.add_text("version", "valueString", done.package.version);
    out.add("installed", "valueInteger", fmt::to_string(done.installed));
    out.add("skipped", "valueInteger", fmt::to_string(done.skipped));
    for (const packages::PackageName& dependency : done.dependencies) {
        out.add_text("dependency", "valueString", dependency.text());
    }
    return out.response();
}

}  // namespace

asio::awaitable<Response> install_package_operation(const Service& service, const Request& request,
                                                    const Target& /*target*/) {
    Result<packages::Wanted> wanted = read_wanted(request);
    if (!wanted) {
        co_return wanted.error();
    }
    if (service.config().read_only) {
        co_return Error{Errc::no_store};
    }
    const Definitions& definitions = service.definitions();
    const auto asked = std::make_shared<const packages::Wanted>(*std::move(wanted));
    const Result<packages::Installation> done =
        co_await definitions.worker().make<packages::Installation>(
            *request.loop,
            [asked, &definitions] { return definitions.packages().install(*asked); });
    if (!done) {
        co_return done.error();
    }
    co_return answer(*done);
}

}  // namespace annals::core
