#include "tools/commands/import_lane.h"

#include "tools/commands/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unordered_set>

namespace annals::tools {

namespace {

constexpr std::size_t kQueuedPacksMax = 2;
constexpr std::chrono::milliseconds kLongestPause{5000};
constexpr int kRetries = 12;  // about 35 s with its pauses

std::string bundle_of(const Pack& pack) {
    if (pack.kind == Pack::Kind::whole) {
        return pack.entries.front().text;
    }
    std::string text;
    text.reserve(pack.bytes + pack.entries.size() + 64);
    text = pack.kind == Pack::Kind::history
               ? R"({"resourceType":"Bundle","type":"history","entry":[)"
               : R"({"resourceType":"Bundle","type":"batch","entry":[)";
    for (const Pack::Entry& entry : pack.entries) {
        text.append(entry.text).push_back(',');
    }
    text.back() = ']';
    text.push_back('}');
    return text;
}

bool passing(int status) {
    return status == 429 || status == 503;
}

/// The part of a batch entry that identifies the resource it writes; empty: it creates a new one.
std::string_view target_of(const Pack::Entry& entry) {
    const std::string_view text = entry.text;
    const std::size_t request = text.rfind(R"(,"request":{)");
    const std::string_view target = request == std::string_view::npos ? "" : text.substr(request);
    return target.starts_with(R"(,"request":{"method":"PUT")") ? target : "";
}

}  // namespace

// ---- ImportReport ----

std::string ImportReport::placed(const Origin& origin, const std::string& why) const {
    std::string place = fmt::format("{}:{}", files[origin.file], origin.line);
    if (origin.entry >= 0) {
        place += fmt::format(": entry[{}]", origin.entry);
    }
    return fmt::format("{}: {}", place, why);
}

void ImportReport::refused(const Origin& origin, const std::string& why) {
    ++refused_;
    say_line(placed(origin, why));
}

void ImportReport::give_up(const Origin& origin, const std::string& why) {
    // Set last: whoever sees it reports what it leaves out, which comes after the reason.
    std::call_once(giving_up_, [&] {
        why_ = placed(origin, "stopped here: " + why);
        say_line(why_);
        gave_up_ = true;
    });
}

void ImportReport::read_through(const Origin& origin) {
    cut_short_ = true;
    say_line(placed(origin, "nothing after this line was read"));
}

// ---- ImportLane ----

ImportLane::ImportLane(std::unique_ptr<Destination> destination, ImportReport& report,
                       std::chrono::milliseconds first_pause)
    : destination_(std::move(destination)),
      report_(report),
      first_pause_(first_pause),
      thread_([this] { run(); }) {
}

ImportLane::~ImportLane() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void ImportLane::push(Pack pack) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.size() < kQueuedPacksMax; });
    queue_.push_back(std::move(pack));
    lock.unlock();
    changed_.notify_all();
}

void ImportLane::drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
}

void ImportLane::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
        if (queue_.empty()) {
            return;
        }
        Pack pack = std::move(queue_.front());
        queue_.pop_front();
        busy_ = true;
        lock.unlock();
        changed_.notify_all();
        if (report_.gave_up()) {
            leave_out(pack);
        } else {
            submit(std::move(pack));
        }
        lock.lock();
        busy_ = false;
        changed_.notify_all();
    }
}

/// History has one lane, so everything from the reported line on is left out. For the rest, other lanes may be further.
void ImportLane::leave_out(const Pack& pack) {
    if (pack.kind == Pack::Kind::history) {
        return;
    }
    for (const Pack::Entry& entry : pack.entries) {
        report_.refused(entry.origin, "not sent, as the import stopped");
    }
}

void ImportLane::give_up(const Pack& pack, const std::string& why) {
    const std::string_view ails = destination_->ails();
    report_.give_up(pack.entries.front().origin,
                    fmt::format("{}{}{}", why, ails.empty() ? "" : ": ", ails));
    leave_out(pack);
}

