// FHIRPath over parsed resources: expressions are parsed once, then evaluated straight on json::Documents.
//
// Layer:   codec; depends on codec/json, codec/schema, codec/xml (htmlChecks()) and core/base only. No I/O: what
//          an expression asks of the outside (other resources, terminology, profiles) goes through functions that the
//          caller gives.
// Spec:    FHIRPath N1 (2.0.0) and FHIR R4 fhirpath.html; docs/fhirpath.md says what is supported.
// Threads: an Expression and an ExpressionCache are for all threads; an Evaluator belongs to one.

#pragma once

#include "codec/fhirpath/decimal.h"
#include "codec/fhirpath/temporal.h"
#include "codec/json/document.h"
#include "codec/schema/schema.h"
#include "core/base/instant.h"
#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace annals::fhirpath {

struct Program;

/// A parsed expression. Cheap to copy; immutable.
class Expression {
  public:
    /// Parses `text`.
    ///
    /// Errors: invalid (what is wrong, at which character); too_costly beyond kExpressionBytesMax or
    ///         kExpressionDepthMax.
    static Result<Expression> parse(std::string_view text);

    /// The text that was parsed. Lifetime: this and its copies.
    std::string_view text() const noexcept;

    /// Checks the expression against the schema without evaluating it: members that the types at hand don't
    /// have, an order asked of what has none. `context` is the type that it is evaluated on.
    ///
    /// Errors: invalid, with the first thing that is wrong.
    Result<void> check(schema::Type context) const;

    const Program& program() const noexcept { return *program_; }

  private:
    explicit Expression(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

    std::shared_ptr<const Program> program_;
};

inline constexpr std::size_t kExpressionBytesMax = 16 << 10;
inline constexpr std::size_t kExpressionDepthMax = 200;

/// Keeps the expressions that were used last.
class ExpressionCache {
  public:
    /// Keeps at most `entries_max` expressions; one with regular expressions counts for 16 more of each.
    explicit ExpressionCache(std::size_t entries_max = 4096);
    ~ExpressionCache();
    ExpressionCache(const ExpressionCache&) = delete;
    ExpressionCache& operator=(const ExpressionCache&) = delete;

    /// The parsed form of `text`, parsed if it isn't there. What doesn't parse isn't kept. Errors: as
    /// Expression::parse.
    Result<Expression> get(std::string_view text);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Where an element stands in a document: node indexes of `tree`, kNone where there is no such thing.
struct Place {
    static constexpr std::uint32_t kNone = UINT32_MAX;

    const json::Tree* tree = nullptr;
    std::uint32_t value =
        kNone;  ///< the value; none (or a JSON null) if a primitive has extensions only
    std::uint32_t sibling =
        kNone;  ///< the object of a primitive's id and extensions (of `_birthDate`)
    std::uint32_t parent = kNone;  ///< the object that it is a member of
    std::uint32_t key = kNone;     ///< its key there (of the value, else of the sibling)
    std::uint32_t index = kNone;   ///< which element of the array, if it is in one
};

/// What FHIRPath calls System.Quantity. A unit is a UCUM code or, for calendar durations, the keyword.
struct Quantity {
    Decimal value;
    std::string_view unit;
    bool calendar = false;
};

/// One item of a collection: an element of a resource, or a value that was computed.
///
/// Lifetime: points into the document, the expression and the evaluator that made it.
class Item {
  public:
    enum class Kind : std::uint8_t {
        element,
        boolean,
        integer,
        decimal,
        string,
        date,
        date_time,
        time,
        quantity,
        type_info,
    };

    Item() : place_() {}

    /// A resource, or any object that knows its type by a resourceType; `value` may be missing.
    static Item resource(json::Value value);

    /// An element of a known type.
    static Item element(const Place& place, schema::Type type);

    /// An item that is nothing but of this type, for references that can't be followed: resolve() is Patient.
    static Item of_type(schema::Type type) { return element({}, type); }

    static Item boolean(bool value);
    static Item integer(std::int64_t value);
    static Item decimal(const Decimal& value);
    static Item string(std::string_view value);
    static Item temporal(const Temporal& value);
    static Item quantity(const Quantity& value);

    Kind kind() const noexcept { return kind_; }

    bool is_element() const noexcept { return kind_ == Kind::element; }

    /// The schema type of an element (a backbone element has its own); also which type a type_info is of.
    schema::Type type() const noexcept { return type_; }

    /// Where an element is. Requires: is_element().
    const Place& place() const noexcept { return place_; }

    /// An element's value, the object beside a primitive, and the object around it; missing if there is none.
    json::Value value() const noexcept { return at(place_.value); }

    json::Value sibling() const noexcept { return at(place_.sibling); }

    json::Value parent() const noexcept { return at(place_.parent); }

    json::Value key() const noexcept { return at(place_.key); }

