// The writer's side of the index: adding, erasing and publishing.

#include "storage/index_impl.h"

namespace annals::storage {

namespace {

/// How many versions ahead add_batch() prefetches each part.
constexpr std::size_t kSlotsAhead = 24;
constexpr std::size_t kVersionsAhead = 8;
constexpr std::size_t kLinksAhead = 4;

}  // namespace

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

void Index::Impl::mark_erased(std::uint32_t position, Erasing& erasing) {
    erasing.highest = std::max(erasing.highest, link_of(position).version);
    if (erased(position)) {
        return;
    }
    std::atomic_ref(entry(position).place).fetch_or(kErased, std::memory_order_relaxed);
    for (VersionList* list : {&all, &types[type_of(position)]}) {
        const std::uint64_t index = list->count_through(position) - 1;
        BlockSummary& block = list->blocks[index / kBlock];
        store_relaxed(block.erased, load_relaxed(block.erased) + 1);
        list->erased.fetch_add(1, std::memory_order_relaxed);
        --list->totals.versions;
        touch(*list);
    }
    ++erasing.count;
    if (erasing.positions != nullptr) {
        erasing.positions->push_back({position});
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
        .place = place_of(version.location) | (version.deletion ? kDeletion : 0) |
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

void Index::Impl::erase_some(ResourceEntry& resource, ErasedVersions& erased_of_it,
                             const IndexedErase& erase, Erasing& erasing) {
    const std::uint32_t newest = resource.newest;
    const std::uint32_t oldest = erased_of_it.oldest;
    std::uint32_t position = find_version(newest, erase.version.value);
    if (erase.scope == Erase::Scope::version) {
        if (position < oldest || link_of(position).version != erase.version.value ||
            erased(position) || (position == newest && !deletion(newest))) {
            return;
        }
        mark_erased(position, erasing);
    } else {
        position = position == newest ? link_of(newest).previous : position;
        for (; position != 0 && position >= oldest; position = link_of(position).previous) {
            mark_erased(position, erasing);
        }
        if (erasing.count == 0) {
            return;
        }
    }
    store_relaxed(erased_of_it.holes,
                  erased_of_it.holes + static_cast<std::uint32_t>(erasing.count));
    const std::uint64_t kept =
        std::uint64_t{link_of(newest).ordinal} - link_of(oldest).ordinal + 1 - erased_of_it.holes;
    if (kept == 0) {
        erasing.highest = link_of(newest).version;
        forget(resource, erased_of_it);
    } else {
        advance_oldest(resource, erased_of_it);
    }
}

void Index::Impl::erase_all(ResourceEntry& resource, ErasedVersions& erased_of_it, bool but_newest,
                            Erasing& erasing) {
    const std::uint32_t newest = resource.newest;
    const std::uint32_t oldest = erased_of_it.oldest;
    for (std::uint32_t position = but_newest ? link_of(newest).previous : newest;
         position != 0 && position >= oldest; position = link_of(position).previous) {
        mark_erased(position, erasing);
    }
    if (but_newest) {
        store_release(erased_of_it.oldest, newest);
        store_relaxed(erased_of_it.holes, std::uint32_t{0});
    } else {
        forget(resource, erased_of_it);
    }
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
    Impl::Erasing erasing{.positions = erased};
    if (erase.scope == Erase::Scope::version || erase.scope == Erase::Scope::through) {
        my.erase_some(resource, erased_of_it, erase, erasing);
    } else {
        const bool but_newest =
            erase.scope == Erase::Scope::all_but_current && !my.deletion(resource.newest);
        my.erase_all(resource, erased_of_it, but_newest, erasing);
    }
    store_relaxed(erased_of_it.through,
                  std::max(erasing.highest, load_relaxed(erased_of_it.through)));
    my.publish_totals();
    return erasing.count;
}

void Index::relocate(Position position, const Location& location) noexcept {
    const std::atomic_ref place(impl_->entry(position.value).place);
    std::uint64_t old = place.load(std::memory_order_relaxed);
    while (!place.compare_exchange_weak(old, place_of(location) | (old & kFlags),
                                        std::memory_order_release, std::memory_order_relaxed)) {
    }
}

}  // namespace annals::storage
