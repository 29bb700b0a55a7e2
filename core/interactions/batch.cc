#include "core/interactions/batch.h"

#include "core/base/text_map.h"
#include "core/interactions/bundle_entry.h"
#include "core/interactions/entry_answer.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/turns.h"
#include "core/operations/operations.h"
#include "core/target.h"

#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace annals::core {

namespace {

/// The most entries in flight for one to begin that is not submitted at once: it has coroutines of its own.
constexpr std::size_t kInFlightMax = 128;

/// The same for one that is submitted at once, of which little more than its answer is kept until it has settled.
constexpr std::size_t kSubmittedMax = 1024;

/// The most bytes of bodies in flight, unless it is a single one: if a few batches filled what the store gathers
/// (kUnsyncedBytesMax) on a slow device, everybody's writes would be refused.
constexpr std::size_t kInFlightBytesMax = 16 << 20;

/// After so many entries, or bytes of their bodies, the log writer is woken, so that it writes them while the next are submitted.
constexpr std::size_t kFlushedEntries = kSubmittedMax / 2;
constexpr std::size_t kFlushedBytes = kInFlightBytesMax / 2;

/// The most entries begun, or added to the answer, in one turn, which the clock may end sooner.
constexpr std::size_t kEntriesPerTurn = 128;

/// What an entry must wait for, so that it sees the effects of the entries before it.
enum class Order : std::uint8_t {
    create,              ///< nothing: its resource is new
    conditional_create,  ///< updates, which may change what its criteria match
    conditional_update,  ///< writes to instances, which may change what its criteria match
    write,               ///< conditional writes, and what is not submitted for its resource
    instance,            ///< conditional writes, and entries for the same resource
    alone,               ///< everything before it; everything after it waits for it
};

struct BatchEntry {
    json::Value value;
    EntryRequest asked;
    Request request;
    Route route;
    Response response;
    Order order = Order::alone;
    std::string resource;  ///< "Patient/1" of Order::write and Order::instance
};

/// How many entries for one resource are in flight.
struct InFlight {
    std::size_t all = 0;
    std::size_t submitted = 0;  ///< of these, to the store, which writes in that order
};

/// A batch in progress, on one loop.
class Batch {
  public:
    Batch(const Service& service, const Request& outer, std::size_t count,
          std::chrono::steady_clock::time_point end)
        : service_(service),
          outer_(outer),
          changed_(outer.loop->context()),
          budget_(service.config()),
          turns_(*outer.loop, end),
          entries_(count) {}

    asio::awaitable<Response> run(json::Value list) {
        std::size_t index = 0;
        for (const json::Value value : list.elements()) {
            BatchEntry& entry = entries_[index];
            entry.value = value;
            if (prepare(entry)) {
                co_await run_entry(entry);
            } else {
                fit(entry);
            }
            if (++index % kEntriesPerTurn == 0 || turns_.pace().is_over()) {
                co_await turns_.give_way();
            }
        }
        while (in_flight_ != 0) {
            co_await change();
        }
        ResponseBundle answer("batch-response", outer_.base_url, service_.config().audited());
        answer.copy_versions();  // they are copies already, which become one text
        std::size_t bytes = 0;
        for (const BatchEntry& entry : entries_) {
            bytes += kAnsweredEntryBytes + entry.response.body.size();
        }
        answer.reserve(bytes);
        const bool outcomes =
            read_preference(outer_).return_form == Preference::Return::operation_outcome;
        index = 0;
        std::optional<Position> position;
        for (BatchEntry& entry : entries_) {
            position = std::max(position, entry.response.position);
            answer.add(entry.value, entry.asked.method, std::move(entry.response),
                       outcomes && is_write(entry));
            if (++index % kEntriesPerTurn == 0 || turns_.pace().is_over()) {
                co_await turns_.give_way();
            }
        }
        Response response = answer.finish();
        response.position = position;
        co_return response;
    }

  private:
    /// Makes an outcome about a resource refer to places in the Bundle: Bundle.entry[3].resource.birthDate.
    void name_entry(BatchEntry& entry) const {
        if (!entry.response.failure) {
            return;
        }
        const std::string type = entry.value["resource"]["resourceType"].string() + ".";
        if (!entry.response.failure->expression.starts_with(type)) {
            return;
        }
        const auto index = static_cast<std::size_t>(&entry - entries_.data());
        Error failure = *std::move(entry.response.failure);
        const auto rename = [&](std::string& expression) {
            if (expression.starts_with(type)) {
                expression = fmt::format("Bundle.entry[{}].resource.{}", index,
                                         std::string_view(expression).substr(type.size()));
            }
        };
        rename(failure.expression);
        for (Error& other : failure.others) {
            rename(other.expression);
        }
        entry.response.failure = std::move(failure);
        entry.response.body = Body();  // it must be rebuilt
    }

    /// Not operations: their answer is a result, even if it is an OperationOutcome.
    static bool is_write(const BatchEntry& entry) {
        return entry.asked.method != HttpMethod::get && entry.asked.method != HttpMethod::head &&
               entry.route.target.operation.empty();
    }

