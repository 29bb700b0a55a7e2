#include "codec/fhirpath/ucum.h"

#include <algorithm>
#include <array>

namespace annals::fhirpath {
namespace {

constexpr std::size_t kUnitChars = 64;
constexpr int kPowerMax = 16;

enum Dimension : std::uint8_t { metre, second, gram, radian, kelvin, coulomb, candela, mole };

struct Prefix {
    std::string_view code;
    int exponent;
};

constexpr std::array<Prefix, 24> kPrefixes{{
    {"Y", 24},  {"Z", 21},  {"E", 18},   {"P", 15},   {"T", 12},   {"G", 9},
    {"M", 6},   {"k", 3},   {"h", 2},    {"da", 1},   {"d", -1},   {"c", -2},
    {"m", -3},  {"u", -6},  {"n", -9},   {"p", -12},  {"f", -15},  {"a", -18},
    {"z", -21}, {"y", -24}, {"Ki", 100}, {"Mi", 200}, {"Gi", 300}, {"Ti", 400},
}};

struct Atom {
    std::string_view code;
    std::string_view numerator;
    std::string_view denominator;
    std::array<std::int8_t, Unit::kDimensions> powers;  // m s g rad K C cd mol
    bool metric = false;
    bool arbitrary = false;
};

constexpr std::string_view kOne = "1";
constexpr std::string_view kPi = "3.14159265358979323846";

constexpr auto kAtoms = std::to_array<Atom>({
    // Base units.
    {"m", kOne, kOne, {1}, true},
    {"s", kOne, kOne, {0, 1}, true},
    {"g", kOne, kOne, {0, 0, 1}, true},
    {"rad", kOne, kOne, {0, 0, 0, 1}, true},
    {"K", kOne, kOne, {0, 0, 0, 0, 1}, true},
    {"C", kOne, kOne, {0, 0, 0, 0, 0, 1}, true},
    {"cd", kOne, kOne, {0, 0, 0, 0, 0, 0, 1}, true},
    {"mol", kOne, kOne, {0, 0, 0, 0, 0, 0, 0, 1}, true},
    // Numbers.
    {"10*", "10", kOne, {}},
    {"10^", "10", kOne, {}},
    {"[pi]", kPi, kOne, {}},
    {"%", "0.01", kOne, {}},
    {"[ppth]", "0.001", kOne, {}},
    {"[ppm]", "0.000001", kOne, {}},
    {"[ppb]", "0.000000001", kOne, {}},
    {"[pptr]", "0.000000000001", kOne, {}},
    // SI.
    {"sr", kOne, kOne, {0, 0, 0, 2}, true},
    {"Hz", kOne, kOne, {0, -1}, true},
    {"N", "1000", kOne, {1, -2, 1}, true},
    {"Pa", "1000", kOne, {-1, -2, 1}, true},
    {"J", "1000", kOne, {2, -2, 1}, true},
    {"W", "1000", kOne, {2, -3, 1}, true},
    {"A", kOne, kOne, {0, -1, 0, 0, 0, 1}, true},
    {"V", "1000", kOne, {2, -2, 1, 0, 0, -1}, true},
    {"F", "0.001", kOne, {-2, 2, -1, 0, 0, 2}, true},
    {"Ohm", "1000", kOne, {2, -1, 1, 0, 0, -2}, true},
    {"S", "0.001", kOne, {-2, 1, -1, 0, 0, 2}, true},
    {"mho", "0.001", kOne, {-2, 1, -1, 0, 0, 2}, true},
    {"Wb", "1000", kOne, {2, -1, 1, 0, 0, -1}, true},
    {"T", "1000", kOne, {0, -1, 1, 0, 0, -1}, true},
    {"H", "1000", kOne, {2, 0, 1, 0, 0, -2}, true},
    {"lm", kOne, kOne, {0, 0, 0, 2, 0, 0, 1}, true},
    {"lx", kOne, kOne, {-2, 0, 0, 2, 0, 0, 1}, true},
    {"Bq", kOne, kOne, {0, -1}, true},
    {"Gy", kOne, kOne, {2, -2}, true},
    {"Sv", kOne, kOne, {2, -2}, true},
    {"RAD", "0.01", kOne, {2, -2}, true},
    {"REM", "0.01", kOne, {2, -2}, true},
    {"Ci", "37000000000", kOne, {0, -1}, true},
    {"kat", kOne, kOne, {0, -1, 0, 0, 0, 0, 0, 1}, true},
    {"U", "0.000001", "60", {0, -1, 0, 0, 0, 0, 0, 1}, true},
    {"eq", kOne, kOne, {0, 0, 0, 0, 0, 0, 0, 1}, true},
    {"osm", kOne, kOne, {0, 0, 0, 0, 0, 0, 0, 1}, true},
    {"l", "0.001", kOne, {3}, true},
    {"L", "0.001", kOne, {3}, true},
    {"ar", "100", kOne, {2}, true},
    {"t", "1000000", kOne, {0, 0, 1}, true},
    {"u", "0.16605402", "100000000000000000000000", {0, 0, 1}, true},
    {"bar", "100000000", kOne, {-1, -2, 1}, true},
    {"atm", "101325000", kOne, {-1, -2, 1}},
    {"dyn", "0.01", kOne, {1, -2, 1}, true},
    {"erg", "0.0001", kOne, {2, -2, 1}, true},
    {"P", "100", kOne, {-1, -1, 1}, true},
    {"St", "0.0001", kOne, {2, -1}, true},
    {"cal", "4184", kOne, {2, -2, 1}, true},
    {"cal_th", "4184", kOne, {2, -2, 1}, true},
    {"[Cal]", "4184000", kOne, {2, -2, 1}},
    {"m[Hg]", "133322000", kOne, {-1, -2, 1}, true},
    {"m[H2O]", "9806650", kOne, {-1, -2, 1}, true},
    {"[psi]", "6894757.293168", kOne, {-1, -2, 1}},
    {"gf", "9.80665", kOne, {1, -2, 1}, true},
    {"[lbf_av]", "4448.2216152605", kOne, {1, -2, 1}},
    {"g%", "10000", kOne, {-3, 0, 1}, true},
    {"deg", kPi, "180", {0, 0, 0, 1}},
    {"'", kPi, "10800", {0, 0, 0, 1}},
    {"''", kPi, "648000", {0, 0, 0, 1}},
    {"gon", kPi, "200", {0, 0, 0, 1}},
    {"circ", "6.28318530717958647692", kOne, {0, 0, 0, 1}},
    {"bit", kOne, kOne, {}, true},
    {"By", "8", kOne, {}, true},
    // Time.
    {"min", "60", kOne, {0, 1}},
    {"h", "3600", kOne, {0, 1}},
    {"d", "86400", kOne, {0, 1}},
    {"wk", "604800", kOne, {0, 1}},
    {"mo", "2629800", kOne, {0, 1}},
    {"mo_j", "2629800", kOne, {0, 1}},
    {"mo_g", "2629746", kOne, {0, 1}},
    {"mo_s", "2551442.976", kOne, {0, 1}},
    {"a", "31557600", kOne, {0, 1}},
    {"a_j", "31557600", kOne, {0, 1}},
    {"a_g", "31556952", kOne, {0, 1}},
    {"a_t", "31556925.216", kOne, {0, 1}},
    // Customary lengths, areas, volumes, masses.
    {"[in_i]", "0.0254", kOne, {1}},
    {"[ft_i]", "0.3048", kOne, {1}},
    {"[yd_i]", "0.9144", kOne, {1}},
    {"[mi_i]", "1609.344", kOne, {1}},
    {"[nmi_i]", "1852", kOne, {1}},
    {"[fth_i]", "1.8288", kOne, {1}},
    {"[kn_i]", "1852", "3600", {1, -1}},
    {"[Ch]", "0.001", "3", {1}},
    {"[sin_i]", "0.00064516", kOne, {2}},
    {"[sft_i]", "0.09290304", kOne, {2}},
    {"[cin_i]", "0.000016387064", kOne, {3}},
    {"[cft_i]", "0.028316846592", kOne, {3}},
    {"[gal_us]", "0.003785411784", kOne, {3}},
    {"[qt_us]", "0.000946352946", kOne, {3}},
    {"[pt_us]", "0.000473176473", kOne, {3}},
    {"[gil_us]", "0.00011829411825", kOne, {3}},
    {"[cup_us]", "0.0002365882365", kOne, {3}},
    {"[foz_us]", "0.0000295735295625", kOne, {3}},
    {"[fdr_us]", "0.0000036966911953125", kOne, {3}},
    {"[tbs_us]", "0.00001478676478125", kOne, {3}},
    {"[tsp_us]", "0.00000492892159375", kOne, {3}},
    {"[cup_m]", "0.00024", kOne, {3}},
    {"[foz_m]", "0.00003", kOne, {3}},
    {"[tbs_m]", "0.000015", kOne, {3}},
    {"[tsp_m]", "0.000005", kOne, {3}},
    {"[drp]", "0.00000005", kOne, {3}},
    {"[gal_br]", "0.00454609", kOne, {3}},
    {"[pt_br]", "0.00056826125", kOne, {3}},
    {"[foz_br]", "0.0000284130625", kOne, {3}},
    {"[gr]", "0.06479891", kOne, {0, 0, 1}},
    {"[lb_av]", "453.59237", kOne, {0, 0, 1}},
    {"[oz_av]", "28.349523125", kOne, {0, 0, 1}},
    {"[dr_av]", "1.7718451953125", kOne, {0, 0, 1}},
    {"[stone_av]", "6350.29318", kOne, {0, 0, 1}},
    {"[ston_av]", "907184.74", kOne, {0, 0, 1}},
    {"[lton_av]", "1016046.9088", kOne, {0, 0, 1}},
    {"[scwt_av]", "45359.237", kOne, {0, 0, 1}},
    {"[lcwt_av]", "50802.34544", kOne, {0, 0, 1}},
    {"[pwt_tr]", "1.55517384", kOne, {0, 0, 1}},
    {"[oz_tr]", "31.1034768", kOne, {0, 0, 1}},
    {"[lb_tr]", "373.2417216", kOne, {0, 0, 1}},
    {"[car_m]", "0.2", kOne, {0, 0, 1}},
    // What only compares with itself: arbitrary units, and units on special scales.
    {"Cel", kOne, kOne, {}, true, true},
    {"[degF]", kOne, kOne, {}, false, true},
    {"[degRe]", kOne, kOne, {}, false, true},
    {"[pH]", kOne, kOne, {}, false, true},
    {"Np", kOne, kOne, {}, true, true},
    {"B", kOne, kOne, {}, true, true},
    {"[p'diop]", kOne, kOne, {}, false, true},
    {"[diop]", kOne, kOne, {-1}, false},
    {"[iU]", kOne, kOne, {}, true, true},
    {"[IU]", kOne, kOne, {}, true, true},
    {"[arb'U]", kOne, kOne, {}, false, true},
    {"[USP'U]", kOne, kOne, {}, false, true},
    {"[GPL'U]", kOne, kOne, {}, false, true},
    {"[MPL'U]", kOne, kOne, {}, false, true},
    {"[APL'U]", kOne, kOne, {}, false, true},
    {"[beth'U]", kOne, kOne, {}, false, true},
    {"[anti'Xa'U]", kOne, kOne, {}, false, true},
    {"[todd'U]", kOne, kOne, {}, false, true},
    {"[dye'U]", kOne, kOne, {}, false, true},
    {"[mclg'U]", kOne, kOne, {}, false, true},
    {"[bdsk'U]", kOne, kOne, {}, false, true},
    {"[ka'U]", kOne, kOne, {}, false, true},
    {"[knk'U]", kOne, kOne, {}, false, true},
    {"[AU]", kOne, kOne, {}, false, true},
    {"[BAU]", kOne, kOne, {}, false, true},
    {"[Amb'a'1'U]", kOne, kOne, {}, false, true},
    {"[PFU]", kOne, kOne, {}, false, true},
    {"[FFU]", kOne, kOne, {}, false, true},
    {"[CFU]", kOne, kOne, {}, false, true},
    {"[IR]", kOne, kOne, {}, false, true},
    {"[Lf]", kOne, kOne, {}, false, true},
    {"[EID_50]", kOne, kOne, {}, false, true},
    {"[PNU]", kOne, kOne, {}, false, true},
    {"[LD_50]", kOne, kOne, {}, false, true},
    {"[CCID_50]", kOne, kOne, {}, false, true},
    {"[TCID_50]", kOne, kOne, {}, false, true},
    {"[ELU]", kOne, kOne, {}, false, true},
    {"[FEU]", kOne, kOne, {}, false, true},
    {"[HP_X]", kOne, kOne, {}, false, true},
    {"[HPF]", kOne, kOne, {}, false, true},
    {"[LPF]", "100", kOne, {}, false, false},
    {"[S]", kOne, kOne, {}, false, true},
    {"[MET]", kOne, kOne, {}, false, true},
    {"[smoot]", "1.7018", kOne, {1}, false, false},
});

// The other units of UCUM: there is nothing here to compute with them.
constexpr auto kUnsized = std::to_array<std::string_view>({
    "%[slope]", "AU",       "Ao",       "Torr",     "[Btu]",           "[Btu_39]",   "[Btu_59]",
    "[Btu_60]", "[Btu_IT]", "[Btu_m]",  "[Btu_th]", "[D'ag'U]",        "[EU]",       "[HP]",
    "[PRU]",    "[acr_br]", "[acr_us]", "[bbl_us]", "[bf_i]",          "[bu_br]",    "[bu_us]",
    "[car_Au]", "[ch_br]",  "[ch_us]",  "[cicero]", "[cml_i]",         "[cr_i]",     "[crd_us]",
    "[cyd_i]",  "[degR]",   "[den]",    "[didot]",  "[dpt_us]",        "[dqt_us]",   "[dr_ap]",
    "[fdr_br]", "[ft_br]",  "[ft_us]",  "[fth_br]", "[fth_us]",        "[fur_us]",   "[gal_wi]",
    "[gil_br]", "[hd_i]",   "[hnsf'U]", "[hp'_C]",  "[hp'_M]",         "[hp'_Q]",    "[hp'_X]",
    "[hp_C]",   "[hp_M]",   "[hp_Q]",   "[hp_X]",   "[in_br]",         "[in_i'H2O]", "[in_i'Hg]",
    "[in_us]",  "[kn_br]",  "[kp_C]",   "[kp_M]",   "[kp_Q]",          "[kp_X]",     "[lb_ap]",
    "[ligne]",  "[lk_br]",  "[lk_us]",  "[lne]",    "[m/s2/Hz^(1/2)]", "[mesh_i]",   "[mi_br]",
    "[mi_us]",  "[mil_i]",  "[mil_us]", "[min_br]", "[min_us]",        "[nmi_br]",   "[oz_ap]",
    "[oz_m]",   "[pc_br]",  "[pca]",    "[pca_pr]", "[pied]",          "[pk_br]",    "[pk_us]",
    "[pnt]",    "[pnt_pr]", "[pouce]",  "[qt_br]",  "[rch_us]",        "[rd_br]",    "[rd_us]",
    "[rlk_us]", "[sc_ap]",  "[sct]",    "[smgy'U]", "[smi_us]",        "[srd_us]",   "[syd_i]",
    "[tb'U]",   "[twp]",    "[wood'U]", "[yd_br]",  "[yd_us]",         "att",        "b",
    "bit_s",    "sph",
});
constexpr auto kUnsizedMetric = std::to_array<std::string_view>({
    "B[10.nV]", "B[SPL]", "B[V]", "B[W]", "B[kW]", "B[mV]", "B[uV]", "Bd",     "Bi",     "G",
    "Gal",      "Gb",     "Ky",   "Lmb",  "Mx",    "Oe",    "R",     "[G]",    "[c]",    "[e]",
    "[eps_0]",  "[g]",    "[h]",  "[k]",  "[ly]",  "[m_e]", "[m_p]", "[mu_0]", "cal_IT", "cal_[15]",
    "cal_[20]", "cal_m",  "eV",   "pc",   "ph",    "sb",    "st",    "tex",
});

/// One of those, also with a prefix; or one that is too small with its prefix.
bool is_unsized(std::string_view code) {
    const auto is_metric = [](std::string_view unit) {
        return std::ranges::find(kUnsizedMetric, unit) != kUnsizedMetric.end() ||
               std::ranges::any_of(
                   kAtoms, [&](const Atom& atom) { return atom.metric && atom.code == unit; });
    };
    return std::ranges::find(kUnsized, code) != kUnsized.end() || is_metric(code) ||
           std::ranges::any_of(kPrefixes, [&](const Prefix& prefix) {
               return code.starts_with(prefix.code) && is_metric(code.substr(prefix.code.size()));
           });
}

std::optional<Decimal> multiply(const std::optional<Decimal>& a, const std::optional<Decimal>& b) {
    return a && b ? Decimal::multiply(*a, *b) : std::nullopt;
}

std::optional<Unit> scaled(const Unit& unit, int exponent) {
    Decimal power{1};
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); ++i) {
        const std::optional<Decimal> next = Decimal::multiply(power, Decimal(10));
        if (!next) {
            return std::nullopt;
        }
        power = *next;
    }
    Unit result = unit;
    Decimal& side = exponent < 0 ? result.denominator : result.numerator;
    const std::optional<Decimal> product = Decimal::multiply(side, power);
    if (!product) {
        return std::nullopt;
    }
    side = *product;
    return result;
}

