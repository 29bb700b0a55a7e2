#include "core/search/run_facts.h"

#include <algorithm>

namespace annals::core::search {

namespace {

constexpr std::size_t kRunsMax = 128;

}  // namespace

RunFacts::Facts& RunFacts::facts_of(const std::shared_ptr<const storage::SearchRun>& run) {
    for (auto facts = facts_.begin(); facts != facts_.end(); ++facts) {
        if (facts->address == run.get() && !facts->run.expired()) {
            facts_.splice(facts_.begin(), facts_, facts);
            return *facts;
        }
    }
    std::erase_if(facts_, [](const Facts& facts) { return facts.run.expired(); });
    if (facts_.size() >= kRunsMax) {
        facts_.pop_back();
    }
    Facts& facts = facts_.emplace_front();
    facts.run = run;
    facts.address = run.get();
    return facts;
}

const RunFacts::Died& RunFacts::died(const std::shared_ptr<const storage::SearchRun>& run) {
    Facts& facts = facts_of(run);
    // Read before the scan: a document that dies during it causes another scan next time.
    const std::uint32_t count = run->died_count();
    if (facts.died_count != count) {
        Died& died = facts.died;
        died.documents.clear();
        for (std::uint32_t document = 0; document < run->size(); ++document) {
            if (const Position at = run->died_at(document); at != storage::kNotDied) {
                died.documents.push_back(document);
                died.last = std::max(died.last, at);
            }
        }
        died.bitmap.reset(roaring_bitmap_of_ptr(died.documents.size(), died.documents.data()));
        facts.died_count = count;
    }
    return facts.died;
}

bool RunFacts::is_single(const std::shared_ptr<const storage::SearchRun>& run, Column column) {
    Facts& facts = facts_of(run);
    for (const auto& [known, single] : facts.single) {
        if (known == column) {
            return single;
        }
    }
    const storage::IntervalColumn intervals = run->intervals(column);
    const bool single =
        std::adjacent_find(intervals.by_document.begin(), intervals.by_document.end(),
                           [&](std::uint32_t a, std::uint32_t b) {
                               return intervals.all.document[a] == intervals.all.document[b];
                           }) == intervals.by_document.end();
    facts.single.emplace_back(column, single);
    return single;
}

RunFacts& RunFacts::of_thread() {
    thread_local RunFacts facts;
    return facts;
}

}  // namespace annals::core::search
