#include "core/operations/everything.h"

#include "core/base/digest.h"
#include "core/base/sort_unique.h"
#include "core/definitions.h"
#include "core/interactions/answer.h"
#include "core/interactions/as_of.h"
#include "core/interactions/first_page.h"
#include "core/interactions/search_bundle.h"
#include "core/interactions/search_page.h"
#include "core/interactions/turns.h"
#include "core/operations/everything_parts.h"
#include "core/operations/input.h"
#include "core/operations/referred.h"
#include "core/scoped_view.h"
#include "core/search/compartments.h"
#include "core/search/cursor.h"
#include "core/search/snapshot_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

namespace annals::core {

namespace {

using search::Cursor;
using search::Query;

constexpr int kReferredStepsMax = 3;

// Handles one call, from its parameters to its Bundle.
class Everything {
  public:
    Everything(const Service& service, const Request& request, const Target& target, Turns& turns)
        : service_(service),
          request_(request),
          target_(target),
          parameters_(service.indexing().parameters()),
          read_(service, request, kMayRead),
          searched_(service, request, kMaySearch, "search"),
          view_(target.type, target.level == Level::type_operation ? searched_ : read_, searched_),
          members_(search::compartment_members(target.type)),
          turns_(turns) {}

    bool is_first_page() const noexcept { return !cursor_; }

    asio::awaitable<Response> run() {
        Result<void> done = read_request();
        if (!done) {
            co_return std::move(done.error());
        }
        co_await fetch_instance();
        if (auto refusal = absent()) {
            co_return *std::move(refusal);
        }
        done = make_parts();
        if (done && as_of_) {
            std::vector<TypeId> types;
            for (const Query& part : parts_) {
                types.push_back(type_of(part));
            }
            done = co_await reach_back(service_, parameters_, types, *snapshot_, turns_);
        }
        if (done) {
            done = require_index();
        }
        if (done && count_ > 0) {
            done = co_await gather_page();
        }
        if (done) {
            done = co_await find_total();
        }
        if (!done) {
            co_return std::move(done.error());
        }
        co_await request_.loop->fetched(page_.matches);
        if (tells_beside()) {
            done = co_await find_beside();
        }
        if (!done) {
            co_return std::move(done.error());
        }
        make_links();
        co_await request_.loop->fetched(content_.included);
        const storage::Store& store = service_.store();
        if (scope_.key && !current_as_of(store, target_.type, target_.id, store.last_position())) {
            // It was purged meanwhile, with all that belongs to it.
            co_return no_such_resource(target_.type, target_.id);
        }
        co_return answer_search(service_, request_.base_url, std::move(content_));
    }

  private:
    Result<void> read_request() {
        ANNALS_TRY(const OperationInput input, OperationInput::read(request_));
        ANNALS_TRY_VOID(
            input.only({"start", "end", "_since", "_type", "_count", "_cursor", "_asOf"}));
        scope_.compartment = target_.type;
        ANNALS_TRY_VOID(take_time(input, "start", scope_.start));
        ANNALS_TRY_VOID(take_time(input, "end", scope_.end));
        ANNALS_TRY_VOID(take_time(input, "_since", scope_.since));
        ANNALS_TRY(const std::vector<std::string> lists, input.texts("_type"));
        for (const std::string& list : lists) {
            ANNALS_TRY(const std::vector<TypeId> types, search::read_types(list));
            types_.insert(types_.end(), types.begin(), types.end());
            keep("_type", list);
        }
        sort_unique(types_);  // each resource is compared with all of them
        ANNALS_TRY(const auto count, input.number("_count"));
        count_ = kEverythingPageMax;
        if (count) {
            count_ = static_cast<std::size_t>(std::min(*count, service_.config().max_page_size));
            keep("_count", std::to_string(count_));
        }
        for (const std::string_view name : {"_format", "_pretty", "_summary", "_elements"}) {
            ANNALS_TRY(const std::vector<std::string> values, input.texts(name));
            for (const std::string& value : values) {
                keep(name, value);
            }
        }
        ANNALS_TRY(const std::optional<std::string> as_of, input.text("_asOf"));
        if (as_of) {
            ANNALS_TRY(as_of_, read_as_of(service_.store(), *as_of));
            keep("_asOf", *as_of);
        }
        digest_ = digest();
        ANNALS_TRY(const std::optional<std::string> cursor, input.text("_cursor"));
        return take_snapshot(cursor);
    }

