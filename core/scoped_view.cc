#include "core/scoped_view.h"

#include "core/base/all_resource_types.h"
#include "core/definitions.h"
#include "core/search/compartments.h"
#include "core/search/execute.h"
#include "core/search/indexing.h"
#include "core/search/query.h"
#include "core/search/reading.h"
#include "core/search/snapshot_resources.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace annals::core {

namespace {

using search::Plan;

/// The maximum number of consecutive deletions to skip in search of the deleted version.
constexpr std::size_t kDeletionsMax = 16;

TypeId provenance_type() {
    static const TypeId type = *find_resource_type("Provenance");
    return type;
}

}  // namespace

ScopedView::ScopedView(const Service& service, const Request& request, Permission permission,
                       std::string_view open)
    : service_(service),
      request_(request),
      permission_(permission),
      whole_(!is_restricted(request) || (!open.empty() && is_public(service.config(), open))) {
    if (!whole_) {
        parameters_ = service.indexing().parameters();
    }
}

const Plan& ScopedView::of(TypeId type) const {
    if (whole_) {
        return search::unrestricted().of(type);
    }
    auto found = plans_.find(type.value);
    if (found == plans_.end()) {
        found = plans_.emplace(type.value, make_plan(type)).first;
    }
    return found->second;
}

bool ScopedView::looks_at(TypeId type) const {
    return require_search(service_, request_, type, Extent::part).has_value();
}

Plan ScopedView::make_plan(TypeId type) const {
    const Principal& principal = *request_.principal;
    if (principal.may(permission_, type)) {
        return search::everything();
    }
    std::vector<Plan> any;
    for (const Grant& grant : principal.grants()) {
        if ((grant.permissions & permission_) == 0 || !concerns(grant, type)) {
            continue;
        }
        std::vector<Plan> parts;
        if (grant.of_patient) {
            const std::uint64_t key =
                service_.store().search_key(search::patient_type(), principal.patient());
            std::optional<Plan> inside =
                search::of_patients(*parameters_, std::span(&key, 1), type);
            std::vector<Plan> theirs;
            theirs.push_back(inside ? *std::move(inside) : search::nothing());
            if (type == provenance_type()) {
                theirs.push_back(about_what_is_shown(std::span(&key, 1)));
            }
            parts.push_back(search::any_of(std::move(theirs)));
        }
        if (!grant.query.empty()) {
            std::optional<Plan> matching = read_query(type, grant.query);
            parts.push_back(matching ? *std::move(matching) : search::nothing());
        }
        any.push_back(search::all_of(std::move(parts)));
    }
    return search::any_of(std::move(any));
}

/// The Provenances of shown resources of these patients: R4's compartment only has those of the Patient resource itself.
Plan ScopedView::about_what_is_shown(std::span<const std::uint64_t> patients) const {
    // The right to write Provenances covers those about resources that may be read.
    const bool searches = permission_ == kMaySearch;
    ScopedView shown(service_, request_, searches ? kMaySearch : kMayRead,
                     searches ? "search" : "read");
    shown.parameters_ = parameters_;
    const search::Parameter* const target = parameters_->find(provenance_type(), "target");
    std::vector<Plan> any;
    for (const TypeId type : kAllResourceTypes) {
        std::optional<Plan> theirs = target == nullptr || type == provenance_type()
                                         ? std::nullopt
                                         : search::of_patients(*parameters_, patients, type);
        if (theirs) {
            any.push_back(search::chain(target->column, type,
                                        search::all_of(shown.of(type), *std::move(theirs))));
        }
    }
    return search::any_of(std::move(any));
}

/// None if the query has anything but criteria on the type itself; chains aren't allowed.
std::optional<Plan> ScopedView::read_query(TypeId type, std::string_view query) const {
    const auto pairs = search::decode_pairs(query);
    if (!pairs) {
        return {};
    }
    search::Snapshot snapshot(service_.store());
    const search::SnapshotResources stored(snapshot, service_.definitions().carried());
    const search::QueryContext context{.stored = stored,
                                       .view = search::unrestricted(),
                                       .parameters = parameters_,
                                       // Not the request's, which may name any host.
                                       .base_url = service_.config().base_url,
                                       .strict = true,
                                       .conditional = true};
    Result<search::Query> read = search::parse_query(context, {type}, *pairs);
    if (!read || read->types.empty() || !search::related_types(read->types.front().plan).empty()) {
        return {};
    }
    return std::move(read->types.front().plan);
}

bool ScopedView::shows(const storage::VersionInfo& info) const {
    const Plan& plan = of(info.type);
    if (plan.kind == Plan::Kind::everything || plan.kind == Plan::Kind::nothing) {
        return plan.kind == Plan::Kind::everything;
    }
    if (info.deletion) {
        return shows_deletion(info);
    }
    const Result<storage::StoredVersion> stored = load(info);
    if (!stored || !may_be_of_patient(info.type, stored->body)) {
        return false;
    }
    thread_local json::Parser parser;
    Result<json::Document> document = parser.parse(stored->body);
    if (!document) {
        return false;
    }
    const bool shown = is_match(plan, info.type, stored->id, info.instant, document->root());
    parser.recycle(*std::move(document));
    return shown;
}