    /// Requires: the kind of that name (date, date_time and time: temporal).
    bool as_boolean() const noexcept { return boolean_; }

    std::int64_t as_integer() const noexcept { return integer_; }

    const Decimal& as_decimal() const noexcept { return decimal_; }

    std::string_view as_string() const noexcept { return string_; }

    const Temporal& as_temporal() const noexcept { return temporal_; }

    const Quantity& as_quantity() const noexcept { return *quantity_; }

  private:
    friend class Machine;

    json::Value at(std::uint32_t node) const noexcept {
        return kind_ != Kind::element || place_.tree == nullptr || node == Place::kNone
                   ? json::Value()
                   : json::Value(*place_.tree, node);
    }

    Kind kind_ = Kind::element;
    bool system_ = false;  // of a type_info: a System type, which is kind_of_
    Kind kind_of_ = Kind::element;
    schema::Type type_{};

    union {
        Place place_;
        bool boolean_;
        std::int64_t integer_;
        Decimal decimal_;
        std::string_view string_;
        Temporal temporal_;
        const Quantity* quantity_;
    };
};

/// What to_system() has to make, if it has to make anything.
struct SystemStorage {
    std::string text;
    Quantity quantity;
};

/// The item as a System value: a primitive element becomes a string, number, date... and a Quantity element a
/// quantity; others stay. Nothing if an element has no value.
///
/// Lifetime: of `storage`, which is used for one item, and of what the item is of.
std::optional<Item> to_system(const Item& item, SystemStorage& storage);

/// The text of a System value or primitive element as toString() has it; the JSON of any other element.
std::string to_text(const Item& item);

/// The name of the item's type: "HumanName", "BackboneElement", "code"; for System values "System.String".
std::string type_name(const Item& item);

/// What expressions may ask of the outside. Any may be empty; then only what the document itself answers works
/// (resolve() finds contained resources and Bundle entries; conformsTo() knows the base definitions).
struct Hooks {
    /// The resource that `reference` means; a default Item with no value if there is none.
    std::function<Result<std::optional<Item>>(std::string_view reference)> resolve;
    /// Is the code, Coding, CodeableConcept or string in the value set? Nothing: can't be told.
    std::function<Result<std::optional<bool>>(const Item& code, std::string_view value_set)>
        member_of;
    /// Does the first subsume the second?
    std::function<Result<std::optional<bool>>(const Item& a, const Item& b)> subsumes;
    std::function<Result<std::optional<bool>>(const Item& resource, std::string_view profile)>
        conforms_to;
    std::function<void(std::string_view name, std::span<const Item> items)> trace;
};

/// A variable of the caller's: %name.
struct Variable {
    std::string_view name;
    std::span<const Item> items;
};

/// Bounds of one evaluation; beyond them it ends with too_costly.
struct Limits {
    std::uint64_t steps =
        5'000'000;  ///< nodes evaluated, items and members looked at, bytes / 64 handled
    std::size_t items = 200'000;          ///< of all collections that are alive at one time
    std::size_t string_bytes = 1 << 20;   ///< of one string
    std::size_t memory_bytes = 16 << 20;  ///< of all computed strings and quantities
};

struct Environment {
    /// %resource, %rootResource, %context; the input where they are not given.
    std::optional<Item> resource;
    std::optional<Item> root_resource;
    std::optional<Item> context;
    std::span<const Variable> variables;
    const Hooks* hooks = nullptr;
    /// What now(), today() and timeOfDay() mean; the clock's when it isn't given.
    std::optional<Instant> now;
    Limits limits;
    /// `.as()` of several items is an error, as FHIRPath has it, and not a filter, as invariants of R4 need it.
    bool strict_as = false;
};

/// Evaluates expressions, reusing its memory. One per thread.
class Evaluator {
  public:
    Evaluator();
    ~Evaluator();
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;

    /// The items that `expression` gives for `input`, in order.
    ///
    /// Errors:   processing (the expression can't be evaluated on this input: a single item expected...),
    ///           too_costly (a limit), not_implemented (a hook that isn't there), a hook's own.
    /// Lifetime: the items hold until the next evaluation or the end of this, `expression`, `environment`
    ///           or the document.
    Result<std::span<const Item>> evaluate(const Expression& expression, const Item& input,
                                           const Environment& environment = {});

    /// The same, for a criterion: true or false; nothing for an empty result. Several items or one that is no
    /// boolean count as FHIRPath's singleton evaluation says. Errors: as evaluate.
    Result<std::optional<bool>> evaluate_boolean(const Expression& expression, const Item& input,
                                                 const Environment& environment = {});

    /// What the last evaluation took, in the unit of Limits::steps; also where it was given up.
    std::uint64_t steps() const noexcept;

  private:
    std::unique_ptr<class Machine> machine_;
};

}  // namespace annals::fhirpath
