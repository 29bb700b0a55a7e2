// Any bytes as a FHIRPath expression on one resource: nothing crashes or takes long; the text of a parsed
// expression parses again, to one with the same results; the places of elements are inside the document.

#include "codec/fhirpath/fhirpath.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::fhirpath {
namespace {

constexpr std::string_view kResource = R"({
    "resourceType": "Patient", "id": "p1",
    "contained": [{"resourceType": "Organization", "id": "o1", "name": "Contained"}],
    "text": {"status": "generated", "div": "<div xmlns=\"http://www.w3.org/1999/xhtml\">x</div>"},
    "extension": [{"url": "http://example.org/age", "valueQuantity": {
        "value": 41.50, "system": "http://unitsofmeasure.org", "code": "a"}}],
    "active": true,
    "name": [{"use": "official", "family": "Sm\u00f8rgas", "given": ["Anna", "Bj\u00f6rn \ud83d\ude00"]},
        {"given": ["Cleo", null], "_given": [null, {"id": "g"}]}],
    "birthDate": "1974-12-25", "_birthDate": {"id": "b1"}, "_gender": {"id": "g1"},
    "multipleBirthInteger": 2, "managingOrganization": {"reference": "#o1"}})";

struct Fixture {
    json::Parser parser;
    json::Document document = *parser.parse(kResource);
    Evaluator evaluator;
    Environment environment;

    Fixture() {
        environment.now = Instant{1'767'322'984'567'000};
        environment.limits.steps = 200'000;
        environment.limits.items = 20'000;
        environment.limits.string_bytes = 100'000;
        environment.limits.memory_bytes = 1 << 20;
    }
};

std::vector<std::string> texts(Fixture& fixture, const Expression& expression) {
    const Item input = Item::resource(fixture.document.root());
    const auto items = fixture.evaluator.evaluate(expression, input, fixture.environment);
    if (!items) {
        return {"error", items.error().detail};
    }
    std::vector<std::string> out;
    for (const Item& item : *items) {
        if (item.is_element() && item.place().tree != nullptr) {
            const std::size_t count = fixture.document.nodes().size();
            for (const json::Value value :
                 {item.value(), item.sibling(), item.parent(), item.key()}) {
                ANNALS_CHECK(!value || value.index() < count);
            }
            ANNALS_CHECK(item.value() || item.sibling());
        }
        out.push_back(type_name(item) + " " + to_text(item));
    }
    return out;
}

}  // namespace
}  // namespace annals::fhirpath

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace annals;
    using namespace annals::fhirpath;
    static Fixture fixture;
    // An exact copy, so that sanitizers detect reads beyond the end.
    const std::vector<char> copy(data, data + size);
    const Result<Expression> expression =
        Expression::parse(std::string_view(copy.data(), copy.size()));
    if (!expression) {
        return 0;
    }
    (void)expression->check(schema::find_type("Patient"));
    const std::vector<std::string> first = texts(fixture, *expression);
    // Patterns are compiled in the first evaluation only, so that one alone may exceed the steps.
    const std::vector<std::string> second = texts(fixture, *expression);
    const bool costly =
        (!first.empty() && first[0] == "error") || (!second.empty() && second[0] == "error");
    ANNALS_CHECK(costly || first == second);
    return 0;
}
