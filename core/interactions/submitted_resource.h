// A resource that is submitted: parsed, checked as far as it can be without other writes, and handed to the store.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#create, #update; docs/validation.md.
// Threads: runs on the loop of its request; parses with that thread's own Parser.

#pragma once

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "core/exchange.h"
#include "core/service.h"
#include "storage/types.h"

#include <asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// The parser of the calling thread, for resources: what holds them may nest deeper.
json::Parser& thread_parser();

/// Parses what was sent, its keys and types written without needless escapes: whoever looks for a name compares it as it stands.
/// `checked`: looks on the way at what check_resource() asks for.
/// Errors: invalid, body_too_large.
Result<json::Document> parse_plain(json::Parser& parser, std::string_view text,
                                   bool checked = false);

/// The same of what is to be stored, checked unless `validation` is off.
/// Errors: invalid, body_too_large.
Result<json::Document> parse_submitted(const Config& config, json::Parser& parser,
                                       std::string_view text);

/// A body that is planned, parsed as it will be stored but for what is not known yet. Errors: invalid.
Result<json::Document> parse_planned(const json::BodyPlan& plan);

/// Refuses what check_whole() refuses.
Result<void> check_whole(const json::ResourceFacts& facts);

/// Whether `resource` can be stored: it nests no deeper than kJsonDepthMax, and is what `validation` asks for: built as R4
/// defines its type, and in full also true to bindings, invariants and the profiles that it claims; expressions begin with
/// `prefix`, or else with its type.
/// Errors: invalid (too deep), structure, required, value; in full also business_rule: the first fault, all others in
///         Error::others.
/// `unread`: where the positions go of stored definitions that it goes by and that are on the device only; what is returned then
/// means nothing. Null: they are waited for.
Result<void> check_resource(const Service& service, json::Value resource,
                            std::string_view prefix = {}, std::vector<Position>* unread = nullptr);

/// What full validation can tell of a resource only when its links are resolved: whether its references lead to types that they
/// may lead to. Errors: business_rule, as check_resource().
Result<void> check_resolved(json::Value resource, std::string_view prefix);

/// Whether the scopes of whoever sends `request` permit that `resource` becomes what `write` says. Errors: forbidden.
Result<void> check_written(const Service& service, const Request& request,
                           const storage::VersionWrite& write, json::Value resource);

/// The resource in a request's body, parsed once, and submitted as often as it takes.
class SubmittedResource {
  public:
    SubmittedResource() = default;
    ~SubmittedResource();
    SubmittedResource(const SubmittedResource&) = delete;
    SubmittedResource& operator=(const SubmittedResource&) = delete;

    /// Parses the body and checks that it is a resource of `type` that can be stored.
    /// Errors: unsupported_media; invalid, structure, required, value with place and byte offset; too_costly;
    ///         forbidden (check_subscriber()); a meaningless one if is_unread().
    Result<void> read(const Service& service, const Request& request, TypeId type);

    /// True if read() looked at stored definitions that are on the device only: await read_fetched() instead.
    bool is_unread() const noexcept { return !unread_.empty(); }

    /// The same as read(), with what it looks at fetched where it is on the device only.
    /// Lifetime: this and what is passed outlive the await. Errors: those of read().
    asio::awaitable<Result<void>> read_fetched(const Service& service, const Request& request,
                                               TypeId type);

    /// The same for what is parsed already.
    /// Errors: invalid, structure, required, value; too_costly.
    Result<void> take(const Service& service, const Request& request, TypeId type,
                      json::Document document, std::vector<Position>* unread = nullptr);

    /// Is the body a whole resource, one that may replace another? Requires: read() succeeded.
    /// Errors: business_rule (the tag SUBSETTED: it came from a read with _summary or _elements).
    Result<void> check_whole() const;

    /// The id in the body, if there is one; not checked.
    std::optional<std::string_view> id() const noexcept { return facts_.id; }

    /// Submits `write`, completed by its body and what it can be found by, with `guards` and what the configuration requires of
    /// references. Requires: read() succeeded.
    storage::Submission submit(const Service& service, storage::VersionWrite& write,
                               std::span<const storage::Guard> guards = {},
                               std::string_view client_request_id = {});

    /// Gives the parser its buffers back; only read(), take() or destruction may follow.
    void release() noexcept;

    /// Why whoever sends `request` may not write this as `type`/`id`, if his scopes hold him to a part: it would not be of
    /// that part, or refers to what he is not told of. Errors: forbidden; conflict, as for what does not exist.
    Result<void> check_scopes(const Service& service, const Request& request,
                              const storage::VersionWrite& write) const;

    /// Has fetched what check_scopes() looks at.
    asio::awaitable<void> fetch_referred(const Service& service, const Request& request) const;

    /// The error for a submission of Status::requirement_failed.
    Error missing_reference(std::size_t requirement) const;

  private:
    Result<void> parse(const Service& service, const Request& request, TypeId type,
                       std::vector<Position>* unread);

    struct Reference {
        TypeId type;
        std::string id;
        std::string version;      ///< empty: it names none
        std::uint32_t place = 0;  ///< node index, for json::expression_of()
    };

    json::Document document_;
    json::ResourceFacts facts_;
    std::vector<Reference> references_;
    std::vector<Position> unread_;  ///< of read()
};

/// Appends the runs of `plan` as pieces for a VersionWrite.
void append_pieces(const json::BodyPlan& plan, std::vector<storage::BodyPiece>& pieces);

}  // namespace annals::core
