#include "tools/generate/render_parts.h"

namespace annals::generate {
namespace {

// ,"address":[{...}]; each `moved` draws another one.
void address(Page& page, unsigned moved, bool list) {
    Dice draw(page.item.seed ^ (0x61646472 + moved));
    const Place& place = draw.pick(places());
    page.add(R"(,"address":)", list ? "[{" : "{", R"("use":")",
             list && page.item.kind == Kind::patient ? "home" : "work", R"(","line":[")",
             draw.between(1, 980), " ", draw.pick(streets()), R"("],"city":")", place.city,
             R"(","state":")", place.state, R"(","postalCode":")", place.postal,
             R"(","country":"US"})", list ? "]" : "");
}

void telecom(Page& page, unsigned changed, std::string_view use) {
    Dice draw(page.item.seed ^ (0x74656c + changed));
    page.add(R"(,"telecom":[{"system":"phone","value":"555-)", draw.between(100, 999), "-",
             draw.between(1000, 9999), R"(","use":")", use, "\"}]");
}

}  // namespace

void render_organization(Page& page) {
    page.open();
    page.add(R"(,"identifier":[{"system":"urn:ietf:rfc:3986","value":"urn:uuid:)",
             Uuid{page.item.seed + 1}, R"("}],"active":true,"type":[{"coding":[{"system":)",
             R"("http://terminology.hl7.org/CodeSystem/organization-type","code":"prov",)",
             R"("display":"Healthcare Provider"}],"text":"Healthcare Provider"}],"name":")");
    page.house_name(page.item);
    page.add("\"");
    telecom(page, page.state, "work");
    address(page, 0, true);
    page.add(
        R"(,"contact":[{"purpose":{"coding":[{"system":)",
        R"("http://terminology.hl7.org/CodeSystem/contactentity-type","code":"ADMIN"}]},"name":{"text":")");
    const Person contact = person_of(page.item.seed);
    page.add(contact.given, " ", contact.family, "\"}}]}");
}

void render_location(Page& page) {
    const Item& organization = page.scene.world.organization(page.item);
    page.open();
    page.add(R"(,"identifier":[{"system":"https://generated.example/location","value":"L-)",
             page.item.seed % 1'000'000, R"("}],"status":"active","name":")");
    page.house_name(organization);
    page.add(", wing ", 1 + page.item.seed % kLocationsPerHouse, R"(","mode":"instance")");
    telecom(page, page.state, "work");
    address(page, 0, false);
    page.add(R"(,"position":{"longitude":-)", Decimal{page.dice.between(6'900'000, 7'350'000), 5},
             R"(,"latitude":)", Decimal{page.dice.between(4'150'000, 4'480'000), 5},
             R"(},"managingOrganization":)");
    page.house();
    page.add("}");
}

void render_practitioner(Page& page) {
    const Person person = person_of(page.item.seed);
    page.open();
    page.add(R"(,"identifier":[{"system":"http://hl7.org/fhir/sid/us-npi","value":")",
             page.dice.between(9'990'000'000, 9'999'999'999),
             R"("}],"active":true,"name":[{"use":"official","family":")", person.family,
             R"(","given":[")", person.given, R"("],"prefix":["Dr."]}])");
    telecom(page, page.state, "work");
    page.add(R"(,"gender":")", person.female ? "female" : "male", "\"");
    address(page, 0, true);
    page.add(
        R"(,"qualification":[{"code":{"coding":[{"system":)",
        R"("http://terminology.hl7.org/CodeSystem/v2-0360","code":"MD","display":"Doctor of Medicine"}],)",
        R"("text":"Doctor of Medicine"},"issuer":)");
    page.house();
    page.add("}]}");
}

void render_patient(Page& page) {
    const Person& person = page.scene.chart.person;
    const Place& birthplace = page.dice.pick(places());
    page.open();
    if (page.dice.chance(400)) {
        std::string detail;
        put(detail, person.female ? "Female" : "Male", ", born ", Date{page.scene.chart.birth},
            " in ", birthplace.city, ", ", birthplace.state, ".");
        std::string title;
        put(title, person.given, " ", person.family);
        page.narrative(title, detail);
    }
    page.add(
        R"(,"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/patient-mothersMaidenName",)",
        R"("valueString":")", page.dice.pick(female_names()), " ", page.dice.pick(family_names()),
        R"("},{"url":"http://hl7.org/fhir/StructureDefinition/patient-birthPlace","valueAddress":{"city":")",
        birthplace.city, R"(","state":")", birthplace.state, R"(","country":"US"}}])");
    page.add(
        R"(,"identifier":[{"system":"https://generated.example/patient","value":")",
        Uuid{page.item.seed}, R"("},{"type":{"coding":[{"system":)",
        R"("http://terminology.hl7.org/CodeSystem/v2-0203","code":"MR","display":"Medical Record Number"}],)",
        R"("text":"Medical Record Number"},"system":"https://hospital.example/mrn","value":"MRN)",
        page.dice.between(1'000'000, 9'999'999), R"("},{"type":{"coding":[{"system":)",
        R"("http://terminology.hl7.org/CodeSystem/v2-0203","code":"SS","display":"Social Security Number"}],)",
        R"("text":"Social Security Number"},"system":"http://hl7.org/fhir/sid/us-ssn","value":"999-)",
        page.dice.between(10, 99), "-", page.dice.between(1000, 9999), R"("}],"active":true)");
    page.add(R"(,"name":[{"use":"official","family":")", person.family, R"(","given":[")",
             person.given, "\",\"", person.middle, R"("],"prefix":[")",
             person.female ? "Ms." : "Mr.", R"("]}])");
    telecom(page, page.state > 1 ? 1 : 0, "home");
    page.add(R"(,"gender":")", person.female ? "female" : "male", R"(","birthDate":")",
             Date{page.scene.chart.birth}, "\"");
    address(page, page.state > 0 ? 1 : 0, true);
    const bool adult = person.age_days > 20 * 365;
    const bool married = page.dice.chance(550) && adult;
    page.add(R"(,"maritalStatus":{"coding":[{"system":)",
             R"("http://terminology.hl7.org/CodeSystem/v3-MaritalStatus","code":")",
             married ? "M" : "S", R"(","display":")", married ? "Married" : "Never Married",
             R"("}],"text":")", married ? "Married" : "Never Married",
             R"("},"multipleBirthBoolean":)", page.dice.chance(30) ? "true" : "false");
    page.add(R"(,"contact":[{"relationship":[{"coding":[{"system":)",
             R"("http://terminology.hl7.org/CodeSystem/v2-0131","code":"N"}]}],"name":{"family":")",
             person.family, R"(","given":[")", page.dice.pick(male_names()), R"("]}}])");
    page.add(
        R"(,"communication":[{"language":{"coding":[{"system":"urn:ietf:bcp:47","code":"en-US",)",
        R"("display":"English"}],"text":"English"},"preferred":true}],"managingOrganization":)");
    page.house();
    page.add("}");
}

}  // namespace annals::generate
