// Checks an expression against the schema: which types each part can have, and whether they have
// the members that it uses.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Type Safety and Strict Evaluation".

#include "codec/fhirpath/program.h"
#include "codec/fhirpath/text.h"

#include <algorithm>

namespace annals::fhirpath {
namespace {

// The types that a part of an expression can have. `open`: also unknown ones.
struct Inferred {
    std::vector<schema::Type> types;
    bool open = false;
    bool ordered = true;

    void add(schema::Type type) {
        if (std::ranges::find(types, type) == types.end()) {
            types.push_back(type);
        }
    }

    void add(const Inferred& other) {
        for (const schema::Type type : other.types) {
            add(type);
        }
        open = open || other.open;
        ordered = ordered && other.ordered;
    }
};

class Checker {
  public:
    explicit Checker(const Program& program) : program_(program) {}

    Result<Inferred> infer(std::uint32_t index, const Inferred& context) {
        const Node& node = program_.nodes[index];
        switch (node.op) {
            case Op::empty:
            case Op::literal:
            case Op::index:
                return Inferred();
            case Op::total:
            case Op::variable:
                return anything();
            case Op::this_:
                return context;
            case Op::member:
                return member(node, context);
            case Op::function:
                return function(node, context);
            case Op::indexer: {
                ANNALS_TRY(Inferred input, infer(node.a, context));
                ANNALS_TRY_VOID(require_order(node, input));
                ANNALS_TRY_VOID(infer(node.value, context));
                return input;
            }
            case Op::positive:
            case Op::negative:
                ANNALS_TRY_VOID(infer(node.a, context));
                return Inferred();
            case Op::is:
            case Op::as:
            case Op::of_type:
                return type(node, context);
            case Op::union_: {
                ANNALS_TRY(Inferred both, infer(node.a, context));
                ANNALS_TRY(const Inferred right, infer(node.value, context));
                both.add(right);
                return both;
            }
            default:
                ANNALS_TRY_VOID(infer(node.a, context));
                ANNALS_TRY_VOID(infer(node.value, context));
                return Inferred();
        }
    }

  private:
    static Inferred anything() {
        Inferred all;
        all.open = true;
        return all;
    }

    Error error(const Node& node, const std::string& what) const {
        const std::string_view before = std::string_view(program_.text).substr(0, node.position);
        return Error{Errc::invalid, "FHIRPath: " + what + " at character " +
                                        std::to_string(character_count(before) + 1)};
    }

    Result<void> require_order(const Node& node, const Inferred& input) const {
        if (!input.ordered) {
            return error(node, "an ordering function on an unordered collection");
        }
        return {};
    }

    /// What the member, function or type operator `node` is applied to.
    Result<Inferred> input_of(const Node& node, const Inferred& context) {
        return node.a == kNone ? Result<Inferred>(context) : infer(node.a, context);
    }

    Result<Inferred> member(const Node& node, const Inferred& context) {
        const Name& name = program_.names[node.value];
        if (node.a == kNone && name.type) {
            for (const schema::Type type : context.types) {
                if (type.is_a(name.type)) {
                    return context;
                }
            }
        }
        ANNALS_TRY(Inferred input, input_of(node, context));
        Inferred result;
        result.open = input.open;
        result.ordered = input.ordered;
        for (const schema::Type type : input.types) {
            if (type.is_resource() && type.is_abstract()) {
                result.open = true;
            }
            for (const schema::Element element : type.find_base(name.text)) {
                result.add(element.type());
            }
        }
        if (result.types.empty() && !result.open) {
            const std::string of =
                input.types.empty() ? "a value" : std::string(input.types[0].name());
            return error(node, "no element " + std::string(name.text.substr(0, 60)) + " in " + of);
        }
        return result;
    }

    Result<Inferred> type(const Node& node, const Inferred& context) {
        ANNALS_TRY(Inferred input, input_of(node, context));
        const TypeSpecifier& specifier = program_.types[node.value];
        if (!specifier.known) {
            return error(node, "no type " + std::string(specifier.name.substr(0, 60)));
        }
        Inferred result;
        if (node.op != Op::is && specifier.fhir) {
            result.types.push_back(specifier.fhir);
            result.ordered = input.ordered;
        }
        return result;
    }

    Result<Inferred> argument(const Node& node, std::uint32_t which, const Inferred& scope) {
        return infer(program_.arguments[node.value + which], scope);
    }

    /// A function whose arguments are evaluated on each item of `input`.
    Result<Inferred> iteration(const Node& node, Inferred input) {
        Inferred item = input;
        item.ordered = true;
        Inferred found;
        for (std::uint32_t i = 0; i < node.count; ++i) {
            ANNALS_TRY(found, argument(node, i, item));
        }
        switch (node.function) {
            case Function::where:
                return input;
            case Function::sort:
                input.ordered = true;
                return input;
            case Function::select:
                found.ordered = found.ordered && input.ordered;
                return found;
            case Function::aggregate:
                return anything();
            default:
                return Inferred();
        }
    }

    /// iif().
    Result<Inferred> alternatives(const Node& node, const Inferred& scope) {
        ANNALS_TRY_VOID(argument(node, 0, scope));
        ANNALS_TRY(Inferred result, argument(node, 1, scope));
        if (node.count > 2) {
            ANNALS_TRY(const Inferred other, argument(node, 2, scope));
            result.add(other);
        }
        return result;
    }

    Result<Inferred> function(const Node& node, const Inferred& context) {
        ANNALS_TRY(Inferred input, input_of(node, context));
        switch (node.function) {
            case Function::first:
            case Function::last:
            case Function::tail:
            case Function::skip:
            case Function::take:
                ANNALS_TRY_VOID(require_order(node, input));
                break;
            default:
                break;
        }
        switch (node.function) {
            case Function::where:
            case Function::all:
            case Function::exists:
            case Function::select:
            case Function::sort:
            case Function::aggregate:
                return iteration(node, std::move(input));
            case Function::repeat:
                return anything();  // its results are its input, with other types
            case Function::iif:
                return alternatives(node, input);
            case Function::union_:
            case Function::combine: {
                ANNALS_TRY(const Inferred other, argument(node, 0, context));
                input.add(other);
                return input;
            }
            case Function::trace:
                return input;
            default:
                break;
        }
        for (std::uint32_t i = 0; i < node.count; ++i) {
            ANNALS_TRY_VOID(argument(node, i, context));
        }
        Inferred result;
        switch (node.function) {
            case Function::first:
            case Function::last:
            case Function::tail:
            case Function::skip:
            case Function::take:
            case Function::single:
            case Function::distinct:
            case Function::intersect:
            case Function::exclude:
            case Function::check_modifiers:
                return input;
            case Function::children:
            case Function::descendants:
                result = anything();
                result.ordered = false;
                return result;
            case Function::resolve:
            case Function::type:
                return anything();
            case Function::extension:
                result.types.push_back(schema::extension_type());
                return result;
            default:
                return result;
        }
    }

    const Program& program_;
};

}  // namespace

Result<void> Expression::check(schema::Type context) const {
    Inferred start;
    if (context) {
        start.types.push_back(context);
    }
    start.open = !context;
    ANNALS_TRY_VOID(Checker(*program_).infer(program_->root, start));
    return {};
}

}  // namespace annals::fhirpath
