#include "core/search/run_walk.h"

#include "core/search/driver.h"
#include "core/search/run_facts.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace annals::core::search {

namespace {

using storage::SearchRun;
using BoundKind = BoundPlan::Kind;

// Conditions tested between two checks of the clock; with bodies, it is checked after each document.
constexpr std::uint64_t kTestsPerLook = 512;

// How many bodies are fetched at a time, and after how many documents it is checked whether to look ahead.
constexpr unsigned kBodiesAhead = 64;
constexpr unsigned kBodiesPerLook = 16;
constexpr unsigned kLooksAhead = kBodiesAhead / kBodiesPerLook;

// A plan with more conditions, or more parts, is bound to only one run at a time.
constexpr std::uint64_t kConditionsKept = 1000;
constexpr std::uint64_t kPartsKept = 100;

// A plan with at most this many parts is bound to a run without checking the clock.
constexpr std::uint64_t kPartsAtOnce = 8;

// Conditions that take more steps to collect (over a tenth of a second) are tested document by document, which can be
// interrupted.
constexpr std::uint32_t kCollectedMax = 64'000'000;

// At most this many conditions are applied to a whole set; the others are tested document by document.
constexpr std::size_t kRestrictedMax = 16;

// If the dead are more than this share of the intervals that are counted, they are not subtracted one by one.
constexpr std::uint32_t kDiedShare = 16;
// If fewer than this share of a run match, each is tested for being dead: subtracting a bitmap takes steps for the whole run.
constexpr std::uint32_t kLookedAtShare = 64;

// Once this many of the documents that were iterated over were dead, for a run of this size, the others are left out: that
// takes about as long as to look at so many, unless RunFacts::dead() has to look at most of the run.
constexpr std::uint32_t dead_max(const storage::SearchRun& run) noexcept {
    return 16 + run.size() / 512;
}

// The number of documents in the union, without those in `dead`, which may be null.
std::uint64_t union_size(const std::vector<storage::Postings>& all, const roaring_bitmap_t* dead) {
    if (dead == nullptr && all.size() == 1) {
        return all.front().size();
    }
    std::vector<const roaring_bitmap_t*> bitmaps;
    std::vector<storage::SearchBitmap> made;
    for (const storage::Postings& one : all) {
        if (one.bitmap == nullptr) {
            made.emplace_back(roaring_bitmap_of_ptr(one.list.size(), one.list.data()));
        }
        bitmaps.push_back(one.bitmap == nullptr ? made.back().get() : one.bitmap);
    }
    if (dead == nullptr && bitmaps.size() == 2) {
        return roaring_bitmap_or_cardinality(bitmaps[0], bitmaps[1]);
    }
    const roaring_bitmap_t* whole = bitmaps[0];
    if (bitmaps.size() > 1) {
        made.emplace_back(roaring_bitmap_or_many(bitmaps.size(), bitmaps.data()));
        whole = made.back().get();
    }
    return dead == nullptr ? roaring_bitmap_get_cardinality(whole)
                           : roaring_bitmap_andnot_cardinality(whole, dead);
}

std::uint64_t conditions_in(const Plan& plan) {
    std::uint64_t sum = std::max<std::uint64_t>(plan.terms.size(), 1);
    for (const Plan& part : plan.parts) {
        sum += conditions_in(part);
    }
    return sum;
}

// A chain or has is bound by its result, which is often empty: a reference to any type is a chain for each.
std::uint64_t parts_in(const Plan& plan, const Resolution& resolution) {
    if (plan.kind == Plan::Kind::chain || plan.kind == Plan::Kind::has) {
        return resolution.keys.at(&plan).size() == 0 ? 0 : 1;
    }
    std::uint64_t sum = 1;
    for (const Plan& part : plan.parts) {
        sum += parts_in(part, resolution);
    }
    return sum;
}

// Whether those that match are looked at one by one, because some may be dead.
bool looks_at_each(const BoundPlan& condition, const SearchRun& run) noexcept {
    return run.any_died() && condition.estimate < run.size() / kLookedAtShare;
}

}  // namespace

std::uint64_t counting_cost_of(const BoundPlan& condition, const SearchRun& run) noexcept {
    if (!condition.is_postings() && condition.kind != BoundKind::everything) {
        return std::uint64_t{condition.work} + condition.estimate;
    }
    // Unless each is looked at, the dead are subtracted by bitmaps, a container of 65,536 documents at a time.
    return 1 + (looks_at_each(condition, run) ? condition.estimate : run.size() >> 16);
}

