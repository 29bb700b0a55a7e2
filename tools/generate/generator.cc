#include "tools/generate/generator.h"

#include "core/base/check.h"
#include "tools/generate/render.h"
#include "tools/generate/text.h"

#include <algorithm>

namespace annals::generate {
namespace {

// A patient's average size, to spread an unknown number of them over time.
constexpr std::uint64_t kVersionsPerPatient = 225;
constexpr std::uint64_t kBytesPerPatient = 350'000;
constexpr std::int64_t kOpenChartsMax = 512;
constexpr std::string_view kBase = "https://generated.example/fhir/";

std::uint64_t expected_patients(const Options& options) {
    std::uint64_t patients = options.patients;
    const auto bound = [&](std::uint64_t other) {
        patients = patients == 0 ? other : std::min(patients, other);
    };
    if (options.versions != 0) {
        bound(options.versions / kVersionsPerPatient + 1);
    }
    if (options.bytes != 0) {
        bound(options.bytes / kBytesPerPatient + 1);
    }
    return patients;
}

std::string_view method_of(Change change) {
    switch (change) {
        case Change::create:
            return "POST";
        case Change::update:
            return "PUT";
        case Change::remove:
            return "DELETE";
    }
    return {};
}

std::string_view status_of(Change change) {
    switch (change) {
        case Change::create:
            return "201 Created";
        case Change::update:
            return "200 OK";
        case Change::remove:
            return "410 Gone";
    }
    return {};
}

}  // namespace

struct Generator::Impl {
    explicit Impl(const Options& options)
        : options_(options),
          expected_(expected_patients(options)),
          world_(make_world(
              options.seed,
              static_cast<std::uint32_t>(std::clamp<std::uint64_t>(expected_ / 50, 4, 200)),
              options.from)) {
        ANNALS_CHECK(expected_ > 0 && options.bundle_entries > 0);
        const std::int64_t span = std::max<std::int64_t>(options.until.us - options.from.us, kHour);
        gap_us_ = std::max<std::int64_t>(span / static_cast<std::int64_t>(expected_), 1000);
        width_us_ = std::min(span / 8, gap_us_ * kOpenChartsMax);
        if (options.form == Form::history) {
            open(world_.chart);
        }
    }

    // ---- transaction form and plain resources ----

    bool next_transaction(std::string& out) {
        if (full()) {
            return false;
        }
        out.append(R"({"resourceType":"Bundle","type":"transaction","entry":[)");
        if (counts_.bundles == 0) {
            put_transaction(out, world_.chart, false);
        } else {
            put_transaction(out, next_patient(), true);
        }
        out.append("]}");
        return true;
    }

    // Shared resources are PUT with their own id; the patient's are created and linked by urn:uuid.
    void put_transaction(std::string& out, const Chart& chart, bool create) {
        const Scene scene{world_, chart, create};
        bool first = true;
        for (const Item& item : chart.items) {
            put(out, first ? R"({"fullUrl":"urn:uuid:)" : R"(,{"fullUrl":"urn:uuid:)",
                Uuid{item.seed}, R"(","resource":)");
            first = false;
            render(out, scene, item, item.states - 1u, Identity{.id = !create});
            put(out,
                create ? R"(,"request":{"method":"POST","url":")"
                       : R"(,"request":{"method":"PUT","url":")",
                type_name(item.kind));
            if (!create) {
                put(out, "/", Uuid{item.seed});
            }
            out.append("\"}}");
        }
        count_all(chart);
    }

    bool next_lines(std::string& out) {
        if (full()) {
            return false;
        }
        const Chart patient = counts_.bundles == 0 ? Chart{} : next_patient();
        const Chart& chart = counts_.bundles == 0 ? world_.chart : patient;
        const Scene scene{world_, chart};
        for (const Item& item : chart.items) {
            render(out, scene, item, item.states - 1u, Identity{.id = true});
            out.push_back('\n');
        }
        count_all(chart);
        return true;
    }

    Chart next_patient() {
        const std::uint64_t number = counts_.patients++;
        return make_patient(options_.seed, number, world_, schedule_of(number));
    }

    void count_all(const Chart& chart) {
        counts_.resources += chart.items.size();
        counts_.versions += chart.items.size();
    }

    bool full() const {
        return (options_.patients != 0 && counts_.patients >= options_.patients) ||
               (options_.versions != 0 && counts_.versions >= options_.versions) ||
               (options_.bytes != 0 && counts_.bytes >= options_.bytes);
    }

    // ---- history form: the open charts' events, merged ----

    struct Open {
        Chart chart;
        std::vector<Event> events;
        std::size_t next = 0;

        Instant when() const { return events[next].when; }
    };

    // The heap's top is the chart with the oldest event; ties are broken by seed.
    static bool later(const std::unique_ptr<Open>& a, const std::unique_ptr<Open>& b) {
        return a->when() != b->when() ? a->when() > b->when() : a->chart.seed > b->chart.seed;
    }

    Schedule schedule_of(std::uint64_t number) const {
        return {Instant{options_.from.us + kHour + static_cast<std::int64_t>(number) * gap_us_},
                width_us_};
    }

