// Searches in a GraphQL query: from a field's arguments to a page of matches and the cursors of other pages.
//
// Layer:   core/graphql.
// Spec:    FHIR R4 graphql.html, "Searching resources"; docs/search.md.
// Threads: on the loop of its request, in slices.

#pragma once

#include "core/graphql/call.h"
#include "core/interactions/query_needs.h"
#include "core/interactions/search_page.h"
#include "core/interactions/turns.h"
#include "core/scoped_view.h"
#include "core/service.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::graphql {

struct FoundPage {
    std::vector<storage::VersionInfo> matches;
    std::optional<std::uint64_t> total;
    std::uint64_t offset = 0;                 ///< the number of matches before this page
    std::uint64_t size = 0;                   ///< the maximum number of matches on a page
    std::string first, previous, next, last;  ///< cursors; empty: no such page
};

/// Lifetime: the arguments of the constructor outlive it.
class Searcher {
  public:
    Searcher(const Service& service, const Request& request, const ScopedView& view,
             std::shared_ptr<const search::ParameterSet> parameters, search::Snapshot& snapshot,
             Turns& turns)
        : service_(service),
          request_(request),
          view_(view),
          parameters_(std::move(parameters)),
          snapshot_(snapshot),
          turns_(turns) {}

    /// All matches of a list. `focus`: what they must refer to ("Patient/1"), if the call requires that.
    /// Errors: as for a search; too_costly (more matches than fit on a page).
    asio::awaitable<Result<FoundPage>> list(TypeId type, const SearchCall& call, std::string focus);

    /// One page. `counted`: the total is required at any cost.
    asio::awaitable<Result<FoundPage>> page(TypeId type, const SearchCall& call, std::string focus,
                                            bool counted);

  private:
    struct Asked;
    Result<void> take_cursor(std::string_view text, Asked& asked) const;
    std::uint32_t digest(const Asked& asked) const;
    std::string cursor_text(const Asked& asked, const search::Cursor& cursor,
                            std::uint64_t offset) const;
    Result<void> read_query(Asked& asked, bool counted, QueryNeeds& needs) const;
    asio::awaitable<Result<SearchPage>> find(Asked& asked, std::uint64_t count, bool counted);
    void add_cursors(const Asked& asked, const SearchPage& found, FoundPage& page) const;
    asio::awaitable<Result<void>> keep_passing(const SearchCall& call, FoundPage& page);

    const Service& service_;
    const Request& request_;
    const ScopedView& view_;
    std::shared_ptr<const search::ParameterSet> parameters_;
    search::Snapshot& snapshot_;
    Turns& turns_;
};

}  // namespace annals::core::graphql
