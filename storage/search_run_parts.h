// SearchRunParts: the parts of a run that is being made.
//
// Layer:   storage; private to search_run*.cc.
// Threads: one.

#pragma once

#include "storage/search_run.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace annals::storage {

// How a term or a text refers to its documents: a single one is in the reference itself, a few are in a list preceded by its
// size, many are in a bitmap.
inline constexpr std::uint32_t kElsewhere = 0x8000'0000;
inline constexpr std::uint32_t kInBitmap = 0xc000'0000;
inline constexpr std::uint32_t kReferenceMask = 0x3fff'ffff;

/// Longer lists become bitmaps.
inline constexpr std::size_t kListMax = 127;

/// Limits of a run that follow from its 32-bit numbers.
inline constexpr std::uint64_t kRunDocumentsMax = 0x7fff'ffff;
inline constexpr std::uint64_t kRunListsMax = kReferenceMask;
inline constexpr std::uint64_t kRunItemsMax = 0xffff'ffff;

/// The arrays of a SearchRun while they grow; members as there.
struct SearchRunParts {
    std::vector<std::uint32_t> positions;
    std::vector<std::uint64_t> keys;

    std::vector<std::uint64_t> terms;
    std::vector<std::uint32_t> term_postings;
    std::vector<std::uint32_t> lists;
    std::vector<SearchBitmap> bitmaps;

    std::vector<SearchRunColumn> text_columns;
    std::vector<std::uint32_t> text_ends;
    std::vector<std::uint32_t> text_postings;
    std::vector<char> characters;
    std::vector<std::uint32_t> text_documents;
    std::vector<std::uint32_t> text_indexes;

    std::vector<SearchRunColumn> interval_columns;
    std::vector<std::int64_t> interval_lows;
    std::vector<std::int64_t> interval_highs;
    std::vector<std::uint32_t> interval_documents;
    std::vector<std::uint32_t> intervals_by_document;

    std::vector<SearchRunColumn> link_columns;
    std::vector<std::uint32_t> link_documents;
    std::vector<std::uint32_t> link_targets;
    std::vector<std::uint64_t> targets;

    /// All arrays in the order of SearchRun::arrays(), those of 8 bytes first.
    auto arrays() noexcept {
        return std::tie(keys, terms, text_columns, interval_columns, interval_lows, interval_highs,
                        link_columns, targets, positions, term_postings, lists, text_ends,
                        text_postings, text_documents, text_indexes, interval_documents,
                        intervals_by_document, link_documents, link_targets, characters);
    }

    /// Requires: terms ascend; `documents`, at least one, ascend.
    void add_term(std::uint64_t term, std::span<const std::uint32_t> documents) {
        terms.push_back(term);
        term_postings.push_back(add_postings(documents));
    }

    /// Requires: texts ascend within a column.
    void add_text(std::string_view text, std::span<const std::uint32_t> documents) {
        characters.insert(characters.end(), text.begin(), text.end());
        text_ends.push_back(static_cast<std::uint32_t>(characters.size()));
        text_postings.push_back(add_postings(documents));
    }

    std::uint32_t text_count() const noexcept {
        return static_cast<std::uint32_t>(text_ends.size());
    }

    /// Ends a column before the text with number `end`.
    void end_text_column(std::uint64_t column, std::uint32_t end) {
        text_columns.push_back(
            {.column = column,
             .end = end,
             .by_document_end = static_cast<std::uint32_t>(text_documents.size())});
    }

    void end_interval_column(std::uint64_t column, std::uint64_t short_span,
                             std::uint32_t shorter_count) {
        interval_columns.push_back({.column = column,
                                    .short_span = short_span,
                                    .shorter_count = shorter_count,
                                    .end = static_cast<std::uint32_t>(interval_lows.size())});
    }

    void end_link_column(std::uint64_t column) {
        link_columns.push_back(
            {.column = column, .end = static_cast<std::uint32_t>(link_documents.size())});
    }

  private:
    std::uint32_t add_postings(std::span<const std::uint32_t> documents);
};

/// The column of this key; null if there is none.
const SearchRunColumn* find_column(std::span<const SearchRunColumn> columns,
                                   std::uint64_t column) noexcept;

/// Decides which intervals of a column count as short, so that a search scans as few as possible.
class ShortSpan {
  public:
    static std::uint64_t length(std::int64_t low, std::int64_t high) noexcept {
        return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    }

    void add(std::int64_t low, std::int64_t high) noexcept;
    /// Decides, once everything has been added.
    void decide() noexcept;

    std::uint64_t span() const noexcept { return span_; }

    std::uint32_t shorter_count() const noexcept { return shorter_count_; }

  private:
    std::array<std::uint32_t, 65> counts_{};  ///< by the bit width of the length
    std::int64_t first_ = INT64_MAX;
    std::int64_t last_ = INT64_MIN;
    std::uint64_t span_ = 0;
    std::uint32_t shorter_count_ = 0;
};

}  // namespace annals::storage
