#include "core/search/run_facts.h"

#include <algorithm>
#include <array>
#include <utility>

namespace annals::core::search {

namespace {

constexpr std::size_t kRunsMax = 128;

// Adds the documents of a block that died at `from` or later; returns when the last of them died.
Position add_block(const storage::SearchRun& run, std::uint32_t block, Position from,
                   roaring_bitmap_t* to) {
    const std::uint32_t first = block * storage::SearchRun::kBlock;
    const std::uint32_t last = std::min(run.size(), first + storage::SearchRun::kBlock);
    std::array<std::uint32_t, storage::SearchRun::kBlock> documents;
    std::size_t count = 0;
    Position last_death{0};
    for (std::uint32_t document = first; document < last; ++document) {
        if (const Position at = run.died_at(document); at != storage::kNotDied && at >= from) {
            documents[count++] = document;
            last_death = std::max(last_death, at);
        }
    }
    roaring_bitmap_add_many(to, count, documents.data());
    return last_death;
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

void RunFacts::update(Facts& facts, const storage::SearchRun& run) {
    // Counts are read before the scan: a document that dies during it causes another scan next time.
    const std::uint32_t count = run.died_count();
    if (std::exchange(facts.died_count, count) == count) {
        return;
    }
    if (facts.died == nullptr) {
        facts.died.reset(roaring_bitmap_create());
        facts.blocks.resize(run.blocks());
    }
    for (std::uint32_t i = 0; i < run.blocks(); ++i) {
        Block& block = facts.blocks[i];
        const std::uint32_t count_in = run.died_count_in(i);
        if (std::exchange(block.died_count, count_in) != count_in) {
            block.last_death = add_block(run, i, {0}, facts.died.get());
            facts.last_death = std::max(facts.last_death, block.last_death);
        }
    }
}

const roaring_bitmap_t* RunFacts::dead(const std::shared_ptr<const storage::SearchRun>& run,
                                       Position position) {
    Facts& facts = facts_of(run);
    update(facts, *run);
    if (facts.last_death <= position) {
        return facts.died.get();
    }
    const storage::SearchBitmap later(roaring_bitmap_create());
    for (std::uint32_t i = 0; i < run->blocks(); ++i) {
        if (facts.blocks[i].last_death > position) {
            add_block(*run, i, {position.value + 1}, later.get());
        }
    }
    dead_.reset(roaring_bitmap_andnot(facts.died.get(), later.get()));
    return dead_.get();
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
