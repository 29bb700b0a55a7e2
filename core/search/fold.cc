#include "core/search/fold.h"

#include "core/base/ascii.h"

#include <immintrin.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace annals::core::search {

namespace {

/// 0: white space; otherwise the folded ASCII character.
constexpr std::array<char, 128> kAscii = [] {
    std::array<char, 128> table{};
    for (int c = 0; c < 128; ++c) {
        const bool blank = c <= ' ' || c == 0x7f;
        const char lower = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
        table[static_cast<std::size_t>(c)] = blank ? '\0' : lower;
    }
    return table;
}();

/// Fast path for a text of printable ASCII with single blanks between words, as most are. False, and `folded` is
/// unspecified, for any other or a short text.
bool fold_plain(std::string_view text, std::string& folded) {
    constexpr std::size_t kBlock = 16;
    if (text.size() < kBlock || text.size() > kFoldedCharsMax || text.front() == ' ' ||
        text.back() == ' ') {
        return false;
    }
    folded.resize(text.size());
    const auto load = [&](std::size_t at) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    };
    const __m128i blank = _mm_set1_epi8(' ');
    __m128i wrong = _mm_setzero_si128();
    // The last block overlaps the previous one.
    for (std::size_t at = 0;; at = std::min(at + kBlock, text.size() - kBlock)) {
        const __m128i block = load(at);
        // Bytes beyond ASCII are negative.
        wrong = _mm_or_si128(wrong, _mm_cmplt_epi8(block, blank));
        wrong = _mm_or_si128(wrong, _mm_cmpeq_epi8(block, _mm_set1_epi8(0x7f)));
        const __m128i before = at == 0 ? _mm_slli_si128(block, 1) : load(at - 1);
        const __m128i both =
            _mm_and_si128(_mm_cmpeq_epi8(block, blank), _mm_cmpeq_epi8(before, blank));
        wrong = _mm_or_si128(wrong, both);
        const __m128i upper = _mm_and_si128(_mm_cmpgt_epi8(block, _mm_set1_epi8('A' - 1)),
                                            _mm_cmplt_epi8(block, _mm_set1_epi8('Z' + 1)));
        const __m128i lower = _mm_or_si128(block, _mm_and_si128(upper, blank));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(folded.data() + at), lower);
        if (at + kBlock == text.size()) {
            return _mm_movemask_epi8(wrong) == 0;
        }
    }
}

/// Folds the leading ASCII characters of `text`, at most kFoldedCharsMax, into `folded`. Returns how many they are;
/// `blank`: a blank is due before the next character.
std::size_t fold_ascii(std::string_view text, std::string& folded, bool& blank) {
    text = text.substr(0, kFoldedCharsMax);
    folded.resize(text.size());
    char* out = folded.data();
    blank = false;
    std::size_t at = 0;
    for (; at < text.size() && static_cast<unsigned char>(text[at]) < 0x80; ++at) {
        const char c = kAscii[static_cast<unsigned char>(text[at])];
        if (c == 0) {
            blank = out != folded.data();
            continue;
        }
        if (blank) {
            *out++ = ' ';
            blank = false;
        }
        *out++ = c;
    }
    folded.resize(static_cast<std::size_t>(out - folded.data()));
    return at;
}

/// Appends characters and collapses white space.
class Out {
  public:
    Out(std::string& text, bool blank) : text_(text), blank_(blank) {}

    void blank() { blank_ = !text_.empty(); }

    void separate() {
        if (blank_) {
            text_ += ' ';
            blank_ = false;
        }
    }

    void ascii(char c) {
        const char folded = kAscii[static_cast<unsigned char>(c)];
        if (folded == 0) {
            blank();
        } else {
            separate();
            text_ += folded;
        }
    }

    void character(utf8proc_int32_t c) {
        if (c < 0x80) {
            ascii(static_cast<char>(c));
            return;
        }
        separate();
        if (const std::string_view written = written_out(c); !written.empty()) {
            text_ += written;
            return;
        }
        std::array<utf8proc_uint8_t, 4> bytes;
        const auto size = utf8proc_encode_char(c, bytes.data());
        text_.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
    }

  private:
    /// Latin letters with a stroke, and ligatures, have no decomposition and are often typed without.
    static std::string_view written_out(utf8proc_int32_t c) {
        switch (c) {
            case 0x00e6:
                return "ae";
            case 0x00f0:
            case 0x0111:
                return "d";
            case 0x00f8:
                return "o";
            case 0x00fe:
                return "th";
            case 0x0127:
                return "h";
            case 0x0131:
                return "i";
            case 0x0142:
                return "l";
            case 0x0153:
                return "oe";
            case 0x0167:
                return "t";
            default:
                return {};
        }
    }

    std::string& text_;
    bool blank_;
};

bool is_mark(utf8proc_category_t category) {
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME;
}

bool is_blank(utf8proc_category_t category) {
    return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP || category == UTF8PROC_CATEGORY_CC;
}

// The categories are consecutive: punctuation from PC to PO, symbols from SM to SO.
bool is_punctuation_or_symbol(utf8proc_category_t category) {
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_SO;
}

}  // namespace

void fold(std::string_view text, std::string& folded) {
    if (fold_plain(text, folded)) {
        return;
    }
    bool blank = false;
    std::size_t at = fold_ascii(text, folded, blank);
    Out out(folded, blank);
    for (std::size_t count = at; at < text.size() && count < kFoldedCharsMax; ++count) {
        if (static_cast<unsigned char>(text[at]) < 0x80) {
            out.ascii(text[at++]);
            continue;
        }
        utf8proc_int32_t c = 0;
        const auto size =
            utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                             static_cast<utf8proc_ssize_t>(text.size() - at), &c);
        if (size <= 0) {
            ++at;
            continue;
        }
        at += static_cast<std::size_t>(size);
        // Character by character: marks are dropped, so their order doesn't matter.
        std::array<utf8proc_int32_t, 32> parts;
        int boundary = 0;
        const auto decomposed = utf8proc_decompose_char(
            c, parts.data(), static_cast<utf8proc_ssize_t>(parts.size()),
            static_cast<utf8proc_option_t>(UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE |
                                           UTF8PROC_CASEFOLD | UTF8PROC_IGNORE),
            &boundary);
        const auto parts_count = std::clamp<utf8proc_ssize_t>(
            decomposed, 0, static_cast<utf8proc_ssize_t>(parts.size()));
        for (utf8proc_ssize_t i = 0; i < parts_count; ++i) {
            const utf8proc_int32_t part = parts[static_cast<std::size_t>(i)];
            const utf8proc_category_t category = utf8proc_category(part);
            if (is_blank(category)) {
                out.blank();
            } else if (!is_mark(category)) {
                out.character(part);
            }
        }
    }
}

std::string fold(std::string_view text) {
    std::string folded;
    fold(text, folded);
    return folded;
}

std::size_t word_character(std::string_view text) {
    const char first = text.front();
    if (static_cast<unsigned char>(first) < 0x80) {
        return is_letter_or_digit(first) ? 1 : 0;
    }
    utf8proc_int32_t c = 0;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &c);
    if (size <= 0) {
        return 0;
    }
    const utf8proc_category_t category = utf8proc_category(c);
    return is_blank(category) || is_punctuation_or_symbol(category)
               ? 0
               : static_cast<std::size_t>(size);
}

}  // namespace annals::core::search
