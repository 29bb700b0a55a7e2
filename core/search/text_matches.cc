#include "core/search/text_matches.h"

#include <algorithm>
#include <cstring>
#include <ranges>

namespace annals::core::search {

namespace {

constexpr std::size_t kEntriesMax = 256;
constexpr std::size_t kTextsMax = 1 << 20;

// The texts of [first, last), which are contiguous, that contain `needle`, which is not empty. They are searched as one
// text: separate searches would spend more time starting than searching.
std::vector<std::uint32_t> matches_in(const storage::SearchRun& run, std::uint32_t first,
                                      std::uint32_t last, std::string_view needle) {
    std::vector<std::uint32_t> found;
    if (first == last) {
        return found;
    }
    const std::string_view final = run.text(last - 1);
    const char* const end = final.data() + final.size();
    const char* at = run.text(first).data();
    const auto next = [&]() -> const char* {
        const auto left = static_cast<std::size_t>(end - at);
        return left < needle.size()
                   ? nullptr  // and so may `at` be
                   : static_cast<const char*>(::memmem(at, left, needle.data(), needle.size()));
    };
    while ((at = next()) != nullptr) {
        // Finds the last text that begins at or before it.
        const auto texts = std::views::iota(first, last);
        const auto behind = std::ranges::partition_point(
            texts, [&](std::uint32_t text) { return run.text(text).data() <= at; });
        first += static_cast<std::uint32_t>(behind - texts.begin()) - 1;
        const std::string_view text = run.text(first);
        if (at + needle.size() > text.data() + text.size()) {
            ++at;  // it extends into the next text
            continue;
        }
        found.push_back(first);
        at = text.data() + text.size();
    }
    return found;
}

}  // namespace

TextMatches::Texts TextMatches::get(const std::shared_ptr<const storage::SearchRun>& run,
                                    Column column, std::string_view needle) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        if (entry->address == run.get() && entry->column == column && entry->needle == needle &&
            !entry->run.expired()) {
            entries_.splice(entries_.begin(), entries_, entry);
            return entry->texts;
        }
    }
    const storage::SearchRun::TextRange range = run->texts(column);
    const auto found = std::make_shared<const std::vector<std::uint32_t>>(
        matches_in(*run, range.first, range.last, needle));
    entries_.push_front({run, run.get(), column, std::string(needle), found});
    kept_texts_ += found->size();
    while (entries_.size() > 1 && (entries_.size() > kEntriesMax || kept_texts_ > kTextsMax)) {
        kept_texts_ -= entries_.back().texts->size();
        entries_.pop_back();
    }
    return found;
}

TextMatches& TextMatches::of_thread() {
    thread_local TextMatches matches;
    return matches;
}

}  // namespace annals::core::search
