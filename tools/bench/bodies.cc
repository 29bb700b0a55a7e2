#include "tools/bench/workloads.h"
#include "tools/generate/generator.h"

#include <algorithm>
#include <charconv>

namespace annals::bench {
namespace {

using generate::Kind;

constexpr std::size_t kBodyBytes = 1400;

std::size_t distance(std::size_t a, std::size_t b) {
    return a > b ? a - b : b - a;
}

// The `count` samples closest to kBodyBytes, in an order unrelated to size.
std::vector<Body> closest(std::vector<generate::Sample> samples, std::size_t count) {
    count = std::min(count, samples.size());
    std::vector<std::size_t> order(samples.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const std::size_t first = distance(samples[a].body.size(), kBodyBytes);
        const std::size_t second = distance(samples[b].body.size(), kBodyBytes);
        return first != second ? first < second : a < b;
    });
    order.resize(count);
    std::sort(order.begin(), order.end());
    std::vector<Body> bodies;
    for (std::size_t i = 0; i < count; ++i) {
        // Stepping through the list by a prime mixes the types.
        generate::Sample& sample = samples[order[i * 101 % count]];
        bodies.push_back({generate::type_name(sample.kind), std::move(sample.body)});
    }
    return bodies;
}

/// Whether the first member with this name has this text. A server may put a blank after the colon.
bool says(std::string_view body, std::string_view name, std::string_view text) {
    const std::size_t at = body.find(name);
    if (at == std::string_view::npos || text.empty()) {
        return false;
    }
    body.remove_prefix(at + name.size());
    body.remove_prefix(std::min(body.size(), body.find_first_not_of(": \t\r\n")));
    return body.size() > text.size() + 1 && body.front() == '"' &&
           body.substr(1).starts_with(text) && body[text.size() + 1] == '"';
}

}  // namespace

std::vector<Body> usual_bodies(std::uint64_t seed) {
    constexpr std::size_t kBodies = 256;
    const std::vector<Kind> kinds{
        Kind::laboratory,   Kind::blood_pressure, Kind::condition, Kind::medication_request,
        Kind::immunization, Kind::encounter,      Kind::claim,     Kind::patient};
    return closest(generate::make_samples(seed, kinds, kBodies / 2), kBodies);
}

std::vector<std::vector<Body>> bodies_of_nine_types(std::uint64_t seed) {
    constexpr std::size_t kOfEach = 32;
    constexpr Kind kNine[] = {
        Kind::patient,   Kind::practitioner,       Kind::organization,
        Kind::encounter, Kind::laboratory,         Kind::condition,
        Kind::claim,     Kind::medication_request, Kind::explanation_of_benefit};
    std::vector<std::vector<Body>> all;
    for (const Kind kind : kNine) {
        all.push_back(closest(generate::make_samples(seed, {kind}, kOfEach * 8), kOfEach));
    }
    return all;
}

void put_request(std::string& out, std::string_view method, const Site& site,
                 std::string_view target, std::string_view body, std::string_view more) {
    out.append(method).append(" ").append(site.base).append(target);
    out.append(" HTTP/1.1\r\nHost: ").append(site.authority);
    out.append("\r\nAccept: application/fhir+json\r\n").append(site.headers).append(more);
    if (!body.empty()) {
        char digits[20];
        const char* const end = std::to_chars(digits, digits + sizeof digits, body.size()).ptr;
        out.append("Content-Type: application/fhir+json\r\nContent-Length: ");
        out.append(digits, static_cast<std::size_t>(end - digits)).append("\r\n");
    }
    out.append("\r\n").append(body);
}

void put_with_id(std::string& out, const Body& body, std::string_view id) {
    const std::size_t begin = std::string_view(R"({"resourceType":"")").size() + body.type.size();
    out.assign(body.text, 0, begin).append(R"(,"id":")").append(id).append("\"");
    out.append(body.text, begin);
}

bool is_version(const Answer& answer, std::string_view id, std::uint64_t version) {
    const std::string number = std::to_string(version);
    return answer.header("etag") == "W/\"" + number + "\"" && says(answer.body, R"("id")", id) &&
           says(answer.body, R"("versionId")", number);
}

std::string_view id_in_location(std::string_view location) {
    const std::size_t history = location.find("/_history/");
    location = location.substr(0, history);
    const std::size_t slash = location.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : location.substr(slash + 1);
}

}  // namespace annals::bench
