#include "core/operations/meta_set.h"

#include "core/operations/coded_input.h"

#include <fmt/format.h>

#include <algorithm>
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
    // Without a code, only an element that is written alike is the same one. No text begins with \xff.
    return element["code"].is_string() ? coding_key(element) : "\xff" + std::string(element.raw());
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
        if (list.size() > kMetaChangeMax) {
            return Error{Errc::too_costly,
                         fmt::format("meta.{} has more than {} elements", set.name, kMetaChangeMax),
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

constexpr std::string_view kNull = "null";

/// The JSON of a list's elements, and of what a primitive has beside each (`_profile`); either may be null.
struct Elements {
    std::vector<std::string_view> values;
    std::vector<std::string_view> beside;
};

std::vector<json::Value> elements_of(json::Value list) {
    std::vector<json::Value> out;
    for (const json::Value element : list.elements()) {
        out.push_back(element);
    }
    return out;
}

/// Changes the list; false if it stays the same. Lifetime of `out`: as the arguments.
bool change_list(json::Value meta, json::Value change, const Set& set, MetaChange what,
                 Elements& out) {
    std::set<std::string> named;  // by the change; when adding, without those that are there
    for (const json::Value element : change[set.name].elements()) {
        named.insert(key_of(element, set.codings));
    }
    const std::vector<json::Value> values = elements_of(meta[set.name]);
    const std::vector<json::Value> beside =
        elements_of(set.codings ? json::Value() : meta[fmt::format("_{}", set.name)]);
    bool changed = false;
    for (std::size_t i = 0; i < std::max(values.size(), beside.size()); ++i) {
        const bool has_value = i < values.size() && !values[i].is(json::Kind::null);
        const std::string key = has_value ? key_of(values[i], set.codings) : std::string();
        if (has_value && what == MetaChange::remove && named.contains(key)) {
            changed = true;
            continue;
        }
        out.values.push_back(has_value ? values[i].raw() : kNull);
        out.beside.push_back(i < beside.size() ? beside[i].raw() : kNull);
        if (what == MetaChange::add) {
            named.erase(key);
        }
    }
    if (what == MetaChange::add) {
        for (const json::Value element : change[set.name].elements()) {
            if (named.erase(key_of(element, set.codings)) > 0) {
                out.values.push_back(element.raw());
                out.beside.push_back(kNull);
                changed = true;
            }
        }
    }
    return changed;
}

void append_member(std::string& out, std::string_view name, std::string_view json) {
    out += fmt::format(R"({}"{}":{})", out.ends_with('{') ? "" : ",", name, json);
}

/// Unless all are null.
void append_list(std::string& out, std::string_view name,
                 const std::vector<std::string_view>& elements) {
    if (std::ranges::any_of(elements, [](std::string_view element) { return element != kNull; })) {
        append_member(out, name, fmt::format("[{}]", fmt::join(elements, ",")));
    }
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
        append_list(lists, set.name, elements.values);
        append_list(lists, beside, elements.beside);
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
    for (std::size_t i = 0; i < sets_.size(); ++i) {
        for (const json::Value element : meta[kSets[i].name].elements()) {
            if (element.is(json::Kind::null)) {
                continue;
            }
            if (sets_[i].try_emplace(key_of(element, kSets[i].codings), element.raw()).second) {
                ++size_;
                bytes_ += element.raw().size();
            }
            if (size_ > kMetaUnionMax || bytes_ > kMetaUnionBytesMax) {
                return Error{Errc::too_costly,
                             fmt::format("More than {} profiles, tags and labels are in use, or "
                                         "their size is more than {} bytes",
                                         kMetaUnionMax, kMetaUnionBytesMax)};
            }
        }
    }
    return {};
}

std::string MetaUnion::json() const {
    std::string out = "{";
    for (std::size_t i = 0; i < sets_.size(); ++i) {
        if (!sets_[i].empty()) {
            append_member(out, kSets[i].name, list_of(sets_[i]));
        }
    }
    return out + "}";
}

}  // namespace annals::core
