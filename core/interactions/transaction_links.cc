#include "core/interactions/transaction_links.h"

#include "codec/json/unicode.h"
#include "codec/xml/narrative_links.h"
#include "core/base/ids.h"
#include "core/interactions/history_bundle_entry.h"
#include "core/interactions/references.h"

#include <fmt/format.h>

#include <optional>

namespace annals::core {

namespace {

/// "http://a/fhir/" for "http://a/fhir/Patient/1": the base of relative references in that entry.
std::string_view base_of(std::string_view full_url) noexcept {
    if (full_url.find('/') == std::string_view::npos) {
        return {};  // urn:uuid:..., as most are
    }
    const auto named = parse_resource_url(full_url);
    if (!named || !named->version.empty()) {
        return {};
    }
    full_url.remove_suffix(named->id.size() + 1 + resource_type_name(named->type).size());
    return full_url;
}

/// The entries of a Bundle that is stored as a resource: their references are to that Bundle's own fullUrls and stay unchanged.
json::Value entries_of_its_own(const EntryResource& resource) {
    static const std::optional<TypeId> bundle = find_resource_type("Bundle");
    return resource.facts.type == bundle ? resource.facts.resource["entry"] : json::Value();
}

std::string_view without_fragment(std::string_view link) noexcept {
    return link.substr(0, link.find('#'));
}

/// Behind the name of a resource: its first version.
constexpr std::string_view kFirstVersion = "/_history/1";

/// The JSON string of a link to `name`, which, like the version, has nothing to escape.
std::string quoted_link(std::string_view name, std::string_view version,
                        std::string_view fragment) {
    std::string text;
    text.reserve(name.size() + version.size() + fragment.size() + 2);
    text += '"';
    text += name;
    text += version;
    json::append_escaped(text, fragment);
    text += '"';
    return text;
}

bool is_inside(json::Value outer, json::Value value) noexcept {
    return outer && outer.index() < value.index() && value.index() < outer.node().next;
}

}  // namespace

Result<void> TransactionLinks::add(std::string_view full_url, const std::string& name,
                                   bool created) {
    if (full_url.empty() ||
        (full_url.starts_with(base_url_) && full_url.substr(base_url_.size()).starts_with('/') &&
         full_url.substr(base_url_.size() + 1) == name)) {
        return {};
    }
    const auto [at, added] = names_.try_emplace(full_url, Named{name, created});
    if (!added && at->second.name != name) {
        return Error{Errc::invalid, fmt::format("two entries have the fullUrl '{}'", full_url)};
    }
    return {};
}

const TransactionLinks::Named* TransactionLinks::find_exactly(std::string_view link,
                                                              std::string_view base) const {
    auto at = names_.find(link);
    if (at == names_.end() && !base.empty() && link.find(':') == std::string_view::npos) {
        at = names_.find(fmt::format("{}{}", base, link));
    }
    return at == names_.end() ? nullptr : &at->second;
}

std::optional<TransactionLinks::Found> TransactionLinks::find(std::string_view link,
                                                              std::string_view base) const {
    if (const Named* const named = find_exactly(link, base)) {
        return Found{named->name, {}};
    }
    const std::size_t history = link.find(kHistoryMark);
    if (history == std::string_view::npos ||
        !is_resource_id(link.substr(history + kHistoryMark.size()))) {
        return std::nullopt;
    }
    const Named* const named = find_exactly(link.substr(0, history), base);
    return named != nullptr && named->created ? std::optional(Found{named->name, kFirstVersion})
                                              : std::nullopt;
}

std::optional<std::string> TransactionLinks::replaced(std::string_view link,
                                                      std::string_view base) const {
    const std::string_view target = without_fragment(link);
    const auto found = find(target, base);
    return found ? std::optional(fmt::format("{}{}{}", found->name, found->version,
                                             link.substr(target.size())))
                 : std::nullopt;
}

Result<std::vector<json::Edit>> TransactionLinks::edits(const EntryResource& resource,
                                                        std::string_view full_url,
                                                        const Resolve& resolve) const {
    using Kind = json::ReferenceSite::Kind;
    std::vector<json::Edit> edits;
    edits.reserve(resource.sites.size());
    const std::string_view base = base_of(full_url);
    const json::Value own_entries = entries_of_its_own(resource);
    for (const json::ReferenceSite& site : resource.sites) {
        if (is_inside(own_entries, site.value)) {
            continue;
        }
        const json::Node& node = site.value.node();
        if (site.kind == Kind::narrative) {
            const auto rewritten = xml::rewrite_narrative(
                site.value.raw_string(), [&](std::string_view url) { return replaced(url, base); });
            if (rewritten) {
                edits.push_back({node.begin, node.end, fmt::format("\"{}\"", *rewritten)});
            }
            continue;
        }
        std::string resolved;
        std::string_view link = site.value.raw_string();
        if (node.escaped) {
            resolved = site.value.string();
            link = resolved;
        }
        const std::string_view target = without_fragment(link);
        if (const auto found = find(target, base)) {
            if (found->name != target) {
                edits.push_back(
                    {node.begin, node.end,
                     quoted_link(found->name, found->version, link.substr(target.size()))});
            }
        } else if (site.kind == Kind::reference && is_conditional_reference(link) &&
                   !resource.stood.contains(link)) {
            ANNALS_TRY(const std::string name, resolve(link));
            if (name != link) {
                edits.push_back({node.begin, node.end, json::quoted(name)});
            }
        }
    }
    return edits;
}

std::vector<std::string> TransactionLinks::unknown(const EntryResource& resource,
                                                   std::string_view full_url) const {
    std::vector<std::string> unknown;
    const std::string_view base = base_of(full_url);
    const auto add = [&](std::string_view link) {
        if (!base.empty() && link.find(':') == std::string_view::npos) {
            unknown.push_back(fmt::format("{}{}", base, link));
        }
        unknown.emplace_back(link);
    };
    for (const json::ReferenceSite& site : resource.sites) {
        if (site.kind == json::ReferenceSite::Kind::narrative) {
            continue;  // It has no result.
        }
        const std::string text = site.value.string();
        const std::string_view link = without_fragment(text);
        const auto found = find(link, base);
        if (found && found->version.empty()) {
            continue;
        }
        add(link);
        const std::size_t history = link.find(kHistoryMark);
        if (!found && history != std::string_view::npos) {
            add(link.substr(0, history));
        }
    }
    return unknown;
}

}  // namespace annals::core
