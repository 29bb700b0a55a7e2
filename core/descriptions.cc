#include "core/descriptions.h"

#include "codec/json/document.h"
#include "core/base/digest.h"
#include "core/capability_statement.h"
#include "core/definitions.h"
#include "core/openapi.h"
#include "core/service.h"
#include "core/terminology_capabilities.h"

#include <algorithm>

namespace annals::core {

namespace {

constexpr char kMarks[] = {kBaseUrlMark, kWebsocketBaseMark, '\0'};

}  // namespace

std::string with_base_url(std::string_view unbased, std::string_view base_url) {
    const std::string quoted = json::quoted(base_url);
    const std::string_view url = std::string_view(quoted).substr(1, quoted.size() - 2);
    std::string out;
    out.reserve(unbased.size() +
                static_cast<std::size_t>(std::count(unbased.begin(), unbased.end(), kBaseUrlMark)) *
                    url.size());
    while (!unbased.empty()) {
        const std::size_t mark = unbased.find_first_of(kMarks);
        out += unbased.substr(0, mark);
        if (mark == std::string_view::npos) {
            break;
        }
        if (unbased[mark] == kWebsocketBaseMark && url.starts_with("http")) {
            out += "ws";
            out += url.substr(4);
        } else {
            out += url;
        }
        unbased.remove_prefix(mark + 1);
    }
    return out;
}

Descriptions::Pointer Descriptions::capability_statement(std::string_view base_url) const {
    return get(statement_, make_capability_statement, base_url);
}

Descriptions::Pointer Descriptions::openapi(std::string_view base_url) const {
    return get(openapi_, make_openapi, base_url);
}

Descriptions::Pointer Descriptions::terminology_capabilities(std::string_view base_url,
                                                             bool stored) const {
    if (!stored) {
        return get(carried_terminology_, make_carried_terminology, base_url);
    }
    return get(whole_terminology_, make_whole_terminology, base_url,
               service_.store().totals(*find_resource_type("CodeSystem")));
}

Descriptions::Pointer Descriptions::get(Kept& kept, Maker make, std::string_view base_url,
                                        const storage::Totals& code_systems) const {
    const std::shared_ptr<const search::ParameterSet> parameters = service_.indexing().parameters();
    const std::vector<packages::PackagePointer> packages =
        service_.definitions().packages().installed();
    const std::scoped_lock lock(mutex_);
    if (kept.parameters != parameters || kept.packages != packages.size() ||
        kept.code_systems != code_systems) {
        kept.unbased = make(
            {service_.config(), *parameters, packages, service_.started(), service_.definitions()});
        kept.parameters = parameters;
        kept.packages = packages.size();
        kept.code_systems = code_systems;
        kept.description = nullptr;
    }
    if (kept.description == nullptr || kept.base_url != base_url) {
        auto made = std::make_shared<Description>();
        made->text = with_base_url(kept.unbased, base_url);
        made->etag = VersionNumber{hash64(made->text) & kVersionNumberMax};
        kept.base_url = base_url;
        kept.description = std::move(made);
    }
    return kept.description;
}

}  // namespace annals::core
