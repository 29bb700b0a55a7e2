// Entries of a Bundle that are read independently: a fault in one does not affect the others.
//
// Layer:   codec, inside codec/xml.

#include "codec/xml/reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::xml {

// The entries of the root, each read independently.
bool Reader::append_entries(std::string& out, const schema::Element& definition, std::size_t begin,
                            std::size_t end) {
    const std::span<const EntryFlaw> flaws = parser_.flaws();
    auto flaw = flaws.begin();
    out += '[';
    for (std::size_t i = begin; i < end; ++i) {
        if (i != begin) {
            out += ',';
        }
        const std::uint32_t index = children_[i].element;
        const std::size_t out_size = out.size();
        const std::size_t children = children_.size();
        if (flaw != flaws.end() && flaw->element == index) {
            fault_ = flaw->fault;
            ++flaw;
        } else if (append_complex(out, definition, index)) {
            continue;
        }
        if (!add_unreadable(i - begin, definition.type(), index)) {
            return false;
        }
        out.resize(out_size);
        children_.resize(children);
        append_name(out, definition.type(), index);
    }
    out += ']';
    return true;
}

// fault_ is the fault in the entry, whose element is `index`.
bool Reader::add_unreadable(std::size_t entry, schema::Type type, std::uint32_t index) {
    const std::span<const Element> elements = parser_.elements();
    const auto behind = std::upper_bound(
        elements.begin() + index, elements.begin() + elements[index].next, fault_.offset,
        [](std::size_t offset, const Element& element) { return offset < element.begin; });
    fault_element_ = static_cast<std::uint32_t>(behind - elements.begin()) - 1;
    if (unreadable_->size() == kUnreadableEntriesMax) {
        return false;
    }
    // Faults are in ascending order, so that the text is walked once, however many there are.
    place_ = json::place_behind(
        place_, parser_.text().substr(place_offset_, fault_.offset - place_offset_));
    place_offset_ = fault_.offset;
    Error error = describe(place_, fault_);
    error.expression =
        expression_below(fmt::format("Bundle.entry[{}]", entry), type, index, fault_element_);
    unreadable_->push_back({entry, std::move(error)});
    return true;
}

// For an entry that can't be read: its name and its request, as far as these can be read.
void Reader::append_name(std::string& out, schema::Type type, std::uint32_t index) {
    const std::span<const Element> elements = parser_.elements();
    bool first = true;
    out += '{';
    for (const std::string_view name : {"fullUrl", "request"}) {
        std::uint32_t at = index + 1;
        while (at < elements[index].next && parser_.name_of(elements[at]) != name) {
            at = elements[at].next;
        }
        if (at >= elements[index].next) {
            continue;
        }
        const std::size_t out_size = out.size();
        const std::size_t children = children_.size();
        const schema::Element definition = type.find(name);
        const bool was_first = first;
        children_.push_back({at, definition});
        bool whole = false;
        if (definition.type().is_primitive()) {
            whole = append_primitives(out, definition, children, children + 1, first);
        } else {
            append_key(out, name, first);
            whole = append_complex(out, definition, at);
        }
        children_.resize(children);
        if (!whole) {
            out.resize(out_size);
            first = was_first;
        }
    }
    out += '}';
}

}  // namespace annals::xml
