#include "core/search/value_sets.h"

#include "core/base/ids.h"
#include "core/base/sort_unique.h"
#include "core/search/reading.h"
#include "core/terminology/expansion.h"
#include "core/terminology/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace annals::core::search {

namespace {

constexpr std::uint64_t kStepsMax = 10'000'000;

/// What is stored at the query's snapshot, else StoredResources::others().
class SnapshotDefinitions final : public terminology::Source {
  public:
    explicit SnapshotDefinitions(const StoredResources& stored) : stored_(stored) {}

    Result<terminology::Definition> find(std::string_view type, std::string_view url,
                                         std::string_view version) const override {
        // Only value sets are also named by their place; code systems are named by what codings say.
        static constexpr std::string_view kRelative = "ValueSet/";
        const TypeId id = *find_resource_type(type);
        if (type == "ValueSet" && url.starts_with(kRelative) &&
            is_resource_id(url.substr(kRelative.size()))) {
            ANNALS_TRY(terminology::Definition own,
                       stored_.read(id, url.substr(kRelative.size()), stored_.put_off()));
            return own != nullptr ? own : stored_.others().find(type, url, {});
        }
        ANNALS_TRY(terminology::Definition found, stored_.find(id, url, version));
        if (found != nullptr) {
            return found;
        }
        return stored_.others().find(type, url, version);
    }

  private:
    const StoredResources& stored_;
};

/// Converts an error to that of a search: an unknown name is then a mistake in the query.
Error as_search_error(Error error) {
    switch (error.code) {
        case Errc::answer_too_costly:
            error.code = Errc::too_costly;
            break;
        case Errc::not_computable:
            error.code = Errc::not_supported;
            break;
        case Errc::processing:
            error.code = Errc::invalid;
            break;
        default:
            break;
    }
    return error;
}

/// A terminology session on the query's snapshot.
struct Look {
    Look(const StoredResources& stored, terminology::Effort limit)
        : source(stored), effort(limit), session(source, effort) {
        session.open_systems = true;
    }

