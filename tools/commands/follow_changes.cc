#include "tools/commands/follow_changes.h"

#include "core/base/text.h"
#include "tools/commands/bundle_answers.h"
#include "tools/commands/progress.h"

#include <fmt/format.h>

#include <atomic>
#include <future>

namespace annals::tools {

namespace {

constexpr std::string_view kTarget = "changes after ";
constexpr std::string_view kPosition = R"({"position":)";

/// How long the source may wait for news; also how often we check whether to stop.
constexpr int kWaitSeconds = 1;

std::optional<std::uint64_t> header_number(const HttpReply& reply, std::string_view name) {
    const auto text = reply.header(name);
    return text ? parse_number(*text) : std::nullopt;
}

/// Removes `"name":123,` from `rest`.
std::optional<std::uint64_t> take_member(std::string_view& rest, std::string_view name) {
    if (!rest.starts_with(name)) {
        return std::nullopt;
    }
    rest.remove_prefix(name.size());
    const std::size_t comma = rest.find(',');
    const auto number = parse_number(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma, rest.size()));  // the comma becomes the entry's brace
    return number;
}

HttpRequest page_request(const ServerUrl& server, std::uint64_t after, std::uint64_t count,
                         int wait) {
    HttpRequest request;
    request.target = fmt::format("{}/_changes?after={}&_count={}&wait={}&_format=ndjson",
                                 server.base_path, after, count, wait);
    // Of a page truncated later, the complete lines are used. Servers without a feed may answer something else with 200.
    request.is_cut_off = [](const HttpReply& reply) {
        return !reply.body.empty() && reply.body.find('\n') == std::string::npos &&
               reply.body.substr(0, kPosition.size()) == kPosition.substr(0, reply.body.size());
    };
    return request;
}

/// Lowers `page_size` if the answer would be too large, and raises it again if it is small.
Result<ChangePage> read_page(HttpClient& client, const FollowOptions& options, std::uint64_t after,
                             std::uint64_t& page_size) {
    const auto request_of = [&] {
        HttpRequest request =
            page_request(client.server(), after, page_size, options.follow ? kWaitSeconds : 0);
        if (page_size > 1) {
            request.reply_bytes_max = options.page_bytes_max;
        }
        return request;
    };
    HttpRequest request = request_of();
    auto answer = client.send_patiently(request, options.patience);
    while (!answer && answer.error().code == Errc::body_too_large && page_size > 1) {
        page_size /= 2;
        request = request_of();
        answer = client.send_patiently(request, options.patience);
    }
    ANNALS_TRY(HttpReply reply, std::move(answer));
    if (reply.body.size() < options.page_bytes_max / 4) {
        page_size = page_size < options.page_size / 2 ? page_size * 2 : options.page_size;
    }
    if (reply.status != 200) {
        json::Parser parser;
        return Error{Errc::processing,
                     fmt::format("{}: GET {}: status {}: {}", client.server().authority(),
                                 request.target, reply.status, outcome_text(parser, reply.body))};
    }
    ANNALS_TRY(ChangePage page, read_change_page(std::move(reply)));
    if (page.newest < after) {
        return Error{Errc::processing,
                     fmt::format("{}: the store ends at position {}, but was read up to {} before: "
                                 "it was restored to an earlier point, or is a different store. "
                                 "Start over, with a new state file and an empty store",
                                 client.server().authority(), page.newest, after)};
    }
    if (!page.entries.empty() && page.position <= after) {
        return Error{Errc::processing,
                     fmt::format("{}: GET {}: returns what was read before, up to position {}: a "
                                 "cache on the way may be answering",
                                 client.server().authority(), request.target, page.position)};
    }
    return page;
}

}  // namespace

