#include "tools/generate/render_parts.h"

#include <algorithm>

namespace annals::generate {
namespace {

// The last state except the first is final; a third one is a correction.
std::string_view result_status(const Page& page) {
    if (page.state == 2) {
        return "corrected";
    }
    if (page.state == 1) {
        return page.item.kind == Kind::laboratory || page.item.kind == Kind::diagnostic_report
                   ? "final"
                   : "amended";
    }
    return page.item.states > 1 && page.item.kind != Kind::vital_sign &&
                   page.item.kind != Kind::blood_pressure && page.item.kind != Kind::smoking_status
               ? "preliminary"
               : "final";
}

void category(Page& page, std::string_view code, std::string_view display) {
    page.add(
        R"(,"category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category",)",
        R"("code":")", code, R"(","display":")", display, R"("}],"text":")", display, "\"}]");
}

// The common beginning of all observations.
void open_observation(Page& page, std::string_view profile, std::string_view group,
                      std::string_view group_display, const Code& code) {
    page.open(profile);
    if (page.dice.chance(90)) {
        page.narrative(code.display, page.dice.pick(remarks()));
    }
    page.add(R"(,"identifier":[{"system":"https://generated.example/observation","value":"O)",
             page.item.seed % 10'000'000'000, R"("}],"status":")", result_status(page), "\"");
    category(page, group, group_display);
    page.add(R"(,"code":)");
    page.concept_of(code);
    page.patient("subject");
    page.encounter();
    page.add(R"(,"effectiveDateTime":")", DateTime{page.item.when}, R"(","issued":")",
             Stamp{Instant{page.item.when.us + 4 * kMinute + page.dice.between(0, 999) * 1000}},
             R"(","performer":[)");
    page.doctor();
    page.add("]");
}

void quantity(Page& page, std::int64_t value, int digits, std::string_view unit) {
    page.add(R"({"value":)", Decimal{value, digits}, R"(,"unit":")", unit,
             R"(","system":"http://unitsofmeasure.org","code":")", unit, "\"}");
}

void interpretation(Page& page, std::int64_t value, std::int64_t low, std::int64_t high) {
    const std::string_view code = value < low ? "L" : value > high ? "H" : "N";
    page.add(R"(,"interpretation":[{"coding":[{"system":)",
             R"("http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation","code":")",
             code, R"(","display":")",
             code == "L"   ? "Low"
             : code == "H" ? "High"
                           : "Normal",
             "\"}]}]");
}

void reference_range(Page& page, const Measure& measure) {
    page.add(R"(,"referenceRange":[{"low":)");
    quantity(page, measure.low, measure.digits, measure.unit);
    page.add(R"(,"high":)");
    quantity(page, measure.high, measure.digits, measure.unit);
    page.add("}]");
}

void note(Page& page) {
    if (page.dice.chance(80) || page.state == 2) {
        page.add(R"(,"note":[{"text":")", page.dice.pick(remarks()), "\"}]");
    }
}

// Height in mm and weight in units of 100 g: growing with the patient, then constant.
std::int64_t body_measure(const Page& page, std::size_t which) {
    const Measure& height = vital_signs()[kHeight];
    const Measure& index = vital_signs()[kBodyMassIndex];
    Dice draw(page.scene.chart.seed ^ 0x626f6479);
    const std::int64_t years =
        std::clamp<std::int64_t>((page.item.when.us - page.scene.chart.birth.us) / kYear, 0, 18);
    const std::int64_t adult =
        draw.normal(height.mean + (page.scene.chart.person.female ? -60 : 60), 65);
    const std::int64_t tall = 500 + (adult - 500) * years / 18;
    const std::int64_t mass_index = 160 + (draw.normal(index.mean, index.sd) - 160) * years / 18;
    switch (which) {
        case kHeight:
            return tall;
        case kBodyMassIndex:
            return mass_index;
        default:
            return mass_index * tall / 100 * tall / 10'000;
    }
}

}  // namespace

void render_vital_sign(Page& page) {
    const Measure& measure = vital_signs()[page.item.code];
    open_observation(page, "vitalsigns", "vital-signs", "Vital Signs",
                     {System::loinc, measure.loinc, measure.display});
    std::int64_t value = page.item.code <= kBodyMassIndex
                             ? body_measure(page, page.item.code) + page.dice.between(-4, 4)
                             : page.dice.normal(measure.mean, measure.sd);
    value += page.state == 0 ? 0 : measure.sd / 8 + 1;
    page.add(R"(,"valueQuantity":)");
    quantity(page, value, measure.digits, measure.unit);
    note(page);
    page.add("}");
}

