#include "core/interactions/binary.h"

#include "codec/json/document.h"
#include "core/base/base64.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace annals::core {

namespace {

constexpr std::size_t kSliceChars = 256 << 10;  // of base64, decoded between two writes
constexpr std::string_view kUnknownType = "application/octet-stream";
constexpr std::size_t kContextBytesMax = 4 << 10;  // clients accept headers of 8 KiB in total

// A media type in the form of FHIR's code, with single blanks. Requires: none at its ends.
std::string as_code(std::string_view media_type) {
    std::string code;
    for (const char c : media_type) {
        const bool blank = c == ' ' || c == '\t';
        if (!blank) {
            code += c;
        } else if (code.back() != ' ') {
            code += ' ';
        }
    }
    return code;
}

// What a client has stored need not be a valid header value.
bool is_sendable(std::string_view text) {
    const std::size_t slash = text.find('/');
    return slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
           text.size() <= 255 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

// Types that are harmless in a browser.
bool is_inert(std::string_view name) {
    constexpr std::array<std::string_view, 7> kInert{
        "image/png", "image/jpeg", "image/gif", "image/webp", "text/plain", "audio/*", "video/*"};
    return std::any_of(kInert.begin(), kInert.end(),
                       [name](std::string_view type) { return covers(type, name); });
}

// The Accept headers' preference for the content, by the most specific range that covers it.
struct Liking {
    int quality = 0;
    int close = 0;  // 3: named, 2: type/*, 1: */*
    bool asked = false;
};

Liking liking_for(const Request& request, std::string_view name) {
    Liking liking;
    for (const Header& header : request.headers) {
        if (!equal_ignoring_case(header.name, "Accept")) {
            continue;
        }
        std::string_view rest = header.value;
        while (!rest.empty()) {
            const MediaType range = read_media_type(next_part(rest, ','));
            if (range.name.empty()) {
                continue;
            }
            liking.asked = true;
            if (!covers(range.name, name)) {
                continue;
            }
            const int close = !range.name.ends_with('*') ? 3 : range.name.starts_with('*') ? 1 : 2;
            if (close > liking.close || (close == liking.close && range.quality > liking.quality)) {
                liking.close = close;
                liking.quality = range.quality;
            }
        }
    }
    return liking;
}

bool is_generic(std::string_view name) {
    return equal_ignoring_case(name, "application/json") ||
           equal_ignoring_case(name, "text/json") || equal_ignoring_case(name, "application/xml") ||
           equal_ignoring_case(name, "text/xml");
}

// The local name of an XML document's first element; empty without one.
std::string_view root_element(std::string_view text) noexcept {
    for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<')) {
        text.remove_prefix(at + 1);
        if (!text.starts_with('?') && !text.starts_with('!')) {
            text = text.substr(0, text.find_first_of(" \t\r\n/>"));
            return text.substr(text.find(':') + 1);  // all of it, if there is no prefix
        }
        text.remove_prefix(std::min(text.find(text.starts_with("!--") ? "-->" : ">"), text.size()));
    }
    return {};
}

// JSON without the white space that it begins with.
std::string_view skip_space(std::string_view text) noexcept {
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

// Whether the text says that it is a Binary resource, or contains one.
bool names_binary(std::string_view text) noexcept {
    constexpr std::string_view kType = R"("resourceType")";
    for (std::size_t at = text.find(kType); at != std::string_view::npos; at = text.find(kType)) {
        text.remove_prefix(at + kType.size());
        text = skip_space(text);
        if (text.starts_with(':') && skip_space(text.substr(1)).starts_with(R"("Binary")")) {
            return true;
        }
    }
    return false;
}

// Whether JSON is a Binary resource, or is malformed and says that it is or contains one: the sender should be told then.
bool is_resource(std::string_view text) {
    if (!skip_space(text).starts_with('{') || !names_binary(text)) {
        return false;
    }
    json::Parser parser;
    const Result<json::Document> parsed = parser.parse(text);
    if (!parsed) {
        return true;
    }
    const json::Value type = parsed->root()["resourceType"];
    return type.is_string() && type.string() == "Binary";
}

bool wants_content(const Request& request, const AnswerFormat* asked, std::string_view name) {
    if (asked == nullptr) {
        return true;  // no FHIR type is accepted, so the content is closer to what was asked for
    }
    const Liking liking = liking_for(request, name);
    if (!liking.asked) {
        return false;  // the default is FHIR JSON
    }
    if (asked->close == Naming::range) {
        return true;
    }
    // "application/json" may mean FHIR's, but not if it is the content's own type.
    const bool own_name = asked->close == Naming::generic && is_generic(name);
    return liking.quality > asked->quality || (own_name && liking.quality == asked->quality);
}

// Base64 text in a body, decoded slice by slice.
class Content final : public BodySource {
  public:
    // `decoded`: the base64_size() of the whole text.
    Content(Body body, std::size_t begin, std::size_t size, std::size_t decoded)
        : body_(std::move(body)), text_(body_.piece(0).substr(begin, size)), left_(decoded) {}

    std::string_view unread_bytes() const noexcept override { return text_.substr(0, kSliceChars); }

    std::optional<std::uint64_t> size_left() const noexcept override { return left_; }

    bool next(Body& slice) override {
        std::string part(text_.substr(0, kSliceChars));
        text_.remove_prefix(part.size());
        // If it was erased meanwhile, the text is zeros, and so is the content.
        std::replace(part.begin(), part.end(), '\0', 'A');
        std::string bytes;
        decoder_.add(part, bytes);
        // If padding or white space was erased, there would be more bytes than announced.
        bytes.resize(text_.empty() ? left_ : std::min(left_, bytes.size()));
        left_ -= bytes.size();
        slice.append(bytes);
        return !text_.empty();
    }

  private:
    Body body_;
    std::string_view text_;
    std::size_t left_;  // remaining bytes
    Base64Decoder decoder_;
};

}  // namespace

bool is_binary(const Target& target) noexcept {
    static const TypeId kBinary = *find_resource_type("Binary");
    return target.type == kBinary &&
           (target.level == Level::type || target.level == Level::instance ||
            target.level == Level::version);
}

bool is_content(const Request& request, const Target& target) {
    if (!is_binary(target) ||
        (request.method != HttpMethod::post && request.method != HttpMethod::put)) {
        return false;
    }
    const std::string_view name =
        read_media_type(request.header("Content-Type").value_or(std::string_view())).name;
    if (!is_generic(name)) {
        const Result<BodyFormat> format = read_content_type(request);
        return format && *format == BodyFormat::other;
    }
    std::string_view body = request.body;
    if (body.starts_with(kByteOrderMark)) {
        body.remove_prefix(kByteOrderMark.size());
    }
    return name.ends_with('l') || name.ends_with('L') ? root_element(body) != "Binary"
                                                      : !is_resource(body);
}

Result<std::string> binary_json(const Request& request, const Target& target) {
    const std::string_view given = request.header("Content-Type").value_or(kUnknownType);
    if (!is_media_type(given)) {
        return Error{Errc::unsupported_media, "The Content-Type is not a media type"};
    }
    std::string out = R"({"resourceType":"Binary")";
    if (target.level == Level::instance) {
        out += R"(,"id":)";
        json::append_quoted(out, target.id);
    }
    out += R"(,"contentType":)";
    json::append_quoted(out, as_code(given));
    if (const auto context = request.header("X-Security-Context"); context && !context->empty()) {
        out += R"(,"securityContext":{"reference":)";
        json::append_quoted(out, *context);
        out += '}';
    }
    if (!request.body.empty()) {
        constexpr std::string_view kData = R"(,"data":")";
        // Including what follows, so that a large text isn't copied to grow by two characters.
        out.reserve(out.size() + kData.size() + base64_chars(request.body.size()) + 2);
        out += kData;
        append_base64(request.body, out);
        out += '"';
    }
    out += '}';
    return out;
}

