#include "tools/generate/render_parts.h"

namespace annals::generate {

void render_medication_request(Page& page) {
    const Drug& drug = drugs()[page.item.code];
    const std::int64_t days = drug.chronic ? 90 : page.dice.between(5, 14);
    const std::string_view ended = page.dice.chance(850) ? "completed" : "stopped";
    page.open();
    page.add(
        R"(,"identifier":[{"system":"https://generated.example/prescription","value":"RX)",
        page.item.seed % 10'000'000'000, R"("}],"status":")", page.state > 0 ? ended : "active",
        R"(","intent":"order","category":[{"coding":[{"system":)",
        R"("http://terminology.hl7.org/CodeSystem/medicationrequest-category","code":"community",)",
        R"("display":"Community"}]}],"medicationCodeableConcept":)");
    page.concept_of({System::rxnorm, drug.rxnorm, drug.display});
    page.patient("subject");
    page.encounter();
    page.add(R"(,"authoredOn":")", DateTime{page.item.when}, R"(","requester":)");
    page.doctor();
    page.add(R"(,"reasonReference":[{"reference":)");
    page.reference(page.scene.chart.items[page.item.link]);
    page.add(
        R"(}],"dosageInstruction":[{"sequence":1,"text":")", drug.instruction,
        R"(","timing":{"repeat":{"frequency":)", drug.per_day,
        R"(,"period":1,"periodUnit":"d"}},"asNeededBoolean":)",
        drug.per_day >= 4 ? "true" : "false", R"(,"doseAndRate":[{"type":{"coding":[{"system":)",
        R"("http://terminology.hl7.org/CodeSystem/dose-rate-type","code":"ordered","display":"Ordered"}]},)",
        R"("doseQuantity":{"value":1}}]}],"dispenseRequest":{"validityPeriod":{"start":")",
        DateTime{page.item.when}, R"(","end":")",
        DateTime{Instant{page.item.when.us + 4 * days * kDay}}, R"("},"numberOfRepeatsAllowed":)",
        drug.chronic ? 3 : 0, R"(,"quantity":{"value":)", days * drug.per_day,
        R"(},"expectedSupplyDuration":{"value":)", days,
        R"(,"unit":"days","system":"http://unitsofmeasure.org","code":"d"}}})");
}

void render_immunization(Page& page) {
    const Vaccine& vaccine = vaccines()[page.item.code];
    page.open();
    page.add(R"(,"status":"completed","vaccineCode":)");
    page.concept_of({System::cvx, vaccine.cvx, vaccine.display});
    page.patient("patient");
    page.encounter();
    page.add(R"(,"occurrenceDateTime":")", DateTime{page.item.when}, R"(","primarySource":)",
             page.dice.chance(900) ? "true" : "false", R"(,"location":{"reference":)");
    page.reference(page.scene.world.location(page.item));
    page.add(R"(},"lotNumber":"LOT)", page.dice.between(10'000, 99'999), R"(","expirationDate":")",
             Date{Instant{page.item.when.us + 400 * kDay}},
             R"(","site":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v3-ActSite",)",
             R"("code":"LA","display":"left arm"}]},"route":{"coding":[{"system":)",
             R"("http://terminology.hl7.org/CodeSystem/v3-RouteOfAdministration","code":"IM",)",
             R"("display":"Injection, intramuscular"}]},"doseQuantity":{"value":0.5,"unit":"mL",)",
             R"("system":"http://unitsofmeasure.org","code":"mL"},"performer":[{"actor":)");
    page.doctor();
    page.add("}]");
    if (page.state > 0) {
        page.add(R"(,"note":[{"text":"Lot checked against the register."}])");
    }
    page.add("}");
}

void render_allergy_intolerance(Page& page) {
    const Allergen& allergen = allergens()[page.item.code];
    const bool severe = page.dice.chance(120);
    page.open();
    page.add(R"(,"clinicalStatus":)");
    page.concept_of("allergyintolerance-clinical", "active");
    page.add(R"(,"verificationStatus":)");
    page.concept_of("allergyintolerance-verification",
                    page.state == 0 && page.item.states > 1 ? "unconfirmed" : "confirmed");
    page.add(R"(,"type":")",
             allergen.category == "medication" && !severe ? "intolerance" : "allergy",
             R"(","category":[")", allergen.category, R"("],"criticality":")",
             severe ? "high" : "low", R"(","code":)");
    page.concept_of(allergen.code);
    page.patient("patient");
    page.encounter();
    page.add(R"(,"recordedDate":")", DateTime{page.item.when}, R"(","recorder":)");
    page.doctor();
    page.add(R"(,"reaction":[{"substance":)");
    page.concept_of(allergen.code);
    page.add(R"(,"manifestation":[)");
    page.concept_of(severe ? reactions().back()
                           : reactions()[page.dice.below(reactions().size() - 1)]);
    page.add(R"(],"severity":")",
             severe                  ? "severe"
             : page.dice.chance(500) ? "mild"
                                     : "moderate",
             "\"}]}");
}

void render_care_plan(Page& page) {
    const Code& plan = care_plans()[page.item.code];
    const bool done = page.state > 0;
    page.open();
    page.narrative(plan.display, page.dice.pick(remarks()));
    page.add(R"(,"status":")", done ? "completed" : "active", R"(","intent":"order","category":[)");
    page.concept_of(plan);
    page.add(R"(],"title":")", plan.display, "\"");
    page.patient("subject");
    page.encounter();
    page.add(R"(,"period":{"start":")", DateTime{page.item.when}, "\"");
    if (done) {
        page.add(R"(,"end":")",
                 DateTime{Instant{page.item.when.us + page.dice.between(30, 200) * kDay}}, "\"");
    }
    page.add(R"(},"created":")", DateTime{page.item.when}, R"(","author":)");
    page.doctor();
    page.add(R"(,"addresses":[{"reference":)");
    page.reference(page.scene.chart.items[page.item.link]);
    page.add(R"(}],"activity":[)");
    Dice draw(page.item.seed ^ 0x706c616e);
    const std::uint64_t first = draw.below(activities().size());
    for (std::uint64_t i = 0; i < 2 + first % 2; ++i) {
        page.add(i == 0 ? "" : ",", R"({"detail":{"code":)");
        page.concept_of(activities()[(first + i) % activities().size()]);
        page.add(R"(,"status":")", done ? "completed" : "in-progress",
                 R"(","location":{"display":")");
        page.house_name(page.scene.world.organization(page.item));
        page.add("\"}}}");
    }
    page.add("]}");
}

}  // namespace annals::generate
