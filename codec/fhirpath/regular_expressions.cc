// Regular expressions: matches(), matchesFull() and replaceMatches().
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "String Manipulation".

#include "codec/fhirpath/machine.h"
#include "codec/json/unicode.h"
#include "core/base/ascii.h"
#include "core/base/processor_time.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace annals::fhirpath {
namespace {

constexpr std::int64_t kPatternMemory = 1 << 20;
constexpr std::uint64_t kCompileSteps = 20'000;
constexpr std::size_t kPatternBytesMax = 4 << 10;
constexpr std::size_t kCompiledMax = 16;

re2::StringPiece piece(std::string_view text) {
    return {text.data(), text.size()};
}

// Replaces "(?<name>" by "(?P<name>", because not every RE2 knows the former.
std::string with_named_groups(std::string_view pattern) {
    std::string out;
    bool in_class = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        out += pattern[i];
        if (pattern[i] == '\\' && i + 1 < pattern.size()) {
            out += pattern[++i];
        } else if (pattern[i] == '[' || pattern[i] == ']') {
            in_class = pattern[i] == '[';
        } else if (!in_class && pattern.substr(i).starts_with("(?<")) {
            out += "?P";
            ++i;
        }
    }
    return out;
}

std::unique_ptr<re2::RE2> compile(std::string_view pattern) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_dot_nl(true);  // "single line" mode
    options.set_max_mem(kPatternMemory);
    return std::make_unique<re2::RE2>(with_named_groups(pattern), options);
}

// A substitution as RE2 writes it; none if it is invalid. $1, ${1}, ${name} and \1 are groups; \$ is a dollar.
std::optional<std::string> rewrite_of(std::string_view substitution, const re2::RE2& regex) {
    std::string rewrite;
    for (std::size_t i = 0; i < substitution.size(); ++i) {
        const char c = substitution[i];
        const char next = i + 1 < substitution.size() ? substitution[i + 1] : '\0';
        if (c == '$' && is_digit(next)) {
            rewrite += '\\';
            continue;
        }
        if (c == '$' && next == '{') {
            const std::size_t end = substitution.find('}', i);
            if (end == std::string_view::npos) {
                return std::nullopt;
            }
            const std::string name(substitution.substr(i + 2, end - i - 2));
            const auto& groups = regex.NamedCapturingGroups();
            const auto found = groups.find(name);
            const std::string number = found == groups.end() ? name : std::to_string(found->second);
            if (number.size() != 1 || number < "0" || number > "9") {
                return std::nullopt;
            }
            rewrite.append("\\").append(number);
            i = end;
            continue;
        }
        if (c == '\\' && (next == '$' || next == '\\')) {
            rewrite += next == '$' ? "$" : "\\\\";
            ++i;
            continue;
        }
        rewrite += c;
        if (c == '\\' && !is_digit(next)) {
            rewrite += '\\';
        }
    }
    std::string problem;
    return regex.CheckRewriteString(rewrite, &problem) ? std::optional(std::move(rewrite))
                                                       : std::nullopt;
}

/// The position behind the character at `at`, or behind the end of the text.
std::size_t after_character(std::string_view text, std::size_t at) {
    do {
        ++at;
    } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
    return at;
}

/// The steps that matching takes: nothing else tells a pattern that looks at a few bytes for each match from one that looks at all,
/// or whose automaton gets a new state with each.
class StepsOfMatching {
  public:
    /// Those since the last call; what takes little is left to a later one.
    std::uint64_t taken() {
        // The processor time of a thread is a system call, which takes longer than most matches do.
        const auto now = std::chrono::steady_clock::now();
        if (now - looked_ < kLook) {
            return 0;
        }
        looked_ = now;
        const auto before = std::exchange(used_, processor_time());
        return static_cast<std::uint64_t>((used_ - before) / kTimePerStep);
    }

  private:
    static constexpr std::chrono::microseconds kLook{10};
    static constexpr std::chrono::nanoseconds kTimePerStep{50};

    std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
    std::chrono::nanoseconds used_ = processor_time();
};

}  // namespace

