#include "core/interactions/history_page.h"

#include "core/base/log.h"
#include "core/interactions/bundle_entry.h"
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
        text_.assign(before).append("{");
        return append_history_entry(body, service_, base_url_, versions_[index], text_);
    }

  private:
    const Service& service_;
    std::string base_url_;  // escaped
    std::string text_;      // of the current entry
    std::vector<storage::VersionInfo> versions_;
};

int entry_status(const storage::VersionInfo& info) noexcept {
    if (info.deletion) {
        return 410;
    }
    return info.version.value == 1 ? 201 : 200;
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
                          const storage::VersionInfo& info, std::string& text) {
    const Result<storage::StoredVersion> stored = service.store().load(info);
    if (!stored && stored.error().code == Errc::not_found) {
        return false;
    }
    const std::string_view type = resource_type_name(info.type);
    if (!stored) {
        log_error(fmt::format("history: {}", stored.error().detail));
        const ErrorMeaning meaning = meaning_of(stored.error().code);
        text += R"("response":{)";
        append_entry_response(text, meaning.status, {}, info.version, info.instant);
        text += R"(,"outcome":)";
        text += outcome_json({{"error", meaning.issue_code,
                               fmt::format("This {} version is damaged in the store", type), ""}});
        body.append(text.append("}}"));
        return true;
    }

    const std::string_view id = stored->id;
    text.append(R"("fullUrl":")").append(base_url).append("/").append(type).append("/").append(id);
    text.append("/_history/").append(std::to_string(info.version.value)).append("\"");
    if (!info.deletion) {
        body.append(text.append(R"(,"resource":)"));
        body.append_view(stored->body, stored->pin);
        text.clear();
    }
    text.append(R"(,"request":{"method":")").append(history_method(info)).append(R"(","url":")");
    text.append(type).append("/").append(id).append(R"("},"response":{)");
    append_entry_response(text, entry_status(info), {}, info.version, info.instant);
    body.append(text.append("}}"));
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
