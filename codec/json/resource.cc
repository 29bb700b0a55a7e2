#include "codec/json/resource.h"

#include <array>
#include <utility>

namespace annals::json {

namespace {

Error fault(Errc code, std::string detail, std::string expression) {
    return {code, std::move(detail), std::move(expression)};
}

// The name of a member; `resolved` holds one that had escapes.
std::string_view name_of(Value key, std::string& resolved) {
    const Node& node = key.node();
    if (node.escaped) [[unlikely]] {
        resolved = key.string();
        return resolved;
    }
    return {key.tree().text().data() + node.begin + 1, node.end - node.begin - 2};
}

std::optional<std::string_view> raw_if_there(Value value) {
    return value ? std::optional(value.raw_string()) : std::nullopt;
}

bool is_escaped(Value value) {
    return value && value.node().escaped;
}

// Some clients write + as \u002B.
void resolve(ResourceFacts& facts) {
    const auto resolved = std::make_shared<std::array<std::string, 3>>(std::array{
        facts.id_value.string(), facts.version_value.string(), facts.updated_value.string()});
    const auto point_at = [](std::optional<std::string_view>& view, const std::string& text) {
        if (view) {
            view = text;
        }
    };
    point_at(facts.id, (*resolved)[0]);
    point_at(facts.version_id, (*resolved)[1]);
    point_at(facts.last_updated, (*resolved)[2]);
    facts.resolved = resolved;
}

// Builds runs from left to right.
class Splicer {
  public:
    Splicer(std::vector<Run>& runs, std::string_view text, std::uint32_t begin)
        : runs_(runs), text_(text), at_(begin) {}

    // Copies the text up to `offset`.
    void copy_to(std::uint32_t offset) {
        put(text_.substr(at_, offset - at_));
        at_ = offset;
    }

    void skip_to(std::uint32_t offset) { at_ = offset; }

    void put(std::string_view text) {
        if (!text.empty()) {
            runs_.push_back({Hole::none, text});
        }
    }

    void put(Hole hole, const std::optional<std::string_view>& kept) {
        if (kept) {
            put(*kept);
        } else {
            runs_.push_back({hole, {}});
        }
    }

