// The types and fields that can be selected: those of FHIR as GraphQL sees them, and those around them.
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
    query,       ///< the root at the system level
    fhir,        ///< a resource, or an element of one
    connection,  ///< a page of matches
    edge,        ///< a match on a page
};

/// A type. `type`: for a connection or an edge, that of the resources; missing for the query.
struct ObjectType {
    ObjectKind kind = ObjectKind::query;
    schema::Type type{};
};

/// The possible types of an object: one, or several where a resource of any type may occur.
struct Scope {
    ObjectKind kind = ObjectKind::query;
    std::vector<schema::Type> types{schema::Type()};

    bool empty() const noexcept { return types.empty(); }

    /// "Patient", "PatientConnection"; "Resource" for several types.
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
    resolved,       ///< `resource` of a Reference
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
    schema::Element element{};  ///< for element and sibling
    schema::Type type{};        ///< for read, list, connection and the fields below

    explicit operator bool() const noexcept { return kind != FieldKind::none; }

    /// Whether it has no sub-fields.
    bool is_leaf() const noexcept;

    /// Whether its values may be resources of any type.
    bool is_any_resource() const noexcept {
        return kind == FieldKind::resolved ||
               (kind == FieldKind::element && element.type() == schema::resource_base_type());
    }
};

/// The field called `name`; FieldKind::none if there is none.
FieldDefinition find_field(const ObjectType& object, std::string_view name);

/// "Patient", "PatientContact", "PatientConnection".
std::string type_name(const ObjectType& object);

/// The possible types of `field`; all resource types if it may be any resource. Requires: it is not a leaf, and its type is
/// known unless is_any_resource().
Scope scope_of(const FieldDefinition& field);

/// Whether a fragment on `name` applies to `object`.
bool is_for(std::string_view name, const ObjectType& object);

/// Whether there is a type called `name`.
bool is_type_name(std::string_view name);

}  // namespace annals::core::graphql
