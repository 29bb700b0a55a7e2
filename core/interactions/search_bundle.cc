#include "core/interactions/search_bundle.h"

#include "codec/json/document.h"
#include "core/base/log.h"
#include "core/outcome.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

class SearchEntries final : public EntrySource {
  public:
    SearchEntries(const Service& service, std::string_view base_url, SearchBundleContent content)
        : service_(service), base_url_(json::quoted(base_url)), content_(std::move(content)) {
        base_url_ = base_url_.substr(1, base_url_.size() - 2);
    }

    std::size_t size() const noexcept override {
        return content_.matches.size() + content_.contained.size() + content_.included.size() +
               (content_.warnings.empty() ? 0 : 1);
    }

    bool append(Body& body, std::size_t index, bool first) override {
        const std::string_view separator = first ? "" : ",";
        if (index < content_.matches.size()) {
            return append_version(body, content_.matches[index], "match", separator);
        }
        index -= content_.matches.size();
        if (index < content_.contained.size()) {
            const ContainedMatch& match = content_.contained[index];
            body.append(
                fmt::format(R"({}{{"fullUrl":{},"resource":{},"search":{{"mode":"match"}}}})",
                            separator, json::quoted(match.full_url), match.resource));
            return true;
        }
        index -= content_.contained.size();
        if (index < content_.included.size()) {
            return append_version(body, content_.included[index], "include", separator);
        }
        std::vector<Issue> issues;
        for (const std::string& warning : content_.warnings) {
            issues.push_back({"warning", "not-supported", warning, ""});
        }
        append_outcome(body, issues, separator);
        return true;
    }

  private:
    static void append_outcome(Body& body, const std::vector<Issue>& issues,
                               std::string_view separator) {
        body.append(fmt::format(R"({}{{"resource":{},"search":{{"mode":"outcome"}}}})", separator,
                                outcome_json(issues)));
    }

    bool append_version(Body& body, const storage::VersionInfo& info, std::string_view mode,
                        std::string_view separator) const {
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
                           separator);
            return true;
        }
        body.append(separator);
        body.append(R"({"fullUrl":")");
        body.append(base_url_);
        body.append("/");
        body.append(type);
        body.append("/");
        body.append(stored->id);
        body.append(R"(","resource":)");
        body.append_view(stored->body, stored->pin);
        body.append(R"(,"search":{"mode":")");
        body.append(mode);
        body.append(R"("}})");
        return true;
    }

    const Service& service_;
    std::string base_url_;  // escaped
    SearchBundleContent content_;
};

}  // namespace

Response answer_search(const Service& service, std::string_view base_url,
                       SearchBundleContent content) {
    std::string head = R"({"resourceType":"Bundle","type":"searchset",)";
    if (content.total) {
        head += fmt::format(R"("total":{},)", *content.total);
    }
    append_links(head, content.links);
    return stream_bundle(head,
                         std::make_unique<SearchEntries>(service, base_url, std::move(content)));
}

}  // namespace annals::core
