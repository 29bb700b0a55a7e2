// How an import packs what it reads, for destinations that keep everything and accept all but what is named "refused".

#include "tools/commands/import_packer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace annals::tools {
namespace {

/// One submission by a lane.
struct Sent {
    std::size_t lane = 0;
    std::string type;
    std::vector<std::string> entries;
    std::string text;
    int others = 0;  ///< submissions in flight when it came
};

struct SentByAll {
    std::mutex mutex;
    std::vector<Sent> sent;
    int under_way = 0;
};

class PackDestination final : public Destination {
  public:
    PackDestination(SentByAll& all, std::size_t lane) : all_(all), lane_(lane) {}

    Result<DestinationReply> submit(std::string_view bundle, bool /*repeatable*/) override {
        const auto document = parser_.parse(bundle);
        Sent sent{lane_, document->root()["type"].string(), {}, std::string(bundle), 0};
        std::string answer;
        for (const json::Value entry : document->root()["entry"].elements()) {
            sent.entries.emplace_back(entry.raw());
            const bool refused = entry.raw().find("Patient/refused") != std::string_view::npos;
            answer += fmt::format(R"({}{{"response":{{"status":"{}"}}}})",
                                  answer.empty() ? "" : ",", refused ? "400" : "201");
        }
        {
            const std::lock_guard lock(all_.mutex);
            sent.others = all_.under_way++;
            all_.sent.push_back(std::move(sent));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // others would overtake it
        const std::lock_guard lock(all_.mutex);
        --all_.under_way;
        return DestinationReply{
            200, R"({"resourceType":"Bundle","type":"batch-response","entry":[)" + answer + "]}"};
    }

  private:
    SentByAll& all_;
    std::size_t lane_;
    json::Parser parser_{kJsonWrappedDepthMax};
};

class ImportPackerTest : public ::testing::Test {
  protected:
    ImportPackerTest() { report_.files = {"in"}; }

    /// What is sent, in the order in which submissions began, with each of `texts` on a line of its own.
    std::vector<Sent> sent_of(std::size_t lanes, const std::vector<std::string>& texts,
                              bool bundles_are_resources = false) {
        SentByAll all;
        std::vector<std::unique_ptr<ImportLane>> all_lanes;
        for (std::size_t i = 0; i < lanes; ++i) {
            all_lanes.push_back(
                std::make_unique<ImportLane>(std::make_unique<PackDestination>(all, i), report_));
        }
        ImportPacker packer(all_lanes, report_);
        std::uint64_t line = 0;
        for (const std::string& text : texts) {
            packer.take(text, Origin{0, ++line, -1}, bundles_are_resources);
        }
        packer.finish();
        EXPECT_EQ(all.under_way, 0) << "what is finished is answered";
        return std::move(all.sent);
    }

    /// The entries of a history Bundle as they are sent.
    std::vector<std::string> history_of(const std::vector<std::string>& entries) {
        const auto sent = sent_of(1, {bundle("history", entries)});
        return sent.size() == 1 ? sent.front().entries : std::vector<std::string>();
    }

    static std::string bundle(std::string_view type, const std::vector<std::string>& entries) {
        return fmt::format(R"({{"resourceType":"Bundle","type":"{}","entry":[{}]}})", type,
                           fmt::join(entries, ","));
    }

    static std::string patient(std::string_view id, int number) {
        return fmt::format(R"({{"resourceType":"Patient","id":"{}","multipleBirthInteger":{}}})",
                           id, number);
    }

    static std::string put(std::string_view type, std::string_view id, std::string_view resource) {
        return fmt::format(R"({{"resource":{},"request":{{"method":"PUT","url":"{}/{}"}}}})",
                           resource, type, id);
    }

    static std::string version(std::string_view id, int number, std::string_view instant) {
        return fmt::format(
            R"({{"resource":{{"resourceType":"Patient","id":"{0}","meta":{{"versionId":"{1}","lastUpdated":"{2}"}}}},"request":{{"method":"PUT","url":"Patient/{0}"}}}})",
            id, number, instant);
    }

    static std::string deletion(std::string_view id, std::string_view response) {
        return fmt::format(
            R"({{"request":{{"method":"DELETE","url":"Patient/{}"}},"response":{}}})", id,
            response);
    }

