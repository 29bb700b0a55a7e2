// TransactionWrites: what a transaction has written so far, so that criteria see it instead of what is stored.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#trules; docs/api/conditional.md.
// Threads: plain values.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "core/base/text_map.h"
#include "core/search/plan.h"
#include "core/service.h"
#include "storage/search_entries.h"
#include "storage/store.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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
        /// The fullUrls of later entries that would resolve its links.
        std::vector<std::string> unknown;
    };

    /// The resource that an entry writes, with the links that can be resolved. Errors: those of the parser.
    using Read = std::function<Result<Draft>(std::size_t entry)>;

    /// Lifetime: the service outlives this.
    TransactionWrites(const Service& service, Read read)
        : service_(service), read_(std::move(read)) {}

    /// The stored version of this resource no longer counts: it is written by `writer` or, if there is none, deleted.
    void replace(TypeId type, std::string_view id, std::optional<std::size_t> writer);

    /// Links to `full_url` can be resolved now: resources that have any are read again.
    void know(std::string_view full_url);

    /// The same for all links.
    void forget_read();

    /// Whether chains of the plan lead to a type of which the transaction replaces resources.
    bool concern(const search::Plan& plan) const;

    /// Adapts a plan so that its chains also lead through what the transaction writes. The result is for the store;
    /// for the written resources pass it to matching(). Errors: those of reading and of search.
    Result<search::Plan> overlaid(search::Plan plan);

    /// The entries that write a resource of the type that matches `plan`, a result of overlaid(). Errors: as
    /// overlaid().
    Result<std::vector<std::size_t>> matching(TypeId type, const search::Plan& plan);

  private:
    struct Written {
        std::size_t entry = 0;
        std::uint64_t key = 0;  ///< Store::search_key()
        bool read = false;
        bool links = false;  ///< its unresolved links are in `unknown_`
        json::Document document = {};
        storage::SearchEntries entries = {};
    };

    struct OfType {
        std::vector<search::Term> replaced;  ///< identities of resources
        std::vector<Written> written;
        /// Of the first `indexed`.
        std::unordered_map<search::Term, std::vector<std::size_t>, SeededHash> by_term;
        std::size_t indexed = 0;
        std::vector<std::size_t> outdated;  ///< indexes of those that must be read again
    };

    /// A resource with a link that can't be resolved yet.
    struct Linking {
        std::uint16_t type = 0;
        std::size_t written = 0;  ///< index in OfType::written
    };

    /// Reads it if necessary, and adds its terms to `by_term`.
    Result<void> index(TypeId type, OfType& of_type, std::size_t number);

    /// Those that may match, ascending: only some if a match must have one of certain terms. All are read first.
    Result<std::vector<std::size_t>> candidates(TypeId type, OfType& of_type,
                                                const search::Plan& plan);

    Result<void> overlay(search::Plan& plan);
    Result<std::vector<const Written*>> find(TypeId type, const search::Plan& plan);

    /// Adds the terms by which others refer to `written` in the column of `plan`: by its key or by a name.
    static void add_referrers(const Written& written, const search::Plan& plan,
                              std::vector<search::Term>& terms);

    /// What the chains and _has of a plan lead to in the store.
    class Stored;

    const Service& service_;
    Read read_;
    std::unordered_map<std::uint16_t, OfType> types_;
    TextMultimap<Linking> unknown_;  ///< by fullUrl
};

}  // namespace annals::core
