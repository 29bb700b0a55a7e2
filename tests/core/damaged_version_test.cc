// A version whose bytes are damaged on disk: reading or erasing it is answered with 500; searches and histories name it in its
// place.

#include "storage/format.h"
#include "tests/support/files.h"
#include "tests/support/service_fixture.h"

#include <fstream>

namespace annals::test {
namespace {

class DamagedVersion : public ServiceFixture {
  protected:
    /// Overwrites the first character of `text`, which is in the first segment once.
    void damage(const std::string& text) {
        const std::string path = data() + "/segments/" + storage::segment_name(1);
        const std::size_t at = read_whole_file(path).find(text);
        ASSERT_NE(at, std::string::npos);
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(at)).put('~');
    }
};

TEST_F(DamagedVersion, IsNamedInItsPlaceAndKeepsNothingElseFromBeingRead) {
    ASSERT_EQ(put_patient("1", "Intact"), 201);
    ASSERT_EQ(put_patient("1", "Broken"), 200);
    ASSERT_EQ(put_patient("2", "Other"), 201);
    damage("Broken");

    EXPECT_EQ(send("GET", "/Patient/1").status, 500);
    EXPECT_EQ(send("GET", "/Patient/1/_history/2").status, 500);
    EXPECT_EQ(send("GET", "/Patient/1/_history/1").status, 200);

    const Answer found = send("GET", "/Patient?_id=1,2");
    EXPECT_EQ(found.status, 200);
    EXPECT_TRUE(found.says("A Patient that matches is damaged in the store")) << found.body;
    EXPECT_TRUE(found.says(R"("search":{"mode":"outcome"})")) << found.body;
    EXPECT_TRUE(found.says("Other")) << found.body;

    for (const std::string_view target :
         {"/Patient/1/_history", "/Patient/_history", "/_history"}) {
        const Answer history = send("GET", target);
        const auto document = bundle_in(history, "history");
        ASSERT_TRUE(document) << target << history.body;
        std::size_t damaged = 0;
        for (const json::Value entry : document->root()["entry"].elements()) {
            const json::Value response = entry["response"];
            if (response["outcome"]) {
                ++damaged;
                EXPECT_FALSE(entry["resource"]);
                EXPECT_EQ(response["status"].string(), "500 Internal Server Error");
                EXPECT_EQ(response["etag"].string(), "W/\"2\"");
                EXPECT_TRUE(response["lastModified"]);
            } else {
                EXPECT_TRUE(entry["resource"]);
            }
        }
        EXPECT_EQ(damaged, 1U) << target;
        EXPECT_EQ(document->root()["entry"].size(),
                  document->root()["total"].raw() == "2" ? 2U : 3U);
    }
}

TEST_F(DamagedVersion, ThatIsErasedIsToldOnceToLeaveItsBytes) {
    core::Config config;
    config.hard_delete = true;
    config.delete_absent = 204;
    restart(config);
    ASSERT_EQ(put_patient("1", "Broken"), 201);
    ASSERT_EQ(put_patient("2"), 201);
    damage("Broken");
    const Answer told = send("DELETE", "/Patient/1");
    EXPECT_EQ(told.status, 500);
    EXPECT_TRUE(told.says("its bytes could not be removed from the disk")) << told.body;
    // Nothing would ever remove them, and other deletions are not affected.
    EXPECT_EQ(send("DELETE", "/Patient/1").status, 204);
    EXPECT_EQ(send("DELETE", "/Patient/2").status, 204);
    EXPECT_EQ(send("DELETE", "/Patient/2").status, 204);
}

}  // namespace
}  // namespace annals::test
