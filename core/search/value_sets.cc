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

using Codes = std::vector<std::string>;

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
            ANNALS_TRY(terminology::Definition own, stored_.read(id, url.substr(kRelative.size())));
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
    explicit Look(const StoredResources& stored)
        : later(stored.put_off()),
          source(stored),
          effort(later == nullptr ? kStepsMax : terminology::Worker::kStepsOnLoop),
          session(source, effort) {
        session.open_systems = true;
    }

    /// For work that was put off.
    Look(const StoredResources& stored, const PutOff::Limit& limit)
        : later(nullptr),
          source(stored),
          effort(kStepsMax, limit.end, limit.stopping),
          session(source, effort) {
        session.open_systems = true;
    }

    /// The search's error for `error`. If the only problem is that it would take too long here, the work on `name` is put off.
    template <typename Work>
    Error failed(Error error, std::string_view name, Work work) const {
        if (later != nullptr && (later->large || effort.exhausted())) {
            later->large = false;
            later->work.push_back({std::string(name), std::move(work)});
        }
        return as_search_error(std::move(error));
    }

    PutOff* later;
    SnapshotDefinitions source;
    terminology::Effort effort;
    terminology::Session session;
};

/// Does work that was put off. The result holds all that was made, even if the work failed at last.
template <typename Work>
std::shared_ptr<const void> done(const StoredResources& elsewhere, const PutOff::Limit& limit,
                                 const Work& work) {
    struct Done {
        Done(const StoredResources& stored, const PutOff::Limit& until) : look(stored, until) {}

        Look look;
        std::shared_ptr<const void> made;
    };

    const auto done = std::make_shared<Done>(elsewhere, limit);
    if (const auto made = work(done->look)) {
        done->made = *made;
    }
    return done;
}

Result<Codes> reached(const StoredResources& stored, std::string_view system, std::string_view code,
                      bool upwards) {
    Look look(stored);
    const auto again = [system = std::string(system)](const StoredResources& elsewhere,
                                                      const PutOff::Limit& limit) {
        return done(elsewhere, limit,
                    [&](Look& there) { return there.session.code_system(system, {}); });
    };
    const auto content = look.session.code_system(system, {});
    if (!content) {
        return look.failed(content.error(), system, again);
    }
    if (*content == nullptr) {
        return Error{Errc::invalid,
                     fmt::format("the code system '{}' is not stored here", shown(system)),
                     "",
                     {},
                     std::string(system)};
    }
    const auto number = (*content)->find(code);
    if (!number) {
        return Codes{std::string(code)};
    }
    const auto reached = (*content)->reached(*number, upwards, look.effort);
    if (!reached) {
        return look.failed(reached.error(), system, again);
    }
    Codes codes;
    for (std::uint32_t i = 0; i < reached->size(); ++i) {
        if ((*reached)[i]) {
            codes.emplace_back((*content)->code(i));
        }
    }
    if (codes.size() > kExpansionMax) {
        return Error{Errc::too_costly, fmt::format("more than {} codes", kExpansionMax)};
    }
    return codes;
}

Result<terminology::ExpansionPointer> expansion_of(Look& look, std::string_view name) {
    ANNALS_TRY(const terminology::ValueSetPointer value_set, look.session.value_set(name));
    if (value_set == nullptr) {
        return Error{Errc::invalid,
                     fmt::format("the value set '{}' is not known here", shown(name)),
                     "",
                     {},
                     std::string(name)};
    }
    return terminology::expand(look.session, value_set, {.codes_max = kExpansionMax, .wanted = {}});
}

}  // namespace

Result<Expansion> expand(const StoredResources& stored, std::string_view name) {
    Look look(stored);
    const auto made = expansion_of(look, name);
    if (!made) {
        const auto again = [name = std::string(name)](const StoredResources& elsewhere,
                                                      const PutOff::Limit& limit) {
            return done(elsewhere, limit, [&](Look& there) { return expansion_of(there, name); });
        };
        return look.failed(made.error(), name, again);
    }
    Expansion expansion;
    expansion.codes.reserve((*made)->entries.size());
    std::size_t bytes = 0;
    for (const auto& entry : (*made)->entries) {
        if (entry.is_abstract && !entry.number) {
            continue;
        }
        const std::string& system = (*made)->systems[entry.system].url;
        bytes += system.size() + entry.code.size();
        if (bytes > kExpansionBytesMax) {
            return Error{Errc::too_costly,
                         fmt::format("codes of more than {} bytes", kExpansionBytesMax)};
        }
        expansion.codes.push_back({system, std::string(entry.code)});
    }
    sort_unique(expansion.codes);
    expansion.systems = (*made)->open_systems;
    std::ranges::sort(expansion.systems);
    return expansion;
}

Result<Codes> codes_above(const StoredResources& stored, std::string_view system,
                          std::string_view code) {
    return reached(stored, system, code, true);
}

Result<Codes> codes_below(const StoredResources& stored, std::string_view system,
                          std::string_view code) {
    return reached(stored, system, code, false);
}

}  // namespace annals::core::search