struct RunWalk::Open {
    std::size_t index = 0;
    std::shared_ptr<const SearchRun> run;
    std::uint32_t first = 0;  // the documents in the window
    std::uint32_t last = 0;
    const BoundPlan* condition = nullptr;
    const BoundPlan* driver = nullptr;    // whose documents are iterated over; null: all are
    std::vector<const BoundPlan*> tests;  // the conditions that don't drive, most selective first
    DocumentSetPool::Handle set;
    DocumentWalk documents;
    std::optional<std::uint32_t> interrupted;  // a document whose test goes on in this turn
    bool any_died = false;

    bool next(std::uint32_t& document) noexcept {
        if (interrupted) {
            document = *std::exchange(interrupted, std::nullopt);
            return true;
        }
        return documents.next(document);
    }

    std::uint32_t dead_met = 0;
    bool costly = false;
    std::uint64_t conditions = 0;  // that a document's test may evaluate
    unsigned looked = 0;           // documents
    unsigned looks_ahead = 0;      // until the next look ahead for unread bodies
};

RunWalk::RunWalk(Snapshot& snapshot, TypeId type, const Plan& plan, Resolution& resolution,
                 Found found)
    : snapshot_(snapshot),
      type_(type),
      plan_(plan),
      resolution_(resolution),
      found_(std::move(found)),
      conditions_(conditions_in(plan)),
      parts_(parts_in(plan, resolution)),
      bound_(snapshot.runs(type).runs.size()),
      bodies_(snapshot, resolution) {
}

RunWalk::~RunWalk() = default;

void RunWalk::begin(const Wanted& wanted) {
    wanted_ = wanted;
    count_ = 0;
    runs_left_ = bound_.size();
    open_.reset();
    binding_.reset();
    bodies_.abandon();
}

const BoundPlan& RunWalk::bound(std::size_t run) {
    if (!bound_[run]) {
        bound_[run] = bind(plan_, snapshot_.runs(type_).runs[run], resolution_);
    }
    return *bound_[run];
}

bool RunWalk::is_large() const noexcept {
    return conditions_ > kConditionsKept || has_many_parts();
}

bool RunWalk::has_many_parts() const noexcept {
    return parts_ > kPartsKept;
}

void RunWalk::let_go(std::size_t run) {
    if (is_large() && (open_ == nullptr || open_->index != run)) {
        bound_[run].reset();
    }
}

// Ends the current run.
void RunWalk::close() {
    const std::size_t index = open_->index;
    open_.reset();
    let_go(index);
}

// Checks the clock if enough has been done since the last check.
bool RunWalk::is_over(const Pace& pace) {
    if (tested_ < kTestsPerLook && !pace.is_shortened()) {
        return false;
    }
    tested_ = 0;
    return pace.is_over();
}

bool RunWalk::advance(const Pace& pace) {
    while (count_ < wanted_.limit && (open_ != nullptr || runs_left_ > 0)) {
        if (open_ == nullptr && !begin_next(pace)) {
            return false;
        }
        if (open_ != nullptr && !walk(pace)) {
            return false;
        }
    }
    return true;
}

// Opens the next run, unless nothing in it may match or it is counted at once. False: the turn is over.
bool RunWalk::begin_next(const Pace& pace) {
    if (!open_next(pace)) {
        return false;
    }
    tested_ += conditions_;
    if (open_ != nullptr && wanted_.count_only && count_at_once()) {
        close();
        return !pace.is_over();
    }
    if (open_ != nullptr) {
        choose_driver();
    }
    return !is_over(pace);
}

// Goes through the documents of the current run, until its end or until enough are found. False: the turn is over.
bool RunWalk::walk(const Pace& pace) {
    Open& open = *open_;
    if (open.costly && must_fetch(pace)) {
        return false;
    }
    std::uint32_t document = 0;
    while (open.next(document)) {
        if (is_dead(document)) {
            if (++open.dead_met == dead_max(*open.run)) {
                leave_out_dead(document);
            }
        } else if (passes(document, pace)) {
            ++count_;
            if (!wanted_.count_only) {
                found_({type_, open.run.get(), document});
            }
            if (count_ >= wanted_.limit) {
                return true;
            }
        } else if (bodies_.is_interrupted()) {
            open.interrupted = document;
            return false;
        }
        tested_ += open.costly ? kTestsPerLook : open.conditions;
        const bool fetch_more = open.costly && ++open.looked % kBodiesPerLook == 0;
        if (fetch_more) {
            open.looks_ahead -= open.looks_ahead > 0 ? 1 : 0;
        }
        if (is_over(pace) || (fetch_more && must_fetch(pace))) {
            return false;
        }
    }
    close();
    return true;
}