const re2::RE2* Machine::compiled(const Node& node, std::string_view pattern) {
    if (pattern.size() > kPatternBytesMax) {
        fail(Errc::too_costly, "a regular expression is too long");
        return nullptr;
    }
    const re2::RE2* regex = nullptr;
    for (const Pattern& known : program_->patterns) {
        if (known.argument == argument_node(node, 0)) {
            std::call_once(known.once, [&] {
                known.regex = compile(pattern);
                steps_ += kCompileSteps;
            });
            regex = known.regex.get();
        }
    }
    for (const Compiled& known : compiled_) {
        if (regex == nullptr && known.pattern == pattern) {
            regex = known.regex.get();
        }
    }
    if (regex == nullptr) {
        if (!step(kCompileSteps)) {
            return nullptr;
        }
        if (compiled_.size() == kCompiledMax) {
            compiled_.erase(compiled_.begin());
        }
        compiled_.push_back({std::string(pattern), compile(pattern)});
        regex = compiled_.back().regex.get();
    }
    if (!regex->ok()) {
        fail("no regular expression that can be used: " + regex->error());
        return nullptr;
    }
    return regex;
}

bool Machine::matches(const Node& node, std::string_view text, std::string_view pattern,
                      std::string_view substitution) {
    if (node.function == Function::replace_matches && pattern.empty()) {
        return push_text(text);
    }
    const re2::RE2* regex = compiled(node, pattern);
    if (regex == nullptr) {
        return false;
    }
    // Matching is linear in the text, at worst times the program's size.
    const auto size = static_cast<std::uint64_t>(std::max(regex->ProgramSize(), 1));
    if (!step(1 + text.size() * (1 + size / 64) / 4)) {
        return false;
    }
    if (node.function != Function::replace_matches) {
        const auto anchored =
            node.function == Function::matches_full ? re2::RE2::ANCHOR_BOTH : re2::RE2::UNANCHORED;
        return push(Item::boolean(regex->Match(piece(text), 0, text.size(), anchored, nullptr, 0)));
    }
    const std::optional<std::string> rewrite = rewrite_of(substitution, *regex);
    if (!rewrite) {
        return fail("an invalid substitution");
    }
    // Each byte can be replaced by the whole substitution: the size is checked in advance.
    if ((text.size() + 1) * (rewrite->size() + 1) > 64 * environment_->limits.string_bytes) {
        return fail(Errc::too_costly, "a string is too long");
    }
    return replace_matches(text, *regex, *rewrite);
}

bool Machine::replace_matches(std::string_view text, const re2::RE2& regex,
                              std::string_view rewrite) {
    std::array<re2::StringPiece, 10> groups;  // \0 to \9
    const int count = 1 + re2::RE2::MaxSubmatch(piece(rewrite));
    StepsOfMatching steps;
    std::string out;
    std::size_t from = 0;
    std::optional<std::size_t> last_end;
    while (from <= text.size() && regex.Match(piece(text), from, text.size(), re2::RE2::UNANCHORED,
                                              groups.data(), count)) {
        const auto begin = static_cast<std::size_t>(groups[0].data() - text.data());
        out += text.substr(from, begin - from);
        const bool is_inside_character =
            begin < text.size() && json::utf8_length(text.substr(begin)) == 0;
        if (groups[0].empty() && (begin == last_end || is_inside_character)) {
            // Nothing is no match directly after another one: RE2 goes on behind the next character, too. Inside of a character,
            // RE2 finds \B.
            from = after_character(text, begin);
            out += text.substr(begin, from - begin);
        } else {
            regex.Rewrite(&out, piece(rewrite), groups.data(), count);
            from = begin + groups[0].size();
            last_end = from;
        }
        // Each match may be looked for as far as the end of the text, as 'a.*z|a' is.
        if (!step(steps.taken())) {
            return false;
        }
    }
    out += text.substr(std::min(from, text.size()));
    // \C is any byte.
    if (!json::is_utf8(out)) {
        return fail("the result is not text");
    }
    return push_text(out);
}

}  // namespace annals::fhirpath
