#include "core/interactions/first_page.h"

#include <utility>

namespace annals::core {

namespace {

// How often a page is made, and within what fraction of the time limit it is begun again.
constexpr int kTimesMax = 3;
constexpr int kTimeShare = 4;

}  // namespace

FirstPage::FirstPage(const Service& service)
    : service_(service), erased_(service.store().totals().erased) {
}

bool FirstPage::is_outdated() {
    const std::uint64_t before = std::exchange(erased_, service_.store().totals().erased);
    const auto taken = std::chrono::steady_clock::now() - begin_;
    return erased_ != before && ++times_ < kTimesMax &&
           taken <= service_.config().limits.request_timeout / kTimeShare;
}

}  // namespace annals::core
