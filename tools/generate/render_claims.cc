#include "tools/generate/render_parts.h"

namespace annals::generate {
namespace {

std::string_view payer(const Page& page) {
    Dice draw(page.scene.chart.seed ^ 0x7061796572);
    return draw.pick(payers());
}

// A billed item: the encounter or the drug, then the procedures.
struct Line {
    Code code;
    std::int64_t cents;
};

std::size_t line_count(const Item& claim) {
    return claim.code == 1 ? 1 : 1u + claim.link_count;
}

Line line_of(const Page& page, const Item& claim, std::size_t line) {
    Dice draw(claim.seed ^ (0x6c696e65 + line));
    const std::vector<Item>& items = page.scene.chart.items;
    if (claim.code == 1) {
        const Drug& drug = drugs()[items[claim.link].code];
        return {{System::rxnorm, drug.rxnorm, drug.display}, draw.between(400, 30'000)};
    }
    if (line == 0) {
        return {visits()[items[claim.encounter].code], draw.between(7'500, 22'000)};
    }
    const Intervention& done = interventions()[items[claim.link + line - 1].code];
    return {{System::snomed, done.snomed, done.display},
            done.price_usd * 100 * draw.between(80, 120) / 100};
}

void money(Page& page, std::int64_t cents) {
    page.add(R"({"value":)", Decimal{cents, 2}, R"(,"currency":"USD"})");
}

void type_and_use(Page& page, const Item& claim) {
    page.add(R"(,"type":)");
    page.concept_of("claim-type", claim.code == 1 ? "pharmacy"
                                  : page.scene.chart.items[claim.encounter].code >= 5
                                      ? "institutional"
                                      : "professional");
    page.add(R"(,"use":"claim")");
    page.patient("patient");
}

void billable_period(Page& page) {
    page.add(R"(,"billablePeriod":{"start":")", DateTime{page.item.when}, R"(","end":")",
             DateTime{Instant{page.item.when.us + 30 * kMinute}}, R"("},"created":")",
             DateTime{Instant{page.item.when.us + 30 * kMinute}}, "\"");
}

void encounter_of_line(Page& page, const Item& claim) {
    page.add(R"(,"encounter":[{"reference":)");
    page.reference(page.scene.chart.items[claim.encounter]);
    page.add("}]");
}

void adjudication(Page& page, std::string_view category, std::int64_t cents) {
    page.add(
        R"({"category":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/adjudication",)",
        R"("code":")", category, R"("}]},"amount":)");
    money(page, cents);
    page.add("}");
}

}  // namespace

void render_claim(Page& page) {
    const bool pharmacy = page.item.code == 1;
    page.open();
    page.add(R"(,"identifier":[{"system":"https://generated.example/claim","value":"C)",
             page.item.seed % 10'000'000'000, R"("}],"status":")",
             page.state > 0 ? "cancelled" : "active", "\"");
    type_and_use(page, page.item);
    billable_period(page);
    page.add(R"(,"insurer":{"display":")", payer(page), R"("},"provider":)");
    page.house();
    page.add(R"(,"priority":)");
    page.concept_of("processpriority", "normal");
    if (pharmacy) {
        page.add(R"(,"prescription":{"reference":)");
        page.reference(page.scene.chart.items[page.item.link]);
        page.add("}");
    } else {
        page.add(R"(,"facility":{"reference":)");
        page.reference(page.scene.world.location(page.item));
        page.add("}");
        for (std::uint32_t i = 0; i < page.item.link_count; ++i) {
            page.add(i == 0 ? R"(,"procedure":[)" : ",", R"({"sequence":)", i + 1,
                     R"(,"procedureReference":{"reference":)");
            page.reference(page.scene.chart.items[page.item.link + i]);
            page.add("}}");
        }
        page.add(page.item.link_count > 0 ? "]" : "");
    }
    page.add(R"(,"insurance":[{"sequence":1,"focal":true,"coverage":{"display":")", payer(page),
             R"("}}],"item":[)");
    std::int64_t total = 0;
    for (std::size_t i = 0; i < line_count(page.item); ++i) {
        const Line line = line_of(page, page.item, i);
        page.add(i == 0 ? "" : ",", R"({"sequence":)", i + 1);
        if (i > 0) {
            page.add(R"(,"procedureSequence":[)", i, "]");
        }
        page.add(R"(,"productOrService":)");
        page.concept_of(line.code);
        page.add(R"(,"net":)");
        money(page, line.cents);
        if (i == 0) {
            encounter_of_line(page, page.item);
        }
        page.add("}");
        total += line.cents;
    }
    page.add(R"(],"total":)");
    money(page, total);
    page.add("}");
}

