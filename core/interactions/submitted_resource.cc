#include "core/interactions/submitted_resource.h"

#include "codec/schema/structure.h"
#include "codec/schema/structure_faults.h"
#include "core/definitions.h"
#include "core/interactions/answer.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/references.h"
#include "core/outcome.h"
#include "core/scoped_view.h"
#include "core/subscriptions/subscriber.h"
#include "core/subset.h"
#include "core/validation/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::core {

namespace {

// The buffers of documents above this size are not kept for the thread's next parse.
constexpr std::size_t kRecycledBytesMax = 1 << 20;

/// All errors of a report, as one.
Result<void> errors_of(validation::Report report, std::string_view prefix) {
    std::optional<Error> fault;
    for (Issue& issue : report.issues) {
        if (issue.severity != "error") {
            continue;
        }
        if (!prefix.empty()) {
            const std::size_t type = std::min(issue.expression.find('.'), issue.expression.size());
            issue.expression.replace(0, type, prefix);
        }
        const Errc code = issue.code == "too-costly" ? Errc::too_costly : Errc::business_rule;
        Error error{code, std::move(issue.diagnostics), std::move(issue.expression)};
        if (fault) {
            fault->others.push_back(std::move(error));
        } else {
            fault = std::move(error);
        }
    }
    return fault ? Result<void>(*std::move(fault)) : Result<void>();
}

validation::Options options_of_writes() {
    validation::Options options;
    options.structure_is_checked = true;
    options.refuse_unknown_codes = false;
    return options;
}

/// The errors that full validation finds in a resource whose structure is valid. `unfinished`: as for check_resource().
Result<void> check_in_full(const Service& service, json::Value resource, std::string_view prefix,
                           Unfinished* unfinished) {
    const Definitions& definitions = service.definitions();
    validation::Options options = options_of_writes();
    if (unfinished == nullptr) {
        return errors_of(validation::validate(resource, definitions, options), prefix);
    }
    const Unfinished::Costly* const costly = unfinished->costly.get();
    if (costly != nullptr && costly->verdict && *costly->text == resource.raw()) {
        return *costly->verdict;
    }
    std::vector<Position>* const unread = unfinished->positions();
    validation::Report report;
    if (unread != nullptr) {
        options.steps = unfinished->validation_steps;
        report =
            validation::validate(resource, Definitions::Resident(definitions, unread), options);
    }
    if (unread == nullptr || report.stopped) {
        unfinished->unread.clear();  // the worker reads the definitions itself
        unfinished->costly = std::make_unique<Unfinished::Costly>(
            Unfinished::Costly{std::make_shared<const std::string>(resource.raw()),
                               std::string(prefix), std::nullopt});
        return Error{Errc::too_costly};
    }
    return errors_of(std::move(report), prefix);
}

}  // namespace

Result<void> check_resolved(json::Value resource, std::string_view prefix) {
    validation::Options options;
    options.structure_is_checked = true;
    options.references_alone = true;
    return errors_of(validation::validate(resource, validation::EmptySource(), options), prefix);
}

json::Parser& thread_parser() {
    thread_local json::Parser parser;
    return parser;
}

Result<json::Document> parse_plain(json::Parser& parser, std::string_view text, bool checked) {
    const auto parsed = [&](std::string_view from) {
        return checked ? parser.parse_resource(from) : parser.parse(from);
    };
    Result<json::Document> document = parsed(text);
    if (document) {
        if (const std::string plain = parser.with_plain_names(*document); !plain.empty())
            [[unlikely]] {
            parser.recycle(*std::move(document));
            return parsed(plain);
        }
    }
    return document;
}

Result<json::Document> parse_submitted(const Config& config, json::Parser& parser,
                                       std::string_view text) {
    return parse_plain(parser, text, config.validation != "off");
}

Result<json::Document> parse_planned(const json::BodyPlan& plan) {
    thread_local std::string body;  // keeps its memory
    body.clear();
    for (const BodyPiece& piece : plan.pieces()) {
        body += piece.text;
    }
    Result<json::Document> parsed = thread_parser().parse(body);
    if (body.size() > kRecycledBytesMax) {
        std::string().swap(body);  // an empty one assigned would keep it
    }
    return parsed;
}