  private:
    std::vector<Run>& runs_;
    std::string_view text_;
    std::uint32_t at_;
};

// What BodyPlan puts in place of [begin, end).
struct Splice {
    enum class What : std::uint8_t {
        id_value,
        id_member,
        meta_member,
        meta_whole,
        version_value,
        version_member,
        updated_value,
        updated_member,
    };
    std::uint32_t begin;
    std::uint32_t end;
    What what;
};

}  // namespace

Result<ResourceFacts> read_facts(Value resource) {
    if (!resource.is_object()) {
        return fault(Errc::structure, "a resource must be an object", {});
    }
    ResourceFacts facts;
    facts.resource = resource;
    std::string resolved;
    for (const auto [key, value] : resource.members()) {
        const std::string_view name = name_of(key, resolved);
        if (name == "resourceType") {
            facts.type_value = value;
        } else if (name == "id") {
            facts.id_value = value;
        } else if (name == "meta") {
            facts.meta = value;
        } else {
            continue;
        }
        if (facts.type_value && facts.id_value && facts.meta) {
            break;  // They mostly come first, and keys are unique.
        }
    }
    const Value type = facts.type_value;
    if (!type) {
        return fault(Errc::required, "a resource must have a resourceType", "resourceType");
    }
    if (!type.is_string()) {
        return fault(Errc::structure, "must be a string", "resourceType");
    }
    const std::optional<TypeId> found = type.node().escaped ? find_resource_type(type.string())
                                                            : find_resource_type(type.raw_string());
    if (!found) {
        return fault(Errc::value, "FHIR R4 has no resource type '" + type.string() + "'",
                     "resourceType");
    }
    facts.type = *found;
    const auto wrong_kind = [&](const char* detail, std::string_view element) {
        return fault(Errc::structure, detail,
                     std::string(resource_type_name(*found)).append(element));
    };
    if (facts.id_value && !facts.id_value.is_string()) {
        return wrong_kind("must be a string", ".id");
    }
    if (facts.meta && !facts.meta.is_object()) {
        return wrong_kind("must be an object", ".meta");
    }
    for (const auto [key, value] : facts.meta.members()) {
        const std::string_view name = name_of(key, resolved);
        if (name == "versionId") {
            facts.version_value = value;
        } else if (name == "lastUpdated") {
            facts.updated_value = value;
        } else {
            continue;
        }
        if (facts.version_value && facts.updated_value) {
            break;
        }
    }
    if (facts.version_value && !facts.version_value.is_string()) {
        return wrong_kind("must be a string", ".meta.versionId");
    }
    if (facts.updated_value && !facts.updated_value.is_string()) {
        return wrong_kind("must be a string", ".meta.lastUpdated");
    }
    facts.id = raw_if_there(facts.id_value);
    facts.version_id = raw_if_there(facts.version_value);
    facts.last_updated = raw_if_there(facts.updated_value);
    if (is_escaped(facts.id_value) || is_escaped(facts.version_value) ||
        is_escaped(facts.updated_value)) [[unlikely]] {
        resolve(facts);
    }
    return facts;
}

BodyPlan::BodyPlan(const ResourceFacts& facts, std::string_view id, const Keep& keep,
                   std::span<const Edit> edits) {
    using What = Splice::What;
    std::array<Splice, 4> splices;
    std::size_t count = 0;
    // In text order; at the same place, what is added first comes first.
    const auto add = [&](std::uint32_t begin, std::uint32_t end, What what) {
        std::size_t at = count++;
        for (; at > 0 && splices[at - 1].begin > begin; --at) {
            splices[at] = splices[at - 1];
        }
        splices[at] = {begin, end, what};
    };

    const Value resource = facts.resource;
    const Value meta = facts.meta;
    std::uint32_t id_end = facts.type_value.node().end;
    if (facts.id) {
        const Node& node = facts.id_value.node();
        id_end = node.end;
        if (*facts.id != id || node.escaped) {
            add(node.begin, node.end, What::id_value);
        }
    } else {
        add(id_end, id_end, What::id_member);
    }
    if (!meta) {
        add(id_end, id_end, What::meta_member);
    } else if (meta.size() == 0) {
        add(meta.node().begin, meta.node().end, What::meta_whole);
    } else {
        std::uint32_t version_end = meta.node().begin + 1;
        if (facts.version_id) {
            const Node& node = facts.version_value.node();
            version_end = node.end;
            if (facts.version_id != keep.version || node.escaped) {
                add(node.begin, node.end, What::version_value);
            }
        } else {
            add(version_end, version_end, What::version_member);
        }
        if (facts.last_updated) {
            const Node& node = facts.updated_value.node();
            if (facts.last_updated != keep.last_updated || node.escaped) {
                add(node.begin, node.end, What::updated_value);
            }
        } else {
            add(version_end, version_end, What::updated_member);
        }
    }

    runs_.reserve(20 + 2 * edits.size());
    Splicer out(runs_, resource.tree().text(), resource.node().begin);
    auto edit = edits.begin();
    const auto apply_edits_before = [&](std::uint32_t offset) {
        for (; edit != edits.end() && edit->begin < offset; ++edit) {
            out.copy_to(edit->begin);
            out.put(edit->text);
            out.skip_to(edit->end);
        }
        out.copy_to(offset);
    };
    for (std::size_t i = 0; i < count; ++i) {
        const Splice& splice = splices[i];
        apply_edits_before(splice.begin);
        out.skip_to(splice.end);
        switch (splice.what) {
            case What::id_value:
                out.put("\"");
                out.put(id);
                out.put("\"");
                break;
            case What::id_member:
                out.put(",\"id\":\"");
                out.put(id);
                out.put("\"");
                break;
            case What::meta_member:
                out.put(",\"meta\":{\"versionId\":\"");
                out.put(Hole::version, keep.version);
                out.put("\",\"lastUpdated\":\"");
                out.put(Hole::instant, keep.last_updated);
                out.put("\"}");
                break;
            case What::meta_whole:
                out.put("{\"versionId\":\"");
                out.put(Hole::version, keep.version);
                out.put("\",\"lastUpdated\":\"");
                out.put(Hole::instant, keep.last_updated);
                out.put("\"}");
                break;
            case What::version_value:
                out.put("\"");
                out.put(Hole::version, keep.version);
                out.put("\"");
                break;
            case What::version_member:
                // Something follows in meta, which is not empty.
                out.put("\"versionId\":\"");
                out.put(Hole::version, keep.version);
                out.put(facts.last_updated ? "\"," : "\"");
                break;
            case What::updated_value:
                out.put("\"");
                out.put(Hole::instant, keep.last_updated);
                out.put("\"");
                break;
            case What::updated_member:
                out.put(",\"lastUpdated\":\"");
                out.put(Hole::instant, keep.last_updated);
                out.put(facts.version_id ? "\"" : "\",");
                break;
        }
    }
    apply_edits_before(resource.node().end);
}

}  // namespace annals::json