// bound() in turns: false if the turn is over.
bool RunWalk::bind_to(std::size_t run, const Pace& pace) {
    if (bound_[run]) {
        return true;
    }
    if (!binding_) {
        binding_.emplace(plan_, snapshot_.runs(type_).runs[run], resolution_);
    }
    while (!binding_->step()) {
        if (parts_ > kPartsAtOnce && pace.is_over()) {
            return false;
        }
    }
    bound_[run] = binding_->take();
    binding_.reset();
    return true;
}

// Binds the plan to the next run and opens it if documents in the window may match. False: the turn is over.
bool RunWalk::open_next(const Pace& pace) {
    const auto& runs = snapshot_.runs(type_).runs;
    const std::size_t index = wanted_.upwards ? runs.size() - runs_left_ : runs_left_ - 1;
    const std::shared_ptr<const SearchRun>& run = runs[index];
    const Position before = std::min(wanted_.before, snapshot_.end_in(*run));
    const std::uint32_t last = before.value == 0 ? 0 : run->size_at({before.value - 1});
    const std::uint32_t first =
        wanted_.after.value == 0 ? 0 : std::min(last, run->size_at(wanted_.after));
    if (first != last && !bind_to(index, pace)) {
        return false;
    }
    --runs_left_;
    if (first == last || bound_[index]->kind == BoundKind::nothing) {
        return true;
    }
    const BoundPlan& condition = *bound_[index];
    open_ = std::make_unique<Open>();
    open_->index = index;
    open_->run = run;
    open_->first = first;
    open_->last = last;
    open_->condition = &condition;
    open_->any_died = run->any_died();
    open_->costly = condition.costly;
    return true;
}

bool RunWalk::is_dead(std::uint32_t document) const {
    return open_->any_died && open_->run->died_at(document) <= snapshot_.position();
}

// The run's dead documents: see RunFacts.
const roaring_bitmap_t* RunWalk::all_dead() const {
    return open_->any_died ? RunFacts::of_thread().dead(open_->run, snapshot_.position()) : nullptr;
}

// Continues after `document` without looking at each dead one.
void RunWalk::leave_out_dead(std::uint32_t document) {
    Open& open = *open_;
    if (open.set == nullptr) {
        open.set = DocumentSetPool::of_thread().take(open.run->size());
        if (open.driver != nullptr) {
            collect(*open.driver, *open.run, *open.set);
        } else {
            open.set->add_range(open.first, open.last);
        }
        open.set->seal();
    }
    open.set->remove({.list = {}, .bitmap = all_dead()});
    open.documents = DocumentWalk::of(*open.set, wanted_.upwards ? document + 1 : open.first,
                                      wanted_.upwards ? open.last : document, wanted_.upwards);
}

// Removes the dead from a set of documents of the run.
void RunWalk::remove_dead(DocumentSet& set) const {
    if (!open_->any_died) {
        return;
    }
    if (set.size() >= open_->run->size() / kLookedAtShare) {
        set.remove({.list = {}, .bitmap = all_dead()});
    } else {
        set.filter([this](std::uint32_t document) { return !is_dead(document); });
    }
}

// Counts a run of which everything, or all of some postings, is asked for.
void RunWalk::count_living() {
    const BoundPlan& condition = *open_->condition;
    const roaring_bitmap_t* const dead = all_dead();
    if (condition.kind == BoundKind::postings) {
        count_ += union_size(condition.postings, dead);
    } else {
        count_ += open_->run->size() - (dead == nullptr ? 0 : roaring_bitmap_get_cardinality(dead));
    }
}

// Counts the intervals of the run that match, none of which are of the same document.
void RunWalk::count_intervals() {
    const SearchRun& run = *open_->run;
    const BoundPlan& condition = *open_->condition;
    const DocumentSetPool::Handle dead = DocumentSetPool::of_thread().take(run.size());
    dead->add({.list = {}, .bitmap = all_dead()});
    if (dead->size() <= condition.work / kDiedShare) {
        count_ += condition.intervals.count(nullptr);
        dead->filter([&](std::uint32_t document) { return condition.intervals.holds(document); });
        count_ -= dead->size();
    } else {
        dead->make_dense();
        count_ += condition.intervals.count(dead.get());
    }
}

