#include "core/operations/document.h"

#include "core/base/random.h"
#include "core/base/text_map.h"
#include "core/canonical.h"
#include "core/interactions/answer.h"
#include "core/interactions/as_of.h"
#include "core/interactions/bundle_stream.h"
#include "core/interactions/references.h"
#include "core/interactions/search_includes.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/turns.h"
#include "core/interactions/write.h"
#include "core/operations/document_graph.h"
#include "core/operations/document_references.h"
#include "core/operations/input.h"
#include "core/operations/referred.h"
#include "core/scoped_view.h"
#include "core/search/snapshot.h"
#include "core/search/snapshot_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace annals::core {

namespace {

using storage::StoredVersion;
using storage::VersionInfo;

/// The most errors that are reported one by one.
constexpr std::size_t kFaultsMax = 20;

/// A resource of the document. Its body is a copy: an erasure waits too briefly for a slow client to take the whole Bundle.
struct DocumentEntry {
    TypeId type;
    std::string id;
    std::shared_ptr<const std::string> body;
};

class DocumentEntries final : public EntrySource {
  public:
    DocumentEntries(std::string_view base_url, std::vector<DocumentEntry> entries)
        : base_url_(escaped_base(base_url)), entries_(std::move(entries)) {}

    std::size_t size() const noexcept override { return entries_.size(); }

    bool append(Body& body, std::size_t index, std::string_view before) override {
        const DocumentEntry& entry = entries_[index];
        body.append(fmt::format(R"({}{{"fullUrl":"{}/{}/{}","resource":)", before, base_url_,
                                resource_type_name(entry.type), entry.id));
        body.append_view(*entry.body, entry.body);
        body.append("}");
        return true;
    }

  private:
    std::string base_url_;  // escaped
    std::vector<DocumentEntry> entries_;
};

/// Handles one call, from its parameters to its Bundle.
class Document {
  public:
    Document(const Service& service, const Request& request, const Target& target)
        : service_(service),
          request_(request),
          target_(target),
          view_(service, request, kMayRead, "read"),
          turns_(*request.loop, service.config().limits.request_timeout) {}

    asio::awaitable<Response> run() {
        Result<void> done = read_request();
        if (!done) {
            Response refusal = std::move(done.error());
            if (refusal.status == 405) {
                refusal.allow = "POST";
            }
            co_return refusal;
        }
        const std::optional<VersionInfo> composition =
            current_as_of(service_.store(), target_.type, id_, snapshot_->position());
        if (composition) {
            co_await fetch_version(service_, request_, id_, *composition);
        }
        if (!composition || !view_.shows(*composition)) {
            co_return no_such_resource(target_.type, id_);
        }
        if (composition->deletion) {
            co_return answer_deleted(service_, id_, *composition);
        }
        const Result<std::vector<DocumentReference>> references = read_references(*composition);
        if (!references) {
            co_return references.error();
        }
        co_await fetch(*references);
        done = take_composition(*composition, *references);
        if (!done) {
            co_return std::move(done.error());
        }
        if (graph_.empty()) {
            done = co_await take_referred();
        } else {
            done = co_await take_graph(*composition);
        }
        if (!done) {
            co_return std::move(done.error());
        }
        co_await turns_.fetched(versions_);
        Result<std::vector<DocumentEntry>> loaded = co_await load();
        if (!loaded) {
            co_return std::move(loaded.error());
        }
        const std::string uuid = make_uuid();
        Response bundle = stream_bundle(
            fmt::format(R"({{"resourceType":"Bundle","identifier":{{"system":"urn:ietf:rfc:3986",)"
                        R"("value":"urn:uuid:{}"}},"type":"document","timestamp":"{}")",
                        uuid, format_instant(now())),
            std::make_unique<DocumentEntries>(request_.base_url, *std::move(loaded)));
        if (!persist_) {
            co_return bundle;
        }
        Response stored = co_await keep(std::move(bundle), uuid);
        co_return stored;
    }

  private:
    Result<void> read_request() {
        ANNALS_TRY(const OperationInput input, OperationInput::read(request_));
        ANNALS_TRY_VOID(input.only({"id", "persist", "graph", "_asOf"}));
        ANNALS_TRY(const std::optional<std::string> id, input.text("id"));
        ANNALS_TRY(persist_, input.flag("persist"));
        ANNALS_TRY(const std::optional<std::string> as_of, input.text("_asOf"));
        ANNALS_TRY(const std::optional<std::string> graph, input.text("graph"));
        if (graph && graph->empty()) {
            return Error{Errc::invalid, "The parameter graph is empty"};
        }
        graph_ = graph.value_or("");
        ANNALS_TRY_VOID(take_id(id));
        if (persist_ && request_.method != HttpMethod::post) {
            return Error{Errc::method_not_allowed,
                         "GET and HEAD change nothing: use POST to store a document"};
        }
        if (persist_ && request_.inside_bundle) {
            return Error{Errc::not_supported,
                         "A document cannot be stored by an entry of a Bundle"};
        }
        if (persist_) {
            ANNALS_TRY_VOID(require(service_, request_, kMayCreate, bundle_type(), Extent::part));
        }
        if (as_of) {
            ANNALS_TRY(const Position position, read_as_of(service_.store(), *as_of));
            snapshot_.emplace(service_.store(), position);
        } else {
            snapshot_.emplace(service_.store());
        }
        return {};
    }

