#include "tools/commands/history_submitter.h"

#include "tools/commands/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace annals::tools {

using std::chrono::milliseconds;

namespace {

/// Which version an entry has: "http://source/fhir/Patient/1/_history/2".
std::string version_in(json::Parser& parser, std::string_view entry) {
    const auto read = parser.parse(entry);
    if (!read) {
        return {};
    }
    const std::string number = read->root()["resource"]["meta"]["versionId"].string();
    const std::string url = read->root()["fullUrl"].string();
    const bool is_of_version = number.empty() || url.find("/_history/") != std::string::npos;
    return is_of_version ? url : fmt::format("{}/_history/{}", url, number);
}

/// The name of a refused entry, and the source's remarks on it: that it is damaged there, say.
std::string name_of(json::Parser& parser, std::string_view entry) {
    const auto read = parser.parse(entry);
    if (!read) {
        return {};
    }
    std::string name = read->root()["fullUrl"].string();
    if (name.empty()) {
        name = read->root()["request"]["url"].string();
    }
    const std::string said = outcome_text(read->root()["response"]["outcome"]);
    return said.empty() ? name : fmt::format("{}{}({})", name, name.empty() ? "" : " ", said);
}

}  // namespace

Result<void> HistorySubmitter::submit(std::span<const std::string_view> entries,
                                      ReplicateCounts& counts, std::uint64_t reached) {
    while (!entries.empty()) {
        const std::size_t count = std::min(entries.size(), entries_max_);
        const bool last = count == entries.size();
        ANNALS_TRY_VOID(submit_bundle(entries.first(count), counts, last ? reached : 0));
        entries = entries.subspan(count);
    }
    return {};
}

HttpRequest HistorySubmitter::request_of_body(std::uint64_t reached) const {
    HttpRequest request;
    request.method = "POST";
    request.target = client_.server().base_path;
    request.body = body_;
    request.headers = {{"Prefer", "return=minimal"}};
    if (reached > 0) {
        request.headers.emplace_back("X-Annals-Source-Position", fmt::format("{}", reached));
    }
    return request;
}

void HistorySubmitter::tell(std::uint64_t reached) {
    body_ = R"({"resourceType":"Bundle","type":"history"})";
    Patience once = patience_;
    once.give_up_after = milliseconds(0);
    const auto reply = client_.send_patiently(request_of_body(reached), once);
    static_cast<void>(reply);  // the next entries show what matters
}

Result<void> HistorySubmitter::submit_bundle(std::span<const std::string_view> entries,
                                             ReplicateCounts& counts, std::uint64_t reached) {
    body_ = R"({"resourceType":"Bundle","type":"history","entry":[)";
    for (const std::string_view entry : entries) {
        body_.append(entry).push_back(',');
    }
    body_.back() = ']';
    body_.push_back('}');
    HttpRequest request = request_of_body(reached);
    request.divisible = entries.size() > 1;

    const auto started = std::chrono::steady_clock::now();
    milliseconds pause = patience_.first_pause;
    while (true) {
        ANNALS_TRY(const HttpReply reply, client_.send_patiently(request, patience_));
        const bool too_slow = reply.status == 408;  // for the body timeout of the target
        const bool too_much = reply.status == 413 || too_slow ||
                              (HttpClient::is_given_up(reply) && !patience_.ends());
        if (too_much && request.divisible) {
            entries_max_ = entries.size() / 2;
            refused_bytes_ = body_.size();
            return submit(entries, counts, reached);
        }
        std::string why;
        bool passing = too_slow;
        if (reply.status != 200) {
            const std::string where =
                entries.size() == 1 ? fmt::format(" of {}", version_in(parser_, entries.front()))
                                    : "";
            why = fmt::format("{}: POST{}: status {}: {}", client_.server().authority(), where,
                              reply.status, outcome_text(parser_, reply.body));
            if (!too_slow) {
                return Error{Errc::processing, why};
            }
        } else {
            ANNALS_TRY(const auto answers, read_answers(parser_, reply.body));
            if (answers.size() != entries.size()) {
                return Error{
                    Errc::processing,
                    fmt::format("{}: {} entries were sent, but {} answered",
                                client_.server().authority(), entries.size(), answers.size())};
            }
            const auto troubled =
                std::find_if(answers.begin(), answers.end(), [](const EntryAnswer& answer) {
                    return answer.status >= 500 || answer.status == 429 || answer.status == 0;
                });
            if (troubled == answers.end()) {
                if (body_.size() < refused_bytes_ / 4) {
                    entries_max_ = std::max(entries_max_, 2 * entries.size());
                }
                return count_answers(entries, answers, counts);
            }
            passing = troubled->status == 429 || troubled->status == 503;
            why = fmt::format("{}: an entry was answered {}: {}", client_.server().authority(),
                              troubled->status, troubled->diagnostics);
        }
        // Versions taken already are ignored when they come again, so the whole bundle can be repeated: for as long as a whole
        // request if the trouble is temporary, for some seconds if it is a fault.
        const milliseconds wait = std::min(pause, patience_.longest_pause);
        const bool too_late = passing ? patience_.give_up_after.count() >= 0 &&
                                            std::chrono::steady_clock::now() - started + wait >
                                                patience_.give_up_after
                                      : pause > patience_.longest_pause;
        if ((patience_.stop && patience_.stop()) || too_late) {
            return Error{Errc::io, why};
        }
        patience_.wait(why, wait);
        pause = std::min(pause, patience_.longest_pause) * 2;
    }
}

Result<void> HistorySubmitter::count_answers(std::span<const std::string_view> entries,
                                             const std::vector<EntryAnswer>& answers,
                                             ReplicateCounts& counts) {
    counts.sent += entries.size();
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const EntryAnswer& answer = answers[i];
        if (answer.status < 400 && !answer.conflict) {
            counts.missing += answer.missing ? 1 : 0;
            counts.ignored += answer.ignored && !answer.missing ? 1 : 0;
            continue;
        }
        ++(answer.conflict ? counts.conflicts : counts.refused);
        say_line(fmt::format("{}: {}: {}", name_of(parser_, entries[i]),
                             answer.conflict ? "conflict" : fmt::format("{}", answer.status),
                             answer.diagnostics));
    }
    return {};
}

}  // namespace annals::tools
