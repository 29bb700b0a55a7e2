#include "codec/xml/narrative_links.h"

#include <gtest/gtest.h>

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace annals::xml {
namespace {

std::optional<std::string> rewritten(std::string_view raw) {
    return rewrite_narrative(raw, [](std::string_view url) -> std::optional<std::string> {
        if (url == "urn:uuid:1") {
            return "Patient/1";
        }
        if (url == "a&b\"") {
            return "c&'\"<";
        }
        return std::nullopt;
    });
}

TEST(NarrativeLinks, AreRewrittenAndNothingElse) {
    EXPECT_EQ(
        rewritten(
            R"(<div><a href=\"urn:uuid:1\">x</a> urn:uuid:1 \u00e9\/<img alt='' src='urn:uuid:1'/></div>)"),
        R"(<div><a href=\"Patient/1\">x</a> urn:uuid:1 \u00e9\/<img alt='' src='Patient/1'/></div>)");
    EXPECT_EQ(rewritten(R"(<a\n\tclass=\"a>b\" href \r= \u0022urn:uuid:\u0031\u0022>)"),
              R"(<a\n\tclass=\"a>b\" href \r= \u0022Patient/1\u0022>)");
    EXPECT_EQ(rewritten(R"(\ud83d\ude00é<a href='urn:uuid:1'>\ud83d\ude00<a href='urn:uuid:1'>)"),
              R"(\ud83d\ude00é<a href='Patient/1'>\ud83d\ude00<a href='Patient/1'>)");
}

TEST(NarrativeLinks, AreReadAndWrittenWithReferences) {
    EXPECT_EQ(rewritten(R"(<a href='a&amp;b&quot;'><a href='&#97;&#x26;b&#34;'>)"),
              R"(<a href='c&amp;&apos;&quot;&lt;'><a href='c&amp;&apos;&quot;&lt;'>)");
}

TEST(NarrativeLinks, KeepReferencesToWhatIsNoCharacter) {
    std::string urls;
    rewrite_narrative(
        "<a href='&#xd7ff;&#xe000;&#x10ffff;'><a "
        "href='&#xd800;&#xdfff;&#x110000;&#0;&#;&#117x;&x117;'>",
        [&](std::string_view url) -> std::optional<std::string> {
            urls.append(url).append(" ");
            return std::nullopt;
        });
    EXPECT_EQ(urls,
              "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf "
              "&#xd800;&#xdfff;&#x110000;&#0;&#;&#117x;&x117; ");
}

TEST(NarrativeLinks, AreNotInOtherAttributes) {
    EXPECT_EQ(rewritten(R"(<a href='urn:uuid:1' title=\"<a href='urn:uuid:1'>\">)"),
              R"(<a href='Patient/1' title=\"<a href='urn:uuid:1'>\">)");
}

TEST(NarrativeLinks, TakeTimeByTheirLength) {
    const auto time = [](std::size_t size) {
        const std::string link = "<a href='" + std::string(size, '&') + "'>";
        const std::clock_t begin = std::clock();
        EXPECT_FALSE(rewritten(link));
        return std::clock() - begin;
    };
    // Each ampersand used to start a search for a semicolon.
    EXPECT_LT(time(1'000'000), 200 * (time(20'000) + CLOCKS_PER_SEC / 1000));
}

TEST(NarrativeLinks, AreLeftAloneWhereNoneChanges) {
    for (const std::string_view raw : {"",
                                       "text",
                                       "<",
                                       "<a",
                                       "<a ",
                                       "<a href",
                                       "<a href=",
                                       "<a href='",
                                       "<a href='urn:uuid:1",
                                       "<a href=urn:uuid:1>",
                                       "<a href=xurn:uuid:1x>",
                                       "<a href x'urn:uuid:1'>",
                                       "<a ='x' href='urn:uuid:1'>",
                                       "<img alt='urn:uuid:1'>",
                                       "<img href='urn:uuid:1'>",
                                       "<p href='urn:uuid:1'>",
                                       "<a src='urn:uuid:1'>",
                                       "<a title='urn:uuid:1'>",
                                       "<!-- <a href='urn:uuid:1'> -->",
                                       "<![CDATA[<a href='urn:uuid:1'>]]>",
                                       "<!-- > <a href='urn:uuid:1'> -->",
                                       "<![CDATA[ > <a href='urn:uuid:1'>]]>",
                                       "<?x > <a href='urn:uuid:1'?>",
                                       "<!x <a href='urn:uuid:1'>",
                                       "<?x <a href='urn:uuid:1'?>",
                                       "</a href='urn:uuid:1'>",
                                       "<p title=\\\"<a href='urn:uuid:1'>\\\">",
                                       "<a href='urn:uuid:2'>",
                                       "<!--",
                                       "<abbr href='urn:uuid:1'>",
                                       "&",
                                       "<a href='&#xffffff;&#0;&nope;&'>"}) {
        EXPECT_FALSE(rewritten(raw)) << raw;
    }
}

}  // namespace
}  // namespace annals::xml
