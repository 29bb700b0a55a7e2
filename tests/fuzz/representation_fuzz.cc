// Any JSON in any representation: indented text means the same; a subset is JSON, tagged once,
// and its own subset; the parts of a Bundle make up the Bundle; a transform gives the same
// entries in portions as at once. Headers of negotiation, whatever they say, crash nothing.

#include "codec/json/bundle_parts.h"
#include "codec/json/document.h"
#include "codec/json/indent.h"
#include "core/base/check.h"
#include "core/representation.h"
#include "core/transform.h"
#include "net/coding.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace annals {
namespace {

std::string all_of(core::BodySource& source) {
    std::string out;
    bool more = true;
    while (more) {
        core::Body slice;
        more = source.next(slice);
        out += slice.str();
    }
    return out;
}

std::string transformed(std::string_view text, std::size_t portion, const core::Look& look) {
    core::Body body;
    for (std::size_t i = 0; i < text.size(); i += portion) {
        body.append_view(text.substr(i, portion), nullptr);
    }
    return all_of(*core::transform(look, std::move(body), nullptr));
}

void check_indentation(std::string_view text, std::size_t portion) {
    json::Parser parser;
    json::Indenter indenter;
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += portion) {
        indenter.add(text.substr(i, portion), out);
    }
    const auto again = parser.parse(out);
    ANNALS_CHECK(again && again->text() == text);
}

void check_parts(std::string_view text, std::size_t portion) {
    json::BundleParts parts;
    json::BundlePart part;
    std::string joined;
    bool after_entry = false;
    const auto join = [&] {
        const bool entry = part.kind == json::BundlePart::Kind::entry;
        joined += entry && after_entry ? "," : "";
        joined += part.text;
        after_entry = entry;
    };
    for (std::size_t i = 0; i < text.size(); i += portion) {
        parts.add(text.substr(i, portion));
        while (parts.next(part)) {
            join();
        }
    }
    if (parts.rest(part)) {
        join();
    }
    // Items in the array `entry` that are no objects are passed over.
    ANNALS_CHECK(joined == text || text.find("\"entry\":[") != std::string_view::npos);
}

void check_subset(const json::Document& document, const core::Subset& subset) {
    json::Parser parser;
    std::string once;
    core::append_subset(document.root(), subset, once);
    const auto again = parser.parse(once);
    ANNALS_CHECK(again.has_value());
    std::string twice;
    core::append_subset(again->root(), subset, twice);
    ANNALS_CHECK(once == twice);
}

void check_headers(std::string_view text) {
    core::Request request;
    request.headers.push_back({"Accept", text});
    request.headers.push_back({"Content-Type", text});
    request.query = text;
    core::Representation asked;
    const Result<void> read = core::read_representation(request, core::Target(), asked);
    static_cast<void>(read);
    static_cast<void>(core::read_content_type(request).has_value());
    static_cast<void>(net::choose_coding(text));
}

void check(std::uint8_t options, std::string_view text) {
    check_headers(text);
    json::Parser parser;
    const auto parsed = parser.parse(text);
    if (!parsed || !parsed->root().is_object()) {
        return;
    }
    const std::size_t portion = options % 32 + 1U;
    check_indentation(parsed->text(), portion);
    check_parts(parsed->text(), portion);

    core::Look look;
    look.pretty = (options & 32) != 0;
    look.bundle = true;
    look.format = (options & 64) != 0 ? core::Format::xml : core::Format::json;
    if ((options & 128) != 0) {
        look.subset.elements = {{"", "name"}, {"Observation", "value"}};
    } else {
        look.subset.summary = static_cast<core::Summary>(options % 4);
    }
    check_subset(*parsed, look.subset);
    const std::string whole = transformed(parsed->text(), parsed->text().size(), look);
    ANNALS_CHECK(whole == transformed(parsed->text(), portion, look));
    look.bundle = false;
    const std::string resource = transformed(parsed->text(), parsed->text().size(), look);
    ANNALS_CHECK(resource == transformed(parsed->text(), portion, look));
}

}  // namespace
}  // namespace annals

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 0) {
        annals::check(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
    }
    return 0;
}
