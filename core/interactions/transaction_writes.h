// TransactionWrites: what a transaction has written so far, as criteria see it: instead of what is stored of it.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#trules; docs/api/conditional.md.
// Threads: plain values.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "core/search/plan.h"
#include "core/service.h"
#include "storage/search_entries.h"
#include "storage/store.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace annals::core {

class TransactionWrites {
  public:
    /// A resource as it would be written now.
    struct Draft {
        json::Document document;
        std::vector<std::string>
            unknown;  ///< links that an entry with such a fullUrl will make known
    };

    /// The resource that an entry writes, with what links are known. Errors: those of the parser.
    using Read = std::function<Result<Draft>(std::size_t entry)>;

    /// Lifetime: the service outlives this.
    TransactionWrites(const Service& service, Read read)
        : service_(service), read_(std::move(read)) {}

    /// This resource is written or deleted: what is stored of it counts no more.
    void replace(TypeId type, std::string_view id);

    /// It is written, by this entry. Requires: replace().
    void write(TypeId type, std::string_view id, std::size_t entry);

    /// What links to `full_url` mean has become known: what has such links is read again.
    void know(std::string_view full_url);

    /// The same of all links.
    void forget_read();

    /// Whether chains of the plan look at anything that the transaction replaces.
    bool concern(const search::Plan& plan) const;

    /// The same plan to be asked of the store, and of what is written by matching(): its chains lead over what the
    /// transaction writes, too. Errors: those of reading and of search.
    Result<search::Plan> overlaid(search::Plan plan);

    /// Entries that write a resource of the type that matches `plan`, which is overlaid(). Errors: as overlaid().
    Result<std::vector<std::size_t>> matching(TypeId type, const search::Plan& plan);

  private:
    struct Written {
        std::size_t entry = 0;
        std::uint64_t key = 0;  ///< Store::search_key()
        bool read = false;
        bool links = false;  ///< its unknown links are kept
        json::Document document = {};
        storage::SearchEntries entries = {};
    };

    struct OfType {
        std::vector<search::Term> replaced;  ///< identities
        std::vector<Written> written;
        std::unordered_map<search::Term, std::vector<std::size_t>>
            by_term;  ///< the first `indexed`
        std::size_t indexed = 0;
        std::vector<std::size_t> outdated;  ///< of those: to be read again
    };

    /// Who has a link that isn't known yet.
    struct Linking {
        std::uint16_t type = 0;
        std::size_t written = 0;  ///< in OfType::written
    };

    /// Reads it if that is to be done, and has its terms lead to it.
    Result<void> index(TypeId type, OfType& of_type, std::size_t number);

    /// Those that may match, ascending: not all, where matches must carry one of some terms. All of them have been read.
    Result<std::vector<std::size_t>> candidates(TypeId type, OfType& of_type,
                                                const search::Plan& plan);

    Result<void> overlay(search::Plan& plan);
    Result<std::vector<const Written*>> find(TypeId type, const search::Plan& plan);

    /// Adds the terms of what refers to `written` by the column of `plan`, by its key or by a name.
    static void add_referrers(const Written& written, const search::Plan& plan,
                              std::vector<search::Term>& terms);

    /// Where chains and has of a plan lead to in the store.
    class Stored;

    const Service& service_;
    Read read_;
    std::unordered_map<std::uint16_t, OfType> types_;
    std::unordered_multimap<std::string, Linking> unknown_;  ///< by the fullUrl
};

}  // namespace annals::core
