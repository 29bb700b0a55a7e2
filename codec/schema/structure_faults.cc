#include "codec/schema/structure_faults.h"

#include "codec/schema/expectation.h"
#include "codec/schema/schema.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace annals::schema {

namespace {

using json::Kind;
using json::Node;
using json::Value;

std::string_view kind_name(Kind kind) noexcept {
    switch (kind) {
        case Kind::null:
            return "null";
        case Kind::boolean:
            return "a boolean";
        case Kind::number:
            return "a number";
        case Kind::string:
            return "a string";
        case Kind::array:
            return "an array";
        case Kind::object:
            return "an object";
    }
    return "";
}

}  // namespace

void StructureFaults::report(Spot spot, Errc code, std::string detail, std::string_view below) {
    if (enough_) {
        return;
    }
    std::string expression(prefix_);
    append_place(expression, spot.place);
    append_site(expression, spot.site);
    if (!below.empty()) {
        expression.append(expression.empty() ? "" : ".").append(below);
    }
    faults_.push_back({code, std::move(detail), std::move(expression)});
    enough_ = faults_.size() >= kFaultsMax;
}

void StructureFaults::report_kind(Spot spot, std::uint32_t index, std::string_view expected) {
    const Node& node = Value(tree_, index).node();
    const bool right = node.kind == Kind::object ? expected == "an object" : expected == "an array";
    report(spot, Errc::structure,
           right && (node.kind == Kind::object || node.kind == Kind::array)
               ? std::string("must not be empty")
               : fmt::format("must be {}, not {}", expected, kind_name(node.kind)));
}

void StructureFaults::report_primitive(Spot spot, std::uint32_t index, std::uint16_t type) {
    const Value value(tree_, index);
    const Node& node = value.node();
    const Kind kind = kind_of(static_cast<Primitive>(type));
    if (node.kind != kind) {
        report(spot, Errc::structure,
               fmt::format("must be {} ({}), not {}", kind_name(kind), Type(type).name(),
                           kind_name(node.kind)));
        return;
    }
    if (kind == Kind::string && !as_stored_ && is_given_by_server(spot)) {
        return;
    }
    if (kind == Kind::string && value.raw_string().empty()) {
        report(spot, Errc::value, "must not be empty");
        return;
    }
    const std::string text = kind == Kind::string ? value.string() : std::string(value.raw());
    report(spot, Errc::value,
           node.control ? fmt::format("a {} must not contain control characters", Type(type).name())
                        : fmt::format("'{}{}' is not a valid {}", text.substr(0, kShownMax),
                                      text.size() > kShownMax ? "..." : "", Type(type).name()));
}

Result<void> StructureFaults::take() {
    if (faults_.empty()) {
        return {};
    }
    Error error = std::move(faults_.front());
    error.others.assign(std::make_move_iterator(faults_.begin() + 1),
                        std::make_move_iterator(faults_.end()));
    return error;
}

// Whether a value will be replaced by the server's.
bool StructureFaults::is_given_by_server(Spot spot) const {
    const std::string_view name = name_at(spot.site.key);
    if (spot.place == nullptr) {
        return name == "id";
    }
    return spot.place->parent == nullptr && name_at(spot.place->site.key) == "meta" &&
           (name == "versionId" || name == "lastUpdated");
}

// The name, verbatim.
std::string_view StructureFaults::name_at(std::uint32_t key) const {
    return key == kNone ? std::string_view() : Value(tree_, key).raw_string();
}

void StructureFaults::append_place(std::string& expression, const Place* place) const {
    if (place != nullptr) {
        append_place(expression, place->parent);
        append_site(expression, place->site);
    }
}

void StructureFaults::append_site(std::string& expression, Site site) const {
    if (site.key == kNone) {
        return;
    }
    expression.append(expression.empty() ? "" : ".")
        .append(Value(tree_, site.key).string().substr(0, kShownMax));
    if (site.position != kNone) {
        expression.append("[").append(std::to_string(site.position)).append("]");
    }
}

}  // namespace annals::schema
