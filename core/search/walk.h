// Walk: the paths of many parameters over one type, followed in one pass over the members that there are.
//
// Layer:   core/search, inside extraction.
// Threads: const once made; run() writes through a thread's own ValueWriter.

#pragma once

#include "core/search/layout.h"
#include "core/search/selection.h"
#include "core/search/values.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace annals::core::search {

class Walk {
  public:
    /// For values of `type`.
    explicit Walk(schema::Type type);

    /// Adds what `path` leads to, for a parameter of type `search`. False, and nothing is added, if it can't be
    /// walked this way. Lifetime: `columns` outlives this.
    bool add(const Path& path, schema::SearchType search, const Columns& columns);

    /// Adds a composite: what its two components have of each element that `element` leads to is brought together.
    /// False, and nothing is added, if it can't be walked this way. Lifetime: `pairs`, which run() writes to, outlives
    /// this.
    bool add(const CompositePaths& composite, Pairs& pairs);

    /// The same for the values of a path of which only their presence is asked.
    bool add_presence(const Path& path);

    /// Makes the look-ups; after the last add().
    void finish();

    /// Writes what `object`, of the type, yields.
    void run(json::Value object, ValueWriter& writer) const;

    bool empty() const noexcept { return nodes_.front().branches.empty(); }

  private:
    struct Sink {
        ValueKind kind = ValueKind::none;
        std::string_view system;
        std::vector<Use> uses;
    };

    /// What follows from the values of a member that meet a condition.
    struct Route {
        Condition condition;
        std::vector<Sink> sinks;
        std::uint32_t next = 0;  ///< a node; 0: nothing below
    };

    struct Branch {
        schema::Element element;
        std::string_view name;
        std::vector<Route> routes;
    };

    /// An object of one type on the way.
    struct Node {
        schema::Type type;
        std::vector<Branch> branches;
        std::vector<std::uint8_t> slots;  ///< index into branches and 1, by slot_of(); 0: free
        std::vector<Pairs*> pairs;        ///< of composites whose elements these are
    };

    bool add(const Path& path, std::optional<schema::SearchType> search, const Use& use);
    bool can_follow(schema::Type type, const Path& path, std::size_t step) const;
    Route& route(std::uint32_t node, schema::Element element, const Condition& condition);
    std::uint32_t next(std::uint32_t node, schema::Element element, const Condition& condition);
    void follow(std::uint32_t node, const Path& path, std::size_t step,
                std::optional<schema::SearchType> search, const Use& use);
    const Branch* find(const Node& node, std::string_view name) const noexcept;
    void run(const Node& node, json::Value object, ValueWriter& writer) const;
    void take(const Branch& branch, json::Value value, std::size_t index,
              ValueWriter& writer) const;

    std::vector<Node> nodes_;
};

}  // namespace annals::core::search
