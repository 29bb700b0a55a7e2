#include "core/search/text_matches.h"

#include "core/search/terms.h"
#include "storage/search_entries.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace annals::test {
namespace {

using core::search::Column;
using core::search::TextMatches;
using storage::IndexedDocument;
using storage::SearchEntries;
using storage::SearchRun;

// A run of one document with these texts.
std::shared_ptr<const SearchRun> run_of(Column column, const std::vector<std::string>& texts) {
    SearchEntries entries;
    for (const std::string& text : texts) {
        entries.add_text(column, text);
    }
    const IndexedDocument document{Position{1}, 1, &entries};
    return SearchRun::build({&document, 1});
}

std::vector<std::string_view> found(const std::shared_ptr<const SearchRun>& run, Column column,
                                    std::string_view needle) {
    const TextMatches::Texts matches = TextMatches().get(run, column, needle);
    std::vector<std::string_view> texts;
    for (const std::uint32_t text : *matches) {
        texts.push_back(run->text(text));
    }
    return texts;
}

using Words = std::vector<std::string_view>;

TEST(TextMatches, FindsWhatLiesWithinOneText) {
    const Column column = core::search::column_of("name");
    const auto run = run_of(column, {"anna", "annabel", "hanna", "otto"});
    EXPECT_EQ(found(run, column, "anna"), (Words{"anna", "annabel", "hanna"}));
    EXPECT_EQ(found(run, column, "otto"), (Words{"otto"}));
    EXPECT_EQ(found(run, column, "t"), (Words{"otto"}));
    EXPECT_EQ(found(run, column, "nn"), (Words{"anna", "annabel", "hanna"}));
    EXPECT_EQ(found(run, column, "x"), Words());
}

TEST(TextMatches, DoesNotFindWhatReachesFromOneTextIntoTheNext) {
    const Column column = core::search::column_of("name");
    const auto run = run_of(column, {"ab", "ca", "cab", "d"});
    EXPECT_EQ(found(run, column, "bc"), Words());
    EXPECT_EQ(found(run, column, "ac"), Words());
    EXPECT_EQ(found(run, column, "abd"), Words());
    EXPECT_EQ(found(run, column, "ab"), (Words{"ab", "cab"}));
    EXPECT_EQ(found(run, column, "abc"), Words());
    // Matches at the end of one text and at the beginning of the next.
    EXPECT_EQ(found(run, column, "ca"), (Words{"ca", "cab"}));
}

TEST(TextMatches, FindsNothingInAnotherColumn) {
    const auto run = run_of(core::search::column_of("name"), {"a", "b"});
    EXPECT_EQ(found(run, core::search::column_of("other"), "a"), Words());
}

TEST(TextMatches, KeepsThoseOfEachColumnAndText) {
    const Column family = core::search::column_of("family");
    const Column given = core::search::column_of("given");
    SearchEntries entries;
    entries.add_text(family, "anna");
    entries.add_text(given, "hanna");
    const IndexedDocument document{Position{1}, 1, &entries};
    const auto run = SearchRun::build({&document, 1});
    TextMatches matches;
    for (int time = 0; time < 2; ++time) {
        EXPECT_EQ(run->text(matches.get(run, family, "anna")->front()), "anna");
        EXPECT_EQ(run->text(matches.get(run, given, "anna")->front()), "hanna");
        EXPECT_TRUE(matches.get(run, family, "h")->empty());
    }
}

}  // namespace
}  // namespace annals::test