    ImportReport report_;
};

TEST_F(ImportPackerTest, HasEachResourceOnOneLaneInItsOrder) {
    std::vector<std::string> texts;
    for (int number = 0; number < 1500; ++number) {
        texts.push_back(patient("p" + std::to_string(number % 8), number));
    }
    std::map<std::string, std::pair<std::size_t, std::vector<std::string>>> by_resource;
    std::set<std::size_t> lanes;
    json::Parser parser;
    for (const Sent& sent : sent_of(3, texts)) {
        EXPECT_EQ(sent.type, "batch");
        lanes.insert(sent.lane);
        for (const std::string& entry : sent.entries) {
            const auto read = parser.parse(entry);
            auto& [lane, entries] = by_resource[read->root()["request"]["url"].string()];
            EXPECT_TRUE(entries.empty() || lane == sent.lane) << entry;
            lane = sent.lane;
            entries.push_back(entry);
        }
    }
    ASSERT_EQ(by_resource.size(), 8U);
    EXPECT_GT(lanes.size(), 1U);
    for (int number = 0; number < 1500; ++number) {
        const std::string id = "p" + std::to_string(number % 8);
        const auto& entries = by_resource["Patient/" + id].second;
        ASSERT_GT(entries.size(), static_cast<std::size_t>(number / 8));
        EXPECT_EQ(entries[static_cast<std::size_t>(number / 8)],
                  put("Patient", id, patient(id, number)));
    }
    EXPECT_EQ(report_.done_count(), 1500U);
}

TEST_F(ImportPackerTest, SpreadsWhatHasNoIdOverAllLanes) {
    const std::vector<std::string> texts(9, R"({"resourceType":"Patient"})");
    const auto sent = sent_of(3, texts);
    ASSERT_EQ(sent.size(), 3U);
    std::set<std::size_t> lanes;
    for (const Sent& one : sent) {
        lanes.insert(one.lane);
        EXPECT_EQ(
            one.entries,
            std::vector<std::string>(
                3,
                R"({"resource":{"resourceType":"Patient"},"request":{"method":"POST","url":"Patient"}})"));
    }
    EXPECT_EQ(lanes.size(), 3U);
}

TEST_F(ImportPackerTest, SendsNoMoreAtOnceThanItsLimits) {
    const auto sizes = [&](const std::vector<std::string>& texts) {
        std::vector<std::size_t> counts;
        for (const Sent& sent : sent_of(1, texts)) {
            counts.push_back(sent.entries.size());
        }
        return counts;
    };
    using Sizes = std::vector<std::size_t>;
    EXPECT_EQ(sizes(std::vector<std::string>(257, R"({"resourceType":"Patient"})")),
              (Sizes{256, 1}));
    EXPECT_EQ(sizes(std::vector<std::string>(2001, deletion("a", "{}"))), (Sizes{2000, 1}));
    const std::string large =
        R"({"resourceType":"Patient","x":")" + std::string(3 << 20, 'x') + R"("})";
    EXPECT_EQ(sizes({large, large, large, large}), (Sizes{3, 1})) << "8 MB end a pack";
    EXPECT_EQ(report_.refused_count(), 0U);
}

TEST_F(ImportPackerTest, SendsHistoryAloneOnTheFirstLaneBehindWhatCameBefore) {
    const std::string one = version("h", 1, "2024-01-01T00:00:00Z");
    const std::string two = version("h", 2, "2024-01-02T00:00:00Z");
    std::vector<std::string> texts;
    for (int i = 0; i < 6; ++i) {
        texts.push_back(patient("before" + std::to_string(i), i));
    }
    texts.insert(texts.end(), {one, bundle("history", {two}), patient("h", 3),
                               bundle("transaction", {put("Patient", "h", patient("h", 4))}), one});
    const auto sent = sent_of(3, texts);
    std::vector<std::size_t> histories;
    for (std::size_t i = 0; i < sent.size(); ++i) {
        if (sent[i].type == "history") {
            histories.push_back(i);
        }
    }
    ASSERT_EQ(histories.size(), 2U) << "entries on lines and in Bundles go together";
    EXPECT_GT(histories[0], 1U) << "what came before it is on more than one lane";
    EXPECT_EQ(sent[histories[0]].entries, (std::vector<std::string>{one, two}));
    EXPECT_EQ(histories[1], sent.size() - 1);
    for (const std::size_t i : {histories[0], histories[0] + 1, histories[1]}) {
        EXPECT_EQ(sent[i].others, 0) << sent[i].text;
    }
    for (const std::size_t i : histories) {
        EXPECT_EQ(sent[i].lane, 0U);
    }
}

TEST_F(ImportPackerTest, CarriesOutATransactionAsItStandsAmongWhatItsLaneHas) {
    for (const std::string_view type : {"transaction", "batch"}) {
        const std::string whole =
            bundle(type, {put("Patient", "b", patient("b", 1)), put("Patient", "c", "null")});
        const auto sent = sent_of(1, {patient("a", 1), whole, patient("a", 2)});
        ASSERT_EQ(sent.size(), 3U);
        EXPECT_EQ(sent[0].entries, std::vector{put("Patient", "a", patient("a", 1))});
        EXPECT_EQ(sent[1].text, whole);
        EXPECT_EQ(sent[2].entries, std::vector{put("Patient", "a", patient("a", 2))});
    }
    std::set<std::size_t> lanes;
    for (const Sent& sent : sent_of(2, {bundle("batch", {}), bundle("transaction", {})})) {
        lanes.insert(sent.lane);
    }
    EXPECT_EQ(lanes.size(), 2U) << "they go round";
    const auto sent = sent_of(2, {bundle("batch", {}), deletion("a", "{}"), bundle("batch", {})});
    ASSERT_EQ(sent.size(), 3U);
    EXPECT_EQ(sent[1].type, "history");
    EXPECT_EQ(sent[1].others + sent[2].others, 0) << "history is alone here, too";
    EXPECT_EQ(report_.refused_count(), 0U);
    EXPECT_EQ(report_.done_count(), 9U);
}

TEST_F(ImportPackerTest, StoresDocumentsAndTakesOthersApart) {
    const auto with_id = [](std::string_view type, const std::string& entries) {
        return fmt::format(R"({{"resourceType":"Bundle","id":"{0}","type":"{0}","entry":[{1}]}})",
                           type, entries);
    };
    const std::string inner = R"({"resource":)" + patient("a", 1) + "}";
    for (const std::string_view type : {"document", "message"}) {
        const auto sent = sent_of(1, {with_id(type, inner)});
        ASSERT_EQ(sent.size(), 1U);
        EXPECT_EQ(sent[0].entries, std::vector{put("Bundle", type, with_id(type, inner))});
    }
    // Remarks of a server and entries without a resource are not resources.
    const std::string found = with_id(
        "searchset",
        R"({"resource":{"resourceType":"OperationOutcome","id":"o"},"search":{"mode":"outcome"}},{"fullUrl":"x"},)" +
            inner);
    auto sent = sent_of(1, {found});
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].entries, std::vector{put("Patient", "a", patient("a", 1))});
    // In exports, Bundles are resources themselves.
    sent = sent_of(1, {found}, true);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].entries, std::vector{put("Bundle", "searchset", found)});
    EXPECT_EQ(report_.refused_count(), 0U);
}

