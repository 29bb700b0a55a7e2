// $digest: the tree, what it hashes, and what it says of equal and different stores.

#include "core/base/digest.h"

#include "core/operations/digest_tree.h"
#include "storage/format.h"
#include "tests/support/files.h"
#include "tests/support/no_threads.h"
#include "tests/support/service_fixture.h"
#include "tools/commands/compare_stores.h"

#include <fmt/format.h>

#include <fstream>

namespace annals::core {
namespace {

using test::Answer;
using test::patient;

class DigestTest : public test::ServiceFixture {
  protected:
    Answer digest(std::string_view prefix = {}) {
        while (true) {
            Answer answer =
                send("GET", fmt::format("/$digest{}{}", prefix.empty() ? "" : "?prefix=", prefix));
            if (answer.status != 202) {
                return answer;
            }
        }
    }

    tools::DigestNode node(std::string_view prefix = {}) {
        const Answer answer = digest(prefix);
        EXPECT_EQ(answer.status, 200) << answer.body;
        EXPECT_EQ(answer.cache_control, "no-store");
        return *tools::read_digest(answer.body);
    }

    void fill(int count) {
        std::string entries;
        for (int i = 0; i < count; ++i) {
            entries += fmt::format(
                R"({}{{"resource":{},"request":{{"method":"PUT","url":"Patient/p{}"}}}})",
                i == 0 ? "" : ",", patient(fmt::format("p{}", i)), i);
        }
        ASSERT_EQ(
            send("POST", "/",
                 fmt::format(R"({{"resourceType":"Bundle","type":"transaction","entry":[{}]}})",
                             entries))
                .status,
            200);
    }

