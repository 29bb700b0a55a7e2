#include "core/operations/document_references.h"

#include "codec/json/resource.h"

namespace annals::core {

namespace {

class Collector {
  public:
    explicit Collector(json::Value composition) : composition_(composition) {}

    std::vector<DocumentReference> run() {
        take(composition_["subject"]);
        take(composition_["encounter"]);
        take(composition_["author"]);
        for (const json::Value attester : composition_["attester"].elements()) {
            take(attester["party"]);
        }
        take(composition_["custodian"]);
        for (const json::Value event : composition_["event"].elements()) {
            take(event["detail"]);
        }
        take_sections(composition_["section"]);
        return std::move(found_);
    }

  private:
    // One reference, or a list of them.
    void take(json::Value value) {
        if (value.is_array()) {
            for (const json::Value element : value.elements()) {
                take(element);
            }
            return;
        }
        std::string text = value["reference"].string();
        if (!text.empty() && !text.starts_with('#')) {
            found_.push_back({std::move(text), json::expression_of(composition_, value.index())});
        }
    }

    // Their depth is that of the text, which the parser has bounded.
    void take_sections(json::Value sections) {
        for (const json::Value section : sections.elements()) {
            take(section["author"]);
            take(section["focus"]);
            take(section["entry"]);
            take_sections(section["section"]);
        }
    }

    json::Value composition_;
    std::vector<DocumentReference> found_;
};

}  // namespace

std::vector<DocumentReference> document_references(json::Value composition) {
    return Collector(composition).run();
}

}  // namespace annals::core
