#include "core/graphql/output.h"

#include "codec/json/document.h"
#include "core/outcome.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core::graphql {

namespace {

/// Means no node: the root is no member of any object.
constexpr std::uint32_t kNowhere = 0;

/// Size counted for a node in addition to its text.
constexpr std::size_t kNodeBytes = 4;

bool is_list(const Place& place, const FieldPlan& field, bool repeats) noexcept {
    return !field.call.singleton && (repeats || place.list);
}

/// Whether the value arrives later than those of its siblings.
bool is_put_off(const FieldPlan& field) noexcept {
    return field.definition.kind == FieldKind::list ||
           field.definition.kind == FieldKind::connection;
}

std::string key_of(const Place& place, const FieldPlan& field) {
    return field.key + place.suffix;
}

Error too_many_values() {
    return {Errc::too_costly, fmt::format("The response would have more than {} values or {} bytes",
                                          kNodesMax, kAnswerBytesMax)};
}

}  // namespace

Result<std::uint32_t> Output::add_node(std::uint32_t parent, std::size_t bytes) {
    bytes_ += bytes + kNodeBytes;
    if (nodes_.size() >= kNodesMax || bytes_ > kAnswerBytesMax) {
        return too_many_values();
    }
    nodes_.emplace_back().parent = parent;
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t Output::find(std::uint32_t object, const std::string& key) const {
    if (nodes_[object].collates) {
        const auto members = members_of_.find(object);
        if (members == members_of_.end()) {
            return kNowhere;
        }
        const auto found = members->second.find(key);
        return found == members->second.end() ? kNowhere : found->second;
    }
    for (const auto& [name, node] : nodes_[object].members) {
        if (name == key) {
            return node;
        }
    }
    return kNowhere;
}

Result<std::uint32_t> Output::add_member(std::uint32_t object, std::string key) {
    ANNALS_TRY(const std::uint32_t node, add_node(object, key.size()));
    if (nodes_[object].collates) {
        members_of_[object].emplace(key, node);
    }
    nodes_[object].members.emplace_back(std::move(key), node);
    return node;
}

Result<std::uint32_t> Output::add_item(std::uint32_t list) {
    ANNALS_TRY(const std::uint32_t node, add_node(list, 0));
    nodes_[list].items.push_back(node);
    return node;
}

Result<std::uint32_t> Output::add(const Place& place, const FieldPlan& field, bool repeats,
                                  schema::Type type) {
    std::string key = key_of(place, field);
    const bool list = is_list(place, field, repeats);
    std::uint32_t known = kNowhere;
    if (list || field.call.singleton || is_put_off(field) || nodes_[place.node].collates) {
        known = find(place.node, key);
    }
    if (known == kNowhere || nodes_[known].reserved) {
        if (known == kNowhere) {
            ANNALS_TRY(known, add_member(place.node, std::move(key)));
        }
        nodes_[known].reserved = false;
        nodes_[known].type = type.index();
        nodes_[known].kind = list ? Kind::list : Kind::null;
        if (!list) {
            return known;
        }
    } else if (nodes_[known].type != type.index()) {
        return Error{Errc::processing,
                     fmt::format("'{}' would have values of different types", key)};
    } else if (nodes_[known].kind != Kind::list || !list) {
        return Error{Errc::processing, fmt::format("'{}' would have several values", key)};
    }
    return add_item(known);
}

Result<void> Output::reserve(const Place& place, const FieldPlan& field) {
    std::string key = key_of(place, field);
    if (place.flattened || field.call.flatten || find(place.node, key) != kNowhere) {
        return {};
    }
    ANNALS_TRY(const std::uint32_t node, add_member(place.node, std::move(key)));
    nodes_[node].reserved = true;
    return {};
}

Result<void> Output::add_nothing(const Place& place, const FieldPlan& field, bool empty_list) {
    std::string key = key_of(place, field);
    if (place.flattened || field.call.flatten) {
        return {};
    }
    std::uint32_t node = find(place.node, key);
    if (node != kNowhere && !nodes_[node].reserved) {
        return {};
    }
    if (node == kNowhere) {
        ANNALS_TRY(node, add_member(place.node, std::move(key)));
    }
    nodes_[node].reserved = false;
    nodes_[node].kind = empty_list && !field.call.singleton ? Kind::list : Kind::null;
    return {};
}

Result<void> Output::set_text(std::uint32_t node, std::string_view json) {
    bytes_ += json.size();
    if (bytes_ > kAnswerBytesMax) {
        return too_many_values();
    }
    nodes_[node].kind = Kind::text;
    nodes_[node].text = json;
    return {};
}

void Output::set_object(std::uint32_t node, bool collates) {
    nodes_[node].kind = Kind::object;
    nodes_[node].collates = collates;
}

Result<void> Output::add_error(const Error& error, Location at, std::uint32_t node,
                               std::string_view key) {
    if (errors_.size() < kFieldErrorsMax) {
        errors_.push_back(error_json(error, at, path_of(node, key)));
    } else if (++untold_ > kNodesMax) {
        return too_many_values();
    }
    return {};
}

std::string Output::path_of(std::uint32_t node, std::string_view key) const {
    std::string path;
    if (!key.empty()) {
        json::append_quoted(path, key);
    }
    const auto put_before = [&](std::string step) {
        path = path.empty() ? std::move(step) : std::move(step) + "," + path;
    };
    for (; node != kRoot; node = nodes_[node].parent) {
        const Node& parent = nodes_[nodes_[node].parent];
        if (parent.kind == Kind::list) {
            const auto at = std::find(parent.items.begin(), parent.items.end(), node);
            put_before(std::to_string(at - parent.items.begin()));
            continue;
        }
        for (const auto& [name, member] : parent.members) {
            if (member == node) {
                put_before(json::quoted(name));
            }
        }
    }
    return fmt::format("[{}]", path);
}

void Output::write(std::uint32_t index, std::string& out) const {
    const Node& node = nodes_[index];
    switch (node.kind) {
        case Kind::null:
            out += "null";
            return;
        case Kind::text:
            out += node.text;
            return;
        case Kind::list:
            out += '[';
            for (std::size_t i = 0; i < node.items.size(); ++i) {
                out += i == 0 ? "" : ",";
                write(node.items[i], out);
            }
            out += ']';
            return;
        case Kind::object:
            out += '{';
            for (std::size_t i = 0; i < node.members.size(); ++i) {
                out += i == 0 ? "" : ",";
                json::append_quoted(out, node.members[i].first);
                out += ':';
                write(node.members[i].second, out);
            }
            out += '}';
            return;
    }
}

std::string Output::json() const {
    std::string out = R"({"data":)";
    write(kRoot, out);
    for (std::size_t i = 0; i < errors_.size(); ++i) {
        out += i == 0 ? R"(,"errors":[)" : ",";
        out += errors_[i];
    }
    if (untold_ > 0) {
        out += "," + error_json({Errc::processing, fmt::format("{} errors more", untold_)}, {}, "");
    }
    return out + (errors_.empty() ? "}" : "]}");
}

std::string error_json(const Error& error, Location at, std::string_view path) {
    const ErrorMeaning meaning = meaning_of(error.code);
    const std::string text =
        error.detail.empty() || meaning.status >= 500 ? std::string(meaning.text) : error.detail;
    std::string out = fmt::format(R"({{"message":{},"locations":[{{"line":{},"column":{}}}])",
                                  json::quoted(text), at.line, at.column);
    if (!path.empty()) {
        out.append(R"(,"path":)").append(path);
    }
    return out + fmt::format(R"(,"extensions":{{"resource":{}}}}})",
                             outcome_json({{"error", meaning.issue_code, text, ""}}));
}

std::string failure_json(const Error& error, Location at) {
    return fmt::format(R"({{"data":null,"errors":[{}]}})", error_json(error, at, ""));
}

}  // namespace annals::core::graphql
