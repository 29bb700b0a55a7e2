#include "tools/commands/bundle_answers.h"

#include "tools/commands/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace annals::tools {

std::string outcome_text(json::Value outcome, std::string_view around) {
    std::string text;
    for (const json::Value issue : outcome["issue"].elements()) {
        std::string said = issue["diagnostics"].string();
        if (said.empty()) {
            said = issue["details"]["text"].string();
        }
        if (said.empty()) {
            said = issue["code"].string();
        }
        if (!said.empty()) {
            text += (text.empty() ? "" : "; ") + said;
        }
        for (const json::Value expression : issue["expression"].elements()) {
            const std::string place = expression.string();
            text += fmt::format(" ({})", std::string_view(place).substr(
                                             place.starts_with(around) ? around.size() : 0));
        }
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

std::string outcome_text(json::Parser& parser, std::string_view body) {
    std::string text;
    if (const auto document = parser.parse(body)) {
        text = outcome_text(document->root());
    }
    if (text.empty()) {
        constexpr std::size_t kShown = 200;
        text = body.substr(0, kShown);
        std::replace(text.begin(), text.end(), '\n', ' ');
    }
    return text;
}

Result<std::vector<EntryAnswer>> read_answers(json::Parser& parser, std::string_view body) {
    auto document = parser.parse(body);
    if (!document || !(*document).root()["resourceType"].equals("Bundle")) {
        return Error{Errc::processing,
                     "the response is not a Bundle: " + outcome_text(parser, body)};
    }
    std::vector<EntryAnswer> answers;
    const json::Value entries = document->root()["entry"];
    answers.reserve(entries.size());
    for (const json::Value entry : entries.elements()) {
        EntryAnswer& answer = answers.emplace_back();
        const json::Value response = entry["response"];
        const std::string_view status = response["status"].raw_string();
        std::from_chars(status.data(), status.data() + status.size(), answer.status);
        if (const json::Value outcome = response["outcome"]; outcome.is_object()) {
            answer.diagnostics = outcome_text(
                outcome, fmt::format("Bundle.entry[{}].resource.", answers.size() - 1));
            for (const json::Value issue : outcome["issue"].elements()) {
                answer.conflict |=
                    issue["severity"].equals("warning") && issue["code"].equals("conflict");
                answer.ignored |= issue["code"].equals("informational");
                answer.missing |=
                    issue["severity"].equals("information") && issue["code"].equals("not-found");
            }
        }
    }
    parser.recycle(std::move(*document));
    return answers;
}

void tell_of_missing(std::uint64_t count) {
    if (count > 0) {
        say_line(
            fmt::format("{} versions were ignored and are missing at the target: newer versions of "
                        "the same resources had arrived first, or they were erased there",
                        count));
    }
}

}  // namespace annals::tools
