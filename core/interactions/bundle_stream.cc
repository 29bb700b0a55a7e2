#include "core/interactions/bundle_stream.h"

#include "codec/json/document.h"
#include "codec/json/unicode.h"

#include <utility>

namespace annals::core {

namespace {

// A slice ends at this many entries or bytes: between slices, the loop serves other requests.
constexpr std::size_t kEntriesPerSlice = 64;
constexpr std::size_t kBytesPerSlice = 1 << 20;

// The entries from `next` on, slice by slice, and the Bundle's end.
class Slices final : public BodySource {
  public:
    explicit Slices(std::unique_ptr<EntrySource> entries) : entries_(std::move(entries)) {}

    bool next(Body& slice) override {
        for (std::size_t count = 0;
             next_ < entries_->size() && count < kEntriesPerSlice && slice.size() < kBytesPerSlice;
             ++count, ++next_) {
            begun_ = entries_->append(slice, next_, begun_ ? "," : R"(,"entry":[)") || begun_;
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

std::string escaped_base(std::string_view base_url) {
    std::string escaped;
    json::append_escaped(escaped, base_url);
    return escaped;
}

void append_links(std::string& head, const std::vector<BundleLink>& links) {
    head += R"("link":[)";
    std::string_view before = R"({"relation":")";
    for (const auto& [relation, url] : links) {
        head.append(before).append(relation).append(R"(","url":)");
        json::append_quoted(head, url);
        before = R"(},{"relation":")";
    }
    head += links.empty() ? "]" : "}]";
}

Response stream_bundle(std::string head, std::unique_ptr<EntrySource> entries) {
    Response response;
    response.cache_control = "no-cache";
    response.body = Body(std::move(head));
    Slices slices(std::move(entries));
    if (slices.next(response.body)) {
        response.more = std::make_unique<Slices>(std::move(slices));
    }
    return response;
}

}  // namespace annals::core
