#include "core/base/instant.h"

#include "core/base/ascii.h"
#include "core/base/calendar.h"

#include <array>
#include <chrono>
#include <cstring>
#include <optional>

namespace annals {
namespace {

constexpr std::int64_t kMillisecond = 1'000;
constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

bool is_date(std::int64_t year, unsigned month, unsigned day) noexcept {
    using namespace std::chrono;
    return year_month_day{std::chrono::year{static_cast<int>(year)}, std::chrono::month{month},
                          std::chrono::day{day}}
        .ok();
}

struct Civil {
    int year;
    unsigned month, day, hour, minute, second, microsecond, weekday;
};

Civil civil_of(Instant instant) noexcept {
    using namespace std::chrono;
    const sys_time<microseconds> time{microseconds{instant.us}};
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{time - day};
    return {static_cast<int>(date.year()),
            static_cast<unsigned>(date.month()),
            static_cast<unsigned>(date.day()),
            static_cast<unsigned>(clock.hours().count()),
            static_cast<unsigned>(clock.minutes().count()),
            static_cast<unsigned>(clock.seconds().count()),
            static_cast<unsigned>(clock.subseconds().count()),
            weekday{day}.c_encoding()};
}

constexpr std::array<std::array<char, 2>, 100> kPairsOfDigits = [] {
    std::array<std::array<char, 2>, 100> pairs{};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i] = {static_cast<char>('0' + i / 10), static_cast<char>('0' + i % 10)};
    }
    return pairs;
}();

void put_two(char*& out, unsigned value) noexcept {
    std::memcpy(out, kPairsOfDigits[value % 100].data(), 2);
    out += 2;
}

void put_three(char*& out, unsigned value) noexcept {
    *out++ = static_cast<char>('0' + value / 100);
    put_two(out, value);
}

void put_four(char*& out, unsigned value) noexcept {
    put_two(out, value / 100);
    put_two(out, value);
}

// Reads fixed runs of digits and single characters; remembers the first mismatch.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}

    bool done() const noexcept { return at_ == text_.size(); }

    bool next_is(char c) const noexcept { return at_ < text_.size() && text_[at_] == c; }

    bool take(char c) noexcept {
        if (!next_is(c)) {
            return false;
        }
        ++at_;
        return true;
    }

    bool take(std::string_view literal) noexcept {
        if (text_.substr(at_, literal.size()) != literal) {
            return false;
        }
        at_ += literal.size();
        return true;
    }

    std::optional<unsigned> digits(std::size_t count) noexcept {
        if (text_.size() - at_ < count) {
            return std::nullopt;
        }
        unsigned value = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const char c = text_[at_ + i];
            if (c < '0' || c > '9') {
                return std::nullopt;
            }
            value = value * 10 + static_cast<unsigned>(c - '0');
        }
        at_ += count;
        return value;
    }

    // One or more digits of a fraction as microseconds, and the width of the range that they mean.
    std::optional<std::pair<std::int64_t, std::int64_t>> fraction() noexcept {
        std::int64_t value = 0;
        std::int64_t unit = kSecond;
        std::size_t count = 0;
        while (at_ < text_.size() && is_digit(text_[at_])) {
            if (unit > 1) {
                unit /= 10;
                value += (text_[at_] - '0') * unit;
            }
            ++at_;
            ++count;
        }
        if (count == 0) {
            return std::nullopt;
        }
        return std::pair{value, unit};
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
};

// Z or +hh:mm or -hh:mm, as microseconds to add to UTC; a blank counts as '+'.
std::optional<std::int64_t> read_zone(Scanner& scanner) noexcept {
    if (scanner.take('Z')) {
        return 0;
    }
    std::int64_t sign = 1;
    if (scanner.take('-')) {
        sign = -1;
    } else if (!scanner.take('+') && !scanner.take(' ')) {
        return std::nullopt;
    }
    const auto hours = scanner.digits(2);
    if (!hours || !scanner.take(':')) {
        return std::nullopt;
    }
    const auto minutes = scanner.digits(2);
    if (!minutes || *hours > 14 || *minutes > 59 || (*hours == 14 && *minutes != 0)) {
        return std::nullopt;
    }
    return sign * (*hours * 60 + *minutes) * 60 * kSecond;
}

Error bad(std::string_view text, std::string_view kind) {
    std::string shown(text.substr(0, 64));
    return {Errc::value, "'" + shown + "' is not a " + std::string(kind)};
}

constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> kLongDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

template <std::size_t N>
std::optional<unsigned> take_name(Scanner& scanner,
                                  const std::array<std::string_view, N>& names) noexcept {
    for (unsigned i = 0; i < N; ++i) {
        if (scanner.take(names[i])) {
            return i;
        }
    }
    return std::nullopt;
}

