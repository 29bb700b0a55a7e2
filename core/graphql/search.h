// Searches of a GraphQL query: a field's arguments as a search, its page, and the cursors to others.
//
// Layer:   core/graphql.
// Spec:    FHIR R4 graphql.html, "Searching resources"; docs/search.md.
// Threads: on the loop of its request, in turns.

#pragma once

#include "core/graphql/call.h"
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
    std::uint64_t offset = 0;                 ///< matches before these
    std::uint64_t size = 0;                   ///< the most that a page has
    std::string first, previous, next, last;  ///< cursors; empty: there is no such page
};

/// Lifetime: what it is made of outlives it.
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

    /// All that a list has. `focus`: whom they refer to ("Patient/1"), where the call asks for that.
    /// Errors: as a search; too_costly (there are more than a page may have).
    asio::awaitable<Result<FoundPage>> list(TypeId type, const SearchCall& call, std::string focus);

    /// One page. `counted`: its total is wanted whatever it costs.
    asio::awaitable<Result<FoundPage>> page(TypeId type, const SearchCall& call, std::string focus,
                                            bool counted);

  private:
    struct Asked;
    Result<void> take_cursor(std::string_view text, Asked& asked) const;
    std::uint32_t digest(const Asked& asked) const;
    std::string cursor_text(const Asked& asked, const search::Cursor& cursor,
                            std::uint64_t offset) const;
    Result<void> read_query(Asked& asked, bool counted, std::vector<Position>* unread) const;
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
