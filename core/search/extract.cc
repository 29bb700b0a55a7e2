#include "core/search/extract.h"

#include "codec/fhirpath/fhirpath.h"
#include "core/search/canonical_links.h"
#include "core/search/container.h"
#include "core/search/layout.h"
#include "core/search/reference_terms.h"
#include "core/search/selection.h"
#include "core/search/values.h"
#include "core/search/walk.h"

#include <algorithm>
#include <array>
#include <deque>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace annals::core::search {

namespace {

using fhirpath::Item;
using schema::SearchType;
using storage::SearchEntries;

/// How many extractors a thread keeps. A process serves one store, tests several; without a configured base URL, writes
/// have none, while queries have that of their request.
constexpr std::size_t kThreadExtractorsMax = 4;

/// What the store adds itself.
constexpr std::array<std::string_view, 2> kStores = {"_id", "_lastUpdated"};

/// The definition of the element at `node` within `value`; missing if there is none.
schema::Element element_at(json::Value value, schema::Type type, std::uint32_t node) {
    schema::Element element;
    while (value && value.index() != node) {
        json::Value inside;
        for (const auto [key, member] : value.members()) {
            if (member.index() <= node && node < member.node().next) {
                element = type.find(key.string());
                type = element.type();
                inside = member;
                break;
            }
        }
        if (inside.is_array() && inside.index() != node) {
            for (const json::Value one : inside.elements()) {
                if (one.index() <= node && node < one.node().next) {
                    inside = one;
                    break;
                }
            }
        }
        if (type == schema::resource_base_type()) {
            type = schema::find_type(inside["resourceType"].string());
        }
        value = inside;
    }
    return element;
}

/// How a computed value, which is not an element, is indexed.
ValueKind computed_kind(SearchType search, Item::Kind kind) {
    const bool temporal = kind == Item::Kind::date || kind == Item::Kind::date_time;
    const bool number = kind == Item::Kind::integer || kind == Item::Kind::decimal;
    const bool text = kind == Item::Kind::string;
    switch (search) {
        case SearchType::token:
            return kind == Item::Kind::boolean ? ValueKind::token_boolean
                   : text || number            ? ValueKind::token_text
                                               : ValueKind::none;
        case SearchType::string:
            return text ? ValueKind::string_text : ValueKind::none;
        case SearchType::reference:
            return text ? ValueKind::reference_text : ValueKind::none;
        case SearchType::uri:
            return text ? ValueKind::uri_text : ValueKind::none;
        case SearchType::date:
            return temporal ? ValueKind::date_text : ValueKind::none;
        case SearchType::number:
            return number ? ValueKind::number_text : ValueKind::none;
        case SearchType::quantity:
            return number ? ValueKind::quantity_text : ValueKind::none;
        default:
            return ValueKind::none;
    }
}

/// A parameter whose expression is more than paths. None of R4's own is.
struct Computed {
    fhirpath::Expression expression;
    SearchType search = SearchType::string;
    const Columns* columns = nullptr;
};

/// The compiled parameters of one type.
struct Compiled {
    explicit Compiled(schema::Type of) : type(of), walk(of) {}

    schema::Type type;
    std::deque<Columns> columns;
    std::deque<Pairs> pairs;
    Walk walk;
    std::vector<Computed> computed;
    const Columns* presence = nullptr;

    /// Adds what a parameter has in the index.
    void add(const Parameter& parameter, const Layout& layout) {
        const bool by_store =
            std::find(kStores.begin(), kStores.end(), parameter.code) != kStores.end();
        if (by_store || !layout.parts.empty()) {
            return;
        }
        if (parameter.type != SearchType::composite && !parameter.expression.empty()) {
            add(parameter, parameter.expression);
        } else if (layout.composite) {
            walk.add(*layout.composite, pairs.emplace_back(parameter.column));
        }
    }