void render_blood_pressure(Page& page) {
    open_observation(page, "vitalsigns", "vital-signs", "Vital Signs",
                     {System::loinc, "85354-9", "Blood pressure panel with all children optional"});
    const std::int64_t years = (page.item.when.us - page.scene.chart.birth.us) / kYear;
    const std::int64_t systolic = page.dice.normal(108 + years / 3, 12) + page.state;
    const std::int64_t diastolic = std::min(page.dice.normal(66 + years / 6, 8), systolic - 12);
    page.add(R"(,"bodySite":{"coding":[{"system":"http://snomed.info/sct","code":"368209003",)",
             R"("display":"Right upper arm structure"}]},"component":[{"code":)");
    page.concept_of({System::loinc, "8480-6", "Systolic blood pressure"});
    page.add(R"(,"valueQuantity":)");
    quantity(page, systolic, 0, "mm[Hg]");
    interpretation(page, systolic, 90, 139);
    page.add(R"(},{"code":)");
    page.concept_of({System::loinc, "8462-4", "Diastolic blood pressure"});
    page.add(R"(,"valueQuantity":)");
    quantity(page, diastolic, 0, "mm[Hg]");
    interpretation(page, diastolic, 60, 89);
    page.add("}]}");
}

void render_laboratory(Page& page) {
    const Measure& measure = panels()[page.item.code >> 8].measures[page.item.code & 0xff];
    open_observation(page, {}, "laboratory", "Laboratory",
                     {System::loinc, measure.loinc, measure.display});
    const std::int64_t value =
        std::max<std::int64_t>(page.dice.normal(measure.mean, measure.sd), 1) +
        (page.state == 2 ? measure.sd / 5 : 0);
    page.add(R"(,"valueQuantity":)");
    quantity(page, value, measure.digits, measure.unit);
    interpretation(page, value, measure.low, measure.high);
    note(page);
    reference_range(page, measure);
    page.add("}");
}

void render_smoking_status(Page& page) {
    open_observation(page, {}, "social-history", "Social History",
                     {System::loinc, "72166-2", "Tobacco smoking status"});
    Dice draw(page.scene.chart.seed ^ 0x736d6f6b65);
    const std::uint64_t share = draw.below(100);
    page.add(R"(,"valueCodeableConcept":)");
    page.concept_of(smoking()[share < 62 ? 0 : share < 86 ? 1 : 2]);
    note(page);
    page.add("}");
}

void render_encounter(Page& page) {
    struct Status {
        std::string_view first, second, third;
    };

    constexpr Status kStatus{"planned", "in-progress", "finished"};
    const Code& visit = visits()[page.item.code];
    const bool emergency = page.item.code == 5;
    const bool stationary = page.item.code == 6;
    const std::int64_t minutes =
        stationary ? page.dice.between(1000, 9000) : page.dice.between(15, 120);
    const std::string_view status = page.last_state()                          ? kStatus.third
                                    : page.item.states == 3 && page.state == 0 ? kStatus.first
                                                                               : kStatus.second;
    page.open();
    page.add(
        R"(,"identifier":[{"use":"official","system":"https://generated.example/encounter","value":")",
        Uuid{page.item.seed}, R"("}],"status":")", status,
        R"(","class":{"system":"http://terminology.hl7.org/CodeSystem/v3-ActCode","code":")",
        emergency    ? "EMER"
        : stationary ? "IMP"
                     : "AMB",
        R"("},"type":[)");
    page.concept_of(visit);
    page.add("]");
    page.patient("subject");
    page.add(R"(,"participant":[{"type":[{"coding":[{"system":)",
             R"("http://terminology.hl7.org/CodeSystem/v3-ParticipationType","code":"PPRF",)",
             R"("display":"primary performer"}],"text":"primary performer"}],"period":{"start":")",
             DateTime{page.item.when}, R"("},"individual":)");
    page.doctor();
    page.add(R"(}],"period":{"start":")", DateTime{page.item.when}, "\"");
    if (page.last_state()) {
        page.add(R"(,"end":")", DateTime{Instant{page.item.when.us + minutes * kMinute}}, "\"");
    }
    page.add("}");
    if (page.item.code == 1 || page.item.code >= 4) {
        const Disease& reason = page.dice.pick(diseases());
        page.add(R"(,"reasonCode":[)");
        page.concept_of({System::snomed, reason.snomed, reason.display});
        page.add("]");
    }
    const Item& location = page.scene.world.location(page.item);
    page.add(R"(,"location":[{"location":{"reference":)");
    page.reference(location);
    page.add(R"(}}],"serviceProvider":)");
    page.house();
    page.add("}");
}