Result<ChangePage> read_change_page(HttpReply reply) {
    const Error no_page{Errc::processing, "the source's response is not a page of a change feed"};
    const auto position = header_number(reply, "X-Annals-Position");
    const auto newest = header_number(reply, "X-Annals-Last-Position");
    if (!position || !newest) {
        return no_page;
    }
    ChangePage page;
    page.position = *position;
    page.newest = *newest;
    page.body = std::make_unique<std::string>(std::move(reply.body));
    std::string_view rest = *page.body;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos && !page.entries.empty()) {
            break;
        }
        std::string_view line = rest.substr(0, end);
        if (end == std::string_view::npos || !line.ends_with('}')) {
            return no_page;
        }
        rest.remove_prefix(end + 1);
        const auto place = take_member(line, kPosition);
        if (!place || !line.starts_with(',')) {
            return no_page;
        }
        line.remove_prefix(1);
        const auto commit = take_member(line, R"("commit":)");
        if (!commit || !line.starts_with(',')) {
            return no_page;
        }
        (*page.body)[static_cast<std::size_t>(line.data() - page.body->data())] = '{';
        page.entries.push_back(line);
        page.commits.push_back(*commit);
        // Behind a proxy that speaks HTTP/1.0 to the source, a truncated page looks complete: only what has come is reached.
        page.position = *place;
    }
    return page;
}

Result<bool> has_change_feed(const ServerUrl& server, const Patience& patience) {
    HttpClient client(server);
    ANNALS_TRY(const HttpReply reply,
               client.send_patiently(page_request(server, 0, 1, 0), patience));
    return reply.status == 200 && read_change_page(reply).has_value();
}

std::string change_target(std::uint64_t position) {
    return fmt::format("{}{}", kTarget, position);
}

std::optional<std::uint64_t> position_of(std::string_view target) {
    return target.starts_with(kTarget) ? parse_number(target.substr(kTarget.size())) : std::nullopt;
}

Result<void> follow_changes(const ServerUrl& from, HistorySubmitter& submitter,
                            const FollowOptions& options, ReplicateState& state,
                            ReplicateCounts& counts) {
    HttpClient client(from);
    Progress progress("versions", 0, options.quiet);
    const std::uint64_t began = position_of(state.target).value_or(0);
    bool caught_up = false;
    const auto stopped = [&] { return options.patience.stop && options.patience.stop(); };
    // A final refusal by the target also ends the reading, which may be waiting for a source that is gone.
    std::atomic<bool> refused = false;
    FollowOptions reading = options;
    reading.patience.stop = [&] { return refused.load() || stopped(); };
    if (const auto position = position_of(state.target); position.value_or(0) > 0) {
        submitter.tell(*position);  // the target may have forgotten
    }
    std::uint64_t page_size = options.page_size;
    ANNALS_TRY(ChangePage page,
               read_page(client, reading, position_of(state.target).value_or(0), page_size));
    while (true) {
        // Reads one page while the one before is being applied.
        std::future<Result<ChangePage>> ahead;
        const bool more = options.follow || page.position < page.newest;
        if (more && !stopped()) {
            ahead = std::async(std::launch::async, [&, after = page.position] {
                return read_page(client, reading, after, page_size);
            });
        }
        Result<void> submitted;
        if (!page.entries.empty()) {
            submitted = submitter.submit(page.entries, counts, page.position);
            caught_up = caught_up || page.position >= page.newest;
            progress.set_share_total(options.follow && caught_up ? 0 : page.newest - began);
            progress.update(counts.sent, page.position - began);
        }
        if (const std::string target = change_target(page.position);
            submitted && target != state.target) {
            if (page.entries.empty()) {
                submitter.tell(page.position);
            }
            state.target = target;
            state.after.reset();
            submitted = write_state(options.state_file, state);
        }
        refused = !submitted;
        if (!submitted || !ahead.valid()) {
            return submitted;
        }
        auto next = ahead.get();
        if (stopped()) {
            return {};
        }
        if (!next) {
            return std::move(next.error());
        }
        page = *std::move(next);
    }
}

}  // namespace annals::tools
