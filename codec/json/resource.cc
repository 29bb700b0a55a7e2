#include "codec/json/resource.h"

#include <array>
#include <utility>

namespace annals::json {

namespace {

Error fault(Errc code, std::string detail, std::string expression) {
    return {code, std::move(detail), std::move(expression)};
}

// The string `value` of the element at `expression`; nothing if it is missing.
Result<std::optional<std::string_view>> optional_string(Value value, std::string expression) {
    if (!value) {
        return std::optional<std::string_view>();
    }
    if (!value.is_string()) {
        return fault(Errc::structure, "must be a string", std::move(expression));
    }
    return std::optional(value.raw_string());
}

// Builds runs from left to right.
class Splicer {
  public:
    Splicer(std::vector<Run>& runs, std::string_view text, std::uint32_t begin)
        : runs_(runs), text_(text), at_(begin) {}

    // Goes on with the text up to `offset`.
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

// What BodyPlan writes at one place instead of [begin, end).
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
    Value type;
    Value id;
    for (const auto [key, value] : resource.members()) {
        if (key.equals("resourceType")) {
            type = value;
        } else if (key.equals("id")) {
            id = value;
        } else if (key.equals("meta")) {
            facts.meta = value;
        }
    }
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
    const auto place = [&](std::string_view element) {
        return std::string(resource_type_name(*found)).append(element);
    };
    ANNALS_TRY(facts.id, optional_string(id, place(".id")));
    if (facts.meta) {
        if (!facts.meta.is_object()) {
            return fault(Errc::structure, "must be an object", place(".meta"));
        }
        ANNALS_TRY(facts.version_id,
                   optional_string(facts.meta["versionId"], place(".meta.versionId")));
        ANNALS_TRY(facts.last_updated,
                   optional_string(facts.meta["lastUpdated"], place(".meta.lastUpdated")));
    }
    return facts;
}

BodyPlan::BodyPlan(const ResourceFacts& facts, std::string_view id, const Keep& keep,
                   std::span<const Edit> edits) {
    using What = Splice::What;
    std::array<Splice, 4> splices;
    std::size_t count = 0;
    // In order of the text; what is added first comes first at the same place.
    const auto add = [&](std::uint32_t begin, std::uint32_t end, What what) {
        std::size_t at = count++;
        for (; at > 0 && splices[at - 1].begin > begin; --at) {
            splices[at] = splices[at - 1];
        }
        splices[at] = {begin, end, what};
    };

    const Value resource = facts.resource;
    const Value meta = facts.meta;
    std::uint32_t id_end = resource["resourceType"].node().end;
    if (facts.id) {
        const Node& node = resource["id"].node();
        id_end = node.end;
        if (*facts.id != id) {
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
            const Node& node = meta["versionId"].node();
            version_end = node.end;
            if (facts.version_id != keep.version) {
                add(node.begin, node.end, What::version_value);
            }
        } else {
            add(version_end, version_end, What::version_member);
        }
        if (facts.last_updated) {
            const Node& node = meta["lastUpdated"].node();
            if (facts.last_updated != keep.last_updated) {
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
                // Something follows in meta: it is not empty.
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

void for_each_identifier(Value resource,
                         const std::function<void(Value system, Value value)>& found) {
    const auto report = [&](Value identifier) {
        if (const Value value = identifier["value"]; value.is_string()) {
            const Value system = identifier["system"];
            found(system.is_string() ? system : Value(), value);
        }
    };
    const Value identifier = resource["identifier"];
    report(identifier);
    for (const Value element : identifier.elements()) {
        report(element);
    }
}

bool matches_identifier(Value resource, std::optional<std::string_view> system,
                        std::string_view value) {
    bool matches = false;
    for_each_identifier(resource, [&](Value its_system, Value its_value) {
        const bool right_system =
            !system || (system->empty() ? !its_system : its_system.equals(*system));
        matches = matches || (right_system && its_value.equals(value));
    });
    return matches;
}

}  // namespace annals::json
