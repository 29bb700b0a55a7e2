#include "codec/json/document.h"
#include "core/base/instant.h"
#include "tools/generate/generator.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace annals::generate {
namespace {

Options options_of(Form form, std::uint64_t patients) {
    Options options;
    options.form = form;
    options.patients = patients;
    options.bundle_entries = 100;
    options.from = Instant{1'420'070'400'000'000};
    options.until = Instant{1'735'689'600'000'000};
    return options;
}

std::vector<std::string> all_of(const Options& options) {
    Generator generator(options);
    std::vector<std::string> bundles;
    std::string bundle;
    while (generator.next(bundle)) {
        bundles.push_back(bundle);
    }
    return bundles;
}

json::Document parsed(const std::string& text) {
    json::Parser parser;
    Result<json::Document> document = parser.parse(text);
    EXPECT_TRUE(document) << (document ? "" : document.error().detail);
    return document ? *std::move(document) : json::Document();
}

// Every value of "reference" below `value`.
void collect_references(json::Value value, std::vector<std::string>& into) {
    for (const json::Member& member : value.members()) {
        if (member.key.equals("reference") && member.value.is_string()) {
            into.push_back(member.value.string());
        } else {
            collect_references(member.value, into);
        }
    }
    for (const json::Value element : value.elements()) {
        collect_references(element, into);
    }
}

TEST(Generator, GivesTheSameBytesForTheSameSeedOnly) {
    for (const Form form : {Form::transaction, Form::history, Form::resources}) {
        Options options = options_of(form, 4);
        const std::vector<std::string> first = all_of(options);
        EXPECT_EQ(first, all_of(options));
        options.seed = 2;
        EXPECT_NE(first, all_of(options));
    }
}

TEST(Generator, LinksTransactionsByReferencesThatHold) {
    std::set<std::string> shared;
    for (const std::string& bundle : all_of(options_of(Form::transaction, 6))) {
        const json::Document document = parsed(bundle);
        EXPECT_TRUE(document.root()["type"].equals("transaction"));
        std::set<std::string> full_urls;
        for (const json::Value entry : document.root()["entry"].elements()) {
            EXPECT_TRUE(full_urls.insert(entry["fullUrl"].string()).second);
            const bool put = entry["request"]["method"].equals("PUT");
            if (put) {
                shared.insert(entry["request"]["url"].string());
            }
            EXPECT_EQ(put, static_cast<bool>(entry["resource"]["id"]));
        }
        std::vector<std::string> references;
        collect_references(document.root(), references);
        for (const std::string& reference : references) {
            EXPECT_TRUE(full_urls.contains(reference) || shared.contains(reference) ||
                        reference == "#coverage")
                << reference;
        }
    }
    EXPECT_EQ(shared.size(), 4 * kItemsPerHouse);
}

TEST(Generator, TellsHistoriesOldestFirstWithEveryVersionInItsPlace) {
    std::map<std::string, int> versions;
    std::map<std::string, int> methods;
    std::string last;
    for (const std::string& bundle : all_of(options_of(Form::history, 40))) {
        const json::Document document = parsed(bundle);
        EXPECT_TRUE(document.root()["type"].equals("history"));
        EXPECT_LE(document.root()["entry"].size(), 100U);
        for (const json::Value entry : document.root()["entry"].elements()) {
            const std::string full_url = entry["fullUrl"].string();
            const std::string method = entry["request"]["method"].string();
            const json::Value resource = entry["resource"];
            const std::string modified = entry["response"]["lastModified"].string();
            EXPECT_LT(last, modified);
            last = modified;
            ++methods[method];

            const std::size_t base = full_url.find("/fhir/") + 6;
            const std::string key = full_url.substr(base, full_url.find("/_history/") - base);
            const int version = ++versions[key];
            EXPECT_EQ(full_url.substr(full_url.rfind('/') + 1), std::to_string(version));
            EXPECT_EQ(entry["response"]["etag"].string(), "W/\"" + std::to_string(version) + "\"");
            EXPECT_EQ(version == 1, method == "POST");
            EXPECT_EQ(method == "DELETE", !resource);
            EXPECT_EQ(method == "DELETE", entry["response"]["status"].equals("410 Gone"));
            if (method != "DELETE") {
                EXPECT_EQ(resource["meta"]["versionId"].string(), std::to_string(version));
                EXPECT_EQ(resource["meta"]["lastUpdated"].string(), modified);
                EXPECT_EQ(resource["resourceType"].string() + "/" + resource["id"].string(), key);
            }
            std::vector<std::string> references;
            collect_references(resource, references);
            for (const std::string& reference : references) {
                EXPECT_TRUE(versions.contains(reference) || reference == "#coverage") << reference;
            }
        }
    }
    EXPECT_GT(methods["POST"], 3000);
    EXPECT_GT(methods["PUT"], 500);
    EXPECT_GT(methods["DELETE"], 10);
}

TEST(Generator, StopsAtTheNumberOfVersionsAskedFor) {
    Options options = options_of(Form::history, 0);
    options.versions = 1234;
    Generator generator(options);
    std::string bundle;
    std::size_t entries = 0;
    while (generator.next(bundle)) {
        entries += parsed(bundle).root()["entry"].size();
    }
    EXPECT_EQ(entries, 1234U);
    EXPECT_EQ(generator.counts().versions, 1234U);
    EXPECT_EQ(generator.counts().bundles, 13U);
}

TEST(Generator, StopsAtTheSizeAskedForWhateverABundleMayHold) {
    Options options = options_of(Form::history, 0);
    options.bytes = 100'000;
    options.bundle_entries = 1'000'000;
    const std::vector<std::string> bundles = all_of(options);
    ASSERT_EQ(bundles.size(), 1U);
    EXPECT_GE(bundles[0].size(), 100'000U);
    EXPECT_LT(bundles[0].size(), 120'000U);
    const json::Document bundle = parsed(bundles[0]);
    std::string newest;
    for (const json::Value entry : bundle.root()["entry"].elements()) {
        newest = entry["response"]["lastModified"].string();
    }
    EXPECT_LT(newest, "2025");

    options.bytes = 1;
    const std::vector<std::string> least = all_of(options);
    ASSERT_EQ(least.size(), 1U);
    EXPECT_EQ(parsed(least[0]).root()["entry"].size(), 1U);
}

TEST(Generator, MakesResourcesOfARealisticMeanSize) {
    Generator generator(options_of(Form::resources, 100));
    std::string lines;
    while (generator.next(lines)) {
    }
    const std::uint64_t mean = generator.counts().bytes / generator.counts().resources;
    EXPECT_GT(mean, 1200U);
    EXPECT_LT(mean, 1550U);
}

TEST(Samples, HaveNoIdAndAreAsManyAsAskedFor) {
    const std::vector<Sample> samples =
        make_samples(3, {Kind::organization, Kind::patient, Kind::explanation_of_benefit}, 25);
    ASSERT_EQ(samples.size(), 75U);
    for (const Sample& sample : samples) {
        const json::Document document = parsed(sample.body);
        EXPECT_TRUE(document.root()["resourceType"].equals(type_name(sample.kind)));
        EXPECT_FALSE(document.root()["id"]);
    }
}

}  // namespace
}  // namespace annals::generate
