#include "core/base/parts.h"
#include "tools/bench/answer_reader.h"
#include "tools/bench/histogram.h"
#include "tools/bench/working_folder.h"
#include "tools/bench/workloads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace annals::bench {
namespace {

using State = AnswerReader::State;

// Feeds `text` to the reader in steps of `step` bytes; returns the state after the last one.
State feed(AnswerReader& reader, std::string_view text, std::size_t step) {
    State state = State::more;
    while (!text.empty()) {
        EXPECT_EQ(state, State::more);
        const std::size_t size = std::min(step, text.size());
        std::memcpy(reader.room(), text.data(), size);
        state = reader.received(size);
        text.remove_prefix(size);
    }
    return state;
}

TEST(Histogram, AnswersQuantilesWithinTwoPerCent) {
    Histogram histogram;
    for (std::uint64_t value = 1; value <= 1'000'000; ++value) {
        histogram.record(value * 10);
    }
    for (const double quantile : {0.001, 0.5, 0.9, 0.99, 0.999}) {
        const double expected = quantile * 1e7;
        EXPECT_NEAR(static_cast<double>(histogram.quantile(quantile)), expected, expected * 0.02);
    }
    EXPECT_EQ(histogram.max(), 10'000'000U);
    EXPECT_EQ(histogram.quantile(1), 10'000'000U);
    EXPECT_EQ(histogram.count(), 1'000'000U);
}

TEST(Histogram, KeepsSmallAndHugeValuesApart) {
    Histogram histogram;
    EXPECT_EQ(histogram.quantile(0.5), 0U);
    histogram.record(0);
    histogram.record(63);
    histogram.record(~0ULL);
    EXPECT_EQ(histogram.quantile(0.3), 0U);
    EXPECT_EQ(histogram.quantile(0.6), 63U);
    EXPECT_EQ(histogram.quantile(1), ~0ULL);
}

TEST(IsVersion, LooksAtTheTagAndIntoTheBody) {
    constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\nETag: W/\"2\"\r\n\r\n";
    constexpr std::string_view kBody =
        R"({"resourceType":"Patient","id":"a1","meta":{"versionId":"2"}})";
    const Answer answer{.status = 200, .head = kHead, .body = kBody};
    EXPECT_TRUE(is_version(answer, "a1", 2));
    EXPECT_FALSE(is_version(answer, "a1", 1));
    EXPECT_FALSE(is_version(answer, "a", 2));
    EXPECT_FALSE(is_version(answer, "a12", 2));
    EXPECT_FALSE(is_version(answer, "", 2));
    Answer other = answer;
    other.body = R"({"resourceType":"Patient","id":"a1","meta":{"versionId":"22"}})";
    EXPECT_FALSE(is_version(other, "a1", 2));
    other.body = "{\n  \"id\": \"a1\",\n  \"meta\": {\"versionId\": \"2\"}\n}";
    EXPECT_TRUE(is_version(other, "a1", 2));
    other.body = {};
    EXPECT_FALSE(is_version(other, "a1", 2));
    other = answer;
    other.head = "HTTP/1.1 200 OK\r\nETag: W/\"3\"\r\n\r\n";
    EXPECT_FALSE(is_version(other, "a1", 2));
}

TEST(AnswerReader, FindsTheEndOfABodyWithALength) {
    constexpr std::string_view kText =
        "HTTP/1.1 201 Created\r\nETag: W/\"1\"\r\ncontent-length: 5\r\n\r\nhello";
    for (std::size_t step = 1; step <= kText.size(); ++step) {
        AnswerReader reader;
        ASSERT_EQ(feed(reader, kText, step), State::done);
        EXPECT_EQ(reader.answer().status, 201);
        EXPECT_EQ(reader.answer().body, "hello");
        EXPECT_EQ(reader.answer().header("etag"), "W/\"1\"");
        EXPECT_EQ(reader.answer().header("location"), "");
        EXPECT_FALSE(reader.closes());
        reader.next();
        ASSERT_EQ(feed(reader, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", step),
                  State::done);
        EXPECT_EQ(reader.answer().status, 204);
        EXPECT_TRUE(reader.closes());
    }
}

TEST(AnswerReader, PutsChunksTogether) {
    constexpr std::string_view kText =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5\r\nhello\r\nA\r\n, all of u\r\n1\r\ns\r\n0\r\n\r\n";
    for (std::size_t step = 1; step <= kText.size(); ++step) {
        AnswerReader reader;
        ASSERT_EQ(feed(reader, kText, step), State::done);
        EXPECT_EQ(reader.answer().status, 200);
        EXPECT_EQ(reader.answer().body, "hello, all of us");
    }
}

TEST(AnswerReader, RefusesWhatIsNoHttp) {
    AnswerReader reader;
    EXPECT_EQ(feed(reader, "SSH-2.0-OpenSSH_9.2p1 and more\r\n\r\n", 100), State::broken);
    AnswerReader endless;
    EXPECT_EQ(feed(endless, "HTTP/1.1 200 OK\r\nDate: now\r\n\r\n", 100), State::broken);
    AnswerReader chunk;
    EXPECT_EQ(
        feed(chunk, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
             200),
        State::broken);
    AnswerReader length;
    EXPECT_EQ(feed(length, "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nx", 200),
              State::broken);
}

TEST(WorkingFolder, ThatCannotBeMadeIsAnError) {
    EXPECT_EQ(WorkingFolder::create("/dev/null").error().code, Errc::io);
}

TEST(Workloads, TakeBodiesOfTheUsualSize) {
    const std::vector<Body> bodies = usual_bodies(1);
    ASSERT_EQ(bodies.size(), 256U);
    for (const Body& body : bodies) {
        EXPECT_NEAR(static_cast<double>(body.text.size()), 1400, 150) << body.type;
    }
    double sum = 0;
    const std::vector<std::vector<Body>> nine = bodies_of_nine_types(1);
    ASSERT_EQ(nine.size(), 9U);
    for (const std::vector<Body>& of_type : nine) {
        ASSERT_EQ(of_type.size(), 32U);
        for (const Body& body : of_type) {
            sum += static_cast<double>(body.text.size());
        }
    }
    EXPECT_NEAR(sum / (9 * 32), 1400, 100);
}

TEST(Workloads, FindTheIdInALocation) {
    EXPECT_EQ(id_in_location("http://h/fhir/Patient/a-1/_history/1"), "a-1");
    EXPECT_EQ(id_in_location("/fhir/Patient/a-1"), "a-1");
    EXPECT_EQ(id_in_location(""), "");
}

TEST(Site, TellsHeadersApartAlsoWithoutABlank) {
    Site site;
    site.headers = "X-Key:a: b\r\nAuthorization: Bearer t\r\n";
    const std::vector<std::pair<std::string, std::string>> fields{{"X-Key", "a: b"},
                                                                  {"Authorization", "Bearer t"}};
    EXPECT_EQ(site.header_fields(), fields);
}

TEST(Report, SaysWhereAServerIsAndWhatItAnsweredWrongly) {
    Report report;
    report.settings.server = "http://h/fhir";
    report.settings.server_cpu = 0;
    report.measurements.emplace_back();
    report.measurements.back().asked.workload = workloads().data();
    report.measurements.back().extras = {
        {"seconds after a kill", 0.029}, {"versions", 7}, {"bytes", 1395.7}};
    report.measurements.back().load.errors = 2;
    report.measurements.back().load.first_error = "404: <a>\n\x1b[2Jb";
    const std::string table = table_of(report);
    EXPECT_NE(table.find("\nserver at http://h/fhir, client on any core; "), std::string::npos)
        << table;
    EXPECT_NE(table.find("2 ERRORS, first: 404: <a>  [2Jb\n"), std::string::npos) << table;
    const std::string page = html_of(report);
    EXPECT_NE(page.find("server at http://h/fhir, client on any core; "), std::string::npos);
    EXPECT_NE(
        page.find(
            "seconds after a kill 0.029, versions 7.0, bytes 1396, client busy 0 %; first error: "
            "404: &lt;a&gt;  [2Jb<"),
        std::string::npos);
}

TEST(Report, IsATableOfEightyColumns) {
    Report report;
    report.limits.emplace();
    report.limits->gets = report.limits->posts_inline = report.limits->posts_thread = 1'234'567;
    report.limits->get_latency.record(99'990'000);
    for (const Workload& workload : workloads()) {
        Measurement& measured = report.measurements.emplace_back();
        measured.asked = {&workload, 64, 0};
        measured.load.seconds = 1;
        measured.load.units = 1'234'567;
        measured.load.operations[0].record(99'990'000);
        measured.load.errors = 1;
        measured.load.first_error = "405: this server is read-only and takes no writes";
        measured.limit_name = "six bare GETs and four bare durable POSTs";
        measured.limit = 1e6;
        measured.extras = {{"commits per sync", 63.5},
                           {"log bytes per sync", 123456},
                           {"mean sync us", 123.4},
                           {"versions in the store", 1'234'567}};
    }
    const std::string table = table_of(report);
    std::string_view rest = table;
    take_until(rest, '\n');  // the machine's description
    take_until(rest, '\n');
    while (!rest.empty()) {
        const std::string_view line = take_until(rest, '\n');
        EXPECT_LE(line.size(), 80U) << line;
    }
    EXPECT_NE(table.find("  1.23\n    limit: six bare GETs and four bare durable POSTs 1000000; "
                         "commits per sync\n    63.5, log bytes per sync 123456, "),
              std::string::npos)
        << table;
}

TEST(Report, GivesNoLatencyWhereThereWasNoResponse) {
    Report report;
    report.measurements.emplace_back();
    report.measurements.back().asked = {workloads().data(), 64, 0};
    const std::string table = table_of(report);
    EXPECT_NE(table.find("\nread:64                       0 requests/s            -        - "),
              std::string::npos)
        << table;
    EXPECT_NE(html_of(report).find("<td>-</td><td>-</td><td>-</td><td>-</td>"), std::string::npos);
    report.measurements.back().load.operations[0].record(1'250'000);
    EXPECT_EQ(table_of(report).find(" - "), std::string::npos);
}

TEST(Report, ShowsByLongerBarsWhatIsFasterThanTheLimit) {
    Report report;
    for (const std::uint64_t rate : {400U, 50U}) {
        const Workload& workload = workloads()[report.measurements.size()];
        Measurement& measured = report.measurements.emplace_back();
        measured.asked = {&workload, 1, 0};
        measured.load.seconds = 1;
        measured.load.units = rate;
        measured.limit = 100;
    }
    const std::string page = html_of(report);
    constexpr std::string_view kBar =
        R"(<rect class="all" width="{:.1f}" height="10"/><rect class="some" width="{:.1f}" )";
    EXPECT_NE(page.find(fmt::format(kBar, 25.0, 100.0)), std::string::npos) << page;
    EXPECT_NE(page.find(fmt::format(kBar, 25.0, 12.5)), std::string::npos) << page;
}

TEST(Report, IsAPageForSmallAndDarkScreensAndForPaper) {
    Report report;
    report.measurements.emplace_back();
    report.measurements.back().asked = {workloads().data(), 64, 0};
    report.measurements.back().limit = 1;
    const std::string page = html_of(report);
    for (const char* const part :
         {R"(<meta name="viewport" content="width=device-width">)",
          "@media screen and (prefers-color-scheme:dark)", "<thead>", "break-inside:avoid",
          R"(<div class="wide"><table>)", R"(<table class="bars">)"}) {
        EXPECT_NE(page.find(part), std::string::npos) << part;
    }
    const std::string body = page.substr(page.find("</style>"));
    EXPECT_EQ(body.find('#'), std::string::npos) << "a colour that dark screens can't change";
}

// The targets that `draws` searches by `parameter` have.
std::set<std::string> searches_of(const SearchParameter& parameter, int draws) {
    generate::Dice dice(1);
    std::set<std::string> all;
    for (int i = 0; i < draws; ++i) {
        std::string target;
        put_search(target, parameter, dice);
        all.insert(target);
    }
    return all;
}

TEST(SearchMix, EscapesWhatSeparatesValues) {
    EXPECT_EQ(search_text("Smith & Sons, P.C."), "Smith%20%26%20Sons%5C%2C%20P.C.");
    EXPECT_EQ(search_text("a$b|c\\d"), "a%5C%24b%5C%7Cc%5C%5Cd");
}

TEST(SearchMix, DrawsEveryModifierPrefixAndForm) {
    using All = std::set<std::string>;
    EXPECT_EQ(searches_of({"/Patient?name", ParameterType::string, {{"Ada", "", ""}}}, 1000),
              (All{"/Patient?name=Ada", "/Patient?name:contains=Ada", "/Patient?name=absent",
                   "/Patient?name:contains=absent"}));
    const All dates =
        searches_of({"/Encounter?date", ParameterType::date, {{"2020", "", ""}}}, 5000);
    EXPECT_EQ(dates.size(), 16U);
    EXPECT_TRUE(dates.contains("/Encounter?date=2020"));
    EXPECT_TRUE(dates.contains("/Encounter?date=eb2020"));
    const All quantities = searches_of(
        {"/Observation?value-quantity", ParameterType::quantity, {{"5", "5%7Cu%7Ckg", ""}}}, 5000);
    EXPECT_EQ(quantities.size(), 18U);
    EXPECT_TRUE(quantities.contains("/Observation?value-quantity=le5%7Cu%7Ckg"));
    const All composites = searches_of(
        {"/Observation?code-value-quantity", ParameterType::composite, {{"c", "s%7Cc", "5"}}},
        5000);
    EXPECT_EQ(composites.size(), 18U);
    EXPECT_TRUE(composites.contains("/Observation?code-value-quantity=s%7Cc$gt5"));
    EXPECT_TRUE(composites.contains("/Observation?code-value-quantity=absent$0"));
    const All tokens =
        searches_of({"/Observation?code", ParameterType::token, {{"c", "s%7Cc", ""}}}, 5000);
    EXPECT_TRUE(tokens.contains("/Observation?code=c"));
    EXPECT_TRUE(tokens.contains("/Observation?code=s%7Cc"));
    EXPECT_TRUE(tokens.contains("/Observation?code=c,s%7Cc,c"));
    EXPECT_EQ(searches_of({"/Encounter?patient", ParameterType::reference, {{"Patient/1", "", ""}}},
                          1000),
              (All{"/Encounter?patient=Patient/1", "/Encounter?patient=Patient/absent"}));
}

}  // namespace
}  // namespace annals::bench
