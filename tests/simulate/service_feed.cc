// The change feed of a ServiceSimulation.

#include "tests/simulate/service_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace annals::test {

std::vector<ReceivedEntry> ServiceSimulation::read_feed(const Answer& answer) {
    expect_same(answer.status, 200, "the change feed");
    std::vector<ReceivedEntry> entries;
    for (std::size_t begin = 0; begin < answer.body.size();) {
        const std::size_t end = std::min(answer.body.find('\n', begin), answer.body.size());
        const json::Document line = parse(std::string_view(answer.body).substr(begin, end - begin));
        entries.push_back(read_entry(line.root(), kBaseUrl));
        begin = end + 1;
    }
    return entries;
}

std::vector<std::string> ServiceSimulation::lines_of(const std::vector<ReceivedEntry>& feed) {
    std::vector<std::string> lines;
    for (const ReceivedEntry& entry : feed) {
        lines.push_back(fmt::format("{} {} {}", entry.position, entry.commit, entry.label()));
    }
    return lines;
}

std::vector<ReceivedEntry> ServiceSimulation::read_whole_feed() {
    std::vector<ReceivedEntry> feed;
    for (std::uint64_t after = 0;;) {
        const Answer answer =
            exchange("GET", fmt::format("/_changes?after={}&wait=0&_count=1000", after));
        std::ranges::move(read_feed(answer), std::back_inserter(feed));
        if (answer.position <= after) {
            return feed;
        }
        after = answer.position;
    }
}

void ServiceSimulation::check_bodies(const std::vector<ReceivedEntry>& feed) {
    for (const ReceivedEntry& entry : feed) {
        check_body(entry.body, version_in(entry));
    }
}

void ServiceSimulation::read_changes() {
    const std::uint64_t after = pick(model_.last() + 1);
    const std::uint64_t count = 1 + pick(5);
    const std::string type = one_in(3) ? pick_type() : "";
    const Answer answer =
        exchange("GET", fmt::format("/_changes?after={}&_count={}&wait=0{}{}", after, count,
                                    type.empty() ? "" : "&_type=", type));
    const std::vector<ReceivedEntry> feed = read_feed(answer);
    check_bodies(feed);
    const std::vector<std::string> found = lines_of(feed);
    // All that lies up to the position that the response reaches, which ends with a commit.
    std::vector<std::string> expected;
    std::vector<std::uint64_t> commits;
    for (std::uint64_t at = after + 1; at <= answer.position && at <= model_.last(); ++at) {
        const auto& version = model_.at(at);
        if (!version.erased && (type.empty() || model_.name_of(version).starts_with(type + '/'))) {
            expected.push_back(
                fmt::format("{} {} {}", at, model_.commit_end(at), model_.label(version)));
            commits.push_back(model_.commit_end(at));
        }
    }
    expect_lines(found, expected, "the change feed");
    if (answer.position > 0 && answer.position <= model_.last()) {
        expect_same(model_.commit_end(answer.position), answer.position,
                    "what the change feed reaches");
    }
    // Only the last commit may exceed what was asked for.
    if (!commits.empty()) {
        const auto before = std::ranges::find(commits, commits.back()) - commits.begin();
        expect_same(static_cast<std::uint64_t>(before) < count, true, "_count bounds a page");
    }
    if (found.size() < count) {
        expect_same(answer.position, model_.last(), "what a short page of the feed reaches");
    }
}

}  // namespace annals::test