void ImportLane::submit(Pack pack) {
    const bool history = pack.kind == Pack::Kind::history;
    auto pause = first_pause_;
    for (int attempt = 0;; ++attempt) {
        const std::string bundle = bundle_of(pack);
        const bool divisible = pack.entries.size() > 1;
        if (divisible && bundle.size() >= refused_bytes_) {
            return submit_halves(std::move(pack));
        }
        const auto reply = destination_->submit(bundle, history);
        const Origin first = pack.entries.front().origin;
        std::string trouble;
        if (!reply) {
            if (history || reply.error().code == Errc::no_store) {
                return give_up(pack, reply.error().detail);
            }
            for (const Pack::Entry& entry : pack.entries) {
                report_.refused(entry.origin, reply.error().detail + "; it may have been stored");
            }
            return;
        }
        const bool too_slow = reply->status == 408;  // for the request timeout of the server
        if (reply->status == 413 && divisible) {
            refused_bytes_ = bundle.size();
        }
        if ((reply->status == 413 || too_slow) && divisible) {
            return submit_halves(std::move(pack));
        }
        if (reply->status == 200) {
            trouble = take_answers(pack, reply->body);
            if (trouble.empty()) {
                return;
            }
        } else if (passing(reply->status) || too_slow) {
            trouble = outcome_text(parser_, reply->body);
        } else {
            const std::string why =
                fmt::format("{} {}", reply->status, outcome_text(parser_, reply->body));
            // Other submissions may be smaller.
            const bool too_large = reply->status == 413;
            if (!too_large &&
                (pack.kind != Pack::Kind::whole || reply->status == 401 || reply->status == 403 ||
                 reply->status == 405 || reply->status >= 500)) {
                return give_up(pack, why);
            }
            return report_.refused(first, why);
        }
        if (attempt == kRetries) {
            return give_up(pack, trouble);
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, kLongestPause);
    }
}

std::string ImportLane::take_answers(Pack& pack, std::string_view body) {
    const auto answers = read_answers(parser_, body);
    if (!answers) {
        give_up(pack, answers.error().detail);
        return {};
    }
    const bool whole = pack.kind == Pack::Kind::whole;
    if (answers->size() != (whole ? pack.parts : pack.entries.size())) {
        const std::string why = "the response has a different number of entries";
        whole ? report_.refused(pack.entries.front().origin, why + "; it may have been stored")
              : give_up(pack, why);
        return {};
    }
    std::vector<Pack::Entry> again = judge(pack, *answers);
    if (again.empty()) {
        return {};
    }
    const auto cause = std::find_if(answers->begin(), answers->end(),
                                    [](const EntryAnswer& entry) { return passing(entry.status); });
    std::string why = fmt::format("{} entries were not accepted: {} {}", again.size(),
                                  cause->status, cause->diagnostics);
    // History is repeated as a whole: an entry must not overtake an older one.
    if (pack.kind != Pack::Kind::history) {
        pack.entries = std::move(again);
    }
    return why;
}

void ImportLane::submit_halves(Pack pack) {
    Pack rest{pack.kind, {}, pack.bytes};
    const auto middle = pack.entries.begin() + static_cast<std::ptrdiff_t>(pack.entries.size() / 2);
    std::move(middle, pack.entries.end(), std::back_inserter(rest.entries));
    pack.entries.erase(middle, pack.entries.end());
    submit(std::move(pack));
    // The rest must not be stored before what precedes it.
    report_.gave_up() ? leave_out(rest) : submit(std::move(rest));
}

std::vector<Pack::Entry> ImportLane::judge(const Pack& pack,
                                           const std::vector<EntryAnswer>& answers) {
    std::vector<Pack::Entry> again;
    std::vector<bool> goes_again(answers.size());
    const bool whole = pack.kind == Pack::Kind::whole;
    if (!whole) {
        // Later writes of the same resource are repeated, too, since they would no longer be the newest.
        std::unordered_set<std::string_view> targets;
        for (std::size_t i = 0; i < answers.size(); ++i) {
            const std::string_view target = target_of(pack.entries[i]);
            goes_again[i] = passing(answers[i].status) || targets.contains(target);
            if (goes_again[i]) {
                again.push_back(pack.entries[i]);
            }
            if (goes_again[i] && !target.empty()) {
                targets.insert(target);
            }
        }
        if (pack.kind == Pack::Kind::history && !again.empty()) {
            return again;
        }
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const EntryAnswer& answer = answers[i];
        if (goes_again[i]) {
            continue;
        }
        Origin origin = pack.entries[whole ? 0 : i].origin;
        if (whole) {
            origin.entry = static_cast<std::int64_t>(i);
        }
        if (answer.conflict) {
            report_.refused(origin, "conflict: " + answer.diagnostics);
        } else if (answer.status == 0) {
            report_.refused(origin, "the response does not mention it; it may have been stored");
        } else if (answer.status >= 400) {
            report_.refused(origin, fmt::format("{} {}", answer.status, answer.diagnostics));
        } else if (answer.missing) {
            report_.missing(1);
        } else if (answer.ignored) {
            report_.ignored(1);
        } else {
            report_.done(1);
        }
    }
    return again;
}

}  // namespace annals::tools
