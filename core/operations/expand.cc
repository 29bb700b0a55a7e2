#include "core/operations/expand.h"

#include "core/base/parts.h"
#include "core/base/random.h"
#include "core/base/text_map.h"
#include "core/canonical.h"
#include "core/operations/designations.h"
#include "core/operations/input.h"
#include "core/operations/parameters_writer.h"
#include "core/operations/terminology.h"
#include "core/search/fold.h"
#include "core/terminology/expansion.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

using terminology::CodeSystem;
using terminology::Expansion;

/// Each level is an object and an array; the contents of the last one, and a Bundle around all,
/// still fit into kJsonDepthMax.
constexpr std::size_t kNestingMax = 24;

/// The size of a response for each code that an expansion may have, if that allows more than kTerminologyAnswerBytesMax.
constexpr std::size_t kBytesPerCode = 1 << 10;

/// The maximum of FHIR's integers, where every expansion ends.
constexpr std::uint64_t kIntegerMax = 2'147'483'647;

/// The request; owns all its data, because the response may be made on another thread.
struct ExpandAsked {
    Meant meant;
    std::vector<std::string> words;  ///< of the filter, folded
    std::optional<std::uint64_t> count;
    std::uint64_t offset = 0;
    bool active_only = false;
    bool designations = false;
    std::vector<std::string> designation_tokens;  ///< only these; empty: all
    bool definition = false;
    bool nested = false;
    std::string language;
    terminology::Versions versions;
    std::vector<std::string> excluded_systems;  ///< "url" or "url|version", ascending
    std::size_t codes_max = 0;
    ParametersWriter echo;  ///< the request, for expansion.parameter
};

std::vector<std::string> words_of(std::string_view filter) {
    const std::string folded = search::fold(filter);
    std::vector<std::string> words;
    for (std::string_view rest = folded; !rest.empty();) {
        if (const std::string_view word = take_until(rest, ' '); !word.empty()) {
            words.emplace_back(word);
        }
    }
    return words;
}

Result<void> read_versions(const OperationInput& input, std::string_view name,
                           TextMap<std::string>& versions, ParametersWriter& echo) {
    ANNALS_TRY(const std::vector<std::string> texts, input.texts(name));
    for (const std::string& text : texts) {
        const Canonical canonical = split_canonical(text);
        if (canonical.version.empty()) {
            return Error{Errc::invalid, fmt::format("{} must be a URL, a bar and a version", name)};
        }
        versions[std::string(canonical.url)] = canonical.version;
        echo.add_text(name, "valueUri", text);
    }
    return {};
}

Result<void> read_flag(const OperationInput& input, std::string_view name, bool& flag,
                       ParametersWriter& echo) {
    ANNALS_TRY(const std::optional<bool> given, input.boolean(name));
    if (given) {
        flag = *given;
        echo.add_flag(name, flag);
    }
    return {};
}

Result<std::optional<std::uint64_t>> read_page_number(const OperationInput& input,
                                                      std::string_view name,
                                                      ParametersWriter& echo) {
    ANNALS_TRY(std::optional<std::uint64_t> given, input.number(name));
    if (given) {
        given = std::min(*given, kIntegerMax);
        echo.add(name, "valueInteger", fmt::to_string(*given));
    }
    return given;
}

/// Reads which versions of code systems to use, and which systems to leave out.
Result<void> read_systems(const OperationInput& input, ExpandAsked& asked) {
    terminology::Versions& versions = asked.versions;
    ANNALS_TRY_VOID(read_versions(input, "system-version", versions.preferred, asked.echo));
    ANNALS_TRY_VOID(read_versions(input, "check-system-version", versions.demanded, asked.echo));
    ANNALS_TRY_VOID(read_versions(input, "force-system-version", versions.forced, asked.echo));
    ANNALS_TRY(const std::vector<std::string> excluded, input.texts("exclude-system"));
    for (const std::string& text : excluded) {
        const Canonical system = split_canonical(text);
        asked.excluded_systems.emplace_back(system.version.empty() ? system.url : text);
        asked.echo.add_text("exclude-system", "valueUri", text);
    }
    std::sort(asked.excluded_systems.begin(), asked.excluded_systems.end());
    return {};
}

