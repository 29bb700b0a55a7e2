// What can be selected of what: the fields of FHIR's types as GraphQL sees them, and of what is around them.
//
// Layer:   core/graphql.
// Spec:    FHIR R4 graphql.html; the types are those of codec/schema.
// Threads: plain functions and values.

#pragma once

#include "codec/schema/schema.h"
#include "core/base/resource_types.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::graphql {

enum class ObjectKind : std::uint8_t {
    query,       ///< the root of the system level
    fhir,        ///< a resource, or an element of one
    connection,  ///< a page of a search
    edge,        ///< a match on it
};

/// One type. `type`: of a connection and an edge the resources'; of the query none.
struct ObjectType {
    ObjectKind kind = ObjectKind::query;
    schema::Type type{};
};

/// The types that something may be of: one, or several where a resource of any type may stand.
struct Scope {
    ObjectKind kind = ObjectKind::query;
    std::vector<schema::Type> types{schema::Type()};

    bool empty() const noexcept { return types.empty(); }

    /// "Patient", "PatientConnection"; of several "Resource".
    std::string name() const;
};

enum class FieldKind : std::uint8_t {
    none,
    type_name,      ///< __typename
    resource_type,  ///< resourceType
    read,           ///< Patient
    list,           ///< PatientList
    connection,     ///< PatientConnection
    element,        ///< name
    sibling,        ///< _birthDate: a primitive's id and extensions
    resolved,       ///< resource, of a Reference
    count,
    offset,
    pagesize,
    first,
    previous,
    next,
    last,
    edges,
    mode,
    score,
    edge_resource,
};

struct FieldDefinition {
    FieldKind kind = FieldKind::none;
    schema::Element element{};  ///< of element and sibling
    schema::Type type{};        ///< of read, list, connection and what is below it

    explicit operator bool() const noexcept { return kind != FieldKind::none; }

    /// Whether it has no fields of its own.
    bool is_leaf() const noexcept;

    /// Whether its values are of any resource type.
    bool is_any_resource() const noexcept {
        return kind == FieldKind::resolved ||
               (kind == FieldKind::element && element.type() == schema::resource_base_type());
    }
};

/// FieldKind::none if there is no such field.
FieldDefinition find_field(const ObjectType& object, std::string_view name);

/// "Patient", "PatientContact", "PatientConnection".
std::string type_name(const ObjectType& object);

/// What `field` leads to; of any resource all of them. Requires: it is no leaf, and no resource's type is left open by it
/// but by is_any_resource().
Scope scope_of(const FieldDefinition& field);

/// All types of resources.
const std::vector<schema::Type>& all_resources();

/// Whether a fragment on `name` is for `object`.
bool is_for(std::string_view name, const ObjectType& object);

/// Whether there is a type called so.
bool is_type_name(std::string_view name);

}  // namespace annals::core::graphql