    Result<void> take_snapshot(const std::optional<std::string>& cursor) {
        const storage::Store& store = service_.store();
        if (!cursor && as_of_) {
            snapshot_.emplace(store, *as_of_);
        } else if (!cursor) {
            snapshot_.emplace(store);
        } else {
            ANNALS_TRY(cursor_, search::read_cursor(*cursor));
            if (cursor_->snapshot > store.last_position() || cursor_->query != digest_) {
                return search::malformed_cursor();
            }
            snapshot_.emplace(store, cursor_->snapshot);
        }
        if (target_.level == Level::instance_operation) {
            scope_.key = store.search_key(target_.type, target_.id);
        }
        return {};
    }

    Result<void> take_time(const OperationInput& input, std::string_view name, std::string& out) {
        // For some types, no search parses the time.
        ANNALS_TRY_VOID(input.instant(name));
        ANNALS_TRY(const std::optional<std::string> text, input.text(name));
        if (text) {
            out = *text;
            keep(name, *text);
        }
        return {};
    }

    void keep(std::string_view name, std::string_view value) {
        kept_ += fmt::format("{}{}={}", kept_.empty() ? "?" : "&", name, percent_encode(value));
    }

    std::string path() const {
        return target_.level == Level::instance_operation
                   ? fmt::format("/{}/{}/$everything", resource_type_name(target_.type), target_.id)
                   : fmt::format("/{}/$everything", resource_type_name(target_.type));
    }

    /// A digest of what a cursor's later calls must have in common with this one.
    std::uint32_t digest() const {
        return static_cast<std::uint32_t>(hash64(kept_, hash64(path())));
    }

    /// The resource at the snapshot. Later pages show what is left of it: if that version has been erased, the newest one tells
    /// whether they may be shown.
    std::optional<storage::VersionInfo> instance() const {
        const storage::Store& store = service_.store();
        auto info = current_as_of(store, target_.type, target_.id, snapshot_->position());
        if (!info && cursor_) {
            info = current_as_of(store, target_.type, target_.id, store.last_position());
        }
        return info;
    }

    /// Fetches what absent() will read.
    asio::awaitable<void> fetch_instance() const {
        const auto info = scope_.key && !read_.is_whole() ? instance() : std::nullopt;
        if (info) {
            co_await fetch_version(service_, request_, target_.id, *info);
        }
    }

    /// 404 or 410 if the resource did not exist at the snapshot.
    std::optional<Response> absent() const {
        if (!scope_.key) {
            return {};
        }
        const auto info = instance();
        if (!info || !read_.shows(*info)) {
            return no_such_resource(target_.type, target_.id);
        }
        // A deletion after the snapshot only stands in for an erased version that was none.
        if (info->deletion && info->position <= snapshot_->position()) {
            return answer_deleted(service_, target_.id, *info);
        }
        return {};
    }

    Result<void> make_parts() {
        const search::SnapshotResources stored(*snapshot_, service_.definitions().carried());
        const search::QueryContext context{.stored = stored,
                                           .view = view_,
                                           .parameters = parameters_,
                                           .base_url = std::string(request_.base_url)};
        // Members that are left out may refer to resources that are included.
        if (!tells_beside()) {
            scope_.types = types_;
        }
        ANNALS_TRY(std::vector<Query::TypePlan> plans, everything_parts(context, scope_));
        for (Query::TypePlan& plan : plans) {
            if (plan.type == target_.type ||
                require_search(service_, request_, plan.type, Extent::part)) {
                parts_.emplace_back().types.push_back(std::move(plan));
            }
        }
        return {};
    }