std::optional<Unit> unit_of(const Atom& atom, std::uint32_t index) {
    Unit unit;
    unit.numerator = *Decimal::parse(atom.numerator);
    unit.denominator = *Decimal::parse(atom.denominator);
    unit.powers = atom.powers;
    // Both spellings of the international unit are one.
    const bool international = atom.code == "[IU]";
    unit.arbitrary = atom.arbitrary ? index + 1 - (international ? 1 : 0) : 0;
    return unit;
}

std::optional<Unit> simple_unit(std::string_view code) {
    for (std::uint32_t i = 0; i < kAtoms.size(); ++i) {
        if (kAtoms[i].code == code) {
            return unit_of(kAtoms[i], i);
        }
    }
    for (const Prefix& prefix : kPrefixes) {
        if (!code.starts_with(prefix.code)) {
            continue;
        }
        const std::string_view rest = code.substr(prefix.code.size());
        for (std::uint32_t i = 0; i < kAtoms.size(); ++i) {
            if (!kAtoms[i].metric || kAtoms[i].code != rest) {
                continue;
            }
            const std::optional<Unit> unit = unit_of(kAtoms[i], i);
            if (prefix.exponent < 100) {
                return scaled(*unit, prefix.exponent);
            }
            Unit binary = *unit;  // 1024, its square and so on
            for (int k = 0; k < prefix.exponent; k += 100) {
                const std::optional<Decimal> next =
                    Decimal::multiply(binary.numerator, Decimal(1024));
                if (!next) {
                    return std::nullopt;
                }
                binary.numerator = *next;
            }
            return binary;
        }
    }
    return std::nullopt;
}