// Counts the run without testing document by document, if possible.
bool RunWalk::count_at_once() {
    Open& open = *open_;
    if (open.costly) {
        return false;
    }
    const SearchRun& run = *open.run;
    const BoundPlan& condition = *open.condition;
    const bool whole = open.first == 0 && open.last == run.size();
    const bool few_match = looks_at_each(condition, run);
    if (few_match && condition.is_postings()) {
        return false;
    }
    if (whole && !few_match) {
        if (condition.kind == BoundKind::everything || condition.kind == BoundKind::postings) {
            count_living();
            return true;
        }
        if (condition.kind == BoundKind::interval &&
            RunFacts::of_thread().is_single(open.run, condition.column)) {
            count_intervals();
            return true;
        }
    }
    if (condition.work > kCollectedMax) {
        return false;
    }
    const DocumentSetPool::Handle set = DocumentSetPool::of_thread().take(run.size());
    collect(condition, run, *set);
    set->seal();
    if (!whole) {
        set->filter(
            [&](std::uint32_t document) { return document >= open.first && document < open.last; });
    }
    remove_dead(*set);
    count_ += set->size();
    return true;
}

// Chooses what to iterate over: the documents of one condition, directly or collected, or all documents.
void RunWalk::choose_driver() {
    Open& open = *open_;
    const SearchRun& run = *open.run;
    std::vector<const BoundPlan*> parts = parts_of(*open.condition);
    const double size = run.size();
    const double needed = static_cast<double>(std::min<std::uint64_t>(
        wanted_.limit - std::min<std::uint64_t>(wanted_.limit, count_), run.size()));
    const std::optional<std::size_t> driver =
        best_driver(parts, size, (open.last - open.first) / size, needed, kCollectedMax);
    open.driver = driver ? parts[*driver] : nullptr;
    // Without a limit, conditions are applied to the whole set rather than tested.
    const bool takes_all = needed >= size;
    if (!driver) {
        open.documents = DocumentWalk::everything(open.first, open.last, wanted_.upwards);
    } else if (open.driver->is_postings() && !takes_all) {
        open.documents =
            DocumentWalk::of(open.driver->postings.front(), open.first, open.last, wanted_.upwards);
    } else {
        open.set = DocumentSetPool::of_thread().take(run.size());
        collect(*open.driver, run, *open.set);
        open.set->seal();
        open.documents = DocumentWalk::of(*open.set, open.first, open.last, wanted_.upwards);
    }
    if (driver && !open.driver->costly) {
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(*driver));
    }
    if (open.set != nullptr && takes_all) {
        std::size_t restricted = 0;
        std::uint32_t work_left = kCollectedMax;
        std::erase_if(parts, [&](const BoundPlan* part) {
            if (part->costly || restricted == kRestrictedMax || part->work > work_left) {
                return false;
            }
            ++restricted;
            work_left -= part->work;
            restrict_to(*part, run, *open.set);
            return true;
        });
        open.documents = DocumentWalk::of(*open.set, open.first, open.last, wanted_.upwards);
    }
    open.tests = std::move(parts);
    open.conditions = 1;
    for (const BoundPlan* part : open.tests) {
        open.conditions += conditions_in(*part);
    }
}

// Whether the bodies of the next documents are only on the device, which ends the turn.
bool RunWalk::must_fetch(const Pace& pace) {
    Open& open = *open_;
    if (!pace.defers() || open.looks_ahead > 0 || !snapshot_.has_store()) {
        return false;
    }
    open.looks_ahead = kLooksAhead;
    std::vector<Position> positions;
    DocumentWalk ahead = open.documents;
    std::uint32_t document = 0;
    for (unsigned i = 0; i < kBodiesAhead && ahead.next(document); ++i) {
        const bool candidate =
            !is_dead(document) && std::ranges::all_of(open.tests, [&](const BoundPlan* condition) {
                return condition->costly || test(*condition, *open.run, document, bodies_);
            });
        if (candidate) {
            positions.push_back(open.run->position(document));
        }
    }
    return pace.defer(snapshot_.unread(positions));
}

// False also if the turn was over in the middle: bodies_.is_interrupted().
bool RunWalk::passes(std::uint32_t document, const Pace& pace) {
    const Open& open = *open_;
    bodies_.begin(open.run->position(document), pace);
    return std::ranges::all_of(open.tests,
                               [&](const BoundPlan* condition) {
                                   return test(*condition, *open.run, document, bodies_);
                               }) &&
           !bodies_.is_interrupted();
}

}  // namespace annals::core::search
