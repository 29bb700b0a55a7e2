// Schema: FHIR R4's types and their elements, as constant tables with O(1) look-up.
//
// Layer:   codec; depends on core/base only.
// Spec:    FHIR R4 (4.0.1) structuredefinition.html, elementdefinition.html, searchparameter.html, valueset.html.
// Threads: constant data; every handle is a number. Nothing is built at start.

#pragma once

#include "codec/schema/tables.h"
#include "core/base/resource_types.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace annals::schema {

enum class TypeKind : std::uint8_t { primitive, data_type, backbone, resource };

/// The primitive types; `none` is any other type.
enum class Primitive : std::uint8_t {
    none,
    base64_binary,
    boolean,
    canonical,
    code,
    date,
    date_time,
    decimal,
    id,
    instant,
    integer,
    markdown,
    oid,
    positive_int,
    string,
    time,
    unsigned_int,
    uri,
    url,
    uuid,
    xhtml,
};

enum class Strength : std::uint8_t { none, required, extensible, preferred, example };

/// A range of table rows as handles: `for (Element element : type.elements())`.
template <typename Handle>
class Range {
  public:
    class Iterator {
      public:
        explicit Iterator(std::uint16_t index) noexcept : index_(index) {}

        Handle operator*() const noexcept { return Handle(index_); }

        Iterator& operator++() noexcept {
            ++index_;
            return *this;
        }

        bool operator==(const Iterator&) const = default;

      private:
        std::uint16_t index_;
    };

    Range() = default;

    Range(std::uint16_t first, std::size_t count) noexcept
        : first_(first), last_(static_cast<std::uint16_t>(first + count)) {}

    Iterator begin() const noexcept { return Iterator(first_); }

    Iterator end() const noexcept { return Iterator(last_); }

    std::size_t size() const noexcept { return static_cast<std::size_t>(last_ - first_); }

    bool empty() const noexcept { return first_ == last_; }

    /// Requires: i < size().
    Handle operator[](std::size_t i) const noexcept {
        return Handle(static_cast<std::uint16_t>(first_ + i));
    }

  private:
    std::uint16_t first_ = 0;
    std::uint16_t last_ = 0;
};

/// A short list of handles from a table: `for (Type target : element.targets())`.
template <typename Handle>
class List {
  public:
    class Iterator {
      public:
        explicit Iterator(const std::uint16_t* at) noexcept : at_(at) {}

        Handle operator*() const noexcept { return Handle(*at_); }

        Iterator& operator++() noexcept {
            ++at_;
            return *this;
        }

        bool operator==(const Iterator&) const = default;

      private:
        const std::uint16_t* at_;
    };

    explicit List(const std::uint16_t* counted) noexcept : counted_(counted) {}

    Iterator begin() const noexcept { return Iterator(counted_ + 1); }

    Iterator end() const noexcept { return Iterator(counted_ + 1 + *counted_); }

    std::size_t size() const noexcept { return *counted_; }

    bool empty() const noexcept { return *counted_ == 0; }

    /// Requires: i < size().
    Handle operator[](std::size_t i) const noexcept { return Handle(counted_[i + 1]); }

  private:
    const std::uint16_t* counted_;
};

/// A rule of a type or an element, in FHIRPath.
class Invariant {
  public:
    Invariant() = default;

    explicit Invariant(std::uint16_t index) noexcept : index_(index) {}

    explicit operator bool() const noexcept { return index_ != 0; }

    bool operator==(const Invariant&) const = default;

    /// "pat-1".
    std::string_view key() const noexcept {
        return {tables::kInvariantText + row().key, row().key_size};
    }

    std::string_view expression() const noexcept {
        return {tables::kInvariantText + row().expression, row().expression_size};
    }

    /// Its severity: true for an error, false for a warning.
    bool is_error() const noexcept { return row().error != 0; }

    std::uint16_t index() const noexcept { return index_; }

  private:
    const tables::InvariantRow& row() const noexcept { return tables::kInvariants[index_]; }

    std::uint16_t index_ = 0;
};

/// A value set that an element is bound to.
class ValueSet {
  public:
    ValueSet() = default;

    explicit ValueSet(std::uint16_t index) noexcept : index_(index) {}

    explicit operator bool() const noexcept { return index_ != 0; }

    bool operator==(const ValueSet&) const = default;

    /// Without a version.
    std::string_view url() const noexcept {
        return {tables::kCodeText + row().url, row().url_size};
    }

    /// Whether its codes are in the tables: those of required bindings are, unless the value set isn't
    /// enumerable (media types, units, languages).
    bool enumerated() const noexcept { return row().enumerated != 0; }

    std::size_t size() const noexcept { return row().count; }