struct Clock {
    unsigned hour, minute, second;
};

std::optional<Clock> take_clock(Scanner& scanner) noexcept {
    const auto hour = scanner.digits(2);
    if (!hour || !scanner.take(':')) {
        return std::nullopt;
    }
    const auto minute = scanner.digits(2);
    if (!minute || !scanner.take(':')) {
        return std::nullopt;
    }
    const auto second = scanner.digits(2);
    if (!second || *hour > 23 || *minute > 59 || *second > 60) {
        return std::nullopt;
    }
    return Clock{*hour, *minute, *second};
}

std::int64_t microseconds_of(const Clock& clock) noexcept {
    return ((static_cast<std::int64_t>(clock.hour) * 60 + clock.minute) * 60 + clock.second) *
           kSecond;
}

// Reads "YYYY-MM-DDThh:mm:ss.mmmZ" and the same without a fraction, as nearly all instants are written; none for any other
// form.
std::optional<InstantRange> read_usual(std::string_view text) noexcept {
    constexpr std::size_t kWithFraction = 24;
    constexpr std::size_t kWithout = 20;
    const bool precise = text.size() == kWithFraction;
    if ((!precise && text.size() != kWithout) || text.back() != 'Z' || text[4] != '-' ||
        text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' ||
        text[19] != (precise ? '.' : 'Z')) {
        return std::nullopt;
    }
    bool wrong = false;
    const auto digit = [&](std::size_t at) {
        const auto value = static_cast<unsigned>(text[at] - '0');
        wrong |= value > 9;
        return value;
    };
    const auto two = [&](std::size_t at) { return digit(at) * 10 + digit(at + 1); };
    const unsigned year = two(0) * 100 + two(2);
    const unsigned month = two(5);
    const unsigned day = two(8);
    const Clock clock{two(11), two(14), two(17)};
    const unsigned millisecond = precise ? two(20) * 10 + digit(22) : 0;
    if (wrong || year == 0 || !is_date(year, month, day) || clock.hour > 23 || clock.minute > 59 ||
        clock.second > 60) {
        return std::nullopt;
    }
    const std::int64_t begin =
        days_of(year, month, day) * kDay + microseconds_of(clock) + millisecond * kMillisecond;
    return InstantRange{{begin}, {begin + (precise ? kMillisecond : kSecond)}};
}

}  // namespace

Instant now() noexcept {
    using namespace std::chrono;
    return {duration_cast<microseconds>(system_clock::now().time_since_epoch()).count()};
}

void write_instant(Instant instant, char* out) noexcept {
    const Civil civil = civil_of(instant);
    put_four(out, static_cast<unsigned>(civil.year));
    *out++ = '-';
    put_two(out, civil.month);
    *out++ = '-';
    put_two(out, civil.day);
    *out++ = 'T';
    put_two(out, civil.hour);
    *out++ = ':';
    put_two(out, civil.minute);
    *out++ = ':';
    put_two(out, civil.second);
    *out++ = '.';
    put_three(out, civil.microsecond / 1000);
    *out = 'Z';
}

std::string format_instant(Instant instant) {
    std::string text(kInstantChars, '\0');
    write_instant(instant, text.data());
    const auto below_ms = static_cast<unsigned>(((instant.us % 1000) + 1000) % 1000);
    if (below_ms != 0) {
        text.resize(kInstantChars + 3);
        char* out = text.data() + kInstantChars - 1;
        put_three(out, below_ms);
        *out = 'Z';
    }
    return text;
}