    /// "1", "Composition/1", or either as a URL of this server.
    Result<void> take_id(const std::optional<std::string>& id) {
        if (target_.level == Level::instance_operation) {
            if (id) {
                return Error{Errc::invalid, "The Composition is named both by the URL and by id"};
            }
            id_ = target_.id;
            return {};
        }
        if (!id) {
            return Error{Errc::required, "The parameter id is required"};
        }
        if (is_resource_id(*id)) {
            id_ = *id;
            return {};
        }
        const auto named = local_reference(*id, request_.base_url);
        if (!named || named->first != target_.type || id->find("/_history/") != std::string::npos) {
            return Error{Errc::not_supported, "id does not name a Composition on this server"};
        }
        id_ = named->second;
        return {};
    }

    static TypeId bundle_type() { return *find_resource_type("Bundle"); }

    Result<void> may_read(TypeId type) const {
        return require_read(service_, request_, type, Extent::part);
    }

    static Error too_large() {
        return {Errc::answer_too_costly,
                fmt::format("The document would have more than {} resources", kDocumentEntriesMax)};
    }

    /// The references whose targets a document of the Composition must have.
    Result<std::vector<DocumentReference>> read_references(const VersionInfo& composition) {
        ANNALS_TRY(const StoredVersion stored, service_.store().load(composition));
        ANNALS_TRY(const json::Document document, thread_parser().parse(stored.body));
        return document_references(document.root());
    }

    /// Fetches what take() will read.
    asio::awaitable<void> fetch(const std::vector<DocumentReference>& references) {
        std::vector<VersionInfo> versions;
        for (const DocumentReference& reference : references) {
            if (const auto found = find_referred_version(
                    service_.store(), reference.text, request_.base_url, snapshot_->position())) {
                versions.push_back(*found);
            }
        }
        co_await turns_.fetched(versions);
    }

    /// Takes the Composition, and what its document must have.
    Result<void> take_composition(const VersionInfo& composition,
                                  const std::vector<DocumentReference>& references) {
        add(composition, resource_name(target_.type, id_));
        // References with a version go first, so that those to any version find that one.
        for (const bool with_version : {true, false}) {
            for (const DocumentReference& reference : references) {
                if ((reference.text.find("/_history/") != std::string::npos) == with_version) {
                    ANNALS_TRY_VOID(take(reference, with_version));
                }
                if (versions_.size() > kDocumentEntriesMax) {
                    return too_large();
                }
            }
        }
        if (!faults_.empty()) {
            Error error = std::move(faults_.front());
            error.others.assign(std::make_move_iterator(faults_.begin() + 1),
                                std::make_move_iterator(faults_.end()));
            return error;
        }
        return {};
    }

    Result<void> take(const DocumentReference& reference, bool with_version) {
        const auto named = local_reference(reference.text, request_.base_url);
        if (named && !with_version && taken_.contains(resource_name(named->first, named->second))) {
            return {};
        }
        if (named) {
            if (Result<void> allowed = may_read(named->first); !allowed) {
                allowed.error().expression = reference.expression;
                return allowed;
            }
        }
        const auto found = find_referred_version(service_.store(), reference.text,
                                                 request_.base_url, snapshot_->position());
        if (found && !found->deletion && view_.shows(*found)) {
            add(*found, resource_name(named->first, named->second));
        } else if (faults_.size() < kFaultsMax) {
            faults_.push_back(
                {Errc::processing,
                 fmt::format("{} is not available, but a document must contain it", reference.text),
                 reference.expression});
        }
        return {};
    }

    void add(const VersionInfo& info, std::string name) {
        if (positions_.insert(info.position.value).second) {
            versions_.push_back(info);
            resources_.insert(info.resource);
        }
        taken_.insert(std::move(name));
    }

    bool has(TypeId type, std::string_view id) const {
        return taken_.contains(resource_name(type, id));
    }

    std::size_t room() const {
        return kDocumentEntriesMax - std::min(kDocumentEntriesMax, versions_.size());
    }

    /// Takes everything that the Composition and its required resources refer to.
    asio::awaitable<Result<void>> take_referred() {
        const std::function<bool(TypeId, std::string_view)> wanted = [this](TypeId type,
                                                                            std::string_view id) {
            // Other Compositions belong to documents of their own.
            return type != target_.type && !has(type, id) && may_read(type).has_value();
        };
        const std::function<bool(const VersionInfo&)> shown = [this](const VersionInfo& info) {
            return view_.shows(info);
        };
        Result<Referred> referred = co_await find_referred(
            *snapshot_, request_.base_url, versions_, wanted, shown,
            {.limit = room(), .steps = static_cast<int>(kDocumentEntriesMax), .one_version = true},
            turns_);
        if (!referred) {
            co_return std::move(referred.error());
        }
        if (referred->cut_short) {
            co_return too_large();
        }
        versions_.insert(versions_.end(), referred->versions.begin(), referred->versions.end());
        co_return Result<void>();
    }