TEST_F(ImportPackerTest, TakesAnEntryOfAHistoryThatSaysNothingOfItsRequest) {
    // Microsoft's server gives those of versions that were imported there.
    const std::string entry =
        R"({"fullUrl":"http://a/Patient/a/_history/2","resource":)" + patient("a", 2) + "}";
    testing::internal::CaptureStderr();
    const auto sent =
        sent_of(1, {entry, R"({"search":{"mode":"match"},"resource":)" + patient("b", 1) + "}"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "in:2: 400 this is neither a resource nor a history entry\n");
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].entries, std::vector{entry});
}

TEST_F(ImportPackerTest, NamesTheEntryThatIsRefusedByItsPlaceInTheInput) {
    testing::internal::CaptureStderr();
    const auto sent =
        sent_of(1, {bundle("collection", {R"({"resource":{"resourceType":"Patient","id":"b c"}})",
                                          R"({"resource":{"resourceType":"Patient","id":"a"}})",
                                          R"({"resource":{"resourceType":"Nothing"}})"}),
                    R"({"request":[]})",
                    // Sent in reverse order, and without the remark.
                    bundle("history", {version("refused", 2, "2024-01-02T00:00:00Z"),
                                       R"({"resource":{},"search":{"mode":"outcome"}})",
                                       version("refused", 1, "2024-01-01T00:00:00Z")}),
                    R"({"response":{"location":"Patient/refused/_history/3"}})"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "in:1: entry[0]: 400 'b c' is not a valid id\nin:1: entry[2]: 400 unknown "
              "resourceType 'Nothing'\nin:2: 400 this is neither a resource nor a history "
              "entry\nin:3: entry[2]: 400 \nin:3: entry[0]: 400 \nin:4: 400 \n");
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(sent[0].entries.size(), 1U);
    EXPECT_EQ(report_.refused_count(), 6U);
}

TEST_F(ImportPackerTest, DatesOnlyADeletionThatSaysNoInstantAndHasOneBeforeIt) {
    const std::string dated =
        deletion("a", R"({"status":"204","lastModified":"2025-01-01T00:00:00Z"})");
    const std::string undated = deletion("a", R"({"status":"204"})");
    EXPECT_EQ(history_of({undated}), std::vector{undated}) << "nothing came before it";
    const std::string first = version("b", 1, "2024-01-01T00:00:00Z");
    const std::string nameless = R"({"request":{"method":"DELETE","url":"Patient/c"}})";
    EXPECT_EQ(
        history_of(
            {first, version("b", 2, "no instant"), dated, nameless, undated, deletion("c", "{}")}),
        (std::vector{first, version("b", 2, "no instant"), dated, nameless,
                     deletion("a", R"({"status":"204","lastModified":"2024-01-01T00:00:00Z"})"),
                     deletion("c", R"({"lastModified":"2024-01-01T00:00:00Z"})")}));
    // An entry with a resource has its instant there.
    const std::string answered =
        R"({"resource":{"resourceType":"Patient","id":"d"},"response":{"status":"200"}})";
    EXPECT_EQ(history_of({first, answered}), (std::vector{first, answered}));
}

TEST_F(ImportPackerTest, PutsTheOldestOfEachResourceFirst) {
    const std::string day = "2024-01-01T00:00:00Z";
    const std::string a1 = version("a", 1, day);
    const std::string a2 = version("a", 2, day);
    const std::string b1 = version("b", 1, day);
    const std::string b2 = version("b", 2, day);
    const std::string c1 = version("c", 1, day);
    using Entries = std::vector<std::string>;
    EXPECT_EQ(history_of({c1, a2, b1, a1}), (Entries{a1, b1, a2, c1})) << "all is turned round";
    EXPECT_EQ(history_of({c1, a1, b1, a2}), (Entries{c1, a1, b1, a2}));
    EXPECT_EQ(history_of({c1, a2, b1, a1, b2}), (Entries{c1, a1, b1, a2, b2}))
        << "as many go up as down: only what is the wrong way round changes places";
    EXPECT_EQ(history_of({c1, a1, a1, b1}), (Entries{c1, a1, a1, b1})) << "twice the same";
}

TEST_F(ImportPackerTest, GoesByInstantsWhereEachResourceHasOneVersion) {
    const std::string a3 = version("a", 3, "2024-01-03T00:00:00Z");
    const std::string b1 = version("b", 1, "2024-01-03T01:00:00+02:00");
    const std::string c1 = version("c", 1, "2024-01-01T00:00:00Z");
    const std::string gone = deletion("d", R"({"etag":"W/\"2\""})");
    const std::string dated =
        deletion("d", R"({"etag":"W/\"2\"","lastModified":"2024-01-01T00:00:00Z"})");
    using Entries = std::vector<std::string>;
    EXPECT_EQ(history_of({a3, b1, gone, c1}), (Entries{c1, dated, b1, a3}));
    EXPECT_EQ(history_of({a3, b1, b1, c1}), (Entries{c1, b1, b1, a3})) << "twice the same";
    EXPECT_EQ(history_of({c1, b1, a3}), (Entries{c1, b1, a3}));
    EXPECT_EQ(history_of({b1, c1, a3}), (Entries{b1, c1, a3}))
        << "a store that keeps others' instants";
    const std::string a4 = version("a", 4, "2024-01-01T00:00:00Z");
    EXPECT_EQ(history_of({a3, a4}), (Entries{a3, a4})) << "a clock that went back";
}

}  // namespace
}  // namespace annals::tools
