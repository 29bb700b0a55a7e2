// A Patient in XML, for tests of XML readers.
//
// Threads: plain functions.

#pragma once

#include <string>
#include <string_view>

namespace annals::xml {

inline constexpr std::string_view kPatientTag = R"(<Patient xmlns="http://hl7.org/fhir">)";

inline std::string patient(std::string_view inside) {
    return std::string(kPatientTag).append(inside) + "</Patient>";
}

}  // namespace annals::xml