    void add(const Parameter& parameter, std::string_view expression) {
        auto parsed = fhirpath::Expression::parse(expression);
        if (!parsed) {
            return;
        }
        const Columns& own = columns.emplace_back(parameter.column);
        if (presence == nullptr && parameter.type == SearchType::token) {
            if (const auto path = presence_of(*parsed, type); path && walk.add_presence(*path)) {
                presence = &own;
                return;
            }
        }
        const auto paths = paths_of(*parsed, type);
        // Either all of its paths are walked or the expression is evaluated, not both.
        Walk trial(type);
        if (paths && std::all_of(paths->begin(), paths->end(), [&](const Path& path) {
                return trial.add(path, parameter.type, own);
            })) {
            for (const Path& path : *paths) {
                walk.add(path, parameter.type, own);
            }
            return;
        }
        computed.push_back({*std::move(parsed), parameter.type, &own});
    }
};

template <typename Value, typename Less>
void sort_once(std::vector<Value>& values, const Less& less) {
    std::sort(values.begin(), values.end(), less);
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// All except the terms, which are the most numerous.
void sort_columns(SearchEntries& entries) {
    sort_once(entries.intervals, [](const auto& a, const auto& b) {
        return std::tie(a.column, a.low, a.high) < std::tie(b.column, b.low, b.high);
    });
    sort_once(entries.links, [](const auto& a, const auto& b) {
        return std::tie(a.column, a.target) < std::tie(b.column, b.target);
    });
    auto& texts = entries.texts;
    std::sort(texts.begin(), texts.end(), [&](const auto& a, const auto& b) {
        return a.column != b.column ? a.column < b.column : entries.text(a) < entries.text(b);
    });
    texts.erase(std::unique(texts.begin(), texts.end(),
                            [&](const auto& a, const auto& b) {
                                return a.column == b.column && entries.text(a) == entries.text(b);
                            }),
                texts.end());
}

void sort_entries(SearchEntries& entries) {
    sort_once(entries.terms, std::less<>());
    sort_columns(entries);
}

}  // namespace

struct Extractor::Impl {
    Impl(std::shared_ptr<const ParameterSet> set, std::uint64_t seed, std::string base_url)
        : parameters(std::move(set)),
          writer(seed, base_url, parameters->zone()),
          store_seed(seed),
          base(std::move(base_url)) {
        hooks.resolve = [this](std::string_view text) -> Result<std::optional<Item>> {
            const auto target = read_reference(text, base).type;
            return target ? std::optional(Item::of_type(schema::Type(*target))) : std::nullopt;
        };
    }

    const Compiled& compiled(TypeId type) {
        std::unique_ptr<Compiled>& made = of_type[type.value];
        if (!made) {
            made = std::make_unique<Compiled>(schema::Type(type));
            for (const Parameter& parameter : parameters->of(type)) {
                made->add(parameter, layout_of(parameters, type, parameter));
            }
            made->walk.finish();
        }
        return *made;
    }

    /// One parameter's expression on values of one type.
    const Compiled& compiled(const Parameter& parameter, const std::string& expression,
                             schema::Type type) {
        // The text belongs to the parameter set and does not move.
        std::unique_ptr<Compiled>& made = single[{&expression, type.index()}];
        if (!made) {
            made = std::make_unique<Compiled>(type);
            made->add(parameter, expression);
            made->walk.finish();
        }
        return *made;
    }

    void run(const Compiled& with, Container& container, const Item& context,
             SearchEntries& entries) {
        walk(with, container, context.value(), entries);
        for (const Computed& computed : with.computed) {
            evaluate(computed, container, context);
        }
    }

    /// What a resource's references `#id` are resolved in, if it is in no other.
    Container& alone(json::Value resource) noexcept {
        own.begin(resource);
        return own;
    }

    /// Extracts what the type's parameters find.
    void extract(TypeId type, json::Value resource, Container& container, SearchEntries& entries) {
        entries.clear();
        if (const Compiled& with = compiled(type); with.computed.empty()) {
            walk(with, container, resource, entries);
        } else {
            run(with, container, Item::resource(resource), entries);
        }
        if (may_be_named(type)) {
            append_names(resource, store_seed, entries);
        }
        if (parameters->references() == References::all) {
            append_reference_terms(resource, store_seed, base, entries.terms);
        }
        sort_columns(entries);
    }

    void walk(const Compiled& with, Container& container, json::Value value,
              SearchEntries& entries) {
        writer.begin(container, entries);
        with.walk.run(value, writer);
        if (with.presence != nullptr) {
            const Use use{with.presence, {}};
            writer.write(ValueKind::token_boolean, writer.take_presence() ? "true" : "false",
                         {&use, 1}, {});
        }
    }

    Result<std::span<const Item>> items_of(const fhirpath::Expression& expression,
                                           Container& container, const Item& context) {
        fhirpath::Environment environment;
        environment.resource = Item::resource(container.root());
        environment.hooks = &hooks;
        environment.limits.steps = container.budget().next();
        const auto items = evaluator.evaluate(expression, context, environment);
        container.budget().spend(evaluator.steps());
        return items;
    }

    void evaluate(const Computed& computed, Container& container, const Item& context) {
        const auto items = items_of(computed.expression, container, context);
        if (!items) {
            return;
        }
        const json::Value root = container.root();
        const Use use{computed.columns, {}};
        for (const Item& item : *items) {
            if (!item.is_element()) {
                writer.write(computed_kind(computed.search, item.kind()), fhirpath::to_text(item),
                             {&use, 1}, {});
                continue;
            }
            const json::Value value = item.value();
            std::string_view system;
            if (value && computed.search == SearchType::token) {
                system =
                    implied_system(element_at(root, Item::resource(root).type(), value.index()));
            }
            writer.write(value_kind(computed.search, item.type()), value, {&use, 1}, system);
        }
    }

