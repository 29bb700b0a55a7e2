// The part of a connection that answers in place of a handler: a head that is refused, what can't be read, and what takes
// too long.

#include "core/representation.h"
#include "net/coding.h"
#include "net/connection.h"
#include "net/probes.h"

namespace annals::net {

// Checks a head whose body has not arrived. None: the body may be read.
std::optional<Connection::Turn> Connection::judge_head() {
    core::Request& head = reader_.head();
    fill_in(head);
    if (overload_) {
        return refuse(Error{Errc::overloaded});
    }
    std::optional<core::Response> refusal = refuse_at_head(head);
    if (!refusal) {
        return {};
    }
    admission_.record(head, *refusal);
    worker_.metrics.answered(head.method, refusal->status, 0);
    add_last(output_, *refusal, head);
    return Turn::close;
}

/// Checks before the body is read whether the sender may send it. What the head doesn't tell is checked later.
std::optional<core::Response> Connection::refuse_at_head(core::Request& request) {
    if (!enter_root(request)) {
        // No credentials are needed there, and no request has a body.
        core::Response answer = answer_outside(worker_.shared, request);
        core::represent_error(request, answer);
        return answer;
    }
    cors_lines_ = worker_.shared.cors.lines(request);
    return admission_.refuse_at_head(request, reader_.host());
}

/// The methods for `path`, for a request of which only the first line was read. Its sender is unknown: if
/// credentials are required, nothing about the path is revealed.
std::string Connection::allowed_at(std::string_view path) const {
    core::Request request;
    request.path = path;
    if (!enter_root(request)) {
        return "GET, HEAD";
    }
    return worker_.shared.service.guarded() ? std::string(kAllMethods)
                                            : methods_of(worker_.shared.config, request.path);
}

Connection::Turn Connection::refuse(const Error& error, int status) {
    core::Request& request = reader_.refused_request();
    request.loop = &worker_.loop;
    take_request_id(request);
    cors_lines_ = worker_.shared.cors.lines(request);
    core::Response response = error;
    if (status != 0) {
        response.status = status;
    }
    core::represent_error(request, response);
    if (error.code == Errc::unsupported_media) {
        // The coding is the problem, not the media type.
        response.headers = {{"Accept-Encoding", std::string(kCodingsTaken)}};
    }
    if (error.code == Errc::method_not_allowed) {
        response.allow = allowed_at(reader_.refusal().path);
    }
    if (enter_root(request)) {
        admission_.record_refusal(request, response, error.code == Errc::overloaded);
    }
    worker_.metrics.answered(core::HttpMethod::other, response.status, 0);
    add_last(output_, response, request);
    reader_.give_up();
    return Turn::close;
}

void Connection::answer_late() {
    core::Response response = Error{Errc::timeout};
    core::represent_error(reader_.request(), response);
    worker_.metrics.answered(reader_.request().method, response.status,
                             microseconds_until(Clock::now()));
    Output late;
    add_last(late, response, reader_.request());
    late.send(socket_.native_handle(), tls_.get());
    asio::error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_both, ignored);
    abandoned_ = true;
    deadline_ = Clock::time_point::max();
}

/// Adds a response to `request` that is sent in place of a handler's and is the connection's last.
void Connection::add_last(Output& output, core::Response& response,
                          const core::Request& request) const {
    if (worker_.authenticator && response.cache_control.empty()) {
        response.cache_control = kGuardedCaching;
    }
    worker_.keep_date(Clock::now());
    Framing frame = framing(true);
    frame.head = request.method == core::HttpMethod::head;
    output.add(response, frame);
}

}  // namespace annals::net
