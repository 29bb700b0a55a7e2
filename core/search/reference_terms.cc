#include "core/search/reference_terms.h"

#include "codec/json/resource.h"
#include "core/search/values.h"
#include "storage/index.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core::search {

namespace {

Column column() noexcept {
    static const Column of = column_of(kReferencesCode);
    return of;
}

}  // namespace

void append_reference_terms(json::Value resource, std::uint64_t seed, std::string_view base_url,
                            std::vector<Term>& terms) {
    thread_local std::vector<json::ReferenceSite> sites;
    sites.clear();
    json::find_references(resource, sites);
    for (const json::ReferenceSite& site : sites) {
        if (site.kind != json::ReferenceSite::Kind::reference) {
            continue;
        }
        const std::string text = site.value.string();
        // A reference to a part of a resource is a reference to the resource.
        const ReferenceText target =
            read_reference(std::string_view(text).substr(0, text.find('#')), base_url);
        if (!target.local.empty()) {
            terms.push_back(reference(column(), storage::resource_key(seed, target.local).low));
        } else if (target.type) {
            terms.push_back(exact(column(), target.unversioned));
        }
    }
}

std::array<Term, 2> terms_of_referrers(TypeId type, std::string_view id, std::uint64_t key,
                                       std::string_view base_url) {
    const std::string absolute = fmt::format("{}/{}/{}", base_url, resource_type_name(type), id);
    std::array<Term, 2> terms{reference(column(), key), exact(column(), absolute)};
    std::ranges::sort(terms);
    return terms;
}

}  // namespace annals::core::search
