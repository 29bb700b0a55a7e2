#include "tools/commands/replicate.h"

#include "core/base/digest.h"
#include "tools/commands/arguments.h"
#include "tools/commands/bundle_answers.h"
#include "tools/commands/history_reader.h"
#include "tools/commands/http_client.h"
#include "tools/commands/progress.h"
#include "tools/commands/replicate_state.h"
#include "tools/commands/store_access.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <future>
#include <limits>
#include <span>
#include <thread>

namespace annals::tools {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortestPoll{20};
constexpr milliseconds kLongestPoll{1000};

// The total tells cheaply whether something is new, but as many versions may have been erased as were written.
constexpr int kPollsByTotal = 10;

// A lock-free atomic is what a signal handler may write.
std::atomic<bool> g_stop{false};

struct ReplicateOptions {
    std::string from;
    std::string to;
    std::string since;
    std::string state_file;
    std::uint64_t page_size = 1000;
    std::uint64_t retry_seconds = 60;
    bool follow = false;
    bool quiet = false;
};

struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t ignored = 0;
    std::uint64_t conflicts = 0;
    std::uint64_t refused = 0;
};

Patience make_patience(const ReplicateOptions& options) {
    Patience patience;
    patience.give_up_after = options.follow
                                 ? milliseconds(-1)
                                 : milliseconds(std::chrono::seconds(options.retry_seconds));
    patience.say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
    patience.stop = [] { return g_stop.load(); };
    return patience;
}

/// Submits entries to the server that is to follow.
class Submitter {
  public:
    Submitter(ServerUrl server, Patience patience)
        : client_(std::move(server)), patience_(std::move(patience)) {}

    /// Returns when all entries are durable there, ignored or refused.
    /// Errors: io, timeout, processing (the request was refused as a whole).
    Result<void> submit(std::span<const std::string_view> entries, Counts& counts);

  private:
    Result<void> submit_bundle(std::span<const std::string_view> entries, Counts& counts);
    Result<void> count_answers(std::span<const std::string_view> entries,
                               const std::vector<EntryAnswer>& answers, Counts& counts);

    HttpClient client_;
    Patience patience_;
    json::Parser parser_;
    std::string body_;
    std::size_t entries_max_ = std::numeric_limits<std::size_t>::max();  ///< learnt from 413
};

Result<void> Submitter::submit(std::span<const std::string_view> entries, Counts& counts) {
    while (!entries.empty()) {
        const std::size_t count = std::min(entries.size(), entries_max_);
        ANNALS_TRY_VOID(submit_bundle(entries.first(count), counts));
        entries = entries.subspan(count);
    }
    return {};
}

Result<void> Submitter::submit_bundle(std::span<const std::string_view> entries, Counts& counts) {
    body_ = R"({"resourceType":"Bundle","type":"history","entry":[)";
    for (const std::string_view entry : entries) {
        body_.append(entry).push_back(',');
    }
    body_.back() = ']';
    body_.push_back('}');
    HttpRequest request;
    request.method = "POST";
    request.target = client_.server().base_path;
    request.body = body_;
    request.headers = {{"Prefer", "return=minimal"}};

    milliseconds pause = patience_.first_pause;
    while (true) {
        ANNALS_TRY(const HttpReply reply, client_.send_patiently(request, patience_));
        if (reply.status == 413 && entries.size() > 1) {
            entries_max_ = entries.size() / 2;
            return submit(entries, counts);
        }
        if (reply.status != 200) {
            return Error{Errc::processing,
                         fmt::format("{}: POST: status {}: {}", client_.server().authority(),
                                     reply.status, outcome_text(parser_, reply.body)),
                         ""};
        }
        ANNALS_TRY(const auto answers, read_answers(parser_, reply.body));
        if (answers.size() != entries.size()) {
            return Error{Errc::processing,
                         fmt::format("{}: {} entries sent, {} answered",
                                     client_.server().authority(), entries.size(), answers.size()),
                         ""};
        }
        const auto troubled =
            std::find_if(answers.begin(), answers.end(), [](const EntryAnswer& answer) {
                return answer.status >= 500 || answer.status == 429 || answer.status == 0;
            });
        if (troubled == answers.end()) {
            return count_answers(entries, answers, counts);
        }
        // What was taken already is ignored when it comes again, so the whole bundle can be repeated.
        if (g_stop || pause > patience_.longest_pause) {
            return Error{
                Errc::io,
                fmt::format("{}: an entry was answered {}: {}", client_.server().authority(),
                            troubled->status, troubled->diagnostics),
                ""};
        }
        std::this_thread::sleep_for(pause);
        pause *= 2;
    }
}

Result<void> Submitter::count_answers(std::span<const std::string_view> entries,
                                      const std::vector<EntryAnswer>& answers, Counts& counts) {
    counts.sent += entries.size();
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const EntryAnswer& answer = answers[i];
        if (answer.status < 400 && !answer.conflict) {
            counts.ignored += answer.ignored ? 1 : 0;
            continue;
        }
        ++(answer.conflict ? counts.conflicts : counts.refused);
        std::string url;
        if (const auto entry = parser_.parse(entries[i])) {
            url = entry->root()["fullUrl"].string();
        }
        std::fprintf(stderr, "%s: %s: %s\n", url.c_str(),
                     answer.conflict ? "conflict" : fmt::format("{}", answer.status).c_str(),
                     answer.diagnostics.c_str());
    }
    return {};
}

