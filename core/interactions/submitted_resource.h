// A submitted resource: parsed, checked as far as possible without knowing other writes, and handed to the store.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#create, #update; docs/validation.md.
// Threads: runs on the loop of its request; parses with that thread's own Parser.

#pragma once

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "core/exchange.h"
#include "core/interactions/turns.h"
#include "core/service.h"
#include "storage/types.h"

#include <asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// The calling thread's parser for resources and for the deeper documents that contain them.
json::Parser& thread_parser();

/// Parses what was sent, removing needless escapes from keys and types, so that names can be compared byte by byte.
/// `checked`: also collects what check_resource() needs.
/// Errors: invalid, body_too_large.
Result<json::Document> parse_plain(json::Parser& parser, std::string_view text,
                                   bool checked = false);

/// The same for a resource to be stored; `checked` unless `validation` is off.
/// Errors: invalid, body_too_large.
Result<json::Document> parse_submitted(const Config& config, json::Parser& parser,
                                       std::string_view text);

/// Parses a planned body as it will be stored, except for values that are not known yet. Errors: invalid.
Result<json::Document> parse_planned(const json::BodyPlan& plan);

/// Whether `resource`, of which read_facts() gave `facts`, states the URL's type or none. Expressions in errors begin with
/// `prefix` or, if that is empty, with the stated type. Errors: invalid.
Result<void> check_type(json::Value resource, const Result<json::ResourceFacts>& facts, TypeId type,
                        std::string_view prefix);

/// As SubmittedResource::check_whole().
Result<void> check_whole(const json::ResourceFacts& facts);

/// The steps that full validation may take on a loop: about ten milliseconds' work, and about as much again in terminology, which
/// has a budget of the same size. What takes more is left to the worker.
inline constexpr std::uint64_t kValidationStepsOnLoop = 1'000'000;

/// The same for a first attempt, which the request repeats if it fails: about a millisecond's work, many times what usual resources
/// take.
inline constexpr std::uint64_t kValidationStepsEarly = 100'000;

/// The same for the paths of a FHIRPath Patch.
inline constexpr std::uint64_t kPatchStepsOnLoop = 1'000'000;

/// What check_resource() or PatchDocument::apply() left undone because it would have held up a loop: await finish(), and call it
/// again with this.
struct Unfinished {
    /// A resource whose full validation takes more than `validation_steps`.
    struct Costly {
        std::shared_ptr<const std::string> text;  ///< the worker's, too
        std::string prefix;                       ///< of the expressions in errors
        std::optional<Result<void>> verdict;      ///< the worker's
    };

    /// A patch whose paths take more than kPatchStepsOnLoop.
    struct CostlyPatch {
        std::shared_ptr<const std::string> body;     ///< of the version to patch; the worker's, too
        std::function<Result<std::string>()> apply;  ///< owns what it uses
        std::optional<Result<std::string>> patched;  ///< by the worker
    };

    std::uint64_t validation_steps = kValidationStepsOnLoop;  ///< what full validation may take
    std::vector<Position> unread;  ///< stored definitions that are not in memory
    int times_looked = 0;          ///< how often some have been fetched
    std::unique_ptr<Costly> costly;
    std::unique_ptr<CostlyPatch> patch;

    /// Whether something is left: the result is then meaningless.
    bool any() const noexcept {
        return !unread.empty() || (costly != nullptr && !costly->verdict) ||
               (patch != nullptr && !patch->patched);
    }

    /// For functions that take `unread`: null, so that they wait for the device, after kTimesLookedMax.
    std::vector<Position>* positions() noexcept {
        return times_looked < kTimesLookedMax ? &unread : nullptr;
    }
};

/// Fetches the definitions, or has the worker apply the patch or check the resource. That may take long: callers first release the
/// parsed resource, which takes many times the memory of its text, if they can parse it again. Requires: unfinished.any().
/// Lifetime: the arguments outlive the await.
asio::awaitable<void> finish(const Service& service, Loop& loop, Unfinished& unfinished);

