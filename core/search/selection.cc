#include "core/search/selection.h"

#include "codec/fhirpath/program.h"

namespace annals::core::search {

namespace {

using fhirpath::Function;
using fhirpath::kNone;
using fhirpath::Node;
using fhirpath::Op;
using fhirpath::Program;
using Paths = std::optional<std::vector<Path>>;

class Reader {
  public:
    Reader(const Program& program, schema::Type context) : program_(program), context_(context) {}

    Paths read(std::uint32_t index) const {
        const Node& node = at(index);
        switch (node.op) {
            case Op::member:
                return member(node);
            case Op::as:
            case Op::of_type:
                return as(node);
            case Op::indexer:
                return indexer(node);
            case Op::union_: {
                Paths left = read(node.a);
                Paths right = read(node.value);
                if (!left || !right) {
                    return {};
                }
                left->insert(left->end(), right->begin(), right->end());
                return left;
            }
            case Op::function:
                return node.a == kNone ? Paths() : function(node);
            default:
                return {};
        }
    }

    std::optional<Path> presence() const {
        const Node& root = at(program_.root);
        if (root.op != Op::and_) {
            return {};
        }
        const Node& exists = at(root.a);
        const Node& unequal = at(root.value);
        if (exists.op != Op::function || exists.function != Function::exists || exists.count != 0 ||
            exists.a == kNone || unequal.op != Op::not_equal || !is_false(at(unequal.value))) {
            return {};
        }
        const Paths left = read(exists.a);
        const Paths right = read(unequal.a);
        return left && left == right && left->size() == 1 ? std::optional(left->front())
                                                          : std::nullopt;
    }

  private:
    const Node& at(std::uint32_t index) const { return program_.nodes[index]; }

    Paths member(const Node& node) const {
        const fhirpath::Name& name = program_.names[node.value];
        if (node.a != kNone) {
            return extend(read(node.a), name.text);
        }
        if (name.type && context_.is_a(name.type)) {
            return std::vector<Path>(1);
        }
        return extend(std::vector<Path>(1), name.text);
    }

    static Paths extend(Paths paths, std::string_view name) {
        if (!paths) {
            return {};
        }
        for (Path& path : *paths) {
            if (path.refers_to) {
                return {};
            }
            path.steps.push_back({std::string(name), {}, {}});
        }
        return paths;
    }

    Paths as(const Node& node) const {
        const schema::Type only = program_.types[node.value].fhir;
        Paths paths = node.a == kNone ? Paths() : read(node.a);
        if (!paths || !only) {
            return {};
        }
        for (Path& path : *paths) {
            if (path.refers_to || path.steps.empty() || path.steps.back().only ||
                path.steps.back().condition.kind != Condition::Kind::none) {
                return {};
            }
            path.steps.back().only = only;
        }
        return paths;
    }

    Paths indexer(const Node& node) const {
        const Node& index = at(node.value);
        Paths paths = node.a == kNone ? Paths() : read(node.a);
        if (!paths || index.op != Op::literal) {
            return {};
        }
        const fhirpath::Item& constant = program_.constants[index.value];
        if (constant.kind() != fhirpath::Item::Kind::integer || constant.as_integer() < 0) {
            return {};
        }
        Condition condition;
        condition.kind = Condition::Kind::index;
        condition.index = static_cast<std::size_t>(constant.as_integer());
        // The index counts over all values of the path, which is the index within an object only if there is just one object.
        if (paths->size() != 1 || paths->front().steps.size() != 1) {
            return {};
        }
        return restrict(std::move(paths), condition);
    }

    Paths function(const Node& node) const {
        if (node.function == Function::extension && node.count == 1) {
            const auto url = literal(at(program_.arguments[node.value]));
            if (!url) {
                return {};
            }
            return restrict(extend(read(node.a), "extension"), equals("url", *url));
        }
        if (node.function != Function::where || node.count != 1) {
            return {};
        }
        const Node& criterion = at(program_.arguments[node.value]);
        if (criterion.op == Op::is && criterion.a != kNone) {
            const Node& resolve = at(criterion.a);
            const schema::Type type = program_.types[criterion.value].fhir;
            if (resolve.op != Op::function || resolve.function != Function::resolve ||
                resolve.a != kNone || !type || !type.resource_type()) {
                return {};
            }
            Paths paths = read(node.a);
            if (!paths) {
                return {};
            }
            for (Path& path : *paths) {
                if (path.refers_to || path.steps.empty()) {
                    return {};
                }
                path.refers_to = type;
            }
            return paths;
        }
        if (criterion.op == Op::equal && criterion.a != kNone) {
            const Node& name = at(criterion.a);
            const auto value = literal(at(criterion.value));
            if (name.op != Op::member || name.a != kNone || !value) {
                return {};
            }
            return restrict(read(node.a), equals(program_.names[name.value].text, *value));
        }
        return {};
    }

    static Condition equals(std::string_view member, std::string_view value) {
        return {Condition::Kind::equals, std::string(member), std::string(value), 0};
    }

    static Paths restrict(Paths paths, const Condition& condition) {
        if (!paths) {
            return {};
        }
        for (Path& path : *paths) {
            if (path.refers_to || path.steps.empty() ||
                path.steps.back().condition.kind != Condition::Kind::none) {
                return {};
            }
            path.steps.back().condition = condition;
        }
        return paths;
    }

    std::optional<std::string_view> literal(const Node& node) const {
        if (node.op != Op::literal) {
            return {};
        }
        const fhirpath::Item& constant = program_.constants[node.value];
        return constant.kind() == fhirpath::Item::Kind::string ? std::optional(constant.as_string())
                                                               : std::nullopt;
    }

    bool is_false(const Node& node) const {
        return node.op == Op::literal &&
               program_.constants[node.value].kind() == fhirpath::Item::Kind::boolean &&
               !program_.constants[node.value].as_boolean();
    }

    const Program& program_;
    schema::Type context_;
};

}  // namespace

bool is_kept_by_as(schema::Type type, schema::Type wanted) noexcept {
    return type.is_primitive() ? type == wanted : type.is_a(wanted);
}

std::optional<std::vector<Path>> paths_of(const fhirpath::Expression& expression,
                                          schema::Type context) {
    return Reader(expression.program(), context).read(expression.program().root);
}

std::optional<Path> presence_of(const fhirpath::Expression& expression, schema::Type context) {
    return Reader(expression.program(), context).presence();
}

}  // namespace annals::core::search
