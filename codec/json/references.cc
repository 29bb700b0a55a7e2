#include "codec/json/resource.h"

#include <algorithm>

namespace annals::json {

namespace {

enum class Name : std::uint8_t { other, reference, div, url, uri };

// The kind of reference that a string member of this name may be. Tests the size first, which excludes most names.
Name classify(std::string_view key) noexcept {
    const auto uri_if = [&](auto... names) {
        return ((key == names) || ...) ? Name::uri : Name::other;
    };
    switch (key.size()) {
        case 3:
            return key == "url" ? Name::url : key == "div" ? Name::div : Name::other;
        case 6:
            return uri_if("policy");
        case 8:
            return uri_if("valueUri", "valueUrl", "endpoint");
        case 9:
            return key == "reference" ? Name::reference : uri_if("rendering");
        case 13:
            return uri_if("definitionUri");
        case 14:
            return uri_if("derivedFromUri");
        case 15:
            return uri_if("instantiatesUri");
        case 16:
            return uri_if("authorizationUrl");
        case 17:
            return uri_if("onlineInformation");
        default:
            return Name::other;
    }
}

constexpr std::string_view kAttachmentElements[] = {
    "url",  "contentType", "title",    "creation", "size",
    "hash", "data",        "language", "id",       "extension",
};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) noexcept {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_related_artifact(std::string_view its_key) noexcept {
    return its_key == "relatedArtifact" || its_key == "documentation" ||
           its_key == "valueRelatedArtifact";
}

bool is_attachment(Value object, std::string_view its_key) noexcept {
    if (its_key == "extension" || its_key == "modifierExtension") {
        return false;
    }
    for (const auto [key, value] : object.members()) {
        std::string_view name = key.raw_string();
        if (name.starts_with('_')) {
            name.remove_prefix(1);  // the extensions of a primitive
        }
        if (!is_one_of(name, kAttachmentElements)) {
            return false;
        }
    }
    return true;
}

/// Enough for most resources.
constexpr std::size_t kSitesAtFirst = 6;

class Finder {
  public:
    explicit Finder(std::vector<ReferenceSite>& sites) : sites_(sites) {}

    // Visits an object or array, which is the member `key` of an object or an element of such an array. Recurses as deep as
    // the text nests, which the parser limits.
    void visit(Value container, std::string_view key) {
        const bool is_object = container.is_object();
        const Tree& tree = container.tree();
        const Node* const nodes = tree.nodes().data();
        const std::uint32_t end = container.node().next;
        std::string_view name = key;
        for (std::uint32_t i = container.index() + 1; i < end; i = nodes[i].next) {
            if (is_object) {
                const Node& its_key = nodes[i++];
                name = {tree.text().data() + its_key.begin + 1, its_key.end - its_key.begin - 2};
            }
            const Kind kind = nodes[i].kind;
            if (kind == Kind::object || kind == Kind::array) {
                visit(Value(tree, i), name);
            } else if (kind == Kind::string) {
                visit_string(Value(tree, i), name, is_object ? container : Value(), key);
            }
        }
    }

  private:
    // The member `name` of `object`, which is the member `object_key` of another; or, if `object` is missing, an element of
    // such an array.
    void visit_string(Value value, std::string_view name, Value object,
                      std::string_view object_key) {
        using enum ReferenceSite::Kind;
        switch (classify(name)) {
            case Name::reference:
                add(reference, value);
                break;
            case Name::uri:
                add(uri, value);
                break;
            case Name::url:
                if (object &&
                    (is_related_artifact(object_key) || is_attachment(object, object_key))) {
                    add(uri, value);
                }
                break;
            case Name::div:
                if (object && object_key == "text") {
                    add(narrative, value);
                }
                break;
            case Name::other:
                break;
        }
    }

    void add(ReferenceSite::Kind kind, Value value) {
        if (sites_.capacity() == 0) {
            sites_.reserve(kSitesAtFirst);
        }
        sites_.push_back({kind, value, value.index()});
    }

    std::vector<ReferenceSite>& sites_;
};

}  // namespace

void find_references(Value resource, std::vector<ReferenceSite>& sites) {
    if (resource.is_object() || resource.is_array()) {
        Finder(sites).visit(resource, {});
    }
}

std::string expression_of(Value resource, std::uint32_t node_index) {
    std::string expression = resource["resourceType"].string();
    Value value = resource;
    while (value && value.index() < node_index) {
        Value inner;
        if (value.is_array()) {
            std::size_t i = 0;
            for (const Value element : value.elements()) {
                if (node_index < element.node().next) {
                    inner = element;
                    expression.append("[").append(std::to_string(i)).append("]");
                    break;
                }
                ++i;
            }
        } else {
            for (const auto [key, member] : value.members()) {
                if (node_index < member.node().next) {
                    inner = member;
                    expression.append(expression.empty() ? "" : ".").append(key.string());
                    break;
                }
            }
        }
        value = inner;
    }
    return expression;
}

}  // namespace annals::json