    void open(Chart chart) {
        auto open = std::make_unique<Open>();
        open->chart = std::move(chart);
        open->events = make_events(open->chart);
        open_.push_back(std::move(open));
        std::push_heap(open_.begin(), open_.end(), later);
    }

    // Opens every patient whose chart starts before the oldest pending event.
    void admit() {
        while (options_.patients == 0 || counts_.patients < options_.patients) {
            const Schedule schedule = schedule_of(counts_.patients);
            if (!open_.empty() && open_.front()->when() < schedule.start) {
                return;
            }
            open(make_patient(options_.seed, counts_.patients, world_, schedule));
            ++counts_.patients;
        }
    }

    // `unfinished`: bytes of the current bundle.
    bool history_ended(std::size_t unfinished) const {
        return open_.empty() || (options_.versions != 0 && counts_.versions >= options_.versions) ||
               (options_.bytes != 0 && counts_.bytes + unfinished >= options_.bytes);
    }

    bool next_history(std::string& out) {
        admit();
        if (history_ended(0)) {
            return false;
        }
        out.append(R"({"resourceType":"Bundle","type":"history","entry":[)");
        for (std::uint64_t entries = 0; entries < options_.bundle_entries; ++entries) {
            admit();
            if (history_ended(entries == 0 ? 0 : out.size())) {
                break;
            }
            std::pop_heap(open_.begin(), open_.end(), later);
            Open& oldest = *open_.back();
            if (entries > 0) {
                out.push_back(',');
            }
            put_entry(out, oldest, oldest.events[oldest.next]);
            if (++oldest.next == oldest.events.size()) {
                open_.pop_back();
            } else {
                std::push_heap(open_.begin(), open_.end(), later);
            }
        }
        out.append("]}");
        return true;
    }

    void put_entry(std::string& out, const Open& open, const Event& event) {
        const Item& item = open.chart.items[event.item];
        last_.us = std::max(last_.us + 1000, event.when.us);
        const Uuid id{item.seed};
        const std::string_view type = type_name(item.kind);
        put(out, R"({"fullUrl":")", kBase, type, "/", id, "/_history/", event.version, "\"");
        if (event.change != Change::remove) {
            out.append(R"(,"resource":)");
            render(out, Scene{world_, open.chart}, item, event.state,
                   Identity{.id = true, .version = event.version, .updated = last_});
        }
        put(out, R"(,"request":{"method":")", method_of(event.change), R"(","url":")", type, "/",
            id);
        put(out, R"("},"response":{"status":")", status_of(event.change), R"(","etag":"W/\")",
            event.version, R"(\"","lastModified":")", Stamp{last_}, "\"}}");
        ++counts_.versions;
        counts_.resources += event.change == Change::create ? 1 : 0;
        counts_.deletions += event.change == Change::remove ? 1 : 0;
    }

    Options options_;
    std::uint64_t expected_;
    World world_;
    std::int64_t gap_us_ = 0;
    std::int64_t width_us_ = 0;
    std::vector<std::unique_ptr<Open>> open_;
    Instant last_;
    Counts counts_;
};

Generator::Generator(const Options& options) : impl_(std::make_unique<Impl>(options)) {
}

Generator::~Generator() = default;

bool Generator::next(std::string& out) {
    out.clear();
    bool more = false;
    switch (impl_->options_.form) {
        case Form::transaction:
            more = impl_->next_transaction(out);
            break;
        case Form::history:
            more = impl_->next_history(out);
            break;
        case Form::resources:
            more = impl_->next_lines(out);
            break;
    }
    if (more) {
        ++impl_->counts_.bundles;
        impl_->counts_.bytes += out.size();
    }
    return more;
}

const Counts& Generator::counts() const noexcept {
    return impl_->counts_;
}

std::vector<Sample> make_samples(std::uint64_t seed, const std::vector<Kind>& kinds,
                                 std::size_t count) {
    const Instant start{1'577'836'800'000'000};  // 2020-01-01
    // As many organizations as samples, so that there are enough of every kind.
    const World world = make_world(seed, static_cast<std::uint32_t>(count + 1), start);
    std::vector<std::vector<std::string>> bodies(kinds.size());
    const auto take = [&](const Chart& chart) {
        const Scene scene{world, chart};
        for (const Item& item : chart.items) {
            for (std::size_t k = 0; k < kinds.size(); ++k) {
                if (item.kind == kinds[k] && bodies[k].size() < count) {
                    render(bodies[k].emplace_back(), scene, item, item.states - 1u, Identity{});
                }
            }
        }
    };
    take(world.chart);
    const auto missing = [&] {
        return std::any_of(bodies.begin(), bodies.end(),
                           [&](const auto& list) { return list.size() < count; });
    };
    for (std::uint64_t number = 0; missing(); ++number) {
        take(make_patient(seed, number, world, Schedule{start, kYear}));
    }
    std::vector<Sample> samples;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        for (std::string& body : bodies[k]) {
            samples.push_back({kinds[k], std::move(body)});
        }
    }
    return samples;
}

}  // namespace annals::generate
