// A profile with rules whose full validation is left to the worker, and a resource that claims it.

#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace annals::test {

/// A profile whose rules take more than kValidationStepsOnLoop for a Patient of costly_patient(), and are broken by a name "x".
inline std::string costly_profile() {
    std::string rules;
    for (int i = 0; i < 30; ++i) {
        rules += fmt::format(R"r({}{{"key":"r{}","severity":"error","human":"Sound",
            "expression":"%resource.name.where(family = 'x').empty()"}})r",
                             i == 0 ? "" : ",", i);
    }
    return R"({"resourceType":"StructureDefinition","id":"costly","url":"http://p/costly",
            "name":"P","status":"active","kind":"resource","abstract":false,"type":"Patient",
            "baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient",
            "derivation":"constraint","differential":{"element":[{"id":"Patient.name",
            "path":"Patient.name","constraint":[)" +
           rules + "]}]}}";
}

/// A Patient with `count` names, which claims the profile. `first_family`: that of its first name; the others' is "f".
inline std::string costly_patient(std::string_view id, std::string_view first_family = "f",
                                  int count = 200) {
    std::string names = fmt::format(R"({{"family":"{}"}})", first_family);
    for (int i = 1; i < count; ++i) {
        names += R"(,{"family":"f"})";
    }
    return fmt::format(
        R"({{"resourceType":"Patient","id":"{}","meta":{{"profile":["http://p/costly"]}},"name":[{}]}})",
        id, names);
}

}  // namespace annals::test
