#include "core/interactions/history_page.h"

#include "core/base/log.h"
#include "core/outcome.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

class HistoryEntries final : public EntrySource {
  public:
    HistoryEntries(const Service& service, std::string_view base_url,
                   std::vector<storage::VersionInfo> versions)
        : service_(service), base_url_(escaped_base(base_url)), versions_(std::move(versions)) {}

    std::size_t size() const noexcept override { return versions_.size(); }

    bool append(Body& body, std::size_t index, std::string_view before) override {
        return append_history_entry(body, service_, base_url_, versions_[index],
                                    std::string(before) + '{');
    }

  private:
    const Service& service_;
    std::string base_url_;  // escaped
    std::vector<storage::VersionInfo> versions_;
};

std::string_view entry_status(const storage::VersionInfo& info) noexcept {
    if (info.deletion) {
        return "410 Gone";
    }
    return info.version.value == 1 ? "201 Created" : "200 OK";
}

/// A version's request.method: POST for version 1, DELETE for a deletion, PUT for all others.
std::string_view history_method(const storage::VersionInfo& info) noexcept {
    if (info.deletion) {
        return "DELETE";
    }
    return info.version.value == 1 ? "POST" : "PUT";
}

}  // namespace

bool append_history_entry(Body& body, const Service& service, std::string_view base_url,
                          const storage::VersionInfo& info, std::string_view opening) {
    const Result<storage::StoredVersion> stored = service.store().load(info);
    if (!stored && stored.error().code == Errc::not_found) {
        return false;
    }
    const std::string_view type = resource_type_name(info.type);
    const std::string instant = format_instant(info.instant);
    if (!stored) {
        log_error(fmt::format("history: {}", stored.error().detail));
        const ErrorMeaning meaning = meaning_of(stored.error().code);
        body.append(fmt::format(
            R"({}"response":{{"status":"{}","etag":"W/\"{}\"","lastModified":"{}","outcome":{}}}}})",
            opening, status_text(meaning.status), info.version.value, instant,
            outcome_json({{"error", meaning.issue_code,
                           fmt::format("This {} version is damaged in the store", type), ""}})));
        return true;
    }

    const std::string_view id = stored->id;
    body.append(fmt::format(R"({}"fullUrl":"{}/{}/{}/_history/{}")", opening, base_url, type, id,
                            info.version.value));
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
    std::string head =
        fmt::format(R"({{"resourceType":"Bundle","type":"history","total":{},)", content.total);
    append_links(head, content.links);
    return stream_bundle(std::move(head), std::make_unique<HistoryEntries>(
                                              service, base_url, std::move(content.versions)));
}

}  // namespace annals::core
