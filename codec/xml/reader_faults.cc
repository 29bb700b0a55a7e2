// Errors for the faults in a Reader's text, and their places.
//
// Layer:   codec, inside codec/xml.

#include "codec/json/document.h"
#include "codec/schema/structure.h"
#include "codec/xml/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace annals::xml {

bool Reader::fail(std::uint32_t element, const char* message, Errc code) {
    fault_element_ = element;
    fault_ = {parser_.elements()[element].begin, message, code};
    return false;
}

// All faults. `whole`: only values are wrong, so the JSON made from the text can be checked for further faults.
Error Reader::errors_of(std::string_view xml, std::string_view made, bool whole) const {
    std::vector<Error> errors;
    const auto add = [&](std::uint32_t element, const Fault& fault) {
        Error& error = errors.emplace_back(describe(xml, fault));
        error.expression = expression_of(element);
    };
    for (const WrongValue& wrong : wrong_values_) {
        add(wrong.element, wrong.fault);
    }
    if (!whole) {
        add(fault_element_, fault_);
    }
    json::Parser parser;
    if (const Result<json::Document> document = parser.parse(made); document && whole) {
        if (Result<void> sound = schema::check_structure(document->root(), {}); !sound) {
            std::vector<Error> others = std::move(sound.error().others);
            errors.push_back(std::move(sound.error()));
            std::move(others.begin(), others.end(), std::back_inserter(errors));
        }
    }
    errors.resize(std::min(errors.size(), schema::kFaultsMax));
    Error first = std::move(errors.front());
    first.others.assign(std::make_move_iterator(errors.begin() + 1),
                        std::make_move_iterator(errors.end()));
    return first;
}

// The expression for an element: Patient.name[0].family.
std::string Reader::expression_of(std::uint32_t index) const {
    std::string root(parser_.name_of(parser_.elements()[0]));
    const schema::Type type = schema::find_type(root);
    return expression_below(std::move(root), type, 0, index);
}

// The expression for the element at `index`, given that `out` is the one for the element at `at`, of that type.
std::string Reader::expression_below(std::string out, schema::Type type, std::uint32_t at,
                                     std::uint32_t index) const {
    const std::span<const Element> elements = parser_.elements();
    while (at != index) {
        std::uint32_t child = at + 1;
        std::uint32_t before = 0;  // with the same name
        while (elements[child].next <= index) {
            child = elements[child].next;
        }
        const std::string_view name = parser_.name_of(elements[child]);
        for (std::uint32_t sibling = at + 1; sibling != child; sibling = elements[sibling].next) {
            before += parser_.name_of(elements[sibling]) == name ? 1 : 0;
        }
        at = child;
        if (type && type.is_resource() && type.is_abstract()) {
            type = schema::find_type(name);  // the resource inside an element that holds one
            continue;
        }
        const schema::Element definition = type ? type.find(name) : schema::Element();
        out += fmt::format(".{}", name);
        if (definition && definition.repeats()) {
            out += fmt::format("[{}]", before);
        }
        type = definition ? definition.type() : schema::Type();
    }
    return out;
}

}  // namespace annals::xml
