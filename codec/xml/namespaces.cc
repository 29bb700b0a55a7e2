#include "codec/xml/namespaces.h"

namespace annals::xml {

namespace {

Namespace known_namespace(std::string_view name) noexcept {
    if (name == kFhirNamespace) {
        return Namespace::fhir;
    }
    if (name == kXhtmlNamespace) {
        return Namespace::xhtml;
    }
    if (name == "http://www.w3.org/2001/XMLSchema-instance") {
        return Namespace::schema_instance;
    }
    return name.empty() ? Namespace::none : Namespace::other;
}

}  // namespace

bool Namespaces::open(Cursor& cursor, const Tag& tag, std::uint32_t depth) {
    for (std::size_t i = 0; i < tag.attribute_count; ++i) {
        const Attribute& attribute = tag.attributes[i];
        if (!is_declaration(attribute.name)) [[likely]] {
            continue;
        }
        const bool named = attribute.name.size() > 5;
        const std::string_view prefix = named ? attribute.name.substr(6) : std::string_view();
        if (named && (attribute.value.empty() || prefix.starts_with("xml"))) {
            return cursor.fail(tag.begin, "an invalid namespace declaration");
        }
        const Namespace space = known_namespace(attribute.value);
        if (find(prefix) == space) {
            continue;  // many repeat what is in force already
        }
        if (bindings_.size() >= kNamespacesMax) {
            return cursor.fail(tag.begin, "too many namespaces");
        }
        bindings_.push_back({prefix, space, depth});
        if (prefix.empty()) {
            default_ = space;
        }
    }
    return true;
}

Namespace Namespaces::find_prefix(std::string_view prefix) const noexcept {
    for (std::size_t i = bindings_.size(); i-- > 0;) {
        if (bindings_[i].prefix == prefix) {
            return bindings_[i].space;
        }
    }
    if (prefix.empty()) {
        return Namespace::none;
    }
    return prefix == "xml" ? Namespace::xml : Namespace::unbound;
}

void Namespaces::forget(std::uint32_t depth) noexcept {
    while (!bindings_.empty() && bindings_.back().depth == depth) {
        bindings_.pop_back();
    }
    default_ = find_prefix({});
}

}  // namespace annals::xml
