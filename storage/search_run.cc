#include "storage/search_run.h"

#include "storage/index_arrays.h"
#include "storage/search_bitmap.h"
#include "storage/search_run_parts.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace annals::storage {

namespace {

/// The largest block for more than one array.
constexpr std::size_t kSharedBlockMax = 256 << 10;
/// Larger blocks use huge pages: a look-up in a large run waits for memory, and fewer pages mean less waiting.
constexpr std::uint64_t kPagesFrom = 16 << 20;
/// How many terms share an entry of the directory, roughly.
constexpr std::size_t kTermsPerBucket = 16;
/// How far around the expected place a document is searched for at first, and how much further each time.
constexpr std::size_t kReachMin = 8;
constexpr std::size_t kReachFactor = 8;

/// The index of the first element that is not below `value`. Branch-free, since branches would be unpredictable.
template <typename T>
std::size_t lower_bound_of(std::span<const T> sorted, T value) noexcept {
    const T* first = sorted.data();
    std::size_t count = sorted.size();
    while (count > 1) {
        const std::size_t half = count / 2;
        first += first[half - 1] < value ? half : 0;
        count -= half;
    }
    const auto index = static_cast<std::size_t>(first - sorted.data());
    return index + (count == 1 && *first < value ? 1 : 0);
}

struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
};

Stretch stretch(std::span<const SearchRunColumn> columns, const SearchRunColumn* column) noexcept {
    return {column == columns.data() ? 0 : column[-1].end, column->end};
}

/// The range of `document` among the `count` ascending ones that `at` returns by index. It is searched for around the place
/// where it would be if all documents occurred equally often, which touches less memory than halving the whole.
template <typename At>
Stretch equal_stretch(std::size_t count, std::uint32_t document, At at) noexcept {
    if (count == 0) {
        return {};
    }
    const std::uint64_t expected =
        std::uint64_t{document} * count / (std::uint64_t{at(count - 1)} + 1);
    const std::size_t middle = std::min<std::size_t>(expected, count);
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t reach = kReachMin;
    do {
        begin = middle - std::min(middle, reach);
        end = std::min(count, middle + reach);
        reach *= kReachFactor;
    } while ((begin > 0 && at(begin - 1) >= document) || (end < count && at(end) < document));
    // Branch-free, since branches would be unpredictable.
    for (std::size_t left = end - begin; left > 0;) {
        const std::size_t half = left / 2;
        const bool is_below = at(begin + half) < document;
        begin += is_below ? half + 1 : 0;
        left = is_below ? left - half - 1 : half;
    }
    end = begin;
    while (end < count && at(end) == document) {
        ++end;
    }
    return {begin, end};
}

/// The same for a list.
Stretch equal_stretch(std::span<const std::uint32_t> ascending, std::uint32_t document) noexcept {
    return equal_stretch(ascending.size(), document, [&](std::size_t i) { return ascending[i]; });
}

}  // namespace

const SearchRunColumn* find_column(std::span<const SearchRunColumn> columns,
                                   std::uint64_t column) noexcept {
    const auto found = std::ranges::lower_bound(columns, column, {}, &SearchRunColumn::column);
    return found != columns.end() && found->column == column ? &*found : nullptr;
}

std::uint32_t Postings::size() const noexcept {
    return bitmap == nullptr ? static_cast<std::uint32_t>(list.size())
                             : static_cast<std::uint32_t>(roaring_bitmap_get_cardinality(bitmap));
}

bool Postings::contains(std::uint32_t document) const noexcept {
    return bitmap == nullptr ? std::ranges::binary_search(list, document)
                             : roaring_bitmap_contains(bitmap, document);
}

void Postings::set_in(std::span<std::uint64_t> words) const {
    if (bitmap != nullptr) {
        set_bits_of(*bitmap, words);
        return;
    }
    for (const std::uint32_t document : list) {
        words[document / 64] |= std::uint64_t{1} << (document % 64);
    }
}