void render_condition(Page& page) {
    const Disease& disease = diseases()[page.item.code];
    const bool resolved = page.state > 0;
    page.open();
    if (page.dice.chance(150)) {
        page.narrative(disease.display, page.dice.pick(remarks()));
    }
    page.add(R"(,"clinicalStatus":)");
    page.concept_of("condition-clinical", resolved ? "resolved" : "active");
    page.add(R"(,"verificationStatus":)");
    page.concept_of("condition-ver-status", "confirmed");
    page.add(
        R"(,"category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/condition-category",)",
        R"("code":"encounter-diagnosis","display":"Encounter Diagnosis"}]}],"code":{"coding":[)",
        Code{System::snomed, disease.snomed, disease.display},
        R"(,{"system":"http://hl7.org/fhir/sid/icd-10-cm","code":")", disease.icd10,
        R"("}],"text":")", disease.display, "\"}");
    page.patient("subject");
    page.encounter();
    page.add(R"(,"onsetDateTime":")", DateTime{page.item.when}, "\"");
    if (resolved) {
        page.add(R"(,"abatementDateTime":")",
                 DateTime{Instant{page.item.when.us + page.dice.between(3, 40) * kDay}}, "\"");
    }
    page.add(R"(,"recordedDate":")", DateTime{page.item.when}, R"(","recorder":)");
    page.doctor();
    page.add("}");
}

void render_procedure(Page& page) {
    const Intervention& intervention = interventions()[page.item.code];
    page.open();
    if (page.dice.chance(120)) {
        page.narrative(intervention.display, page.dice.pick(remarks()));
    }
    page.add(R"(,"status":")", page.last_state() ? "completed" : "in-progress", R"(","code":)");
    page.concept_of({System::snomed, intervention.snomed, intervention.display});
    page.patient("subject");
    page.encounter();
    page.add(R"(,"performedPeriod":{"start":")", DateTime{page.item.when}, "\"");
    if (page.last_state()) {
        page.add(R"(,"end":")",
                 DateTime{Instant{page.item.when.us + intervention.minutes * kMinute}}, "\"");
    }
    page.add(R"(},"performer":[{"actor":)");
    page.doctor();
    page.add(R"(}],"location":{"reference":)");
    page.reference(page.scene.world.location(page.item));
    page.add("}}");
}

void render_diagnostic_report(Page& page) {
    const Panel& panel = panels()[page.item.code];
    page.open();
    if (page.dice.chance(300)) {
        page.narrative(panel.display, page.dice.pick(remarks()));
    }
    page.add(
        R"(,"identifier":[{"system":"https://generated.example/report","value":"R)",
        page.item.seed % 10'000'000'000, R"("}],"status":")", result_status(page),
        R"(","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v2-0074",)",
        R"("code":"LAB","display":"Laboratory"}]}],"code":)");
    page.concept_of({System::loinc, panel.loinc, panel.display});
    page.patient("subject");
    page.encounter();
    page.add(R"(,"effectiveDateTime":")", DateTime{page.item.when}, R"(","issued":")",
             Stamp{Instant{page.item.when.us + 40 * kMinute}}, R"(","performer":[)");
    page.house();
    page.add(R"(],"resultsInterpreter":[)");
    page.doctor();
    page.add(R"(],"result":[)");
    for (std::uint32_t i = 0; i < page.item.link_count; ++i) {
        page.add(i == 0 ? "" : ",", R"({"reference":)");
        page.reference(page.scene.chart.items[page.item.link + i]);
        page.add(R"(,"display":")", panel.measures[i].display, "\"}");
    }
    page.add("]");
    if (page.last_state()) {
        page.add(R"(,"conclusion":")", page.dice.pick(remarks()), "\"");
    }
    page.add("}");
}

}  // namespace annals::generate