Result<Instant> parse_instant(std::string_view text) {
    // Instants that are stored must have a year of four digits.
    const auto is_kept = [](Instant instant) {
        return instant.us >= days_of(1, 1, 1) * kDay && instant.us < days_of(10'000, 1, 1) * kDay;
    };
    if (const auto usual = read_usual(text); usual && is_kept(usual->begin)) {
        return usual->begin;
    }
    // The shortest instant is a full date, a time to the second and a zone.
    if (text.size() < 20) {
        return bad(text, "FHIR instant");
    }
    auto range = parse_date_time(text);
    const bool zoned = text.back() == 'Z' || text[text.size() - 3] == ':';
    const bool plus_lost = text.find(' ') != std::string_view::npos;
    if (!range || !zoned || plus_lost ||
        text.substr(10).find_first_of("Z+-") == std::string_view::npos) {
        return bad(text, "FHIR instant");
    }
    return is_kept(range->begin) ? Result<Instant>(range->begin) : bad(text, "FHIR instant");
}

Result<InstantRange> parse_date_time(std::string_view text) {
    if (const auto usual = read_usual(text)) {
        return *usual;
    }
    Scanner scanner(text);
    const auto year = scanner.digits(4);
    if (!year || *year == 0) {
        return bad(text, "FHIR date-time");
    }
    if (scanner.done()) {
        return InstantRange{{days_of(*year, 1, 1) * kDay},
                            {days_of(std::int64_t{*year} + 1, 1, 1) * kDay}};
    }
    const auto month = scanner.take('-') ? scanner.digits(2) : std::nullopt;
    if (!month || *month < 1 || *month > 12) {
        return bad(text, "FHIR date-time");
    }
    if (scanner.done()) {
        const std::int64_t end =
            *month == 12 ? days_of(std::int64_t{*year} + 1, 1, 1) : days_of(*year, *month + 1, 1);
        return InstantRange{{days_of(*year, *month, 1) * kDay}, {end * kDay}};
    }
    const auto day = scanner.take('-') ? scanner.digits(2) : std::nullopt;
    if (!day || !is_date(*year, *month, *day)) {
        return bad(text, "FHIR date-time");
    }
    std::int64_t begin = days_of(*year, *month, *day) * kDay;
    if (scanner.done()) {
        return InstantRange{{begin}, {begin + kDay}};
    }
    const auto clock = scanner.take('T') ? take_clock(scanner) : std::nullopt;
    if (!clock) {
        return bad(text, "FHIR date-time");
    }
    begin += microseconds_of(*clock);
    std::int64_t width = kSecond;
    if (scanner.take('.')) {
        const auto fraction = scanner.fraction();
        if (!fraction) {
            return bad(text, "FHIR date-time");
        }
        begin += fraction->first;
        width = fraction->second;
    }
    if (!scanner.done()) {
        const auto zone = read_zone(scanner);
        if (!zone || !scanner.done()) {
            return bad(text, "FHIR date-time");
        }
        begin -= *zone;
    }
    return InstantRange{{begin}, {begin + width}};
}

void write_http_date(Instant instant, char* out) noexcept {
    const Civil civil = civil_of(instant);
    const auto word = [&out](std::string_view letters) {
        letters.copy(out, letters.size());
        out += letters.size();
    };
    word(kDays[civil.weekday]);
    word(", ");
    put_two(out, civil.day);
    word(" ");
    word(kMonths[civil.month - 1]);
    word(" ");
    put_four(out, static_cast<unsigned>(civil.year));
    word(" ");
    put_two(out, civil.hour);
    word(":");
    put_two(out, civil.minute);
    word(":");
    put_two(out, civil.second);
    word(" GMT");
}

std::string format_http_date(Instant instant) {
    std::string text(kHttpDateChars, ' ');
    write_http_date(instant, text.data());
    return text;
}

Result<Instant> parse_http_date(std::string_view text) {
    Scanner scanner(text);
    std::optional<unsigned> year, month, day;
    std::optional<Clock> clock;
    const bool long_form = [&] {
        Scanner probe(text);
        return take_name(probe, kLongDays).has_value();
    }();
    if (long_form) {  // Sunday, 06-Nov-94 08:49:37 GMT
        take_name(scanner, kLongDays);
        day = scanner.take(", ") ? scanner.digits(2) : std::nullopt;
        month = scanner.take('-') ? take_name(scanner, kMonths) : std::nullopt;
        const auto short_year = scanner.take('-') ? scanner.digits(2) : std::nullopt;
        if (short_year) {
            year = *short_year + (*short_year < 70 ? 2000U : 1900U);
        }
        clock = scanner.take(' ') ? take_clock(scanner) : std::nullopt;
        if (!scanner.take(" GMT")) {
            clock.reset();
        }
    } else if (take_name(scanner, kDays)) {
        if (scanner.take(", ")) {  // Sun, 06 Nov 1994 08:49:37 GMT
            day = scanner.digits(2);
            month = scanner.take(' ') ? take_name(scanner, kMonths) : std::nullopt;
            year = scanner.take(' ') ? scanner.digits(4) : std::nullopt;
            clock = scanner.take(' ') ? take_clock(scanner) : std::nullopt;
            if (!scanner.take(" GMT")) {
                clock.reset();
            }
        } else if (scanner.take(' ')) {  // Sun Nov  6 08:49:37 1994
            month = take_name(scanner, kMonths);
            if (scanner.take("  ")) {
                day = scanner.digits(1);
            } else if (scanner.take(' ')) {
                day = scanner.digits(2);
            }
            clock = scanner.take(' ') ? take_clock(scanner) : std::nullopt;
            year = scanner.take(' ') ? scanner.digits(4) : std::nullopt;
        }
    }
    if (!year || !month || !day || !clock || !scanner.done() || !is_date(*year, *month + 1, *day)) {
        return bad(text, "HTTP date");
    }
    return Instant{days_of(*year, *month + 1, *day) * kDay + microseconds_of(*clock)};
}

}  // namespace annals
