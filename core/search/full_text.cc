#include "codec/json/unicode.h"
#include "core/base/ascii.h"
#include "core/base/parts.h"
#include "core/base/text_map.h"
#include "core/search/fold.h"
#include "core/search/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace annals::core::search {

namespace {

constexpr std::size_t kWordsMax = 100;  // of one value, over all alternatives

// How much of `text` is folded at once, since fold() reads only the beginning of a text. The piece ends at the end of a
// word or, within a very long word, between two characters.
std::size_t piece_of(std::string_view text) {
    constexpr std::size_t kPieceBytes = 256;
    if (text.size() <= kPieceBytes) {
        return text.size();
    }
    const auto begin_of_character = [&](std::size_t at) {
        while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
            --at;
        }
        return at;
    };
    const std::size_t last = begin_of_character(kPieceBytes);
    std::size_t end = last;
    while (end > 0 && word_character(text.substr(end)) != 0) {
        end = begin_of_character(end - 1);
    }
    return end > 0 ? end : std::max<std::size_t>(last, 1);
}

// Appends the folded words of `text`, each followed by a blank.
void append_words(std::string_view text, std::string& out) {
    std::string folded;
    while (!text.empty()) {
        const std::size_t size = piece_of(text);
        fold(text.substr(0, size), folded);
        text.remove_prefix(size);
        std::string_view rest = folded;
        while (!rest.empty()) {
            std::size_t word = 0;
            for (std::size_t one = 1; one > 0 && word < rest.size(); word += one) {
                one = word_character(rest.substr(word));
            }
            out += rest.substr(0, word);
            if (!out.ends_with(' ')) {
                out += ' ';
            }
            rest.remove_prefix(std::min(rest.size(), word + 1));
        }
        if (!out.ends_with(' ')) {
            out += ' ';
        }
    }
}

// XHTML's named letters (HTML 4.01, section 24), which may be part of a word; 0: unknown.
std::uint32_t letter_of(std::string_view name) {
    struct Letters {
        std::uint32_t first;
        std::string_view names;  // of consecutive characters; -: no name
    };

    static constexpr Letters kLetters[] = {
        {0xAA, "ordf"},
        {0xB5, "micro"},
        {0xBA, "ordm"},
        {0xC0,
         "Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave "
         "Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml - Oslash Ugrave Uacute "
         "Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave "
         "eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml - "
         "oslash ugrave uacute ucirc uuml yacute thorn yuml"},
        {0x152, "OElig oelig"},
        {0x160, "Scaron scaron"},
        {0x178, "Yuml"},
        {0x391,
         "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho "
         "- Sigma Tau Upsilon Phi Chi Psi Omega"},
        {0x3B1,
         "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
         "sigmaf sigma tau upsilon phi chi psi omega"},
    };
    static const auto letters = [] {
        TextMap<std::uint32_t, std::string_view> all;
        for (const Letters& some : kLetters) {
            std::uint32_t letter = some.first;
            for (std::string_view rest = some.names; !rest.empty(); ++letter) {
                all.emplace(take_until(rest, ' '), letter);
            }
        }
        return all;
    }();
    const auto found = letters.find(name);
    return found == letters.end() ? 0 : found->second;
}

// `name` is what is between `&` and `;`. An unknown name separates words.
void append_entity(std::string_view name, std::string& out) {
    if (const std::uint32_t letter = letter_of(name); letter != 0) {
        json::append_utf8(out, letter);
        return;
    }
    if (name.starts_with('#')) {
        const bool hex = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
        const std::string_view digits = name.substr(hex ? 2 : 1);
        std::uint32_t c = 0;
        const auto read =
            std::from_chars(digits.data(), digits.data() + digits.size(), c, hex ? 16 : 10);
        const bool surrogate = c >= 0xD800 && c < 0xE000;
        if (read.ec == std::errc() && c > 0 && c < 0x110000 && !surrogate) {
            json::append_utf8(out, c);
            return;
        }
    }
    out += ' ';
}

// The end of the entity whose ampersand is at `at`; npos if it isn't one.
std::size_t end_of_entity(std::string_view xhtml, std::size_t at) {
    const auto is_of_name = [](char c) { return is_letter_or_digit(c) || c == '#'; };
    std::size_t end = at + 1;
    while (end < xhtml.size() && is_of_name(xhtml[end])) {
        ++end;
    }
    return end < xhtml.size() && xhtml[end] == ';' ? end : std::string_view::npos;
}

// A narrative's text: its markup separates words.
std::string plain_text(std::string_view xhtml) {
    std::string out;
    out.reserve(xhtml.size());
    for (std::size_t i = 0; i < xhtml.size();) {
        const char c = xhtml[i];
        const std::size_t end = c == '<'   ? xhtml.find('>', i)
                                : c == '&' ? end_of_entity(xhtml, i)
                                           : std::string_view::npos;
        if (c == '<') {
            out += ' ';
            i = end == std::string_view::npos ? xhtml.size() : end + 1;
        } else if (end != std::string_view::npos) {
            append_entity(xhtml.substr(i + 1, end - i - 1), out);
            i = end + 1;
        } else {
            out += c;
            ++i;
        }
    }
    return out;
}

// The words of every string below `value`.
void append_strings(json::Value value, bool is_narrative, std::string& out) {
    if (value.is_string()) {
        const std::string text = value.string();
        append_words(is_narrative ? plain_text(text) : text, out);
    }
    for (const json::Value element : value.elements()) {
        append_strings(element, false, out);
    }
    for (const auto [key, member] : value.members()) {
        append_strings(member, key.equals("div"), out);
    }
}

