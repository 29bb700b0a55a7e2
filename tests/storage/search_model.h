// What search runs must return, found by plain loops over the documents; and random documents.

#pragma once

#include "storage/search_run.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

struct ModelDocument {
    Position position;
    std::uint64_t key = 0;
    SearchEntries entries;
    Position died = kNotDied;
};

/// Makes random documents, with terms that all documents, a few or only one of them have.
class ModelMaker {
  public:
    explicit ModelMaker(std::uint64_t seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t bound) {
        return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(random_);
    }

    ModelDocument next();

    std::uint64_t last() const noexcept { return position_; }

    static std::uint64_t mix(std::uint64_t number) noexcept;

  private:
    std::mt19937_64 random_;
    std::uint64_t position_ = 0;
};

std::vector<IndexedDocument> indexed(const std::vector<const ModelDocument*>& documents);
std::vector<const ModelDocument*> pointers(const std::deque<ModelDocument>& documents);

/// The next `count` documents of a maker.
std::deque<ModelDocument> documents_of(ModelMaker& maker, std::size_t count);

/// A run as bytes.
std::string written(const SearchRun& run);

/// Reads a run from a copy of `bytes`.
Result<std::shared_ptr<const SearchRun>> read_copy(std::string_view bytes);

/// The documents in `postings`.
std::vector<std::uint32_t> listed(const Postings& postings);

/// Expects `run` to return exactly what is true of `documents`.
void expect_says(const SearchRun& run, const std::vector<const ModelDocument*>& documents);

}  // namespace annals::storage
