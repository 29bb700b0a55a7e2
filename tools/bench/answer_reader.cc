#include "tools/bench/answer_reader.h"

#include "core/base/text.h"

#include <charconv>
#include <cstring>

namespace annals::bench {
namespace {

constexpr std::size_t kRoomMin = 64 << 10;

/// No server means a length above this.
constexpr std::size_t kLengthMax = std::size_t{1} << 40;

}  // namespace

std::string_view Answer::header(std::string_view name) const noexcept {
    std::size_t at = head.find("\r\n");
    while (at != std::string_view::npos && at + 2 < head.size()) {
        at += 2;
        const std::size_t end = head.find("\r\n", at);
        const std::string_view line = head.substr(at, end - at);
        if (line.size() > name.size() && line[name.size()] == ':' &&
            equal_ignoring_case(line.substr(0, name.size()), name)) {
            std::string_view value = line.substr(name.size() + 1);
            while (value.starts_with(' ')) {
                value.remove_prefix(1);
            }
            return value;
        }
        at = end;
    }
    return {};
}

char* AnswerReader::room() {
    if (room_size() < kRoomMin) {
        buffer_.resize(buffer_.size() * 2);
    }
    return buffer_.data() + filled_;
}

AnswerReader::State AnswerReader::received(std::size_t bytes) {
    filled_ += bytes;
    while (true) {
        if (head_size_ == 0) {
            const State state = read_head();
            if (state != State::done) {
                return state;
            }
        }
        if (status_ != 100) {
            break;
        }
        // Discards an interim response.
        body_size_ = 0;
        next();
    }
    if (chunked_) {
        return read_chunks();
    }
    return filled_ >= head_size_ + body_size_ ? State::done : State::more;
}

AnswerReader::State AnswerReader::read_head() {
    const void* const end = memmem(buffer_.data(), filled_, "\r\n\r\n", 4);
    if (end == nullptr) {
        return filled_ > kRoomMin ? State::broken : State::more;
    }
    head_size_ = static_cast<std::size_t>(static_cast<const char*>(end) - buffer_.data()) + 4;
    Answer answer;
    answer.head = {buffer_.data(), head_size_ - 2};
    if (head_size_ < 16 || !answer.head.starts_with("HTTP/1.1 ")) {
        return State::broken;
    }
    const char* const digits = buffer_.data() + 9;
    const auto [status_end, error] = std::from_chars(digits, digits + 3, status_);
    if (error != std::errc() || status_end != digits + 3) {
        return State::broken;
    }
    closes_ = equal_ignoring_case(answer.header("connection"), "close");
    body_size_ = 0;
    chunked_ = false;
    if (status_ == 204 || status_ == 304 || status_ == 100) {
        return State::done;
    }
    const std::string_view length = answer.header("content-length");
    if (length.empty()) {
        chunked_ = equal_ignoring_case(answer.header("transfer-encoding"), "chunked");
        chunk_at_ = head_size_;
        chunks_.clear();
        return chunked_ ? State::done : State::broken;
    }
    const auto result = std::from_chars(length.data(), length.data() + length.size(), body_size_);
    return result.ec == std::errc() && body_size_ <= kLengthMax ? State::done : State::broken;
}

AnswerReader::State AnswerReader::read_chunks() {
    while (true) {
        const char* const begin = buffer_.data() + chunk_at_;
        const std::size_t left = filled_ - chunk_at_;
        const void* const line_end = memmem(begin, left, "\r\n", 2);
        if (line_end == nullptr) {
            return State::more;
        }
        const char* const end = static_cast<const char*>(line_end);
        std::size_t size = 0;
        if (std::from_chars(begin, end, size, 16).ec != std::errc() || size > kLengthMax) {
            return State::broken;
        }
        const auto line = static_cast<std::size_t>(end - begin) + 2;
        if (left < line + size + 2) {
            return State::more;
        }
        chunks_.append(begin + line, size);
        chunk_at_ += line + size + 2;
        if (size == 0) {
            return State::done;
        }
    }
}

Answer AnswerReader::answer() const noexcept {
    const char* const data = buffer_.data();
    return {status_,
            {data, head_size_ - 2},
            chunked_ ? std::string_view(chunks_) : std::string_view(data + head_size_, body_size_)};
}

void AnswerReader::next() {
    const std::size_t end = chunked_ ? chunk_at_ : head_size_ + body_size_;
    std::memmove(buffer_.data(), buffer_.data() + end, filled_ - end);
    filled_ -= end;
    head_size_ = 0;
    chunked_ = false;
}

}  // namespace annals::bench