std::optional<Unit> raised(const Unit& unit, int exponent) {
    if (exponent < -kPowerMax || exponent > kPowerMax) {
        return std::nullopt;
    }
    Unit result;
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); ++i) {
        const std::optional<Unit> next = combine(result, unit, exponent < 0);
        if (!next) {
            return std::nullopt;
        }
        result = *next;
    }
    return result;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

class UnitReader {
  public:
    explicit UnitReader(std::string_view text) : text_(text) {}

    std::optional<Unit> read() {
        std::optional<Unit> unit = term(0);
        return at_ == text_.size() ? unit : std::nullopt;
    }

    /// It has a unit that nothing can be computed with: what was read is none.
    bool unsized() const noexcept { return unsized_; }

    /// It was not read to its end, since it can't be computed with.
    bool too_large() const noexcept { return too_large_; }

  private:
    bool more() const { return at_ < text_.size(); }

    std::optional<Unit> term(int depth) {
        if (depth > 8) {
            too_large_ = true;
            return std::nullopt;
        }
        Unit result;
        bool divide = more() && text_[at_] == '/';
        at_ += divide ? 1 : 0;
        while (true) {
            const std::optional<Unit> part = component(depth);
            if (!part) {
                return std::nullopt;
            }
            const std::optional<Unit> next = combine(result, *part, divide);
            if (!next) {
                too_large_ = true;
                return std::nullopt;
            }
            result = *next;
            if (!more() || (text_[at_] != '.' && text_[at_] != '/')) {
                return result;
            }
            divide = text_[at_++] == '/';
        }
    }