Result<ExpandAsked> read_expand_asked(const Service& service, const Request& request,
                                      const Target& target) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only_beside_resource({"url",
                                                "valueSet",
                                                "valueSetVersion",
                                                "context",
                                                "contextDirection",
                                                "date",
                                                "filter",
                                                "count",
                                                "offset",
                                                "activeOnly",
                                                "displayLanguage",
                                                "includeDesignations",
                                                "designation",
                                                "includeDefinition",
                                                "excludeNested",
                                                "excludeNotForUI",
                                                "excludePostCoordinated",
                                                "system-version",
                                                "check-system-version",
                                                "force-system-version",
                                                "exclude-system"}));
    ExpandAsked asked;
    asked.codes_max = service.config().limits.max_expansion;
    ANNALS_TRY(auto meant,
               read_meant(service, target, input, "valueSet", "url", "valueSetVersion"));
    if (!meant) {
        return nothing_meant(input);
    }
    ANNALS_TRY_VOID(check_date(input));
    asked.meant = *std::move(meant);
    ParametersWriter& echo = asked.echo;
    ANNALS_TRY(const auto filter, input.text("filter"));
    if (filter) {
        asked.words = words_of(*filter);
    }
    if (!asked.words.empty()) {
        echo.add_text("filter", "valueString", *filter);
    }
    ANNALS_TRY(const auto date, input.text("date"));
    if (date) {
        echo.add_text("date", "valueDateTime", *date);
    }
    ANNALS_TRY(asked.count, read_page_number(input, "count", echo));
    ANNALS_TRY(const auto offset, read_page_number(input, "offset", echo));
    asked.offset = offset.value_or(0);
    bool exclude_nested = true;
    bool ignored = false;
    ANNALS_TRY_VOID(read_flag(input, "activeOnly", asked.active_only, echo));
    ANNALS_TRY(asked.designation_tokens, input.texts("designation"));
    for (const std::string& token : asked.designation_tokens) {
        echo.add_text("designation", "valueString", token);
    }
    asked.designations = !asked.designation_tokens.empty();
    ANNALS_TRY_VOID(read_flag(input, "includeDesignations", asked.designations, echo));
    ANNALS_TRY_VOID(read_flag(input, "includeDefinition", asked.definition, echo));
    ANNALS_TRY_VOID(read_flag(input, "excludeNested", exclude_nested, echo));
    ANNALS_TRY_VOID(read_flag(input, "excludeNotForUI", ignored, echo));
    ANNALS_TRY_VOID(read_flag(input, "excludePostCoordinated", ignored, echo));
    // Pages are cut from a list, not a tree.
    asked.nested = !exclude_nested && !asked.count && asked.offset == 0;
    ANNALS_TRY(const auto language, input.text("displayLanguage"));
    if (language) {
        asked.language = *language;
        echo.add_text("displayLanguage", "valueCode", *language);
    }
    ANNALS_TRY_VOID(read_systems(input, asked));
    return asked;
}

bool has_words(const std::vector<std::string>& words, std::string_view code,
               std::string_view display) {
    const std::string folded_code = search::fold(code);
    const std::string folded_display = search::fold(display);
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        return folded_display.find(word) != std::string::npos ||
               folded_code.find(word) != std::string::npos;
    });
}

bool leaves_out(const ExpandAsked& asked, std::string_view system, std::string_view version) {
    const auto& excluded = asked.excluded_systems;
    return !excluded.empty() && (std::binary_search(excluded.begin(), excluded.end(), system) ||
                                 std::binary_search(excluded.begin(), excluded.end(),
                                                    fmt::format("{}|{}", system, version)));
}

/// Writes one response.
class Answer {
  public:
    Answer(const ExpandAsked& asked, terminology::Session& session, const Expansion& expansion,
           json::Value value_set)
        : asked_(asked), session_(session), expansion_(expansion), value_set_(value_set) {}

    Result<std::string> make();

  private:
    std::string_view display_of(const Expansion::Entry& entry, std::string& kept) const;
    bool is_excluded(const Expansion::System& system) const;
    bool is_wanted(const Expansion::Entry& entry) const;
    void write_head();
    void write_parameters();
    Result<void> open(const Expansion::Entry& entry);
    std::vector<std::vector<std::uint32_t>> nested() const;
    Result<void> write_tree();

    const ExpandAsked& asked_;
    terminology::Session& session_;
    const Expansion& expansion_;
    json::Value value_set_;
    std::vector<bool> excluded_;         // by a system's number
    std::vector<std::uint32_t> chosen_;  // numbers of entries
    std::string out_;
};

std::string_view Answer::display_of(const Expansion::Entry& entry, std::string& kept) const {
    if (!asked_.language.empty()) {
        const CodeSystem* const content = expansion_.systems[entry.system].content.get();
        const bool is_known = content != nullptr && entry.number;
        kept = display_in(asked_.language, entry.listed,
                          is_known ? content->item(*entry.number) : json::Value(),
                          is_known ? content->root()["language"].string() : std::string());
        if (!kept.empty()) {
            return kept;
        }
    }
    return entry.display;
}

