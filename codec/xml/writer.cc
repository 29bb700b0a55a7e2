#include "codec/xml/writer.h"

#include "codec/json/unicode.h"
#include "codec/xml/characters.h"
#include "codec/xml/namespaces.h"
#include "codec/xml/narrative.h"
#include "codec/xml/scan.h"

#include <algorithm>

namespace annals::xml {

namespace {

constexpr std::string_view kDeclaration = R"(<?xml version="1.0" encoding="UTF-8"?>)";
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// The bytes to escape in an attribute; 0xef may begin U+FFFE or U+FFFF.
constexpr ByteSet kSpecial(
    std::string_view("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
                     "\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"
                     "\"&<>\xef",
                     37));

bool is_noncharacter(const char* at, const char* end) noexcept {
    return end - at > 2 && at[1] == '\xbf' && static_cast<unsigned char>(at[2]) >= 0xbe;
}

void append_special(std::string& out, unsigned char c) {
    switch (c) {
        case '\t':
            out += "&#9;";
            break;
        case '\n':
            out += "&#10;";
            break;
        case '\r':
            out += "&#13;";
            break;
        default:
            if (c < 0x20) {
                out += kReplacement;
            } else {
                const auto character = static_cast<char>(c);
                append_xml_characters(out, {&character, 1});
            }
    }
}

// Appends characters as an attribute's value or as text.
void append_characters(std::string& out, std::string_view text) {
    const char* const end = text.data() + text.size();
    const char* run = text.data();
    for (const char* at = run; (at = kSpecial.find(at, end)) != end; ++at) {
        const auto c = static_cast<unsigned char>(*at);
        if (c == 0xef && !is_noncharacter(at, end)) {
            continue;
        }
        out.append(run, at);
        if (c == 0xef) {
            out += kReplacement;
            at += 2;
        } else {
            append_special(out, c);
        }
        run = at + 1;
    }
    out.append(run, end);
}

bool is_scalar(json::Value value) noexcept {
    return value && !value.is(json::Kind::null) && !value.is_array() && !value.is_object();
}

// Appends ` name="value"` if `value` is a scalar.
void append_attribute(std::string& out, std::string_view name, json::Value value,
                      std::string& scratch) {
    if (!is_scalar(value)) {
        return;
    }
    out.append(name);
    if (!value.is_string()) {
        out += value.raw();
    } else if (value.node().escaped) {
        scratch.clear();
        json::append_unescaped(scratch, value.raw_string());
        append_characters(out, scratch);
    } else {
        append_characters(out, value.raw_string());
    }
    out += '"';
}

schema::Element entry_element() {
    static const schema::Element entry = schema::find_type("Bundle").find("entry");
    return entry;
}

// The type of the resource `value`, if R4 has it.
schema::Type resource_type(json::Value value) {
    const json::Value name = value["resourceType"];
    const schema::Type type = schema::find_type(name.raw_string());
    return type.resource_type() ? type : schema::Type();
}

}  // namespace

void Writer::begin_line(std::string& out, std::size_t depth) const {
    if (pretty_) {
        out += '\n';
        out.append(depth * 2, ' ');
    }
}

void Writer::write(std::string& out, json::Value resource) {
    out += kDeclaration;
    write_resource(out, resource, 0, true);
    if (pretty_) {
        out += '\n';
    }
}

void Writer::write_head(std::string& out, json::Value bundle) {
    out += kDeclaration;
    const schema::Type type = resource_type(bundle);
    if (!type) {
        return;
    }
    begin_line(out, 0);
    out.append("<").append(type.name()).append(" xmlns=\"").append(kFhirNamespace).append("\">");
    const std::size_t base = entries_.size();
    json::Value ignored;
    collect(type, bundle, ignored, ignored);
    const std::uint16_t order = entry_element().index();
    std::size_t end = base;
    while (end < entries_.size() && entries_[end].definition.index() < order) {
        ++end;
    }
    write_entries(out, base, end, 1);
    entries_.resize(base);
}

void Writer::write_entry(std::string& out, json::Value entry) {
    write_complex(out, entry_element(), entry, 1);
}

void Writer::write_tail(std::string& out, json::Value bundle) {
    const schema::Type type = resource_type(bundle);
    if (!type) {
        return;
    }
    const std::size_t base = entries_.size();
    json::Value ignored;
    collect(type, bundle, ignored, ignored);
    const std::uint16_t order = entry_element().index();
    std::size_t begin = base;
    while (begin < entries_.size() && entries_[begin].definition.index() <= order) {
        ++begin;
    }
    write_entries(out, begin, entries_.size(), 1);
    entries_.resize(base);
    begin_line(out, 0);
    out.append("</").append(type.name()).append(">");
    if (pretty_) {
        out += '\n';
    }
}

// Appends the members of `object` that `type` defines to entries_, in the order of the definitions; those that
// are attributes in XML go into `id` and `url`.
void Writer::collect(schema::Type type, json::Value object, json::Value& id, json::Value& url) {
    const std::size_t base = entries_.size();
    bool sorted = true;
    std::string resolved;
    for (const auto [key, value] : object.members()) {
        std::string_view name = key.raw_string();
        if (key.node().escaped) [[unlikely]] {
            resolved = key.string();
            name = resolved;
        }
        const bool extra = name.starts_with('_');
        name.remove_prefix(extra ? 1 : 0);
        const schema::Element definition = type.find(name);
        if (!definition || definition.is_primitive_value()) {
            continue;
        }
        if (definition.is_attribute()) {
            if (!extra) {
                (name == "id" ? id : url) = value;
            }
            continue;
        }
        const std::uint16_t order = definition.index();
        std::size_t at = entries_.size();
        if (at > base && (!sorted || entries_.back().definition.index() >= order)) {
            at = base;
            while (at < entries_.size() && entries_[at].definition.index() != order) {
                ++at;
            }
            sorted = sorted && at < entries_.size();
        }
        if (at == entries_.size()) {
            entries_.push_back({definition, {}, {}});
        }
        (extra ? entries_[at].extra : entries_[at].value) = value;
    }
    if (!sorted) {
        std::sort(entries_.begin() + static_cast<std::ptrdiff_t>(base), entries_.end(),
                  [](const Entry& a, const Entry& b) {
                      return a.definition.index() < b.definition.index();
                  });
    }
}

void Writer::write_entries(std::string& out, std::size_t begin, std::size_t end,
                           std::size_t depth) {
    for (std::size_t i = begin; i < end; ++i) {
        const Entry entry = entries_[i];  // a copy, because its content makes entries_ grow
        if (!entry.definition.type().is_primitive()) {
            if (entry.value.is_array()) {
                for (const json::Value element : entry.value.elements()) {
                    write_complex(out, entry.definition, element, depth);
                }
            } else {
                write_complex(out, entry.definition, entry.value, depth);
            }
        } else if (entry.value.is_array() || entry.extra.is_array()) {
            const json::Value::Elements values = entry.value.elements();
            const json::Value::Elements extras = entry.extra.elements();
            auto value = values.begin();
            auto extra = extras.begin();
            while (value != values.end() || extra != extras.end()) {
                json::Value this_value;
                json::Value this_extra;
                if (value != values.end()) {
                    this_value = *value;
                    ++value;
                }
                if (extra != extras.end()) {
                    this_extra = *extra;
                    ++extra;
                }
                write_primitive(out, entry.definition, this_value, this_extra, depth);
            }
        } else {
            write_primitive(out, entry.definition, entry.value, entry.extra, depth);
        }
    }
}

void Writer::write_resource(std::string& out, json::Value resource, std::size_t depth, bool root) {
    const schema::Type type = resource_type(resource);
    if (!type) {
        return;
    }
    begin_line(out, depth);
    out.append("<").append(type.name());
    if (root) {
        out.append(" xmlns=\"").append(kFhirNamespace).append("\"");
    }
    const std::size_t base = entries_.size();
    json::Value ignored;
    collect(type, resource, ignored, ignored);
    write_content(out, type.name(), base, depth);
}

void Writer::write_complex(std::string& out, const schema::Element& definition, json::Value value,
                           std::size_t depth) {
    const schema::Type type = definition.type();
    if (!value.is_object() || type.is_primitive()) {
        return;
    }
    const std::string_view name = definition.name();
    if (type.is_resource()) {
        if (resource_type(value)) {
            begin_line(out, depth);
            out.append("<").append(name).append(">");
            write_resource(out, value, depth + 1, false);
            begin_line(out, depth);
            out.append("</").append(name).append(">");
        }
        return;
    }
    const std::size_t base = entries_.size();
    json::Value id;
    json::Value url;
    collect(type, value, id, url);
    begin_line(out, depth);
    out.append("<").append(name);
    append_attribute(out, " id=\"", id, narrative_);
    append_attribute(out, " url=\"", url, narrative_);
    write_content(out, name, base, depth);
}

void Writer::write_content(std::string& out, std::string_view name, std::size_t base,
                           std::size_t depth) {
    if (entries_.size() == base) {
        out += "/>";
        return;
    }
    out += '>';
    write_entries(out, base, entries_.size(), depth + 1);
    entries_.resize(base);
    begin_line(out, depth);
    out.append("</").append(name).append(">");
}

void Writer::write_primitive(std::string& out, const schema::Element& definition, json::Value value,
                             json::Value extra, std::size_t depth) {
    const schema::Type type = definition.type();
    if (type.primitive() == schema::Primitive::xhtml) {
        if (value.is_string()) {
            write_narrative(out, value, depth);
        }
        return;
    }
    const std::size_t base = entries_.size();
    json::Value id;
    json::Value ignored;
    if (extra.is_object()) {
        collect(type, extra, id, ignored);
    }
    if (!is_scalar(value) && !is_scalar(id) && entries_.size() == base) {
        return;
    }
    begin_line(out, depth);
    const std::string_view name = definition.name();
    out.append("<").append(name);
    append_attribute(out, " id=\"", id, narrative_);
    append_attribute(out, " value=\"", value, narrative_);
    write_content(out, name, base, depth);
}

void Writer::write_narrative(std::string& out, json::Value value, std::size_t depth) {
    narrative_.clear();
    json::append_unescaped(narrative_, value.raw_string());
    begin_line(out, depth);
    if (const Result<Xhtml> xhtml = read_narrative(narrative_)) {
        for_each_run(*xhtml, narrative_, [&](std::string_view run) { out += run; });
        return;
    }
    out.append("<div xmlns=\"").append(kXhtmlNamespace).append("\">");
    append_characters(out, narrative_);
    out += "</div>";
}

}  // namespace annals::xml
