#include "core/interactions/binary.h"

#include "tests/support/service_fixture.h"

namespace annals::test {
namespace {

class Binary : public ServiceFixture {
  protected:
    Answer get(std::string_view target, std::string_view accept = {}) {
        return accept.empty() ? send("GET", target)
                              : send("GET", target, {}, {{"Accept", std::string(accept)}});
    }

    void put(std::string_view body, std::string_view type) {
        ASSERT_LT(send("PUT", "/Binary/b", body, {{"Content-Type", std::string(type)}}).status,
                  300);
    }
};

TEST_F(Binary, IsMadeOfABodyWithoutAFhirType) {
    const Answer put = send("PUT", "/Binary/b", std::string_view("a\0\xff", 3),
                            {{"Content-Type", "image/png"}, {"X-Security-Context", "Patient/1"}});
    EXPECT_EQ(put.status, 201) << put.body;
    EXPECT_EQ(put.content_type, "application/fhir+json; charset=utf-8");
    const Answer json = get("/Binary/b");
    EXPECT_TRUE(
        json.says(R"("contentType":"image/png","securityContext":{"reference":"Patient/1"},)"
                  R"("data":"YQD/"})"))
        << json.body;
    const Answer post =
        send("POST", "/Binary", "text", {{"Content-Type", "text/plain;  charset=utf-8"}});
    EXPECT_EQ(post.status, 201);
    EXPECT_TRUE(post.says(R"("contentType":"text/plain; charset=utf-8","data":"dGV4dA==")"));
}

TEST_F(Binary, IsMadeThoughItsFileIsNamed) {
    const auto post = [&](std::string_view target) {
        return send("POST", target, "text", {{"Content-Type", "text/plain"}}).status;
    };
    EXPECT_EQ(post("/Binary?_filename=a.txt"), 201);
    EXPECT_EQ(post("/Binary?_id=a"), 400);
    EXPECT_EQ(send("POST", "/Patient?_filename=a.txt", R"({"resourceType":"Patient"})").status,
              400);
    EXPECT_EQ(
        send("PUT", "/Binary/b?_filename=a.txt", "text", {{"Content-Type", "text/plain"}}).status,
        400);
}

TEST_F(Binary, IsMadeOfAResourceAsWell) {
    EXPECT_EQ(send("PUT", "/Binary/b",
                   R"({"resourceType":"Binary","id":"b","contentType":"a/b","data":"Zg=="})")
                  .status,
              201);
    EXPECT_EQ(get("/Binary/b", "a/b").body, "f");
    EXPECT_EQ(send("PUT", "/Binary/b", "{}", {{"Content-Type", "application/fhir+json"}}).status,
              400);
}

TEST_F(Binary, IsMadeOfGenericJsonAndXmlUnlessThatIsABinary) {
    const std::string_view cda =
        "<?xml version=\"1.0\"?>\n<!-- <Binary> --><ClinicalDocument xmlns=\"urn:hl7-org:v3\"/>";
    for (const auto& [type, content] : std::vector<std::pair<std::string_view, std::string_view>>{
             {"text/xml", cda},
             {"application/xml", "<f:Binaryish xmlns:f=\"http://hl7.org/fhir\"/>"},
             {"text/xml; charset=iso-8859-1", "<a>\xE9</a>"},
             {"application/xml", "no XML"},
             {"application/xml", "<!-- cut off"},
             {"application/json", "{}"},
             {"application/json", "[\"Binary\"]"},
             {"application/json", R"({"resourceType":"Patient","name":"Binary"})"},
             {"application/json", R"({"kind":"Binary","a":1,"a":2})"},
             {"application/json", "{\"resourceType\" \n: \"Patient\"}\n{\"type\":\"Binary\"}"},
             {"text/json", "\"Binary\""},
             {"application/json; charset=utf-16", "\xFF\xFE"}}) {
        SCOPED_TRACE(content);
        put(content, type);
        const Answer read = get("/Binary/b", "image/png, */*");
        EXPECT_EQ(read.body, content);
        EXPECT_EQ(read.content_type, type);
        EXPECT_EQ(send("POST", "/Binary", content, {{"Content-Type", std::string(type)}}).status,
                  201);
    }
    for (const auto& [type, resource] : std::vector<std::pair<std::string_view, std::string_view>>{
             {"application/json",
              R"( {"id":"b","resourceType":"Binary","contentType":"a/b","data":"Zg=="})"},
             {"text/json",
              "\xEF\xBB\xBF{\"resourceType\":\"Binary\",\"id\":\"b\",\"contentType\":\"a/b\","
              "\"data\":\"Zg==\"}"},
             {"text/xml",
              R"(<?xml version="1.0"?><Binary xmlns="http://hl7.org/fhir"><id value="b"/>)"
              R"(<contentType value="a/b"/><data value="Zg=="/></Binary>)"},
             {"application/xml",
              R"(<f:Binary xmlns:f="http://hl7.org/fhir"><f:id value="b"/>)"
              R"(<f:contentType value="a/b"/><f:data value="Zg=="/></f:Binary>)"}}) {
        SCOPED_TRACE(resource);
        put(resource, type);
        EXPECT_EQ(get("/Binary/b", "a/b").body, "f");
        // One that was cut off is a mistake, not content.
        EXPECT_EQ(send("PUT", "/Binary/b", resource.substr(0, resource.size() - 5),
                       {{"Content-Type", std::string(type)}})
                      .status,
                  400);
    }
}

TEST_F(Binary, IsMadeWhateverAcceptSays) {
    const Answer answer =
        send("POST", "/Binary", "x", {{"Content-Type", "image/png"}, {"Accept", "image/png"}});
    EXPECT_EQ(answer.status, 201);
    EXPECT_TRUE(answer.says("\"resourceType\":\"Binary\""));
    EXPECT_EQ(get("/Binary/b?_format=ttl").status, 406);
}

TEST_F(Binary, IsOfOneMediaType) {
    for (const char* type :
         {"text/plain , foo/bar", "text/plain, foo/bar", "text", "text/", "/plain", "te xt/plain",
          "image/*", "text/plain; charset", "text/plain; charset=a b", "text/plain/x"}) {
        EXPECT_EQ(send("PUT", "/Binary/b", "x", {{"Content-Type", type}}).status, 415) << type;
    }
    for (const char* type : {"text/plain;charset=utf-8", "text/plain ; charset=\"a,b;c\"",
                             "application/vnd.a+b;x=y;", "multipart/mixed; boundary=\"a b\""}) {
        EXPECT_LT(send("PUT", "/Binary/b", "x", {{"Content-Type", type}}).status, 300) << type;
    }
}

TEST_F(Binary, ThatIsTooLargeInBase64IsRefused) {
    core::Config config;
    config.limits.max_body = 1000;
    store_options_.body_bytes_max = config.limits.max_body;
    restart(config);
    const auto post = [&](std::size_t bytes) {
        return send("POST", "/Binary", std::string(bytes, 'x'), {{"Content-Type", "a/b"}});
    };
    const Answer taken = post(600);
    EXPECT_EQ(taken.status, 201) << taken.body;
    EXPECT_LE(taken.body.size(), config.limits.max_body);
    const Answer refused = post(900);
    EXPECT_EQ(refused.status, 413);
    EXPECT_TRUE(refused.says("\"too-long\"")) << refused.body;
}

TEST_F(Binary, IsNotWhatOtherTypesAreMadeOf) {
    EXPECT_EQ(send("POST", "/Patient", "x", {{"Content-Type", "image/png"}}).status, 415);
}

TEST_F(Binary, GivesItsContentUnlessFhirIsNamed) {
    put("hello", "text/plain; charset=utf-8");
    for (const char* accept : {"text/plain", "text/*", "*/*", "image/png", "text/html,*/*;q=0.8",
                               "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                               "application/fhir+json;q=0.5, text/plain",
                               "text/plain, application/fhir+json;q=0.5, */*;q=0.1"}) {
        const Answer answer = get("/Binary/b", accept);
        EXPECT_EQ(answer.status, 200) << accept;
        EXPECT_EQ(answer.body, "hello") << accept;
        EXPECT_EQ(answer.content_type, "text/plain; charset=utf-8");
        EXPECT_EQ(answer.etag, 1U);
    }
    for (const char* accept : {"", "application/fhir+json", "application/json",
                               "application/fhir+json, */*", "application/json, text/plain, */*"}) {
        const Answer answer = get("/Binary/b", accept);
        EXPECT_TRUE(answer.says("\"resourceType\":\"Binary\"")) << accept;
    }
    EXPECT_TRUE(get("/Binary/b", "application/fhir+xml").says("<Binary xmlns="));
    EXPECT_TRUE(get("/Binary/b?_format=json", "text/plain").says("\"resourceType\""));
    EXPECT_EQ(get("/Binary/b?_format=text/plain").body, "hello");
    EXPECT_EQ(get("/Binary/b/_history/1", "text/plain").body, "hello");
    EXPECT_TRUE(get("/Binary/b?_pretty=true", "text/plain").says("\"resourceType\""));
}

TEST_F(Binary, OfGenericJsonIsItself) {
    send("PUT", "/Binary/b",
         R"({"resourceType":"Binary","id":"b","contentType":"application/json","data":"e30="})");
    EXPECT_EQ(get("/Binary/b", "application/json").body, "{}");
    EXPECT_TRUE(get("/Binary/b", "application/fhir+json").says("\"resourceType\""));
}

TEST_F(Binary, CannotRunInABrowser) {
    put("<script>alert(1)</script>", "text/html");
    const Answer html = get("/Binary/b", "text/html");
    EXPECT_EQ(html.content_type, "text/html");
    EXPECT_EQ(html.header("Content-Security-Policy"), "default-src 'none'; sandbox");
    EXPECT_EQ(html.header("Content-Disposition"), "attachment");
    put("x", "image/png");
    const Answer image = get("/Binary/b", "image/png");
    EXPECT_EQ(image.header("Content-Disposition"), "");
    put("x", "image/svg+xml");
    EXPECT_EQ(get("/Binary/b", "*/*").header("Content-Disposition"), "attachment");
}

TEST_F(Binary, SaysNoTypeThatIsNone) {
    core::Config config;
    config.validation = "off";  // would keep control characters out
    restart(config);
    for (const std::string& type :
         {std::string(R"(a\r\nSet-Cookie: b/c)"), std::string("html"), std::string("/"),
          std::string("\xc3\xa9/x"), "a/" + std::string(254, 'b')}) {
        send("PUT", "/Binary/b",
             R"({"resourceType":"Binary","id":"b","data":"Zg==","contentType":")" + type + "\"}");
        const Answer answer = get("/Binary/b", "*/*");
        EXPECT_EQ(answer.content_type, "application/octet-stream") << type;
        EXPECT_EQ(answer.body, "f");
    }
}

TEST_F(Binary, GivesItsSecurityContextBack) {
    send("PUT", "/Binary/b", "x", {{"Content-Type", "a/b"}, {"X-Security-Context", "Patient/7"}});
    EXPECT_EQ(get("/Binary/b", "a/b").header("X-Security-Context"), "Patient/7");
    // A header too long for clients would make the content unreadable, too.
    send("PUT", "/Binary/b",
         R"({"resourceType":"Binary","id":"b","contentType":"a/b","data":"Zg==",)"
         R"("securityContext":{"reference":"http://x.org/)" +
             std::string(70'000, 'p') + "\"}}");
    EXPECT_EQ(get("/Binary/b", "a/b").header("X-Security-Context"), "");
    EXPECT_EQ(get("/Binary/b", "a/b").body, "f");
}

TEST_F(Binary, OfAnySizeComesBackAsItWas) {
    for (const std::size_t size : {0U, 1U, 2U, 3U, 200'000U, 2'000'001U}) {
        std::string bytes(size, '\0');
        for (std::size_t i = 0; i < size; ++i) {
            bytes[i] = static_cast<char>(i * 7 + (i >> 9));
        }
        put(bytes, "application/octet-stream");
        const Answer answer = get("/Binary/b", "*/*");
        EXPECT_EQ(answer.status, 200);
        EXPECT_TRUE(answer.body == bytes) << size;
    }
}

TEST_F(Binary, IsMadeInNoMoreMemoryThanItTakes) {
    core::Request request;
    const std::string bytes(3'000'000, 'x');
    request.body = bytes;
    core::Target target;
    target.type = *find_resource_type("Binary");
    target.level = core::Level::type;
    const Result<std::string> made = core::binary_json(request, target);
    ASSERT_TRUE(made);
    EXPECT_GT(made->size(), 4'000'000U);
    EXPECT_LT(made->capacity(), 4'001'000U);
}

TEST_F(Binary, IsDecodedFromWhereItIsStoredAsTheClientTakesIt) {
    const std::string head = R"({"resourceType":"Binary","contentType":"a/b","data":")";
    std::string stored = head + std::string(4'000'000, 'B') + "\"}";
    core::Response response;
    response.body.append_view(stored, nullptr);
    ASSERT_TRUE(core::make_raw({}, nullptr, response));
    EXPECT_TRUE(response.body.str().starts_with("\x04\x10\x41"));
    // The stored bytes change, as in an erasure.
    std::fill(stored.begin(), stored.end(), '\0');
    std::string rest;
    ASSERT_NE(response.more, nullptr);
    for (bool more = true; more;) {
        EXPECT_TRUE(stored.data() < response.more->unread_bytes().data());
        core::Body slice;
        more = response.more->next(slice);
        rest += slice.str();
    }
    EXPECT_EQ(response.body.size() + rest.size(), 3'000'000U);
    EXPECT_TRUE(rest == std::string(rest.size(), '\0'));
}

TEST_F(Binary, SaysHowLongItIs) {
    // With white space and padding, which count like digits after they were erased.
    std::string base64;
    for (int i = 0; i < 10'000; ++i) {
        base64 += std::string(76, 'B') + ' ';
    }
    base64 += "Zg==";
    std::string plain = std::string(1'000'000, 'B') + "Zg==";
    for (const auto& [data, size] : {std::pair(&base64, 10'000U * 57 + 1), {&plain, 750'001U}}) {
        for (const bool erased : {false, true}) {
            std::string stored =
                R"({"resourceType":"Binary","contentType":"a/b","data":")" + *data + "\"}";
            core::Response response;
            response.body.append_view(stored, nullptr);
            ASSERT_TRUE(core::make_raw({}, nullptr, response));
            ASSERT_NE(response.more, nullptr);
            std::uint64_t given = response.body.size();
            EXPECT_EQ(response.more->size_left(), size - given);
            if (erased) {
                std::fill(stored.begin(), stored.end(), '\0');
            }
            for (bool more = true; more;) {
                core::Body slice;
                more = response.more->next(slice);
                given += slice.size();
                EXPECT_EQ(response.more->size_left(), size - given);
            }
            EXPECT_EQ(given, size);
        }
    }
}

TEST_F(Binary, ThatIsGoneIsToldInJson) {
    EXPECT_EQ(get("/Binary/b", "image/png").status, 404);
    EXPECT_TRUE(get("/Binary/b", "image/png").says("OperationOutcome"));
    put("x", "a/b");
    EXPECT_EQ(
        send("GET", "/Binary/b", {}, {{"Accept", "a/b"}, {"If-None-Match", "W/\"1\""}}).status,
        304);
}

}  // namespace
}  // namespace annals::test
