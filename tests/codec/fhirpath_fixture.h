// Shared by tests of FHIRPath: a patient, and evaluation of expressions on it.

#pragma once

#include "codec/fhirpath/fhirpath.h"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace annals::fhirpath {

inline constexpr std::string_view kPatient = R"({
    "resourceType": "Patient", "id": "p1",
    "contained": [{"resourceType": "Organization", "id": "o1", "name": "Contained"}],
    "extension": [{"url": "http://example.org/age", "valueQuantity": {
        "value": 41, "system": "http://unitsofmeasure.org", "code": "a"}}],
    "active": true,
    "name": [
        {"use": "official", "family": "Sm\u00f8rgas", "given": ["Anna", "Bj\u00f6rn \ud83d\ude00"]},
        {"given": ["Cleo", null], "_given": [null, {"extension": [
            {"url": "http://example.org/x", "valueString": "none"}]}]}],
    "birthDate": "1974-12-25",
    "_birthDate": {"id": "b1", "extension": [
        {"url": "http://example.org/time", "valueDateTime": "1974-12-25T14:35:45-05:00"}]},
    "_gender": {"extension": [{"url": "http://example.org/absent", "valueCode": "unknown"}]},
    "deceasedBoolean": false,
    "multipleBirthInteger": 2,
    "managingOrganization": {"reference": "#o1"},
    "generalPractitioner": [{"reference": "Practitioner/7"}]
})";

/// Evaluates expressions on a patient, or on the resource given to use().
class FhirPath : public testing::Test {
  protected:
    FhirPath() : document_(*parser_.parse(kPatient)), input_(Item::resource(document_.root())) {}

    void use(std::string_view json) {
        document_ = *parser_.parse(json);
        input_ = Item::resource(document_.root());
    }

    // The texts of the items, in brackets; or the error's code.
    std::string eval(std::string_view text) {
        const Result<Expression> expression = Expression::parse(text);
        if (!expression) {
            return expression.error().code == Errc::too_costly ? "too costly" : "syntax";
        }
        const auto items = evaluator_.evaluate(*expression, input_, environment_);
        if (!items) {
            detail_ = items.error().detail;
            return items.error().code == Errc::too_costly        ? "too costly"
                   : items.error().code == Errc::not_implemented ? "not implemented"
                                                                 : "error";
        }
        std::string out;
        for (const Item& item : *items) {
            out += "[" + to_text(item) + "]";
        }
        return out;
    }

    std::span<const Item> items(std::string_view text) {
        expression_ = *Expression::parse(text);
        return *evaluator_.evaluate(*expression_, input_, environment_);
    }

    json::Parser parser_;
    json::Document document_;
    Item input_;
    Environment environment_;
    Evaluator evaluator_;
    std::optional<Expression> expression_;
    std::string detail_;
};

}  // namespace annals::fhirpath
