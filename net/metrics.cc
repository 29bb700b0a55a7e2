#include "net/metrics.h"

#include "core/base/all_resource_types.h"
#include "net/auditor.h"
#include "net/auth/token_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

namespace annals::net {

namespace {

class Page {
  public:
    void family(std::string_view name, std::string_view kind, std::string_view help) {
        text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
    }

    template <typename Number>
    void single(std::string_view name, std::string_view kind, std::string_view help, Number value) {
        family(name, kind, help);
        text += fmt::format("{} {}\n", name, value);
    }

    std::string text;
};

template <typename Read>
std::uint64_t sum(std::span<const LoopMetrics* const> loops, const Read& read) {
    std::uint64_t total = 0;
    for (const LoopMetrics* loop : loops) {
        total += std::invoke(read, *loop).value();
    }
    return total;
}

void add_requests(Page& page, std::span<const LoopMetrics* const> loops) {
    page.family("annals_http_requests_total", "counter", "Requests answered.");
    for (std::size_t m = 0; m < kMethodCount; ++m) {
        const std::string_view method = core::method_name(static_cast<core::HttpMethod>(m));
        for (std::size_t c = 0; c < kStatusClassCount; ++c) {
            const std::uint64_t count = sum(loops, [&](const LoopMetrics& loop) -> const auto& {
                return loop.methods[m].by_status_class[c];
            });
            if (count > 0) {
                page.text +=
                    fmt::format("annals_http_requests_total{{method=\"{}\",code=\"{}xx\"}} {}\n",
                                method, c + 1, count);
            }
        }
    }

    page.family("annals_http_request_seconds", "histogram",
                "Time from the arrival of the whole request to its response.");
    for (std::size_t m = 0; m < kMethodCount; ++m) {
        const std::string_view method = core::method_name(static_cast<core::HttpMethod>(m));
        std::array<std::uint64_t, kLatencyBucketsUs.size() + 1> counts;
        std::uint64_t total = 0;
        for (std::size_t b = 0; b < counts.size(); ++b) {
            counts[b] = sum(loops, [&](const LoopMetrics& loop) -> const auto& {
                return loop.methods[m].by_latency[b];
            });
            total += counts[b];
        }
        if (total == 0) {
            continue;
        }
        std::uint64_t below = 0;
        for (std::size_t b = 0; b < kLatencyBucketsUs.size(); ++b) {
            below += counts[b];
            page.text +=
                fmt::format("annals_http_request_seconds_bucket{{method=\"{}\",le=\"{}\"}} {}\n",
                            method, static_cast<double>(kLatencyBucketsUs[b]) / 1e6, below);
        }
        const std::uint64_t latency = sum(loops, [&](const LoopMetrics& loop) -> const auto& {
            return loop.methods[m].latency_us;
        });
        page.text += fmt::format(
            "annals_http_request_seconds_bucket{{method=\"{0}\",le=\"+Inf\"}} {1}\n"
            "annals_http_request_seconds_sum{{method=\"{0}\"}} {2}\n"
            "annals_http_request_seconds_count{{method=\"{0}\"}} {1}\n",
            method, total, static_cast<double>(latency) / 1e6);
    }
}

void add_log(Page& page, const storage::StoreMetrics& metrics) {
    page.single("annals_store_commits_total", "counter", "Commits made durable.", metrics.commits);
    page.single("annals_store_versions_written_total", "counter", "Versions written.",
                metrics.versions_written);
    page.single("annals_store_bytes_written_total", "counter", "Bytes written to the log.",
                metrics.bytes_written);
    page.single("annals_store_syncs_total", "counter", "Syncs of the log.", metrics.syncs);
    page.single("annals_store_sync_seconds_total", "counter", "Time spent in syncs.",
                metrics.sync_seconds);
    page.single("annals_store_segments", "gauge", "Segments of the log.", metrics.segments);
    page.single("annals_store_log_bytes", "gauge", "Bytes of the log on disk.", metrics.log_bytes);
    page.single("annals_store_index_bytes", "gauge", "Bytes of the index in memory.",
                metrics.index_bytes);
    page.single("annals_store_gathered_bytes", "gauge",
                "Bytes submitted and not yet committed or refused.", metrics.gathered_bytes);
}

void add_housekeeping(Page& page, const storage::StoreMetrics& metrics) {
    page.single("annals_erased_bodies_total", "counter",
                "Bodies of erased versions removed from the log.", metrics.bodies_erased);
    page.single("annals_history_cleanup_cycles_total", "counter", "Cycles of history cleanup.",
                metrics.cleanup_cycles);
    page.single("annals_history_cleanup_versions_total", "counter",
                "Versions that history cleanup removed.", metrics.cleanup_versions);
    page.single("annals_history_cleanup_last_seconds", "gauge",
                "When the last cycle of history cleanup ended, in seconds since 1970; 0: none has "
                "ended yet.",
                static_cast<std::uint64_t>(metrics.cleanup_ended.us) / 1'000'000);
    page.single("annals_compaction_segments_total", "counter", "Segments compacted.",
                metrics.compaction.segments_done);
    page.single("annals_compaction_freed_bytes_total", "counter", "Bytes that compaction freed.",
                metrics.compaction.bytes_freed);
    page.single("annals_dead_bytes", "gauge", "Bytes that compaction could free now.",
                metrics.compaction.dead_bytes);
    page.single("annals_store_segments_compressed", "gauge", "Segments whose file is compressed.",
                metrics.segments_packed);
    page.single("annals_compression_segments_total", "counter", "Segments compressed.",
                metrics.compaction.segments_packed);
    page.single("annals_compression_read_bytes_total", "counter",
                "Bytes of the segments that were compressed, before compression.",
                metrics.compaction.pack_bytes_read);
    page.single("annals_compression_written_bytes_total", "counter",
                "Bytes of the segments that were compressed, after compression.",
                metrics.compaction.pack_bytes_written);
}

void add_search(Page& page, const storage::StoreMetrics& metrics) {
    page.single("annals_search_index_bytes", "gauge", "Bytes of the search index in memory.",
                metrics.search.bytes);
    page.single("annals_search_documents", "gauge", "Versions in the search index.",
                metrics.search.documents);
    page.single("annals_search_documents_superseded", "gauge",
                "Versions among these that are kept only for further pages of earlier searches.",
                metrics.search.documents_died);
    page.single("annals_search_runs", "gauge", "Runs of the search index.", metrics.search.runs);
    page.single("annals_search_merges_total", "counter", "Merges of runs.", metrics.search.merges);
    page.single("annals_search_merge_seconds_total", "counter", "Time spent merging runs.",
                static_cast<double>(metrics.search.merge_us) / 1e6);
    page.single("annals_search_checkpoints_total", "counter",
                "Checkpoints of the search index written.", metrics.search_checkpoints);
    page.single("annals_search_checkpoint_bytes", "gauge",
                "Bytes of the newest checkpoint on disk.", metrics.search_checkpoint_bytes);
}

void add_store(Page& page, const storage::Store& store) {
    const storage::StoreMetrics metrics = store.metrics();
    add_log(page, metrics);
    add_housekeeping(page, metrics);
    add_search(page, metrics);
    const storage::Totals all = store.totals();
    page.single("annals_store_versions", "gauge", "Versions and deletions in the store.",
                all.versions);
    page.single("annals_store_last_position", "gauge", "Newest position in commit order.",
                store.last_position().value);
    page.family("annals_store_resources", "gauge", "Live resources by type.");
    for (const TypeId type : kAllResourceTypes) {
        if (const storage::Totals totals = store.totals(type); totals.versions > 0) {
            page.text += fmt::format("annals_store_resources{{type=\"{}\"}} {}\n",
                                     resource_type_name(type), totals.live);
        }
    }
    page.single("annals_store_writable", "gauge", "1 if the store accepts writes, else 0.",
                store.write_state() == storage::WriteState::ready ? 1 : 0);
}

}  // namespace

void LoopMetrics::answered(core::HttpMethod method, int status, std::uint64_t latency_us) noexcept {
    OfMethod& of = methods[static_cast<std::size_t>(method)];
    const int status_class = std::clamp(status / 100, 1, 5) - 1;
    of.by_status_class[static_cast<std::size_t>(status_class)].add();
    std::size_t bucket = 0;
    while (bucket < kLatencyBucketsUs.size() && latency_us > kLatencyBucketsUs[bucket]) {
        ++bucket;
    }
    of.by_latency[bucket].add();
    of.latency_us.add(latency_us);
}

std::string audit_metrics(const Auditor& audit) {
    Page page;
    page.single("annals_audit_lines_total", "counter", "Lines written to the audit log.",
                audit.log().lines());
    page.single("annals_audit_lines_waiting", "gauge",
                "Requests under way and lines to be written.", audit.log().waiting());
    if (audit.events() != nullptr) {
        page.single("annals_audit_resources_total", "counter", "Accesses that became resources.",
                    audit.events()->written());
        page.single("annals_audit_resources_dropped_total", "counter", "Accesses that did not.",
                    audit.events()->dropped());
    }
    return std::move(page.text);
}

std::string token_metrics(const auth::TokenEndpoint& endpoint) {
    Page page;
    page.family("annals_tokens_total", "counter",
                "Requests for tokens of this server, by what came of them.");
    page.text += fmt::format(
        "annals_tokens_total{{outcome=\"issued\"}} {}\n"
        "annals_tokens_total{{outcome=\"refused\"}} {}\n",
        endpoint.issued(), endpoint.refused());
    return std::move(page.text);
}

std::string subscription_metrics(const core::SubscriptionStats& stats) {
    Page page;
    page.single("annals_subscriptions_active", "gauge", "Active subscriptions.", stats.active);
    page.single("annals_subscription_notifications_total", "counter", "Notifications delivered.",
                stats.delivered);
    page.single("annals_subscription_failures_total", "counter",
                "Failed attempts to deliver a notification.", stats.failed);
    page.family(
        "annals_subscription_lag_positions", "gauge",
        "Positions by which a subscription is behind the newest one; for those furthest behind.");
    for (const auto& [id, lag] : stats.lags) {
        page.text +=
            fmt::format("annals_subscription_lag_positions{{subscription=\"{}\"}} {}\n", id, lag);
    }
    return std::move(page.text);
}

std::string prometheus_page(std::span<const LoopMetrics* const> loops,
                            const core::Service& service) {
    Page page;
    page.family("annals_build_info", "gauge", "The running version.");
    page.text += "annals_build_info{version=\"" ANNALS_VERSION "\"} 1\n";
    add_requests(page, loops);
    page.single("annals_http_connections", "gauge", "Open connections.",
                sum(loops, &LoopMetrics::connections));
    page.single("annals_http_connections_total", "counter", "Connections accepted.",
                sum(loops, &LoopMetrics::connections_opened));
    page.single("annals_http_connections_refused_total", "counter",
                "Connections refused because of the limits.", sum(loops, &LoopMetrics::refused));
    page.single("annals_http_requests_throttled_total", "counter",
                "Requests refused because of limits.rate or auth.introspection.refused_rate.",
                sum(loops, &LoopMetrics::throttled));
    page.single("annals_http_requests_in_flight", "gauge",
                "Requests that wait for something or take turns with others.",
                sum(loops, &LoopMetrics::in_flight));
    add_store(page, service.store());
    page.single("annals_replication_divergences_total", "counter",
                "Versions received in history bundles that differ from the stored ones.",
                service.divergences());
    if (const auto followed = service.followed()) {
        page.single("annals_replication_source_position", "gauge",
                    "Newest known position of the server that is followed.", followed->value);
    }
    return std::move(page.text);
}

}  // namespace annals::net