    void restart_hard() {
        Config config;
        config.hard_delete = true;
        restart(config);
    }
};

TEST_F(DigestTest, SaysWhenThereIsNoThreadToReadWith) {
    fill(3);
    {
        const test::NoThreads none;
        const Answer answer = send("GET", "/$digest");
        EXPECT_EQ(answer.status, 503);
        EXPECT_TRUE(answer.says("transient"));
        EXPECT_EQ(answer.header("Retry-After"), "1");
    }
    EXPECT_EQ(node().versions.size(), 3U);
}

TEST_F(DigestTest, WhileItReadsItSaysWhereToAskAgainForTheSameNode) {
    // A stopping server doesn't wait: except at a slow moment, it answers before it has read what is new.
    on_loop([&] { loop().end_waits(); });
    Answer answer;
    for (int tries = 0; tries < 100 && answer.status != 202; ++tries) {
        put_patient(fmt::format("p{}", tries));
        answer = send("GET", "/$digest?prefix=3F");
    }
    EXPECT_EQ(answer.status, 202);
    EXPECT_EQ(answer.content_location, "http://test/fhir/$digest?prefix=3F");
}

TEST_F(DigestTest, OfAnEmptyStoreIsNothing) {
    const auto empty = node();
    EXPECT_EQ(empty.sum, tools::DigestNode::Sum());
    EXPECT_TRUE(empty.lists);
}

TEST_F(DigestTest, ListsAFewVersionsWithTheirHashes) {
    put_patient("a");
    send("DELETE", "/Patient/a");
    const auto root = node();
    EXPECT_TRUE(root.lists);
    ASSERT_EQ(root.versions.size(), 2U);
    const auto info = store().version(*find_resource_type("Patient"), "a", {1});
    const auto stored = store().load(*info);
    const std::string head = fmt::format("Patient/a 1 {} 0", info->instant.us / 1000);
    EXPECT_EQ(root.versions.at("Patient/a/_history/1"), hash64(stored->body, hash64(head)));
    EXPECT_EQ(root.sum.digest,
              root.versions.at("Patient/a/_history/1") + root.versions.at("Patient/a/_history/2"));
    EXPECT_EQ(node(fmt::format("{:016x}", digest_key("Patient/a"))).sum, root.sum);
    EXPECT_EQ(node(fmt::format("{:016x}", digest_key("Patient/a") ^ 1)).sum.versions, 0U);
}

TEST_F(DigestTest, CountsADamagedVersionWithADigestOfItsOwnAndDoesNotListIt) {
    put_patient("a", "Flipped");
    put_patient("b");
    const std::string path = data() + "/segments/" + storage::segment_name(1);
    const std::size_t at = test::read_whole_file(path).find("Flipped");
    ASSERT_NE(at, std::string::npos);
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<std::streamoff>(at))
        .put('f');
    const auto root = node();
    EXPECT_EQ(root.sum.versions, 2U);
    ASSERT_EQ(root.versions.size(), 1U);
    EXPECT_EQ(root.sum.digest, root.versions.at("Patient/b/_history/1") + 1);
}

TEST_F(DigestTest, ChildrenAddUpToTheirParents) {
    fill(3000);
    std::vector<std::string> open = {""};
    std::uint64_t listed = 0;
    while (!open.empty()) {
        const std::string prefix = open.back();
        open.pop_back();
        const auto here = node(prefix);
        if (here.lists) {
            listed += here.versions.size();
            continue;
        }
        EXPECT_GT(here.sum.versions, 128U);
        tools::DigestNode::Sum sum;
        for (std::size_t i = 0; i < 16; ++i) {
            sum.versions += here.children[i].versions;
            sum.digest += here.children[i].digest;
            const std::string child = prefix + "0123456789abcdef"[i];
            EXPECT_EQ(node(child).sum, here.children[i]) << child;
            if (here.children[i].versions > 0) {
                open.push_back(child);
            }
        }
        EXPECT_EQ(sum, here.sum);
    }
    EXPECT_EQ(listed, 3000U);
}

TEST_F(DigestTest, FollowsWritesAndErasures) {
    restart_hard();
    fill(500);
    const auto before = node().sum;
    put_patient("new");
    EXPECT_EQ(node().sum.versions, 501U);
    send("DELETE", "/Patient/new");
    EXPECT_EQ(node().sum, before);
    send("DELETE", "/Patient/p7");
    EXPECT_EQ(node().sum.versions, 499U);
    const auto erased = node().sum;
    restart_hard();
    EXPECT_EQ(node().sum, erased) << "made anew";
    send("DELETE", "/Patient/p8");
    put_patient("new");
    EXPECT_EQ(node().sum.versions, 499U);
    EXPECT_NE(node().sum, erased) << "as many, but others";
}

TEST_F(DigestTest, ManyVersionsOfOneResourceAreListedAtTheEndOfTheTree) {
    for (int i = 0; i < 140; ++i) {
        ASSERT_LT(put_patient("a"), 300);
    }
    const std::string key = fmt::format("{:016x}", digest_key("Patient/a"));
    EXPECT_FALSE(node().lists);
    EXPECT_FALSE(node(key.substr(0, 15)).lists);
    EXPECT_EQ(node(key).versions.size(), 140U);
    put_patient("b");
    const auto root = node();
    EXPECT_EQ(root.sum.versions, 141U);
    EXPECT_EQ(root.children[digest_key("Patient/b") >> 60].versions, 1U) << "also of one version";
}

TEST_F(DigestTest, MalformedPrefixesAreRefused) {
    for (const char* prefix : {"g", "0x1", "-1", "00000000000000000", "a%20"}) {
        EXPECT_EQ(digest(prefix).status, 400) << prefix;
    }
    EXPECT_EQ(send("GET", "/$digest?other=1").status, 400);
}

// ---- comparing ----

/// A store given as a list, seen through the tree.
tools::AskDigest tree_of(const std::map<std::string, std::uint64_t>& versions, std::size_t listed) {
    return [&versions, listed](const std::string& prefix) -> Result<tools::DigestNode> {
        tools::DigestNode node;
        for (const auto& [url, digest] : versions) {
            const std::string key =
                fmt::format("{:016x}", digest_key(url.substr(0, url.find("/_history/"))));
            if (!key.starts_with(prefix)) {
                continue;
            }
            ++node.sum.versions;
            node.sum.digest += digest;
            node.versions[url] = digest;
            if (prefix.size() < 16) {
                auto& child = node.children[static_cast<std::size_t>(
                    std::stoul(key.substr(prefix.size(), 1), nullptr, 16))];
                ++child.versions;
                child.digest += digest;
            }
        }
        node.lists = prefix.size() == 16 || node.versions.size() <= listed;
        if (!node.lists) {
            node.versions.clear();
        }
        return node;
    };
}

TEST(CompareDigests, NamesTheFirstDifferenceInFewExchanges) {
    std::map<std::string, std::uint64_t> a;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        a[fmt::format("Patient/p{}/_history/1", i)] = i * 77 + 5;
    }
    const auto same = tools::compare_digests(tree_of(a, 128), tree_of(a, 128));
    ASSERT_TRUE(same);
    EXPECT_EQ(same->difference, "");
    EXPECT_EQ(same->exchanges, 1U);
    EXPECT_EQ(same->versions, 20'000U);

    auto b = a;
    b["Patient/p777/_history/1"] = 1;
    auto found = tools::compare_digests(tree_of(a, 128), tree_of(b, 128));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->difference, "Patient/p777/_history/1: different content");
    EXPECT_LE(found->exchanges, 4U);

    b = a;
    b.erase("Patient/p5/_history/1");
    found = tools::compare_digests(tree_of(a, 128), tree_of(b, 128));
    EXPECT_EQ(found->difference, "Patient/p5/_history/1: only at the source");
    b = a;
    b["Patient/p5/_history/2"] = 3;
    found = tools::compare_digests(tree_of(a, 128), tree_of(b, 128));
    EXPECT_EQ(found->difference, "Patient/p5/_history/2: only at the target");

