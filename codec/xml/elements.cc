#include "codec/xml/elements.h"

#include "codec/xml/characters.h"
#include "core/base/limits.h"

namespace annals::xml {

namespace {

// Anything that holds a value, or an element with one, takes more bytes; so the array is at most a
// few times the text's size.
constexpr std::size_t kElementBytesMin = 8;
// Larger buffers are not kept for the next text.
constexpr std::size_t kKeptElementsMax = 1 << 16;
constexpr std::size_t kKeptNarrativesMax = 1 << 12;
constexpr std::size_t kKeptFlawsMax = 1 << 12;

}  // namespace

Result<void> ElementParser::parse(std::string_view text, bool lenient) {
    elements_.clear();
    narratives_.clear();
    flaws_.clear();
    lenient_ = lenient;
    open_.clear();
    namespaces_.clear();
    text_ = text;
    if (text.size() > kXmlBytesMax) {
        return Error{Errc::body_too_large, "XML of more than 4 GB"};
    }
    if (const Fault fault = check_characters(text); fault.message != nullptr) {
        return describe(text, fault);
    }
    Cursor cursor(text);
    if (!read_declaration(cursor) || !read(cursor)) {
        for (const Open& open : open_) {
            elements_[open.element].next = static_cast<std::uint32_t>(elements_.size());
        }
        return describe(text, cursor.fault());
    }
    return {};
}

void ElementParser::trim() {
    // {} would keep the memory.
    if (elements_.capacity() > kKeptElementsMax) {
        elements_ = std::vector<Element>();
    }
    if (narratives_.capacity() > kKeptNarrativesMax) {
        narratives_ = std::vector<Xhtml>();
    }
    if (flaws_.capacity() > kKeptFlawsMax) {
        flaws_ = std::vector<EntryFlaw>();
    }
}

// Skips white space, comments and processing instructions before or after the root.
bool ElementParser::read_outside(Cursor& cursor) {
    for (;;) {
        cursor.skip_space();
        if (cursor.looking_at("<!--")) {
            if (!cursor.skip_comment()) {
                return false;
            }
        } else if (cursor.looking_at("<?")) {
            if (!cursor.skip_instruction()) {
                return false;
            }
        } else {
            return true;
        }
    }
}

bool ElementParser::read(Cursor& cursor) {
    if (!read_outside(cursor)) {
        return false;
    }
    if (cursor.done()) {
        return cursor.fail(cursor.at(), "expected an element");
    }
    if (cursor.looking_at("<!")) {
        return cursor.fail(cursor.at(), "a document type is not allowed");
    }
    if (!cursor.looking_at("<")) {
        return cursor.fail(cursor.at(), "expected an element");
    }
    if (!read_tag(cursor)) {
        return false;
    }
    while (!open_.empty()) {
        if (!read_inside(cursor)) {
            return false;
        }
    }
    if (!read_outside(cursor)) {
        return false;
    }
    return cursor.done() || cursor.fail(cursor.at(), "content after the root element");
}

// Reads what comes next inside the innermost open element: a tag, a comment...
bool ElementParser::read_inside(Cursor& cursor) {
    cursor.skip_space();
    const std::size_t begin = cursor.at();
    const auto text_flaw = [&] {
        return cursor.flaw(begin, "text is allowed in attributes and narratives only",
                           Errc::structure);
    };
    if (cursor.done()) {
        return cursor.fail(elements_[open_.back().element].begin, "an element without its end tag");
    }
    if (cursor.looking_at("</")) {
        return read_end_tag(cursor);
    }
    if (!cursor.looking_at("<")) {
        bool blank = true;
        return cursor.skip_text(blank) && text_flaw();
    }
    if (cursor.looking_at("<!--")) {
        return cursor.skip_comment();
    }
    if (cursor.looking_at("<?")) {
        return cursor.skip_instruction();
    }
    if (cursor.looking_at("<![CDATA[")) {
        std::string_view data;
        return cursor.read_cdata(data) && text_flaw();
    }
    if (cursor.looking_at("<!")) {
        return cursor.fail(begin, "a declaration is not allowed");
    }
    return read_tag(cursor);
}

bool ElementParser::read_end_tag(Cursor& cursor) {
    const Open& innermost = open_.back();
    if (!cursor.read_end_tag(innermost.name)) {
        return false;
    }
    namespaces_.close(static_cast<std::uint32_t>(open_.size()));
    elements_[innermost.element].next = static_cast<std::uint32_t>(elements_.size());
    if (open_.size() == 2) {
        end_child(cursor, innermost.element);
    }
    open_.pop_back();
    return true;
}

bool ElementParser::read_tag(Cursor& cursor) {
    const auto depth = static_cast<std::uint32_t>(open_.size()) + 1;
    if (!cursor.read_start_tag(tag_) || !namespaces_.open(cursor, tag_, depth)) {
        return false;
    }
    if (elements_.size() >= text_.size() / kElementBytesMin + 1) {
        return cursor.fail(tag_.begin, "an element must have a value or children", Errc::structure);
    }
    const auto index = static_cast<std::uint32_t>(elements_.size());
    Element& element = elements_.emplace_back();
    element.begin = static_cast<std::uint32_t>(tag_.begin);
    element.name = static_cast<std::uint32_t>(tag_.local.data() - text_.data());
    element.name_size = static_cast<std::uint32_t>(tag_.local.size());
    element.next = index + 1;

    const Namespace space = namespaces_.find(tag_.prefix());
    if (space == Namespace::xhtml && depth > 1) {
        element.narrative = static_cast<std::uint32_t>(narratives_.size()) + 1;
        Xhtml& xhtml = narratives_.emplace_back();
        if (!read_xhtml(cursor, tag_, namespaces_, depth, xhtml)) {
            return false;
        }
        namespaces_.close(depth);
        return true;
    }
    if (space == Namespace::unbound) {
        return cursor.fail(tag_.begin, "a prefix that is not declared");
    }
    if (space != Namespace::fhir &&
        !cursor.flaw(tag_.begin, "an element that is not in the namespace http://hl7.org/fhir",
                     Errc::structure)) {
        return false;
    }
    if (depth == 2) {
        begin_child(cursor);
    }
    if (!take_attributes(cursor, element)) {
        return false;
    }
    if (tag_.empty) {
        namespaces_.close(depth);
        if (depth == 2) {
            end_child(cursor, index);
        }
    } else if (open_.size() == kJsonWrappedDepthMax) {
        return cursor.fail(tag_.begin, "too many levels of elements");
    } else {
        open_.push_back({index, tag_.name});
    }
    return true;
}

// The element whose tag has just been read is a child of the root.
void ElementParser::begin_child(Cursor& cursor) const {
    cursor.set_lenient(lenient_ && tag_.local == "entry" && name_of(elements_[0]) == "Bundle");
}

void ElementParser::end_child(Cursor& cursor, std::uint32_t element) {
    if (const Fault flaw = cursor.take_flaw(); flaw.message != nullptr) {
        flaws_.push_back({element, flaw});
    }
    cursor.set_lenient(false);
}

bool ElementParser::take_attributes(Cursor& cursor, Element& element) {
    for (std::size_t i = 0; i < tag_.attribute_count; ++i) {
        const Attribute& attribute = tag_.attributes[i];
        const Value value{static_cast<std::uint32_t>(attribute.value.data() - text_.data()),
                          static_cast<std::uint32_t>(attribute.value.size()), attribute.plain};
        if (attribute.name == "value") {
            element.value = value;
        } else if (attribute.name == "id") {
            element.id = value;
        } else if (attribute.name == "url") {
            element.url = value;
        } else if (!is_declaration(attribute.name)) {
            const auto at = static_cast<std::size_t>(attribute.name.data() - text_.data());
            const std::size_t colon = attribute.name.find(':');
            const Namespace space = colon == std::string_view::npos
                                        ? Namespace::none
                                        : namespaces_.find(attribute.name.substr(0, colon));
            if (space == Namespace::unbound) {
                return cursor.fail(at, "a prefix that is not declared");
            }
            if (space != Namespace::schema_instance ||
                attribute.name.substr(colon + 1) != "schemaLocation") {
                if (!cursor.flaw(at, "an attribute that FHIR does not have", Errc::structure)) {
                    return false;
                }
            }
        }
    }
    return true;
}

}  // namespace annals::xml