    static TypeId type_of(const Query& part) { return part.types.front().type; }

    Result<void> require_index() {
        for (const Query& part : parts_) {
            if (!snapshot_->answers(type_of(part))) {
                return search::expired_snapshot();
            }
        }
        return {};
    }

    bool backwards() const { return cursor_ && cursor_->backwards; }

    /// Whether the page begins at the beginning, as the first one does.
    bool begins_first() const {
        return !cursor_ || (!cursor_->backwards && cursor_->edge.value == 0);
    }

    /// Whether view_ shows it.
    bool shows(const storage::VersionInfo& info) const {
        const bool own = info.type == target_.type && target_.level != Level::type_operation;
        return (own ? read_ : searched_).shows(info);
    }

    /// The part that contains the cursor's edge; none if it has been erased or isn't visible: then not
    /// even its type is revealed.
    std::optional<std::size_t> part_of_edge() const {
        const storage::Store& store = service_.store();
        const auto edge = store.at(cursor_->edge);
        if (!edge || !shows(*edge)) {
            return {};
        }
        std::size_t found = parts_.size();
        for (std::size_t i = parts_.size(); i-- > 0;) {
            found = type_of(parts_[i]) == edge->type ? i : found;
        }
        // Others of the resource's own type are in the next part.
        if (found + 1 < parts_.size() && type_of(parts_[found + 1]) == edge->type) {
            const Result<storage::StoredVersion> stored = store.load(*edge);
            found += stored && stored->id != target_.id ? 1 : 0;
        }
        return found == parts_.size() ? std::nullopt : std::optional<std::size_t>(found);
    }

    asio::awaitable<Result<void>> gather_page() {
        const bool up = backwards();
        std::size_t at = 0;
        std::optional<Cursor> from = cursor_;
        if (!begins_first()) {
            if (const auto edge = service_.store().at(cursor_->edge)) {
                co_await turns_.fetched(std::span(&*edge, 1));
            }
            const auto part = part_of_edge();
            if (!part) {
                co_return search::expired_snapshot();
            }
            at = *part;
        }
        bool more = false;
        while (at < parts_.size() && !more) {
            parts_[at].total = search::TotalMode::none;
            Result<SearchPage> found = co_await core::find_page(
                *snapshot_, parts_[at], from, count_ + 1 - page_.matches.size(), turns_);
            if (!found) {
                co_return std::move(found.error());
            }
            page_.matches.insert(up ? page_.matches.begin() : page_.matches.end(),
                                 found->matches.begin(), found->matches.end());
            more =
                (up ? found->begins_inside : found->ends_inside) || page_.matches.size() > count_;
            if (from) {
                from->edge = {};  // it is of this part: the next one is read from its own end
            }
            at = up ? at - 1 : at + 1;  // at 0 this wraps beyond the end
        }
        if (page_.matches.size() > count_) {
            page_.matches.erase(up ? page_.matches.begin() : page_.matches.end() - 1);
        }
        std::ranges::copy_if(
            page_.matches, std::back_inserter(content_.matches),
            [this](const storage::VersionInfo& info) { return is_told(info.type); });
        page_.begins_inside = up ? more : !begins_first();
        page_.ends_inside = up || more;
        co_return Result<void>();
    }

    /// Counts matches on the first page; later pages carry the number along.
    asio::awaitable<Result<void>> find_total() {
        if (cursor_) {
            content_.total = cursor_->total;
            co_return Result<void>();
        }
        if (count_ > 0 && !page_.ends_inside) {
            content_.total = content_.matches.size();
            co_return Result<void>();
        }
        std::uint64_t total = 0;
        for (Query& part : parts_) {
            if (!is_told(type_of(part))) {
                continue;
            }
            part.total = search::TotalMode::accurate;
            Result<SearchPage> counted =
                co_await core::find_page(*snapshot_, part, std::nullopt, 0, turns_);
            if (!counted) {
                co_return std::move(counted.error());
            }
            total += counted->total.value_or(0);
        }
        content_.total = total;
        co_return Result<void>();
    }

