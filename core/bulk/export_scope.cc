#include "core/bulk/export_scope.h"

#include "core/base/all_resource_types.h"
#include "core/bulk/group_members.h"
#include "core/jobs/job.h"
#include "core/search/compartments.h"
#include "core/search/snapshot_resources.h"
#include "core/search/terms.h"
#include "core/search/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <span>
#include <utility>

namespace annals::core {

namespace {

// Types outside the patient compartment, exported if patients' data refers to them. Each may refer to those after it.
constexpr std::string_view kReferredTo[] = {"PractitionerRole", "Device",       "Medication",
                                            "Location",         "Practitioner", "Organization"};

/// How long the Groups are read between two looks whether to stop.
constexpr std::chrono::milliseconds kGroupTurn{50};

// R4 also puts into a Patient's compartment the Patients that link to him. They weren't asked for.
search::Plan themselves(std::span<const std::uint64_t> keys) {
    std::vector<search::Term> terms;
    terms.reserve(keys.size());
    std::ranges::transform(keys, std::back_inserter(terms), search::identity);
    return search::carrying(std::move(terms));
}

search::Plan compartment_plan(const ExportScope& scope, TypeId type,
                              std::span<const std::uint64_t> keys) {
    std::optional<search::Plan> plan;
    if (!scope.patients) {
        plan = search::of_any_patient(*scope.parameters, type);
    } else if (type == search::patient_type()) {
        plan = themselves(keys);
    } else {
        plan = search::of_patients(*scope.parameters, keys, type);
    }
    return plan ? *std::move(plan) : search::nothing();
}

/// The plan if these were all patients.
search::Plan plan_for(const ExportScope& scope, const ExportScope::Searched& one,
                      std::span<const std::uint64_t> keys) {
    std::vector<search::Plan> parts;
    if (scope.of_patients) {
        search::Plan own = compartment_plan(scope, one.type, keys);
        parts.push_back(one.link == ExportScope::Link::none ? std::move(own)
                                                            : search::negation_of(std::move(own)));
    }
    if (const auto filter = scope.filters.find(one.type); filter != scope.filters.end()) {
        parts.push_back(filter->second);
    }
    return search::all_of(std::move(parts));
}

class ScopeFinder {
  public:
    ScopeFinder(const ExportTask& task, search::Snapshot& snapshot,
                std::optional<TextSet<>> members)
        : task_(task), snapshot_(snapshot), members_(std::move(members)) {}

    Result<ExportScope> run(const search::QueryContext& context,
                            const std::function<bool()>& stopping) {
        scope_.parameters = context.parameters;
        scope_.warnings = task_.passed_over;
        find_types();
        ANNALS_TRY_VOID(find_patients());
        ANNALS_TRY_VOID(read_filters(context, stopping));
        for (const TypeId type : kAllResourceTypes) {
            if (scope_.types[type.value]) {
                add(type);
            }
        }
        if (scope_.of_patients) {
            link("Provenance", ExportScope::Link::to_given);
            for (const std::string_view name : kReferredTo) {
                link(name, ExportScope::Link::from_given);
            }
        }
        return std::move(scope_);
    }

  private:
    void find_types() {
        scope_.of_patients = task_.level != ExportTask::Level::system;
        std::array<bool, kResourceTypeCount> possible{};
        possible.fill(true);
        if (scope_.of_patients) {
            possible.fill(false);
            for (const TypeId type : search::compartment_members(search::patient_type())) {
                possible[type.value] = true;
            }
            for (const std::string_view name : kReferredTo) {
                possible[find_resource_type(name)->value] = true;
            }
        }
        if (task_.types.empty()) {
            scope_.types = task_.no_type ? std::array<bool, kResourceTypeCount>{} : possible;
            return;
        }
        const bool patients_own = std::ranges::any_of(task_.types, search::may_be_of_patients);
        for (const TypeId type : task_.types) {
            scope_.types[type.value] = possible[type.value];
            if (!possible[type.value]) {
                scope_.warnings.push_back(
                    fmt::format("{} resources are not in the compartment of any patient",
                                resource_type_name(type)));
            } else if (scope_.of_patients && !patients_own) {
                scope_.warnings.push_back(
                    fmt::format("{} resources are exported only if others that are exported refer "
                                "to them, and none of these types is",
                                resource_type_name(type)));
            }
        }
    }

    Result<void> find_patients() {
        for (const std::string& id : task_.patients) {
            ANNALS_TRY_VOID(check_patient(snapshot_, id, members_ ? &*members_ : nullptr));
        }
        if (!task_.patients.empty()) {
            scope_.patients.emplace(task_.patients.begin(), task_.patients.end());
        } else if (members_) {
            scope_.patients = std::move(members_);
        } else {
            return {};
        }
        scope_.keys.reserve(scope_.patients->size());
        for (const std::string& id : *scope_.patients) {
            scope_.keys.push_back(snapshot_.store().search_key(search::patient_type(), id));
        }
        return {};
    }