    SnapshotDefinitions source;
    terminology::Effort effort;
    terminology::Session session;
};

std::size_t bytes_of(const Codes& codes) {
    std::size_t bytes = codes.capacity() * sizeof(std::string);
    for (const std::string& code : codes) {
        bytes += code.size();
    }
    return bytes;
}

std::size_t bytes_of(const Expansion& expansion) {
    std::size_t bytes = expansion.codes.capacity() * sizeof(Coding) + bytes_of(expansion.systems);
    for (const Coding& coding : expansion.codes) {
        bytes += coding.system.size() + coding.code.size();
    }
    return bytes;
}

/// What a query asks for, as PutOff knows it. `modifier` is that of the search parameter, which the type of the result depends on.
std::string question_of(std::string_view modifier, std::string_view name, std::string_view code) {
    return fmt::format("{} {} {}{}", modifier, name.size(), name, code);
}

template <typename Made>
Result<PutOff::Held> hold(Result<Made> made) {
    if (!made) {
        return as_search_error(std::move(made.error()));
    }
    const std::size_t bytes = bytes_of(*made);
    return PutOff::Held{std::make_shared<const Made>(*std::move(made)), bytes};
}

/// What `make` returns for a Look: what was made before, or it is made here or, if that would take too long, put off.
/// Requires: `make` is const and owns what it uses.
template <typename Made, typename Make>
Result<std::shared_ptr<const Made>> make_or_put_off(const StoredResources& stored,
                                                    std::string question, Make make) {
    PutOff* const put_off = stored.put_off();
    if (put_off == nullptr) {
        Look look(stored, terminology::Effort(kStepsMax));
        ANNALS_TRY(const PutOff::Held made, hold(make(look)));
        return std::static_pointer_cast<const Made>(made.made);
    }
    if (const auto before = put_off->done.find(question); before != put_off->done.end()) {
        ANNALS_TRY(const PutOff::Held made, before->second);
        return std::static_pointer_cast<const Made>(made.made);
    }
    if (put_off->steps_left < terminology::Worker::kStepsOnLoop ||
        put_off->bytes_left < terminology::Worker::kBytesOnLoop) {
        put_off->spent = true;
        return Error{Errc::internal, "what a query names takes another turn"};
    }
    put_off->large = false;
    Look look(stored, terminology::Effort(terminology::Worker::kStepsOnLoop));
    PutOff::Made here = hold(make(look));
    put_off->steps_left -= terminology::Worker::kStepsOnLoop - look.effort.steps_left();
    if (!here && (put_off->large || look.effort.exhausted())) {
        if (std::ranges::find(put_off->work, question, &PutOff::Work::question) ==
            put_off->work.end()) {
            put_off->work.push_back(
                {std::move(question),
                 [make = std::move(make)](const StoredResources& there,
                                          const PutOff::Limit& limit) -> PutOff::Made {
                     Look much(there, terminology::Effort(kStepsMax, limit.end, limit.stopping));
                     return hold(make(much));
                 }});
        }
        return std::move(here.error());
    }
    // Not the errors of a version that is on the device only, or of a snapshot that is too old.
    if (here || (here.error().code != Errc::internal && here.error().code != Errc::expired)) {
        put_off->keep(std::move(question), here);
    }
    if (!here) {
        return std::move(here.error());
    }
    return std::static_pointer_cast<const Made>(here->made);
}

Result<Codes> reached(Look& look, std::string_view system, std::string_view code, bool upwards) {
    ANNALS_TRY(const terminology::CodeSystemPointer content, look.session.code_system(system, {}));
    if (content == nullptr) {
        return Error{Errc::invalid,
                     fmt::format("the code system '{}' is not stored here", shown(system)),
                     "",
                     {},
                     std::string(system)};
    }
    const auto number = content->find(code);
    if (!number) {
        return Codes{std::string(code)};
    }
    ANNALS_TRY(const auto reached, content->reached(*number, upwards, look.effort));
    if (reached.size() > kExpansionMax) {
        return Error{Errc::too_costly, fmt::format("more than {} codes", kExpansionMax)};
    }
    Codes codes;
    codes.reserve(reached.size());
    for (const terminology::CodeSystem::Number at : reached) {
        codes.emplace_back(content->code(at));
    }
    return codes;
}

Result<Expansion> expansion_of(Look& look, std::string_view name) {
    ANNALS_TRY(const terminology::ValueSetPointer value_set, look.session.value_set(name));
    if (value_set == nullptr) {
        return Error{Errc::invalid,
                     fmt::format("the value set '{}' is not known here", shown(name)),
                     "",
                     {},
                     std::string(name)};
    }
    ANNALS_TRY(
        const terminology::ExpansionPointer made,
        terminology::expand(look.session, value_set, {.codes_max = kExpansionMax, .wanted = {}}));
    Expansion expansion;
    expansion.codes.reserve(made->entries.size());
    std::size_t bytes = 0;
    for (const auto& entry : made->entries) {
        if (entry.is_abstract && !entry.number) {
            continue;
        }
        const std::string& system = made->systems[entry.system].url;
        bytes += system.size() + entry.code.size();
        if (bytes > kExpansionBytesMax) {
            return Error{Errc::too_costly,
                         fmt::format("codes of more than {} bytes", kExpansionBytesMax)};
        }
        expansion.codes.push_back({system, std::string(entry.code)});
    }
    sort_unique(expansion.codes);
    expansion.systems = made->open_systems;
    std::ranges::sort(expansion.systems);
    return expansion;
}

Result<std::shared_ptr<const Codes>> codes_reached(const StoredResources& stored,
                                                   std::string_view system, std::string_view code,
                                                   bool upwards) {
    return make_or_put_off<Codes>(stored, question_of(upwards ? "above" : "below", system, code),
                                  [system = std::string(system), code = std::string(code), upwards](
                                      Look& look) { return reached(look, system, code, upwards); });
}

}  // namespace

Result<std::shared_ptr<const Expansion>> expand(const StoredResources& stored,
                                                std::string_view name) {
    return make_or_put_off<Expansion>(
        stored, question_of("in", name, {}),
        [name = std::string(name)](Look& look) { return expansion_of(look, name); });
}

Result<std::shared_ptr<const Codes>> codes_above(const StoredResources& stored,
                                                 std::string_view system, std::string_view code) {
    return codes_reached(stored, system, code, true);
}

Result<std::shared_ptr<const Codes>> codes_below(const StoredResources& stored,
                                                 std::string_view system, std::string_view code) {
    return codes_reached(stored, system, code, false);
}

}  // namespace annals::core::search