    // An annotation counts as one.
    bool annotation() {
        if (!more() || text_[at_] != '{') {
            return false;
        }
        const std::size_t end = text_.find('}', at_);
        if (end == std::string_view::npos) {
            return false;
        }
        at_ = end + 1;
        return true;
    }

    std::optional<Unit> component(int depth) {
        if (!more()) {
            return std::nullopt;
        }
        if (annotation()) {
            return Unit();
        }
        if (text_[at_] == '(') {
            ++at_;
            std::optional<Unit> inner = term(depth + 1);
            if (!inner || !more() || text_[at_] != ')') {
                return std::nullopt;
            }
            ++at_;
            annotation();
            return inner;
        }
        const std::size_t begin = at_;
        while (more() && text_[at_] != '.' && text_[at_] != '/' && text_[at_] != '(' &&
               text_[at_] != ')' && text_[at_] != '{') {
            if (text_[at_] == '[') {
                at_ = text_.find(']', at_);
                if (at_ == std::string_view::npos) {
                    at_ = text_.size();
                    return std::nullopt;
                }
            }
            ++at_;
        }
        const std::string_view token = text_.substr(begin, at_ - begin);
        annotation();
        return annotatable(token);
    }

    std::optional<Unit> annotatable(std::string_view token) {
        if (token.empty()) {
            return std::nullopt;
        }
        std::size_t digits = token.size();
        while (digits > 0 && is_digit(token[digits - 1])) {
            --digits;
        }
        if (digits == 0) {
            const std::optional<Decimal> factor = Decimal::parse(token);
            if (!factor || factor->is_zero()) {
                return std::nullopt;
            }
            Unit unit;
            unit.numerator = *factor;
            return unit;
        }
        int exponent = 1;
        std::string_view code = token;
        if (digits < token.size()) {
            if (token.size() - digits > 2) {
                return std::nullopt;
            }
            exponent = 0;
            for (const char c : token.substr(digits)) {
                exponent = exponent * 10 + (c - '0');
            }
            if (token[digits - 1] == '-' || token[digits - 1] == '+') {
                --digits;
                exponent = token[digits] == '-' ? -exponent : exponent;
            }
            code = token.substr(0, digits);
        }
        const std::optional<Unit> unit = simple_unit(code);
        if (!unit) {
            if (!is_unsized(code)) {
                return std::nullopt;
            }
            unsized_ = true;
            return Unit();
        }
        const std::optional<Unit> power = exponent == 1 ? unit : raised(*unit, exponent);
        too_large_ = too_large_ || !power;
        return power;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool unsized_ = false;
    bool too_large_ = false;
};

}  // namespace

