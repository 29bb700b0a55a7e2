// Namespaces: what the prefixes of an XML text mean at the reader's place.
//
// Layer:   codec, inside codec/xml.
// Spec:    Namespaces in XML 1.0; FHIR R4 xml.html.
// Threads: one thread.

#pragma once

#include "codec/xml/cursor.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace annals::xml {

/// The namespaces that FHIR's XML uses.
enum class Namespace : std::uint8_t { none, fhir, xhtml, schema_instance, xml, other, unbound };

inline constexpr std::string_view kFhirNamespace = "http://hl7.org/fhir";
inline constexpr std::string_view kXhtmlNamespace = "http://www.w3.org/1999/xhtml";

/// The most declarations in force at one place: each look-up of a prefix goes through all of them.
inline constexpr std::size_t kNamespacesMax = 100;

/// What the prefixes mean at the reader's place.
class Namespaces {
  public:
    void clear() {
        bindings_.clear();
        default_ = Namespace::none;
    }

    /// Adds the declarations in the tag of an element at `depth`.
    bool open(Cursor& cursor, const Tag& tag, std::uint32_t depth);

    /// Removes those of the element at `depth`.
    void close(std::uint32_t depth) noexcept {
        if (!bindings_.empty() && bindings_.back().depth == depth) {
            forget(depth);
        }
    }

    /// Makes `space` the default namespace outside all elements.
    void declare_default(Namespace space) {
        bindings_.push_back({{}, space, 0});
        default_ = space;
    }

    /// The namespace of `prefix`; the empty prefix means the default namespace.
    Namespace find(std::string_view prefix) const noexcept {
        return prefix.empty() ? default_ : find_prefix(prefix);
    }

  private:
    struct Binding {
        std::string_view prefix;
        Namespace space;
        std::uint32_t depth;
    };

    Namespace find_prefix(std::string_view prefix) const noexcept;
    void forget(std::uint32_t depth) noexcept;

    std::vector<Binding> bindings_;
    Namespace default_ = Namespace::none;
};

/// xmlns or xmlns:prefix.
inline bool is_declaration(std::string_view attribute) noexcept {
    return attribute.starts_with("xmlns") && (attribute.size() == 5 || attribute[5] == ':');
}

}  // namespace annals::xml
