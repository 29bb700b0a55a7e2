#include "core/interactions/history_bundle_ignored.h"

#include "codec/json/same.h"
#include "core/base/log.h"
#include "core/interactions/history_bundle_entry.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace annals::core {

namespace {

/// How many stored versions are fetched from the device at a time.
constexpr std::size_t kComparedAtOnce = 128;

/// Whether the stored `body` is equivalent to that of `entry`, which has the same instant, though not byte for byte: it
/// may have been sent as XML, or by a program that writes JSON differently.
bool says_the_same(const HistoryEntry& entry, std::string_view body) {
    const Result<json::Document> stored = thread_parser().parse(body);
    if (!stored) {
        return false;
    }
    const std::string instant = stored->root()["meta"]["lastUpdated"].string();
    const KeptBody kept(entry, instant);
    const Result<json::Document> sent = parse_planned(kept.plan());
    return sent && json::is_same(sent->root(), stored->root());
}

/// Whether `stored` has the contents of `entry`, apart from an unknown instant. None if it may not block and the
/// version is only on the device.
std::optional<bool> same_content(const storage::Store& store, const HistoryEntry& entry,
                                 const storage::VersionInfo& stored, bool may_block) {
    if (stored.deletion != entry.deletion || (entry.instant && *entry.instant != stored.instant)) {
        return false;
    }
    if (entry.deletion) {
        return true;
    }
    const auto bytes = may_block ? store.load(stored) : store.load_resident(stored);
    if (!bytes) {
        return true;  // Erased meanwhile: there is nothing to compare.
    }
    if (bytes->unread) {
        return std::nullopt;
    }
    const KeptBody body(entry);
    // Only the instant may be unknown here.
    return is_body_of(body.plan(), bytes->body) || says_the_same(entry, bytes->body);
}

}  // namespace

asio::awaitable<bool> IgnoredEntries::compare() {
    const std::vector<Entry> entries = std::exchange(entries_, {});
    std::span<const Entry> left(entries);
    while (!left.empty()) {
        if (turns_.is_late()) {
            co_return false;
        }
        std::vector<const Entry*> unread;
        std::vector<Position> positions;
        std::size_t count = 0;
        do {
            const Entry& one = left[count++];
            if (const std::optional<Position> at = compare_one(one, false)) {
                unread.push_back(&one);
                positions.push_back(*at);
            }
        } while (count < std::min(left.size(), kComparedAtOnce) && !turns_.pace().is_over());
        left = left.subspan(count);
        if (!positions.empty()) {
            co_await request_.loop->fetched(std::move(positions));
        }
        co_await turns_.give_way();
        for (const Entry* const one : unread) {
            compare_one(*one, true);
            if (turns_.pace().is_over()) {
                co_await turns_.give_way();
                if (turns_.is_late()) {
                    co_return false;
                }
            }
        }
    }
    co_return true;
}

std::optional<Position> IgnoredEntries::compare_one(const Entry& ignored, bool may_block) const {
    HistoryEntry entry;
    if (!read_history_entry(ignored.value, entry) || !entry.version) {
        return std::nullopt;
    }
    const auto stored = service_.store().version(entry.type, entry.id, *entry.version);
    if (!stored) {
        ignored.outcome->missing = true;
        return std::nullopt;
    }
    const std::optional<bool> same = same_content(service_.store(), entry, *stored, may_block);
    if (!same) {
        return stored->position;
    }
    if (!*same) {
        ignored.outcome->fate = HistoryFate::differs;
        service_.count_divergence();
        log_warning(
            fmt::format("history bundle: version {} of a resource ({}) differs from the stored one "
                        "(request {})",
                        entry.version->value, resource_type_name(entry.type), request_.request_id));
    }
    return std::nullopt;
}

}  // namespace annals::core