bool make_raw(const Request& request, const AnswerFormat* asked, Response& response) {
    if (response.body.piece_count() != 1) {
        response.body = Body(response.body.str());
    }
    const std::string_view whole = response.body.piece(0);
    json::Parser parser;
    const Result<json::Document> parsed = parser.parse(whole);
    if (!parsed) {
        return false;
    }
    const json::Document& document = *parsed;
    const json::Value binary = document.root();
    std::string type = binary["contentType"].string();
    if (!is_sendable(type)) {
        type = kUnknownType;
    }
    const std::string name(read_media_type(type).name);
    const json::Value data = binary["data"];
    std::string unescaped = data.is_string() && data.node().escaped ? data.string() : std::string();
    const std::string_view text = unescaped.empty() ? data.raw_string() : unescaped;
    const std::optional<std::size_t> size = base64_size(text);
    if (!size || !wants_content(request, asked, name)) {
        return false;
    }

    response.media_type = std::move(type);
    response.headers.emplace_back("Content-Security-Policy", "default-src 'none'; sandbox");
    if (!is_inert(name)) {
        response.headers.emplace_back("Content-Disposition", "attachment");
    }
    if (std::string context = binary["securityContext"]["reference"].string();
        !context.empty() && context.size() <= kContextBytesMax) {
        response.headers.emplace_back("X-Security-Context", std::move(context));
    }
    // If the document's text has the size of the original, it is the same text, as for everything stored. It can then
    // be decoded from the stored bytes and takes no memory while a slow client reads it.
    const bool in_place =
        unescaped.empty() && !text.empty() && document.text().size() == whole.size();
    auto content = in_place
                       ? std::make_unique<Content>(
                             std::exchange(response.body, Body()),
                             static_cast<std::size_t>(text.data() - document.text().data()),
                             text.size(), *size)
                       : std::make_unique<Content>(Body(std::string(text)), 0, text.size(), *size);
    response.body.clear();
    if (content->next(response.body)) {
        response.more = std::move(content);
    }
    return true;
}

}  // namespace annals::core
