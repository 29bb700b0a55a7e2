// The answer while it is made: a tree whose parts come in whatever order what they are made of is read.
//
// Layer:   core/graphql.
// Spec:    GraphQL (June 2018), section 7 Response; FHIR R4 graphql.html, "Data Flattening Directives".
// Threads: belongs to one request.

#pragma once

#include "core/base/result.h"
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

inline constexpr std::size_t kNodesMax = 250'000;         ///< values of an answer
inline constexpr std::size_t kAnswerBytesMax = 16 << 20;  ///< of an answer, about
inline constexpr std::size_t kFieldErrorsMax = 100;       ///< that are told

/// Where the fields of an object go: into an object of the answer that is theirs, or into one around it (@flatten).
struct Place {
    std::uint32_t node = 0;
    bool flattened = false;  ///< it is not theirs
    bool list = false;       ///< several objects put theirs there
    std::string suffix{};    ///< of their names (@slice)
};

class Output {
  public:
    enum class Kind : std::uint8_t { null, text, list, object };

    Output() { nodes_.emplace_back().kind = Kind::object; }

    /// The object that the operation's own fields go into.
    static constexpr std::uint32_t kRoot = 0;

    /// Adds a value of `field`, null for now, to the object at `place`. `repeats`: there may be several. `type`: what
    /// those under one name must have in common; missing: nothing.
    ///
    /// Errors: processing (several where there may be one; of different types); too_costly beyond kNodesMax and
    ///         kAnswerBytesMax.
    Result<std::uint32_t> add(const Place& place, const FieldPlan& field, bool repeats,
                              schema::Type type);

    /// Keeps a place among its siblings for a field whose value comes later. Errors: too_costly.
    Result<void> reserve(const Place& place, const FieldPlan& field);

    /// Sees to it that `field` is there though it has no value: null, or an empty list. What is flattened isn't.
    /// Errors: too_costly.
    Result<void> add_nothing(const Place& place, const FieldPlan& field, bool empty_list);

    /// Adds a null to a list. Requires: `list` is one. Errors: too_costly.
    Result<std::uint32_t> add_item(std::uint32_t list);

    /// Makes a value of a null. `json`: of a scalar. Errors: too_costly.
    Result<void> set_text(std::uint32_t node, std::string_view json);
    void set_object(std::uint32_t node, bool collates);

    void set_null(std::uint32_t node) { nodes_[node].kind = Kind::null; }

    /// Says that a field failed: of the object at `node`, which it would be called `key` in; or `node` itself.
    void add_error(const Error& error, Location at, std::uint32_t node, std::string_view key = {});

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
    void write(std::uint32_t node, std::string& out) const;

    std::deque<Node> nodes_;
    std::size_t bytes_ = 0;
    /// Of objects that collate, which may have many members.
    std::unordered_map<std::uint32_t, std::unordered_map<std::string, std::uint32_t>> members_of_;
    std::vector<std::string> errors_;
    std::size_t untold_ = 0;
};

/// One of a response's errors. `path`: a JSON array; empty: left out. 5xx are told in general words.
std::string error_json(const Error& error, Location at, std::string_view path);

/// {"data":null,"errors":[...]}: of what could not be begun, or not be brought to an end.
std::string failure_json(const Error& error, Location at);

}  // namespace annals::core::graphql
