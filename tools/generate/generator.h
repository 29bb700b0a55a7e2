// Generator: seeded, linked clinical histories, bundle by bundle.
//
// Layer:   tools/generate. Described in docs/generate.md.
// Threads: one; the same options give the same bytes on every machine.

#pragma once

#include "tools/generate/chart.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace annals::generate {

enum class Form : std::uint8_t {
    transaction,  ///< one transaction bundle per patient, after one for what patients share
    history,      ///< history bundles, oldest first, with versions, instants and deletions
    resources,    ///< the last state of every resource, one per line
};

struct Options {
    std::uint64_t seed = 1;
    Form form = Form::transaction;
    std::uint64_t patients = 0;  ///< stop after this many; 0: no limit
    std::uint64_t versions =
        0;                    ///< stop after this many versions (history) or resources; 0: no limit
    std::uint64_t bytes = 0;  ///< stop once this many bytes are written; 0: no limit
    std::uint64_t bundle_entries = 1000;  ///< in a history bundle
    Instant from{};                       ///< the first lastUpdated
    Instant until{};                      ///< roughly the last; matters only to history and dates
};

struct Counts {
    std::uint64_t patients = 0;   ///< started
    std::uint64_t resources = 0;  ///< created
    std::uint64_t versions = 0;   ///< of which resources is the first versions
    std::uint64_t deletions = 0;
    std::uint64_t bundles = 0;
    std::uint64_t bytes = 0;
};

class Generator {
  public:
    /// Requires: at least one of patients, versions and bytes limits the output; from < until;
    /// bundle_entries > 0.
    explicit Generator(const Options& options);
    ~Generator();
    Generator(const Generator&) = delete;
    Generator& operator=(const Generator&) = delete;

    /// Replaces `out` with the next bundle, without a line end (resources: the next patient's lines,
    /// each with its line end). False if there are no more.
    bool next(std::string& out);

    const Counts& counts() const noexcept;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// One resource without its id, for load tests; it refers to others by literal references.
struct Sample {
    Kind kind;
    std::string body;
};

/// `count` resources of each of `kinds`, in the order of `kinds`.
std::vector<Sample> make_samples(std::uint64_t seed, const std::vector<Kind>& kinds,
                                 std::size_t count);

}  // namespace annals::generate
