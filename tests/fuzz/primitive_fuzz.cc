// Any bytes as a value of every primitive type: nothing crashes; a date or instant is also
// a dateTime, an id is a code and a uri, a positiveInt an unsignedInt, that an integer,
// and that a decimal; the recognisers and the walk over a resource with this text agree.

#include "codec/json/document.h"
#include "codec/json/unicode.h"
#include "codec/schema/primitive.h"
#include "codec/schema/structure.h"
#include "tests/support/checked_parse.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::schema {
namespace {

bool implies(bool a, bool b) {
    return !a || b;
}

void check(std::string_view text) {
    ANNALS_CHECK(implies(is_date(text), is_date_time(text)));
    ANNALS_CHECK(implies(is_instant(text), is_date_time(text)));
    ANNALS_CHECK(implies(is_id(text), is_code(text) && is_uri(text) && is_string(text)));
    ANNALS_CHECK(implies(is_uri(text), is_code(text)));
    ANNALS_CHECK(implies(is_oid(text) || is_uuid(text), is_uri(text)));
    ANNALS_CHECK(implies(is_positive_int(text), is_unsigned_int(text)));
    ANNALS_CHECK(implies(is_unsigned_int(text), is_integer(text)));
    ANNALS_CHECK(implies(is_integer(text), is_decimal(text)));
    ANNALS_CHECK(!(is_date_time(text) && is_time(text)));
}

void check_in_resource(std::string_view text) {
    static json::Parser parser;
    for (const Element option : extension_type().find_base("value")) {
        const Primitive type = option.type().primitive();
        const bool quoted = kind_of(type) == json::Kind::string;
        if (type == Primitive::none) {
            continue;
        }
        std::string body =
            R"({"resourceType":"Basic","code":{"text":"a"},"extension":[{"url":"u",")";
        body.append(option.name()).append("\":");
        body.append(quoted ? json::quoted(text) : std::string(text)).append("}]}");
        ANNALS_CHECK(test::disagreement_with_checked_parse(parser, body) == "");
        const Result<json::Document> document = parser.parse(body);
        if (!document) {
            ANNALS_CHECK(!quoted);
            continue;
        }
        if (quoted) {
            const std::string value =
                document->root()["extension"].elements().first.operator*()[option.name()].string();
            ANNALS_CHECK(bool(check_structure(document->root(), {})) == is_valid(type, value));
        } else {
            ANNALS_CHECK(
                implies(is_valid(type, text), bool(check_structure(document->root(), {}))));
        }
    }
}

}  // namespace
}  // namespace annals::schema

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace annals;
    using namespace annals::schema;
    // An exact copy, so that sanitizers detect reads beyond the end.
    const std::vector<char> copy(data, data + size);
    const std::string_view text(copy.data(), copy.size());
    for (int type = 1; type <= 20; ++type) {
        (void)is_valid(static_cast<Primitive>(type), text);
    }
    (void)find_type(text);
    (void)find_type("Extension").find(text);
    (void)find_type("Extension").find_base(text);
    (void)find_value_set(text);
    check(text);
    check_in_resource(text);
    return 0;
}
