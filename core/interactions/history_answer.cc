#include "core/interactions/history_answer.h"

#include "codec/json/document.h"

#include <utility>

namespace annals::core {

Result<std::vector<HistoryVerdict>> read_history_answer(std::string_view answer) {
    using Kind = HistoryVerdict::Kind;
    json::Parser parser;
    ANNALS_TRY(const json::Document document, parser.parse(answer));
    std::vector<HistoryVerdict> verdicts;
    for (const json::Value entry : document.root()["entry"].elements()) {
        const json::Value response = entry["response"];
        json::Value issue;
        for (const json::Value first : response["outcome"]["issue"].elements()) {
            issue = first;
            break;
        }
        HistoryVerdict verdict;
        if (response["status"].raw_string() >= "4") {
            verdict.kind = Kind::refused;
        } else if (issue) {
            verdict.kind = issue["severity"].equals("warning") ? Kind::differs : Kind::there;
        }
        verdict.code = issue["code"].raw_string();
        verdict.diagnostics = issue["diagnostics"].string();
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

}  // namespace annals::core