std::optional<Unit> parse_unit(std::string_view text) {
    if (text.empty() || text.size() > kUnitChars) {
        return std::nullopt;
    }
    UnitReader reader(text);
    const std::optional<Unit> unit = reader.read();
    return reader.unsized() ? std::nullopt : unit;
}

bool is_unit(std::string_view text) {
    UnitReader reader(text);
    return text.size() > kUnitChars || reader.read() || reader.too_large();
}

std::optional<Decimal> convert(const Decimal& value, const Unit& from, const Unit& to) {
    if (!from.same_dimension(to)) {
        return std::nullopt;
    }
    const std::optional<Decimal> up = multiply(multiply(value, from.numerator), to.denominator);
    const std::optional<Decimal> down = Decimal::multiply(from.denominator, to.numerator);
    return up && down ? Decimal::divide(*up, *down) : std::nullopt;
}

int compare_size(const Unit& a, const Unit& b) {
    const std::optional<Decimal> x = Decimal::multiply(a.numerator, b.denominator);
    const std::optional<Decimal> y = Decimal::multiply(b.numerator, a.denominator);
    return !x || !y || *x == *y ? 0 : *x > *y ? 1 : -1;
}

std::optional<Unit> combine(const Unit& a, const Unit& b, bool divide) {
    Unit result;
    const std::optional<Decimal> up =
        Decimal::multiply(a.numerator, divide ? b.denominator : b.numerator);
    const std::optional<Decimal> down =
        Decimal::multiply(a.denominator, divide ? b.numerator : b.denominator);
    if (!up || !down) {
        return std::nullopt;
    }
    result.numerator = up->normalized();
    result.denominator = down->normalized();
    for (std::size_t i = 0; i < Unit::kDimensions; ++i) {
        const int power = a.powers[i] + (divide ? -b.powers[i] : b.powers[i]);
        if (power < -kPowerMax || power > kPowerMax) {
            return std::nullopt;
        }
        result.powers[i] = static_cast<std::int8_t>(power);
    }
    if (a.arbitrary != 0 && b.arbitrary != 0) {
        // Like units cancel; anything else has no meaning that could be compared.
        if (!divide || a.arbitrary != b.arbitrary) {
            return std::nullopt;
        }
        return result;
    }
    // An arbitrary unit below the line is another one than above it.
    constexpr std::uint32_t kBelow = 0x8000'0000;
    result.arbitrary = a.arbitrary != 0   ? a.arbitrary
                       : b.arbitrary == 0 ? 0
                                          : (divide ? b.arbitrary ^ kBelow : b.arbitrary);
    return result;
}

std::string base_text(const Unit& unit) {
    constexpr std::array<std::string_view, Unit::kDimensions> kNames{"m", "s", "g",  "rad",
                                                                     "K", "C", "cd", "mol"};
    if (unit.arbitrary != 0 || unit.numerator != unit.denominator) {
        return {};
    }
    std::string text;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (unit.powers[i] == 0) {
            continue;
        }
        text += text.empty() ? "" : ".";
        text += kNames[i];
        if (unit.powers[i] != 1) {
            text += std::to_string(unit.powers[i]);
        }
    }
    return text.empty() ? "1" : text;
}

std::string_view definite_duration(std::string_view keyword) {
    struct Row {
        std::string_view keyword;
        std::string_view code;
    };

    constexpr std::array<Row, 6> kRows{{{"week", "wk"},
                                        {"day", "d"},
                                        {"hour", "h"},
                                        {"minute", "min"},
                                        {"second", "s"},
                                        {"millisecond", "ms"}}};
    if (keyword.ends_with('s')) {
        keyword.remove_suffix(1);
    }
    for (const Row& row : kRows) {
        if (row.keyword == keyword) {
            return row.code;
        }
    }
    return {};
}

}  // namespace annals::fhirpath