    struct Coding {
        std::string_view system;
        std::string_view code;
    };

    /// Requires: i < size().
    Coding operator[](std::size_t i) const noexcept;

    /// Whether `code` is one of its codes, of `system` if that is given. Cost: a binary search.
    bool contains(std::string_view code,
                  std::optional<std::string_view> system = std::nullopt) const noexcept;

  private:
    const tables::ValueSetRow& row() const noexcept { return tables::kValueSets[index_]; }

    std::uint16_t index_ = 0;
};

/// The value set called `url` (a version after '|' is ignored) if an element is bound to it. Linear.
ValueSet find_value_set(std::string_view url) noexcept;

class Element;

/// A type: "Patient", "HumanName", "string", or a backbone element's own: "Patient.contact". A
/// default-constructed Type is "missing": it has no name and no elements.
class Type {
  public:
    Type() = default;

    explicit Type(std::uint16_t index) noexcept : index_(index) {}

    explicit Type(TypeId id) noexcept
        : index_(static_cast<std::uint16_t>(tables::kFirstResource + id.value)) {}

    explicit operator bool() const noexcept { return index_ != 0; }

    bool operator==(const Type&) const = default;

    std::string_view name() const noexcept {
        return {tables::kNames + row().name, row().name_size};
    }

    TypeKind kind() const noexcept { return static_cast<TypeKind>(row().kind & 7); }

    bool is_primitive() const noexcept { return primitive() != Primitive::none; }

    Primitive primitive() const noexcept {
        return index_ <= tables::kLastPrimitive ? static_cast<Primitive>(index_) : Primitive::none;
    }

    bool is_resource() const noexcept { return index_ != 0 && kind() == TypeKind::resource; }

    /// Element, BackboneElement, Resource and DomainResource. An element of type Resource holds any resource.
    bool is_abstract() const noexcept { return (row().kind & 8) != 0; }

    /// The number of a concrete resource type.
    std::optional<TypeId> resource_type() const noexcept {
        const int id = index_ - tables::kFirstResource;
        if (id < 0 || id >= static_cast<int>(kResourceTypeCount)) {
            return std::nullopt;
        }
        return TypeId{static_cast<std::uint16_t>(id)};
    }

    /// The type that it is derived from; missing for Element and Resource.
    Type base() const noexcept { return Type(row().base); }

    /// Whether it is `ancestor` or derived from it.
    bool is_a(Type ancestor) const noexcept {
        Type type = *this;
        while (type && type != ancestor) {
            type = type.base();
        }
        return type && ancestor;
    }

    /// All elements, inherited ones included, in XML order; a choice has one for each of its types
    /// (valueBoolean, valueQuantity...), next to each other.
    Range<Element> elements() const noexcept;

    /// The element that JSON calls `name` ("valueQuantity", "family"; never with an underscore); missing if
    /// there is none. Cost: constant.
    Element find(std::string_view name) const noexcept;

    /// The elements that FHIRPath and XML paths call `base_name`: one, or the options of a choice; empty if
    /// there is none. Cost: constant, plus the number of options.
    Range<Element> find_base(std::string_view base_name) const noexcept;

    /// Rules for every value of this type, inherited ones included.
    List<Invariant> invariants() const noexcept {
        return List<Invariant>(tables::kLists + row().invariants);
    }

    std::uint16_t index() const noexcept { return index_; }

  private:
    const tables::TypeRow& row() const noexcept { return tables::kTypes[index_]; }

    std::uint16_t index_ = 0;
};

/// The type called `name` (case-sensitive): a resource, data type, primitive type or backbone element
/// ("Patient.contact"); missing if there is none. Cost: constant.
Type find_type(std::string_view name) noexcept;

/// All types: primitives first, then data types and abstract ones, resources, backbone elements.
Range<Type> types() noexcept;

inline Type resource_base_type() noexcept {
    return Type(tables::kResourceType);
}

inline Type extension_type() noexcept {
    return Type(tables::kExtensionType);
}

inline Type reference_type() noexcept {
    return Type(tables::kReferenceType);
}

/// An element of a type. A default-constructed Element is "missing": it has no name and no type.
class Element {
  public:
    Element() = default;

    explicit Element(std::uint16_t index) noexcept : index_(index) {}

    explicit operator bool() const noexcept { return index_ != 0; }

    bool operator==(const Element&) const = default;

    /// The name in JSON and XML: "valueQuantity".
    std::string_view name() const noexcept {
        return {tables::kNames + row().name, row().name_size};
    }

    /// The name in FHIRPath: "value".
    std::string_view base_name() const noexcept {
        return {tables::kNames + row().name, row().base_size};
    }

