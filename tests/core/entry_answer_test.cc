// The answers of entries that are produced in slices.

#include "core/interactions/entry_answer.h"

#include "tests/support/service_fixture.h"

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

namespace annals::core {
namespace {

using EntryAnswer = test::ServiceFixture;

/// Slices that view the same bytes, which change meanwhile.
class Changing final : public BodySource {
  public:
    explicit Changing(std::string& text) : text_(text) {}

    bool next(Body& slice) override {
        for (char& c : text_) {
            ++c;
        }
        slice.append_view(text_, nullptr);
        return text_[0] != 'c';
    }

  private:
    std::string& text_;
};

TEST_F(EntryAnswer, HasWhatItsSlicesViewedWhenTheyWereDrawn) {
    std::string text = "aaa";
    Response response;
    response.body.append_view(text, nullptr);
    response.more = std::make_unique<Changing>(text);
    Request request;
    request.loop = &loop();
    AnswerBudget budget(service().config());
    Turns turns(loop());
    std::future<void> drawn;
    on_loop([&] {
        drawn = asio::co_spawn(loop().context(),
                               draw_answer(request, EntryUse::read, budget, turns, response),
                               asio::use_future);
    });
    drawn.get();
    EXPECT_EQ(response.body.str(), "aaabbbccc");
}

}  // namespace
}  // namespace annals::core
