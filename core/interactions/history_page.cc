#include "core/interactions/history_page.h"

#include "codec/json/document.h"
#include "core/base/log.h"
#include "core/outcome.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

// A slice ends when it has so many entries or bytes: between slices other requests of the loop get their turn.
constexpr std::size_t kSliceEntriesMax = 64;
constexpr std::size_t kSliceBytesMax = 1 << 20;

// The entries from `next` on, slice by slice, and the Bundle's end.
class Slices final : public BodySource {
  public:
    Slices(const Service& service, std::string_view base_url,
           std::vector<storage::VersionInfo> versions)
        : service_(service), base_url_(json::quoted(base_url)), versions_(std::move(versions)) {
        base_url_ = base_url_.substr(1, base_url_.size() - 2);
    }

    bool next(Body& slice) override {
        for (std::size_t count = 0;
             next_ < versions_.size() && count < kSliceEntriesMax && slice.size() < kSliceBytesMax;
             ++count, ++next_) {
            if (!begun_) {
                slice.append(R"(,"entry":[)");
            }
            if (append_history_entry(slice, service_, base_url_, versions_[next_], !begun_)) {
                begun_ = true;
            } else if (!begun_) {
                // What would have been the first entry is gone: the array begins with the next one.
                slice.clear();
            }
        }
        if (next_ < versions_.size()) {
            return true;
        }
        slice.append(begun_ ? "]}" : "}");
        return false;
    }

  private:
    const Service& service_;
    std::string base_url_;  // escaped
    std::vector<storage::VersionInfo> versions_;
    std::size_t next_ = 0;
    bool begun_ = false;
};

std::string_view entry_status(const storage::VersionInfo& info) noexcept {
    if (info.deletion) {
        return "410 Gone";
    }
    return info.version.value == 1 ? "201 Created" : "200 OK";
}

}  // namespace

std::string_view history_method(const storage::VersionInfo& info) noexcept {
    if (info.deletion) {
        return "DELETE";
    }
    return info.version.value == 1 ? "POST" : "PUT";
}

bool append_history_entry(Body& body, const Service& service, std::string_view base_url,
                          const storage::VersionInfo& info, bool first) {
    const Result<storage::StoredVersion> stored = service.store().load(info);
    if (!stored && stored.error().code == Errc::not_found) {
        return false;
    }
    const std::string_view separator = first ? "" : ",";
    const std::string_view type = resource_type_name(info.type);
    const std::string instant = format_instant(info.instant);
    if (!stored) {
        log_error(fmt::format("history: {}", stored.error().detail));
        const ErrorMeaning meaning = meaning_of(stored.error().code);
        body.append(fmt::format(
            R"({}{{"response":{{"status":"{}","etag":"W/\"{}\"","lastModified":"{}","outcome":{}}}}})",
            separator, status_text(meaning.status), info.version.value, instant,
            outcome_json({{"error", meaning.issue_code,
                           fmt::format("This {} version is damaged in the store", type), ""}})));
        return true;
    }

    const std::string_view id = stored->id;
    body.append(fmt::format(R"({}{{"fullUrl":"{}/{}/{}/_history/{}")", separator, base_url, type,
                            id, info.version.value));
    if (!info.deletion) {
        body.append(R"(,"resource":)");
        body.append_view(stored->body, stored->pin);
    }
    body.append(fmt::format(
        R"(,"request":{{"method":"{}","url":"{}/{}"}},)"
        R"("response":{{"status":"{}","etag":"W/\"{}\"","lastModified":"{}"}}}})",
        history_method(info), type, id, entry_status(info), info.version.value, instant));
    return true;
}

Response answer_history(const Service& service, std::string_view base_url,
                        HistoryPageContent content) {
    std::string head = fmt::format(
        R"({{"resourceType":"Bundle","type":"history","total":{},"link":[)", content.total);
    bool first = true;
    for (const auto& [relation, url] : content.links) {
        head += fmt::format(R"({}{{"relation":"{}","url":)", first ? "" : ",", relation);
        json::append_quoted(head, url);
        head += '}';
        first = false;
    }
    head += ']';

    Response response;
    response.cache_control = "no-cache";
    response.body.append(head);
    auto slices = std::make_unique<Slices>(service, base_url, std::move(content.versions));
    Body slice;
    const bool more = slices->next(slice);
    response.body.append(std::move(slice));
    if (more) {
        response.more = std::move(slices);
    }
    return response;
}

}  // namespace annals::core
