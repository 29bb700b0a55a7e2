#include "tests/support/http_endpoint.h"

namespace annals::test {

namespace {

std::string answer_text(const HttpEndpoint::Answer& answer) {
    return "HTTP/1.1 " + std::to_string(answer.status) +
           " -\r\nConnection: close\r\nContent-Length: " + std::to_string(answer.body.size()) +
           "\r\n\r\n" + answer.body;
}

}  // namespace

HttpEndpoint::HttpEndpoint(std::function<Answer(const std::string& request)> answer)
    : receiver_(
          [answer = std::move(answer)](const ReceivedHook& request, std::size_t, const auto&) {
              return answer_text(answer(request.head + request.body));
          }) {
}

std::string deserted_url() {
    const HttpEndpoint gone([](const std::string&) { return HttpEndpoint::Answer(); });
    return gone.url();
}

}  // namespace annals::test