    static EntryUse use_of(const BatchEntry& entry) {
        if (entry.asked.method == HttpMethod::get || entry.asked.method == HttpMethod::head) {
            return EntryUse::read;
        }
        const Target& target = entry.route.target;
        if (is_search_by_post(target.level)) {
            return EntryUse::read;
        }
        const Operation* const operation =
            target.operation.empty() ? nullptr : find_operation(target);
        return operation != nullptr && !operation->affects_state ? EntryUse::read : EntryUse::write;
    }

    /// Converts the answer to `entry` into the one that goes into the Bundle. Requires: it views no version.
    void fit_own(BatchEntry& entry) {
        name_entry(entry);
        fit_answer(entry.request, use_of(entry), budget_, entry.response);
        entry.response.failure.reset();
    }

    /// The same for any answer.
    void fit(BatchEntry& entry) {
        fit_own(entry);
        // Copied: if a version that it views were erased before the Bundle is sent, zeros would be sent.
        entry.response.body = Body(entry.response.body.str());
    }

    /// The same for an answer that is still being produced.
    asio::awaitable<void> draw(BatchEntry& entry) {
        co_await draw_answer(entry.request, use_of(entry), budget_, turns_, entry.response);
        entry.response.failure.reset();
    }

    Result<EntryRequest> read(const BatchEntry& entry) const {
        const auto index = static_cast<std::size_t>(&entry - entries_.data());
        ANNALS_TRY_VOID(check_readable(outer_, index));
        return read_entry_request(entry.value, outer_.base_url);
    }

    /// Builds the request of `entry`; false if it has its answer already.
    bool prepare(BatchEntry& entry) {
        auto asked = read(entry);
        if (!asked) {
            entry.response = asked.error();
            return false;
        }
        entry.asked = *std::move(asked);
        const bool has_body =
            entry.asked.method == HttpMethod::post || entry.asked.method == HttpMethod::put;
        entry.request = request_of_entry(
            entry.asked, outer_, has_body ? entry.value["resource"].raw() : std::string_view{});
        const auto target = parse_target(entry.asked.path);
        if (target && target->level == Level::root && entry.asked.method == HttpMethod::post) {
            entry.response = Error{Errc::invalid, "a Bundle cannot be submitted inside a batch"};
            return false;
        }
        if (target) {
            set_order(entry, *target);
        }
        return true;
    }

    void set_order(BatchEntry& entry, const Target& target) const {
        const HttpMethod method = entry.asked.method;
        if (service_.config().integrity_on_delete && method == HttpMethod::delete_) {
            // Goes alone: resources that earlier entries delete or write may refer to it.
            return;
        }
        if (target.level == Level::instance || target.level == Level::version ||
            target.level == Level::instance_history) {
            const bool writes = target.level == Level::instance &&
                                (method == HttpMethod::put || method == HttpMethod::delete_);
            entry.order = writes ? Order::write : Order::instance;
            entry.resource = resource_type_name(target.type);
            entry.resource += '/';
            entry.resource += target.id;
        } else if (target.level == Level::type && method == HttpMethod::post) {
            entry.order = entry.asked.if_none_exist ? Order::conditional_create : Order::create;
        } else if (target.level == Level::type && method == HttpMethod::put) {
            // A patch goes alone: if it finds no resource it commits nothing, so that no conflict would reveal a create
            // before it.
            entry.order = Order::conditional_update;
        }
    }

    bool must_wait(const BatchEntry& entry) const {
        if (in_flight_ != 0 && in_flight_bytes_ + entry.request.body.size() > kInFlightBytesMax) {
            return true;
        }
        switch (entry.order) {
            case Order::create:
                return in_flight_ >= kSubmittedMax;
            case Order::conditional_create:
                return in_flight_ >= kInFlightMax || !resources_.empty() || updates_ != 0;
            case Order::conditional_update:
                return in_flight_ >= kInFlightMax || !resources_.empty();
            case Order::write:
                return in_flight_ >= kSubmittedMax || creates_ + updates_ != 0 ||
                       !all_submitted(entry.resource);
            case Order::instance:
                return in_flight_ >= kInFlightMax || creates_ + updates_ != 0 ||
                       resources_.contains(entry.resource);
            case Order::alone:
                return in_flight_ != 0;
        }
        return true;
    }

    /// Whether a write that is submitted now comes after all that is in flight for the resource.
    bool all_submitted(std::string_view resource) const {
        const auto found = resources_.find(resource);
        return found == resources_.end() || found->second.submitted == found->second.all;
    }

    /// Why `entry` is no longer begun; none: it is.
    std::optional<Error> too_late(const BatchEntry& entry) const {
        if (turns_.is_late()) {
            // The sender has already been answered with a timeout.
            return Error{Errc::timeout, "The batch took too long"};
        }
        if (budget_.is_spent() && entry.asked.method == HttpMethod::get) {
            return budget_.error();
        }
        return std::nullopt;
    }