    const std::map<std::string, std::uint64_t> few = {{"Patient/p9/_history/1", 9 * 77 + 5}};
    found = tools::compare_digests(tree_of(few, 128), tree_of(a, 128));
    ASSERT_TRUE(found) << "one lists where the other has children";
    EXPECT_TRUE(found->difference.ends_with(": only at the target"));
    found = tools::compare_digests(tree_of({}, 128), tree_of(few, 128));
    EXPECT_EQ(found->difference, "Patient/p9/_history/1: only at the target");
}

TEST(CompareDigests, LooksForADifferenceInTheMiddleOfAList) {
    const auto compare = [](const std::map<std::string, std::uint64_t>& a,
                            const std::map<std::string, std::uint64_t>& b) {
        const auto found = tools::compare_digests(tree_of(a, 128), tree_of(b, 128));
        return found ? fmt::format("{}, {}", found->difference, found->exchanges) : "none";
    };
    EXPECT_EQ(compare({{"P/1", 1}, {"P/3", 3}}, {{"P/1", 1}, {"P/2", 2}, {"P/3", 3}}),
              "P/2: only at the target, 1");
    EXPECT_EQ(compare({{"P/1", 1}, {"P/2", 2}, {"P/3", 3}}, {{"P/1", 1}, {"P/3", 3}}),
              "P/2: only at the source, 1");
    EXPECT_EQ(compare({{"P/1", 1}, {"P/2", 2}, {"P/3", 3}}, {{"P/1", 1}, {"P/2", 3}, {"P/3", 3}}),
              "P/2: different content, 1");
    // One store lists what the other has children for: only the child that differs is asked for.
    std::map<std::string, std::uint64_t> few;
    for (std::uint64_t i = 0; few.size() < 128; ++i) {
        few[fmt::format("P/{}", i)] = i;
    }
    auto many = few;
    ASSERT_NE(digest_key("P/last") >> 60, 0U) << "nor is it the first child";
    many["P/last"] = 5;
    EXPECT_EQ(compare(few, many), "P/last: only at the target, 2");
    EXPECT_EQ(compare(many, few), "P/last: only at the source, 2");
}

TEST(CompareDigests, GoesOnBehindWhatWasOnItsWayAndHasCome) {
    std::map<std::string, std::uint64_t> a;
    for (std::uint64_t i = 0; i < 500; ++i) {
        a[fmt::format("Patient/p{}/_history/1", i)] = i * 77 + 5;
    }
    const auto at = [&](char digit) {
        for (const auto& [url, digest] : a) {
            const std::string_view name = std::string_view(url).substr(0, url.find("/_history/"));
            if (digest_key(name) >> 60 == static_cast<std::uint64_t>(digit - '0')) {
                return url;
            }
        }
        return std::string();
    };
    for (const bool more : {true, false}) {
        auto b = a;
        b.erase(at('3'));
        if (more) {
            b.erase(at('7'));
        }
        const auto found = tools::compare_digests(
            tree_of(a, 128), [&](const std::string& prefix) -> Result<tools::DigestNode> {
                if (prefix == "3") {
                    b[at('3')] = a.at(at('3'));
                }
                return tree_of(b, 128)(prefix);
            });
        ASSERT_TRUE(found);
        EXPECT_EQ(found->difference, more ? at('7') + ": only at the source" : "");
        EXPECT_EQ(found->versions, 500U);
    }
}

TEST(CompareDigests, RefusesWhatDoesNotAddUp) {
    const auto wrong = [](std::uint64_t digest, bool lists) {
        return [=](const std::string&) -> Result<tools::DigestNode> {
            tools::DigestNode node;
            node.sum = {200, digest};
            node.versions = {{"Patient/1/_history/1", 1}};
            node.children[3] = node.sum;
            node.lists = lists;
            return node;
        };
    };
    EXPECT_FALSE(tools::compare_digests(wrong(1, true), wrong(2, true)));
    EXPECT_FALSE(tools::compare_digests(wrong(1, false), wrong(2, false)));
}

TEST(ReadDigest, RefusesWhatIsSomethingElse) {
    for (const char* body :
         {"", "{}", R"({"resourceType":"Bundle"})", R"({"resourceType":"Parameters"})",
          R"({"resourceType":"Parameters","parameter":[{"name":"digest","valueString":"x"}]})",
          R"({"resourceType":"Parameters","parameter":[{"name":"digest","valueString":"1"},
              {"name":"versions","valueDecimal":1.5}]})",
          R"({"resourceType":"Bundle","parameter":[{"name":"digest","valueString":"1"}]})",
          R"({"resourceType":"Parameters","parameter":[{"name":"digest","valueString":"1"},
              {"name":"child","part":[{"name":"versions","valueDecimal":1}]}]})"}) {
        EXPECT_FALSE(tools::read_digest(body)) << body;
    }
}

}  // namespace
}  // namespace annals::core
