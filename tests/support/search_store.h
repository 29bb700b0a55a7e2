// A store whose versions are found by the words in their text, and its search index as plain text for comparison.
//
// Threads: one.

#pragma once

#include "storage/store.h"
#include "tests/support/commits.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace annals::test {

/// The term for a word.
std::uint64_t word_term(std::string_view word);

/// The column of the versions' instants.
inline constexpr std::uint64_t kLastUpdatedColumn = 0x1a57;

/// The search entries of a version with this text: a term for each word, a text "word" in column 1, an interval in
/// column 2 for a number, a link in column 3 to the resource of the same type whose id follows a ">".
storage::SearchEntries entries_of(std::uint64_t seed, TypeId type, std::string_view text);

/// For StoreOptions::search: entries_of() the text after the head that CommitBuilder writes.
storage::SearchSetup word_setup(const storage::Store& store, std::uint64_t fingerprint = 1);

/// For a store with small segments that is searched by words.
storage::StoreOptions searchable(std::uint64_t fingerprint = 1);

/// Opens the store below "/data"; failure fails the test.
std::unique_ptr<storage::Store> open_store(storage::FileSystem& fs,
                                           storage::StoreOptions options = searchable(),
                                           storage::OpenReport* report = nullptr);

/// Adds versions that are found by their words.
class SearchableCommit {
  public:
    explicit SearchableCommit(const storage::Store& store) : seed_(store.search_seed()) {}

    storage::VersionWrite& put(std::string_view type, std::string_view id, std::string_view text);

    CommitBuilder builder;

  private:
    std::uint64_t seed_;
    std::deque<storage::SearchEntries> entries_;
};

/// Positions of the documents of `type` that have `term` in a snapshot.
std::set<std::uint64_t> find_term(const storage::Store& store, TypeId type, std::uint64_t term,
                                  Position snapshot);

std::set<std::uint64_t> find_word(const storage::Store& store, std::string_view type,
                                  std::string_view word);

/// All that the search index has on every version up to the newest position, as text; equal for equal content,
/// no matter how it is divided into runs and what died before `since`.
std::string describe_search(const storage::Store& store, std::span<const std::string> words,
                            Position since = {});

}  // namespace annals::test
