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

// Builds pieces from left to right.
class Splicer {
  public:
    Splicer(std::vector<BodyPiece>& pieces, std::string_view text, std::uint32_t begin)
        : pieces_(pieces), text_(text), at_(begin) {}

    // Copies the text up to `offset`.
    void copy_to(std::uint32_t offset) {
        put(text_.substr(at_, offset - at_));
        at_ = offset;
    }

    void skip_to(std::uint32_t offset) { at_ = offset; }

    void put(std::string_view text) {
        if (!text.empty()) {
            pieces_.push_back({BodyPiece::Kind::text, text});
        }
    }

    void put(BodyPiece::Kind kind, const std::optional<std::string_view>& kept) {
        if (kept) {
            put(*kept);
        } else {
            pieces_.push_back({kind, {}});
        }
    }

  private:
    std::vector<BodyPiece>& pieces_;
    std::string_view text_;
    std::uint32_t at_;
};

// What BodyPlan puts in place of [begin, end): a value that is kept or comes later, between two texts.
struct Splice {
    std::uint32_t begin;
    std::uint32_t end;
    std::string_view before;
    BodyPiece::Kind kind;
    std::optional<std::string_view> kept;
    std::string_view after;
};

// In text order; at the same place, what is added first comes first.
class Splices {
  public:
    void add(const Splice& splice) {
        std::size_t at = count_++;
        for (; at > 0 && splices_[at - 1].begin > splice.begin; --at) {
            splices_[at] = splices_[at - 1];
        }
        splices_[at] = splice;
    }

    std::span<const Splice> all() const noexcept { return std::span(splices_).first(count_); }

  private:
    std::array<Splice, 3> splices_;  // at most one each for the id, the version and the instant
    std::size_t count_ = 0;
};

void add_meta(Splices& splices, std::uint32_t begin, std::uint32_t end, std::string_view before,
              const BodyPlan::Keep& keep) {
    splices.add({begin, end, before, BodyPiece::Kind::version, keep.version, {}});
    splices.add(
        {end, end, "\",\"lastUpdated\":\"", BodyPiece::Kind::instant, keep.last_updated, "\"}"});
}

// Requires: meta is not empty.
void add_to_meta(Splices& splices, const ResourceFacts& facts, const BodyPlan::Keep& keep) {
    std::uint32_t version_end = facts.meta.node().begin + 1;
    if (facts.version_id) {
        const Node& node = facts.version_value.node();
        version_end = node.end;
        if (facts.version_id != keep.version || node.escaped) {
            splices.add({node.begin, node.end, "\"", BodyPiece::Kind::version, keep.version, "\""});
        }
    } else {
        // Something follows in meta, which is not empty.
        splices.add({version_end, version_end, "\"versionId\":\"", BodyPiece::Kind::version,
                     keep.version, facts.last_updated ? "\"," : "\""});
    }
    if (facts.last_updated) {
        const Node& node = facts.updated_value.node();
        if (facts.last_updated != keep.last_updated || node.escaped) {
            splices.add(
                {node.begin, node.end, "\"", BodyPiece::Kind::instant, keep.last_updated, "\""});
        }
    } else {
        splices.add({version_end, version_end, ",\"lastUpdated\":\"", BodyPiece::Kind::instant,
                     keep.last_updated, facts.version_id ? "\"" : "\","});
    }
}

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
    Splices splices;
    std::uint32_t id_end = facts.type_value.node().end;
    if (facts.id) {
        const Node& node = facts.id_value.node();
        id_end = node.end;
        if (*facts.id != id || node.escaped) {
            splices.add({node.begin, node.end, "\"", BodyPiece::Kind::text, id, "\""});
        }
    } else {
        splices.add({id_end, id_end, ",\"id\":\"", BodyPiece::Kind::text, id, "\""});
    }
    if (!facts.meta) {
        add_meta(splices, id_end, id_end, ",\"meta\":{\"versionId\":\"", keep);
    } else if (facts.meta.size() == 0) {
        const Node& node = facts.meta.node();
        add_meta(splices, node.begin, node.end, "{\"versionId\":\"", keep);
    } else {
        add_to_meta(splices, facts, keep);
    }

    pieces_.reserve(20 + 2 * edits.size());
    Splicer out(pieces_, facts.resource.tree().text(), facts.resource.node().begin);
    auto edit = edits.begin();
    const auto apply_edits_before = [&](std::uint32_t offset) {
        for (; edit != edits.end() && edit->begin < offset; ++edit) {
            out.copy_to(edit->begin);
            out.put(edit->text);
            out.skip_to(edit->end);
        }
        out.copy_to(offset);
    };
    for (const Splice& splice : splices.all()) {
        apply_edits_before(splice.begin);
        out.skip_to(splice.end);
        out.put(splice.before);
        out.put(splice.kind, splice.kept);
        out.put(splice.after);
    }
    apply_edits_before(facts.resource.node().end);
}

}  // namespace annals::json
