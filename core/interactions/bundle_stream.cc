#include "core/interactions/bundle_stream.h"

#include "codec/json/document.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

// A slice ends when it has so many entries or bytes: between slices other requests of the loop get their turn.
constexpr std::size_t kSliceEntriesMax = 64;
constexpr std::size_t kSliceBytesMax = 1 << 20;

// The entries from `next` on, slice by slice, and the Bundle's end.
class Slices final : public BodySource {
  public:
    explicit Slices(std::unique_ptr<EntrySource> entries) : entries_(std::move(entries)) {}

    bool next(Body& slice) override {
        for (std::size_t count = 0;
             next_ < entries_->size() && count < kSliceEntriesMax && slice.size() < kSliceBytesMax;
             ++count, ++next_) {
            if (!begun_) {
                slice.append(R"(,"entry":[)");
            }
            if (entries_->append(slice, next_, !begun_)) {
                begun_ = true;
            } else if (!begun_) {
                // What would have been the first entry is gone: the array begins with the next one.
                slice.clear();
            }
        }
        if (next_ < entries_->size()) {
            return true;
        }
        slice.append(begun_ ? "]}" : "}");
        return false;
    }

  private:
    std::unique_ptr<EntrySource> entries_;
    std::size_t next_ = 0;
    bool begun_ = false;
};

}  // namespace

void append_links(std::string& head, const std::vector<BundleLink>& links) {
    head += R"("link":[)";
    bool first = true;
    for (const auto& [relation, url] : links) {
        head += fmt::format(R"({}{{"relation":"{}","url":)", first ? "" : ",", relation);
        json::append_quoted(head, url);
        head += '}';
        first = false;
    }
    head += ']';
}

Response stream_bundle(std::string_view head, std::unique_ptr<EntrySource> entries) {
    Response response;
    response.cache_control = "no-cache";
    response.body.append(head);
    auto slices = std::make_unique<Slices>(std::move(entries));
    Body slice;
    const bool more = slices->next(slice);
    response.body.append(std::move(slice));
    if (more) {
        response.more = std::move(slices);
    }
    return response;
}

}  // namespace annals::core
