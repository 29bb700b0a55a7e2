#include "codec/schema/primitive.h"
#include "codec/xml/narrative.h"
#include "core/base/ascii.h"
#include "core/base/base64.h"
#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/validation/context.h"
#include "core/validation/references.h"
#include "core/validation/terminology.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

namespace annals::validation {

namespace {

void check_extension_content(Context& context, const Spot& spot) {
    bool has_value = false;
    bool has_extensions = false;
    for (const auto [key, value] : spot.value().members()) {
        const std::string_view name = key.raw_string();
        has_extensions = has_extensions || (name == "extension" && value.size() > 0);
        has_value = has_value || name.starts_with("value") || name.starts_with("_value");
    }
    if (has_value == has_extensions) {
        context.error("invariant", spot,
                      has_value ? "An extension must have a value or extensions, not both (ext-1)"
                                : "An extension must have a value or extensions (ext-1)");
    }
}

/// Only a warning: some systems send a digest other than R4's, or hex.
void check_hash(Context& context, const Spot& spot) {
    const json::Value hash = spot.value()["hash"];
    const json::Value data = spot.value()["data"];
    if (!hash.is_string() || !data.is_string()) {
        return;
    }
    const std::optional<std::string> bytes = decode_base64(data.string());
    const std::optional<std::string> stated = decode_base64(hash.string());
    if (bytes && stated && *stated != sha1(*bytes)) {
        context.warn("value", spot, "The attachment's hash is not the SHA-1 of its data");
    }
}

void check_attachment(Context& context, const Spot& spot) {
    check_hash(context, spot);
    const json::Value size = spot.value()["size"];
    const json::Value data = spot.value()["data"];
    if (!size || !data.is_string()) {
        return;
    }
    const std::optional<std::size_t> actual =
        data.node().escaped ? base64_size(data.string()) : base64_size(data.raw_string());
    if (actual && parse_number(size.raw()) != *actual) {
        context.error("value", spot,
                      fmt::format("The attachment states {} bytes but has {}",
                                  size.raw().substr(0, 64), *actual));
    }
}

/// Whether a reader could take part of it for an HTML tag: '<', a letter or '/', and a '>' later on.
bool looks_like_markup(std::string_view text) {
    const std::size_t last = text.rfind('>');
    for (std::size_t at = text.find('<'); last != std::string_view::npos && at < last;
         at = text.find('<', at + 1)) {
        const char next = text[at + 1];
        if (is_letter(next) || next == '/' || next == '!') {
            return true;
        }
    }
    return false;
}

void check_text(Context& context, const Spot& spot) {
    const json::Value value = spot.value();
    if (!value.is_string() ||
        (!value.node().escaped && value.raw_string().find('<') == std::string_view::npos)) {
        return;
    }
    const std::string text = value.string();
    if (!looks_like_markup(text)) {
        return;
    }
    // A script in plain text is never legitimate.
    const bool is_script = spot.type.primitive() == schema::Primitive::string &&
                           text.find("<script") != std::string::npos;
    context.tell(context.options.refuse_markup || is_script ? Severity::error : Severity::warning,
                 "value", spot,
                 "The text has what looks like HTML; readers must not take it for that");
}

void check_uri(Context& context, const Spot& spot) {
    const std::string text = spot.value().string();
    if ((text.starts_with("urn:uuid:") && !schema::is_uuid(text)) ||
        (text.starts_with("urn:oid:") && !schema::is_oid(text))) {
        context.error("invalid", spot, fmt::format("{} is not a valid UUID or OID", text));
    }
}

void check_canonical(Context& context, const Spot& spot) {
    const std::string text = spot.value().string();
    check_uri(context, spot);
    if (!text.empty() && !is_absolute(text) && !text.starts_with('#')) {
        context.error("invalid", spot,
                      fmt::format("A canonical URL must be absolute or a fragment, not {}", text));
    }
}

void check_system(Context& context, const Spot& spot) {
    const json::Value system = spot.value()["system"];
    if (!system.is_string()) {
        return;
    }
    const std::string text = system.string();
    if (!text.empty() && !is_absolute(text)) {
        context.error("invalid", system,
                      fmt::format("A system must be an absolute URI, not {}", text));
    }
}

/// The id of an element, which unlike a resource's may have any characters except white space.
void check_element_id(Context& context, const Spot& spot) {
    if (spot.value().string().find_first_of(" \t\r\n") != std::string::npos) {
        context.error("value", spot, "An element's id must not have white space");
    }
}

/// Codes of ISO 4217 come and go, but all of them are three capital letters.
void check_money(Context& context, const Spot& spot) {
    const json::Value currency = spot.value()["currency"];
    const std::string text = currency.string();
    const bool is_code =
        text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (currency.is_string() && !is_code) {
        context.error("code-invalid", currency,
                      fmt::format("'{}' is not a code of ISO 4217", text));
    }
}

void check_narrative(Context& context, const Spot& spot) {
    const Result<xml::Xhtml> narrative = xml::check_narrative(spot.value().string());
    if (!narrative) {
        context.error("invariant", spot, narrative.error().detail);
    } else if (!narrative->says_namespace) {
        context.error(
            "invariant", spot,
            "a narrative's div must declare its namespace: xmlns=\"http://www.w3.org/1999/xhtml\"");
    }
}

}  // namespace

void check_data_type(Context& context, const Spot& spot) {
    if (spot.element.is_attribute() && spot.element.name() == "id") {
        check_element_id(context, spot);
        return;
    }
    switch (spot.type.primitive()) {
        case schema::Primitive::string:
        case schema::Primitive::markdown:
            check_text(context, spot);
            return;
        case schema::Primitive::uri:
        case schema::Primitive::url:
            check_uri(context, spot);
            return;
        case schema::Primitive::canonical:
            check_canonical(context, spot);
            return;
        case schema::Primitive::xhtml:
            check_narrative(context, spot);
            return;
        default:
            break;
    }
    static const schema::Type kAttachment = schema::find_type("Attachment");
    static const schema::Type kIdentifier = schema::find_type("Identifier");
    static const schema::Type kCoding = schema::find_type("Coding");
    static const schema::Type kMoney = schema::find_type("Money");
    static const schema::Type kQuantity = schema::find_type("Quantity");
    if (spot.type == schema::extension_type()) {
        check_extension_content(context, spot);
    } else if (spot.type == kAttachment) {
        check_attachment(context, spot);
    } else if (spot.type == kMoney) {
        check_money(context, spot);
    } else if (spot.type == kIdentifier) {
        check_system(context, spot);
    } else if (spot.type == kCoding) {
        check_system(context, spot);
        check_coding(context, spot);
    } else if (spot.type.is_a(kQuantity)) {
        check_coding(context, spot);
    }
}

}  // namespace annals::validation
