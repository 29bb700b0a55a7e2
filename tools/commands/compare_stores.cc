#include "tools/commands/compare_stores.h"

#include "codec/json/document.h"
#include "core/base/text.h"
#include "core/operations/digest_tree.h"
#include "tools/commands/bundle_answers.h"

#include <fmt/format.h>

#include <thread>

namespace annals::tools {

namespace {

constexpr int kLooks = 4;
constexpr std::chrono::seconds kBetweenLooks{1};

Result<std::uint64_t> read_number(std::string_view text, int base) {
    const auto number = parse_number(text, base);
    if (!number) {
        return Error{Errc::processing, "the response to $digest has an invalid number"};
    }
    return *number;
}

/// Reads the sums from a parameter, or a part of one, of Parameters.
Result<void> take_sum(json::Value parameter, DigestNode::Sum& sum) {
    if (parameter["name"].equals("versions")) {
        ANNALS_TRY(sum.versions, read_number(parameter["valueDecimal"].raw(), 10));
    } else if (parameter["name"].equals("digest")) {
        ANNALS_TRY(sum.digest, read_number(parameter["valueString"].string(), 16));
    }
    return {};
}

/// A version's digit in the tree at `depth`; a store's own children are assigned by it, too.
std::size_t digit_of(std::string_view url, std::size_t depth) {
    const std::string_view name = url.substr(0, url.find("/_history/"));
    return core::digest_key(name) >> (4 * (core::DigestTree::kDigitsMax - 1 - depth)) & 15;
}

DigestNode::Sum child_of(const DigestNode& node, std::size_t digit, std::size_t depth) {
    if (!node.lists) {
        return node.children[digit];
    }
    DigestNode::Sum sum;
    for (const auto& [url, digest] : node.versions) {
        if (digit_of(url, depth) == digit) {
            ++sum.versions;
            sum.digest += digest;
        }
    }
    return sum;
}

/// The first difference between two lists; empty: none.
std::string difference_of(const DigestNode& first, const DigestNode& second) {
    auto a = first.versions.begin();
    auto b = second.versions.begin();
    while (a != first.versions.end() || b != second.versions.end()) {
        if (b == second.versions.end() || (a != first.versions.end() && a->first < b->first)) {
            return a->first + ": only at the source";
        }
        if (a == first.versions.end() || b->first < a->first) {
            return b->first + ": only at the target";
        }
        if (a->second != b->second) {
            return a->first + ": different content";
        }
        ++a;
        ++b;
    }
    return {};
}

Result<DigestNode> ask(HttpClient& client, const std::string& prefix, const Patience& patience) {
    HttpRequest request;
    request.target = fmt::format("{}/$digest{}{}", client.server().base_path,
                                 prefix.empty() ? "" : "?prefix=", prefix);
    while (true) {
        ANNALS_TRY(const HttpReply reply, client.send_patiently(request, patience));
        if (reply.status == 200) {
            return read_digest(reply.body);
        }
        if (reply.status != 202 || (patience.stop && patience.stop())) {
            json::Parser parser;
            return Error{
                Errc::processing,
                fmt::format("{}: GET {}: status {}: {}", client.server().authority(),
                            request.target, reply.status, outcome_text(parser, reply.body))};
        }
        std::this_thread::sleep_for(patience.first_pause);
    }
}

/// The first difference below `prefix`; empty: none, or missing versions have arrived since.
Result<std::string> difference_below(const std::string& prefix, const AskDigest& first,
                                     const AskDigest& second, Comparison& comparison) {
    ANNALS_TRY(const DigestNode a, first(prefix));
    ANNALS_TRY(const DigestNode b, second(prefix));
    ++comparison.exchanges;
    if (prefix.empty()) {
        comparison.versions = a.sum.versions;
        comparison.digest = a.sum.digest;
    }
    if (a.sum == b.sum) {
        return std::string();
    }
    std::string difference = a.lists && b.lists ? difference_of(a, b) : "";
    bool adds_up = !difference.empty();
    const bool at_end = prefix.size() == core::DigestTree::kDigitsMax;
    const std::size_t digits = at_end ? 0 : a.children.size();
    for (std::size_t digit = 0; difference.empty() && digit < digits; ++digit) {
        if (child_of(a, digit, prefix.size()) != child_of(b, digit, prefix.size())) {
            adds_up = true;
            ANNALS_TRY(difference, difference_below(prefix + "0123456789abcdef"[digit], first,
                                                    second, comparison));
        }
    }
    if (!adds_up) {
        return Error{Errc::processing, "the digests do not add up"};
    }
    return difference;
}

}  // namespace

Result<DigestNode> read_digest(std::string_view body) {
    json::Parser parser;
    const auto document = parser.parse(body);
    if (!document || !document->root()["resourceType"].equals("Parameters")) {
        return Error{Errc::processing, "the response to $digest is not a Parameters resource"};
    }
    DigestNode node;
    bool counted = false;
    for (const json::Value parameter : document->root()["parameter"].elements()) {
        ANNALS_TRY_VOID(take_sum(parameter, node.sum));
        counted = counted || parameter["name"].equals("digest");
        if (parameter["name"].equals("child")) {
            DigestNode::Sum sum;
            std::string prefix;
            for (const json::Value part : parameter["part"].elements()) {
                ANNALS_TRY_VOID(take_sum(part, sum));
                prefix = part["name"].equals("prefix") ? part["valueString"].string() : prefix;
            }
            if (prefix.empty()) {
                return Error{Errc::processing,
                             "the response to $digest has a child without a prefix"};
            }
            ANNALS_TRY(const std::uint64_t digit,
                       read_number(std::string_view(prefix).substr(prefix.size() - 1), 16));
            node.children[digit] = sum;
        } else if (parameter["name"].equals("version")) {
            std::string url;
            DigestNode::Sum sum;
            for (const json::Value part : parameter["part"].elements()) {
                ANNALS_TRY_VOID(take_sum(part, sum));
                url = part["name"].equals("url") ? part["valueUri"].string() : url;
            }
            node.versions[url] = sum.digest;
        }
    }
    if (!counted) {
        return Error{Errc::processing, "the response to $digest has no digest"};
    }
    node.lists = node.versions.size() == node.sum.versions;
    return node;
}

Result<Comparison> compare_digests(const AskDigest& first, const AskDigest& second) {
    Comparison comparison;
    ANNALS_TRY(comparison.difference, difference_below("", first, second, comparison));
    return comparison;
}

Result<Comparison> compare_stores(const ServerUrl& first, const ServerUrl& second,
                                  const Patience& patience) {
    HttpClient a(first);
    HttpClient b(second);
    Comparison comparison;
    for (int look = 0; look < kLooks; ++look) {
        if (look > 0) {
            std::this_thread::sleep_for(kBetweenLooks);
        }
        ANNALS_TRY(
            comparison,
            compare_digests([&](const std::string& prefix) { return ask(a, prefix, patience); },
                            [&](const std::string& prefix) { return ask(b, prefix, patience); }));
        if (comparison.difference.empty()) {
            break;
        }
    }
    return comparison;
}

}  // namespace annals::tools
