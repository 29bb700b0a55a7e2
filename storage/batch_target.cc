#include "storage/batch_target.h"

#include <algorithm>

namespace annals::storage {
namespace {

/// One of so many batches waits for all.
constexpr unsigned kRounds = 16;

/// With fewer writers a sync more costs more than what is done beside it.
constexpr std::size_t kWritersMin = 8;

/// How many of a hundred writers are left to the next batch at most: a sync costs, too.
constexpr std::size_t kRestPercent = 28;

/// A new time counts for so much of the running mean: 1/8.
constexpr int kRecentShare = 8;

}  // namespace

void BatchTarget::closed(std::size_t commits, Duration gathered) noexcept {
    if (round_ == 0) {
        writers_ = commits;
        gathered_ = gathered;
    }
    round_ = (round_ + 1) % kRounds;
    enough_ = 0;
    // Where the device takes longer than serving them, what counts is how many share a sync.
    if (round_ == 0 || writers_ < kWritersMin || gathered_ < write_time_) {
        return;
    }
    const auto served = static_cast<double>(writers_) * static_cast<double>(write_time_.count()) /
                        static_cast<double>(gathered_.count());
    const auto most = writers_ * kRestPercent / 100;
    enough_ = writers_ - std::min(static_cast<std::size_t>(served), most);
}

void BatchTarget::written(Duration took) noexcept {
    write_time_ += write_time_.count() == 0 ? took : (took - write_time_) / kRecentShare;
}

}  // namespace annals::storage
