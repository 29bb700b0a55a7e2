#include "tests/support/hook_receiver.h"

#include "core/base/check.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

namespace annals::test {

namespace {

constexpr std::string_view kTaken = "HTTP/1.1 204 No Content\r\n\r\n";

bool send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

bool fill(int socket, std::string& buffer) {
    char bytes[16384];
    const ssize_t count = ::recv(socket, bytes, sizeof bytes, 0);
    if (count <= 0) {
        return false;
    }
    buffer.append(bytes, static_cast<std::size_t>(count));
    return true;
}

}  // namespace

std::string ReceivedHook::header(const std::string& name) const {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) {
        return {};
    }
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
}

struct HookReceiver::Impl {
    struct Connection {
        explicit Connection(int accepted) : socket(accepted) {}

        void end() {
            thread.join();
            ::close(socket);
        }

        int socket;
        bool over = false;  ///< it takes no lock any more
        std::thread thread;
    };

    explicit Impl(Answer how) : answer(std::move(how)) {
        listener = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ANNALS_CHECK(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        ANNALS_CHECK(::listen(listener, 64) == 0);
        socklen_t size = sizeof address;
        ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
        port = ntohs(address.sin_port);
        acceptor = std::thread([this] { accept(); });
    }

    ~Impl() {
        {
            const std::lock_guard lock(mutex);
            stopping = true;
            ::shutdown(listener, SHUT_RDWR);
            for (const Connection& connection : connections) {
                ::shutdown(connection.socket, SHUT_RDWR);
            }
        }
        acceptor.join();  // which starts the others
        for (Connection& connection : connections) {
            connection.end();
        }
        ::close(listener);
    }

    void accept() {
        for (;;) {
            const int socket = ::accept(listener, nullptr, nullptr);
            const std::lock_guard lock(mutex);
            if (socket < 0 || stopping) {
                if (socket >= 0) {
                    ::close(socket);
                }
                return;
            }
            // Those that are over would keep their descriptors and stacks, and thousands come in some tests.
            connections.remove_if([](Connection& connection) {
                if (connection.over) {
                    connection.end();
                }
                return connection.over;
            });
            Connection& connection = connections.emplace_back(socket);
            connection.thread = std::thread([this, &connection] {
                serve(connection.socket);
                const std::lock_guard until_over(mutex);
                connection.over = true;
            });
        }
    }

    void serve(int socket) {
        std::string buffer;
        for (;;) {
            while (buffer.find("\r\n\r\n") == std::string::npos) {
                if (!fill(socket, buffer)) {
                    return;
                }
            }
            const std::size_t head_end = buffer.find("\r\n\r\n") + 4;
            ReceivedHook hook = read_head(buffer.substr(0, head_end));
            const std::string length = hook.header("content-length");
            const std::size_t size = length.empty() ? 0 : std::stoul(length);
            while (buffer.size() < head_end + size) {
                if (!fill(socket, buffer)) {
                    return;
                }
            }
            hook.body = buffer.substr(head_end, size);
            buffer.erase(0, head_end + size);
            std::size_t number = 0;
            {
                const std::lock_guard lock(mutex);
                number = hooks.size();
                hooks.push_back(hook);
            }
            came.notify_all();
            const auto send = [socket](const std::string& bytes) {
                return send_all(socket, bytes);
            };
            const std::string bytes = answer ? answer(hook, number, send) : std::string(kTaken);
            if (!send_all(socket, bytes)) {
                return;
            }
            if (bytes.find("\r\nConnection: close\r\n") != std::string::npos) {
                ::shutdown(socket, SHUT_RDWR);
                return;
            }
        }
    }

    static ReceivedHook read_head(std::string head) {
        ReceivedHook hook;
        hook.method = head.substr(0, head.find(' '));
        const std::size_t target = hook.method.size() + 1;
        hook.target = head.substr(target, head.find(' ', target) - target);
        bool name = false;
        for (std::size_t i = 0; i < head.size(); ++i) {
            name = (name || (i > 0 && head[i - 1] == '\n')) && head[i] != ':';
            if (name) {
                head[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(head[i])));
            }
        }
        hook.head = std::move(head);
        return hook;
    }

    Answer answer;
    int listener = -1;
    std::uint16_t port = 0;
    mutable std::mutex mutex;
    mutable std::condition_variable came;
    std::vector<ReceivedHook> hooks;  // guarded by mutex, like the rest
    std::list<Connection> connections;
    bool stopping = false;
    std::thread acceptor;
};

HookReceiver::HookReceiver(Answer answer) : impl_(std::make_unique<Impl>(std::move(answer))) {
}

HookReceiver::~HookReceiver() = default;

std::string HookReceiver::url() const {
    return "http://127.0.0.1:" + std::to_string(impl_->port);
}

std::vector<ReceivedHook> HookReceiver::received() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->hooks;
}

std::vector<ReceivedHook> HookReceiver::wait_for(std::size_t count) const {
    std::unique_lock lock(impl_->mutex);
    impl_->came.wait_for(lock, std::chrono::seconds(30),
                         [&] { return impl_->hooks.size() >= count; });
    return impl_->hooks;
}

bool eventually(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!done()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

}  // namespace annals::test
