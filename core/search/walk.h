// Walk: follows the paths of many parameters over one type in one pass over the members of an object.
//
// Layer:   core/search, inside extraction.
// Threads: const after finish(); run() writes through a thread's own ValueWriter.

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

    /// Adds a path of a parameter of type `search`. False, and nothing is added, if it can't be walked this way.
    /// Lifetime: `columns` outlives this.
    bool add(const Path& path, schema::SearchType search, const Columns& columns);

    /// The same for a path of whose values only the presence is indexed.
    bool add_presence(const Path& path);

    /// Adds a composite: the values of its two components are combined for each element at the path `element`. False,
    /// and nothing is added, if it can't be walked this way. Lifetime: `pairs`, which run() writes to, outlives this.
    bool add(const CompositePaths& composite, Pairs& pairs);

    /// Builds the lookup tables. Must be called after the last add().
    void finish();

    /// Writes the entries of `object`, which is of the type.
    void run(json::Value object, ValueWriter& writer) const;

    bool empty() const noexcept { return nodes_.front().branches.empty(); }

  private:
    struct Sink {
        ValueKind kind = ValueKind::none;
        std::string_view system;
        std::vector<Use> uses;
    };

    /// What is done with the values of a member that meet a condition.
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

    /// A type of object on the paths.
    struct Node {
        schema::Type type;
        std::vector<Branch> branches;
        std::vector<std::uint8_t> slots;  ///< 1 + index into branches, by slot_of(); 0: free
        std::vector<Pairs*> pairs;        ///< of composites with elements at this node
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
