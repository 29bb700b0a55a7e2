// The answer under construction: a tree whose parts are added in the order in which their data is read.
//
// Layer:   core/graphql.
// Spec:    GraphQL (June 2018), section 7 Response; FHIR R4 graphql.html, "Data Flattening Directives".
// Threads: belongs to one request.

#pragma once

#include "core/base/result.h"
#include "core/base/text_map.h"
#include "core/graphql/document.h"
#include "core/graphql/plan.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace annals::core::graphql {

inline constexpr std::size_t kNodesMax = 250'000;         ///< values per answer
inline constexpr std::size_t kAnswerBytesMax = 16 << 20;  ///< approximate size of an answer
inline constexpr std::size_t kFieldErrorsMax = 100;       ///< reported per answer

/// Where the fields of an object go: into an object of their own, or into an enclosing one (@flatten).
struct Place {
    std::uint32_t node = 0;
    bool flattened = false;  ///< into an enclosing object
    bool list = false;       ///< several objects put their fields there
    std::string suffix{};    ///< appended to the fields' names (@slice)
};

class Output {
  public:
    enum class Kind : std::uint8_t { null, text, list, object };

    Output() { nodes_.emplace_back().kind = Kind::object; }

    /// The root object of the operation.
    static constexpr std::uint32_t kRoot = 0;

    /// Adds a value of `field`, null for now, to the object at `place`. `repeats`: it may have several values. `type`: the type
    /// that all values with the same key must have; missing: any.
    ///
    /// Errors: processing (several values where only one is allowed, or different types); too_costly (beyond kNodesMax or
    /// kAnswerBytesMax).
    Result<std::uint32_t> add(const Place& place, const FieldPlan& field, bool repeats,
                              schema::Type type);

    /// Reserves the position of a field whose value follows later. Errors: too_costly.
    Result<void> reserve(const Place& place, const FieldPlan& field);

    /// Makes sure that `field` is present although it has no value, as null or an empty list. Fields of flattened objects are
    /// left out.
    /// Errors: too_costly.
    Result<void> add_nothing(const Place& place, const FieldPlan& field, bool empty_list);

    /// Appends a null to a list. Requires: `list` is a list. Errors: too_costly.
    Result<std::uint32_t> add_item(std::uint32_t list);

    /// Gives a value to a null. `json`: a scalar. Errors: too_costly.
    Result<void> set_text(std::uint32_t node, std::string_view json);
    void set_object(std::uint32_t node, bool collates);

    void set_null(std::uint32_t node) { nodes_[node].kind = Kind::null; }

    /// Reports that a field failed: the one called `key` in the object at `node`, or `node` itself.
    /// Errors: too_costly (beyond kFieldErrorsMax reported and kNodesMax unreported ones).
    Result<void> add_error(const Error& error, Location at, std::uint32_t node,
                           std::string_view key = {});

    /// {"data":...,"errors":[...]}.
    std::string json() const;

  private:
    struct Node {
        Kind kind = Kind::null;
        bool collates = false;
        bool reserved = false;
        std::uint16_t type = 0;
        std::uint32_t parent = 0;
        std::string text;
        std::vector<std::pair<std::string, std::uint32_t>> members;
        std::vector<std::uint32_t> items;
    };

    Result<std::uint32_t> add_node(std::uint32_t parent, std::size_t bytes);
    std::uint32_t find(std::uint32_t object, const std::string& key) const;
    Result<std::uint32_t> add_member(std::uint32_t object, std::string key);
    std::string path_of(std::uint32_t node, std::string_view key) const;
    void write(std::uint32_t index, std::string& out) const;

    std::deque<Node> nodes_;
    std::size_t bytes_ = 0;
    /// For objects that collate, which may have many members.
    std::unordered_map<std::uint32_t, TextMap<std::uint32_t>> members_of_;
    std::vector<std::string> errors_;
    std::size_t untold_ = 0;
};

/// An entry for "errors". `path`: a JSON array; empty: left out. 5xx only get a general message.
std::string error_json(const Error& error, Location at, std::string_view path);

/// {"data":null,"errors":[...]} for a query that couldn't be started or completed.
std::string failure_json(const Error& error, Location at);

}  // namespace annals::core::graphql
