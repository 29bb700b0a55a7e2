#include "tools/generate/vocabulary.h"

namespace annals::generate {
namespace {

constexpr Measure kVitalSigns[] = {
    {"8302-2", "Body height", "cm", 1690, 95, 1, 1450, 2000},
    {"29463-7", "Body weight", "kg", 760, 150, 1, 450, 1100},
    {"39156-5", "Body mass index (BMI) [Ratio]", "kg/m2", 265, 45, 1, 185, 250},
    {"8867-4", "Heart rate", "/min", 76, 11, 0, 60, 100},
    {"9279-1", "Respiratory rate", "/min", 15, 2, 0, 12, 20},
    {"8310-5", "Body temperature", "Cel", 368, 4, 1, 361, 372},
    {"2708-6", "Oxygen saturation in Arterial blood", "%", 970, 14, 1, 950, 1000},
};

constexpr Measure kMetabolic[] = {
    {"2345-7", "Glucose [Mass/volume] in Serum or Plasma", "mg/dL", 958, 170, 1, 700, 990},
    {"3094-0", "Urea nitrogen [Mass/volume] in Serum or Plasma", "mg/dL", 142, 38, 1, 70, 200},
    {"2160-0", "Creatinine [Mass/volume] in Serum or Plasma", "mg/dL", 95, 20, 2, 60, 130},
    {"17861-6", "Calcium [Mass/volume] in Serum or Plasma", "mg/dL", 941, 42, 2, 850, 1020},
    {"2951-2", "Sodium [Moles/volume] in Serum or Plasma", "mmol/L", 1398, 25, 1, 1360, 1450},
    {"2823-3", "Potassium [Moles/volume] in Serum or Plasma", "mmol/L", 424, 40, 2, 350, 510},
    {"2075-0", "Chloride [Moles/volume] in Serum or Plasma", "mmol/L", 1032, 28, 1, 980, 1070},
    {"2028-9", "Carbon dioxide, total [Moles/volume] in Serum or Plasma", "mmol/L", 251, 21, 1, 220,
     290},
    {"2885-2", "Protein [Mass/volume] in Serum or Plasma", "g/dL", 710, 45, 2, 600, 830},
    {"1751-7", "Albumin [Mass/volume] in Serum or Plasma", "g/dL", 430, 32, 2, 350, 500},
    {"1975-2", "Bilirubin.total [Mass/volume] in Serum or Plasma", "mg/dL", 72, 28, 2, 10, 120},
    {"6768-6", "Alkaline phosphatase [Enzymatic activity/volume] in Serum or Plasma", "U/L", 721,
     195, 1, 400, 1300},
    {"1742-6", "Alanine aminotransferase [Enzymatic activity/volume] in Serum or Plasma", "U/L",
     248, 90, 1, 70, 560},
    {"1920-8", "Aspartate aminotransferase [Enzymatic activity/volume] in Serum or Plasma", "U/L",
     238, 80, 1, 100, 400},
};

constexpr Measure kBloodCount[] = {
    {"6690-2", "Leukocytes [#/volume] in Blood by Automated count", "10*3/uL", 718, 180, 2, 400,
     1100},
    {"789-8", "Erythrocytes [#/volume] in Blood by Automated count", "10*6/uL", 470, 42, 2, 390,
     580},
    {"718-7", "Hemoglobin [Mass/volume] in Blood", "g/dL", 142, 13, 1, 120, 175},
    {"4544-3", "Hematocrit [Volume Fraction] of Blood by Automated count", "%", 420, 35, 1, 360,
     500},
    {"787-2", "MCV [Entitic volume] by Automated count", "fL", 891, 50, 1, 800, 1000},
    {"785-6", "MCH [Entitic mass] by Automated count", "pg", 301, 19, 1, 270, 330},
    {"786-4", "MCHC [Mass/volume] by Automated count", "g/dL", 338, 10, 1, 320, 360},
    {"788-0", "Erythrocyte distribution width [Ratio] by Automated count", "%", 134, 9, 1, 115,
     145},
    {"777-3", "Platelets [#/volume] in Blood by Automated count", "10*3/uL", 2520, 550, 1, 1500,
     4500},
};

constexpr Measure kLipids[] = {
    {"2093-3", "Cholesterol [Mass/volume] in Serum or Plasma", "mg/dL", 1893, 350, 1, 1000, 2000},
    {"2571-8", "Triglyceride [Mass/volume] in Serum or Plasma", "mg/dL", 1310, 360, 1, 300, 1500},
    {"18262-6", "Cholesterol in LDL [Mass/volume] in Serum or Plasma by Direct assay", "mg/dL",
     1120, 300, 1, 0, 1300},
    {"2085-9", "Cholesterol in HDL [Mass/volume] in Serum or Plasma", "mg/dL", 532, 130, 1, 400,
     900},
};

constexpr Measure kGlycated[] = {
    {"4548-4", "Hemoglobin A1c/Hemoglobin.total in Blood", "%", 59, 9, 1, 40, 57},
};

constexpr Measure kThyroid[] = {
    {"3016-3", "Thyrotropin [Units/volume] in Serum or Plasma", "m[IU]/L", 214, 60, 2, 40, 450},
    {"3024-7", "Thyroxine (T4) free [Mass/volume] in Serum or Plasma", "ng/dL", 121, 18, 2, 80,
     180},
};

constexpr Measure kUrine[] = {
    {"5811-5", "Specific gravity of Urine by Test strip", "{ratio}", 1018, 5, 3, 1005, 1030},
    {"5803-2", "pH of Urine by Test strip", "[pH]", 61, 6, 1, 50, 80},
    {"20454-5", "Protein [Mass/volume] in Urine by Test strip", "mg/dL", 95, 27, 1, 0, 150},
};

constexpr Measure kInflammation[] = {
    {"1988-5", "C reactive protein [Mass/volume] in Serum or Plasma", "mg/L", 42, 12, 1, 0, 80},
};

constexpr Panel kPanels[] = {
    {"24323-8", "Comprehensive metabolic 2000 panel - Serum or Plasma", kMetabolic},
    {"58410-2", "CBC panel - Blood by Automated count", kBloodCount},
    {"57698-3", "Lipid panel with direct LDL - Serum or Plasma", kLipids},
    {"4548-4", "Hemoglobin A1c/Hemoglobin.total in Blood", kGlycated},
    {"24348-5", "Free T4 and TSH panel - Serum or Plasma", kThyroid},
    {"24356-8", "Urinalysis complete panel - Urine", kUrine},
    {"1988-5", "C reactive protein [Mass/volume] in Serum or Plasma", kInflammation},
};

constexpr Disease kDiseases[] = {
    {"38341003", "I10", "Hypertensive disorder", true, 30, 110, 60},
    {"44054006", "E11.9", "Diabetes mellitus type 2", true, 35, 110, 35},
    {"55822004", "E78.5", "Hyperlipidemia", true, 30, 110, 45},
    {"15777000", "R73.03", "Prediabetes", true, 25, 110, 35},
    {"162864005", "E66.9", "Body mass index 30+ - obesity", true, 18, 110, 35},
    {"195967001", "J45.909", "Asthma", true, 3, 90, 20},
    {"13645005", "J44.9", "Chronic obstructive lung disease", true, 45, 110, 12},
    {"53741008", "I25.10", "Coronary arteriosclerosis", true, 50, 110, 14},
    {"84114007", "I50.9", "Heart failure", true, 55, 110, 9},
    {"49436004", "I48.91", "Atrial fibrillation", true, 50, 110, 9},
    {"40930008", "E03.9", "Hypothyroidism", true, 25, 110, 12},
    {"35489007", "F32.9", "Depressive disorder", true, 14, 100, 22},
    {"396275006", "M19.90", "Osteoarthritis", true, 40, 110, 22},
    {"64859006", "M81.0", "Osteoporosis", true, 55, 110, 10},
    {"709044004", "N18.9", "Chronic kidney disease", true, 45, 110, 11},
    {"271737000", "D64.9", "Anemia", true, 2, 110, 20},
    {"235595009", "K21.9", "Gastroesophageal reflux disease", true, 20, 110, 20},
    {"37796009", "G43.909", "Migraine", true, 12, 80, 14},
    {"24079001", "L20.9", "Atopic dermatitis", true, 0, 60, 10},
    {"195662009", "J02.9", "Acute viral pharyngitis", false, 2, 90, 70},
    {"444814009", "J01.90", "Viral sinusitis", false, 4, 100, 80},
    {"10509002", "J20.9", "Acute bronchitis", false, 1, 110, 55},
    {"43878008", "J02.0", "Streptococcal sore throat", false, 3, 50, 25},
    {"65363002", "H66.90", "Otitis media", false, 0, 15, 60},
    {"68566005", "N39.0", "Urinary tract infectious disease", false, 5, 110, 30},
    {"233604007", "J18.9", "Pneumonia", false, 0, 110, 12},
    {"6142004", "J11.1", "Influenza", false, 0, 110, 25},
    {"840539006", "U07.1", "Disease caused by severe acute respiratory syndrome coronavirus 2",
     false, 0, 110, 30},
    {"25374005", "K52.9", "Gastroenteritis", false, 0, 110, 22},
    {"44465007", "S93.409A", "Sprain of ankle", false, 6, 85, 22},
    {"62106007", "S06.0X0A", "Concussion with no loss of consciousness", false, 4, 90, 8},
    {"283371005", "S51.819A", "Laceration of forearm", false, 3, 95, 14},
    {"65966004", "S52.90XA", "Fracture of forearm", false, 3, 100, 10},
    {"279039007", "M54.5", "Low back pain", false, 18, 100, 30},
};

constexpr Drug kDrugs[] = {
    {"314076", "lisinopril 10 MG Oral Tablet", "Take one tablet by mouth every morning", 1, true},
    {"314077", "lisinopril 20 MG Oral Tablet", "Take one tablet by mouth every morning", 1, true},
    {"860975", "24 HR metformin hydrochloride 500 MG Extended Release Oral Tablet",
     "Take one tablet by mouth twice a day with meals", 2, true},
    {"197361", "amlodipine 5 MG Oral Tablet", "Take one tablet by mouth once a day", 1, true},
    {"617311", "atorvastatin 40 MG Oral Tablet", "Take one tablet by mouth at bedtime", 1, true},
    {"312961", "simvastatin 20 MG Oral Tablet", "Take one tablet by mouth in the evening", 1, true},
    {"310798", "hydrochlorothiazide 25 MG Oral Tablet", "Take one tablet by mouth every morning", 1,
     true},
    {"309362", "clopidogrel 75 MG Oral Tablet", "Take one tablet by mouth once a day", 1, true},
    {"855332", "warfarin sodium 5 MG Oral Tablet",
     "Take one tablet by mouth once a day, dose as told by the anticoagulation clinic", 1, true},
    {"313988", "furosemide 40 MG Oral Tablet", "Take one tablet by mouth every morning", 1, true},
    {"243670", "aspirin 81 MG Oral Tablet", "Take one tablet by mouth once a day", 1, true},
    {"245314", "albuterol 5 MG/ML Inhalation Solution",
     "Inhale by nebulizer every six hours as needed", 4, true},
    {"895994", "120 ACTUAT fluticasone propionate 0.044 MG/ACTUAT Metered Dose Inhaler",
     "Inhale two puffs twice a day, rinse the mouth afterwards", 2, true},
    {"310385", "fluoxetine 20 MG Oral Capsule", "Take one capsule by mouth every morning", 1, true},
    {"313782", "acetaminophen 325 MG Oral Tablet",
     "Take two tablets by mouth every six hours as needed", 4, false},
    {"310965", "ibuprofen 200 MG Oral Tablet", "Take one tablet by mouth every six hours with food",
     4, false},
    {"849574", "naproxen sodium 220 MG Oral Tablet",
     "Take one tablet by mouth twice a day with food", 2, false},
    {"308182", "amoxicillin 250 MG Oral Capsule", "Take one capsule by mouth three times a day", 3,
     false},
    {"562251", "amoxicillin 250 MG / clavulanate 125 MG Oral Tablet",
     "Take one tablet by mouth three times a day at the start of a meal", 3, false},
    {"834102", "penicillin V potassium 500 MG Oral Tablet", "Take one tablet by mouth twice a day",
     2, false},
    {"308460", "azithromycin 250 MG Oral Tablet",
     "Take two tablets on the first day, then one tablet a day for four days", 1, false},
    {"197511", "ciprofloxacin 250 MG Oral Tablet", "Take one tablet by mouth twice a day", 2,
     false},
    {"1014676", "cetirizine hydrochloride 5 MG Oral Tablet", "Take one tablet by mouth once a day",
     1, false},
    {"106258", "hydrocortisone 10 MG/ML Topical Cream", "Apply a thin layer twice a day", 2, false},
};

constexpr Vaccine kVaccines[] = {
    {"140", "Influenza, seasonal, injectable, preservative free", 0, 110},
    {"08", "Hep B, adolescent or pediatric", 0, 18},
    {"20", "DTaP", 0, 6},
    {"10", "IPV", 0, 6},
    {"49", "Hib (PRP-OMP)", 0, 4},
    {"133", "Pneumococcal conjugate PCV 13", 0, 4},
    {"119", "rotavirus, monovalent", 0, 1},
    {"03", "MMR", 1, 6},
    {"21", "varicella", 1, 6},
    {"83", "Hep A, ped/adol, 2 dose", 1, 18},
    {"62", "HPV, quadrivalent", 11, 26},
    {"114", "meningococcal MCV4P", 11, 22},
    {"115", "Tdap", 11, 110},
    {"113", "Td (adult), 5 Lf tetanus toxoid, preservative free, adsorbed", 18, 110},
    {"43", "Hep B, adult", 18, 80},
    {"187", "zoster recombinant", 50, 110},
    {"33", "pneumococcal polysaccharide vaccine, 23 valent", 65, 110},
    {"208", "COVID-19, mRNA, LNP-S, PF, 30 mcg/0.3 mL dose", 12, 110},
    {"207", "COVID-19, mRNA, LNP-S, PF, 100 mcg/0.5 mL dose", 18, 110},
};

constexpr Intervention kInterventions[] = {
    {"430193006", "Medication reconciliation", 12, 35, 120},
    {"710824005", "Assessment of health and social care needs", 25, 60, 110},
    {"171207006", "Depression screening", 10, 45, 90},
    {"710841007", "Assessment of anxiety", 10, 45, 60},
    {"29303009", "Electrocardiographic procedure", 15, 120, 30},
    {"399208008", "Plain X-ray of chest", 20, 180, 30},
    {"74016001", "Plain X-ray of knee", 20, 160, 14},
    {"40701008", "Echocardiography", 40, 850, 10},
    {"23426006", "Measurement of respiratory function", 30, 210, 12},
    {"117015009", "Throat culture", 8, 70, 20},
    {"73761001", "Colonoscopy", 60, 2400, 10},
    {"71651007", "Mammography", 25, 320, 12},
    {"76601001", "Intramuscular injection", 5, 40, 30},
    {"288086009", "Suture open wound", 30, 260, 10},
    {"274474001", "Bone immobilization", 35, 410, 9},
    {"91251008", "Physical therapy procedure", 45, 190, 18},
    {"265764009", "Renal dialysis", 220, 1150, 5},
    {"80146002", "Excision of appendix", 75, 9800, 2},
    {"38102005", "Cholecystectomy", 95, 11500, 2},
    {"415070008", "Percutaneous coronary intervention", 80, 24500, 2},
    {"52734007", "Total replacement of hip", 140, 31000, 1},
    {"609588000", "Total knee replacement", 130, 29500, 1},
};

constexpr Allergen kAllergens[] = {
    {{System::snomed, "762952008", "Peanut"}, "food"},
    {{System::snomed, "3718001", "Cow milk"}, "food"},
    {{System::snomed, "102263004", "Eggs"}, "food"},
    {{System::snomed, "264287008", "Animal dander"}, "environment"},
    {{System::snomed, "256277009", "Grass pollen"}, "environment"},
    {{System::snomed, "260147004", "House dust mite"}, "environment"},
    {{System::snomed, "111088007", "Latex"}, "environment"},
    {{System::snomed, "288328004", "Bee venom"}, "environment"},
    {{System::rxnorm, "7984", "penicillin V"}, "medication"},
    {{System::rxnorm, "1191", "aspirin"}, "medication"},
    {{System::rxnorm, "5640", "ibuprofen"}, "medication"},
};

constexpr Code kReactions[] = {
    {System::snomed, "126485001", "Urticaria"},
    {System::snomed, "271807003", "Eruption of skin"},
    {System::snomed, "418363000", "Itching of skin"},
    {System::snomed, "49727002", "Cough"},
    {System::snomed, "267036007", "Dyspnea"},
    {System::snomed, "422587007", "Nausea"},
    {System::snomed, "39579001", "Anaphylaxis"},
};

constexpr Code kCarePlans[] = {
    {System::snomed, "698360004", "Diabetes self management plan"},
    {System::snomed, "443402002", "Lifestyle education regarding hypertension"},
    {System::snomed, "734163000", "Care plan"},
    {System::snomed, "53950000", "Respiratory therapy"},
    {System::snomed, "91251008", "Physical therapy procedure"},
    {System::snomed, "225358003", "Wound care"},
};

constexpr Code kActivities[] = {
    {System::snomed, "229065009", "Exercise therapy"},
    {System::snomed, "226234005", "Healthy diet"},
    {System::snomed, "160670007", "Diabetic diet"},
    {System::snomed, "226060000", "Stress management"},
    {System::snomed, "58332002", "Allergy education"},
    {System::snomed, "183051005", "Recommendation to rest"},
    {System::snomed, "77476009", "Application of dressing"},
};

constexpr Code kVisits[] = {
    {System::snomed, "185349003", "Encounter for check up"},
    {System::snomed, "185345009", "Encounter for symptom"},
    {System::snomed, "162673000", "General examination of patient"},
    {System::snomed, "390906007", "Follow-up encounter"},
    {System::snomed, "702927004", "Urgent care clinic"},
    {System::snomed, "50849002", "Emergency room admission"},
    {System::snomed, "32485007", "Hospital admission"},
    {System::snomed, "439740005", "Postoperative follow-up visit"},
};

constexpr Code kSmoking[] = {
    {System::snomed, "266919005", "Never smoked tobacco"},
    {System::snomed, "8517006", "Ex-smoker"},
    {System::snomed, "449868002", "Smokes tobacco daily"},
};

}  // namespace

std::string_view system_uri(System system) noexcept {
    switch (system) {
        case System::loinc:
            return "http://loinc.org";
        case System::snomed:
            return "http://snomed.info/sct";
        case System::rxnorm:
            return "http://www.nlm.nih.gov/research/umls/rxnorm";
        case System::cvx:
            return "http://hl7.org/fhir/sid/cvx";
    }
    return {};
}

std::span<const Measure> vital_signs() noexcept {
    return kVitalSigns;
}

std::span<const Panel> panels() noexcept {
    return kPanels;
}

std::span<const Disease> diseases() noexcept {
    return kDiseases;
}

std::span<const Drug> drugs() noexcept {
    return kDrugs;
}

std::span<const Vaccine> vaccines() noexcept {
    return kVaccines;
}

std::span<const Intervention> interventions() noexcept {
    return kInterventions;
}

std::span<const Allergen> allergens() noexcept {
    return kAllergens;
}

std::span<const Code> reactions() noexcept {
    return kReactions;
}

std::span<const Code> care_plans() noexcept {
    return kCarePlans;
}

std::span<const Code> activities() noexcept {
    return kActivities;
}

std::span<const Code> visits() noexcept {
    return kVisits;
}

std::span<const Code> smoking() noexcept {
    return kSmoking;
}

}  // namespace annals::generate
