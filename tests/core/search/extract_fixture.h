// A resource and its search entries.

#pragma once

#include "codec/json/document.h"
#include "core/search/extract.h"
#include "core/search/ranges.h"
#include "core/search/values.h"
#include "storage/index.h"
#include "tests/support/commits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::search {

inline constexpr std::uint64_t kSeed = 7;
inline constexpr std::string_view kBase = "http://example.org/fhir";
inline constexpr std::int64_t kNever = INT64_MIN;
inline constexpr std::int64_t kForever = INT64_MAX;

inline std::uint64_t key(std::string_view of, std::string_view id) {
    return storage::resource_key(kSeed, test::type_of(of), id).low;
}

/// A resource with its search entries.
class Found {
  public:
    explicit Found(std::string_view text,
                   std::shared_ptr<const ParameterSet> parameters = ParameterSet::standard())
        : extractor_(std::move(parameters), kSeed, std::string(kBase)) {
        auto parsed = parser_.parse(text);
        EXPECT_TRUE(parsed) << text;
        document_ = std::move(*parsed);
        type_ = test::type_of(document_.root()["resourceType"].string());
        extractor_.extract(type_, document_.root(), entries_);
    }

    bool has(Term term) const {
        return std::binary_search(entries_.terms.begin(), entries_.terms.end(), term);
    }

    bool is_present(std::string_view code) const { return has(present(column_of(code))); }

    std::vector<std::string> texts(Column column) const {
        std::vector<std::string> texts;
        for (const auto& text : entries_.texts) {
            if (text.column == column) {
                texts.emplace_back(entries_.text(text));
            }
        }
        return texts;
    }

    std::vector<std::pair<std::int64_t, std::int64_t>> intervals(Column column) const {
        std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
        for (const auto& interval : entries_.intervals) {
            if (interval.column == column) {
                intervals.emplace_back(interval.low, interval.high);
            }
        }
        return intervals;
    }

    std::vector<std::uint64_t> links(std::string_view code) const {
        std::vector<std::uint64_t> links;
        for (const auto& link : entries_.links) {
            if (link.column == column_of(code)) {
                links.push_back(link.target);
            }
        }
        return links;
    }

    std::size_t count_terms() const { return entries_.terms.size(); }

    const storage::SearchEntries& entries() const { return entries_; }

    Extractor& extractor() { return extractor_; }

    json::Value resource() const { return document_.root(); }

  private:
    json::Parser parser_;
    json::Document document_;
    TypeId type_;
    Extractor extractor_;
    storage::SearchEntries entries_;
};

inline std::pair<std::int64_t, std::int64_t> dates(std::string_view first, std::string_view last) {
    return {date_range(first, nullptr)->low, date_range(last, nullptr)->high};
}

inline std::pair<std::int64_t, std::int64_t> point(double value) {
    return {ordered(value), ordered(value)};
}

}  // namespace annals::core::search
