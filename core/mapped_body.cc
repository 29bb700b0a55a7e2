#include "core/mapped_body.h"

#include <memory>
#include <utility>

namespace annals::core {

namespace {

/// Size of a slice, sent between two checks of what is in memory. Anything that net compresses as a whole is smaller.
constexpr std::size_t kMappedSliceBytes = 512 << 10;

/// How much is brought into memory before a slice is drawn: as much as core/transform.cc draws at once, so that the device is
/// busy while a slice is sent.
constexpr std::size_t kAheadBytes = 2 << 20;

class MappedSlices final : public BodySource {
  public:
    MappedSlices(std::string_view bytes, Body::Pin pin) : left_(bytes), pin_(std::move(pin)) {}

    std::string_view unread_bytes() const noexcept override { return left_.substr(0, kAheadBytes); }

    std::optional<std::uint64_t> size_left() const noexcept override { return left_.size(); }

    bool next(Body& slice) override {
        const std::string_view bytes = left_.substr(0, kMappedSliceBytes);
        slice.append_view(bytes, pin_);
        left_.remove_prefix(bytes.size());
        return !left_.empty();
    }

  private:
    std::string_view left_;
    Body::Pin pin_;
};

}  // namespace

asio::awaitable<void> put_mapped(Loop& loop, std::string_view bytes, Body::Pin pin,
                                 Response& response) {
    auto slices = std::make_unique<MappedSlices>(bytes, std::move(pin));
    co_await loop.fetched(slices->unread_bytes());
    if (slices->next(response.body)) {
        response.more = std::move(slices);
    }
}

}  // namespace annals::core
