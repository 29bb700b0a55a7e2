#include "tests/simulate/service_simulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace annals::test {

namespace {

/// The state of the random numbers that turns are as long as; several threads ask.
std::atomic<std::uint64_t> turn_state{0};

/// A few of these are longer than a commit waits for others' turns to end.
constexpr std::chrono::milliseconds kSlowTurn{1};

constexpr Instant kBegin{1'704'067'200'000'000};  // 2024

}  // namespace

std::chrono::microseconds ServiceSimulation::length_of_turn(
    std::chrono::microseconds usual) noexcept {
    if (slow_turns_) {
        std::this_thread::sleep_for(kSlowTurn);
    }
    std::uint64_t bits = turn_state.fetch_add(0x9e37'79b9'7f4a'7c15, std::memory_order_relaxed);
    bits = (bits ^ (bits >> 30)) * 0xbf58'476d'1ce4'e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d0'49bb'1331'11eb;
    bits >>= 33;
    return bits % 4 == 0   ? usual
           : bits % 4 == 1 ? std::chrono::microseconds(1 + bits / 4 % 30)
                           : std::chrono::microseconds(0);
}

ServiceSimulation::~ServiceSimulation() {
    turns_.reset();
    // The last store uses the clock.
    store_options_ = {};
    restart_on(std::make_shared<SimFileSystem>());
}

void ServiceSimulation::fail(const std::string& what) {
    throw std::runtime_error(what);
}

json::Document ServiceSimulation::parse(std::string_view text) {
    json::Parser parser;
    Result<json::Document> document = parser.parse(text);
    if (!document) {
        fail("not JSON: " + std::string(text.substr(0, 1000)));
    }
    return *std::move(document);
}

void ServiceSimulation::expect_lines(const std::vector<std::string>& found,
                                     const std::vector<std::string>& expected,
                                     std::string_view what) {
    for (std::size_t i = 0; i < std::max(found.size(), expected.size()); ++i) {
        const std::string left = i < found.size() ? found[i] : "nothing";
        const std::string right = i < expected.size() ? expected[i] : "nothing";
        if (left != right) {
            fail(fmt::format("{}, line {} of {}: {} instead of {}", what, i, found.size(), left,
                             right));
        }
    }
}

core::Config ServiceSimulation::config() const {
    core::Config config;
    config.auth.mode = "jwt";
    config.hard_delete = model_.hard_delete;
    config.conditional_delete = model_.deletes_several ? "multiple" : "single";
    return config;
}

void ServiceSimulation::begin(std::uint64_t seed) {
    random_.seed(seed);
    model_ = ServiceModel();
    model_.hard_delete = one_in(2);
    model_.deletes_several = one_in(3);
    ids_.clear();
    for (std::uint64_t i = 2 + pick(6); i > 0; --i) {
        ids_.push_back(std::string(1, static_cast<char>('a' + i)));
    }
    if (one_in(8)) {
        // So many that searches look at the clock before they have seen all.
        for (int i = 0; i < 150; ++i) {
            ids_.push_back(fmt::format("n{}", i));
        }
    }
    patient_.emplace("patient", "patient/*.rs", ids_.front());
    send_as(&everybody_);
    filler_ = one_in(3) ? 5000 : 0;
    store_options_ = {};
    store_options_.segment_bytes = one_in(2) ? 32 << 10 : 1 << 20;
    store_options_.search_checkpoint_versions = 20;
    store_options_.search_index.fan_in = 2;
    store_options_.pack_segments = one_in(3);
    store_options_.prepare_segments = false;
    store_options_.clock = [this] { return Instant{clock_}; };
    turn_state = seed;
    clock_ = kBegin.us;
    slow_turns_ = false;
    chains_.clear();
    bodies_.clear();
    trace_.clear();
    urns_ = 0;
    turns_.reset();
    disk_ = std::make_shared<SimFileSystem>();
    disk_->forget_some();
    restart_on(disk_, config());
    turns_.emplace(length_of_turn);
}

std::optional<std::string> ServiceSimulation::run(std::uint64_t seed,
                                                  const std::vector<int>& steps) {
    begin(seed);
    int at = -1;
    try {
        for (const int number : steps) {
            at = number;
            // A step does the same whatever was left out before it.
            random_.seed(seed << 20 | static_cast<std::uint64_t>(number));
            turn_state = random_();
            step();
        }
        at = -1;
        expect_everything();
        reopen();
        expect_everything();
    } catch (const std::exception& thrown) {
        for (const auto& version : model_.log().versions()) {
            const std::uint64_t position = version.info.position.value;
            trace_.push_back(
                fmt::format("{} to {}: {}{}{} {}", position, model_.commit_end(position),
                            model_.label(version), version.info.deletion ? " deletion" : "",
                            version.erased ? " erased" : "", format_instant(version.info.instant)));
        }
        return fmt::format("step {}: {}", at, thrown.what());
    }
    return std::nullopt;
}

void ServiceSimulation::step() {
    // Several commits in one millisecond now and then.
    if (!one_in(3)) {
        clock_ += static_cast<std::int64_t>(one_in(20) ? pick(100'000'000'000) : pick(5'000));
    }
    model_.now = Instant{clock_ / 1000 * 1000};
    const std::uint64_t dice = pick(1000);
    if (dice < 330) {
        write_one();
    } else if (dice < 370) {
        submit_batch();
    } else if (dice < 410) {
        submit_transaction();
    } else if (dice < 430) {
        race_writes();
    } else if (dice < 500) {
        submit_history();
    } else if (dice < 520) {
        delete_history();
    } else if (dice < 540) {
        undo();
    } else if (dice < 545) {
        purge();
    } else if (dice < 555) {
        clean_history();
    } else if (dice < 800) {
        compare(one_in(4) ? read_by_patient() : pick_read());
    } else if (dice < 850) {
        compare_racing(one_in(4) ? read_by_patient() : pick_read());
    } else if (dice < 950) {
        follow_chain();
    } else if (dice < 970) {
        read_changes();
    } else if (dice < 980) {
        compact();
    } else if (dice < 990) {
        reopen();
    } else {
        cut_power();
    }
}

void ServiceSimulation::reopen() {
    trace_.emplace_back("-- reopened");
    restart_on(disk_, config());
}

void ServiceSimulation::cut_power() {
    trace_.emplace_back("-- the power was cut");
    // As of now, that is before the store is closed.
    disk_ = disk_->after_power_cut(random_());
    disk_->forget_some();
    restart_on(disk_, config());
    expect_everything();
}

void ServiceSimulation::compact() {
    trace_.emplace_back("-- compacted");
    store().compact(true);
    if (one_in(2) && !store().wait_compacted()) {
        fail("compaction failed");
    }
}

std::string ServiceSimulation::trace_of(std::string_view method, std::string_view target,
                                        std::string_view body, const Headers& headers) const {
    std::string line = fmt::format("{} {}", method, target);
    for (const auto& [name, value] : headers) {
        line += fmt::format(" {}: {}", name, value);
    }
    if (!body.empty()) {
        std::string text(body);
        const std::string filler(std::max<std::size_t>(filler_, 1), 'x');
        for (std::size_t at = 0; filler_ > 0 && (at = text.find(filler)) != std::string::npos;) {
            text.erase(at, filler_);
        }
        line += ' ' + text;
    }
    return line;
}

Answer ServiceSimulation::exchange(std::string_view method, const std::string& target,
                                   std::string_view body, const Headers& headers) {
    const std::size_t at = trace_.size();
    trace_.push_back(trace_of(method, target, body, headers));
    Answer answer = send(method, target, body, headers);
    trace_[at] += fmt::format(" -> {}", answer.status);
    ++requests_;
    return answer;
}

const ServiceModel::Version& ServiceSimulation::version_in(const ReceivedEntry& entry) const {
    const auto* version = model_.labelled(entry.label());
    if (version == nullptr) {
        fail(entry.label() + " does not exist");
    }
    return *version;
}

void ServiceSimulation::check_body(const std::string& body, const ServiceModel::Version& version) {
    const std::string label = model_.label(version);
    expect_same(body.empty(), version.info.deletion, "whether " + label + " is without a resource");
    if (body.empty()) {
        return;
    }
    const json::Document document = parse(body);
    const json::Value root = document.root();
    expect_same(fmt::format("{}/{}/{}", root["resourceType"].string(), root["id"].string(),
                            root["meta"]["versionId"].string()),
                label, "the version of a body");
    expect_same(root["meta"]["lastUpdated"].string(), format_instant(version.info.instant),
                "meta.lastUpdated of " + label);
    if (content_of(root) != model_.content(version)) {
        fail(fmt::format("{} has the content of another version: {}", label, body.substr(0, 1000)));
    }
    const auto [first, added] = bodies_.emplace(version.info.position.value, body);
    expect_same(body, first->second, "the bytes of a version");
}

void ServiceSimulation::expect_everything() {
    const std::vector<ReceivedEntry> feed = read_whole_feed();
    expect_lines(lines_of(feed), model_.feed(), "the change feed");
    check_bodies(feed);
    for (const std::string type : {"Patient", "Observation"}) {
        Read all{"/" + type + "?_count=1000&_total=accurate", [&](Position bound) {
                     Expected shown;
                     auto live = model_.find(type, {}, bound);
                     ServiceModel::sort_by_default(live);
                     for (const auto* version : live) {
                         shown.entries.push_back(model_.label(*version));
                     }
                     shown.total = shown.entries.size();
                     shown.more = false;
                     return shown;
                 }};
        compare(all);
    }
}

}  // namespace annals::test