std::span<const std::uint32_t> IntervalColumn::of(std::uint32_t document) const noexcept {
    const Stretch found = equal_stretch(by_document.size(), document, [this](std::size_t i) {
        return all.document[by_document[i]];
    });
    return by_document.subspan(found.begin, found.end - found.begin);
}

std::span<const std::uint32_t> LinkColumn::of(std::uint32_t of_document) const noexcept {
    const Stretch found = equal_stretch(document, of_document);
    return target.subspan(found.begin, found.end - found.begin);
}

void SearchRun::mark_died(std::uint32_t document, Position at) const noexcept {
    std::atomic<std::uint32_t>& died = died_[document];
    const std::uint32_t before = died.load(std::memory_order_relaxed);
    if (before == 0) {
        return;
    }
    const std::uint32_t after =
        at.value < kCurrent ? static_cast<std::uint32_t>(at.value) : kCurrent;
    died.store(after, std::memory_order_relaxed);
    if (before == kCurrent && after != kCurrent) {
        // Both release the death stored above: RunFacts looks at the documents of a block again only if its count has changed,
        // and at the blocks only if the sum has.
        died_in_[document / kBlock].fetch_add(1, std::memory_order_release);
        died_count_.fetch_add(1, std::memory_order_release);
    }
    if (after == 0) {
        erased_count_.fetch_add(1, std::memory_order_release);
    }
}

std::uint32_t SearchRun::size_at(Position position) const noexcept {
    if (position.value >= positions_.back()) {
        return size();
    }
    return static_cast<std::uint32_t>(
        lower_bound_of(positions_, static_cast<std::uint32_t>(position.value) + 1));
}

std::uint32_t SearchRun::find(Position position) const noexcept {
    if (position.value > positions_.back()) {
        return size();
    }
    const auto wanted = static_cast<std::uint32_t>(position.value);
    const std::size_t at = lower_bound_of(positions_, wanted);
    return positions_[at] == wanted ? static_cast<std::uint32_t>(at) : size();
}

Postings SearchRun::postings_of(const std::uint32_t& reference) const noexcept {
    if ((reference & kElsewhere) == 0) {
        return {.list = {&reference, 1}};
    }
    const std::uint32_t at = reference & kReferenceMask;
    if ((reference & kInBitmap) == kInBitmap) {
        return {.list = {}, .bitmap = bitmaps_[at].get()};
    }
    return {.list = lists_.subspan(std::size_t{at} + 1, lists_[at])};
}

Postings SearchRun::postings(std::uint64_t term) const noexcept {
    Stretch bucket{0, terms_.size()};
    if (!directory_.empty()) {
        const std::uint64_t upper = term >> directory_shift_;
        bucket = {directory_[upper], directory_[upper + 1]};
    }
    const std::size_t at =
        bucket.begin +
        lower_bound_of(terms_.subspan(bucket.begin, bucket.end - bucket.begin), term);
    if (at == bucket.end || terms_[at] != term) {
        return {};
    }
    return postings_of(term_postings_[at]);
}

SearchRun::TextRange SearchRun::texts(std::uint64_t column) const noexcept {
    const Column* const found = find_column(text_columns_, column);
    if (found == nullptr) {
        return {};
    }
    const Stretch all = stretch(text_columns_, found);
    return {static_cast<std::uint32_t>(all.begin), static_cast<std::uint32_t>(all.end)};
}

