// Parsing and writing of Temporals.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Date", "DateTime", "Time"; FHIR R4 datatypes.html#dateTime.

#include "codec/fhirpath/temporal.h"
#include "core/base/ascii.h"
#include "core/base/calendar.h"

namespace annals::fhirpath {
namespace {

using Precision = Temporal::Precision;

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool done() const { return at_ == text_.size(); }

    bool take(char c) {
        if (at_ < text_.size() && text_[at_] == c) {
            ++at_;
            return true;
        }
        return false;
    }

    /// Reads exactly `digits` digits, a number from `least` to `most`.
    template <typename Number>
    bool number(int digits, int least, int most, Number& out) {
        const int value = this->digits(digits);
        out = static_cast<Number>(value);
        return value >= least && value <= most;
    }

    // Reads exactly `count` digits; -1 if there are fewer.
    int digits(int count) {
        int value = 0;
        for (int i = 0; i < count; ++i) {
            if (at_ == text_.size() || text_[at_] < '0' || text_[at_] > '9') {
                return -1;
            }
            value = value * 10 + (text_[at_++] - '0');
        }
        return value;
    }

    bool fraction(Temporal& out) {
        int digits = 0;
        std::int32_t nanosecond = 0;
        while (at_ < text_.size() && is_digit(text_[at_])) {
            if (digits < 9) {
                nanosecond = nanosecond * 10 + (text_[at_] - '0');
                ++digits;
            }
            ++at_;
        }
        out.fraction_digits = static_cast<std::uint8_t>(digits);
        for (int i = digits; i < 9; ++i) {
            nanosecond *= 10;
        }
        out.nanosecond = nanosecond;
        return digits > 0;
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
};

bool read_date(Reader& reader, Temporal& out) {
    if (!reader.number(4, 1, 9999, out.year)) {
        return false;
    }
    out.precision = Precision::year;
    if (!reader.take('-')) {
        return true;
    }
    if (!reader.number(2, 1, 12, out.month)) {
        return false;
    }
    out.precision = Precision::month;
    if (!reader.take('-')) {
        return true;
    }
    const auto last = static_cast<int>(days_in_month(out.year, out.month));
    out.precision = Precision::day;
    return reader.number(2, 1, last, out.day);
}

bool read_time(Reader& reader, Temporal& out) {
    if (!reader.number(2, 0, 23, out.hour)) {
        return false;
    }
    out.precision = Precision::hour;
    if (!reader.take(':')) {
        return true;
    }
    if (!reader.number(2, 0, 59, out.minute)) {
        return false;
    }
    out.precision = Precision::minute;
    if (!reader.take(':')) {
        return true;
    }
    out.precision = Precision::second;
    return reader.number(2, 0, 59, out.second) && (!reader.take('.') || reader.fraction(out));
}

bool read_zone(Reader& reader, Temporal& out) {
    if (reader.take('Z')) {
        out.zone = 0;
        return true;
    }
    const bool west = reader.take('-');
    if (!west && !reader.take('+')) {
        return true;
    }
    const int hours = reader.digits(2);
    const bool colon = reader.take(':');
    const int minutes = reader.digits(2);
    if (hours < 0 || hours > 14 || !colon || minutes < 0 || minutes > 59 ||
        (hours == 14 && minutes != 0)) {
        return false;
    }
    const int zone = hours * 60 + minutes;
    out.zone = static_cast<std::int16_t>(west ? -zone : zone);
    return true;
}

void write_digits(char* out, std::size_t& at, int value, int digits) {
    for (int i = digits; i-- > 0;) {
        out[at + static_cast<std::size_t>(i)] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
    at += static_cast<std::size_t>(digits);
}

}  // namespace

std::optional<Temporal> parse_date(std::string_view text) {
    Reader reader(text);
    Temporal t;
    t.kind = Temporal::Kind::date;
    if (!read_date(reader, t) || !reader.done()) {
        return std::nullopt;
    }
    return t;
}

std::optional<Temporal> parse_date_time(std::string_view text) {
    Reader reader(text);
    Temporal t;
    t.kind = Temporal::Kind::date_time;
    if (!read_date(reader, t)) {
        return std::nullopt;
    }
    if (reader.take('T') && !reader.done() &&
        (t.precision != Precision::day || !read_time(reader, t) || !read_zone(reader, t))) {
        return std::nullopt;
    }
    return reader.done() ? std::optional(t) : std::nullopt;
}

std::optional<Temporal> parse_time(std::string_view text) {
    Reader reader(text);
    Temporal t;
    t.kind = Temporal::Kind::time;
    if (!read_time(reader, t) || !reader.done()) {
        return std::nullopt;
    }
    return t;
}

std::size_t Temporal::write(char* out) const {
    std::size_t at = 0;
    if (kind != Temporal::Kind::time) {
        write_digits(out, at, year, 4);
        if (precision >= Precision::month) {
            out[at++] = '-';
            write_digits(out, at, month, 2);
        }
        if (precision >= Precision::day) {
            out[at++] = '-';
            write_digits(out, at, day, 2);
        }
        if (precision >= Precision::hour) {
            out[at++] = 'T';
        }
    }
    if (precision >= Precision::hour) {
        write_digits(out, at, hour, 2);
    }
    if (precision >= Precision::minute) {
        out[at++] = ':';
        write_digits(out, at, minute, 2);
    }
    if (precision >= Precision::second) {
        out[at++] = ':';
        write_digits(out, at, second, 2);
        if (fraction_digits > 0) {
            out[at++] = '.';
            int value = nanosecond;
            for (int i = fraction_digits; i < 9; ++i) {
                value /= 10;
            }
            write_digits(out, at, value, fraction_digits);
        }
    }
    if (kind == Temporal::Kind::date_time && precision >= Precision::hour && has_zone()) {
        if (zone == 0) {
            out[at++] = 'Z';
        } else {
            const int minutes = zone < 0 ? -zone : zone;
            out[at++] = zone < 0 ? '-' : '+';
            write_digits(out, at, minutes / 60, 2);
            out[at++] = ':';
            write_digits(out, at, minutes % 60, 2);
        }
    }
    return at;
}

}  // namespace annals::fhirpath
