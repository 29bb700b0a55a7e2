#include "net/subscription_socket.h"

#include "codec/json/document.h"
#include "core/base/text.h"
#include "core/interactions/submitted_resource.h"
#include "core/subscriptions/subscription.h"

#include <fmt/format.h>

namespace annals::net {

namespace {

Error refused(std::string_view why) {
    return {Errc::invalid, std::string(why)};
}

}  // namespace

void SubscriptionSocket::take(std::string_view bytes, std::string& out) {
    if (ended_) {
        return;
    }
    reader_.feed(bytes);
    answer_all(out);
}

void SubscriptionSocket::go_on(std::string& out) {
    unread_ = {};
    answer(waiting_, true, out);
    answer_all(out);
}

void SubscriptionSocket::answer_all(std::string& out) {
    for (;;) {
        switch (reader_.next()) {
            case FrameReader::Event::need_bytes:
                return;
            case FrameReader::Event::text:
                answer(trimmed(reader_.payload()), false, out);
                if (unread_.value != 0) {
                    return;
                }
                break;
            case FrameReader::Event::ping:
                append_frame(out, Opcode::pong, reader_.payload());
                break;
            case FrameReader::Event::pong:
                break;
            case FrameReader::Event::close:
                end(CloseCode::normal, out);
                return;
            case FrameReader::Event::failed:
                end(reader_.fault(), out);
                return;
        }
    }
}

void SubscriptionSocket::answer(std::string_view message, bool may_block, std::string& out) {
    constexpr std::string_view kBind = "bind ";
    const std::string_view id =
        message.starts_with(kBind) ? trimmed(message.substr(kBind.size())) : "";
    if (!is_resource_id(id)) {
        append_frame(out, Opcode::text, "error: expected 'bind' and the id of a Subscription");
        return;
    }
    const Result<void> bound = bind(id, may_block);
    if (unread_.value != 0) {
        waiting_ = message;
        return;
    }
    append_frame(out, Opcode::text,
                 bound ? fmt::format("bound {}", id)
                       : fmt::format("error {}: {}", id, bound.error().detail));
}

/// If unread_ is set then, the result is meaningless; if it may block, unread_ is never set.
Result<void> SubscriptionSocket::bind(std::string_view id, bool may_block) {
    if (bindings_.contains(id)) {
        return {};
    }
    if (bindings_.size() == kBindingsMax) {
        return refused(fmt::format("a connection can be bound to at most {}", kBindingsMax));
    }
    // Bound before it is read, so that anything written after the response causes a ping.
    Binding binding;
    binding.counter = pings_.bind(id);
    binding.told = binding.counter->load(std::memory_order_acquire);
    const storage::Store& store = service_.store();
    const auto newest = store.current(core::subscription_type(), id);
    if (!newest || newest->deletion) {
        return refused("the Subscription does not exist");
    }
    const Result<storage::StoredVersion> stored =
        may_block ? store.load(*newest) : store.load_resident(*newest);
    if (stored && stored->unread) {
        unread_ = newest->position;
        return {};
    }
    const Result<json::Document> document =
        stored ? core::thread_parser().parse(stored->body) : Result<json::Document>(Error{});
    if (!document) {
        return refused("it cannot be read");
    }
    const json::Value root = document->root();
    if (!root["channel"]["type"].equals("websocket")) {
        return refused("its channel type is not websocket");
    }
    const auto status = core::status_of(root);
    if (status != core::SubscriptionStatus::active &&
        status != core::SubscriptionStatus::requested) {
        return refused("it is not active");
    }
    bindings_.emplace(id, std::move(binding));
    return {};
}

void SubscriptionSocket::add_pings(std::string& out) {
    if (ended_) {
        return;
    }
    const std::size_t limit = out.size() + kPingBytesMax;
    for (auto& [id, binding] : bindings_) {
        const std::uint64_t count = binding.counter->load(std::memory_order_acquire);
        const std::string text = fmt::format("ping {}", id);
        while (binding.told < count && out.size() < limit) {
            append_frame(out, Opcode::text, text);
            ++binding.told;
        }
    }
}

void SubscriptionSocket::end(CloseCode code, std::string& out) {
    if (!ended_) {
        append_close(out, code);
        ended_ = true;
    }
}

}  // namespace annals::net
