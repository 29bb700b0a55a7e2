#include "storage/index.h"

#include "storage/index_impl.h"

#include <array>
#include <cstring>

namespace annals::storage {

namespace {

/// How far ahead links() prefetches what link() will touch.
constexpr std::size_t kEntriesAhead = 32;

}  // namespace

Hash128 resource_key(std::uint64_t store_seed, TypeId type, std::string_view id) noexcept {
    const std::string_view name = resource_type_name(type);
    std::array<char, 128> text;
    ANNALS_CHECK(name.size() + 1 + id.size() <= text.size());
    std::memcpy(text.data(), name.data(), name.size());
    text[name.size()] = '/';
    std::memcpy(text.data() + name.size() + 1, id.data(), id.size());
    return resource_key(store_seed, {text.data(), name.size() + 1 + id.size()});
}

Hash128 resource_key(std::uint64_t store_seed, std::string_view name) noexcept {
    return hash128(name, store_seed);
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
    // The chain was forgotten, or started anew, after its newest was read.
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

Index::Index() : impl_(std::make_unique<Impl>()) {
}

Index::~Index() = default;

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

std::optional<VersionInfo> Index::current_at(const Hash128& key, Instant instant,
                                             Position bound) const {
    const Chain chain = impl_->chain(key, impl_->bound_of(bound));
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
    return location_of(load_acquire(impl_->entry(position.value).place));
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
            .resources = list.resources.load(std::memory_order_relaxed),
            .erased = list.erased.load(std::memory_order_relaxed)};
}

bool Index::instants_ascend(std::optional<TypeId> type) const noexcept {
    return impl_->list_of(type).instants_ascend.load(std::memory_order_relaxed);
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
