#include "tools/bench/responder.h"

#include "core/base/check.h"
#include "tools/bench/zeroed_file.h"

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>
#include <llhttp.h>

#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace annals::bench {
namespace {

using asio::ip::tcp;
using ResumeHandler = asio::async_result<asio::use_awaitable_t<>, void()>::handler_type;
constexpr auto kAsTuple = asio::experimental::as_tuple(asio::use_awaitable);

// A POST waiting for its sync; lives in its connection's frame.
struct Waiter {
    const std::string* body = nullptr;
    std::optional<ResumeHandler> resume;
};

// What one connection has read so far.
struct Incoming {
    std::string body;
    bool complete = false;
};

int on_body(llhttp_t* parser, const char* at, std::size_t size) {
    static_cast<Incoming*>(parser->data)->body.append(at, size);
    return 0;
}

int on_message_begin(llhttp_t* parser) {
    auto& incoming = *static_cast<Incoming*>(parser->data);
    incoming.body.clear();
    incoming.complete = false;
    return 0;
}

int on_message_complete(llhttp_t* parser) {
    static_cast<Incoming*>(parser->data)->complete = true;
    return 0;
}

class Responder {
  public:
    Responder(const ResponderOptions& options, int out)
        : options_(options), acceptor_(context_, {asio::ip::address_v4::loopback(), 0}) {
        llhttp_settings_init(&settings_);
        settings_.on_message_begin = on_message_begin;
        settings_.on_body = on_body;
        settings_.on_message_complete = on_message_complete;
        fixed_body_ = R"({"resourceType":"Observation","id":"fixed","text":")";
        fixed_body_.append(options.body_bytes - fixed_body_.size() - 2, 'x');
        fixed_body_ += "\"}";
        if (!options.file.empty()) {
            Result<ZeroedFile> file = ZeroedFile::open(options.file, options.file_bytes);
            ANNALS_CHECK(file.has_value(), "the responder's file");
            file_.emplace(std::move(*file));
        }
        const std::string line = fmt::format("ready {}\n", acceptor_.local_endpoint().port());
        ANNALS_CHECK(::write(out, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    }

    void run() {
        asio::co_spawn(context_, accept(), [](const std::exception_ptr&) { std::abort(); });
        const auto work = asio::make_work_guard(context_);
        std::thread committer;
        if (options_.commit == Commit::thread) {
            committer = std::thread([this] { commit_for_ever(); });
        }
        while (true) {
            context_.run_one();
            context_.poll();
            if (waiting_.empty()) {
                continue;
            }
            if (options_.commit == Commit::inline_in_loop) {
                commit(waiting_);
                resume(waiting_);
            } else {
                hand_over();
            }
        }
    }

  private:
    asio::awaitable<void> accept() {
        while (true) {
            auto [error, socket] = co_await acceptor_.async_accept(kAsTuple);
            if (!error) {
                socket.set_option(tcp::no_delay(true));
                asio::co_spawn(context_, converse(std::move(socket)),
                               [](const std::exception_ptr&) {});
            }
        }
    }

    asio::awaitable<void> converse(tcp::socket socket) {
        Incoming incoming;
        llhttp_t parser;
        llhttp_init(&parser, HTTP_REQUEST, &settings_);
        parser.data = &incoming;
        std::vector<char> buffer(64 << 10);
        std::string head;
        while (true) {
            auto [error, size] = co_await socket.async_read_some(asio::buffer(buffer), kAsTuple);
            if (error || llhttp_execute(&parser, buffer.data(), size) != HPE_OK) {
                co_return;
            }
            if (!incoming.complete) {
                continue;
            }
            const bool post = parser.method == HTTP_POST;
            const std::string& body = post ? incoming.body : fixed_body_;
            if (post) {
                co_await durable(incoming.body);
            }
            put_head(head, post, body.size());
            const std::array<asio::const_buffer, 2> answer{asio::buffer(head), asio::buffer(body)};
            auto [failed, sent] = co_await asio::async_write(socket, answer, kAsTuple);
            if (failed) {
                co_return;
            }
        }
    }

    // The same headers as the real server's.
    static void put_head(std::string& head, bool post, std::size_t size) {
        head.assign(post ? "HTTP/1.1 201 Created\r\n" : "HTTP/1.1 200 OK\r\n");
        head.append(
            "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
            "Content-Type: application/fhir+json; charset=utf-8\r\n");
        if (post) {
            head.append(
                "Location: http://127.0.0.1:8080/fhir/Observation/"
                "01234567-89ab-4cde-8f01-23456789abcd/_history/1\r\n");
        }
        head.append(
            "ETag: W/\"1\"\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: ");
        head.append(std::to_string(size));
        head.append("\r\n\r\n");
    }

    // Waits until `body` is on the device; it lives in the caller's frame meanwhile.
    asio::awaitable<void> durable(const std::string& body) {
        Waiter waiter;
        waiter.body = &body;
        auto keep = [this, &waiter](auto handler) {
            waiter.resume.emplace(std::move(handler));
            waiting_.push_back(&waiter);
        };
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(std::move(keep),
                                                                             asio::use_awaitable);
    }

    void commit(const std::vector<Waiter*>& batch) {
        gathered_.clear();
        for (const Waiter* waiter : batch) {
            gathered_.append(*waiter->body);
        }
        ANNALS_CHECK(file_->append_and_sync(gathered_), "the responder's disk");
    }

    static void resume(std::vector<Waiter*>& batch) {
        const std::vector<Waiter*> ready = std::exchange(batch, {});
        for (Waiter* waiter : ready) {
            ResumeHandler handler = std::move(*waiter->resume);
            waiter->resume.reset();
            handler();
        }
    }

    // ---- with a committer thread ----

    void hand_over() {
        {
            const std::lock_guard lock(mutex_);
            if (!batch_.empty()) {
                return;  // when that is done, the loop resumes and hands over what has gathered
            }
            batch_.swap(waiting_);
        }
        handed_.notify_one();
    }

    void commit_for_ever() {
        while (true) {
            {
                std::unique_lock lock(mutex_);
                handed_.wait(lock, [this] { return !batch_.empty() && !committed_; });
            }
            commit(batch_);
            {
                const std::lock_guard lock(mutex_);
                committed_ = true;
            }
            asio::post(context_, [this] {
                std::vector<Waiter*> done;
                {
                    const std::lock_guard lock(mutex_);
                    done.swap(batch_);
                    committed_ = false;
                }
                resume(done);
            });
        }
    }

    ResponderOptions options_;
    asio::io_context context_{1};
    tcp::acceptor acceptor_;
    llhttp_settings_t settings_{};
    std::string fixed_body_;
    std::optional<ZeroedFile> file_;
    std::vector<Waiter*> waiting_;  // used by the loop
    std::string gathered_;          // used by whoever commits

    std::mutex mutex_;
    std::condition_variable handed_;
    std::vector<Waiter*> batch_;  // guarded by mutex_ while it changes
    bool committed_ = false;      // guarded by mutex_
};

}  // namespace

void serve_barely(const ResponderOptions& options, int out) {
    Responder responder(options, out);
    responder.run();
}

}  // namespace annals::bench
