#include "core/interactions/bundle_stream.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace annals::test {
namespace {

// `count` numbered entries, some of which are gone.
class Numbers final : public core::EntrySource {
  public:
    Numbers(std::size_t count, std::set<std::size_t> gone)
        : count_(count), gone_(std::move(gone)) {}

    std::size_t size() const noexcept override { return count_; }

    bool append(core::Body& body, std::size_t index, std::string_view before) override {
        if (gone_.contains(index)) {
            return false;
        }
        body.append(before);
        body.append(std::to_string(index));
        return true;
    }

  private:
    std::size_t count_;
    std::set<std::size_t> gone_;
};

// The whole Bundle, and the number of slices after the first.
std::string text_of(std::size_t count, std::set<std::size_t> gone, std::size_t& slices) {
    core::Response response =
        core::stream_bundle("{", std::make_unique<Numbers>(count, std::move(gone)));
    std::string text = response.body.str();
    slices = 0;
    bool more = response.more != nullptr;
    while (more) {
        core::Body slice;
        more = response.more->next(slice);
        text += slice.str();
        ++slices;
    }
    return text;
}

TEST(BundleStream, BeginsItsEntriesWithTheFirstThatIsThere) {
    std::size_t slices = 0;
    EXPECT_EQ(text_of(3, {}, slices), R"({,"entry":[0,1,2]})");
    EXPECT_EQ(text_of(3, {0}, slices), R"({,"entry":[1,2]})");
    EXPECT_EQ(text_of(3, {1}, slices), R"({,"entry":[0,2]})");
    EXPECT_EQ(text_of(3, {0, 1, 2}, slices), "{}");
    EXPECT_EQ(text_of(0, {}, slices), "{}");
    EXPECT_EQ(slices, 0U);
}

TEST(BundleStream, GoesOnInSlicesAlsoWhereAWholeOneIsGone) {
    std::set<std::size_t> gone;
    for (std::size_t i = 0; i < 100; ++i) {
        gone.insert(i);
    }
    std::size_t slices = 0;
    const std::string text = text_of(200, gone, slices);
    EXPECT_GT(slices, 0U);
    EXPECT_TRUE(text.starts_with(R"({,"entry":[100,101,)")) << text;
    EXPECT_TRUE(text.ends_with(",198,199]}")) << text;
}

TEST(BundleStream, SeparatesLinks) {
    std::string head;
    core::append_links(head, {});
    EXPECT_EQ(head, R"("link":[])");
    head.clear();
    core::append_links(head, {{"self", "a\"b"}});
    EXPECT_EQ(head, R"("link":[{"relation":"self","url":"a\"b"}])");
    head.clear();
    core::append_links(head, {{"self", "a"}, {"next", "b"}});
    EXPECT_EQ(head, R"("link":[{"relation":"self","url":"a"},{"relation":"next","url":"b"}])");
}

}  // namespace
}  // namespace annals::test