    /// The type of its values; for contained and Bundle.entry.resource: Resource. A contentReference has the
    /// type of the element that it refers to.
    Type type() const noexcept { return Type(row().type); }

    /// 0 or 1. For a choice: of all options together.
    int min() const noexcept { return row().flags & tables::kRequired; }

    /// Whether its max is "*" (an array in JSON) rather than 1.
    bool repeats() const noexcept { return (row().flags & tables::kRepeats) != 0; }

    bool is_summary() const noexcept { return (row().flags & tables::kSummary) != 0; }

    bool is_modifier() const noexcept { return (row().flags & tables::kModifier) != 0; }

    /// Whether it is an attribute in XML: id of elements, Extension.url, a primitive's value.
    bool is_attribute() const noexcept { return (row().flags & tables::kAttribute) != 0; }

    /// Whether it is one type of a choice (value[x]).
    bool is_choice() const noexcept { return (row().flags & tables::kChoice) != 0; }

    /// Whether it is the value of a primitive type itself, which has no name in JSON.
    bool is_primitive_value() const noexcept { return (row().flags & tables::kValue) != 0; }

    /// The number (1 to 31) among the required elements and choices of its type; 0 if it is neither. All
    /// options of a choice share one.
    unsigned mark() const noexcept { return row().mark; }

    /// The types that a Reference may refer to or a canonical may name; "Resource" is any. Empty if
    /// the definition names none.
    List<Type> targets() const noexcept { return List<Type>(tables::kLists + extra().targets); }

    Strength strength() const noexcept {
        return static_cast<Strength>(tables::kBindings[extra().binding].strength);
    }

    /// What its codes are bound to; missing if they aren't.
    ValueSet value_set() const noexcept {
        return ValueSet(tables::kBindings[extra().binding].value_set);
    }

    /// Rules for this element in addition to those of its type.
    List<Invariant> invariants() const noexcept {
        return List<Invariant>(tables::kLists + extra().invariants);
    }

    std::uint16_t index() const noexcept { return index_; }

  private:
    friend class Type;

    const tables::ElementRow& row() const noexcept { return tables::kElements[index_]; }

    const tables::ExtraRow& extra() const noexcept { return tables::kExtras[row().extra]; }

    std::uint16_t index_ = 0;
};

inline Range<Element> Type::elements() const noexcept {
    return {row().first, row().count};
}

inline Element Type::find(std::string_view name) const noexcept {
    const tables::ElementRow* const found =
        tables::find_element(row(), tables::name_of(name), name.data());
    return found == nullptr ? Element()
                            : Element(static_cast<std::uint16_t>(found - tables::kElements));
}

enum class SearchType : std::uint8_t {
    number,
    date,
    string,
    token,
    reference,
    composite,
    quantity,
    uri,
    special
};

/// A search parameter that R4 defines.
class SearchParameter {
  public:
    SearchParameter() = default;

    explicit SearchParameter(std::uint16_t index) noexcept : index_(index) {}

    explicit operator bool() const noexcept { return index_ != 0; }

    bool operator==(const SearchParameter&) const = default;

    /// The name in a URL: "birthdate".
    std::string_view code() const noexcept {
        return {tables::kSearchText + row().code, row().code_size};
    }

    /// "individual-birthdate"; its url is http://hl7.org/fhir/SearchParameter/ followed by this.
    std::string_view id() const noexcept { return {tables::kSearchText + row().id, row().id_size}; }

    SearchType type() const noexcept { return static_cast<SearchType>(row().type); }

    /// The FHIRPath expression for all of its bases; empty for _text, _content and _query.
    std::string_view expression() const noexcept {
        return {tables::kSearchText + row().expression, row().expression_size};
    }

    /// The types it applies to; Resource and DomainResource are listed as such.
    List<Type> bases() const noexcept { return List<Type>(tables::kSearchLists + row().bases); }

    /// The types that a reference may refer to.
    List<Type> targets() const noexcept { return List<Type>(tables::kSearchLists + row().targets); }

    struct Component;

    /// The number of components of a composite.
    std::size_t component_count() const noexcept { return row().component_count; }

    /// Requires: i < component_count().
    Component component(std::size_t i) const noexcept;

  private:
    const tables::SearchParameterRow& row() const noexcept {
        return tables::kSearchParameters[index_];
    }

    std::uint16_t index_ = 0;
};

struct SearchParameter::Component {
    SearchParameter parameter;
    std::string_view expression;  ///< FHIRPath on the results of the composite's expression
};

/// All search parameters, by code.
Range<SearchParameter> search_parameters() noexcept;

/// Those that have `type` itself as a base, by code; Resource's and DomainResource's must be requested separately.
List<SearchParameter> search_parameters(Type type) noexcept;

}  // namespace annals::schema
