// FHIRPath over parsed resources: expressions are parsed once, then evaluated directly on json::Documents.
//
// Layer:   codec; depends on codec/json, codec/schema, codec/xml (htmlChecks()) and core/base only. No I/O: what an
//          expression needs from outside (other resources, terminology, profiles) comes through the caller's functions.
// Spec:    FHIRPath N1 (2.0.0) and FHIR R4 fhirpath.html; docs/fhirpath.md says what is supported.
// Threads: any thread may use an Expression or ExpressionCache; an Evaluator belongs to one.

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

    /// The text that was parsed. Lifetime: as long as this or a copy of it.
    std::string_view text() const noexcept;

    /// Checks the expression against the schema without evaluating it: for members that a type doesn't have,
    /// and for uses of the order of unordered collections. `context` is the type that it is evaluated on.
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

/// Keeps the most recently used expressions.
class ExpressionCache {
  public:
    /// Keeps at most `entries_max` expressions; each regular expression in one counts as 16 more.
    explicit ExpressionCache(std::size_t entries_max = 4096);
    ~ExpressionCache();
    ExpressionCache(const ExpressionCache&) = delete;
    ExpressionCache& operator=(const ExpressionCache&) = delete;

    /// `text` parsed, from the cache if it is there. Failures aren't cached. Errors: as Expression::parse.
    Result<Expression> get(std::string_view text);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The place of an element in a document: node indexes in `tree`; kNone if there is none.
struct Place {
    static constexpr std::uint32_t kNone = UINT32_MAX;

    const json::Tree* tree = nullptr;
    std::uint32_t value =
        kNone;  ///< the value; none (or a JSON null) if a primitive has extensions only
    std::uint32_t sibling =
        kNone;  ///< the object of a primitive's id and extensions (of `_birthDate`)
    std::uint32_t parent = kNone;  ///< the object that contains it
    std::uint32_t key = kNone;     ///< its key there (of the value, else of the sibling)
    std::uint32_t index = kNone;   ///< the index in the array, if it is in one
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

    /// A resource, or any object whose resourceType names its type; `value` may be missing.
    static Item resource(json::Value value);

    /// An element of a known type.
    static Item element(const Place& place, schema::Type type);

    /// An item that has only a type, for references that can't be followed: `resolve() is Patient`.
    static Item of_type(schema::Type type) { return element({}, type); }

    static Item boolean(bool value);
    static Item integer(std::int64_t value);
    static Item decimal(const Decimal& value);
    static Item string(std::string_view value);
    static Item temporal(const Temporal& value);
    static Item quantity(const Quantity& value);

    Kind kind() const noexcept { return kind_; }

    bool is_element() const noexcept { return kind_ == Kind::element; }

    /// The schema type of an element (a backbone element has its own); for a type_info, the type that it describes.
    schema::Type type() const noexcept { return type_; }

    /// Where an element is. Requires: is_element().
    const Place& place() const noexcept { return place_; }

    /// An element's value, the object beside a primitive, and the enclosing object; missing if there is none.
    json::Value value() const noexcept { return at(place_.value); }

    json::Value sibling() const noexcept { return at(place_.sibling); }

    json::Value parent() const noexcept { return at(place_.parent); }

    json::Value key() const noexcept { return at(place_.key); }

    /// Requires: the kind of that name (for as_temporal(): date, date_time or time).
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
    bool system_ = false;  // a type_info describes the System type kind_of_
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

/// Memory for what to_system() may have to create.
struct SystemStorage {
    std::string text;
    Quantity quantity;
};

/// The item as a System value: a primitive element becomes a string, number, date... and a Quantity element a
/// quantity; others stay as they are. Nothing if an element has no value.
///
/// Lifetime: as long as `storage`, which serves one item, and whatever the item points into.
std::optional<Item> to_system(const Item& item, SystemStorage& storage);

/// The text of a System value or primitive element, as toString() gives it; any other element as JSON.
std::string to_text(const Item& item);

/// The name of the item's type: "HumanName", "BackboneElement", "code"; for System values "System.String".
std::string type_name(const Item& item);

/// Access to what is outside the document. Any may be empty; then only the document itself is consulted
/// (resolve() finds contained resources and Bundle entries; conformsTo() knows the base definitions).
struct Hooks {
    /// The resource that `reference` points to; nothing if there is none.
    std::function<Result<std::optional<Item>>(std::string_view reference)> resolve;
    /// Whether the code, Coding, CodeableConcept or string is in the value set; nothing if that is unknown.
    std::function<Result<std::optional<bool>>(const Item& code, std::string_view value_set)>
        member_of;
    /// Whether the first subsumes the second.
    std::function<Result<std::optional<bool>>(const Item& a, const Item& b)> subsumes;
    std::function<Result<std::optional<bool>>(const Item& resource, std::string_view profile)>
        conforms_to;
    std::function<void(std::string_view name, std::span<const Item> items)> trace;
};

/// A variable that the caller defines: %name.
struct Variable {
    std::string_view name;
    std::span<const Item> items;
};

/// Limits of one evaluation; exceeding one ends it with too_costly.
struct Limits {
    std::uint64_t steps =
        5'000'000;  ///< nodes evaluated, items and members looked at, bytes / 64 handled
    std::size_t items = 200'000;          ///< in all collections that exist at one time
    std::size_t string_bytes = 1 << 20;   ///< of one string
    std::size_t memory_bytes = 16 << 20;  ///< of all computed strings and quantities
};

struct Environment {
    /// %resource, %rootResource, %context; each defaults to the input.
    std::optional<Item> resource;
    std::optional<Item> root_resource;
    std::optional<Item> context;
    std::span<const Variable> variables;
    const Hooks* hooks = nullptr;
    /// The time that now(), today() and timeOfDay() return; by default the clock's.
    std::optional<Instant> now;
    Limits limits;
    /// Whether `.as()` on several items is an error, as in FHIRPath, rather than a filter, as R4's invariants need.
    bool strict_as = false;
    /// Whether `|` keeps items that are equal: 1 g and 1000 mg are, but they are two values of a search parameter.
    bool union_keeps_equal = false;
};

/// Evaluates expressions, reusing its memory. One per thread.
class Evaluator {
  public:
    Evaluator();
    ~Evaluator();
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;

    /// The items that `expression` yields for `input`, in order.
    ///
    /// Errors:   processing (the expression can't be evaluated on this input: a single item was expected...),
    ///           too_costly (a limit), not_implemented (a missing hook), or a hook's own.
    /// Lifetime: until the next evaluation, or until this, `expression`, `environment` or the document is destroyed.
    Result<std::span<const Item>> evaluate(const Expression& expression, const Item& input,
                                           const Environment& environment = {});

    /// The same for a criterion: true or false; nothing if the result is empty. Other results are converted
    /// by FHIRPath's singleton evaluation of collections. Errors: as evaluate.
    Result<std::optional<bool>> evaluate_boolean(const Expression& expression, const Item& input,
                                                 const Environment& environment = {});

    /// The cost of the last evaluation in the unit of Limits::steps, even if it was given up.
    std::uint64_t steps() const noexcept;

    /// Whether the last evaluation met something that can't be decided, which may be why its result is empty: a comparison of
    /// dates of differing precision or of quantities without a common unit, a sum, product or conversion with an unknown unit,
    /// a question that a hook did not answer, or a reference that can't be resolved.
    bool is_undecided() const noexcept;

  private:
    std::unique_ptr<class Machine> machine_;
};

}  // namespace annals::fhirpath
