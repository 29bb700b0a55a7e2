#include "core/operations/digest.h"

#include "core/base/text.h"
#include "core/operations/digest_tree.h"
#include "core/operations/input.h"
#include "core/operations/parameters_writer.h"
#include "core/operations/under_way.h"

#include <fmt/format.h>

#include <chrono>

namespace annals::core {

namespace {

/// How long the request waits for reading, and how often it checks: mostly only a few versions must be read.
constexpr std::chrono::milliseconds kDigestWaitMax{2000};
constexpr std::chrono::milliseconds kDigestPause{5};

struct Prefix {
    std::string text;
    std::uint64_t bits = 0;
};

Result<Prefix> read_prefix(const Request& request) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"prefix"}));
    ANNALS_TRY(const std::optional<std::string> text, input.text("prefix"));
    Prefix prefix;
    prefix.text = text.value_or("");
    if (prefix.text.empty()) {
        return prefix;
    }
    const auto bits = parse_number(prefix.text, 16);
    if (!bits || prefix.text.size() > DigestTree::kDigitsMax) {
        return Error{Errc::invalid, "prefix: up to 16 hexadecimal digits"};
    }
    prefix.bits = *bits << (4 * (DigestTree::kDigitsMax - prefix.text.size()));
    return prefix;
}

std::string digits_of(std::uint64_t digest) {
    return fmt::format("{:016x}", digest);
}

void add_sum(ParametersWriter& out, const DigestTree::Sum& sum) {
    out.add_number("versions", sum.versions);
    out.add_text("digest", "valueString", digits_of(sum.digest));
}

Response answer(const Prefix& prefix, const DigestTree::Node& node) {
    ParametersWriter out;
    out.add_number("position", node.position.value);
    add_sum(out, node.sum);
    if (!prefix.text.empty()) {
        out.add_text("prefix", "valueString", prefix.text);
    }
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        if (node.children[i].versions > 0) {
            out.begin_parts("child");
            out.add_text("prefix", "valueString", fmt::format("{}{:x}", prefix.text, i));
            add_sum(out, node.children[i]);
            out.end_parts();
        }
    }
    for (const DigestTree::Version& version : node.versions) {
        out.begin_parts("version");
        out.add_text("url", "valueUri", version.url);
        out.add_text("digest", "valueString", digits_of(version.digest));
        out.end_parts();
    }
    Response response = out.response();
    response.cache_control = "no-store";
    return response;
}

}  // namespace

asio::awaitable<Response> digest_operation(const Service& service, const Request& request,
                                           const Target& /*target*/) {
    const Result<Prefix> prefix = read_prefix(request);
    if (!prefix) {
        co_return prefix.error();
    }
    DigestTree& tree = service.digest_tree();
    const auto end = std::chrono::steady_clock::now() + kDigestWaitMax;
    std::optional<DigestTree::Node> node;
    // Constant writes need not be waited for: reading that began after the request is recent enough.
    const Result<bool> refreshed = tree.refresh();
    if (!refreshed) {
        co_return refreshed.error();
    }
    bool read = *refreshed;
    bool fetched = false;
    while (std::chrono::steady_clock::now() < end) {
        node = tree.node(prefix->bits, prefix->text.size(), fetched);
        if (node && read && node->unread.empty()) {
            co_return answer(*prefix, *node);
        }
        if (node && read) {
            co_await request.loop->fetched(std::move(node->unread));
            fetched = true;
            continue;
        }
        // Nothing comes after this position, so this is a pause, unless the server stops.
        const auto begin = std::chrono::steady_clock::now();
        const bool news = co_await request.loop->news_after({~std::uint64_t{0}}, kDigestPause);
        if (news || std::chrono::steady_clock::now() - begin < kDigestPause) {
            break;
        }
        read = tree.idle();
    }
    co_return under_way(request,
                        prefix->text.empty() ? std::string("$digest")
                                             : fmt::format("$digest?prefix={}", prefix->text),
                        fmt::format("position {} of {}", tree.reading().value,
                                    service.store().last_position().value),
                        "The store is being read");
}

}  // namespace annals::core
