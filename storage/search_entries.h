// SearchEntries: the search entries of one version, as core passes them to the store.
//
// Layer:   storage; depends on nothing. What the numbers mean is core's business (core/search/terms.h).
// Threads: plain values.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

/// What one version can be found by. Reused from version to version to keep its memory.
struct SearchEntries {
    /// A closed interval of an ordered scale: microseconds of a date, an ordered number.
    struct Interval {
        std::uint64_t column = 0;
        std::int64_t low = 0;
        std::int64_t high = 0;

        bool operator==(const Interval&) const = default;
    };

    /// A reference to another resource: SearchRun::key() of what it refers to.
    struct Link {
        std::uint64_t column = 0;
        std::uint64_t target = 0;

        bool operator==(const Link&) const = default;
    };

    /// A text that can be found by its beginning or by a part of it.
    struct Text {
        std::uint64_t column = 0;
        std::uint32_t begin = 0;  ///< in `characters`
        std::uint32_t size = 0;
    };

    std::vector<std::uint64_t> terms;
    std::vector<Interval> intervals;
    std::vector<Link> links;
    std::vector<Text> texts;
    std::string characters;

    std::string_view text(const Text& text) const noexcept {
        return std::string_view(characters).substr(text.begin, text.size);
    }

    void add_text(std::uint64_t column, std::string_view text) {
        texts.push_back({column, static_cast<std::uint32_t>(characters.size()),
                         static_cast<std::uint32_t>(text.size())});
        characters += text;
    }

    /// Size of its contents in memory.
    std::size_t bytes() const noexcept {
        return terms.size() * sizeof(terms[0]) + intervals.size() * sizeof(intervals[0]) +
               links.size() * sizeof(links[0]) + texts.size() * sizeof(texts[0]) +
               characters.size();
    }

    void clear() noexcept {
        terms.clear();
        intervals.clear();
        links.clear();
        texts.clear();
        characters.clear();
    }
};

/// A view of the entries of one version. Lifetime: that of its source, while that isn't changed.
struct SearchEntriesView {
    std::span<const std::uint64_t> terms;
    std::span<const SearchEntries::Interval> intervals;
    std::span<const SearchEntries::Link> links;
    std::span<const SearchEntries::Text> texts;  ///< with offsets in `characters`
    std::string_view characters;

    SearchEntriesView() = default;

    // Implicit: to a reader both are the same.
    SearchEntriesView(const SearchEntries* entries)
        : terms(entries->terms),
          intervals(entries->intervals),
          links(entries->links),
          texts(entries->texts),
          characters(entries->characters) {}

    std::string_view text(const SearchEntries::Text& text) const noexcept {
        return characters.substr(text.begin, text.size);
    }
};

}  // namespace annals::storage
