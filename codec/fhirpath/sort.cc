// sort(): by one key, or by one per argument.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath 3.0 "sort", as in the official tests for R4.

#include "codec/fhirpath/machine.h"

#include <algorithm>
#include <numeric>

namespace annals::fhirpath {

bool Machine::sort(const Node& node, const Scope& scope, Range input) {
    SortKeys keys;
    if (!find_keys(node, scope, input, keys)) {
        return false;
    }
    std::vector<std::uint32_t> order(input.size());
    std::iota(order.begin(), order.end(), 0);
    // A merge of its own, because comparisons can fail.
    std::vector<std::uint32_t> merged(order.size());
    for (std::size_t width = 1; width < order.size(); width *= 2) {
        for (std::size_t begin = 0; begin < order.size(); begin += 2 * width) {
            std::size_t a = begin;
            const std::size_t a_end = std::min(begin + width, order.size());
            std::size_t b = a_end;
            const std::size_t b_end = std::min(begin + 2 * width, order.size());
            for (std::size_t out = begin; out < b_end; ++out) {
                bool take_b = a == a_end;
                if (a < a_end && b < b_end &&
                    !comes_before(node, keys, order[b], order[a], take_b)) {
                    return false;
                }
                merged[out] = take_b ? order[b++] : order[a++];
            }
        }
        order.swap(merged);
    }
    for (const std::uint32_t i : order) {
        if (!push(at(input.begin + i))) {
            return false;
        }
    }
    return true;
}

bool Machine::find_keys(const Node& node, const Scope& scope, Range input, SortKeys& out) {
    out.each = std::max<std::uint32_t>(node.count, 1);
    if (std::size_t{input.size()} * out.each > environment_->limits.items) {
        return fail(Errc::too_costly, "sort() has too many keys");
    }
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        for (std::uint32_t k = 0; k < out.each; ++k) {
            std::optional<Item> value;
            if (node.count == 0) {
                if (!system_value(at(i), value)) {
                    return false;
                }
            } else {
                std::uint32_t body = argument_node(node, k);
                if (program_->nodes[body].op == Op::negative) {
                    body = program_->nodes[body].a;
                }
                const std::uint32_t mark = top_;
                if (!evaluate(body, lambda(scope, input, i)) ||
                    !single({mark, top_}, value, "a key of sort()")) {
                    return false;
                }
                top_ = mark;
            }
            out.values.push_back(value);
        }
    }
    return true;
}

// A minus before a key reverses its order; items without the key come first in either case.
bool Machine::comes_before(const Node& node, const SortKeys& keys, std::uint32_t a, std::uint32_t b,
                           bool& out) {
    out = false;
    for (std::uint32_t k = 0; k < keys.each; ++k) {
        const std::optional<Item>& x = keys.values[std::size_t{a} * keys.each + k];
        const std::optional<Item>& y = keys.values[std::size_t{b} * keys.each + k];
        if (x.has_value() != y.has_value()) {
            out = !x;
            return true;
        }
        Order found = Order::equal;
        if (x && !compare_items(*x, *y, found)) {
            return false;
        }
        if (found == Order::less || found == Order::greater) {
            const bool down =
                node.count > 0 && program_->nodes[argument_node(node, k)].op == Op::negative;
            out = (found == Order::less) != down;
            return true;
        }
    }
    return true;
}

}  // namespace annals::fhirpath