/// The entries of `page` that come after the one with that mark; all of them if none has it.
std::span<const std::string_view> entries_after(const HistoryPage& page,
                                                std::optional<std::uint64_t> mark) {
    const std::span<const std::string_view> all(page.entries);
    if (mark) {
        for (std::size_t i = all.size(); i > 0; --i) {
            if (entry_mark(all[i - 1]) == *mark) {
                return all.subspan(i);
            }
        }
    }
    return all;
}

Result<void> acknowledge(const ReplicateOptions& options, const HistoryPage& page,
                         ReplicateState& state) {
    const ReplicateState before = state;
    if (!page.next.empty()) {
        state.target = page.next;
        state.after.reset();
    } else {
        state.target = page.target;
        if (!page.entries.empty()) {
            state.after = entry_mark(page.entries.back());
        }
    }
    return state == before ? Result<void>() : write_state(options.state_file, state);
}

/// Sleeps until `pause` is over or someone wants to stop.
void sleep_a_while(milliseconds pause) {
    const auto wake = std::chrono::steady_clock::now() + pause;
    while (!g_stop && std::chrono::steady_clock::now() < wake) {
        std::this_thread::sleep_for(std::min(pause, milliseconds(50)));
    }
}

/// Waits, with growing pauses, until the source may have more than when it had `total` versions.
Result<void> await_news(HistoryReader& reader, milliseconds& poll,
                        const std::optional<std::uint64_t>& total) {
    for (int i = 0; i < kPollsByTotal && !g_stop; ++i) {
        sleep_a_while(poll);
        poll = std::min(poll * 2, kLongestPoll);
        ANNALS_TRY(const auto now, reader.total());
        if (!now || now != total) {
            break;
        }
    }
    return {};
}

Result<void> run(const ReplicateOptions& options, const ServerUrl& from, const ServerUrl& to,
                 ReplicateState& state, Counts& counts) {
    const Patience patience = make_patience(options);
    HistoryReader reader(from, patience);
    Submitter submitter(to, patience);
    if (state.target.empty()) {
        ANNALS_TRY(state.target, reader.first_target(options.since, options.page_size));
    }
    Progress progress("versions", 0, options.quiet);
    milliseconds poll = kShortestPoll;
    ANNALS_TRY(HistoryPage page, reader.read(state.target));
    while (true) {
        // One page is read while the one before is being applied.
        std::future<Result<HistoryPage>> ahead;
        if (!page.next.empty()) {
            ahead = std::async(std::launch::async, [&] { return reader.read(page.next); });
        }
        const auto entries = entries_after(page, state.after);
        Result<void> submitted;
        if (!entries.empty()) {
            submitted = submitter.submit(entries, counts);
            progress.update(counts.sent, counts.sent);
            poll = kShortestPoll;
        }
        if (submitted) {
            submitted = acknowledge(options, page, state);
        }
        if (!submitted || g_stop) {
            return submitted;
        }
        if (ahead.valid()) {
            ANNALS_TRY(page, ahead.get());
            continue;
        }
        if (!options.follow) {
            return {};
        }
        ANNALS_TRY_VOID(await_news(reader, poll, page.total));
        if (g_stop) {
            return {};
        }
        ANNALS_TRY(page, reader.read(state.target));
    }
}

}  // namespace

int replicate(const ArgumentList& arguments) {
    ReplicateOptions options;
    Arguments reader("replicate", "Keeps one server's history in another, from where it left off.");
    reader.required_text("--from", options.from,
                         "root of the server to read: http://HOST:PORT/fhir");
    reader.required_text("--to", options.to, "root of the server to submit to");
    reader.text("--since", options.since, "begin at this instant, or after this cursor");
    reader.flag("--follow", options.follow, "go on with what is written later");
    reader.text("--state", options.state_file,
                "file that says how far it has come (default: by the two URLs, in this directory)");
    reader.number("--page", options.page_size, "versions per page and bundle");
    reader.number("--retry-for", options.retry_seconds,
                  "give up after so many seconds without an answer (--follow: never)");
    reader.flag("-q,--quiet", options.quiet, "no progress on the terminal");
    if (const auto exit_code = reader.parse(arguments)) {
        return *exit_code;
    }
    const auto from = parse_server_url(options.from);
    const auto to = parse_server_url(options.to);
    for (const auto* url : {&from, &to}) {
        if (!*url) {
            return reader.refuse(url->error().detail);
        }
    }
    if (options.page_size == 0) {
        return reader.refuse("--page must be at least 1");
    }
    ReplicateState state;
    state.from = from->text();
    state.to = to->text();
    if (options.state_file.empty()) {
        options.state_file =
            fmt::format("annals-replicate-{:016x}.state", hash64(state.from + " " + state.to));
    }
    auto kept = read_state(options.state_file, state.from, state.to);
    if (!kept) {
        return fail(kept.error().detail, kExitUsage);
    }
    if (*kept && options.since.empty()) {
        state = **kept;
    }

    std::signal(SIGINT, [](int) { g_stop = true; });
    std::signal(SIGTERM, [](int) { g_stop = true; });
    Counts counts;
    const auto done = run(options, *from, *to, state, counts);
    std::printf("replicated %llu versions: %llu there already, %llu conflicts, %llu refused\n",
                static_cast<unsigned long long>(counts.sent),
                static_cast<unsigned long long>(counts.ignored),
                static_cast<unsigned long long>(counts.conflicts),
                static_cast<unsigned long long>(counts.refused));
    if (const std::string cursor = cursor_of(state.target); !cursor.empty()) {
        std::printf("cursor %s\n", cursor.c_str());
    }
    std::fflush(stdout);
    if (!done && !g_stop) {
        return fail(done.error().detail, kExitFaults);
    }
    return counts.conflicts + counts.refused > 0 ? kExitFaults : kExitDone;
}

}  // namespace annals::tools
