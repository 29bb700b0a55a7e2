#include "core/search/run_facts.h"

#include <algorithm>
#include <array>
#include <utility>

namespace annals::core::search {

namespace {

constexpr std::size_t kRunsMax = 128;

// Adds the documents of a block that have died.
void add_block(const storage::SearchRun& run, std::uint32_t block, RunFacts::Died& died) {
    const std::uint32_t first = block * storage::SearchRun::kBlock;
    const std::uint32_t last = std::min(run.size(), first + storage::SearchRun::kBlock);
    std::array<std::uint32_t, storage::SearchRun::kBlock> documents;
    std::size_t count = 0;
    for (std::uint32_t document = first; document < last; ++document) {
        if (const Position at = run.died_at(document); at != storage::kNotDied) {
            documents[count++] = document;
            died.last = std::max(died.last, at);
        }
    }
    if (died.bitmap == nullptr) {
        died.bitmap.reset(roaring_bitmap_create());
    }
    roaring_bitmap_add_many(died.bitmap.get(), count, documents.data());
}

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
    // Counts are read before the scan: a document that dies during it causes another scan next time.
    const std::uint32_t count = run->died_count();
    if (facts.died_count != count) {
        facts.died_count = count;
        facts.died_in.resize(run->blocks());
        for (std::uint32_t block = 0; block < run->blocks(); ++block) {
            const std::uint32_t count_in = run->died_count_in(block);
            if (std::exchange(facts.died_in[block], count_in) != count_in) {
                add_block(*run, block, facts.died);
            }
        }
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
