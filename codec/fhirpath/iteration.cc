// Functions whose argument is an expression, evaluated for each item.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Filtering and projection", "Existence", "Aggregates", iif().

#include "codec/fhirpath/machine.h"

namespace annals::fhirpath {

bool Machine::select(const Node& node, const Scope& scope, Range input) {
    const std::uint32_t body = argument_node(node, 0);
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        const Scope inner = lambda(scope, input, i);
        if (node.function == Function::select) {
            if (!evaluate(body, inner)) {
                return false;
            }
            continue;
        }
        Truth truth = Truth::unknown;
        if (!evaluate_truth(body, inner, truth)) {
            return false;
        }
        const bool yes = truth == Truth::yes;
        if (node.function == Function::where) {
            if (yes && !push(at(i))) {
                return false;
            }
        } else if (yes == (node.function == Function::exists)) {
            // exists() found an item that matches, or all() one that does not.
            return push(Item::boolean(node.function == Function::exists));
        }
    }
    return node.function == Function::select || node.function == Function::where ||
           push(Item::boolean(node.function == Function::all));
}

bool Machine::repeat(const Node& node, const Scope& scope, Range input) {
    const std::uint32_t body = argument_node(node, 0);
    // The queue: the items found so far, after the input.
    const std::uint32_t first = input.end;
    std::vector<std::uint64_t> hashes;
    for (std::uint32_t i = input.begin; i < top_; ++i) {
        const std::uint32_t before = top_;
        if (!evaluate(body, lambda(scope, input, i))) {
            return false;
        }
        // Keeps only new items; hashes avoid most comparisons.
        std::uint32_t kept = before;
        for (std::uint32_t k = before; k < top_; ++k) {
            const std::uint64_t hash = hash_of(at(k));
            bool seen = false;
            for (std::uint32_t m = first; m < kept && !seen; ++m) {
                if (hashes[m - first] != hash) {
                    continue;
                }
                Truth same = Truth::no;
                if (!equal_items(at(m), at(k), same)) {
                    return false;
                }
                seen = same == Truth::yes;
            }
            if (!step(1 + (kept - first) / 8)) {
                return false;
            }
            if (!seen) {
                stack_[kept++] = at(k);
                hashes.push_back(hash);
            }
        }
        top_ = kept;
    }
    return true;
}

bool Machine::aggregate(const Node& node, const Scope& scope, Range input) {
    const std::uint32_t body = argument_node(node, 0);
    const std::uint32_t mark = top_;
    if (node.count > 1 && !evaluate(argument_node(node, 1), scope)) {
        return false;
    }
    Range total{mark, top_};
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        Scope inner = lambda(scope, input, i);
        inner.total = total;
        inner.has_total = true;
        if (!evaluate(body, inner)) {
            return false;
        }
        collapse(mark, total.end);
        total.end = top_;
    }
    return true;
}

bool Machine::iif(const Node& node, const Scope& scope, Range input) {
    if (input.size() > 1) {
        return fail("iif() of several items");
    }
    Scope inner = scope;
    if (node.a != kNone) {
        inner.has_self = input.size() == 1;
        if (inner.has_self) {
            inner.self = at(input.begin);
        }
    }
    const std::uint32_t mark = top_;
    if (!evaluate(argument_node(node, 0), inner)) {
        return false;
    }
    std::optional<Item> criterion;
    if (!single({mark, top_}, criterion, "a criterion")) {
        return false;
    }
    top_ = mark;
    if (criterion && criterion->kind() != Item::Kind::boolean) {
        return fail("a criterion of iif() that is not a boolean");
    }
    if (criterion && criterion->as_boolean()) {
        return evaluate(argument_node(node, 1), inner);
    }
    return node.count < 3 || evaluate(argument_node(node, 2), inner);
}

}  // namespace annals::fhirpath
