// The entries of references, and of resources in their place.

#include "core/base/ids.h"
#include "core/search/canonical_links.h"
#include "core/search/container.h"
#include "core/search/members.h"
#include "core/search/values.h"
#include "storage/index.h"

#include <string.h>

namespace annals::core::search {

namespace {

/// The position of the last `c` before `end`; npos if there is none.
std::size_t last_of(std::string_view text, char c, std::size_t end) noexcept {
    if (end == 0) {
        return std::string_view::npos;  // the text may be null
    }
    const void* const found = ::memrchr(text.data(), c, end);
    return found == nullptr
               ? std::string_view::npos
               : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace

ReferenceText read_reference(std::string_view text, std::string_view base_url) noexcept {
    ReferenceText target;
    target.unversioned = text;
    constexpr std::string_view kHistory = "/_history";
    const std::size_t last = last_of(text, '/', text.size());
    if (last == std::string_view::npos) {
        return target;
    }
    if (text.substr(0, last).ends_with(kHistory)) {
        target.unversioned = text.substr(0, last - kHistory.size());
        target.versioned = true;
    }
    std::string_view path = target.unversioned;
    if (!base_url.empty() && path.starts_with(base_url) && path.size() > base_url.size() &&
        path[base_url.size()] == '/') {
        path.remove_prefix(base_url.size() + 1);
    }
    const std::size_t slash = path.size() == text.size() ? last : last_of(path, '/', path.size());
    if (slash == std::string_view::npos || slash == 0) {
        return target;
    }
    const std::size_t before = last_of(path, '/', slash);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const auto type = find_resource_type(path.substr(begin, slash - begin));
    if (type && is_resource_id(path.substr(slash + 1))) {
        target.type = type;
        target.local = begin == 0 ? path : std::string_view();
    }
    return target;
}

void ValueWriter::reference(json::Value value, std::span<const Use> uses) {
    if (!value.is_object()) {
        return;
    }
    std::string_view text;
    std::string_view stated;
    json::Value identifier;
    for (const auto [key, member] : value.members()) {
        const std::string_view name = raw_of(key);
        if (name == "reference") {
            text = text_of(member, 0);
        } else if (name == "type") {
            stated = text_of(member, 5);
        } else if (name == "identifier") {
            identifier = member;
        }
    }
    ReferenceText target;
    std::uint64_t target_key = 0;
    std::optional<TypeId> type;
    const bool fragment = text.starts_with('#');
    if (fragment) {
        type = container_->type_of(text.substr(1));
    } else {
        target = read_reference(text, base_url_);
        target_key = key_of(target);
        type = target.type ? target.type : find_resource_type(stated);
    }
    for (const Use& use : uses) {
        if (use.refers_to && type != use.refers_to) {
            continue;
        }
        const std::span<const Use> one(&use, 1);
        if (!text.empty()) {
            reference_text(text, target, target_key, one);
        }
        if (identifier.is_object()) {
            this->identifier(identifier, one, &Columns::identifier);
        }
        terms_present(one);
    }
}

std::uint64_t ValueWriter::key_of(const ReferenceText& target) const {
    return target.local.empty() ? 0 : storage::resource_key(seed_, target.local).low;
}

void ValueWriter::reference_text(std::string_view text, const ReferenceText& target,
                                 std::uint64_t key, std::span<const Use> uses) {
    if (text.starts_with('#')) {
        for (const Use& use : uses) {
            term(use, inner_reference(use.columns->column));
            term(use, inner_reference(use.columns->column, text.substr(1)));
        }
        return;
    }
    if (!target.local.empty()) {
        for (const Use& use : uses) {
            term(use, search::reference(use.columns->column, key));
            link(use, key);
        }
        if (target.versioned) {
            const std::string_view from_type =
                text.substr(static_cast<std::size_t>(target.local.data() - text.data()));
            for (const Use& use : uses) {
                term(use, exact(use.columns->column, from_type));
            }
        }
        return;
    }
    const std::size_t bar = text.find('|');
    for (const Use& use : uses) {
        term(use, exact(use.columns->column, text));
        if (target.versioned) {
            term(use, exact(use.columns->column, target.unversioned));
        }
        if (bar != std::string_view::npos) {
            term(use, exact(use.columns->column, text.substr(0, bar)));
        }
    }
}

void ValueWriter::canonical(std::string_view text, std::span<const Use> uses) {
    const std::uint64_t key = canonical_key(seed_, text);
    for (const Use& use : uses) {
        term(use, search::reference(use.columns->column, key));
        link(use, key);
    }
}

/// A resource in place of a reference (Bundle.entry[0].resource): indexed as a reference to itself.
void ValueWriter::reference_resource(json::Value value, std::span<const Use> uses) {
    const auto type = find_resource_type(text_of(value["resourceType"], 0));
    if (!type) {
        return;
    }
    const std::string_view id = text_of(value["id"], 1);
    for (const Use& use : uses) {
        if (use.refers_to && type != use.refers_to) {
            continue;
        }
        term(use, inner_reference(use.columns->column));
        term(use, inner_reference(use.columns->column, id));
        if (is_resource_id(id)) {
            const std::uint64_t key = storage::resource_key(seed_, *type, id).low;
            term(use, search::reference(use.columns->column, key));
            link(use, key);
        }
        terms_present({&use, 1});
    }
}

}  // namespace annals::core::search