    /// Takes what the graph reaches from the Composition.
    asio::awaitable<Result<void>> take_graph(const VersionInfo& composition) {
        const TypeId type = *find_resource_type("GraphDefinition");
        Result<void> done = require_read(service_, request_, type, Extent::all);
        if (done) {
            const TypeId types[] = {type};
            done = co_await reach_back(service_, service_.indexing().parameters(), types,
                                       *snapshot_, turns_);
        }
        if (!done) {
            co_return std::move(done.error());
        }
        const search::SnapshotResources stored(*snapshot_);
        const Canonical canonical = split_canonical(graph_);
        const auto candidates = stored.find_candidates(type, canonical.url);
        if (!candidates) {
            co_return candidates.error();
        }
        co_await turns_.fetched(*candidates);
        const Result<search::StoredDocument> graph =
            stored.find(type, canonical.url, canonical.version);
        if (!graph) {
            co_return graph.error();
        }
        if (*graph == nullptr) {
            co_return Error{Errc::not_computable,
                            fmt::format("The GraphDefinition '{}' does not exist", graph_)};
        }
        const std::function<bool(TypeId)> wanted = [this](TypeId one) {
            return may_read(one).has_value();
        };
        Result<std::vector<VersionInfo>> found =
            co_await follow_graph(service_, request_, *snapshot_, (*graph)->root(), composition,
                                  wanted, view_, room(), turns_);
        if (!found) {
            co_return std::move(found.error());
        }
        for (const VersionInfo& info : *found) {
            if (resources_.insert(info.resource).second) {
                versions_.push_back(info);
            }
        }
        co_return Result<void>();
    }

    asio::awaitable<Result<std::vector<DocumentEntry>>> load() {
        std::vector<DocumentEntry> loaded;
        loaded.reserve(versions_.size());
        std::uint64_t bytes = 0;
        for (const VersionInfo& info : versions_) {
            const Result<StoredVersion> stored = service_.store().load(info);
            if (!stored) {
                co_return stored.error();
            }
            bytes += stored->body.size();
            if (bytes > service_.config().limits.max_body) {
                co_return Error{Errc::answer_too_costly,
                                fmt::format("The document would be larger than {} bytes",
                                            service_.config().limits.max_body)};
            }
            loaded.push_back({info.type, std::string(stored->id),
                              std::make_shared<const std::string>(stored->body)});
            if (turns_.pace().is_over()) {
                const Result<void> in_time = co_await turns_.next();
                if (!in_time) {
                    co_return in_time.error();
                }
            }
        }
        co_return loaded;
    }

    /// Stores the Bundle; 200 with it and its location.
    asio::awaitable<Response> keep(Response bundle, std::string_view id) {
        std::string text = bundle.body.str();
        for (bool more = bundle.more != nullptr; more;) {
            Body slice;
            more = bundle.more->next(slice);
            text += slice.str();
        }
        // Its copies of the entries would stay in memory while the text waits to be validated.
        bundle = Response();
        SubmittedResource resource;
        const auto take = [&](Unfinished& unfinished) -> Result<void> {
            ANNALS_TRY(json::Document parsed, thread_parser().parse(text));
            return resource.take(service_, request_, bundle_type(), std::move(parsed), &unfinished);
        };
        Unfinished unfinished;
        Result<void> fit = take(unfinished);
        while (unfinished.any()) {
            resource.release();
            co_await finish(service_, *request_.loop, unfinished);
            fit = take(unfinished);
        }
        if (!fit) {
            co_return fit.error();
        }
        for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
            storage::VersionWrite write;
            write.type = bundle_type();
            write.id = id;
            write.method = storage::Method::post;
            write.expect = storage::Expect::absent;
            std::optional<Response> response =
                co_await commit_resource(service_, request_, resource, write);
            if (response) {
                if (response->status == 201) {
                    response->status = 200;
                }
                co_return *std::move(response);
            }
        }
        co_return too_many_attempts();
    }

    const Service& service_;
    const Request& request_;
    const Target& target_;
    ScopedView view_;
    Turns turns_;
    std::string id_;
    bool persist_ = false;
    std::string graph_;  // empty: none
    std::optional<search::Snapshot> snapshot_;
    std::vector<VersionInfo> versions_;  // in the order of the document
    std::unordered_set<std::uint64_t> positions_;
    std::unordered_set<std::uint32_t> resources_;
    TextSet<> taken_;  // "Type/id"
    std::vector<Error> faults_;
};

}  // namespace

asio::awaitable<Response> document_operation(const Service& service, const Request& request,
                                             const Target& target) {
    Document document(service, request, target);
    co_return co_await document.run();
}

}  // namespace annals::core