SearchRun::TextRange SearchRun::texts(std::uint64_t column,
                                      std::string_view prefix) const noexcept {
    const TextRange all = texts(column);
    // The first text whose beginning, as long as the prefix, is not below the prefix (or, with `above`, is above it).
    const auto bound = [this, prefix](std::uint32_t first, std::uint32_t last, int above) {
        while (first < last) {
            const std::uint32_t middle = first + (last - first) / 2;
            if (text(middle).substr(0, prefix.size()).compare(prefix) < above) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        return first;
    };
    const std::uint32_t first = bound(all.first, all.last, 0);
    return {first, bound(first, all.last, 1)};
}

std::string_view SearchRun::text(std::uint32_t index) const noexcept {
    const std::uint32_t begin = index == 0 ? 0 : text_ends_[index - 1];
    return {characters_.data() + begin, text_ends_[index] - begin};
}

Postings SearchRun::text_postings(std::uint32_t index) const noexcept {
    return postings_of(text_postings_[index]);
}

std::span<const std::uint32_t> SearchRun::texts_of(std::uint64_t column,
                                                   std::uint32_t document) const noexcept {
    const Column* const found = find_column(text_columns_, column);
    if (found == nullptr) {
        return {};
    }
    const std::size_t begin = found == text_columns_.data() ? 0 : found[-1].by_document_end;
    const Stretch of =
        equal_stretch(text_documents_.subspan(begin, found->by_document_end - begin), document);
    return text_indexes_.subspan(begin + of.begin, of.end - of.begin);
}

IntervalColumn SearchRun::intervals(std::uint64_t column) const noexcept {
    const Column* const found = find_column(interval_columns_, column);
    if (found == nullptr) {
        return {};
    }
    const Stretch in = stretch(interval_columns_, found);
    const std::size_t count = in.end - in.begin;
    return {.all = Intervals{interval_lows_, interval_highs_, interval_documents_}.part(in.begin,
                                                                                        count),
            .shorter_count = found->shorter_count,
            .short_span = found->short_span,
            .by_document = intervals_by_document_.subspan(in.begin, count)};
}

LinkColumn SearchRun::links(std::uint64_t column) const noexcept {
    const Column* const found = find_column(link_columns_, column);
    if (found == nullptr) {
        return {};
    }
    const Stretch in = stretch(link_columns_, found);
    const std::size_t count = in.end - in.begin;
    return {.document = link_documents_.subspan(in.begin, count),
            .target = link_targets_.subspan(in.begin, count),
            .targets = targets_};
}

std::uint32_t SearchRunParts::add_postings(std::span<const std::uint32_t> documents) {
    if (documents.size() == 1) {
        return documents[0];
    }
    if (documents.size() <= kListMax) {
        const auto at = static_cast<std::uint32_t>(lists.size());
        lists.push_back(static_cast<std::uint32_t>(documents.size()));
        lists.insert(lists.end(), documents.begin(), documents.end());
        return kElsewhere | at;
    }
    bitmaps.push_back(bitmap_of(documents));
    return kInBitmap | static_cast<std::uint32_t>(bitmaps.size() - 1);
}

void ShortSpan::add(std::int64_t low, std::int64_t high) noexcept {
    ++counts_[static_cast<std::size_t>(std::bit_width(length(low, high)))];
    if (low != INT64_MIN) {  // not an open beginning
        first_ = std::min(first_, low);
        last_ = std::max(last_, low);
    }
}

void ShortSpan::decide() noexcept {
    std::uint64_t all = 0;
    for (const std::uint32_t count : counts_) {
        all += count;
    }
    // A search scans the longer ones, and the shorter ones that begin within one span.
    const double stretch = last_ < first_ ? 1 : static_cast<double>(length(first_, last_)) + 1;
    double least = std::numeric_limits<double>::infinity();
    std::uint64_t shorter = 0;
    for (std::size_t bits = 0; bits < counts_.size(); ++bits) {
        shorter += counts_[bits];
        const std::uint64_t span = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
        const double cost =
            static_cast<double>(all - shorter) +
            static_cast<double>(shorter) * std::min(1.0, static_cast<double>(span) / stretch);
        if (cost < least) {
            least = cost;
            span_ = span;
            shorter_count_ = static_cast<std::uint32_t>(shorter);
        }
    }
}

void FreeBlock::operator()(std::byte* block) const noexcept {
    if (pages_bytes != 0) {
        free_pages(block, pages_bytes);
    } else {
        ::operator delete(block);
    }
}

/// Makes room for `bytes` more.
void SearchRun::add_block(std::uint64_t bytes) {
    if (bytes < kPagesFrom) {
        blocks_.emplace_back(static_cast<std::byte*>(::operator new(bytes)));
        bytes_ += bytes;
    } else {
        const std::uint64_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
        blocks_.emplace_back(static_cast<std::byte*>(allocate_pages(rounded)), FreeBlock{rounded});
        bytes_ += rounded;
    }
    free_ = blocks_.back().get();
    free_bytes_ = bytes;
}

template <typename T>
std::span<const T> SearchRun::keep(std::vector<T>& part, bool again) {
    const std::size_t bytes = part.size() * sizeof(T);
    if (bytes == 0) {
        return {};
    }
    if (bytes > free_bytes_) {
        add_block(bytes);
    }
    T* const to = reinterpret_cast<T*>(free_);
    std::memcpy(to, part.data(), bytes);
    free_ += bytes;
    free_bytes_ -= bytes;
    const std::span<const T> kept(to, part.size());
    if (again) {
        part.clear();
    } else {
        // Frees its memory, as {} would not, before the next one is copied.
        part = std::vector<T>();
    }
    return kept;
}

std::shared_ptr<SearchRun> SearchRun::make(SearchRunParts& parts, bool again) {
    std::shared_ptr<SearchRun> run(new SearchRun);
    const auto from = parts.arrays();
    const std::size_t all = std::apply(
        [](const auto&... part) { return ((part.size() * sizeof(part[0])) + ...); }, from);
    if (all <= kSharedBlockMax) {
        run->add_block(all);
    }
    std::apply(
        [&](auto&... to) {
            std::apply([&](auto&... part) { ((to = run->keep(part, again)), ...); }, from);
        },
        arrays(*run));
    run->bitmaps_ = std::exchange(parts.bitmaps, {});
    run->add_what_is_derived();
    return run;
}

/// Adds what is derived from arrays and bitmaps.
void SearchRun::add_what_is_derived() {
    bitmaps_.shrink_to_fit();
    died_ = std::make_unique_for_overwrite<std::atomic<std::uint32_t>[]>(size());
    for (std::uint32_t document = 0; document < size(); ++document) {
        died_[document].store(kCurrent, std::memory_order_relaxed);
    }
    died_in_ = std::make_unique<std::atomic<std::uint32_t>[]>(blocks());
    index_terms();
    count_bytes();
}

void SearchRun::index_terms() {
    if (terms_.size() < 2 * kTermsPerBucket) {
        return;
    }
    const auto bits = static_cast<unsigned>(std::bit_width(terms_.size() / kTermsPerBucket) - 1);
    directory_shift_ = 64 - bits;
    const std::size_t buckets = std::size_t{1} << bits;
    std::vector<std::uint32_t> directory(buckets + 1);
    std::size_t bucket = 0;
    for (std::size_t at = 0; at < terms_.size(); ++at) {
        for (const std::uint64_t upper = terms_[at] >> directory_shift_; bucket <= upper;
             ++bucket) {
            directory[bucket] = static_cast<std::uint32_t>(at);
        }
    }
    for (; bucket <= buckets; ++bucket) {
        directory[bucket] = static_cast<std::uint32_t>(terms_.size());
    }
    directory_ = keep(directory, false);
}

void SearchRun::count_bytes() noexcept {
    bytes_ += sizeof(SearchRun) + 32 + size() * sizeof(died_[0]) + blocks() * sizeof(died_in_[0]) +
              (blocks_.capacity() + (memory_ != nullptr ? 1 : 0)) * (sizeof blocks_[0] + 16) +
              bitmaps_.capacity() * sizeof bitmaps_[0];
    for (const SearchBitmap& bitmap : bitmaps_) {
        // Overhead of the allocator and of the bitmap's own tables, for it and for each container.
        const auto containers = static_cast<std::uint64_t>(bitmap->high_low_container.size);
        bytes_ += roaring_bitmap_portable_size_in_bytes(bitmap.get()) + 96 + 56 * containers;
    }
}

}  // namespace annals::storage
