#include "tests/crash/load.h"

#include "core/base/digest.h"

#include <fmt/format.h>

#include <random>

namespace annals::test {

namespace {

constexpr std::size_t kIdsPerWriter = 20;
constexpr std::size_t kFaultsKept = 10;

using tools::HttpClient;
using tools::HttpReply;
using tools::HttpRequest;

HttpClient connect(const std::string& url) {
    return HttpClient(*tools::parse_server_url(url), std::chrono::seconds(20));
}

/// The number in W/"3"; empty if there is none.
std::string version_of(const HttpReply& reply) {
    const std::string_view etag = reply.header("ETag").value_or("");
    const std::size_t begin = etag.find('"');
    const std::size_t end = etag.rfind('"');
    return begin < end && end != std::string_view::npos
               ? std::string(etag.substr(begin + 1, end - begin - 1))
               : std::string();
}

std::string patient(const std::string& id, std::uint64_t salt, std::size_t padding) {
    return fmt::format(
        R"({{"resourceType":"Patient","id":"{}","name":[{{"family":"Salt{}"}}],"text":{{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">{}</div>"}}}})",
        id, salt, std::string(padding, 'p'));
}

}  // namespace

Load::Load(const std::string& url, std::size_t writers, std::uint64_t seed) {
    for (std::size_t i = 0; i < writers; ++i) {
        threads_.emplace_back([this, url, i, seed] { write(url, i, seed); });
    }
}

void Load::stop() {
    stopping_ = true;
    for (std::thread& thread : threads_) {
        thread.join();
    }
    threads_.clear();
}

std::vector<std::string> Load::faults() {
    const std::lock_guard lock(mutex_);
    return faults_;
}

std::vector<Acknowledged> Load::take() {
    const std::lock_guard lock(mutex_);
    return std::move(acknowledged_);
}

void Load::note_fault(const std::string& fault) {
    const std::lock_guard lock(mutex_);
    if (faults_.size() < kFaultsKept) {
        faults_.push_back(fault);
    }
}

void Load::write(const std::string& url, std::size_t writer, std::uint64_t seed) {
    HttpClient client = connect(url);
    const std::string base = client.server().base_path;
    std::mt19937_64 random(seed * 1000 + writer);
    std::vector<Acknowledged> mine;
    while (!stopping_) {
        const std::uint64_t dice = random() % 10;
        const std::string id = fmt::format("w{}-{}-{}", seed, writer, random() % kIdsPerWriter);
        HttpRequest request;
        std::string body;
        request.repeatable = false;
        if (dice == 0) {
            request.method = "DELETE";
            request.target = base + "/Patient/" + id;
        } else {
            body = patient(id, random(), random() % 3000);
            request.method = dice < 3 ? "POST" : "PUT";
            request.target = base + (dice < 3 ? "/Patient" : "/Patient/" + id);
            request.body = body;
        }
        const auto reply = client.send(request);
        if (!reply) {
            break;
        }
        const bool deletion = dice == 0;
        const std::string version = version_of(*reply);
        if (deletion ? reply->status == 404 : reply->status == 503) {
            continue;
        }
        if (reply->status >= 300) {
            note_fault(fmt::format("{} {}: {} {}", request.method, request.target, reply->status,
                                   reply->body));
            continue;
        }
        ++count_;
        if (version.empty()) {
            continue;
        }
        std::string name = "Patient/" + id;
        if (dice > 0 && dice < 3) {
            const std::string_view location = reply->header("Location").value_or("");
            const std::size_t at = location.find("Patient/");
            name = location.substr(at, location.find("/_history") - at);
        }
        mine.push_back({name + "/_history/" + version, deletion, hash64(reply->body)});
    }
    const std::lock_guard lock(mutex_);
    acknowledged_.insert(acknowledged_.end(), mine.begin(), mine.end());
}

std::vector<std::string> find_lost(const std::string& url,
                                   const std::vector<Acknowledged>& expected) {
    HttpClient client = connect(url);
    std::vector<std::string> lost;
    for (const Acknowledged& version : expected) {
        HttpRequest request;
        request.target = client.server().base_path + "/" + version.url;
        const auto reply = client.send(request);
        if (!reply) {
            lost.push_back(version.url + ": " + reply.error().detail);
        } else if (reply->status != (version.deletion ? 410 : 200)) {
            lost.push_back(fmt::format("{}: {}", version.url, reply->status));
        } else if (!version.deletion && hash64(reply->body) != version.hash) {
            lost.push_back(version.url + ": other bytes");
        }
        if (lost.size() == kFaultsKept) {
            break;
        }
    }
    return lost;
}

}  // namespace annals::test
