// annals replicate: keeps one server's history up to date in another.

#include "core/base/digest.h"
#include "core/base/instant.h"
#include "tools/commands/arguments.h"
#include "tools/commands/bundle_answers.h"
#include "tools/commands/commands.h"
#include "tools/commands/compare_stores.h"
#include "tools/commands/credentials.h"
#include "tools/commands/follow_changes.h"
#include "tools/commands/history_reader.h"
#include "tools/commands/history_submitter.h"
#include "tools/commands/http_client.h"
#include "tools/commands/progress.h"
#include "tools/commands/replicate_state.h"
#include "tools/commands/signals.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <span>
#include <thread>

namespace annals::tools {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortestPoll{20};
constexpr milliseconds kLongestPoll{1000};

// The total tells cheaply whether there is something new, unless as many versions were erased as written; and so does the
// newest version, unless an older one became visible after it.
constexpr int kPollsInBetween = 10;

// A year: much more does not fit into a duration of nanoseconds.
constexpr std::uint64_t kRetrySecondsMax = 366ULL * 24 * 60 * 60;

// Signal handlers may write lock-free atomics.
std::atomic<bool> g_stop{false};

struct ReplicateOptions {
    std::string from;
    std::string to;
    ServerUrl source{};  ///< the parsed `from`
    ServerUrl target{};  ///< the parsed `to`
    Credentials from_credentials;
    Credentials to_credentials;
    std::string since;
    std::string state_file;
    std::uint64_t page_size = 1000;
    std::uint64_t retry_seconds = 60;
    bool follow = false;
    bool verify = false;
    bool compresses = false;
    bool quiet = false;
};

Patience make_patience(const ReplicateOptions& options) {
    Patience patience;
    patience.give_up_after = options.follow
                                 ? milliseconds(-1)
                                 : milliseconds(std::chrono::seconds(options.retry_seconds));
    patience.say = say_line;
    patience.stop = [] { return g_stop.load(); };
    return patience;
}

/// Whether the total of a page that begins after `since` equals what remains to be read.
bool is_beginning(const std::string& since) {
    return since.empty() || parse_date_time(since).has_value();
}

/// The entries of `page` after the one with that mark; all if none has it. If `acknowledged` is known, the marked entry
/// was the last of that many; in any other place, something was added or removed before it. (A server that orders by
/// instants inserts a version that took long to commit before those that it has already shown.)
std::span<const std::string_view> entries_after(const HistoryPage& page,
                                                std::optional<std::uint64_t> mark,
                                                std::optional<std::size_t> acknowledged) {
    const std::span<const std::string_view> all(page.entries);
    if (mark) {
        for (std::size_t i = all.size(); i > 0; --i) {
            if (entry_mark(all[i - 1]) == *mark) {
                return acknowledged.value_or(i) == i ? all.subspan(i) : all;
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

/// Sleeps for `pause`, or until the process is asked to stop.
void sleep_a_while(milliseconds pause) {
    const auto wake = std::chrono::steady_clock::now() + pause;
    while (!g_stop && std::chrono::steady_clock::now() < wake) {
        std::this_thread::sleep_for(std::min(pause, milliseconds(50)));
    }
}

/// Waits, with growing pauses, until the source may have more than when its total was `total` or, if it has none, when
/// its last entry was `last`: it may return its newest version first, as FHIR says.
Result<void> await_news(HistoryReader& reader, milliseconds& poll,
                        const std::optional<std::uint64_t>& total,
                        const std::optional<std::uint64_t>& last) {
    for (int i = 0; i < kPollsInBetween && !g_stop; ++i) {
        sleep_a_while(poll);
        poll = std::min(poll * 2, kLongestPoll);
        ANNALS_TRY(const auto now, total ? reader.total() : reader.newest());
        if (!now || now != (total ? total : last)) {
            break;
        }
    }
    return {};
}

/// Reads the page to begin with, and sets the state's target to it. Errors: usage (--since), and as HistoryReader's.
Result<HistoryPage> first_page(HistoryReader& reader, const ReplicateOptions& options,
                               ReplicateState& state) {
    if (state.target.empty()) {
        ANNALS_TRY(state.target, reader.first_target(options.since, options.page_size));
    }
    auto first = reader.read(state.target);
    // The page after an instant has been requested before, so it is not the instant that is refused now.
    if (!first && first.error().code == Errc::invalid && !is_beginning(options.since)) {
        return Error{Errc::usage,
                     "--since is neither an instant nor a cursor of the source's history by "
                     "_sort=_position: " +
                         first.error().detail};
    }
    return first;
}

/// Copies the history page by page, as any server returns it.
Result<void> copy_history(const ReplicateOptions& options, const Patience& patience,
                          HistorySubmitter& submitter, ReplicateState& state,
                          ReplicateCounts& counts) {
    // A final refusal by the target also ends the reading, which may be waiting for a source that is gone.
    std::atomic<bool> refused = false;
    Patience reading = patience;
    reading.stop = [&] { return refused || g_stop; };
    HistoryReader reader(options.source, reading);
    const bool resumed = !state.target.empty() || !is_beginning(options.since);
    ANNALS_TRY(HistoryPage page, first_page(reader, options, state));
    milliseconds poll = kShortestPoll;
    std::optional<std::size_t> acknowledged;  // entries of the page of state.target
    // When resumed or following, it is not known how much of the history is left.
    Progress progress("versions", resumed || options.follow ? 0 : page.total.value_or(0),
                      options.quiet);
    while (true) {
        // Reads one page while the one before is being applied.
        std::future<Result<HistoryPage>> ahead;
        if (!page.next.empty()) {
            ahead = std::async(std::launch::async, [&] { return reader.read(page.next); });
        }
        const auto entries = entries_after(page, state.after, acknowledged);
        Result<void> submitted;
        if (!entries.empty()) {
            submitted = submitter.submit(entries, counts);
            progress.update(counts.sent, counts.sent);
            poll = kShortestPoll;
        }
        refused = !submitted;
        Result<HistoryPage> next = HistoryPage();
        if (ahead.valid()) {
            next = ahead.get();
            // Some servers link to an empty page, and fill up the one before it first.
            if (next && next->entries.empty() && next->next.empty()) {
                page.next.clear();
            }
        }
        if (submitted) {
            submitted = acknowledge(options, page, state);
            acknowledged = page.next.empty() ? std::optional(page.entries.size()) : std::nullopt;
        }
        if (!submitted || g_stop) {
            return submitted;
        }
        if (!page.next.empty()) {
            ANNALS_TRY(page, std::move(next));
            continue;
        }
        if (!options.follow) {
            return {};
        }
        ANNALS_TRY_VOID(await_news(reader, poll, page.total, state.after));
        if (g_stop) {
            return {};
        }
        ANNALS_TRY(page, reader.read(state.target));
    }
}

/// Copies by the change feed if the source has one and is followed from the start, or was copied by it before.
Result<void> run(const ReplicateOptions& options, ReplicateState& state, ReplicateCounts& counts) {
    const Patience patience = make_patience(options);
    HistorySubmitter submitter(options.target, patience);
    if (state.target.empty() && options.follow && options.since.empty()) {
        ANNALS_TRY(const bool feeds, has_change_feed(options.source, patience));
        state.target = feeds ? change_target(0) : "";
    }
    if (position_of(state.target)) {
        return follow_changes(options.source, submitter,
                              {.state_file = options.state_file,
                               .page_size = options.page_size,
                               .follow = options.follow,
                               .quiet = options.quiet,
                               .patience = patience},
                              state, counts);
    }
    return copy_history(options, patience, submitter, state, counts);
}

int verify_replica(const ReplicateOptions& options) {
    const auto compared = compare_stores(options.source, options.target, make_patience(options));
    if (!compared) {
        return fail(compared.error().detail, kExitFaults);
    }
    if (!compared->difference.empty()) {
        std::printf("they differ, after %llu exchange%s: %s\n",
                    static_cast<unsigned long long>(compared->exchanges),
                    compared->exchanges == 1 ? "" : "s", plain(compared->difference).c_str());
        return kExitFaults;
    }
    std::printf("the same: %llu versions, digest %016llx\n",
                static_cast<unsigned long long>(compared->versions),
                static_cast<unsigned long long>(compared->digest));
    return kExitDone;
}

/// Reports on stdout how far it has come; returns the exit code.
int tell(const ReplicateOptions& options, const ReplicateState& state,
         const ReplicateCounts& counts, const Result<void>& done) {
    std::printf("replicated %llu versions: %llu there already, %llu conflicts, %llu refused\n",
                static_cast<unsigned long long>(counts.stored()),
                static_cast<unsigned long long>(counts.ignored),
                static_cast<unsigned long long>(counts.conflicts),
                static_cast<unsigned long long>(counts.refused));
    if (const auto position = position_of(state.target)) {
        std::printf("position %llu\n", static_cast<unsigned long long>(*position));
    }
    if (const std::string cursor = cursor_of(state.target); !cursor.empty()) {
        std::printf("cursor %s\n", plain(cursor).c_str());
    }
    std::fflush(stdout);
    tell_of_missing(counts.missing);
    if (g_stop && !options.follow) {
        return fail("stopped before everything was replicated; run it again to continue from there",
                    kExitFaults);
    }
    if (!done && !g_stop) {
        return fail(done.error().detail, kExitFaults);
    }
    return counts.conflicts + counts.refused > 0 ? kExitFaults : kExitDone;
}

void declare(Arguments& reader, ReplicateOptions& options) {
    reader.required_text("--from", options.from,
                         "root of the server to read: http://HOST:PORT/fhir");
    reader.required_text("--to", options.to, "root of the server to write to");
    declare_credentials(reader, "from", options.from_credentials);
    declare_credentials(reader, "to", options.to_credentials);
    reader.text("--since", options.since,
                "start at this instant, or after this cursor (of _sort=_position)");
    reader.flag("--follow", options.follow, "keep running, and copy what is written later");
    reader.flag(
        "--verify", options.verify,
        "change nothing: report whether both servers hold the same, or the first difference");
    reader.text(
        "--state", options.state_file,
        "file that records the progress (default: named after the two URLs, in this directory)");
    reader.flag("--compress", options.compresses, "send and receive compressed, for a slow line");
    reader.number("--page", options.page_size, "versions per page and bundle");
    reader.number("--retry-for", options.retry_seconds,
                  "give up after this many seconds without a response (with --follow: never)");
    reader.flag("-q,--quiet", options.quiet, "show no progress");
}

/// Checks the options, and completes them. Errors: usage.
Result<void> settle(const Arguments& reader, ReplicateOptions& options) {
    ANNALS_TRY(options.source,
               server_with(options.from, options.from_credentials, options.compresses));
    ANNALS_TRY(options.target, server_with(options.to, options.to_credentials, options.compresses));
    const std::string from = options.source.text();
    const std::string to = options.target.text();
    if (from == to) {
        return Error{Errc::usage, "--from and --to are the same server"};
    }
    if (options.page_size == 0) {
        return Error{Errc::usage, "--page must be at least 1"};
    }
    if (options.retry_seconds > kRetrySecondsMax) {
        return Error{Errc::usage, fmt::format("--retry-for must be at most {}", kRetrySecondsMax)};
    }
    if (options.verify && (options.follow || !options.since.empty() ||
                           !options.state_file.empty() || reader.given("--page"))) {
        return Error{Errc::usage,
                     "--verify compares everything and changes nothing: it cannot be combined with "
                     "--follow, --since, --state or --page"};
    }
    if (options.state_file.empty()) {
        options.state_file = fmt::format("annals-replicate-{:016x}.state", hash64(from + " " + to));
    }
    return {};
}

}  // namespace

int replicate(const ArgumentList& arguments) {
    ReplicateOptions options;
    Arguments reader("replicate",
                     "Copies one server's history to another, continuing where it left off.");
    declare(reader, options);
    if (const auto exit_code = reader.parse(arguments)) {
        return *exit_code;
    }
    if (const auto settled = settle(reader, options); !settled) {
        return reader.refuse(settled.error().detail);
    }
    if (options.verify) {
        return verify_replica(options);
    }
    ReplicateState state;
    state.from = options.source.text();
    state.to = options.target.text();
    const auto lock = lock_state(options.state_file);
    if (!lock) {
        return fail("--state: " + lock.error().detail, kExitUsage);
    }
    auto kept = read_state(options.state_file, state.from, state.to);
    if (!kept) {
        return fail(kept.error().detail, kExitUsage);
    }
    if (*kept && options.since.empty()) {
        state = **kept;
    }
    if (const auto writable = check_state_place(options.state_file); !writable) {
        return fail("--state: " + writable.error().detail, kExitUsage);
    }

    handle_unless_ignored({SIGINT, SIGTERM}, [](int) { g_stop = true; });
    ReplicateCounts counts;
    const auto done = run(options, state, counts);
    if (!done && done.error().code == Errc::usage && counts.sent == 0) {
        return reader.refuse(done.error().detail);
    }
    return tell(options, state, counts, done);
}

}  // namespace annals::tools
