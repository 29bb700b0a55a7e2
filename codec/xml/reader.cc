#include "codec/xml/reader.h"

#include "codec/schema/primitive.h"
#include "codec/schema/structure.h"
#include "codec/xml/characters.h"

#include <algorithm>

namespace annals::xml {

namespace {

constexpr std::size_t kKeptChildrenMax = 1 << 16;  // larger buffers are freed after use

bool is_xhtml(schema::Type type) noexcept {
    return type.primitive() == schema::Primitive::xhtml;
}

}  // namespace

Result<std::string> json_from_xml(std::string_view xml) {
    Reader reader;
    return reader.read(xml);
}

Result<std::string> Reader::read_entries(std::string_view xml,
                                         std::vector<UnreadableEntry>& unreadable) {
    unreadable_ = &unreadable;
    Result<std::string> json = read(xml);
    unreadable_ = nullptr;
    return json;
}

Result<std::string> Reader::read(std::string_view xml) {
    Result<std::string> json = convert(xml);
    parser_.trim();
    if (children_.capacity() > kKeptChildrenMax) {
        children_ = std::vector<Child>();  // {} would keep the memory
    }
    return json;
}

Result<std::string> Reader::convert(std::string_view xml) {
    children_.clear();
    wrong_values_.clear();
    fault_ = {};
    place_ = {};
    place_offset_ = 0;
    if (Result<void> parsed = parser_.parse(xml, unreadable_ != nullptr); !parsed) {
        Error error = std::move(parsed.error());
        if (error.code != Errc::invalid && !parser_.elements().empty()) {
            error.expression =
                expression_of(static_cast<std::uint32_t>(parser_.elements().size()) - 1);
        }
        return error;
    }
    std::string out;
    out.reserve(xml.size() + 64);
    const bool whole = append_resource(out, 0);
    if (!whole || !wrong_values_.empty()) {
        return errors_of(xml, out, whole);
    }
    return out;
}

void Reader::append_key(std::string& out, std::string_view name, bool& first, bool extra) {
    out += first ? "\"" : ",\"";
    first = false;
    if (extra) {
        out += '_';
    }
    out.append(name).append("\":");
}

void Reader::append_string(std::string& out, Value value) const {
    const std::string_view raw = parser_.view(value);
    out += '"';
    if (value.plain) [[likely]] {
        out += raw;
    } else {
        append_json_characters(out, raw);
    }
    out += '"';
}

bool Reader::append_resource(std::string& out, std::uint32_t index) {
    const Element& element = parser_.elements()[index];
    const std::string_view name = parser_.name_of(element);
    const schema::Type type = schema::find_type(name);
    if (element.narrative != 0 || !type.resource_type()) {
        return fail(index, "this is not a resource type of FHIR R4", Errc::value);
    }
    if (element.id || element.url || element.value) {
        return fail(index, "a resource must not have attributes");
    }
    out.append(R"({"resourceType":")").append(name).append("\"");
    bool first = false;
    if (!append_members(out, type, index, first)) {
        return false;
    }
    out += '}';
    return true;
}

// An element of a complex type: `{...}`.
bool Reader::append_object(std::string& out, schema::Type type, std::uint32_t index) {
    const Element& element = parser_.elements()[index];
    if (element.value) {
        return fail(index, "an element of a complex type must not have a value attribute");
    }
    if (!element.id && !element.url && element.next == index + 1) {
        return fail(index, "an element must have a value or children");
    }
    return append_braced(out, type, index);
}

// `{`, the id, the element's content, `}`.
bool Reader::append_braced(std::string& out, schema::Type type, std::uint32_t index) {
    bool first = true;
    out += '{';
    if (const Value id = parser_.elements()[index].id) {
        append_key(out, "id", first);
        append_string(out, id);
    }
    if (!append_members(out, type, index, first)) {
        return false;
    }
    out += '}';
    return true;
}

// The element's content, and its url, in the order of the type's elements.
bool Reader::append_members(std::string& out, schema::Type type, std::uint32_t index, bool& first) {
    const std::size_t base = children_.size();
    if (!collect_children(type, index)) {
        return false;
    }
    const Value url = parser_.elements()[index].url;
    std::uint16_t url_order = 0;
    if (url) {
        const schema::Element definition = type.find("url");
        if (!definition || !definition.is_attribute()) {
            return fail(index, "this element must not have a url attribute");
        }
        url_order = definition.index();
    }
    bool url_written = !url;
    const auto append_url = [&] {
        append_key(out, "url", first);
        append_string(out, url);
        url_written = true;
    };

    const std::size_t end = children_.size();
    for (std::size_t begin = base; begin < end;) {
        const schema::Element definition = children_[begin].definition;
        const std::uint16_t order = children_[begin].definition.index();
        if (!url_written && order > url_order) {
            append_url();
        }
        std::size_t run = begin + 1;
        while (run < end && children_[run].definition.index() == order) {
            ++run;
        }
        if (run - begin > 1 && !definition.repeats()) {
            return fail(children_[begin + 1].element, "this element may not repeat");
        }
        if (definition.type().is_primitive()) {
            if (!append_primitives(out, definition, begin, run, first)) {
                return false;
            }
        } else {
            append_key(out, definition.name(), first);
            const bool alone = unreadable_ != nullptr && index == 0 &&
                               definition.name() == "entry" &&
                               parser_.name_of(parser_.elements()[0]) == "Bundle";
            if (!(alone ? append_entries(out, definition, begin, run)
                        : append_run(out, definition, begin, run))) {
                return false;
            }
        }
        begin = run;
    }
    if (!url_written) {
        append_url();
    }
    children_.resize(base);
    return true;
}

