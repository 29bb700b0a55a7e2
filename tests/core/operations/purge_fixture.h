// PurgeTest: $purge over requests, and what its receipt says.

#pragma once

#include "codec/json/document.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// What a receipt says.
struct Receipt {
    bool dry_run = false;
    std::uint64_t position = 0;
    std::map<std::string, std::vector<std::string>> versions;  ///< by resource
    std::set<std::string> whole;
    std::map<std::string, std::string> hashes;     ///< by versioned reference
    std::map<std::string, std::string> referrers;  ///< what each refers to
    std::set<std::string> shared;                  ///< of these
};

class PurgeTest : public test::ServiceFixture {
  protected:
    static std::string subject(std::string_view patient, std::string_view rest = {}) {
        return fmt::format(
            R"("status":"final","code":{{"text":"x"}},"subject":{{"reference":"Patient/{}"}}{})",
            patient, rest);
    }

    void put(std::string_view type, std::string_view id, std::string_view rest = {}) {
        const std::string body = fmt::format(R"({{"resourceType":"{}","id":"{}"{}{}}})", type, id,
                                             rest.empty() ? "" : ",", rest);
        const test::Answer answer = send("PUT", fmt::format("/{}/{}", type, id), body);
        ASSERT_TRUE(answer.status == 200 || answer.status == 201) << body << answer.body;
    }

    void remove(const std::string& name) {
        ASSERT_EQ(send("DELETE", "/" + name).status, 204) << name;
    }

    int status(const std::string& path) { return send("GET", "/" + path).status; }

    Receipt purge(const std::string& id, const std::string& query = {}) {
        return read_receipt(send("POST", "/Patient/" + id + "/$purge" + query));
    }

  private:
    static std::string part(json::Value parameter, std::string_view name, std::string_view value) {
        for (const json::Value one : parameter["part"].elements()) {
            if (one["name"].equals(name)) {
                return one[value].string();
            }
        }
        return {};
    }

    static bool flag(json::Value parameter, std::string_view name) {
        for (const json::Value one : parameter["part"].elements()) {
            if (one["name"].equals(name)) {
                return one["valueBoolean"].raw() == "true";
            }
        }
        return false;
    }

    static std::uint64_t count(json::Value parameter) {
        for (const json::Value one : parameter["part"].elements()) {
            if (one["name"].equals("count")) {
                return std::stoull(std::string(one["valueInteger"].raw()));
            }
        }
        return 0;
    }

    static Receipt read_receipt(const test::Answer& answer) {
        json::Parser parser;
        const auto document = parser.parse(answer.body);
        EXPECT_EQ(answer.status, 200) << answer.body;
        Receipt receipt;
        std::map<std::string, std::uint64_t> told;     // the numbers that it states
        std::map<std::string, std::uint64_t> counted;  // and what it lists
        for (const json::Value parameter : document->root()["parameter"].elements()) {
            const json::Value name = parameter["name"];
            if (parameter["valueInteger"]) {
                told[name.string()] = std::stoull(std::string(parameter["valueInteger"].raw()));
            }
            counted[name.string() + "s"] += parameter["part"] ? 1 : 0;
            if (name.equals("dryRun")) {
                receipt.dry_run = parameter["valueBoolean"].raw() == "true";
            } else if (name.equals("position")) {
                receipt.position = std::stoull(std::string(parameter["valueDecimal"].raw()));
            } else if (name.equals("resource")) {
                const std::string resource = part(parameter, "reference", "valueString");
                for (const json::Value one : parameter["part"].elements()) {
                    if (one["name"].equals("version")) {
                        const std::string number = part(one, "versionId", "valueString");
                        receipt.versions[resource].push_back(number);
                        receipt.hashes[resource + "/_history/" + number] =
                            part(one, "sha256", "valueString");
                        EXPECT_EQ(flag(one, "deletion"),
                                  part(one, "sha256", "valueString").empty());
                        ++counted["versions"];
                    }
                }
                EXPECT_EQ(count(parameter), receipt.versions[resource].size()) << resource;
                if (flag(parameter, "whole")) {
                    receipt.whole.insert(resource);
                }
            } else if (name.equals("referrer")) {
                const std::string resource = part(parameter, "reference", "valueString");
                receipt.referrers[resource] = part(parameter, "refersTo", "valueString");
                if (flag(parameter, "shared")) {
                    receipt.shared.insert(resource);
                }
            }
        }
        for (const std::string name : {"resources", "versions", "referrers"}) {
            EXPECT_EQ(told[name], counted[name]) << name;
        }
        return receipt;
    }
};

}  // namespace annals::core
