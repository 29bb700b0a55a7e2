// Full validation of anything with R4's structure against arbitrary
// definitions: it ends, stays within its bounds, and gives the same twice.
//
// An input is a JSON array: the resource, then the available definitions, the first of which is used.

#include "core/base/check.h"
#include "core/validation/validate.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::validation {
namespace {

class Given final : public Source {
  public:
    void add(json::Document document) {
        known_.push_back(std::make_shared<const json::Document>(std::move(document)));
    }

    Result<Definition> find(std::string_view type, std::string_view url,
                            std::string_view) const override {
        for (const Definition& definition : known_) {
            if (definition->root()["resourceType"].equals(type) &&
                definition->root()["url"].equals(url)) {
                return definition;
            }
        }
        return Definition();
    }

    std::string first() const {
        return known_.empty() ? std::string() : known_.front()->root()["url"].string();
    }

  private:
    std::vector<Definition> known_;
};

void run(std::string_view text) {
    json::Parser parser;
    const Result<json::Document> input = parser.parse(text);
    if (!input || !input->root().is_array()) {
        return;
    }
    Given source;
    json::Document resource;
    for (const json::Value element : input->root().elements()) {
        Result<json::Document> document = parser.parse(element.raw());
        ANNALS_CHECK(document.has_value());
        if (resource.nodes().empty()) {
            resource = *std::move(document);
        } else {
            source.add(*std::move(document));
        }
    }
    if (!resource.root()) {
        return;
    }
    Options options;
    options.steps = 200'000;
    if (const std::string profile = source.first(); !profile.empty()) {
        options.profiles = {profile};
    }
    const Report report = validate(resource.root(), source, options);
    const Report again = validate(resource.root(), source, options);
    ANNALS_CHECK(report.issues.size() <= options.issues_max);
    ANNALS_CHECK(report.valid == again.valid);
    ANNALS_CHECK(report.issues.size() == again.issues.size());
}

}  // namespace
}  // namespace annals::validation

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    annals::validation::run({reinterpret_cast<const char*>(data), size});
    return 0;
}
