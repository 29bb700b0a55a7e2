// An index and a search index of the same versions, which are written to and loaded from files, without a store.

#pragma once

#include "storage/search_checkpoint.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace annals::storage {

class SearchCheckpointTest : public testing::Test {
  protected:
    SearchCheckpointTest() { fingerprints_.fill(1); }

    static void add_version(Index& index, std::uint64_t position, const Hash128& key) {
        index.add({.key = key,
                   .type = kType,
                   .position = {position},
                   .version = {1},
                   .instant = {static_cast<std::int64_t>(position)},
                   .deletion = false,
                   .location = {}});
    }

    void add(std::uint64_t count, const std::string& more = {}) {
        std::vector<SearchEntries> entries(count);
        std::vector<IndexedDocument> documents;
        for (SearchEntries& entry : entries) {
            const std::uint64_t p = index_.last_position().value + 1;
            const Hash128 key{1000 + p, salt_};
            add_version(index_, p, key);
            index_.publish({p});
            entry.terms = {p};
            entry.add_text(1, "text-" + std::to_string(p) + ";" + more);
            documents.push_back({.position = {p}, .key = key.low, .entries = &entry});
        }
        search_.add(kType, documents);
        search_.wait_until_idle();
    }

    SearchCheckpoint checkpoint() { return checkpoint(fs_); }

    SearchCheckpoint checkpoint(test::SimFileSystem& fs) {
        return SearchCheckpoint(
            fs, index_,
            {.directory = "/data", .store_id = 7, .read_only = false, .own_file_documents = 10});
    }

    /// Each resource has a single version.
    PerType<CheckpointedType> load(SearchCheckpoint& checkpoint) { return load(checkpoint, fs_); }

    PerType<CheckpointedType> load(SearchCheckpoint& checkpoint, test::SimFileSystem& fs) {
        const std::vector<std::uint32_t> next(index_.last_position().value + 1, 0);
        SearchCheckpointReader saved(fs, "/data");
        return checkpoint.load(saved, fingerprints_, next);
    }

    std::uint64_t loaded_documents() { return loaded_documents(fs_); }

    std::uint64_t loaded_documents(test::SimFileSystem& fs) {
        std::uint64_t count = 0;
        // Another SearchCheckpoint may be at work on these files.
        SearchCheckpoint checkpoint(fs, index_,
                                    {.directory = "/data", .store_id = 7, .read_only = true});
        for (const auto& type : load(checkpoint, fs)) {
            for (const auto& run : type.runs.runs) {
                count += run->size();
            }
        }
        return count;
    }

    /// The last but one, so that little is written after it.
    static constexpr TypeId kType{kResourceTypeCount - 2};

    test::SimFileSystem fs_;
    Index index_;
    SearchIndex search_{{.fan_in = 1000, .pending_documents = 0}};
    PerType<std::uint64_t> fingerprints_;
    const std::function<PerType<std::uint64_t>()> now_ = [this] { return fingerprints_; };
    std::uint64_t salt_ = 0;
};

}  // namespace annals::storage
