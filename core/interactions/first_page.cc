#include "core/interactions/first_page.h"

#include "core/outcome.h"

#include <utility>

namespace annals::core {

namespace {

// How often a page is made, and within what fraction of the time limit it is begun again.
constexpr int kTimesMax = 3;
constexpr int kTimeShare = 4;

bool is_about_effort(const Response& response) {
    return response.status == meaning_of(Errc::too_costly).status ||
           response.status == meaning_of(Errc::timeout).status;  // also that of Errc::overloaded
}

}  // namespace

FirstPage::FirstPage(const Service& service)
    : service_(service), erased_(service.store().totals().erased) {
}

bool FirstPage::begin_again(const Response& made) {
    const std::uint64_t before = std::exchange(erased_, service_.store().totals().erased);
    const auto taken = std::chrono::steady_clock::now() - begin_;
    return erased_ != before && !is_about_effort(made) && ++times_ < kTimesMax &&
           taken <= service_.config().limits.request_timeout / kTimeShare;
}

asio::awaitable<Response> answer_as_first_page(const Service& service, const Request& request,
                                               const Target& target, HandlerInTurns make) {
    Turns turns(*request.loop, service.config().limits.request_timeout);
    FirstPage first(service);
    for (;;) {
        Response response = co_await make(service, request, target, turns);
        if (!first.begin_again(response)) {
            co_return response;
        }
    }
}

}  // namespace annals::core
