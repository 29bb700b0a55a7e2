#include "core/interactions/search_bundle.h"

#include "codec/json/document.h"
#include "core/base/log.h"
#include "core/outcome.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

// The usual size of a Bundle, and of an entry, without the resources.
constexpr std::size_t kUsualFrameBytes = 4096;
constexpr std::size_t kUsualEntryBytes = 256;

class SearchEntries final : public EntrySource {
  public:
    SearchEntries(const Service& service, std::string_view base_url, SearchBundleContent content)
        : service_(service),
          opening_(fmt::format(R"({{"fullUrl":"{}/)", escaped_base(base_url))),
          content_(std::move(content)) {
        text_.reserve(kUsualEntryBytes);
    }

    std::size_t size() const noexcept override {
        return content_.matches.size() + content_.contained.size() + content_.included.size() +
               (content_.warnings.empty() ? 0 : 1);
    }

    bool append(Body& body, std::size_t index, std::string_view before) override {
        if (index < content_.matches.size()) {
            return append_version(body, content_.matches[index],
                                  content_.match_ends.empty() ? kMatch : content_.match_ends[index],
                                  before);
        }
        index -= content_.matches.size();
        if (index < content_.contained.size()) {
            const ContainedMatch& match = content_.contained[index];
            body.append(
                fmt::format(R"({}{{"fullUrl":{},"resource":{},"search":{{"mode":"match"}}}})",
                            before, json::quoted(match.full_url), match.resource));
            return true;
        }
        index -= content_.contained.size();
        if (index < content_.included.size()) {
            return append_version(body, content_.included[index], kInclude, before);
        }
        std::vector<Issue> issues;
        for (const std::string& warning : content_.warnings) {
            issues.push_back({"warning", content_.warning_code, warning, ""});
        }
        append_outcome(body, issues, before);
        return true;
    }

  private:
    // The end of an entry.
    static constexpr std::string_view kMatch = R"(,"search":{"mode":"match"}})";
    static constexpr std::string_view kInclude = R"(,"search":{"mode":"include"}})";

    static void append_outcome(Body& body, const std::vector<Issue>& issues,
                               std::string_view before) {
        body.append(fmt::format(R"({}{{"resource":{},"search":{{"mode":"outcome"}}}})", before,
                                outcome_json(issues)));
    }

    bool append_version(Body& body, const storage::VersionInfo& info, std::string_view end,
                        std::string_view before) {
        const Result<storage::StoredVersion> stored =
            search::load(service_.store(), content_.carried, info);
        if (!stored && stored.error().code == Errc::not_found) {
            return false;
        }
        const std::string_view type = resource_type_name(info.type);
        if (!stored) {
            log_error(fmt::format("search: {}", stored.error().detail));
            append_outcome(body,
                           {{"warning", meaning_of(stored.error().code).issue_code,
                             fmt::format("A {} that matches is damaged in the store", type), ""}},
                           before);
            return true;
        }
        text_.assign(before).append(opening_).append(type).append("/").append(stored->id);
        text_.append(R"(","resource":)");
        body.append(text_);
        body.append_view(stored->body, stored->pin);
        body.append(end);
        return true;
    }

    const Service& service_;
    std::string opening_;  // of an entry, before its type
    std::string text_;     // of the current entry
    SearchBundleContent content_;
};

}  // namespace

Response answer_search(const Service& service, std::string_view base_url,
                       SearchBundleContent content) {
    std::string head;
    head.reserve(kUsualFrameBytes);
    head = R"({"resourceType":"Bundle","type":"searchset",)";
    if (content.total) {
        head.append(R"("total":)").append(std::to_string(*content.total)).append(",");
    }
    append_links(head, content.links);
    return stream_bundle(std::move(head),
                         std::make_unique<SearchEntries>(service, base_url, std::move(content)));
}

}  // namespace annals::core