    /// Finds what the page's members, included or not, refer to.
    asio::awaitable<Result<void>> find_beside() {
        const std::function<bool(TypeId, std::string_view)> wanted =
            [this](TypeId type, std::string_view /*id*/) { return is_beside(type); };
        const std::function<bool(const storage::VersionInfo&)> shown =
            [this](const storage::VersionInfo& info) { return searched_.shows(info); };
        Result<Referred> referred = co_await find_referred(
            *snapshot_, request_.base_url, page_.matches, wanted, shown,
            {.limit = kEverythingPageMax, .steps = kReferredStepsMax}, turns_);
        if (!referred) {
            co_return std::move(referred.error());
        }
        content_.included = std::move(referred->versions);
        std::erase_if(content_.included,
                      [this](const storage::VersionInfo& info) { return !is_told(info.type); });
        if (referred->cut_short) {
            content_.warnings.push_back(
                fmt::format("More than {} resources are referred to; the rest is left out",
                            kEverythingPageMax));
        }
        co_return Result<void>();
    }

    bool is_told(TypeId type) const {
        return types_.empty() || std::ranges::find(types_, type) != types_.end();
    }

    /// Whether the type is included when something refers to it. Members are included anyway, and those of
    /// other compartments must not be.
    bool is_beside(TypeId type) const {
        return !std::ranges::binary_search(members_, type) &&
               require_search(service_, request_, type, Extent::part);
    }

    /// Whether any of these are requested.
    bool tells_beside() const {
        return types_.empty() ||
               std::ranges::any_of(types_, [this](TypeId type) { return is_beside(type); });
    }

    std::string url(const std::optional<Cursor>& cursor) const {
        std::string out = fmt::format("{}{}{}", request_.base_url, path(), kept_);
        if (cursor) {
            out += kept_.empty() ? "?_cursor=" : "&_cursor=";
            out += search::write_cursor(*cursor);
        }
        return out;
    }

    void make_links() {
        content_.links.emplace_back("self", url(cursor_));
        Cursor there;
        there.snapshot = snapshot_->position();
        there.total = content_.total;
        there.query = digest_;
        there.by_instant = !cursor_ || cursor_->by_instant;
        const std::optional<Position> previous = page_.previous_edge(cursor_);
        const std::optional<Position> next = page_.next_edge(cursor_);
        // All that was before the edge has been erased.
        const bool begins_with_edge = backwards() && page_.matches.empty();
        if (page_.begins_inside || begins_with_edge) {
            content_.links.emplace_back("first", url({}));
        }
        if (previous) {
            there.backwards = true;
            there.edge = *previous;
            content_.links.emplace_back("previous", url(there));
        }
        if (next) {
            there.backwards = false;
            there.edge = *next;
            content_.links.emplace_back("next", url(there));
        }
    }

    const Service& service_;
    const Request& request_;
    const Target& target_;
    std::shared_ptr<const search::ParameterSet> parameters_;
    ScopedView read_;
    ScopedView searched_;
    SplitView view_;
    const std::vector<TypeId> members_;  // in the compartment, ascending
    Turns& turns_;
    EverythingScope scope_;
    std::vector<TypeId> types_;  // included types; empty: all
    std::string kept_;           // parameters for links, encoded
    std::uint32_t digest_ = 0;
    std::size_t count_ = 0;
    std::optional<Position> as_of_;
    std::optional<Cursor> cursor_;
    std::optional<search::Snapshot> snapshot_;
    std::vector<Query> parts_;  // each of one type
    SearchPage page_;           // also members that are left out
    SearchBundleContent content_;
};

}  // namespace

asio::awaitable<Response> everything_operation(const Service& service, const Request& request,
                                               const Target& target) {
    Turns turns(*request.loop, service.config().limits.request_timeout);
    FirstPage first(service);
    for (;;) {
        Everything everything(service, request, target, turns);
        Response response = co_await everything.run();
        if (!everything.is_first_page() || !first.begin_again(response)) {
            co_return response;
        }
    }
}

}  // namespace annals::core
