#include "core/operations/parameters_writer.h"

#include "codec/json/document.h"

#include <utility>

namespace annals::core {

void ParametersWriter::begin(std::string_view name) {
    json_ += json_.ends_with('[') ? R"({"name":)" : R"(,{"name":)";
    json::append_quoted(json_, name);
}

void ParametersWriter::add(std::string_view name, std::string_view type, std::string_view value) {
    begin(name);
    json_.append(",\"").append(type).append("\":").append(value).append("}");
}

void ParametersWriter::add_text(std::string_view name, std::string_view type,
                                std::string_view text) {
    add(name, type, json::quoted(text));
}

void ParametersWriter::add_flag(std::string_view name, bool value) {
    add(name, "valueBoolean", value ? "true" : "false");
}

void ParametersWriter::add_number(std::string_view name, std::uint64_t value) {
    add(name, "valueDecimal", std::to_string(value));
}

void ParametersWriter::begin_parts(std::string_view name) {
    begin(name);
    json_ += R"(,"part":[)";
}

void ParametersWriter::end_parts() {
    json_ += "]}";
}

void ParametersWriter::append(const ParametersWriter& other) {
    json_.append(json_.ends_with('[') || other.empty() ? "" : ",")
        .append(other.json_, kBegin.size());
}

std::string ParametersWriter::resource() {
    if (empty()) {
        return R"({"resourceType":"Parameters"})";
    }
    json_ += "]}";
    return std::move(json_);
}

Response ParametersWriter::response() {
    Response response;
    response.body = Body(resource());
    return response;
}

}  // namespace annals::core