/// Whether `resource` can be stored: it nests no deeper than kJsonDepthMax and meets what `validation` demands: the structure
/// that R4 defines for its type, and with "full" also bindings, invariants and the profiles that it claims. Expressions in
/// errors begin with `prefix` or, if that is empty, with its type.
/// Errors: invalid (too deep), structure, required, value; in full also business_rule and too_costly (too many steps): the first
///         fault, all others in Error::others.
/// `unfinished`: receives what would hold up a loop. Null: waits for the device, and takes all its steps.
Result<void> check_resource(const Service& service, json::Value resource,
                            std::string_view prefix = {}, Unfinished* unfinished = nullptr);

/// The part of full validation that needs the resource's links resolved: whether its references lead to permitted types.
/// Errors: business_rule, too_costly, as check_resource().
Result<void> check_resolved(json::Value resource, std::string_view prefix);

/// Whether the scopes of the sender of `request` permit storing `resource` by `write`. Errors: insufficient_scope.
Result<void> check_written(const Service& service, const Request& request,
                           const storage::VersionWrite& write, json::Value resource);

/// The resource in a request's body, parsed once and submitted as often as necessary.
class SubmittedResource {
  public:
    SubmittedResource() = default;
    ~SubmittedResource();
    SubmittedResource(const SubmittedResource&) = delete;
    SubmittedResource& operator=(const SubmittedResource&) = delete;

    /// Parses the body and checks that it is a resource of `type` that can be stored, for a handler that is tried before the one
    /// that awaits.
    /// Errors: unsupported_media; those of parse_submitted() and take(), with place and byte offset; those of
    ///         check_subscriber(); a meaningless one if is_unfinished().
    Result<void> read_early(const Service& service, const Request& request, TypeId type);

    /// True if read_early() would have held up the loop: await read_by_turns() instead.
    bool is_unfinished() const noexcept { return unfinished_.any(); }

    /// As read_early(), but waits for what it needs.
    /// Lifetime: this and the arguments outlive the await. Errors: those of read_early(); overloaded.
    asio::awaitable<Result<void>> read_by_turns(const Service& service, const Request& request,
                                                TypeId type);

    /// The same for a document that has been parsed already.
    /// Errors: invalid (another type); those of check_resource(); conflict (a reference that can't lead to anything here, if
    ///         references are checked on write).
    Result<void> take(const Service& service, const Request& request, TypeId type,
                      json::Document document, Unfinished* unfinished = nullptr);

    /// Whether the body is a complete resource, which may replace another. Requires: the body was read.
    /// Errors: business_rule (the tag SUBSETTED: it came from a read with _summary or _elements).
    Result<void> check_whole() const;

    /// The id in the body, if there is one; not checked.
    std::optional<std::string_view> id() const noexcept { return facts_.id; }

    /// Submits `write`, completed with the body and its search terms, together with `guards` and the requirements that the
    /// configuration makes of references. Requires: the body was read.
    storage::Submission submit(const Service& service, storage::VersionWrite& write,
                               std::span<const storage::Guard> guards = {},
                               std::string_view client_request_id = {});

    /// Returns the buffers to the parser; only another read or take(), or destruction, may follow.
    void release() noexcept;

    /// Whether restricted scopes of the sender of `request` permit `write`: the resource must be of the permitted part of
    /// its type, and may only refer to what the sender may see. Errors: insufficient_scope; conflict, as for what does not
    /// exist.
    Result<void> check_scopes(const Service& service, const Request& request,
                              const storage::VersionWrite& write) const;

    /// Fetches what check_scopes() reads.
    asio::awaitable<void> fetch_referred(const Service& service, const Request& request) const;

    /// The error for a submission of Status::requirement_failed.
    Error missing_reference(std::size_t requirement) const;

  private:
    struct Reference {
        TypeId type;
        std::string id;
        std::string version;      ///< empty: none is named
        std::uint32_t place = 0;  ///< node index, for json::expression_of()
    };

    Result<void> read(const Service& service, const Request& request, TypeId type);

    json::Document document_;
    json::ResourceFacts facts_;
    std::vector<Reference> references_;
    Unfinished unfinished_;  ///< of read()
};

}  // namespace annals::core
