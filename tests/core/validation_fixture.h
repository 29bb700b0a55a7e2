// Shared by tests of full validation: definitions as text, and issues as lines.

#pragma once

#include "core/validation/validate.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace annals::validation {

inline json::Document parsed(std::string_view text) {
    json::Parser parser;
    Result<json::Document> document = parser.parse(text);
    EXPECT_TRUE(document) << text << ": " << (document ? "" : document.error().detail);
    return document ? *std::move(document) : json::Document();
}

/// Finds only the definitions that were added to it.
class TextSource final : public Source {
  public:
    void add(std::string_view text) {
        auto document = std::make_shared<const json::Document>(parsed(text));
        const json::Value root = document->root();
        known_[root["resourceType"].string() + " " + root["url"].string()] = document;
    }

    Result<Definition> find(std::string_view type, std::string_view url,
                            std::string_view version) const override {
        const auto found = known_.find(std::string(type) + " " + std::string(url));
        if (found == known_.end() ||
            (!version.empty() && !found->second->root()["version"].equals(version))) {
            return Definition();
        }
        return found->second;
    }

  private:
    std::map<std::string, Definition> known_;
};

/// The default, plus validation against the profile that profile_of() makes.
inline Options by_profile() {
    Options options;
    options.profiles = {"http://x.org/p"};
    return options;
}

// One issue per line: "error invariant Patient.contact[0]".
inline std::string issues(std::string_view resource, const Source& source,
                          const Options& options = {}) {
    const json::Document document = parsed(resource);
    const Report report = validate(document.root(), source, options);
    std::string lines;
    for (const core::Issue& issue : report.issues) {
        lines.append(issue.severity).append(" ").append(issue.code).append(" ");
        lines.append(issue.expression).append("\n");
    }
    return lines;
}

inline std::string issues(std::string_view resource) {
    return issues(resource, EmptySource());
}

inline std::string profile_of(std::string_view type, std::string_view elements,
                              std::string_view name = "p", std::string_view base = {}) {
    std::string text = R"({"resourceType":"StructureDefinition","url":"http://x.org/)";
    text.append(name).append(
        R"(","name":"P","status":"draft","kind":"resource","abstract":false,"type":")");
    text.append(type).append(R"(","derivation":"constraint","baseDefinition":")");
    text.append(base.empty() ? "http://hl7.org/fhir/StructureDefinition/" + std::string(type)
                             : std::string(base));
    text.append(R"(","differential":{"element":[)").append(elements).append("]}}");
    return text;
}

inline std::string against(std::string_view resource, std::string_view elements) {
    TextSource source;
    const json::Document document = parsed(resource);
    source.add(profile_of(document.root()["resourceType"].string(), elements));
    return issues(resource, source, by_profile());
}

inline constexpr std::string_view kComponents =
    R"({"id":"Observation.component","path":"Observation.component","slicing":{"rules":")";

inline std::string components(std::string_view rules, std::string_view discriminator,
                              std::string_view slices) {
    return std::string(kComponents) + std::string(rules) + R"(","ordered":true,"discriminator":[)" +
           std::string(discriminator) + "]}}," + std::string(slices);
}

inline std::string with_components(std::string_view list) {
    return R"({"resourceType":"Observation","status":"final","code":{"text":"t"},"component":[)" +
           std::string(list) + "]}";
}

inline constexpr std::string_view kA =
    R"({"code":{"coding":[{"system":"http://x.org","code":"a"}]},"valueInteger":1})";
inline constexpr std::string_view kB =
    R"({"code":{"coding":[{"system":"http://x.org","code":"b"}]},"valueString":"x"})";
inline constexpr std::string_view kC = R"({"code":{"text":"c"},"dataAbsentReason":{"text":"no"}})";

inline std::string joined(std::initializer_list<std::string_view> parts) {
    std::string all;
    for (const std::string_view part : parts) {
        all.append(all.empty() ? "" : ",").append(part);
    }
    return all;
}

/// The results of `item` for 0 to `count` - 1, separated by commas.
template <typename Item>
std::string listed(int count, const Item& item) {
    std::string all;
    for (int i = 0; i < count; ++i) {
        all.append(i == 0 ? "" : ",").append(item(i));
    }
    return all;
}

}  // namespace annals::validation
