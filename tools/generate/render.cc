#include "tools/generate/render.h"

#include "tools/generate/render_parts.h"

namespace annals::generate {

void Page::open(std::string_view profile) {
    add(R"({"resourceType":")", type_name(item.kind), "\"");
    if (identity.id) {
        add(R"(,"id":")", Uuid{item.seed}, "\"");
    }
    if (identity.version == 0 && profile.empty()) {
        return;
    }
    add(R"(,"meta":{)");
    if (identity.version != 0) {
        add(R"("versionId":")", identity.version, R"(","lastUpdated":")", Stamp{identity.updated},
            "\"");
    }
    if (!profile.empty()) {
        add(identity.version != 0 ? "," : "",
            R"("profile":["http://hl7.org/fhir/StructureDefinition/)", profile, "\"]");
    }
    add("}");
}

void Page::narrative(std::string_view title, std::string_view detail) {
    add(R"(,"text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\"><p><b>)",
        title, "</b></p>");
    if (!detail.empty()) {
        add("<p>", detail, "</p>");
    }
    add(R"(</div>"})");
}

void Page::reference(const Item& to) {
    const bool shared = to.kind <= Kind::practitioner;
    if (scene.urn && !shared) {
        add(R"("urn:uuid:)", Uuid{to.seed}, "\"");
    } else {
        add("\"", type_name(to.kind), "/", Uuid{to.seed}, "\"");
    }
}

void Page::patient(std::string_view element) {
    add(",\"", element, R"(":{"reference":)");
    reference(scene.chart.items.front());
    const Person& person = scene.chart.person;
    add(R"(,"display":")", person.given, " ", person.family, "\"}");
}

void Page::encounter() {
    if (item.encounter != kNone) {
        add(R"(,"encounter":{"reference":)");
        reference(scene.chart.items[item.encounter]);
        add("}");
    }
}

void Page::doctor_name(const Item& practitioner) {
    const Person person = person_of(practitioner.seed);
    add("Dr. ", person.given, " ", person.family);
}

void Page::house_name(const Item& organization) {
    Dice draw(organization.seed);
    const Place& place = draw.pick(places());
    add(place.city, " ", draw.pick(hospitals()));
}

void Page::doctor() {
    const Item& practitioner = scene.world.practitioner(item);
    add(R"({"reference":)");
    reference(practitioner);
    add(R"(,"display":")");
    doctor_name(practitioner);
    add("\"}");
}

void Page::house() {
    const Item& organization = scene.world.organization(item);
    add(R"({"reference":)");
    reference(organization);
    add(R"(,"display":")");
    house_name(organization);
    add("\"}");
}

void Page::concept_of(const Code& code) {
    add(R"({"coding":[)", code, R"(],"text":")", code.display, "\"}");
}

void Page::concept_of(std::string_view system, std::string_view code) {
    add(R"({"coding":[{"system":"http://terminology.hl7.org/CodeSystem/)", system, R"(","code":")",
        code, "\"}]}");
}

void render(std::string& out, const Scene& scene, const Item& item, unsigned state,
            const Identity& identity) {
    using Renderer = void (*)(Page&);
    constexpr Renderer kRenderers[] = {
        render_organization,
        render_location,
        render_practitioner,
        render_patient,
        render_encounter,
        render_vital_sign,
        render_blood_pressure,
        render_laboratory,
        render_smoking_status,
        render_condition,
        render_procedure,
        render_medication_request,
        render_immunization,
        render_diagnostic_report,
        render_allergy_intolerance,
        render_care_plan,
        render_claim,
        render_explanation_of_benefit,
    };
    Page page{out, scene, item, state, identity, Dice(item.seed)};
    kRenderers[static_cast<std::size_t>(item.kind)](page);
}

}  // namespace annals::generate
