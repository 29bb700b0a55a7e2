#include "core/operations/digest.h"

#include "codec/json/document.h"
#include "core/operations/digest_tree.h"
#include "core/operations/input.h"
#include "core/operations/under_way.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

namespace annals::core {

namespace {

/// How long it waits for what is being read, and how often it looks: mostly there are a few versions to read.
constexpr std::chrono::milliseconds kWaitMax{2000};
constexpr std::chrono::milliseconds kPause{5};

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
    const char* const end = prefix.text.data() + prefix.text.size();
    const auto [at, error] = std::from_chars(prefix.text.data(), end, prefix.bits, 16);
    const bool whole = error == std::errc() && at == end;
    if (!prefix.text.empty() && (!whole || prefix.text.size() > DigestTree::kDigitsMax)) {
        return Error{Errc::invalid, "prefix: up to 16 hexadecimal digits", ""};
    }
    if (!prefix.text.empty()) {
        prefix.bits <<= 4 * (DigestTree::kDigitsMax - prefix.text.size());
    }
    return prefix;
}

std::string sum_parts(const DigestTree::Sum& sum) {
    return fmt::format(
        R"({{"name":"versions","valueDecimal":{}}},{{"name":"digest","valueString":"{:016x}"}})",
        sum.versions, sum.digest);
}

Response answer(const Prefix& prefix, const DigestTree::Node& node) {
    std::string text = fmt::format(
        R"({{"resourceType":"Parameters","parameter":[{{"name":"position","valueDecimal":{}}},{})",
        node.position.value, sum_parts(node.sum));
    if (!prefix.text.empty()) {
        text += fmt::format(R"(,{{"name":"prefix","valueString":"{}"}})", prefix.text);
    }
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        if (node.children[i].versions > 0) {
            text += fmt::format(
                R"(,{{"name":"child","part":[{{"name":"prefix","valueString":"{}{:x}"}},{}]}})",
                prefix.text, i, sum_parts(node.children[i]));
        }
    }
    for (const DigestTree::Version& version : node.versions) {
        text += fmt::format(R"(,{{"name":"version","part":[{{"name":"url","valueUri":"{}"}},)"
                            R"({{"name":"digest","valueString":"{:016x}"}}]}})",
                            version.url, version.digest);
    }
    Response response;
    response.cache_control = "no-store";
    response.body = Body(text + "]}");
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
    const auto end = std::chrono::steady_clock::now() + kWaitMax;
    std::optional<DigestTree::Node> node;
    // What is written all the time need not be waited for: a look that began after the request is new enough.
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
        // Nothing comes after this position: it is a pause, unless the server stops.
        const auto begin = std::chrono::steady_clock::now();
        const bool news = co_await request.loop->news_after({~std::uint64_t{0}}, kPause);
        if (news || std::chrono::steady_clock::now() - begin < kPause) {
            break;
        }
        read = tree.idle();
    }
    co_return under_way(request, "$digest",
                        fmt::format("position {} of {}", tree.reading().value,
                                    service.store().last_position().value),
                        "The store is being read");
}

}  // namespace annals::core