bool Answer::is_excluded(const Expansion::System& system) const {
    const std::string_view version = system.version.empty() && system.content != nullptr
                                         ? system.content->version()
                                         : std::string_view(system.version);
    return leaves_out(asked_, system.url, version);
}

bool Answer::is_wanted(const Expansion::Entry& entry) const {
    if ((asked_.active_only && entry.inactive) || excluded_[entry.system]) {
        return false;
    }
    std::string kept;
    return asked_.words.empty() || has_words(asked_.words, entry.code, display_of(entry, kept));
}

void Answer::write_head() {
    static constexpr std::string_view kAlways[] = {
        "language", "url",    "identifier",   "version", "name",
        "title",    "status", "experimental", "date",    "publisher"};
    static constexpr std::string_view kNever[] = {"resourceType", "id",        "meta", "text",
                                                  "contained",    "expansion", "_text"};
    out_ = R"({"resourceType":"ValueSet")";
    bool has_status = false;
    for (const auto [key, value] : value_set_.members()) {
        const std::string_view name = key.raw_string();
        const bool always =
            std::find(std::begin(kAlways), std::end(kAlways), name) != std::end(kAlways);
        const bool never =
            std::find(std::begin(kNever), std::end(kNever), name) != std::end(kNever);
        if (always || (asked_.definition && !never)) {
            out_.append(",").append(key.raw()).append(":").append(value.raw());
            has_status = has_status || name == "status";
        }
    }
    if (!has_status) {
        out_ += R"(,"status":"active")";
    }
}

void Answer::write_parameters() {
    ParametersWriter parameters = asked_.echo;
    for (const auto& [name, canonical] : expansion_.used) {
        parameters.add_text(name, "valueUri", canonical);
    }
    if (!parameters.empty()) {
        out_.append(R"(,"parameter":)").append(parameters.list());
    }
}

// Writes all of an entry except its nested entries and the closing brace.
Result<void> Answer::open(const Expansion::Entry& entry) {
    const Expansion::System& system = expansion_.systems[entry.system];
    const json::Value item =
        system.content && entry.number ? system.content->item(*entry.number) : json::Value();
    const std::size_t before = out_.size();
    out_ += '{';
    if (!system.url.empty()) {
        out_ += R"("system":)";
        json::append_quoted(out_, system.url);
        out_ += ',';
    }
    out_ += entry.is_abstract ? R"("abstract":true,)" : "";
    out_ += entry.inactive ? R"("inactive":true,)" : "";
    if (!system.version.empty()) {
        out_.append(R"("version":)").append(json::quoted(system.version)).append(",");
    }
    out_ += R"("code":)";
    json::append_quoted(out_, entry.code);
    std::string kept;
    const std::string_view display = display_of(entry, kept);
    if (!display.empty()) {
        out_ += R"(,"display":)";
        json::append_quoted(out_, display);
    }
    if (asked_.designations) {
        const std::size_t designations =
            entry.listed["designation"].size() + item["designation"].size();
        ANNALS_TRY_VOID(
            session_.effort().spend(designations * (1 + asked_.designation_tokens.size())));
        append_designations(out_, entry.listed, item, asked_.designation_tokens);
    }
    return count_written(session_.effort(), before, out_.size(),
                         std::max(kTerminologyAnswerBytesMax, asked_.codes_max * kBytesPerCode));
}

// For each chosen entry, the indexes of those inside it; the last list has those at the top. Each is inside its nearest
// ancestor that is also chosen; next to it if that would nest too deep.
std::vector<std::vector<std::uint32_t>> Answer::nested() const {
    constexpr std::uint32_t kTop = 0xffff'ffff;
    std::vector<std::uint32_t> place(expansion_.entries.size(), kTop);  // index among the chosen
    for (std::uint32_t i = 0; i < chosen_.size(); ++i) {
        place[chosen_[i]] = i;
    }
    std::vector<std::vector<std::uint32_t>> below(chosen_.size() + 1);
    std::vector<std::uint32_t> above(chosen_.size(), kTop);
    std::vector<std::size_t> depth(chosen_.size(), 0);
    for (std::uint32_t i = 0; i < chosen_.size(); ++i) {
        const Expansion::Entry& entry = expansion_.entries[chosen_[i]];
        const Expansion::System& system = expansion_.systems[entry.system];
        std::uint32_t parent = kTop;
        std::optional<CodeSystem::Number> at = entry.number;
        for (std::size_t step = 0; at && parent == kTop && step < kJsonDepthMax; ++step) {
            const auto parents = system.content->parents(*at);
            at = parents.empty() ? std::nullopt : std::optional(parents.front());
            const auto found =
                at ? system.by_code.find(system.content->code(*at)) : system.by_code.end();
            if (found != system.by_code.end() && place[found->second] < i) {
                parent = place[found->second];
            }
        }
        if (parent != kTop && depth[parent] == kNestingMax) {
            parent = above[parent];
        }
        above[i] = parent;
        depth[i] = parent == kTop ? 0 : depth[parent] + 1;
        below[parent == kTop ? chosen_.size() : parent].push_back(i);
    }
    return below;
}

