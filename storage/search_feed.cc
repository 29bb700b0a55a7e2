#include "storage/search_feed.h"

namespace annals::storage {

void SearchFeed::complete(std::uint64_t key, Instant instant, SearchEntries& entries) const {
    if (identity_ != nullptr) {
        entries.terms.push_back(identity_(key));
    }
    entries.intervals.push_back({last_updated_column_, instant.us, instant.us});
}

void SearchFeed::add(TypeId type, Position position, std::uint64_t key,
                     const SearchEntriesView& entries) {
    std::vector<IndexedDocument>& documents = documents_[type.value];
    if (documents.empty()) {
        types_.push_back(type);
    }
    documents.push_back({.position = position, .key = key, .entries = entries});
}

void SearchFeed::publish() {
    for (const TypeId type : types_) {
        std::vector<IndexedDocument>& documents = documents_[type.value];
        index_.add(type, documents);
        published_count_.fetch_add(documents.size(), std::memory_order_relaxed);
        documents.clear();
    }
    types_.clear();
    if (published_count() >= call_at_) {
        call_at_ = published_count() + call_each_;
        call_();
    }
}

void SearchFeed::call_after_each(std::uint64_t versions, std::function<void()> call) {
    call_each_ = versions;
    call_at_ = published_count() + versions;
    call_ = std::move(call);
}

void SearchFeed::erased(TypeId type, Position position) {
    index_.died(type, position, {0});
    erased_count_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace annals::storage