    Result<void> read_filters(const search::QueryContext& context,
                              const std::function<bool()>& stopping) {
        std::map<TypeId, std::vector<search::Plan>> plans;
        for (const std::string& filter : task_.filters) {
            if (stopping()) {
                return job_stopped();
            }
            ANNALS_TRY(search::Query query, read_filter(context, filter));
            for (const std::string& warning : query.warnings) {
                scope_.warnings.push_back(fmt::format("_typeFilter: {}", warning));
            }
            scope_.looked_at.insert(scope_.looked_at.end(), query.others.begin(),
                                    query.others.end());
            plans[query.types.front().type].push_back(std::move(query.types.front().plan));
        }
        for (auto& [type, any] : plans) {
            scope_.filters.emplace(type, search::any_of(std::move(any)));
        }
        return {};
    }

    void add(TypeId type) {
        // One patient is enough to tell, and the plan is small.
        const auto some =
            std::span(scope_.keys).first(std::min<std::size_t>(scope_.keys.size(), 1));
        const search::Plan::Kind kind = plan_for(scope_, {type}, some).kind;
        if (kind == search::Plan::Kind::everything) {
            scope_.whole[type.value] = true;
        } else if (kind != search::Plan::Kind::nothing) {
            scope_.searched.push_back({type});
        }
    }

    // Adds a type of which linked resources are exported that aren't exported anyway.
    void link(std::string_view name, ExportScope::Link link) {
        const TypeId type = *find_resource_type(name);
        if (scope_.types[type.value]) {
            scope_.searched.push_back({type, link});
        }
    }

    const ExportTask& task_;
    search::Snapshot& snapshot_;
    std::optional<TextSet<>> members_;  ///< none: not of a Group
    ExportScope scope_;
};

}  // namespace

search::Plan ExportScope::plan(const Searched& one) const {
    return plan_for(*this, one, keys);
}

Result<ExportScope> find_scope(const ExportTask& task, search::Snapshot& snapshot,
                               const std::shared_ptr<const search::ParameterSet>& parameters,
                               const terminology::Source& others, std::string_view base_url,
                               const std::function<bool()>& stopping) {
    std::optional<TextSet<>> members;
    if (task.level == ExportTask::Level::group) {
        GroupMembers group(snapshot, task.group, base_url);
        search::Pace pace(kGroupTurn);
        for (bool done = false; !done;) {
            if (stopping()) {
                return job_stopped();
            }
            pace.begin_turn();
            ANNALS_TRY(done, group.advance(pace));
        }
        members = group.take_patients();
    }
    const search::SnapshotResources stored(snapshot, others);
    const search::QueryContext context{.stored = stored,
                                       .view = search::unrestricted(),
                                       .parameters = parameters,
                                       .base_url = std::string(base_url),
                                       .strict = task.strict};
    return ScopeFinder(task, snapshot, std::move(members)).run(context, stopping);
}

Result<void> check_patient(const search::Snapshot& snapshot, const std::string& id,
                           const TextSet<>* members) {
    // To the store, position 0 means the newest version.
    const auto info =
        snapshot.position().value == 0
            ? std::nullopt
            : snapshot.store().current(search::patient_type(), id, snapshot.position());
    if (!info || info->deletion || (members != nullptr && !members->contains(id))) {
        return Error{Errc::invalid, fmt::format("patient: Patient/{} does not exist", id)};
    }
    return {};
}

Result<search::Query> read_filter(const search::QueryContext& context, std::string_view filter) {
    ANNALS_TRY(const TypeFilter read, read_type_filter(filter));
    ANNALS_TRY(const std::vector<search::QueryPair> pairs, search::decode_pairs(read.query));
    ANNALS_TRY(search::Query query, search::parse_query(context, {read.type}, pairs));
    const bool about_result = std::ranges::any_of(pairs, [](const search::QueryPair& pair) {
        return search::is_result_parameter(pair.first);
    });
    if (query.types.size() != 1 || about_result) {
        return Error{Errc::invalid, fmt::format("_typeFilter: '{}' contains more than criteria",
                                                filter.substr(0, 100))};
    }
    return query;
}

Result<void> authorise_export(const Service& service, const Request& request,
                              const ExportTask& task) {
    constexpr std::uint8_t kNeeded = kMayRead | kMaySearch;
    if (task.types.empty()) {
        return require(service, request, kNeeded, std::nullopt);
    }
    if (task.level == ExportTask::Level::group) {
        ANNALS_TRY_VOID(require(service, request, kMayRead, group_type()));
    }
    if (!task.patients.empty()) {
        // The answer reveals that a patient does not exist.
        ANNALS_TRY_VOID(require(service, request, kMayRead, search::patient_type()));
    }
    for (const TypeId type : task.types) {
        ANNALS_TRY_VOID(require(service, request, kNeeded, type));
    }
    return {};
}

}  // namespace annals::core