Result<storage::StoredVersion> ScopedView::load(const storage::VersionInfo& info) const {
    if (unread_ != nullptr && !service_.store().unread(std::span(&info, 1)).empty()) {
        unread_->push_back(info.position);
        return Error{Errc::not_found, "what a scope is about is on the device only"};
    }
    return search::load(service_.store(), service_.definitions().packages().carried(), info);
}

bool ScopedView::shows_deletion(const storage::VersionInfo& info) const {
    const Result<storage::StoredVersion> deletion = load(info);
    if (!deletion) {
        return false;
    }
    const auto deleted = deleted_by(service_.store(), info, deletion->id);
    return deleted && shows(*deleted);
}

/// False if only patient scopes apply and `body` doesn't even contain the patient's id: speeds up histories, which look at
/// everybody's versions.
bool ScopedView::may_be_of_patient(TypeId type, std::string_view body) const {
    if (type == provenance_type()) {
        return true;  // The resources that it refers to decide.
    }
    const Principal& principal = *request_.principal;
    const bool only_patient = std::ranges::all_of(principal.grants(), [&](const Grant& grant) {
        return grant.of_patient || (grant.permissions & permission_) == 0 || !concerns(grant, type);
    });
    return !only_patient || body.find(principal.patient()) != std::string_view::npos ||
           body.find("\\u") != std::string_view::npos;
}

bool ScopedView::shows(TypeId type, std::string_view id, json::Value resource) const {
    return is_match(of(type), type, id, now(), resource);
}

bool ScopedView::is_match(const Plan& plan, TypeId type, std::string_view id, Instant written,
                          json::Value resource) const {
    if (plan.kind == Plan::Kind::everything || plan.kind == Plan::Kind::nothing) {
        return plan.kind == Plan::Kind::everything;
    }
    const storage::Store& store = service_.store();
    search::Extractor& extractor =
        search::thread_extractor(parameters_, store.search_seed(), service_.config().base_url);
    search::Related related;  // The only chains in a view are those of about_what_is_shown().
    if (type == provenance_type()) {
        related = [this, targets = targets_of(resource)](const Plan& part,
                                                         const storage::SearchEntries&) {
            const auto of_type = targets.find(part.type.value);
            return of_type != targets.end() && is_about(part, of_type->second);
        };
    }
    return search::is_match(plan, extractor, type, store.search_key(type, id), written, resource,
                            related);
}

/// Read once for the chains to all types: a Provenance of an import may have thousands of targets.
ScopedView::Targets ScopedView::targets_of(json::Value provenance) const {
    Targets targets;
    for (const json::Value target : provenance["target"].elements()) {
        const std::string text = target["reference"].string();
        if (const auto local = search::read_local(text, service_.config().base_url)) {
            targets[local->type.value].push_back(
                search::identity(service_.store().search_key(local->type, local->id)));
        }
    }
    return targets;
}

/// Whether one of `targets` matches the chain's criteria in the current state.
bool ScopedView::is_about(const Plan& part, const std::vector<search::Term>& targets) const {
    const Plan asked = search::all_of(search::carrying(targets), part.parts.front());
    search::Snapshot snapshot(service_.store());
    search::Execution execution(snapshot, part.type, asked);
    execution.want({.limit = 1});
    // Without a limit, a single advance() runs to the end.
    const Result<bool> done = execution.advance(search::Pace());
    return done && !execution.matches().empty();
}

storage::Head ScopedView::shown(TypeId type, std::string_view id, const storage::Head& head) const {
    if (whole_ || !head.exists) {
        return head;
    }
    const auto info = service_.store().version(type, id, head.version);
    return info && shows(*info) ? head : storage::Head();
}

std::optional<storage::VersionInfo> deleted_by(const storage::Store& store,
                                               const storage::VersionInfo& deletion,
                                               std::string_view id) {
    storage::HistoryQuery query;
    query.type = deletion.type;
    query.id = id;
    query.after = deletion;
    query.count = kDeletionsMax;
    for (const storage::VersionInfo& before : store.history(query).versions) {
        if (!before.deletion) {
            return before;
        }
    }
    return {};
}

bool may_be_told(const Service& service, const Request& request, const storage::VersionInfo& info) {
    if (!service.guarded()) {
        return true;
    }
    const auto shown_by = [&](Permission permission, std::string_view open) {
        return is_public(service.config(), open) ||
               (require(service, request, permission, info.type, Extent::part).has_value() &&
                ScopedView(service, request, permission).shows(info));
    };
    return shown_by(kMayRead, "read") || shown_by(kMaySearch, "search");
}

bool may_refer(const Service& service, const Request& request, TypeId type, std::string_view id) {
    if (!is_restricted(request) || !search::belongs_to_patients(type) ||
        (type == search::patient_type() && id == request.principal->patient())) {
        return true;
    }
    const ScopedView view(service, request, kMayRead, "read");
    if (view.of(type).kind == Plan::Kind::everything) {
        return true;
    }
    const auto info = service.store().current(type, id);
    return info && view.shows(*info);
}

}  // namespace annals::core
