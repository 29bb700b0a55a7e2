#include "core/subset.h"

#include "codec/schema/schema.h"
#include "core/base/ascii.h"
#include "core/base/resource_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::core {

namespace {

constexpr std::string_view kTagSystem = "http://terminology.hl7.org/CodeSystem/v3-ObservationValue";
constexpr std::string_view kTagCode = "SUBSETTED";
constexpr std::string_view kTag =
    R"({"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationValue","code":"SUBSETTED"})";

bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_letter_or_digit);
}

// The element's name: that of a primitive's sibling without the underscore.
std::string_view element_name(json::Value key) {
    std::string_view name = key.raw_string();
    if (name.starts_with('_')) {
        name.remove_prefix(1);
    }
    return name;
}

void begin_member(std::string& out, bool& first) {
    if (!first) {
        out += ',';
    }
    first = false;
}

bool must_stay(const schema::Element& element) {
    return element && (element.min() > 0 || element.is_modifier());
}

// Appends the elements marked as summary, within resources and data types alike. Returns false, and appends nothing, if none
// are left.
bool append_summary(json::Value value, schema::Type type, std::string& out);

// Appends a member with what is left of it in the summary. If that is nothing, it is left out, unless it must stay.
void append_summary_member(json::Value key, json::Value value, const schema::Element& element,
                           std::string& out, bool& first) {
    const std::size_t before = out.size();
    const bool was_first = first;
    begin_member(out, first);
    out += key.raw();
    out += ':';
    if (append_summary(value, element.type(), out)) {
        return;
    }
    if (must_stay(element)) {
        out += value.raw();
    } else {
        out.resize(before);
        first = was_first;
    }
}

bool append_summary_object(json::Value object, schema::Type type, std::string& out) {
    out += '{';
    bool first = true;
    for (const auto& [key, value] : object.members()) {
        const schema::Element element = type.find(element_name(key));
        if (must_stay(element) || (element && element.is_summary())) {
            append_summary_member(key, value, element, out, first);
        }
    }
    out += '}';
    return !first;
}

bool append_summary(json::Value value, schema::Type type, std::string& out) {
    const std::size_t before = out.size();
    // A primitive may consist of its extensions only, and a modifier extension has its meaning in its value.
    if (!type || type.is_primitive() || type.is_resource() || type.name() == "Extension") {
        out += value.raw();
        return true;
    }
    if (value.is_object()) {
        if (append_summary_object(value, type, out)) {
            return true;
        }
        out.resize(before);
        return false;
    }
    if (!value.is_array()) {
        out += value.raw();
        return true;
    }
    out += '[';
    bool first = true;
    for (const json::Value element : value.elements()) {
        const std::size_t place = out.size();
        const bool was_first = first;
        begin_member(out, first);
        if (!append_summary(element, type, out)) {
            out.resize(place);
            first = was_first;
        }
    }
    out += ']';
    if (first) {
        out.resize(before);
    }
    return !first;
}

bool is_listed(const ElementNames& elements, std::string_view type, std::string_view name,
               const schema::Element& element) {
    const auto has = [&](std::string_view its) {
        // What is listed without a type comes first.
        const auto at = elements.lower_bound(std::tuple(its, std::string_view()));
        return at != elements.end() && std::get<0>(*at) == its &&
               (std::get<1>(*at).empty() || elements.contains(std::tuple(its, type)));
    };
    return has(name) || (element && element.base_name() != name && has(element.base_name()));
}

// Whether an element of the resource itself stays.
bool stays(const Subset& subset, std::string_view type, std::string_view name,
           const schema::Element& element) {
    if (!subset.elements.empty()) {
        return must_stay(element) || is_listed(subset.elements, type, name, element);
    }
    switch (subset.summary) {
        case Summary::none:
        case Summary::count:
            return true;
        case Summary::data:
            return name != "text";
        case Summary::text:
            return name == "text" || name == "implicitRules" || name == "modifierExtension" ||
                   (element && element.min() > 0);
        case Summary::summary:
            return must_stay(element) || (element && element.is_summary());
    }
    return true;
}

