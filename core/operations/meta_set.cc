#include "core/operations/meta_set.h"

#include <fmt/format.h>

#include <set>
#include <vector>

namespace annals::core {

namespace {

struct Set {
    std::string_view name;
    bool codings;
};

constexpr Set kSets[] = {{"profile", false}, {"security", true}, {"tag", true}};

/// The key that identifies an element of a set.
std::string key_of(json::Value element, bool coding) {
    if (!coding) {
        return element.string();
    }
    return fmt::format("{}|{}", element["system"].string(), element["code"].string());
}

Result<void> check_shape(json::Value change) {
    if (!change.is_object()) {
        return Error{Errc::structure, "meta must be a Meta", "meta"};
    }
    for (const Set& set : kSets) {
        const json::Value list = change[set.name];
        if (list && !list.is_array()) {
            return Error{Errc::structure, fmt::format("meta.{} must be a list", set.name),
                         fmt::format("meta.{}", set.name)};
        }
        std::size_t index = 0;
        for (const json::Value element : list.elements()) {
            if (set.codings ? !element.is_object() : !element.is_string()) {
                return Error{Errc::structure,
                             fmt::format("meta.{} has {}", set.name,
                                         set.codings ? "Codings" : "canonical URLs"),
                             fmt::format("meta.{}[{}]", set.name, index)};
            }
            ++index;
        }
    }
    return {};
}

/// The elements of a list, and a primitive's own extensions.
struct Elements {
    std::vector<std::string> values;  // JSON
    std::vector<std::string> beside;  // JSON; of `_profile`

    void add(std::string_view value, std::string_view extension) {
        values.emplace_back(value);
        beside.emplace_back(extension.empty() ? "null" : extension);
    }
};

std::vector<std::string_view> raw_elements(json::Value list) {
    std::vector<std::string_view> out;
    for (const json::Value element : list.elements()) {
        out.push_back(element.raw());
    }
    return out;
}

/// Changes the list; false if it stays the same.
bool change_list(json::Value meta, json::Value change, const Set& set, MetaChange what,
                 Elements& out) {
    std::set<std::string> there;
    std::set<std::string> to_go;
    if (what == MetaChange::remove) {
        for (const json::Value element : change[set.name].elements()) {
            to_go.insert(key_of(element, set.codings));
        }
    }
    const std::vector<std::string_view> extensions =
        set.codings ? std::vector<std::string_view>()
                    : raw_elements(meta[fmt::format("_{}", set.name)]);
    bool changed = false;
    std::size_t index = 0;
    for (const json::Value element : meta[set.name].elements()) {
        std::string key = key_of(element, set.codings);
        if (to_go.contains(key)) {
            changed = true;
        } else {
            out.add(element.raw(), index < extensions.size() ? extensions[index] : "");
        }
        there.insert(std::move(key));
        ++index;
    }
    if (what == MetaChange::add) {
        for (const json::Value element : change[set.name].elements()) {
            if (there.insert(key_of(element, set.codings)).second) {
                out.add(element.raw(), "");
                changed = true;
            }
        }
    }
    return changed;
}

void append_member(std::string& out, std::string_view name, std::string_view json) {
    out += fmt::format(R"({}"{}":{})", out.ends_with('{') ? "" : ",", name, json);
}

std::string list_of(const std::vector<std::string>& elements) {
    return fmt::format("[{}]", fmt::join(elements, ","));
}

std::string list_of(const std::map<std::string, std::string>& elements) {
    std::string out;
    for (const auto& [key, json] : elements) {
        out += out.empty() ? "[" : ",";
        out += json;
    }
    return out + "]";
}

}  // namespace

Result<std::optional<std::string>> change_meta(json::Value meta, json::Value change,
                                               MetaChange what) {
    ANNALS_TRY_VOID(check_shape(change));
    bool changed = false;
    std::set<std::string> replaced;
    std::string lists = "{";
    for (const Set& set : kSets) {
        Elements elements;
        if (!change_list(meta, change, set, what, elements)) {
            continue;
        }
        changed = true;
        const std::string beside = fmt::format("_{}", set.name);
        replaced.emplace(set.name);
        replaced.insert(beside);
        if (elements.values.empty()) {
            continue;
        }
        append_member(lists, set.name, list_of(elements.values));
        for (const std::string& extension : elements.beside) {
            if (extension != "null") {
                append_member(lists, beside, list_of(elements.beside));
                break;
            }
        }
    }
    if (!changed) {
        return std::optional<std::string>();
    }
    std::string out = "{";
    for (const auto [key, value] : meta.members()) {
        if (!replaced.contains(std::string(key.raw_string()))) {
            append_member(out, key.raw_string(), value.raw());
        }
    }
    if (lists.size() > 1) {
        out += out.size() > 1 ? "," : "";
        out += std::string_view(lists).substr(1);
    }
    return std::optional<std::string>(out + "}");
}

Result<void> MetaUnion::add(json::Value meta) {
    std::map<std::string, std::string>* const unions[] = {&profiles_, &security_, &tags_};
    for (std::size_t i = 0; i < std::size(kSets); ++i) {
        for (const json::Value element : meta[kSets[i].name].elements()) {
            unions[i]->try_emplace(key_of(element, kSets[i].codings), element.raw());
        }
    }
    if (profiles_.size() + security_.size() + tags_.size() > kMetaUnionMax) {
        return Error{
            Errc::too_costly,
            fmt::format("More than {} profiles, tags and labels are in use", kMetaUnionMax)};
    }
    return {};
}

std::string MetaUnion::json() const {
    std::string out = "{";
    const std::map<std::string, std::string>* const unions[] = {&profiles_, &security_, &tags_};
    for (std::size_t i = 0; i < std::size(kSets); ++i) {
        if (!unions[i]->empty()) {
            append_member(out, kSets[i].name, list_of(*unions[i]));
        }
    }
    return out + "}";
}

}  // namespace annals::core
