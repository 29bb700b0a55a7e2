#include "codec/fhirpath/ucum.h"

#include "codec/fhirpath/ucum_units.h"
#include "core/base/ascii.h"

#include <algorithm>
#include <array>

namespace annals::fhirpath {
namespace {

constexpr std::size_t kUnitChars = 64;
constexpr int kPowerMax = 16;
constexpr std::uint32_t kCalendarMonth = 0x4000'0000;  // as Unit::arbitrary; no unit of UCUM has it

struct CalendarRow {
    std::string_view keyword;
    std::int64_t months;    // 0: it is a definite duration
    std::string_view code;  // of UCUM
};

const CalendarRow* find_calendar_row(std::string_view keyword) {
    static constexpr auto kRows = std::to_array<CalendarRow>({{"year", 12, ""},
                                                              {"month", 1, ""},
                                                              {"week", 0, "wk"},
                                                              {"day", 0, "d"},
                                                              {"hour", 0, "h"},
                                                              {"minute", 0, "min"},
                                                              {"second", 0, "s"},
                                                              {"millisecond", 0, "ms"}});
    if (keyword.ends_with('s')) {
        keyword.remove_suffix(1);
    }
    const auto* const row = std::ranges::find(kRows, keyword, &CalendarRow::keyword);
    return row == kRows.end() ? nullptr : row;
}

/// A unit that can't be computed with, also with a prefix; or one that is too small with its prefix.
bool is_unsized(std::string_view code) {
    const auto is_metric = [](std::string_view unit) {
        return std::ranges::find(unsized_metric_units(), unit) != unsized_metric_units().end() ||
               std::ranges::any_of(unit_atoms(), [&](const UnitAtom& atom) {
                   return atom.metric && atom.code == unit;
               });
    };
    return std::ranges::find(unsized_units(), code) != unsized_units().end() || is_metric(code) ||
           std::ranges::any_of(unit_prefixes(), [&](const UnitPrefix& prefix) {
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

std::optional<Unit> unit_of(const UnitAtom& atom, std::uint32_t index) {
    Unit unit;
    unit.numerator = *Decimal::parse(atom.numerator);
    unit.denominator = *Decimal::parse(atom.denominator);
    unit.powers = atom.powers;
    // Both spellings of the international unit are the same.
    const bool international = atom.code == "[IU]";
    unit.arbitrary = atom.arbitrary ? index + 1 - (international ? 1 : 0) : 0;
    return unit;
}

std::optional<Unit> simple_unit(std::string_view code) {
    const std::span<const UnitAtom> atoms = unit_atoms();
    for (std::uint32_t i = 0; i < atoms.size(); ++i) {
        if (atoms[i].code == code) {
            return unit_of(atoms[i], i);
        }
    }
    for (const UnitPrefix& prefix : unit_prefixes()) {
        if (!code.starts_with(prefix.code)) {
            continue;
        }
        const std::string_view rest = code.substr(prefix.code.size());
        for (std::uint32_t i = 0; i < atoms.size(); ++i) {
            if (!atoms[i].metric || atoms[i].code != rest) {
                continue;
            }
            const std::optional<Unit> unit = unit_of(atoms[i], i);
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

class UnitReader {
  public:
    explicit UnitReader(std::string_view text) : text_(text) {}

    std::optional<Unit> read() {
        std::optional<Unit> unit = term(0);
        return at_ == text_.size() ? unit : std::nullopt;
    }

    /// It has a unit that can't be computed with; what was parsed is not usable.
    bool unsized() const noexcept { return unsized_; }

    /// Parsing stopped early, because it is too large to compute with.
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

    // An annotation counts as a factor of one.
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

std::optional<int> compare_size(const Unit& a, const Unit& b) {
    const std::optional<Decimal> x = Decimal::multiply(a.numerator, b.denominator);
    const std::optional<Decimal> y = Decimal::multiply(b.numerator, a.denominator);
    if (!x || !y) {
        return std::nullopt;
    }
    return *x == *y ? 0 : *x > *y ? 1 : -1;
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
        // Equal arbitrary units cancel; any other combination could not be compared.
        if (!divide || a.arbitrary != b.arbitrary) {
            return std::nullopt;
        }
        return result;
    }
    // An arbitrary unit in the denominator differs from the same in the numerator.
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

bool is_calendar_keyword(std::string_view word) {
    return find_calendar_row(word) != nullptr;
}

std::optional<Unit> calendar_unit(std::string_view keyword) {
    const CalendarRow* const row = find_calendar_row(keyword);
    if (row == nullptr || row->months == 0) {
        return row == nullptr ? std::nullopt : parse_unit(row->code);
    }
    Unit unit;
    unit.numerator = Decimal(row->months);
    unit.arbitrary = kCalendarMonth;
    return unit;
}

}  // namespace annals::fhirpath