// What a text must contain.
struct WantedText {
    enum class Kind : std::uint8_t {
        phrase,
        all_of,
        any_of,
    };

    Kind kind = Kind::phrase;
    std::string phrase;  ///< words, each followed by a blank, and a blank before
    std::vector<WantedText> parts;
};

// Reads words and quoted phrases with AND, OR or nothing between them. Parentheses group them; AND binds more closely.
class WantedTextReader {
  public:
    explicit WantedTextReader(std::string_view name) : name_(name) {}

    // Reads one of the alternatives of a value.
    Result<WantedText> read(std::string_view text) {
        rest_ = text;
        ANNALS_TRY(WantedText wanted, any_of(0));
        return rest_.empty() ? Result<WantedText>(std::move(wanted))
                             : bad_value(name_, "a parenthesis is not opened");
    }

  private:
    static constexpr std::size_t kLevelsMax = 50;

    Error lacking() const {
        return bad_value(name_, fmt::format("1 to {} words or quoted phrases are needed, with AND "
                                            "or OR between them or nothing",
                                            kWordsMax));
    }

    // The text up to the next separator, after blanks; empty at a quotation mark, a parenthesis or the end.
    std::string_view next_word() {
        rest_.remove_prefix(std::min(rest_.size(), rest_.find_first_not_of(' ')));
        return rest_.substr(0, rest_.find_first_of(" \"()"));
    }

    Result<WantedText> any_of(std::size_t level) {
        WantedText wanted{WantedText::Kind::any_of, {}, {}};
        for (;;) {
            ANNALS_TRY(WantedText part, all_of(level));
            wanted.parts.push_back(std::move(part));
            if (next_word() != "OR") {
                return wanted;
            }
            rest_.remove_prefix(2);
        }
    }

    Result<WantedText> all_of(std::size_t level) {
        WantedText wanted{WantedText::Kind::all_of, {}, {}};
        for (;;) {
            const std::string_view word = next_word();
            if (rest_.empty() || rest_.front() == ')' || word == "OR") {
                break;
            }
            rest_.remove_prefix(word.size());
            // The standard's own example writes it in lower case.
            if (word == "AND" || word == "and") {
                continue;
            }
            ANNALS_TRY(WantedText part, word.empty() ? enclosed(level) : phrase(word));
            if (part.kind != WantedText::Kind::phrase || part.phrase.size() > 1) {
                wanted.parts.push_back(std::move(part));
            }
        }
        return wanted.parts.empty() ? Result<WantedText>(lacking()) : std::move(wanted);
    }

    // What stands between quotation marks or parentheses.
    Result<WantedText> enclosed(std::size_t level) {
        const bool is_phrase = rest_.front() == '"';
        rest_.remove_prefix(1);
        if (is_phrase) {
            const std::size_t size = rest_.find('"');
            if (size == std::string_view::npos) {
                return bad_value(name_, "a quotation mark is not closed");
            }
            const std::string_view quoted = rest_.substr(0, size);
            rest_.remove_prefix(size + 1);
            return phrase(quoted);
        }
        if (level == kLevelsMax) {
            return bad_value(name_,
                             fmt::format("more than {} parentheses in each other", kLevelsMax));
        }
        ANNALS_TRY(WantedText inner, any_of(level + 1));
        if (rest_.empty()) {
            return bad_value(name_, "a parenthesis is not closed");
        }
        rest_.remove_prefix(1);
        return inner;
    }

    Result<WantedText> phrase(std::string_view text) {
        WantedText wanted{WantedText::Kind::phrase, " ", {}};
        append_words(text, wanted.phrase);
        words_ += wanted.phrase.size() > 1 ? 1 : 0;
        return words_ > kWordsMax ? Result<WantedText>(lacking()) : std::move(wanted);
    }

    std::string_view name_;
    std::string_view rest_;
    std::size_t words_ = 0;
};

bool is_found(const WantedText& wanted, const std::string& words) {
    const auto is_part_found = [&](const WantedText& part) { return is_found(part, words); };
    switch (wanted.kind) {
        case WantedText::Kind::all_of:
            return std::ranges::all_of(wanted.parts, is_part_found);
        case WantedText::Kind::any_of:
            return std::ranges::any_of(wanted.parts, is_part_found);
        case WantedText::Kind::phrase:
            break;
    }
    // Much faster than std::string::find, which stops at every blank.
    return ::memmem(words.data(), words.size(), wanted.phrase.data(), wanted.phrase.size()) !=
           nullptr;
}

}  // namespace

// search.html#all leaves text searches to the server. Here: whole words, regardless of case and accents.
Result<Plan> full_text_plan(std::string_view name, std::string_view value) {
    WantedTextReader reader(name);
    WantedText wanted{WantedText::Kind::any_of, {}, {}};
    for (const std::string_view alternative : split_unescaped(value, ',')) {
        const auto text = unescape(alternative);
        if (!text) {
            return bad_value(name, "unknown escape");
        }
        ANNALS_TRY(WantedText part, reader.read(*text));
        wanted.parts.push_back(std::move(part));
    }
    const bool narrative_only = name == "_text";
    return verified(
        everything(),
        [wanted = std::move(wanted), narrative_only](json::Value body) {
            std::string words = " ";
            if (narrative_only) {
                append_strings(body["text"]["div"], true, words);
            } else {
                append_strings(body, false, words);
            }
            return is_found(wanted, words);
        },
        narrative_only ? R"("div":)" : "");
}

}  // namespace annals::core::search
