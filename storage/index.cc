#include "storage/index.h"

#include "storage/index_impl.h"

#include <array>
#include <cstring>

namespace annals::storage {

namespace {

constexpr unsigned kOffsetBits = 36;
constexpr unsigned kSegmentBits = 24;
static_assert(kSegmentBits + kOffsetBits + kFlagBits == 64);
constexpr std::uint64_t kFlags = (std::uint64_t{1} << kFlagBits) - 1;
constexpr std::uint64_t kPositionMax = 0xffff'fffe;
constexpr std::uint32_t kResourcesMax = 0x7fff'fffe;

/// How far ahead add_batch() reaches for what the versions to come will touch.
constexpr std::size_t kSlotsAhead = 24;
/// And links(), what link() will.
constexpr std::size_t kEntriesAhead = 32;
constexpr std::size_t kResourcesAhead = 16;
constexpr std::size_t kVersionsAhead = 8;
constexpr std::size_t kLinksAhead = 4;

std::uint64_t packed(const Location& location) noexcept {
    return std::uint64_t{location.segment} << (kOffsetBits + kFlagBits) | location.offset
                                                                              << kFlagBits;
}

}  // namespace

Hash128 resource_key(std::uint64_t store_seed, TypeId type, std::string_view id) noexcept {
    const std::string_view name = resource_type_name(type);
    std::array<char, 128> text;
    ANNALS_CHECK(name.size() + 1 + id.size() <= text.size());
    std::memcpy(text.data(), name.data(), name.size());
    text[name.size()] = '/';
    std::memcpy(text.data() + name.size() + 1, id.data(), id.size());
    return hash128({text.data(), name.size() + 1 + id.size()}, store_seed);
}

std::uint64_t VersionList::bytes() const noexcept {
    const std::uint64_t count = size.load(std::memory_order_relaxed);
    return (whole_store ? 0 : positions.bytes(count)) + blocks.bytes((count + kBlock - 1) / kBlock);
}

std::uint64_t VersionList::count_through(std::uint64_t bound) const noexcept {
    const std::uint64_t count = size.load(std::memory_order_acquire);
    if (count == 0 || position(count - 1) <= bound) {
        return count;
    }
    if (whole_store) {
        return bound;
    }
    std::uint64_t first = 0;
    std::uint64_t last = count;
    while (first < last) {
        const std::uint64_t middle = first + (last - first) / 2;
        if (position(middle) <= bound) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first;
}

Index::Impl::Impl() {
    all.whole_store = true;
}

std::optional<std::uint32_t> Index::Impl::find_resource(const Hash128& key) const {
    const std::uint32_t found =
        keys.find(key, [&](std::uint32_t number) { return resources[number].key == key; });
    return found == 0 ? std::nullopt : std::optional(found - 1);
}

std::optional<std::uint32_t> Index::Impl::find_resource_as_writer(const Hash128& key) const {
    const std::uint32_t found = keys.find_as_writer(
        key, [&](std::uint32_t number) { return resources[number].key == key; });
    return found == 0 ? std::nullopt : std::optional(found - 1);
}

std::uint32_t Index::Impl::guess_newest(const Hash128& key) const noexcept {
    const std::uint32_t guess = keys.guess(key);
    return guess == 0 ? 0 : resources[guess - 1].newest;
}

void Index::Impl::prefetch_link(std::uint32_t position) const noexcept {
    if (const std::uint32_t link = entry(position).link; link != 0) {
        __builtin_prefetch(&links[link - 1]);
    }
}

Chain Index::Impl::chain(std::uint32_t number, std::uint64_t bound) const {
    const ResourceEntry& resource = resources[number];
    Chain chain;
    const std::uint32_t newest = load_acquire(resource.newest);
    chain.newest = newest == 0 ? 0 : find_position(newest, bound);
    if (load_acquire(resource.was_erased) != 0) {
        chain.erased = &erasures[number];
        chain.oldest = load_acquire(chain.erased->oldest);
    }
    // Forgotten, or begun anew, since its newest was read.
    if (chain.oldest == 0 || chain.newest < chain.oldest) {
        chain.newest = 0;
    }
    return chain;
}

Chain Index::Impl::chain(const Hash128& key, std::uint64_t bound) const {
    const std::optional<std::uint32_t> number = find_resource(key);
    return number ? chain(*number, bound) : Chain{};
}

std::uint32_t Index::Impl::standing(const Chain& chain, std::uint32_t position) const {
    const bool stands =
        position != 0 && position >= chain.oldest && (!erased(position) || deletion(position));
    return stands ? position : 0;
}

std::uint32_t Index::Impl::standing_at(const Chain& chain, Instant instant) const {
    std::uint32_t position = chain.newest;
    while (position != 0 && entry(position).instant > instant.us) {
        if ((flags(position) & kInstantsAscend) != 0) {
            position = walk_back(position, [this, instant](std::uint32_t there) {
                return entry(there).instant <= instant.us;
            });
            break;
        }
        position = link_of(position).previous;
    }
    return position != 0 && position >= chain.oldest && !erased(position) ? position : 0;
}

// ---- the writer's side ----

void Index::Impl::touch(VersionList& list) {
    if (!list.dirty) {
        list.dirty = true;
        dirty.push_back(&list);
    }
}

void Index::Impl::publish_totals() {
    for (VersionList* list : dirty) {
        list->versions.store(list->totals.versions, std::memory_order_relaxed);
        list->live.store(list->totals.live, std::memory_order_relaxed);
        list->resources.store(list->totals.resources, std::memory_order_relaxed);
        list->dirty = false;
    }
    dirty.clear();
}

void Index::Impl::append(VersionList& list, std::uint32_t position, std::int64_t instant) {
    const std::uint64_t index = list.size.load(std::memory_order_relaxed);
    list.blocks.ensure(index / kBlock);
    if (!list.whole_store) {
        list.positions.ensure(index);
        list.positions[index] = position;
    }
    BlockSummary& block = list.blocks[index / kBlock];
    const bool opens_block = index % kBlock == 0;
    if (opens_block || instant < load_relaxed(block.min)) {
        store_relaxed(block.min, instant);
    }
    if (opens_block || instant > load_relaxed(block.max)) {
        store_relaxed(block.max, instant);
    }
    if (instant < list.newest_instant) {
        list.instants_ascend.store(false, std::memory_order_relaxed);
    } else {
        list.newest_instant = instant;
    }
    ++list.totals.versions;
    touch(list);
    list.size.store(index + 1, std::memory_order_release);
}

void Index::Impl::mark_erased(std::uint32_t position) {
    std::atomic_ref(entry(position).place).fetch_or(kErased, std::memory_order_relaxed);
    for (VersionList* list : {&all, &types[type_of(position)]}) {
        const std::uint64_t index = list->count_through(position) - 1;
        BlockSummary& block = list->blocks[index / kBlock];
        store_relaxed(block.erased, load_relaxed(block.erased) + 1);
        list->erased.fetch_add(1, std::memory_order_relaxed);
        --list->totals.versions;
        touch(*list);
    }
}

std::uint32_t Index::Impl::link_to(std::uint32_t previous, std::uint32_t position,
                                   std::uint32_t version) {
    if (previous == 0 && version == 1) {
        return 0;
    }
    ChainLink link{.previous = previous, .jump = position, .ordinal = 0, .version = version};
    if (previous != 0) {
        const ChainLink before = link_of(previous);
        const ChainLink far = link_of(before.jump);
        const bool even = before.ordinal - far.ordinal == far.ordinal - link_of(far.jump).ordinal;
        link.jump = even ? far.jump : previous;
        link.ordinal = before.ordinal + 1;
    }
    const std::uint32_t number = link_count.load(std::memory_order_relaxed);
    links.ensure(number);
    links[number] = link;
    link_count.store(number + 1, std::memory_order_relaxed);
    return number + 1;
}

ErasedVersions& Index::Impl::erased_versions(std::uint32_t number) {
    ResourceEntry& resource = resources[number];
    erasures.ensure(number);
    ErasedVersions& erased = erasures[number];
    if (resource.was_erased == 0) {
        erased.oldest = find_ordinal(resource.newest, 0);
        store_release(resource.was_erased, std::uint16_t{1});
    }
    return erased;
}

void Index::Impl::forget(ResourceEntry& resource, ErasedVersions& erased) {
    for (VersionList* list : {&all, &types[resource.type]}) {
        --list->totals.resources;
        list->totals.live -= deletion(resource.newest) ? 0 : 1;
        touch(*list);
    }
    store_release(resource.newest, std::uint32_t{0});
    store_release(erased.oldest, std::uint32_t{0});
    store_relaxed(erased.holes, std::uint32_t{0});
}

void Index::Impl::advance_oldest(const ResourceEntry& resource, ErasedVersions& erased_of_it) {
    std::uint32_t oldest = erased_of_it.oldest;
    std::uint32_t passed = 0;
    while (erased(oldest)) {
        oldest = find_ordinal(resource.newest, std::uint64_t{link_of(oldest).ordinal} + 1);
        ++passed;
    }
    store_release(erased_of_it.oldest, oldest);
    store_relaxed(erased_of_it.holes, erased_of_it.holes - passed);
}

Index::Index() : impl_(std::make_unique<Impl>()) {
}

Index::~Index() = default;

void Index::reserve(std::uint64_t versions, std::uint64_t resources) {
    Impl& my = *impl_;
    for (std::uint64_t i = 0; i < versions; i += decltype(my.versions)::kChunk) {
        my.versions.ensure(my.added + i);
    }
    const std::uint64_t linked = my.link_count.load(std::memory_order_relaxed);
    for (std::uint64_t i = resources; i < versions; i += decltype(my.links)::kChunk) {
        my.links.ensure(linked + i - resources);
    }
    const std::uint64_t known = my.resource_count.load(std::memory_order_relaxed);
    for (std::uint64_t i = 0; i < resources; i += decltype(my.resources)::kChunk) {
        my.resources.ensure(known + i);
    }
    my.keys.reserve(known + resources);
}

void Index::touch_reserved(std::uint64_t versions, std::uint64_t resources) const noexcept {
    const Impl& my = *impl_;
    my.keys.touch_reserved();
    // In the order in which they fill.
    constexpr std::uint64_t kSteps = 64;
    const std::uint64_t links = versions - std::min(versions, resources);
    for (std::uint64_t step = 0; step < kSteps; ++step) {
        my.versions.touch(versions * step / kSteps, versions * (step + 1) / kSteps);
        my.links.touch(links * step / kSteps, links * (step + 1) / kSteps);
        my.resources.touch(resources * step / kSteps, resources * (step + 1) / kSteps);
    }
}

void Index::add(const IndexedVersion& version) {
    Impl& my = *impl_;
    ANNALS_CHECK(version.position.value == my.added + 1 && my.added < kPositionMax);
    ANNALS_CHECK(version.version.value <= kVersionNumberMax &&
                 version.type.value < kResourceTypeCount);
    ANNALS_CHECK(version.location.offset >> kOffsetBits == 0 &&
                 version.location.segment >> kSegmentBits == 0);
    const auto position = static_cast<std::uint32_t>(version.position.value);
    my.versions.ensure(my.added);

    std::optional<std::uint32_t> number = my.find_resource_as_writer(version.key);
    const bool fresh = !number;
    if (fresh) {
        number = my.resource_count.load(std::memory_order_relaxed);
        ANNALS_CHECK(*number < kResourcesMax);
        my.resources.ensure(*number);
        my.resources[*number].key = version.key;
        my.resources[*number].type = version.type.value;
        my.keys.insert(version.key, *number);
        my.resource_count.store(*number + 1, std::memory_order_release);
    }
    ResourceEntry& resource = my.resources[*number];

    const std::uint32_t previous = resource.newest;
    const bool was_absent = previous == 0;
    const bool was_live = !was_absent && !my.deletion(previous);
    const bool ascends = was_absent || ((my.flags(previous) & kInstantsAscend) != 0 &&
                                        my.entry(previous).instant <= version.instant.us);
    my.entry(position) = {
        .place = packed(version.location) | (version.deletion ? kDeletion : 0) |
                 (ascends ? kInstantsAscend : 0) | (version.continues ? kContinues : 0),
        .instant = version.instant.us,
        .resource = *number,
        .link = my.link_to(previous, position, static_cast<std::uint32_t>(version.version.value))};
    for (VersionList* list : {&my.all, &my.types[version.type.value]}) {
        my.append(*list, position, version.instant.us);
        list->totals.resources += was_absent ? 1 : 0;
        list->totals.live += version.deletion ? 0 : 1;
        list->totals.live -= was_live ? 1 : 0;
    }
    if (was_absent && resource.was_erased != 0) {
        store_release(my.erasures[*number].oldest, position);
    }
    store_release(resource.newest, position);
    my.added = position;
}

void Index::add_batch(std::span<const IndexedVersion> batch) {
    Impl& my = *impl_;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (i + kSlotsAhead < batch.size()) {
            my.keys.prefetch(batch[i + kSlotsAhead].key);
        }
        if (i + kResourcesAhead < batch.size()) {
            if (const auto guess = my.keys.guess(batch[i + kResourcesAhead].key); guess != 0) {
                __builtin_prefetch(&my.resources[guess - 1]);
            }
        }
        if (i + kVersionsAhead < batch.size()) {
            if (const auto newest = my.guess_newest(batch[i + kVersionsAhead].key); newest != 0) {
                __builtin_prefetch(&my.entry(newest));
            }
        }
        if (i + kLinksAhead < batch.size()) {
            if (const auto newest = my.guess_newest(batch[i + kLinksAhead].key); newest != 0) {
                my.prefetch_link(newest);
            }
        }
        add(batch[i]);
    }
}

void Index::publish(Position through) {
    Impl& my = *impl_;
    ANNALS_CHECK(through.value <= my.added &&
                 through.value >= my.visible.load(std::memory_order_relaxed));
    my.publish_totals();
    my.visible.store(through.value, std::memory_order_release);
    my.keys.reclaim();
}

std::uint64_t Index::erase(const IndexedErase& erase, std::vector<Position>* erased) {
    Impl& my = *impl_;
    publish({my.added});
    const std::optional<std::uint32_t> number = my.find_resource_as_writer(erase.key);
    if (!number || my.resources[*number].newest == 0) {
        return 0;
    }
    ResourceEntry& resource = my.resources[*number];
    ErasedVersions& erased_of_it = my.erased_versions(*number);
    const std::uint32_t newest = resource.newest;
    const bool live = !my.deletion(newest);
    std::uint64_t count = 0;
    std::uint64_t highest = 0;
    const auto mark = [&](std::uint32_t position) {
        if (!my.erased(position)) {
            my.mark_erased(position);
            ++count;
            if (erased != nullptr) {
                erased->push_back({position});
            }
        }
        highest = std::max<std::uint64_t>(highest, my.link_of(position).version);
    };

    if (erase.scope == Erase::Scope::version || erase.scope == Erase::Scope::through) {
        std::uint32_t position = my.find_version(newest, erase.version.value);
        if (erase.scope == Erase::Scope::version) {
            if (position < erased_of_it.oldest ||
                my.link_of(position).version != erase.version.value || my.erased(position) ||
                (position == newest && live)) {
                return 0;
            }
            mark(position);
        } else {
            position = position == newest ? my.link_of(newest).previous : position;
            for (const std::uint32_t oldest = erased_of_it.oldest;
                 position != 0 && position >= oldest; position = my.link_of(position).previous) {
                mark(position);
            }
            if (count == 0) {
                return 0;
            }
        }
        store_relaxed(erased_of_it.holes, erased_of_it.holes + static_cast<std::uint32_t>(count));
        const std::uint64_t kept = std::uint64_t{my.link_of(newest).ordinal} -
                                   my.link_of(erased_of_it.oldest).ordinal + 1 - erased_of_it.holes;
        if (kept == 0) {
            highest = my.link_of(newest).version;
            my.forget(resource, erased_of_it);
        } else {
            my.advance_oldest(resource, erased_of_it);
        }
    } else {
        const bool keeps_newest = erase.scope == Erase::Scope::all_but_current && live;
        const std::uint32_t oldest = erased_of_it.oldest;
        for (std::uint32_t position = keeps_newest ? my.link_of(newest).previous : newest;
             position != 0 && position >= oldest; position = my.link_of(position).previous) {
            mark(position);
        }
        if (keeps_newest) {
            store_release(erased_of_it.oldest, newest);
            store_relaxed(erased_of_it.holes, std::uint32_t{0});
        } else {
            my.forget(resource, erased_of_it);
        }
    }
    store_relaxed(erased_of_it.through, static_cast<std::uint32_t>(std::max<std::uint64_t>(
                                            highest, erased_of_it.through)));
    my.publish_totals();
    return count;
}

// ---- the readers' side ----

Position Index::last_position() const noexcept {
    return {impl_->visible.load(std::memory_order_acquire)};
}

std::optional<VersionInfo> Index::current(const Hash128& key, Position bound) const {
    const Chain chain = impl_->chain(key, impl_->bound_of(bound));
    const std::uint32_t position = impl_->standing(chain, chain.newest);
    return position == 0 ? std::nullopt : std::optional(impl_->info(position));
}

std::optional<VersionInfo> Index::version(const Hash128& key, VersionNumber number) const {
    const Chain chain = impl_->chain(key, impl_->bound_of({}));
    if (chain.newest == 0) {
        return std::nullopt;
    }
    const std::uint32_t position = impl_->find_version(chain.newest, number.value);
    if (position < chain.oldest || position == 0 ||
        impl_->link_of(position).version != number.value || impl_->erased(position)) {
        return std::nullopt;
    }
    return impl_->info(position);
}

std::optional<VersionInfo> Index::current_at(const Hash128& key, Instant instant) const {
    const Chain chain = impl_->chain(key, impl_->bound_of({}));
    const std::uint32_t position = impl_->standing_at(chain, instant);
    return position == 0 ? std::nullopt : std::optional(impl_->info(position));
}

std::optional<VersionInfo> Index::at(Position position) const {
    if (position.value == 0 || position.value > impl_->visible.load(std::memory_order_acquire) ||
        impl_->erased(position.value)) {
        return std::nullopt;
    }
    return impl_->info(static_cast<std::uint32_t>(position.value));
}

Head Index::head(const Hash128& key) const {
    const Chain chain = impl_->chain(key, impl_->bound_of({}));
    Head head;
    head.erased_through = {chain.erased == nullptr ? 0 : load_relaxed(chain.erased->through)};
    if (const std::uint32_t position = impl_->standing(chain, chain.newest); position != 0) {
        const VersionInfo info = impl_->info(position);
        head.exists = true;
        head.deletion = info.deletion;
        head.version = info.version;
        head.instant = info.instant;
        head.position = info.position;
    }
    return head;
}

void Index::fetch_ahead(const Hash128& key) const noexcept {
    impl_->keys.fetch_ahead(key);
}

std::uint64_t Index::erasable(const IndexedErase& erase) const {
    const Impl& my = *impl_;
    const Chain chain = my.chain(erase.key, my.bound_of({}));
    if (chain.newest == 0) {
        return 0;
    }
    const bool live = !my.deletion(chain.newest);
    if (erase.scope == Erase::Scope::version) {
        const std::optional<VersionInfo> found = version(erase.key, erase.version);
        return found && !(live && found->position.value == chain.newest) ? 1 : 0;
    }
    if (erase.scope == Erase::Scope::through) {
        std::uint32_t position = my.find_version(chain.newest, erase.version.value);
        position = position == chain.newest ? my.link_of(position).previous : position;
        std::uint64_t count = 0;
        for (; position != 0 && position >= chain.oldest;
             position = my.link_of(position).previous) {
            count += my.erased(position) ? 0 : 1;
        }
        return count;
    }
    const std::uint64_t spanned =
        std::uint64_t{my.link_of(chain.newest).ordinal} - my.first_ordinal(chain) + 1;
    const std::uint64_t kept = std::min<std::uint64_t>(
        spanned, std::uint64_t{chain.holes()} +
                     (live && erase.scope == Erase::Scope::all_but_current ? 1 : 0));
    return spanned - kept;
}

std::optional<Surplus> Index::surplus(std::uint32_t number, const HistoryLimits& limits) const {
    const Impl& my = *impl_;
    const Chain chain = my.chain(number, my.bound_of({}));
    if (chain.newest == 0) {
        return std::nullopt;
    }
    const std::uint64_t keep = limits.keep[my.resources[number].type];
    const std::uint32_t last = my.link_of(chain.newest).ordinal;
    const std::uint64_t spanned = std::uint64_t{last} - my.first_ordinal(chain) + 1;
    const std::uint64_t holes = std::min<std::uint64_t>(spanned, chain.holes());
    if (keep == 0 || spanned - holes <= keep) {
        return std::nullopt;
    }
    std::uint32_t position = chain.newest;
    if (holes == 0) {
        position = my.find_ordinal(position, last - keep);
    } else {
        for (std::uint64_t left = keep; position != 0 && (left > 0 || my.erased(position));
             position = my.link_of(position).previous) {
            left -= left > 0 && !my.erased(position) ? 1 : 0;
        }
    }
    if (position == 0 || position < chain.oldest) {
        return std::nullopt;  // Erased meanwhile.
    }
    return Surplus{.through = {my.link_of(position).version}, .versions = spanned - holes - keep};
}

Location Index::location(Position position) const {
    const std::uint64_t place = load_acquire(impl_->entry(position.value).place);
    return {.segment = static_cast<std::uint32_t>(place >> (kOffsetBits + kFlagBits)),
            .offset = place >> kFlagBits & ((std::uint64_t{1} << kOffsetBits) - 1)};
}

void Index::relocate(Position position, const Location& location) noexcept {
    const std::atomic_ref place(impl_->entry(position.value).place);
    std::uint64_t old = place.load(std::memory_order_relaxed);
    while (!place.compare_exchange_weak(old, packed(location) | (old & kFlags),
                                        std::memory_order_release, std::memory_order_relaxed)) {
    }
}

Position Index::commit_end(Position position) const noexcept {
    const std::uint64_t visible = impl_->visible.load(std::memory_order_acquire);
    while (position.value < visible && (impl_->flags(position.value + 1) & kContinues) != 0) {
        ++position.value;
    }
    return position;
}

Position Index::commit_begin(Position position) const noexcept {
    while (position.value > 1 && (impl_->flags(position.value) & kContinues) != 0) {
        --position.value;
    }
    return position;
}

Index::Link Index::link(Position position) const noexcept {
    const auto number = static_cast<std::uint32_t>(position.value);
    return {.info = impl_->info(number),
            .key = impl_->resources[impl_->entry(number).resource].key,
            .previous = {impl_->link_of(number).previous},
            .erased = impl_->erased(number)};
}

Position Index::previous(Position position) const noexcept {
    return {impl_->link_of(static_cast<std::uint32_t>(position.value)).previous};
}

void Index::links(std::span<const std::uint32_t> positions, std::span<Link> links) const noexcept {
    const Impl& my = *impl_;
    const std::size_t count = positions.size();
    for (std::size_t i = 0; i < std::min(count, kEntriesAhead); ++i) {
        __builtin_prefetch(&my.entry(positions[i]));
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (i + kEntriesAhead < count) {
            __builtin_prefetch(&my.entry(positions[i + kEntriesAhead]));
        }
        if (i + kResourcesAhead < count) {
            __builtin_prefetch(&my.resources[my.entry(positions[i + kResourcesAhead]).resource]);
            my.prefetch_link(positions[i + kResourcesAhead]);
        }
        links[i] = link({positions[i]});
    }
}

std::uint32_t Index::resource_count() const noexcept {
    return impl_->resource_count.load(std::memory_order_acquire);
}

Totals Index::totals(std::optional<TypeId> type) const {
    const VersionList& list = impl_->list_of(type);
    return {.versions = list.versions.load(std::memory_order_relaxed),
            .live = list.live.load(std::memory_order_relaxed),
            .resources = list.resources.load(std::memory_order_relaxed)};
}

std::uint64_t Index::bytes() const noexcept {
    const Impl& my = *impl_;
    std::uint64_t bytes = sizeof(Impl) +
                          my.versions.bytes(my.visible.load(std::memory_order_relaxed)) +
                          my.links.bytes(my.link_count.load(std::memory_order_relaxed)) +
                          my.resources.bytes(my.resource_count.load(std::memory_order_relaxed)) +
                          my.erasures.bytes() + my.keys.bytes() + my.all.bytes();
    for (const VersionList& list : my.types) {
        bytes += list.bytes();
    }
    return bytes;
}

}  // namespace annals::storage