void render_explanation_of_benefit(Page& page) {
    const Item& claim = page.scene.chart.items[page.item.link];
    const bool queued = page.item.states > 1 && page.state == 0;
    page.open();
    page.add(
        R"(,"contained":[{"resourceType":"Coverage","id":"coverage","status":"active","type":{"text":")",
        payer(page), R"("},"beneficiary":{"reference":)");
    page.reference(page.scene.chart.items.front());
    page.add(R"(},"payor":[{"display":")", payer(page), R"("}]}],"identifier":[{"system":)",
             R"("https://generated.example/explanation-of-benefit","value":"E)",
             page.item.seed % 10'000'000'000, R"("}],"status":"active")");
    type_and_use(page, claim);
    page.add(R"(,"billablePeriod":{"start":")", DateTime{page.item.when}, R"(","end":")",
             DateTime{Instant{page.item.when.us + kYear}}, R"("},"created":")",
             DateTime{Instant{page.item.when.us + 30 * kMinute}}, R"(","insurer":{"display":")",
             payer(page), R"("},"provider":)");
    page.doctor();
    page.add(R"(,"claim":{"reference":)");
    page.reference(claim);
    page.add(R"(},"outcome":")", queued ? "queued" : "complete",
             R"(","careTeam":[{"sequence":1,"provider":)");
    page.doctor();
    page.add(R"(,"role":)");
    page.concept_of("claimcareteamrole", "primary");
    page.add(R"(}],"insurance":[{"focal":true,"coverage":{"reference":"#coverage","display":")",
             payer(page), R"("}}],"item":[)");
    std::int64_t total = 0;
    std::int64_t paid = 0;
    for (std::size_t i = 0; i < line_count(claim); ++i) {
        const Line line = line_of(page, claim, i);
        page.add(
            i == 0 ? "" : ",", R"({"sequence":)", i + 1,
            R"(,"category":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/ex-benefitcategory",)",
            R"("code":"1","display":"Medical Care"}]},"productOrService":)");
        page.concept_of(line.code);
        page.add(R"(,"servicedPeriod":{"start":")", DateTime{page.item.when}, R"(","end":")",
                 DateTime{Instant{page.item.when.us + 30 * kMinute}},
                 R"("},"locationCodeableConcept":{"coding":[{"system":)",
                 R"("http://terminology.hl7.org/CodeSystem/ex-serviceplace","code":"19",)",
                 R"("display":"Off Campus-Outpatient Hospital"}]},"net":)");
        money(page, line.cents);
        encounter_of_line(page, claim);
        if (!queued) {
            const std::int64_t benefit = line.cents * 8 / 10;
            page.add(R"(,"adjudication":[)");
            adjudication(page, "submitted", line.cents);
            page.add(",");
            adjudication(page, "eligible", line.cents);
            page.add(",");
            adjudication(page, "deductible", 0);
            page.add(",");
            adjudication(page, "copay", line.cents - benefit);
            page.add(",");
            adjudication(page, "benefit", benefit);
            page.add("]");
            paid += benefit;
        }
        page.add("}");
        total += line.cents;
    }
    page.add(R"(],"total":[{"category":{"coding":[{"system":)",
             R"("http://terminology.hl7.org/CodeSystem/adjudication","code":"submitted",)",
             R"("display":"Submitted Amount"}],"text":"Submitted Amount"},"amount":)");
    money(page, total);
    page.add("}]");
    if (!queued) {
        page.add(R"(,"payment":{"date":")", Date{Instant{page.item.when.us + 30 * kDay}},
                 R"(","amount":)");
        money(page, paid);
        page.add("}");
    }
    page.add("}");
}

}  // namespace annals::generate
