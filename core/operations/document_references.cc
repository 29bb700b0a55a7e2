#include "core/operations/document_references.h"

#include <fmt/format.h>

#include <utility>

namespace annals::core {

namespace {

class Collector {
  public:
    std::vector<DocumentReference> run(json::Value composition) {
        const std::string path = composition["resourceType"].string();
        take(composition, path, "subject");
        take(composition, path, "encounter");
        take(composition, path, "author");
        for_each(composition, path, "attester", [&](json::Value attester, const std::string& own) {
            take(attester, own, "party");
        });
        take(composition, path, "custodian");
        for_each(composition, path, "event",
                 [&](json::Value event, const std::string& own) { take(event, own, "detail"); });
        take_sections(composition, path);
        return std::move(found_);
    }

  private:
    // Calls `see(element, path)` for each element of a list.
    template <typename See>
    static void for_each(json::Value object, const std::string& path, std::string_view name,
                         const See& see) {
        std::size_t index = 0;
        for (const json::Value element : object[name].elements()) {
            see(element, fmt::format("{}.{}[{}]", path, name, index++));
        }
    }

    // One reference, or a list of them.
    void take(json::Value object, const std::string& path, std::string_view name) {
        const json::Value value = object[name];
        if (!value.is_array()) {
            return take_one(value, fmt::format("{}.{}", path, name));
        }
        for_each(object, path, name,
                 [&](json::Value element, std::string own) { take_one(element, std::move(own)); });
    }

    void take_one(json::Value reference, std::string path) {
        std::string text = reference["reference"].string();
        if (!text.empty() && !text.starts_with('#')) {
            found_.push_back({std::move(text), std::move(path)});
        }
    }

    // Nests as deep as the text, which the parser limits.
    void take_sections(json::Value object, const std::string& path) {
        for_each(object, path, "section", [&](json::Value section, const std::string& own) {
            take(section, own, "author");
            take(section, own, "focus");
            take(section, own, "entry");
            take_sections(section, own);
        });
    }

    std::vector<DocumentReference> found_;
};

}  // namespace

std::vector<DocumentReference> document_references(json::Value composition) {
    return Collector().run(composition);
}

}  // namespace annals::core
