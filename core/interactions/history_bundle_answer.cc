#include "core/interactions/history_bundle_answer.h"

#include "core/outcome.h"

#include <fmt/format.h>

#include <optional>

namespace annals::core {

namespace {

using Fate = HistoryFate;

/// The status of every refused entry, whatever the status of its error.
constexpr int kRefused = 400;

void append_unchanged(std::string& text, int status, const HistoryOutcome& outcome,
                      std::string_view severity, std::string_view code,
                      std::string_view diagnostics) {
    const bool known = outcome.version.value != 0;
    append_entry_response(text, status, {}, known ? std::optional(outcome.version) : std::nullopt,
                          known ? std::optional(outcome.instant) : std::nullopt);
    text += R"(,"outcome":)";
    std::vector<Issue> issues{{severity, code, std::string(diagnostics), {}}};
    if (outcome.missing) {
        issues.push_back(
            {"information",
             "not-found",
             "This version is not stored: the resource has newer versions, or was erased",
             {}});
    }
    text += outcome_json(issues);
}

}  // namespace

void append_history_answer(std::string& text, std::string_view escaped_base,
                           const HistoryOutcome& outcome, std::string_view id) {
    // Literals are views because the length of a plain one is counted again for each entry.
    if (outcome.full_url.empty()) {
        text += std::string_view(R"({"response":{)");
    } else {
        text += std::string_view(R"({"fullUrl":)");
        text += outcome.full_url;
        text += std::string_view(R"(,"response":{)");
    }
    switch (outcome.fate) {
        case Fate::created:
        case Fate::updated:
            append_version_response(text, outcome.fate == Fate::created, escaped_base, outcome.type,
                                    id, outcome.version, outcome.instant);
            break;
        case Fate::deleted:
            append_entry_response(text, 204, {}, outcome.version, outcome.instant);
            break;
        case Fate::gone_already:
            append_unchanged(text, 204, outcome, "information", "informational",
                             "Already deleted or absent");
            break;
        case Fate::ignored:
            append_unchanged(text, 200, outcome, "information", "informational",
                             "Ignored older or duplicate history entry");
            break;
        case Fate::differs:
            append_unchanged(text, 200, outcome, "warning", "conflict",
                             "Ignored history entry whose content differs from the stored "
                             "version of the same number");
            break;
        case Fate::refused:
            append_entry_response(text, kRefused, {}, {}, {});
            text += R"(,"outcome":)";
            break;
    }
}

void trace_history_answer(ResponseBundle& bundle, const HistoryOutcome& outcome,
                          std::string_view id) {
    const bool deletes = outcome.fate == Fate::deleted || outcome.fate == Fate::gone_already;
    const HttpMethod method = deletes ? HttpMethod::delete_ : HttpMethod::put;
    if (outcome.fate == Fate::refused) {
        bundle.trace(method, kRefused, {});
        return;
    }
    const int status = outcome.fate == Fate::created ? 201 : deletes ? 204 : 200;
    bundle.trace(method, status,
                 fmt::format("{}/{}/_history/{}", resource_type_name(outcome.type), id,
                             outcome.version.value));
}

}  // namespace annals::core
