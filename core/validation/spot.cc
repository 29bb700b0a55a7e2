#include "core/validation/walk.h"

#include <algorithm>
#include <utility>

namespace annals::validation {

namespace {

std::uint32_t index_of(json::Value value) {
    return value ? value.index() : fhirpath::Place::kNone;
}

schema::Type type_at(schema::Element element, json::Value value) {
    if (element.type() != schema::resource_base_type()) {
        return element.type();
    }
    const json::Value name = value["resourceType"];
    return name ? schema::find_type(name.raw_string()) : schema::Type();
}

}  // namespace

void Context::tell(Severity severity, std::string_view code, std::uint32_t node, std::string text) {
    static constexpr std::string_view kNames[] = {"information", "warning", "error"};
    if (trial != nullptr) {
        *trial += severity == Severity::error ? 1 : 0;
        return;
    }
    report.valid = report.valid && severity != Severity::error;
    told.resize(report.issues.size(), fhirpath::Place::kNone);
    for (std::size_t i = 0; i < told.size(); ++i) {
        if (told[i] == node && report.issues[i].diagnostics == text) {
            return;
        }
    }
    auto place = report.issues.end();
    if (report.issues.size() >= options.issues_max) {
        // Errors displace lesser issues if the report is full.
        place =
            severity == Severity::error
                ? std::ranges::find_if(report.issues,
                                       [](const auto& issue) { return issue.severity != "error"; })
                : place;
        if (place == report.issues.end()) {
            return;  // returns before the costly computation of the expression
        }
    }
    core::Issue made{kNames[static_cast<int>(severity)], code, std::move(text),
                     json::expression_of(root, node)};
    for (const core::Issue& issue : report.issues) {
        if (issue.expression == made.expression && issue.diagnostics == made.diagnostics) {
            return;
        }
    }
    if (place == report.issues.end()) {
        report.issues.push_back(std::move(made));
        told.push_back(node);
    } else {
        told[static_cast<std::size_t>(place - report.issues.begin())] = node;
        *place = std::move(made);
    }
}

bool Context::spend(std::uint64_t count) {
    if (steps_left > count) {
        steps_left -= count;
        return true;
    }
    if (steps_left != 0) {
        steps_left = 0;
        report.stopped = true;
        trial = nullptr;
        tell(Severity::error, "too-costly", 0,
             "The validation was stopped: it takes too many steps");
    }
    return false;
}

Spot resource_spot(json::Value resource) {
    Spot spot;
    if (resource) {
        spot.place.tree = &resource.tree();
        spot.place.value = resource.index();
        const json::Value name = resource["resourceType"];
        spot.type = name ? schema::find_type(name.raw_string()) : schema::Type();
    }
    return spot;
}

Spot make_spot(const Member& member, json::Value value, json::Value sibling, std::uint32_t index) {
    Spot spot;
    spot.place.tree = &member.object.tree();
    spot.place.value = index_of(value);
    spot.place.sibling = index_of(sibling);
    spot.place.parent = member.object.index();
    spot.place.key = index_of(member.key);
    spot.place.index = index;
    spot.element = member.element;
    spot.type = type_at(member.element, value);
    return spot;
}

void collect(const Spot& parent, std::string_view base_name, std::vector<Spot>& found) {
    const json::Value object = parent.object();
    if (!object || !parent.type) {
        return;
    }
    std::string underscored;
    for (const schema::Element element : parent.type.find_base(base_name)) {
        underscored.assign("_").append(element.name());
        Member member{object, {}, {}, {}, element};
        for (const auto [key, value] : object.members()) {
            if (key.raw_string() == element.name()) {
                member.key = key;
                member.value = value;
            } else if (key.raw_string() == underscored) {
                member.key = member.key ? member.key : key;
                member.sibling = value;
            }
        }
        for_each_spot(member, [&](const Spot& spot) { found.push_back(spot); });
    }
}

Frame frame_of(const Frame& frame, const Spot& spot, const Spot& parent) {
    if (!spot.type.is_resource()) {
        return frame;
    }
    Frame inner = frame;
    inner.resource = spot;
    if (spot.element.name() != "contained") {
        inner.container = spot;
        inner.outer = &frame;
        inner.entry = parent.value();
    } else {
        inner.container = frame.resource;
    }
    return inner;
}

Spot child(const Spot& parent, std::string_view base_name) {
    std::vector<Spot> found;
    collect(parent, base_name, found);
    return found.empty() ? Spot() : found.front();
}

std::string text_of(json::Value value) {
    return value.is_string() ? value.string() : std::string(value.raw());
}

}  // namespace annals::validation
