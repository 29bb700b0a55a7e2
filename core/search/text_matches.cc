#include "core/search/text_matches.h"

#include <algorithm>
#include <cstring>

namespace annals::core::search {

namespace {

constexpr std::size_t kEntriesMax = 256;
constexpr std::size_t kTextsMax = 1 << 20;

bool contains(std::string_view text, std::string_view needle) noexcept {
    if (text.size() < needle.size() || needle.empty()) {
        return needle.empty();  // neither may be null below
    }
    return ::memmem(text.data(), text.size(), needle.data(), needle.size()) != nullptr;
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
    auto found = std::make_shared<std::vector<std::uint32_t>>();
    const storage::SearchRun::TextRange range = run->texts(column);
    for (std::uint32_t text = range.first; text < range.last; ++text) {
        if (contains(run->text(text), needle)) {
            found->push_back(text);
        }
    }
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
