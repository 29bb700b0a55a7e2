#include "codec/fhirpath/machine.h"

#include <algorithm>
#include <type_traits>

namespace annals::fhirpath {

namespace {

// Items are copied as bytes.
static_assert(std::is_trivially_copyable_v<Item> && sizeof(Item) == 40);

constexpr std::uint32_t kFirstItems = 256;
constexpr std::size_t kFirstChunk = 16 << 10;
constexpr std::size_t kKeptItems = 16 << 10;
constexpr std::size_t kKeptBytes = 1 << 20;

}  // namespace

Machine::Machine() : stack_(new Item[kFirstItems]), capacity_(kFirstItems) {
    chunks_.push_back({std::unique_ptr<char[]>(new char[kFirstChunk]), kFirstChunk});
}

Machine::~Machine() = default;

Result<std::span<const Item>> Machine::run(const Program& program, const Item& input,
                                           const Environment& environment) {
    program_ = &program;
    environment_ = &environment;
    input_ = &input;
    top_ = 0;
    steps_ = 0;
    steps_max_ = environment.limits.steps;
    now_ = environment.now;
    undecided_ = false;
    if (capacity_ > kKeptItems) {
        stack_.reset(new Item[kFirstItems]);
        capacity_ = kFirstItems;
    }
    if (allocated_ > kKeptBytes) {
        chunks_.resize(1);
    }
    chunk_ = 0;
    used_ = 0;
    allocated_ = 0;

    Scope scope;
    scope.self = input;
    scope.has_self = true;
    if (!evaluate(program.root, scope)) {
        return std::move(error_);
    }
    return std::span<const Item>(stack_.get(), top_);
}

bool Machine::fail(Errc code, std::string detail) {
    error_ = Error{code, "FHIRPath: " + std::move(detail)};
    return false;
}

bool Machine::fail(std::string_view what) {
    return fail(Errc::processing, std::string(what));
}

bool Machine::fail(Error error) {
    error_ = std::move(error);
    return false;
}

bool Machine::too_many_steps() {
    return fail(Errc::too_costly, "the evaluation takes too many steps");
}

bool Machine::grow() {
    const std::size_t limit = std::min<std::size_t>(environment_->limits.items, UINT32_MAX / 2);
    if (capacity_ >= limit) {
        return fail(Errc::too_costly, "a collection has too many items");
    }
    const auto wanted =
        static_cast<std::uint32_t>(std::min<std::size_t>(std::size_t{capacity_} * 2, limit));
    std::unique_ptr<Item[]> larger(new Item[wanted]);
    std::memcpy(static_cast<void*>(larger.get()), stack_.get(), top_ * sizeof(Item));
    stack_ = std::move(larger);
    capacity_ = wanted;
    return true;
}

char* Machine::allocate(std::size_t bytes) {
    bytes = (bytes + 15) / 16 * 16;
    if (bytes > environment_->limits.memory_bytes ||
        allocated_ + bytes > environment_->limits.memory_bytes) {
        fail(Errc::too_costly, "the evaluation takes too much memory");
        return nullptr;
    }
    allocated_ += bytes;
    while (used_ + bytes > chunks_[chunk_].size) {
        ++chunk_;
        used_ = 0;
        if (chunk_ == chunks_.size()) {
            const std::size_t size = std::max(bytes, chunks_.back().size * 2);
            chunks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
        }
    }
    char* memory = chunks_[chunk_].bytes.get() + used_;
    used_ += bytes;
    return memory;
}

bool Machine::keep(std::string_view text, std::string_view& out) {
    if (text.size() > environment_->limits.string_bytes) {
        return fail(Errc::too_costly, "a string is too long");
    }
    if (!step(text.size() / 64)) {
        return false;
    }
    char* memory = allocate(text.size());
    if (memory == nullptr) {
        return false;
    }
    std::memcpy(memory, text.data(), text.size());
    out = {memory, text.size()};
    return true;
}

bool Machine::push_text(std::string_view text) {
    std::string_view kept;
    return keep(text, kept) && push(Item::string(kept));
}

bool Machine::push_quantity(const Quantity& quantity) {
    char* memory = allocate(sizeof(Quantity));
    return memory != nullptr && push(Item::quantity(*new (memory) Quantity(quantity)));
}

Machine::Scope Machine::lambda(const Scope& scope, Range input, std::uint32_t at) const {
    Scope inner;
    inner.self = stack_[at];
    inner.has_self = true;
    inner.index = at - input.begin;
    inner.total = scope.total;
    inner.has_total = scope.has_total;
    return inner;
}

bool Machine::evaluate(std::uint32_t index, const Scope& scope) {
    if (!step()) {
        return false;
    }
    const Node& node = program_->nodes[index];
    switch (node.op) {
        case Op::empty:
            return true;
        case Op::literal: {
            const Item& item = program_->constants[node.value];
            if (item.kind() == Item::Kind::integer && item.as_integer() > INT32_MAX) {
                return fail("an integer beyond 32 bits");
            }
            return push(item);
        }
        case Op::this_:
            return !scope.has_self || push(scope.self);
        case Op::index:
            return scope.index < 0 || push(Item::integer(scope.index));
        case Op::total:
            for (std::uint32_t i = scope.total.begin; i < scope.total.end; ++i) {
                if (!push(at(i))) {
                    return false;
                }
            }
            return true;
        case Op::variable:
            return variable(program_->names[node.value]);
        case Op::member:
            return member(node, scope);
        case Op::function:
            return function(node, scope);
        case Op::indexer:
            return indexer(node, scope);
        case Op::positive:
        case Op::negative:
            return negate(node, scope);
        case Op::is:
        case Op::as:
        case Op::of_type:
            return type_operator(node, scope);
        case Op::and_:
        case Op::or_:
        case Op::xor_:
        case Op::implies: {
            Truth truth = Truth::unknown;
            return logic(node, scope, truth) && push_truth(truth);
        }
        default:
            return binary(node, scope);
    }
}

bool Machine::evaluate_truth(std::uint32_t index, const Scope& scope, Truth& out) {
    const Node& node = program_->nodes[index];
    if (node.op == Op::and_ || node.op == Op::or_ || node.op == Op::xor_ ||
        node.op == Op::implies) {
        return step() && logic(node, scope, out);
    }
    const std::uint32_t mark = top_;
    if (!evaluate(index, scope) || !truth_of({mark, top_}, out)) {
        return false;
    }
    top_ = mark;
    return true;
}

bool Machine::truth_of(Range range, Truth& out) {
    if (range.size() == 0) {
        out = Truth::unknown;
        return true;
    }
    if (range.size() > 1) {
        return fail("several items where one boolean is expected");
    }
    const Item& item = at(range.begin);
    if (item.kind() == Item::Kind::boolean) {
        out = item.as_boolean() ? Truth::yes : Truth::no;
        return true;
    }
    // A single item counts as true, whatever it is, except for a boolean that is false.
    out = item.value().is(json::Kind::boolean) && item.value().raw() == "false" ? Truth::no
                                                                                : Truth::yes;
    return true;
}

bool Machine::logic(const Node& node, const Scope& scope, Truth& out) {
    Truth left = Truth::unknown;
    if (!evaluate_truth(node.a, scope, left)) {
        return false;
    }
    // The other side is not evaluated if this one decides.
    if ((node.op == Op::and_ && left == Truth::no) || (node.op == Op::or_ && left == Truth::yes)) {
        out = left;
        return true;
    }
    if (node.op == Op::implies && left == Truth::no) {
        out = Truth::yes;
        return true;
    }
    Truth right = Truth::unknown;
    if (!evaluate_truth(node.value, scope, right)) {
        return false;
    }
    const bool unknown = left == Truth::unknown || right == Truth::unknown;
    switch (node.op) {
        case Op::and_:
            out = right == Truth::no ? Truth::no : unknown ? Truth::unknown : Truth::yes;
            return true;
        case Op::or_:
            out = right == Truth::yes ? Truth::yes : unknown ? Truth::unknown : Truth::no;
            return true;
        case Op::xor_:
            out = unknown ? Truth::unknown : left != right ? Truth::yes : Truth::no;
            return true;
        default:  // implies
            out = right == Truth::yes ? Truth::yes : unknown ? Truth::unknown : Truth::no;
            return true;
    }
}

bool Machine::indexer(const Node& node, const Scope& scope) {
    const std::uint32_t mark = top_;
    if (!evaluate(node.a, scope)) {
        return false;
    }
    const Range input{mark, top_};
    if (!evaluate(node.value, scope)) {
        return false;
    }
    std::optional<Item> index;
    if (!single({input.end, top_}, index, "an index")) {
        return false;
    }
    if (index && index->kind() != Item::Kind::integer) {
        return fail("an index that is not an integer");
    }
    const bool inside =
        index && index->as_integer() >= 0 && index->as_integer() < std::int64_t{input.size()};
    if (inside) {
        stack_[mark] = at(mark + static_cast<std::uint32_t>(index->as_integer()));
    }
    top_ = mark + (inside ? 1 : 0);
    return true;
}

bool Machine::variable(const Name& name) {
    const Environment& environment = *environment_;
    for (const Variable& given : environment.variables) {
        if (given.name == name.text) {
            for (const Item& item : given.items) {
                if (!push(item)) {
                    return false;
                }
            }
            return true;
        }
    }
    const std::string_view text = name.text;
    if (text == "context") {
        return push(environment.context.value_or(*input_));
    }
    if (text == "resource") {
        return push(environment.resource.value_or(*input_));
    }
    if (text == "rootResource") {
        return push(environment.root_resource ? *environment.root_resource
                                              : environment.resource.value_or(*input_));
    }
    if (text == "ucum") {
        return push(Item::string(kUcum));
    }
    if (text == "sct") {
        return push(Item::string("http://snomed.info/sct"));
    }
    if (text == "loinc") {
        return push(Item::string("http://loinc.org"));
    }
    if (text.starts_with("vs-")) {
        return push_text("http://hl7.org/fhir/ValueSet/" + std::string(text.substr(3)));
    }
    if (text.starts_with("ext-")) {
        return push_text("http://hl7.org/fhir/StructureDefinition/" + std::string(text.substr(4)));
    }
    return fail("no variable %" + std::string(text.substr(0, 60)));
}

Evaluator::Evaluator() : machine_(std::make_unique<Machine>()) {
}

Evaluator::~Evaluator() = default;

std::uint64_t Evaluator::steps() const noexcept {
    return machine_->steps();
}

bool Evaluator::is_undecided() const noexcept {
    return machine_->is_undecided();
}

Result<std::span<const Item>> Evaluator::evaluate(const Expression& expression, const Item& input,
                                                  const Environment& environment) {
    return machine_->run(expression.program(), input, environment);
}

Result<std::optional<bool>> Evaluator::evaluate_boolean(const Expression& expression,
                                                        const Item& input,
                                                        const Environment& environment) {
    ANNALS_TRY(const std::span<const Item> items,
               machine_->run(expression.program(), input, environment));
    if (items.empty()) {
        return std::optional<bool>();
    }
    if (items.size() > 1) {
        return Error{Errc::processing, "FHIRPath: several items where one boolean is expected"};
    }
    SystemStorage storage;
    const std::optional<Item> value = to_system(items[0], storage);
    return std::optional<bool>(!value || value->kind() != Item::Kind::boolean ||
                               value->as_boolean());
}

}  // namespace annals::fhirpath
