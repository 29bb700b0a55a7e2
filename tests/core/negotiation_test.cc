#include "core/interactions/negotiation.h"

#include <gtest/gtest.h>

namespace annals::core {
namespace {

Request with(std::string_view name, std::string_view value) {
    Request request;
    request.headers.push_back({name, value});
    return request;
}

// "json", "xml" or "406".
std::string accept(std::string_view value) {
    const Result<AnswerFormat> answer = read_accept(with("Accept", value));
    if (!answer) {
        EXPECT_EQ(answer.error().code, Errc::not_acceptable);
        return "406";
    }
    return answer->format == Format::json ? "json" : "xml";
}

std::string format(std::string_view value) {
    const Result<AnswerFormat> answer = read_format_parameter(value);
    if (!answer) {
        EXPECT_EQ(answer.error().code, Errc::not_acceptable);
        return "406";
    }
    return answer->format == Format::json ? "json" : "xml";
}

TEST(Accept, TakesTheHighestQuality) {
    EXPECT_EQ(accept("application/fhir+json;q=0.8, application/fhir+xml;q=0.9"), "xml");
    EXPECT_EQ(accept("application/fhir+xml;q=0.8, application/fhir+json;q=0.9"), "json");
    EXPECT_EQ(accept("application/fhir+xml;q=0.801, application/fhir+json;q=0.8"), "xml");
    EXPECT_EQ(accept("text/plain, application/xml;q=0.1"), "xml");
    EXPECT_EQ(accept("application/fhir+json;q=.2, application/fhir+xml;q=.9"), "xml");
    EXPECT_EQ(accept("application/fhir+json; q = 0.2, application/fhir+xml; q = 0.9"), "xml");
    EXPECT_EQ(accept("application/fhir+xml;q=0.2, application/fhir+xml;q=0.9, "
                     "application/fhir+json;q=0.5"),
              "xml");
}

TEST(Accept, FindsNoSeparatorsInQuotedTexts) {
    EXPECT_EQ(accept(R"(text/plain; a=", application/fhir+xml, ", application/fhir+json;q=0.1)"),
              "json");
    EXPECT_EQ(accept(R"(text/plain; a="\", application/fhir+xml", application/fhir+json;q=0.1)"),
              "json");
}

TEST(Accept, TakesJsonWhereBothAreLikedAlike) {
    EXPECT_EQ(accept("application/fhir+xml, application/fhir+json"), "json");
    EXPECT_EQ(accept("*/*"), "json");
    EXPECT_EQ(accept("application/*"), "json");
    EXPECT_EQ(accept(""), "json");
    EXPECT_EQ(accept(" , "), "json");
}

TEST(Accept, PrefersTheRangeThatNamesTheFormat) {
    EXPECT_EQ(accept("*/*, application/fhir+xml"), "xml");
    EXPECT_EQ(accept("application/fhir+xml;q=0.2, */*;q=0.5"), "json");
    EXPECT_EQ(accept("application/fhir+json;q=0.2, */*;q=0.5"), "xml");
    EXPECT_EQ(accept("application/fhir+json;q=0, */*"), "xml");
    EXPECT_EQ(accept("*/*, application/fhir+xml;q=0, application/fhir+json;q=0"), "406");
    EXPECT_EQ(accept("application/fhir+json;q=0"), "406");
    EXPECT_EQ(accept("application/fhir+json;q=0.000, application/xml"), "xml");
}

TEST(Accept, KnowsGenericNamesInAnyCase) {
    EXPECT_EQ(accept("application/json"), "json");
    EXPECT_EQ(accept("text/json"), "json");
    EXPECT_EQ(accept("Application/FHIR+XML"), "xml");
    EXPECT_EQ(accept("text/xml"), "xml");
    EXPECT_EQ(accept("application/pdf"), "406");
    EXPECT_EQ(accept("image/*"), "406");
}

TEST(Accept, KnowsTheNamesOfDstu2) {
    // FHIR R4 http.html#mime-type: servers are encouraged to support them.
    EXPECT_EQ(accept("application/json+fhir"), "json");
    EXPECT_EQ(accept("application/xml+fhir;q=1.0, application/json+fhir;q=0.9"), "xml");
    EXPECT_EQ(read_accept(with("Accept", "application/json+fhir"))->close, Naming::fhir);
    EXPECT_EQ(format("application/xml+fhir"), "xml");
    EXPECT_EQ(format("application/xml fhir; fhirVersion=4.0"), "xml");
    const auto body = read_content_type(with("Content-Type", "application/xml+fhir;charset=utf-8"));
    ASSERT_TRUE(body);
    EXPECT_EQ(*body, BodyFormat::xml);
}

TEST(Accept, GivesBrowsersJson) {
    EXPECT_EQ(accept("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), "json");
    EXPECT_EQ(accept("text/html"), "json");
}

TEST(Accept, TakesFhirVersion4_0Alone) {
    EXPECT_EQ(accept("application/fhir+xml; fhirVersion=4.0"), "xml");
    EXPECT_EQ(accept("application/fhir+json; fhirVersion=\"4.0.1\""), "json");
    EXPECT_EQ(accept("application/fhir+json; fhirVersion=3.0"), "406");
    EXPECT_EQ(accept("application/fhir+xml; fhirVersion=5.0, application/fhir+json;q=0.1"), "json");
    EXPECT_TRUE(read_accept(with("Accept", "application/fhir+json;fhirVersion=4.0"))->says_version);
    EXPECT_FALSE(read_accept(with("Accept", "application/fhir+json"))->says_version);
}

TEST(Accept, TakesUtf8Alone) {
    EXPECT_EQ(accept("application/fhir+json; charset=UTF-8"), "json");
    EXPECT_EQ(accept("application/fhir+json; charset=utf-16"), "406");
}

TEST(Accept, ReadsAllItsHeaders) {
    Request request = with("Accept", "application/pdf");
    request.headers.push_back({"accept", "application/fhir+xml"});
    EXPECT_EQ(read_accept(request)->format, Format::xml);
}

TEST(FormatParameter, TakesNamesAndMediaTypes) {
    EXPECT_EQ(format("json"), "json");
    EXPECT_EQ(format("xml"), "xml");
    EXPECT_EQ(format("application/fhir+json"), "json");
    EXPECT_EQ(format("application/fhir json"), "json");
    EXPECT_EQ(format("application/fhir xml"), "xml");
    EXPECT_EQ(format("text/xml"), "xml");
    EXPECT_EQ(format("application/json;fhirVersion=4.0"), "json");
    EXPECT_EQ(format("ttl"), "406");
    EXPECT_EQ(format("html"), "406");
    EXPECT_EQ(format("text/html"), "406");
    EXPECT_EQ(format(""), "406");
    EXPECT_EQ(format("application/fhir+json;fhirVersion=3.0"), "406");
}

TEST(FormatParameter, ItsPlusMayArriveAsABlank) {
    EXPECT_EQ(with_plus("application/fhir json"), "application/fhir+json");
    EXPECT_EQ(with_plus("application/fhir+json"), "application/fhir+json");
    EXPECT_EQ(with_plus(" application/fhir ndjson ; q=1, text/xml ; q=0.5 "),
              " application/fhir+ndjson ; q=1, text/xml ; q=0.5 ");
    EXPECT_EQ(with_plus("application/fhir  json"), "application/fhir  json");
    EXPECT_EQ(with_plus(" "), " ");
    EXPECT_EQ(with_plus(""), "");
    EXPECT_EQ(format("application/fhir xml ; fhirVersion=4.0"), "xml");
}

TEST(ContentType, TellsFormatsApart) {
    const auto body = [](std::string_view value) {
        return read_content_type(with("Content-Type", value));
    };
    EXPECT_EQ(*read_content_type(Request()), BodyFormat::json);
    EXPECT_EQ(*body("application/fhir+json; charset=utf-8"), BodyFormat::json);
    EXPECT_EQ(*body("application/json;fhirVersion=4.0"), BodyFormat::json);
    EXPECT_EQ(*body("application/fhir+xml"), BodyFormat::xml);
    EXPECT_EQ(*body("text/xml;charset=\"utf-8\""), BodyFormat::xml);
    EXPECT_EQ(*body("text/html"), BodyFormat::other);
    EXPECT_EQ(*body("application/pdf"), BodyFormat::other);
    for (const char* value :
         {"application/fhir+json;fhirVersion=3.0", "application/fhir+xml; charset=iso-8859-1"}) {
        ASSERT_FALSE(body(value)) << value;
        EXPECT_EQ(body(value).error().code, Errc::unsupported_media);
    }
    EXPECT_FALSE(check_content_type(with("Content-Type", "application/pdf")));
    EXPECT_TRUE(check_content_type(with("Content-Type", "application/json")));
}

TEST(Prefer, MayHaveBlanksAndQuotesAroundItsValues) {
    using Return = Preference::Return;
    for (const char* value : {"return=minimal", "return = minimal", "return= \"minimal\"",
                              "wait=10, Return =MINIMAL; x = y"}) {
        EXPECT_EQ(read_preference(with("Prefer", value)).return_form, Return::minimal) << value;
    }
    EXPECT_TRUE(read_preference(with("Prefer", "return=minimal, handling = strict")).strict);
    EXPECT_TRUE(read_preference(with("Prefer", "handling =\tlenient")).lenient);
    EXPECT_EQ(read_preference(with("Prefer", "return = ")).return_form, Return::unsaid);
}

TEST(Prefer, TakesTheFirstOfSeveral) {
    const Preference preference = read_preference(
        with("Prefer", "return=minimal, return=representation, handling=strict, handling=lenient"));
    EXPECT_EQ(preference.return_form, Preference::Return::minimal);
    EXPECT_TRUE(preference.strict);
    EXPECT_FALSE(preference.lenient);
}

TEST(Quality, IsReadInThousandths) {
    EXPECT_EQ(read_quality("1"), 1000);
    EXPECT_EQ(read_quality("1.000"), 1000);
    EXPECT_EQ(read_quality("0"), 0);
    EXPECT_EQ(read_quality("0."), 0);
    EXPECT_EQ(read_quality("0.5"), 500);
    EXPECT_EQ(read_quality("0.123"), 123);
    EXPECT_EQ(read_quality("0.0009"), 0);
    EXPECT_EQ(read_quality("1.5"), 1000);
    EXPECT_EQ(read_quality("2"), 1000);
    EXPECT_EQ(read_quality("x"), 1000);
    EXPECT_EQ(read_quality(""), 1000);
    EXPECT_EQ(read_quality("."), 1000);
    EXPECT_EQ(read_quality("00.5"), 1000);
    EXPECT_EQ(read_quality("0.5.1"), 1000);
    // As written by clients that print numbers this way.
    EXPECT_EQ(read_quality(".2"), 200);
    EXPECT_EQ(read_quality(".0"), 0);
}

}  // namespace
}  // namespace annals::core