Result<void> check_type(json::Value resource, const Result<json::ResourceFacts>& facts, TypeId type,
                        std::string_view prefix) {
    if (facts && facts->type == type) {
        return {};
    }
    const json::Value stated = resource["resourceType"];
    if (!stated.is_string() || stated.equals(resource_type_name(type))) {
        return {};  // Validation tells that it is missing or no string.
    }
    const std::string name = stated.string().substr(0, schema::kShownMax);
    return Error{
        Errc::invalid,
        fmt::format("The resource's type is {}, the URL's {}", name, resource_type_name(type)),
        fmt::format("{}.resourceType", prefix.empty() ? name : prefix)};
}

Result<void> check_whole(const json::ResourceFacts& facts) {
    if (is_subsetted(facts.meta)) {
        return Error{Errc::business_rule,
                     "The resource has the tag SUBSETTED: it is only a part of the resource that "
                     "was read, and an update would lose the rest",
                     fmt::format("{}.meta.tag", resource_type_name(facts.type))};
    }
    return {};
}

asio::awaitable<void> finish(const Service& service, Loop& loop, Unfinished& unfinished) {
    if (!unfinished.unread.empty()) {
        ++unfinished.times_looked;
        co_await loop.fetched(std::exchange(unfinished.unread, {}));
        co_return;
    }
    const Definitions& definitions = service.definitions();
    if (unfinished.patch != nullptr && !unfinished.patch->patched) {
        Unfinished::CostlyPatch& patch = *unfinished.patch;
        patch.patched = co_await definitions.worker().make<std::string>(loop, patch.apply);
        co_return;
    }
    Unfinished::Costly& costly = *unfinished.costly;
    Result<validation::Report> report = co_await definitions.worker().make<validation::Report>(
        loop, [text = costly.text, &definitions]() -> Result<validation::Report> {
            ANNALS_TRY(const json::Document document, thread_parser().parse(*text));
            return validation::validate(document.root(), definitions, options_of_writes());
        });
    costly.verdict = report ? errors_of(*std::move(report), costly.prefix)
                            : Result<void>(std::move(report.error()));
}

Result<void> check_resource(const Service& service, json::Value resource, std::string_view prefix,
                            Unfinished* unfinished) {
    const Config& config = service.config();
    // What contains it may nest deeper, so that stored resources can be wrapped in other documents.
    if (json::is_too_deep(resource)) {
        return Error{Errc::invalid,
                     fmt::format("The resource is nested deeper than {} levels", kJsonDepthMax),
                     std::string(prefix)};
    }
    if (config.validation == "off") {
        return {};
    }
    ANNALS_TRY_VOID(schema::check_structure(
        resource, {.allow_unknown_elements = config.allow_unknown_elements}, prefix));
    return config.validation == "full" ? check_in_full(service, resource, prefix, unfinished)
                                       : Result<void>();
}

Result<void> check_written(const Service& service, const Request& request,
                           const storage::VersionWrite& write, json::Value resource) {
    const Permission needed = write.method == storage::Method::post ? kMayCreate : kMayUpdate;
    const ScopedView view(service, request, needed);
    if (!view.is_whole() && !view.shows(write.type, write.id, resource)) {
        return beyond_scopes(needed, write.type);
    }
    return {};
}

SubmittedResource::~SubmittedResource() {
    release();
}

void SubmittedResource::release() noexcept {
    if (!document_.nodes().empty() && document_.text().size() <= kRecycledBytesMax) {
        thread_parser().recycle(std::move(document_));
    }
    document_ = {};
    facts_ = {};
}

Result<void> SubmittedResource::read(const Service& service, const Request& request, TypeId type) {
    ANNALS_TRY_VOID(check_content_type(request));
    const std::string_view name = resource_type_name(type);
    if (name == "Parameters") {
        return Error{Errc::invalid, "Parameters resources cannot be stored", "Parameters"};
    }
    if (request.body.empty()) {
        return Error{Errc::invalid,
                     fmt::format("The body is empty: expected a resource of the type {}", name)};
    }
    ANNALS_TRY(json::Document document,
               parse_submitted(service.config(), thread_parser(), request.body));
    ANNALS_TRY_VOID(take(service, request, type, std::move(document), &unfinished_));
    return check_subscriber(service, request, document_.root(), unfinished_.positions());
}

Result<void> SubmittedResource::read_early(const Service& service, const Request& request,
                                           TypeId type) {
    unfinished_.validation_steps = kValidationStepsEarly;
    return read(service, request, type);
}