Result<void> Answer::write_tree() {
    const std::vector<std::vector<std::uint32_t>> below = nested();

    struct Level {
        const std::vector<std::uint32_t>* entries;
        std::size_t next;
    };

    std::vector<Level> levels{{&below.back(), 0}};
    while (!levels.empty()) {
        Level& level = levels.back();
        if (level.next == level.entries->size()) {
            levels.pop_back();
            out_ += levels.empty() ? "]" : "]}";
            continue;
        }
        const std::uint32_t entry = (*level.entries)[level.next++];
        out_ += level.next > 1 ? "," : "";
        ANNALS_TRY_VOID(open(expansion_.entries[chosen_[entry]]));
        if (below[entry].empty()) {
            out_ += '}';
        } else {
            out_ += R"(,"contains":[)";
            levels.push_back({&below[entry], 0});
        }
    }
    return {};
}

Result<std::string> Answer::make() {
    ANNALS_TRY_VOID(session_.effort().spend(
        expansion_.entries.size() * (asked_.words.empty() && asked_.language.empty() ? 1 : 20)));
    for (const Expansion::System& system : expansion_.systems) {
        excluded_.push_back(is_excluded(system));
    }
    for (std::uint32_t i = 0; i < expansion_.entries.size(); ++i) {
        if (is_wanted(expansion_.entries[i])) {
            chosen_.push_back(i);
        }
    }
    const std::size_t total = chosen_.size();
    const std::size_t first = std::min<std::uint64_t>(asked_.offset, total);
    const std::size_t size = std::min<std::uint64_t>(asked_.count.value_or(total), total - first);
    chosen_.erase(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(first));
    chosen_.resize(size);
    ANNALS_TRY_VOID(session_.effort().spend(size * 10));
    write_head();
    out_ += fmt::format(
        R"(,"expansion":{{"identifier":"urn:uuid:{}","timestamp":"{}","total":{},"offset":{})",
        make_uuid(), format_instant(now()), total, asked_.offset);
    write_parameters();
    if (!chosen_.empty()) {
        out_ += R"(,"contains":[)";
        if (asked_.nested) {
            ANNALS_TRY_VOID(write_tree());
        } else {
            for (std::size_t i = 0; i < chosen_.size(); ++i) {
                out_ += i > 0 ? "," : "";
                ANNALS_TRY_VOID(open(expansion_.entries[chosen_[i]]));
                out_ += '}';
            }
            out_ += ']';
        }
    }
    return std::move(out_.append("}}"));
}

Result<std::string> expand_answer(terminology::Session& session, const ExpandAsked& asked) {
    session.versions() = asked.versions;
    ANNALS_TRY(const terminology::Definition definition,
               find_meant(session, asked.meant, "ValueSet"));
    ANNALS_TRY(const auto value_set, terminology::value_set_of(definition, session.effort()));
    terminology::ExpandOptions options{.codes_max = asked.codes_max, .wanted = {}};
    if (!asked.excluded_systems.empty()) {
        // They may be excluded because their codes aren't on this server.
        options.skipped = [&](std::string_view system, std::string_view version) {
            const auto forced = asked.versions.forced.find(system);
            return leaves_out(asked, system,
                              forced == asked.versions.forced.end() ? version : forced->second);
        };
    }
    auto expansion = terminology::expand(session, value_set, options);
    if (!expansion && expansion.error().code == Errc::answer_too_costly &&
        !session.effort().exhausted() && !asked.words.empty() && asked.language.empty()) {
        // There may be few that match.
        options.wanted = [&](std::string_view code, std::string_view display) {
            return has_words(asked.words, code, display);
        };
        expansion = terminology::expand(session, value_set, options);
    }
    if (!expansion) {
        return std::move(expansion.error());
    }
    return Answer(asked, session, **expansion, definition->root()).make();
}

}  // namespace

asio::awaitable<Response> expand_operation(const Service& service, const Request& request,
                                           const Target& target) {
    return answer_asked(service, request, target, read_expand_asked, expand_answer);
}

}  // namespace annals::core