    struct KeyHash {
        std::size_t operator()(const std::pair<const std::string*, std::uint16_t>& key) const {
            return std::hash<const std::string*>()(key.first) * 31 + key.second;
        }
    };

    std::shared_ptr<const ParameterSet> parameters;
    ValueWriter writer;
    Container own;  ///< of the resource that alone() was called for
    std::uint64_t store_seed;
    std::string base;
    fhirpath::Hooks hooks;
    fhirpath::Evaluator evaluator;
    std::array<std::unique_ptr<Compiled>, kResourceTypeCount> of_type;
    std::unordered_map<std::pair<const std::string*, std::uint16_t>, std::unique_ptr<Compiled>,
                       KeyHash>
        single;
    std::unordered_map<const Parameter*, std::optional<fhirpath::Expression>> composites;
};

Extractor::Extractor(std::shared_ptr<const ParameterSet> parameters, std::uint64_t seed,
                     std::string base_url)
    : impl_(std::make_unique<Impl>(std::move(parameters), seed, std::move(base_url))) {
}

Extractor::~Extractor() = default;

const std::shared_ptr<const ParameterSet>& Extractor::parameters() const noexcept {
    return impl_->parameters;
}

void Extractor::extract(TypeId type, json::Value resource, storage::SearchEntries& entries,
                        Container* container) {
    impl_->extract(type, resource, container != nullptr ? *container : impl_->alone(resource),
                   entries);
    sort_once(entries.terms, std::less<>());
}

void Extractor::extract_for_run(TypeId type, json::Value resource,
                                storage::SearchEntries& entries) {
    impl_->extract(type, resource, impl_->alone(resource), entries);
}

void Extractor::extract(const Parameter& parameter, TypeId type, json::Value resource,
                        storage::SearchEntries& entries, Container* container) {
    entries.clear();
    impl_->run(impl_->compiled(parameter, parameter.expression, schema::Type(type)),
               container != nullptr ? *container : impl_->alone(resource), Item::resource(resource),
               entries);
    sort_entries(entries);
}

std::vector<std::vector<storage::SearchEntries>> Extractor::extract_composite(
    const Parameter& parameter, json::Value resource) {
    auto [whole, is_new] = impl_->composites.try_emplace(&parameter);
    if (is_new) {
        if (auto parsed = fhirpath::Expression::parse(parameter.expression)) {
            whole->second = *std::move(parsed);
        }
    }
    std::vector<std::vector<SearchEntries>> elements;
    if (!whole->second) {
        return elements;
    }
    Container& container = impl_->alone(resource);
    const auto items = impl_->items_of(*whole->second, container, Item::resource(resource));
    if (!items) {
        return elements;
    }
    // Copied: evaluating the components invalidates the items, but not the elements.
    const std::vector<Item> contexts(items->begin(), items->end());
    for (const Item& context : contexts) {
        if (!context.is_element()) {
            continue;
        }
        std::vector<SearchEntries>& components = elements.emplace_back();
        for (const Parameter::Component& component : parameter.components) {
            SearchEntries& entries = components.emplace_back();
            impl_->run(impl_->compiled(*component.parameter, component.expression, context.type()),
                       container, context, entries);
            sort_entries(entries);
        }
    }
    return elements;
}

Extractor& thread_extractor(const std::shared_ptr<const ParameterSet>& parameters,
                            std::uint64_t seed, std::string_view base_url) {
    struct Kept {
        std::uint64_t seed;
        std::string base_url;
        std::unique_ptr<Extractor> extractor;
    };

    thread_local std::vector<Kept> kept;  // most recently used first
    const auto found = std::ranges::find_if(kept, [&](const Kept& one) {
        return one.extractor->parameters() == parameters && one.seed == seed &&
               one.base_url == base_url;
    });
    if (found != kept.end()) {
        std::rotate(kept.begin(), found, found + 1);
        return *kept.front().extractor;
    }
    if (kept.size() == kThreadExtractorsMax) {
        // What is out of date goes first, then those of queries: clients may name any host, and writes must not pay for it.
        // The one asked for last stays.
        const auto worth = [&](const Kept& one) {
            return one.extractor->parameters() != parameters ? 0 : one.base_url.empty() ? 2 : 1;
        };
        const auto least =
            std::ranges::min_element(kept.rbegin(), std::prev(kept.rend()), {}, worth);
        kept.erase(std::prev(least.base()));
    }
    kept.insert(kept.begin(),
                {seed, std::string(base_url),
                 std::make_unique<Extractor>(parameters, seed, std::string(base_url))});
    return *kept.front().extractor;
}

}  // namespace annals::core::search
