#include "net/auth/replays.h"

#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/parts.h"
#include "core/base/text.h"
#include "net/auth/claims.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <utility>

namespace annals::net::auth {

namespace {

/// How often expired ones are removed.
constexpr std::int64_t kLookIntervalUs = 30'000'000;

constexpr std::string_view kFirstWords = "annals-assertions 1 ";
constexpr std::string_view kOpen = "open";    ///< a process appends to it
constexpr std::string_view kWhole = "whole";  ///< it has ended, and no line is missing
constexpr std::uint64_t kReplaysBytesMax = 128 << 20;
/// The file is not rewritten for fewer superfluous lines than this.
constexpr std::size_t kLinesSpare = 1000;

std::string line_of(const std::string& client, const std::string& digest, Instant expires) {
    return fmt::format("{} {} {}\n", expires.us, digest, client);
}

/// Whether `text` may be what sha256_hex() returns.
bool is_digest(std::string_view text) noexcept {
    constexpr std::size_t kDigits = 64;
    return text.size() == kDigits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Instant machine_begin(Instant now) noexcept {
    timespec since{};
    return ::clock_gettime(CLOCK_BOOTTIME, &since) == 0
               ? Instant{now.us - since.tv_sec * 1'000'000 - since.tv_nsec / 1000}
               : now;
}

Replays::Replays(std::chrono::microseconds life_max, Instant now)
    : life_max_(life_max), looked_(now) {
}

Result<std::unique_ptr<Replays>> Replays::open(storage::FileSystem& files, std::string file,
                                               Instant began, std::chrono::microseconds life_max,
                                               Instant now) {
    auto replays = std::make_unique<Replays>(life_max, now);
    if (files.exists(file)) {
        const auto text = storage::read_whole(files, file, kReplaysBytesMax);
        if (!text && text.error().code != Errc::corrupt) {
            return Error(text.error());
        }
        if (!text || !text->starts_with(kFirstWords) || !replays->read(*text, began, now)) {
            replays->known_from_ = replays->latest_end(now);
            log_warning(
                fmt::format("{} is damaged: client assertions that expire before {} are rejected",
                            file, format_instant(replays->known_from_)));
        }
    }
    replays->path_ = std::move(file);
    replays->files_ = &files;
    if (auto written = replays->write_anew(kOpen, true); !written) {
        replays->files_ = nullptr;
        return std::move(written.error());
    }
    return replays;
}

std::unique_ptr<Replays> Replays::without_memory(std::chrono::microseconds life_max, Instant now) {
    auto replays = std::make_unique<Replays>(life_max, now);
    replays->known_from_ = replays->latest_end(now);
    return replays;
}

Replays::~Replays() {
    if (files_ != nullptr) {
        // If this fails, the next process only rejects more than necessary.
        (void)write_anew(kWhole, true);
    }
}

Instant Replays::complete_from() const noexcept {
    return std::max(known_from_, Instant{looked_.us + 1});
}

bool Replays::read(std::string_view text, Instant began, Instant now) {
    text.remove_prefix(kFirstWords.size());
    // Anything after the last line break is an incomplete line, whose client's name may be cut off.
    text = text.substr(0, text.rfind('\n') + 1);
    std::string_view from = take_until(text, '\n');
    const std::string_view state = take_until(from, ' ');
    if (!from.empty()) {
        // As in make_room(): the clock may have gone back since.
        const std::int64_t most = latest_end(now).us;
        known_from_ = {std::min(parse_number<std::int64_t>(from).value_or(most), most)};
    }
    if (state != kWhole) {
        known_from_ = std::max(known_from_, latest_end(began));
    }
    bool whole = true;
    while (!text.empty()) {
        std::string_view line = take_until(text, '\n');
        const auto expires = parse_number<std::int64_t>(take_until(line, ' '));
        std::string digest(take_until(line, ' '));
        if (!expires || !is_digest(digest) || line.empty()) {
            whole = false;
            continue;
        }
        if (*expires <= now.us) {
            continue;
        }
        if (count_ >= kAllMax) {
            drop_far(now);
        }
        if (count_ >= kAllMax) {
            known_from_ = latest_end(now);  // what follows is not remembered
            return whole;
        }
        auto& seen = seen_[std::string(line)];
        count_ += seen.insert_or_assign(std::move(digest), Instant{*expires}).second ? 1 : 0;
    }
    return whole;
}

Result<void> Replays::write_anew(std::string_view state, bool durable) {
    std::string text = fmt::format("{}{} {}\n", kFirstWords, state, complete_from().us);
    std::size_t lines = 0;
    for (const auto& [client, seen] : seen_) {
        for (const auto& [digest, expires] : seen) {
            text += line_of(client, digest, expires);
            ++lines;
        }
    }
    ANNALS_TRY(file_, storage::replace_and_open(*files_, path_, text, durable));
    file_bytes_ = text.size();
    lines_ = lines;
    return {};
}

Result<void> Replays::append(const std::string& client, const std::string& digest,
                             Instant expires) {
    const std::string line = line_of(client, digest, expires);
    ANNALS_TRY_VOID(file_->write(file_bytes_, line));
    file_bytes_ += line.size();
    ++lines_;
    return {};
}

Result<void> Replays::take(const std::string& client, const Assertion& assertion, Instant now) {
    std::string digest = sha256_hex(assertion.id);
    const std::lock_guard lock(mutex_);
    make_room(now);
    auto& seen = seen_[client];
    if (const auto found = seen.find(digest); found != seen.end() && found->second > now) {
        return bad_credentials("The assertion has been used before");
    }
    if (assertion.expires < known_from_) {
        return bad_credentials(
            "The assertion may have been used before; create one that expires later");
    }
    if (seen.size() >= kOfOneClientMax || count_ >= kAllMax) {
        return Error{Errc::overloaded};
    }
    if (files_ != nullptr) {
        if (const auto written = append(client, digest, assertion.expires); !written) {
            log_error(fmt::format("{}: {}", path_, written.error().detail));
            return Error{Errc::overloaded};
        }
    }
    count_ += seen.insert_or_assign(std::move(digest), assertion.expires).second ? 1 : 0;
    return {};
}

void Replays::make_room(Instant now) {
    if (now < looked_) {
        // The clock went back: what had expired and was removed may be valid again. Nothing is refused that
        // expires later than what can be taken now, or nobody would get a token until the clock is
        // there again. So what a client made whose clock was ahead too can be replayed then.
        known_from_ = std::min(complete_from(), latest_end(now));
    } else if (now.us < looked_.us + kLookIntervalUs) {
        return;
    }
    looked_ = now;
    for (auto& [client, seen] : seen_) {
        count_ -= std::erase_if(seen, [&](const auto& entry) { return entry.second <= now; });
    }
    drop_far(now);
    std::erase_if(seen_, [](const auto& entry) { return entry.second.empty(); });
    if (files_ != nullptr && lines_ > 2 * count_ + kLinesSpare) {
        if (const auto written = write_anew(kOpen, false); !written) {
            log_warning(fmt::format("{}: {}", path_, written.error().detail));
        }
    }
}

void Replays::drop_far(Instant now) {
    // They were taken while the clock was ahead, and nobody can present them again soon. They are kept
    // as long as there is room: it may be the present time that is wrong.
    const Instant far = latest_end(latest_end(now));
    const bool all_full = count_ >= kAllMax;
    for (auto& [client, seen] : seen_) {
        if (all_full || seen.size() >= kOfOneClientMax) {
            count_ -= std::erase_if(seen, [&](const auto& entry) { return entry.second > far; });
        }
    }
}

}  // namespace annals::net::auth