// Appends this element's children to children_, in the order of the definitions.
bool Reader::collect_children(schema::Type type, std::uint32_t index) {
    const std::span<const Element> elements = parser_.elements();
    const std::size_t base = children_.size();
    bool sorted = true;
    for (std::uint32_t at = index + 1; at < elements[index].next; at = elements[at].next) {
        const std::string_view name = parser_.name_of(elements[at]);
        const schema::Element definition = type.find(name);
        if (!definition || definition.is_attribute() || definition.is_primitive_value()) {
            return fail(at, "there is no such element");
        }
        const std::uint16_t order = definition.index();
        sorted =
            sorted && (children_.size() == base || children_.back().definition.index() <= order);
        children_.push_back({at, definition});
    }
    if (!sorted) {
        std::sort(children_.begin() + static_cast<std::ptrdiff_t>(base), children_.end(),
                  [](const Child& a, const Child& b) {
                      return a.definition == b.definition
                                 ? a.element < b.element
                                 : a.definition.index() < b.definition.index();
                  });
    }
    return true;
}

// Elements of the same name and of a complex type.
bool Reader::append_run(std::string& out, const schema::Element& definition, std::size_t begin,
                        std::size_t end) {
    const bool repeats = definition.repeats();
    if (repeats) {
        out += '[';
    }
    for (std::size_t i = begin; i < end; ++i) {
        if (i != begin) {
            out += ',';
        }
        if (!append_complex(out, definition, children_[i].element)) {
            return false;
        }
    }
    if (repeats) {
        out += ']';
    }
    return true;
}

bool Reader::append_complex(std::string& out, const schema::Element& definition,
                            std::uint32_t index) {
    const Element& element = parser_.elements()[index];
    if (element.narrative != 0) {
        return fail(index, "a narrative is not allowed here");
    }
    if (!definition.type().is_resource()) {
        return append_object(out, definition.type(), index);
    }
    if (element.id || element.url || element.value) {
        return fail(index, "an element that contains a resource must not have attributes");
    }
    if (element.next == index + 1 || parser_.elements()[index + 1].next != element.next) {
        return fail(index, "expected one resource inside this element");
    }
    return append_resource(out, index + 1);
}

// Elements of the same name and of a primitive type: the member with the values, and the one with ids and extensions.
bool Reader::append_primitives(std::string& out, const schema::Element& definition,
                               std::size_t begin, std::size_t end, bool& first) {
    const schema::Type type = definition.type();
    const std::span<const Element> elements = parser_.elements();
    bool values = false;
    bool extras = false;
    for (std::size_t i = begin; i < end; ++i) {
        const Element& element = elements[children_[i].element];
        const bool value = element.value || element.narrative != 0;
        const bool extra = element.id || element.next != children_[i].element + 1;
        if (element.url) {
            return fail(children_[i].element, "this element must not have a url attribute");
        }
        if (!value && !extra) {
            return fail(children_[i].element, "an element must have a value or children");
        }
        values = values || value;
        extras = extras || extra;
    }
    const bool repeats = definition.repeats();
    const auto append = [&](bool extra) {
        append_key(out, definition.name(), first, extra);
        if (repeats) {
            out += '[';
        }
        for (std::size_t i = begin; i < end; ++i) {
            if (i != begin) {
                out += ',';
            }
            const std::uint32_t index = children_[i].element;
            if (!(extra ? append_extra(out, type, index) : append_value(out, type, index))) {
                return false;
            }
        }
        if (repeats) {
            out += ']';
        }
        return true;
    };
    return (!values || append(false)) && (!extras || append(true));
}

bool Reader::append_value(std::string& out, schema::Type type, std::uint32_t index) {
    const Element& element = parser_.elements()[index];
    if (element.narrative != 0 || is_xhtml(type)) {
        if (element.narrative == 0 || !is_xhtml(type)) {
            return fail(index,
                        "a narrative must be a div in the namespace http://www.w3.org/1999/xhtml");
        }
        append_narrative(out, parser_.narratives()[element.narrative - 1]);
        return true;
    }
    if (!element.value) {
        out += "null";
        return true;
    }
    const json::Kind kind = schema::kind_of(type.primitive());
    if (kind == json::Kind::string) {
        append_string(out, element.value);
        return true;
    }
    const bool is_boolean = kind == json::Kind::boolean;
    const std::size_t begin = out.size();
    if (element.value.plain) {
        out += parser_.view(element.value);
    } else {
        append_json_characters(out, parser_.view(element.value));
    }
    const std::string_view said = std::string_view(out).substr(begin);
    if (is_boolean ? !schema::is_boolean(said) : !schema::is_decimal(said)) {
        static_cast<void>(fail(
            index, is_boolean ? "expected true or false" : "this is not a number in FHIR's format",
            Errc::value));
        if (unreadable_ != nullptr || wrong_values_.size() == schema::kFaultsMax) {
            return false;
        }
        // Further faults are reported, too, so reading goes on. The placeholder value is never returned.
        wrong_values_.push_back({index, fault_});
        out.resize(begin);
        out += is_boolean ? "true" : "1";
    }
    return true;
}

// The id and extensions of a primitive element.
bool Reader::append_extra(std::string& out, schema::Type type, std::uint32_t index) {
    const Element& element = parser_.elements()[index];
    if (!element.id && element.next == index + 1) {
        out += "null";
        return true;
    }
    return append_braced(out, type, index);
}

void Reader::append_narrative(std::string& out, const Xhtml& xhtml) const {
    out += '"';
    for_each_run(xhtml, parser_.text(), [&](std::string_view run) { append_json_text(out, run); });
    out += '"';
}

}  // namespace annals::xml
