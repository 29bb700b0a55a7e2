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

using Texts = std::vector<std::string_view>;

TEST(TextMatches, FindsWhatLiesWithinOneText) {
    const Column column = core::search::column_of("name");
    const auto run = run_of(column, {"anna", "annabel", "hanna", "otto"});
    EXPECT_EQ(found(run, column, "anna"), (Texts{"anna", "annabel", "hanna"}));
    EXPECT_EQ(found(run, column, "otto"), (Texts{"otto"}));
    EXPECT_EQ(found(run, column, "t"), (Texts{"otto"}));
    EXPECT_EQ(found(run, column, "nn"), (Texts{"anna", "annabel", "hanna"}));
    EXPECT_EQ(found(run, column, "x"), Texts());
}

TEST(TextMatches, DoesNotFindWhatReachesFromOneTextIntoTheNext) {
    const Column column = core::search::column_of("name");
    const auto run = run_of(column, {"ab", "ca", "cab", "d"});
    EXPECT_EQ(found(run, column, "bc"), Texts());
    EXPECT_EQ(found(run, column, "ac"), Texts());
    EXPECT_EQ(found(run, column, "abd"), Texts());
    EXPECT_EQ(found(run, column, "ab"), (Texts{"ab", "cab"}));
    EXPECT_EQ(found(run, column, "abc"), Texts());
    // What begins before the end of one text and what begins the next one.
    EXPECT_EQ(found(run, column, "ca"), (Texts{"ca", "cab"}));
}

TEST(TextMatches, FindsAllForNoTextAndNothingInAnotherColumn) {
    const Column column = core::search::column_of("name");
    const auto run = run_of(column, {"a", "b"});
    EXPECT_EQ(found(run, column, ""), (Texts{"a", "b"}));
    EXPECT_EQ(found(run, core::search::column_of("other"), "a"), Texts());
    EXPECT_EQ(found(run, core::search::column_of("other"), ""), Texts());
}

}  // namespace
}  // namespace annals::test