void append_tagged_meta(json::Value meta, std::string& out) {
    if (!meta.is_object() || is_subsetted(meta)) {
        out += meta.is_object() ? meta.raw() : fmt::format(R"({{"tag":[{}]}})", kTag);
        return;
    }
    out += '{';
    bool first = true;
    bool tagged = false;
    for (const auto& [key, value] : meta.members()) {
        begin_member(out, first);
        out += key.raw();
        out += ':';
        if (key.equals("tag") && value.is_array()) {
            out += value.raw();
            out.pop_back();
            out += value.size() > 0 ? "," : "";
            out += kTag;
            out += ']';
            tagged = true;
        } else {
            out += value.raw();
        }
    }
    if (!tagged) {
        begin_member(out, first);
        out += R"("tag":[)";
        out += kTag;
        out += ']';
    }
    out += '}';
}

}  // namespace

Result<Summary> read_summary(std::string_view value) {
    struct Name {
        std::string_view name;
        Summary summary;
    };

    constexpr std::array<Name, 5> kNames{{{"true", Summary::summary},
                                          {"text", Summary::text},
                                          {"data", Summary::data},
                                          {"count", Summary::count},
                                          {"false", Summary::none}}};
    for (const Name& name : kNames) {
        if (value == name.name) {
            return name.summary;
        }
    }
    return Error{Errc::invalid,
                 fmt::format("_summary: '{}' is not one of true, text, data, count, false", value)};
}

Result<void> read_elements(std::string_view value, ElementNames& elements) {
    while (true) {
        const std::size_t comma = value.find(',');
        std::string_view name = value.substr(0, comma);
        while (name.starts_with(' ')) {
            name.remove_prefix(1);
        }
        while (name.ends_with(' ')) {
            name.remove_suffix(1);
        }
        const std::string_view all = name;
        std::string_view type;
        const std::size_t dot = name.find('.');
        if (dot != std::string_view::npos) {
            type = name.substr(0, dot);
            name.remove_prefix(dot + 1);
        }
        if (name.ends_with("[x]")) {
            name.remove_suffix(3);
        }
        if (!is_name(name) || (dot != std::string_view::npos && !find_resource_type(type))) {
            return Error{Errc::invalid,
                         fmt::format("_elements: '{}' is not the name of an element of a resource, "
                                     "with or without its type",
                                     all)};
        }
        if (elements.size() == kElementNamesMax) {
            return Error{Errc::invalid,
                         fmt::format("_elements: more than {} names", kElementNamesMax)};
        }
        elements.emplace(name, type);
        if (comma == std::string_view::npos) {
            return {};
        }
        value.remove_prefix(comma + 1);
    }
}

void append_subset(json::Value resource, const Subset& subset, std::string& out) {
    const std::string_view type_name = resource["resourceType"].raw_string();
    const schema::Type type =
        find_resource_type(type_name) ? schema::find_type(type_name) : schema::Type();
    if (!type || type_name == "OperationOutcome" || subset.whole()) {
        out += resource.raw();
        return;
    }

    // If there is no meta, one with the tag is inserted after the id or, if that is missing too, after resourceType.
    const bool has_meta = static_cast<bool>(resource["meta"]);
    const std::string_view meta_follows = resource["id"] ? "id" : "resourceType";
    out += '{';
    bool first = true;
    for (const auto& [key, value] : resource.members()) {
        const std::string_view name = element_name(key);
        const bool is_meta = key.equals("meta");
        const bool identifies = is_meta || name == "id" || key.equals("resourceType");
        const schema::Element element = type.find(name);
        if (!identifies && !stays(subset, type_name, name, element)) {
            continue;
        }
        if (!identifies && subset.summary == Summary::summary) {
            append_summary_member(key, value, element, out, first);
            continue;
        }
        begin_member(out, first);
        out += key.raw();
        out += ':';
        if (is_meta) {
            append_tagged_meta(value, out);
        } else {
            out += value.raw();
        }
        if (!has_meta && key.equals(meta_follows)) {
            out += R"(,"meta":)";
            append_tagged_meta({}, out);
        }
    }
    out += '}';
}

bool is_subsetted(json::Value meta) {
    for (const json::Value tag : meta["tag"].elements()) {
        if (tag["code"].equals(kTagCode) && tag["system"].equals(kTagSystem)) {
            return true;
        }
    }
    return false;
}

}  // namespace annals::core
