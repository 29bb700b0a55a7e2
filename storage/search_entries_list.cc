#include "storage/search_entries_list.h"

namespace annals::storage {

namespace {

template <typename T>
void append(std::vector<T>& to, std::span<const T> values) {
    to.insert(to.end(), values.begin(), values.end());
}

template <typename T>
std::span<const T> part(const std::vector<T>& of, std::size_t begin, std::size_t end) noexcept {
    return std::span(of).subspan(begin, end - begin);
}

}  // namespace

void SearchEntriesList::add(const SearchEntriesView& entries) {
    append(terms_, entries.terms);
    append(intervals_, entries.intervals);
    append(links_, entries.links);
    append(texts_, entries.texts);
    characters_ += entries.characters;
    ends_.push_back({.terms = terms_.size(),
                     .intervals = intervals_.size(),
                     .links = links_.size(),
                     .texts = texts_.size(),
                     .characters = characters_.size()});
}

SearchEntriesView SearchEntriesList::operator[](std::size_t index) const noexcept {
    const End begin = index == 0 ? End() : ends_[index - 1];
    const End& end = ends_[index];
    SearchEntriesView view;
    view.terms = part(terms_, begin.terms, end.terms);
    view.intervals = part(intervals_, begin.intervals, end.intervals);
    view.links = part(links_, begin.links, end.links);
    view.texts = part(texts_, begin.texts, end.texts);
    view.characters =
        std::string_view(characters_).substr(begin.characters, end.characters - begin.characters);
    return view;
}

std::size_t SearchEntriesList::bytes() const noexcept {
    return ends_.size() * sizeof(ends_[0]) + terms_.size() * sizeof(terms_[0]) +
           intervals_.size() * sizeof(intervals_[0]) + links_.size() * sizeof(links_[0]) +
           texts_.size() * sizeof(texts_[0]) + characters_.size();
}

std::size_t SearchEntriesList::capacity_bytes() const noexcept {
    return ends_.capacity() * sizeof(ends_[0]) + terms_.capacity() * sizeof(terms_[0]) +
           intervals_.capacity() * sizeof(intervals_[0]) + links_.capacity() * sizeof(links_[0]) +
           texts_.capacity() * sizeof(texts_[0]) + characters_.capacity();
}

void SearchEntriesList::clear() noexcept {
    ends_.clear();
    terms_.clear();
    intervals_.clear();
    links_.clear();
    texts_.clear();
    characters_.clear();
}

}  // namespace annals::storage