asio::awaitable<Result<void>> SubmittedResource::read_by_turns(const Service& service,
                                                               const Request& request,
                                                               TypeId type) {
    Result<void> fit = read(service, request, type);
    while (is_unfinished()) {
        release();
        co_await finish(service, *request.loop, unfinished_);
        fit = read(service, request, type);
    }
    co_return fit;
}

Result<void> SubmittedResource::take(const Service& service, const Request& request, TypeId type,
                                     json::Document document, Unfinished* unfinished) {
    document_ = std::move(document);
    references_.clear();  // of an earlier attempt, before definitions were fetched
    Result<json::ResourceFacts> facts = json::read_facts(document_.root());
    ANNALS_TRY_VOID(check_type(document_.root(), facts, type, {}));
    // It reports every fault, read_facts() only the first.
    ANNALS_TRY_VOID(check_resource(service, document_.root(), {}, unfinished));
    ANNALS_TRY(facts_, std::move(facts));

    if (service.config().integrity_on_write) {
        std::vector<json::ReferenceSite> sites;
        json::find_references(facts_.resource, sites);
        // In a stored Bundle, a reference that is not Type/id may be to one of its own entries.
        const bool is_bundle = resource_type_name(type) == "Bundle";
        for (const json::ReferenceSite& site : sites) {
            if (site.kind != json::ReferenceSite::Kind::reference) {
                continue;
            }
            const std::string text = site.value.string();
            const auto key = referred_resource(text, request.base_url);
            if (key) {
                references_.push_back({key->first, std::string(key->second),
                                       std::string(referred_version(text)), site.path});
            } else if (is_relative_reference(text) && !is_bundle) {
                return Error{
                    Errc::conflict,
                    fmt::format("The resource refers to {}, which cannot exist on this server",
                                text),
                    json::expression_of(facts_.resource, site.path)};
            }
        }
    }
    return {};
}

Result<void> SubmittedResource::check_whole() const {
    return core::check_whole(facts_);
}

storage::Submission SubmittedResource::submit(const Service& service, storage::VersionWrite& write,
                                              std::span<const storage::Guard> guards,
                                              std::string_view client_request_id) {
    const json::BodyPlan plan(facts_, write.id, {});
    write.body = plan.pieces();

    std::vector<storage::Requirement> requirements;
    requirements.reserve(references_.size());
    for (const Reference& reference : references_) {
        storage::Requirement requirement{.type = reference.type,
                                         .id = reference.id,
                                         .version = required_version(reference.version)};
        if (reference.type == write.type && reference.id == write.id) {
            requirement.writer = 0;  // A reference to itself is satisfied by this write.
        }
        requirements.push_back(requirement);
    }

    service.store().fetch_ahead(write.type, write.id);
    storage::Commit commit;
    commit.writes = std::span(&write, 1);
    commit.guards = guards;
    commit.requirements = requirements;
    commit.request = client_request_id;
    const auto epoch = service.indexing().epoch();
    write.search = &epoch->entries_of(write.type, facts_.resource);
    storage::Submission submission = service.store().submit(commit);
    search::Indexing::submitted(*epoch, submission.ticket);
    write.body = {};
    write.search = nullptr;
    return submission;
}

Result<void> SubmittedResource::check_scopes(const Service& service, const Request& request,
                                             const storage::VersionWrite& write) const {
    ANNALS_TRY_VOID(check_written(service, request, write, facts_.resource));
    for (std::size_t i = 0; i < references_.size(); ++i) {
        if (!may_refer(service, request, references_[i].type, references_[i].id)) {
            return missing_reference(i);
        }
    }
    return {};
}

asio::awaitable<void> SubmittedResource::fetch_referred(const Service& service,
                                                        const Request& request) const {
    std::vector<std::pair<TypeId, std::string>> referred;
    for (const Reference& reference : references_) {
        referred.emplace_back(reference.type, reference.id);
    }
    co_await core::fetch_referred(service, request, std::move(referred));
}

Error SubmittedResource::missing_reference(std::size_t requirement) const {
    const Reference& missing = references_[requirement];
    return {Errc::conflict,
            fmt::format("The resource refers to {}{}{}, which does not exist",
                        resource_name(missing.type, missing.id),
                        missing.version.empty() ? "" : kHistoryMark, missing.version),
            json::expression_of(facts_.resource, missing.place)};
}

}  // namespace annals::core
