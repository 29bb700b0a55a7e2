#include "core/bulk/export_scope.h"

#include "core/base/all_resource_types.h"
#include "core/bulk/group_members.h"
#include "core/search/compartments.h"
#include "core/search/query.h"
#include "core/search/snapshot_resources.h"
#include "core/search/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace annals::core {

namespace {

// Types outside the patient compartment, exported if patients' data refers to them. Each may refer to those after it.
constexpr std::string_view kReferredTo[] = {"PractitionerRole", "Device",       "Medication",
                                            "Location",         "Practitioner", "Organization"};

class ScopeFinder {
  public:
    ScopeFinder(const ExportTask& task, search::Snapshot& snapshot,
                const std::shared_ptr<const search::ParameterSet>& parameters,
                const terminology::Source& others, std::string_view base_url,
                const TextSet<>* members, std::vector<Position>* unread, const search::View& view)
        : task_(task),
          snapshot_(snapshot),
          parameters_(parameters),
          others_(others),
          base_url_(base_url),
          members_(members),
          unread_(unread),
          view_(view) {}

    /// Makes all checks that can lead to an error.
    Result<std::vector<TypeId>> check() {
        ANNALS_TRY_VOID(find_types());
        ANNALS_TRY_VOID(check_patients());
        ANNALS_TRY_VOID(read_filters());
        return std::move(scope_.looked_at);
    }

    Result<ExportScope> run() {
        scope_.warnings = task_.passed_over;
        ANNALS_TRY(scope_.looked_at, check());
        if (!task_.patients.empty()) {
            scope_.patients.emplace(task_.patients.begin(), task_.patients.end());
        } else if (members_ != nullptr) {
            scope_.patients = *members_;
        }
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
    Result<void> find_types() {
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
            return {};
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
        return {};
    }

    // The version at the snapshot. (The store takes position 0 to mean the newest.)
    std::optional<storage::VersionInfo> find(TypeId type, std::string_view id) const {
        return snapshot_.position().value == 0
                   ? std::nullopt
                   : snapshot_.store().current(type, id, snapshot_.position());
    }

    Result<void> check_patients() const {
        for (const std::string& id : task_.patients) {
            const auto info = find(search::patient_type(), id);
            if (!info || info->deletion || (members_ != nullptr && !members_->contains(id))) {
                return Error{Errc::invalid, fmt::format("patient: Patient/{} does not exist", id)};
            }
        }
        return {};
    }

    Result<void> read_filters() {
        const search::SnapshotResources stored(snapshot_, others_, unread_);
        for (const std::string& filter : task_.filters) {
            ANNALS_TRY(const TypeFilter read, read_type_filter(filter));
            ANNALS_TRY(const std::vector<search::QueryPair> pairs,
                       search::decode_pairs(read.query));
            const search::QueryContext context{.stored = stored,
                                               .view = view_,
                                               .parameters = parameters_,
                                               .base_url = std::string(base_url_),
                                               .strict = task_.strict};
            ANNALS_TRY(search::Query query, search::parse_query(context, {read.type}, pairs));
            const bool about_result =
                std::any_of(pairs.begin(), pairs.end(), [](const search::QueryPair& pair) {
                    return search::is_result_parameter(pair.first);
                });
            if (query.types.size() != 1 || about_result) {
                return Error{Errc::invalid,
                             fmt::format("_typeFilter: '{}' contains more than criteria",
                                         filter.substr(0, 100))};
            }
            for (const std::string& warning : query.warnings) {
                scope_.warnings.push_back(fmt::format("_typeFilter: {}", warning));
            }
            scope_.looked_at.insert(scope_.looked_at.end(), query.others.begin(),
                                    query.others.end());
            filters_[read.type].push_back(std::move(query.types.front().plan));
        }
        return {};
    }

    void add(TypeId type) {
        std::vector<search::Plan> parts;
        if (scope_.of_patients) {
            parts.push_back(compartment_plan(type));
        }
        if (const auto found = filters_.find(type); found != filters_.end()) {
            parts.push_back(search::any_of(found->second));
        }
        search::Plan plan = search::all_of(std::move(parts));
        if (plan.kind == search::Plan::Kind::everything) {
            scope_.whole[type.value] = true;
        } else if (plan.kind != search::Plan::Kind::nothing) {
            scope_.searched.push_back({type, std::move(plan)});
        }
    }

    // Adds a type of which linked resources are exported that aren't exported anyway.
    void link(std::string_view name, ExportScope::Link link) {
        const TypeId type = *find_resource_type(name);
        if (!scope_.types[type.value]) {
            return;
        }
        std::vector<search::Plan> parts;
        parts.push_back(search::negation_of(compartment_plan(type)));
        if (const auto found = filters_.find(type); found != filters_.end()) {
            parts.push_back(search::any_of(found->second));
        }
        scope_.searched.push_back({type, search::all_of(std::move(parts)), link});
    }

    // R4 also puts into a Patient's compartment the Patients that link to him. They weren't asked for.
    static search::Plan themselves(const std::vector<std::uint64_t>& keys) {
        std::vector<search::Term> terms;
        terms.reserve(keys.size());
        std::ranges::transform(keys, std::back_inserter(terms), search::identity);
        return search::carrying(std::move(terms));
    }

    search::Plan compartment_plan(TypeId type) const {
        std::optional<search::Plan> plan;
        if (scope_.patients) {
            std::vector<std::uint64_t> keys;
            keys.reserve(scope_.patients->size());
            for (const std::string& id : *scope_.patients) {
                keys.push_back(snapshot_.store().search_key(search::patient_type(), id));
            }
            plan = type == search::patient_type() ? themselves(keys)
                                                  : search::of_patients(*parameters_, keys, type);
        } else {
            plan = search::of_any_patient(*parameters_, type);
        }
        return plan ? *std::move(plan) : search::nothing();
    }

    const ExportTask& task_;
    search::Snapshot& snapshot_;
    const std::shared_ptr<const search::ParameterSet>& parameters_;
    const terminology::Source& others_;
    std::string_view base_url_;
    const TextSet<>* members_;  ///< null: not of a Group
    std::vector<Position>* unread_;
    const search::View& view_;
    ExportScope scope_;
    std::map<TypeId, std::vector<search::Plan>> filters_;
};

}  // namespace

Result<ExportScope> find_scope(const ExportTask& task, search::Snapshot& snapshot,
                               const std::shared_ptr<const search::ParameterSet>& parameters,
                               const terminology::Source& others, std::string_view base_url) {
    std::optional<GroupMembers> group;
    if (task.level == ExportTask::Level::group) {
        group.emplace(snapshot, task.group, base_url);
        ANNALS_TRY_VOID(group->advance(search::Pace()));  // never ends the turn
    }
    return ScopeFinder(task, snapshot, parameters, others, base_url,
                       group ? &group->patients() : nullptr, nullptr, search::unrestricted())
        .run();
}

Result<std::vector<TypeId>> check_scope(
    const ExportTask& task, search::Snapshot& snapshot,
    const std::shared_ptr<const search::ParameterSet>& parameters,
    const terminology::Source& others, std::string_view base_url, const TextSet<>* members,
    std::vector<Position>* unread, const search::View& view) {
    return ScopeFinder(task, snapshot, parameters, others, base_url, members, unread, view).check();
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