    asio::awaitable<void> run_entry(BatchEntry& entry) {
        while (must_wait(entry)) {
            co_await change();
        }
        if (std::optional<Error> why = too_late(entry)) {
            entry.response = *std::move(why);
        } else if (auto response = handle_plain(service_, entry.request, entry.route)) {
            entry.response = *std::move(response);
        } else if (entry.order == Order::alone) {
            entry.response = co_await handle_routed(service_, entry.request, entry.route);
        } else if (auto early = handle_early(service_, entry.request, entry.route)) {
            entry.response = *std::move(early);
            if (entry.response.unsettled.value != 0) {
                await_settled(entry);
                co_return;
            }
        } else {
            if (entry.order == Order::write) {
                entry.order = Order::instance;
            }
            while (in_flight_ >= kInFlightMax || must_wait(entry)) {
                co_await change();
            }
            if (std::optional<Error> late = too_late(entry)) {
                entry.response = *std::move(late);
            } else {
                begin(entry, false);
                spawn(*outer_.loop, "batch entry", finish_routed(entry));
                co_return;
            }
        }
        if (entry.response.more == nullptr) {
            fit(entry);
        } else {
            co_await draw(entry);
        }
    }

    asio::awaitable<void> finish_routed(BatchEntry& entry) {
        entry.response = co_await handle_routed(service_, entry.request, entry.route);
        if (entry.response.more == nullptr) {
            fit(entry);
        } else {
            co_await draw(entry);
        }
        end(entry, false);
    }

    /// Counts `entry`, which is submitted, among those in flight until it has settled.
    void await_settled(BatchEntry& entry) {
        begin(entry, true);
        submitted_.push_back(&entry);
        if (submitted_.size() == 1) {
            spawn(*outer_.loop, "batch", settle());
        }
        ++gathered_;
        gathered_bytes_ += entry.request.body.size();
        if (gathered_ >= kFlushedEntries || gathered_bytes_ >= kFlushedBytes) {
            service_.store().flush();
            gathered_ = 0;
            gathered_bytes_ = 0;
        }
    }

    /// Finishes what is submitted, in that order, as it settles.
    asio::awaitable<void> settle() {
        while (!submitted_.empty()) {
            BatchEntry& entry = *submitted_.front();
            const Result<void> durable =
                co_await outer_.loop->settled_ticket(entry.response.unsettled);
            if (turns_.pace().is_over()) {
                co_await turns_.give_way();
            }
            if (!durable) {
                entry.response = durable.error();
            }
            fit_own(entry);
            submitted_.pop_front();
            end(entry, true);
        }
    }

    /// Counts `entry` among those in flight until end().
    void begin(BatchEntry& entry, bool submitted) {
        ++in_flight_;
        in_flight_bytes_ += entry.request.body.size();
        if (entry.order == Order::conditional_create) {
            ++creates_;
        } else if (entry.order == Order::conditional_update) {
            ++updates_;
        } else if (!entry.resource.empty()) {
            InFlight& resource = resources_[entry.resource];
            ++resource.all;
            resource.submitted += submitted ? 1 : 0;
        }
    }

    void end(BatchEntry& entry, bool submitted) {
        --in_flight_;
        in_flight_bytes_ -= entry.request.body.size();
        if (entry.order == Order::conditional_create) {
            --creates_;
        } else if (entry.order == Order::conditional_update) {
            --updates_;
        } else if (!entry.resource.empty()) {
            const auto resource = resources_.find(entry.resource);
            resource->second.submitted -= submitted ? 1 : 0;
            if (--resource->second.all == 0) {
                resources_.erase(resource);
            }
        }
        changed_.cancel();
    }

    /// Waits until an entry in flight is answered. The loop flushes what is gathered when it has nothing else to do.
    asio::awaitable<void> change() {
        gathered_ = 0;
        gathered_bytes_ = 0;
        asio::error_code cancelled;
        changed_.expires_at(asio::steady_timer::time_point::max());
        co_await changed_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }

    const Service& service_;
    const Request& outer_;
    asio::steady_timer changed_;
    AnswerBudget budget_;
    Turns turns_;                        ///< entries that have begun have time limits of their own
    std::vector<BatchEntry> entries_;    ///< never grows: requests point into it
    std::deque<BatchEntry*> submitted_;  ///< in flight, submitted and not settled
    std::size_t in_flight_ = 0;
    std::size_t in_flight_bytes_ = 0;  ///< of their bodies
    std::size_t gathered_ = 0;         ///< submitted since the log writer was woken
    std::size_t gathered_bytes_ = 0;
    std::size_t creates_ = 0;                        ///< conditional ones in flight
    std::size_t updates_ = 0;                        ///< conditional ones in flight
    TextMap<InFlight, std::string_view> resources_;  ///< of Order::write and Order::instance
};

}  // namespace

asio::awaitable<Response> run_batch(const Service& service, const Request& request,
                                    const json::Document& bundle,
                                    std::chrono::steady_clock::time_point end) {
    const json::Value list = bundle.root()["entry"];
    Batch batch(service, request, list.size(), end);
    Response response = co_await batch.run(list);
    co_return response;
}

}  // namespace annals::core
