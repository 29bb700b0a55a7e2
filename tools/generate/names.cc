#include "tools/generate/vocabulary.h"

namespace annals::generate {
namespace {

constexpr std::string_view kFemaleNames[] = {
    "Ada",    "Agnes",  "Alma",    "Amara",  "Anita",  "Beatriz", "Bertha", "Carla",
    "Celia",  "Chiara", "Clara",   "Dalia",  "Delia",  "Edith",   "Elena",  "Elif",
    "Emma",   "Esther", "Eva",     "Fatima", "Freya",  "Grace",   "Greta",  "Hanna",
    "Helena", "Ida",    "Ingrid",  "Irene",  "Iris",   "Joana",   "Judith", "Kamala",
    "Karin",  "Laila",  "Leonor",  "Lucia",  "Luise",  "Mabel",   "Magda",  "Maria",
    "Marit",  "Martha", "Mei",     "Mina",   "Miriam", "Nadia",   "Naomi",  "Nora",
    "Olga",   "Paula",  "Petra",   "Priya",  "Rahel",  "Rosa",    "Ruth",   "Sabine",
    "Salma",  "Sofia",  "Susanna", "Tamar",  "Thea",   "Vera",    "Yasmin", "Zofia",
};

constexpr std::string_view kMaleNames[] = {
    "Adam",   "Ahmed",  "Albert", "Anders", "Anton",  "Arjun",   "Arne",   "Basil",
    "Bruno",  "Carlos", "Cyrus",  "Daniel", "David",  "Dimitri", "Edgar",  "Emil",
    "Enzo",   "Erik",   "Ernest", "Felix",  "Franz",  "Georg",   "Gustav", "Hakan",
    "Hans",   "Henrik", "Hugo",   "Igor",   "Ivan",   "Jakob",   "Jan",    "Joel",
    "Johan",  "Jonas",  "Jorge",  "Josef",  "Kamal",  "Karl",    "Kenji",  "Lars",
    "Leo",    "Louis",  "Lukas",  "Marco",  "Martin", "Mateus",  "Milan",  "Nils",
    "Omar",   "Oskar",  "Otto",   "Pablo",  "Paul",   "Pedro",   "Rafael", "Ravi",
    "Samuel", "Simon",  "Stefan", "Tariq",  "Theo",   "Tomas",   "Viktor", "Yusuf",
};

constexpr std::string_view kFamilyNames[] = {
    "Abbott",   "Acker",    "Almeida",  "Amundsen", "Arendt",  "Aydin",    "Bakker",   "Baptista",
    "Barlow",   "Becker",   "Bergman",  "Bianchi",  "Blum",    "Brandt",   "Brennan",  "Calder",
    "Carvalho", "Castro",   "Chandra",  "Chen",     "Clarke",  "Conrad",   "Costa",    "Dahl",
    "Darwish",  "Demir",    "Dietrich", "Doyle",    "Eklund",  "Engel",    "Farrell",  "Ferreira",
    "Fischer",  "Fontaine", "Forster",  "Garcia",   "Gibson",  "Grimm",    "Haas",     "Haddad",
    "Hansen",   "Hartley",  "Herrera",  "Hoffman",  "Holm",    "Ibsen",    "Ivanov",   "Jansen",
    "Jensen",   "Kaiser",   "Kapoor",   "Keller",   "Kimura",  "Koch",     "Kowalski", "Kruger",
    "Larsen",   "Laurent",  "Lindgren", "Lopez",    "Lund",    "Mahler",   "Marques",  "Mehta",
    "Mercer",   "Moreau",   "Moser",    "Nakamura", "Navarro", "Neumann",  "Nilsson",  "Novak",
    "Okafor",   "Oliveira", "Olsen",    "Ortega",   "Pereira", "Petersen", "Pohl",     "Quinn",
    "Rahman",   "Reyes",    "Richter",  "Romano",   "Rossi",   "Sandberg", "Santos",   "Schmidt",
    "Sharma",   "Silva",    "Sorensen", "Steiner",  "Suzuki",  "Tanaka",   "Vogel",    "Weber",
};

constexpr std::string_view kStreets[] = {
    "Acorn Lane",    "Beech Avenue",  "Bridge Street", "Canal Walk",     "Castle Road",
    "Cedar Court",   "Chapel Street", "Church Lane",   "Dock Street",    "Elm Grove",
    "Ferry Road",    "Garden Row",    "Granary Road",  "Harbour View",   "Hazel Close",
    "High Street",   "Hill Rise",     "Juniper Way",   "Linden Avenue",  "Maple Drive",
    "Market Square", "Meadow Lane",   "Mill Road",     "Orchard Street", "Park Crescent",
    "Quarry Street", "River Terrace", "Rowan Street",  "School Lane",    "Spring Gardens",
    "Station Road",  "Willow Bank",
};

constexpr std::string_view kHospitals[] = {
    "General Hospital",        "Community Health Centre", "Family Practice",   "University Clinic",
    "Primary Care Associates", "Regional Medical Center", "Outpatient Clinic", "Children's Clinic",
};

constexpr std::string_view kPayers[] = {
    "Meridian Mutual",   "Harbor Health Plan", "Northfield Insurance", "Civic Care Fund",
    "Granite Assurance", "Lakeside Health",    "United Guild Plan",    "Self-pay",
};

constexpr std::string_view kRemarks[] = {
    "Seen without an appointment. Doing well, no new complaints.",
    "Reviewed with the patient, who agrees with the plan.",
    "Repeat in three months, earlier if symptoms come back.",
    "Sample slightly hemolyzed; result to be read with care.",
    "Reports better sleep since the last visit. Walks thirty minutes a day.",
    "Family history was gone through again and brought up to date.",
    "Told to come back if fever lasts longer than three days.",
    "Entered from the paper chart during migration.",
};

constexpr Place kPlaces[] = {
    {"Ashford", "MA", "01020"},     {"Birchwood", "MA", "01347"}, {"Clearwater", "MA", "02119"},
    {"Dunmore", "MA", "01562"},     {"Eastbrook", "CT", "06108"}, {"Fairhaven", "MA", "02719"},
    {"Glenview", "NH", "03038"},    {"Hawthorn", "MA", "01835"},  {"Kingsport", "RI", "02840"},
    {"Lakemont", "VT", "05401"},    {"Millbury", "MA", "01527"},  {"Northgate", "ME", "04101"},
    {"Oakridge", "MA", "01757"},    {"Pinefield", "CT", "06790"}, {"Riverton", "MA", "01453"},
    {"Stonebridge", "NY", "12180"},
};

}  // namespace

std::span<const std::string_view> female_names() noexcept {
    return kFemaleNames;
}

std::span<const std::string_view> male_names() noexcept {
    return kMaleNames;
}

std::span<const std::string_view> family_names() noexcept {
    return kFamilyNames;
}

std::span<const std::string_view> streets() noexcept {
    return kStreets;
}

std::span<const std::string_view> hospitals() noexcept {
    return kHospitals;
}

std::span<const std::string_view> payers() noexcept {
    return kPayers;
}

std::span<const std::string_view> remarks() noexcept {
    return kRemarks;
}

std::span<const Place> places() noexcept {
    return kPlaces;
}

}  // namespace annals::generate
