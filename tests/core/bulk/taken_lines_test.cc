// TakenLines: as which version a line was stored that is read again, and which lines have none.

#include "core/bulk/taken_lines.h"

#include "codec/json/document.h"
#include "tests/support/commits.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>

namespace annals::core {
namespace {

class TakenLinesTest : public test::ServiceFixture {
  protected:
    using Scope = storage::Erase::Scope;

    /// Writes Patient `id`, and returns the version's position.
    Position put(std::string_view id, std::string_view text) {
        EXPECT_LT(put_patient(id, text), 300);
        return store().last_position();
    }

    Position remove(std::string_view id) {
        EXPECT_EQ(send("DELETE", fmt::format("/Patient/{}", id)).status, 204);
        return store().last_position();
    }

    void erase(std::string_view id, Scope scope, std::uint64_t version = 0) {
        test::CommitBuilder builder;
        builder.erase("Patient", id, scope, VersionNumber{version});
        const storage::Commit commit = builder.commit();
        const storage::Submission submission = store().submit(commit);
        ASSERT_EQ(submission.status, storage::Submission::Status::accepted);
        ASSERT_TRUE(store().wait(submission.ticket));
    }

    bool has(std::string_view id, std::string_view text, std::string_view type = "Patient") {
        json::Parser parser;
        const auto document = parser.parse(test::patient(id, text));
        const auto facts = json::read_facts(document->root());
        return lines_.has(*find_resource_type(type), id, &*facts);
    }

    bool has_deletion(std::string_view id, std::string_view type = "Patient") {
        return lines_.has(*find_resource_type(type), id, nullptr);
    }

    bool has_version(std::string_view id, std::uint64_t number) {
        HistoryEntry entry;
        entry.type = *find_resource_type("Patient");
        entry.id = id;
        entry.version = VersionNumber{number};
        return lines_.has(entry);
    }

    TakenLines lines_{store()};
};

TEST_F(TakenLinesTest, OfWhatIsNotReadAgainAreBehindAllThatIsThere) {
    const Position last = put("p", "a");
    EXPECT_FALSE(lines_.reading_again());
    EXPECT_EQ(lines_.position(), last);
}

TEST_F(TakenLinesTest, StandBehindTheLastThatWasFoundUntilOneIsWritten) {
    const Position before = put("p", "before");
    const Position first = put("p", "a");
    const Position second = put("p", "b");
    lines_.begin(before);
    EXPECT_TRUE(lines_.reading_again());
    EXPECT_EQ(lines_.position(), before);
    EXPECT_FALSE(has("p", "before")) << "that was before";
    lines_.note_written();
    EXPECT_EQ(lines_.position(), second);
    EXPECT_TRUE(has("p", "a"));
    EXPECT_EQ(lines_.position(), first);
    lines_.note_written();
    EXPECT_EQ(lines_.position(), second);
    const Position last = put("q", "x");
    EXPECT_EQ(lines_.position(), last);
    EXPECT_TRUE(has("p", "b"));
    EXPECT_FALSE(lines_.reading_again());
    EXPECT_FALSE(has("q", "x")) << "that came afterwards";
}

TEST_F(TakenLinesTest, AreFoundAmongTheVersionsOfTheirOwnResource) {
    const Position begun = put("q", "a");
    put("p", "a");
    remove("p");
    put("q", "b");
    lines_.begin(begun);
    EXPECT_FALSE(has_deletion("q"));
    EXPECT_FALSE(has_deletion("nobody"));
    EXPECT_FALSE(has_deletion("p", "Observation"));
    EXPECT_FALSE(has("p", "b"));
    EXPECT_TRUE(has("p", "a"));
    EXPECT_FALSE(has("p", "a")) << "each has its own";
    EXPECT_TRUE(has_deletion("p"));
}

TEST_F(TakenLinesTest, ThatDeleteWhatLivedBeforeAreNotTakenForWhatWasWrittenSince) {
    const Position lived = put("p", "a");
    put("p", "b");
    put("q", "a");
    lines_.begin(lived);
    EXPECT_FALSE(has_deletion("p")) << "it deletes what was there before";
    EXPECT_TRUE(has_deletion("q")) << "it deleted nothing";
    EXPECT_EQ(lines_.position(), lived);
}

TEST_F(TakenLinesTest, AreTakenForTheFirstOfTheResourcesVersionsThatWasErased) {
    const Position first = put("p", "a");
    const Position second = put("p", "b");
    put("p", "c");
    const Position last = put("p", "b");
    put("q", "x");
    erase("p", Scope::version, 2);
    erase("q", Scope::everything);
    lines_.begin(Position{0});
    EXPECT_TRUE(has_deletion("p")) << "it deleted nothing";
    EXPECT_EQ(lines_.position(), Position{0}) << "what was erased was no deletion";
    EXPECT_FALSE(has("other", "x"));
    EXPECT_TRUE(has("p", "a"));
    EXPECT_EQ(lines_.position(), first);
    EXPECT_TRUE(has("p", "b"));
    EXPECT_EQ(lines_.position(), second) << "not the one that says the same behind it";
    EXPECT_TRUE(has("p", "b"));
    EXPECT_EQ(lines_.position(), last);
    EXPECT_FALSE(has("p", "b"));
}

TEST_F(TakenLinesTest, AreNotTakenForWhatIsThereAndSaysSomethingElseBeforeWhatWasErased) {
    put("p", "a");
    const Position second = put("p", "b");
    put("p", "c");
    erase("p", Scope::version, 2);
    lines_.begin(Position{0});
    EXPECT_TRUE(has("p", "b"));
    EXPECT_EQ(lines_.position(), second);
}

TEST_F(TakenLinesTest, ThatDeleteAreTakenForDeletionsThatWereErasedAndOthersAreNot) {
    const Position first = put("p", "a");
    const Position deleted = remove("p");
    put("p", "b");
    erase("p", Scope::all_but_current);
    lines_.begin(Position{0});
    EXPECT_TRUE(has("p", "a"));
    EXPECT_EQ(lines_.position(), first);
    EXPECT_FALSE(has("p", "a")) << "no content was erased behind it";
    EXPECT_TRUE(has_deletion("p"));
    EXPECT_EQ(lines_.position(), deleted);
}

TEST_F(TakenLinesTest, WithTheirVersionNumbersAreSubmittedAgainAndTellHowFarItWas) {
    put("p", "a");
    const Position begun = put("p", "b");
    const Position third = put("p", "c");
    put("q", "x");
    lines_.begin(begun);
    const Position later = put("p", "d");
    EXPECT_FALSE(has_version("p", 1));
    EXPECT_EQ(lines_.position(), begun) << "it goes nowhere back";
    EXPECT_FALSE(has_version("p", 4));
    EXPECT_EQ(lines_.position(), begun) << "that came afterwards";
    EXPECT_FALSE(has_version("p", 9));
    EXPECT_EQ(lines_.position(), begun);
    lines_.note_written();
    EXPECT_EQ(lines_.position(), later);
    EXPECT_TRUE(lines_.reading_again());
    EXPECT_FALSE(has_version("p", 3));
    EXPECT_EQ(lines_.position(), third);
    EXPECT_FALSE(has_version("q", 1));
    EXPECT_FALSE(lines_.reading_again());
}

}  // namespace
}  // namespace annals::core
