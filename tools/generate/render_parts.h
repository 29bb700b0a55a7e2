// RenderParts: shared by the renderers of the resource types. Internal to tools/generate/render*.cc.
//
// Layer:   tools/generate.
// Threads: a Page lives for one resource.

#pragma once

#include "tools/generate/render.h"
#include "tools/generate/text.h"

#include <string>
#include <string_view>

namespace annals::generate {

/// A resource being rendered. Content is drawn from `dice`, which starts from the item's seed, so
/// that all states of an item draw the same; hence a renderer must draw in the same order in every state.
struct Page {
    std::string& out;
    const Scene& scene;
    const Item& item;
    unsigned state;
    const Identity& identity;
    Dice dice;

    template <typename... Parts>
    void add(const Parts&... parts) {
        put(out, parts...);
    }

    bool last_state() const { return state + 1 == item.states; }

    /// {"resourceType":...,"id":...,"meta":{...}, without the closing brace; `profile` may be empty.
    void open(std::string_view profile = {});

    /// ,"text":{...} with `title` and, if not empty, `detail` in a paragraph of its own.
    void narrative(std::string_view title, std::string_view detail);

    /// "Type/id" or "urn:uuid:id", with the quotes.
    void reference(const Item& to);

    /// ,"subject":{"reference":...,"display":...} of the chart's patient; `element` names it.
    void patient(std::string_view element);

    /// ,"encounter":{"reference":...} if the item has one.
    void encounter();

    /// {"reference":"Practitioner/...","display":"Dr. ..."}
    void doctor();

    /// {"reference":"Organization/...","display":...}
    void house();

    void doctor_name(const Item& practitioner);
    void house_name(const Item& organization);

    /// {"coding":[{...}],"text":...}
    void concept_of(const Code& code);

    /// {"coding":[{system, code}]} for the small HL7 systems; `system` is what follows
    /// http://terminology.hl7.org/CodeSystem/.
    void concept_of(std::string_view system, std::string_view code);
};

void render_organization(Page& page);
void render_location(Page& page);
void render_practitioner(Page& page);
void render_patient(Page& page);
void render_encounter(Page& page);
void render_vital_sign(Page& page);
void render_blood_pressure(Page& page);
void render_laboratory(Page& page);
void render_smoking_status(Page& page);
void render_condition(Page& page);
void render_procedure(Page& page);
void render_medication_request(Page& page);
void render_immunization(Page& page);
void render_diagnostic_report(Page& page);
void render_allergy_intolerance(Page& page);
void render_care_plan(Page& page);
void render_claim(Page& page);
void render_explanation_of_benefit(Page& page);

}  // namespace annals::generate
