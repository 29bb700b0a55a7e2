#include "core/operations/parameters_writer.h"

#include "codec/json/document.h"

namespace annals::core {

void ParametersWriter::begin(std::string_view name) {
    json_ += json_.empty() ? R"({"name":)" : R"(,{"name":)";
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

void ParametersWriter::add_parts(std::string_view name, const ParametersWriter& parts) {
    begin(name);
    json_.append(R"(,"part":[)").append(parts.json_).append("]}");
}

void ParametersWriter::append(const ParametersWriter& other) {
    json_.append(json_.empty() || other.json_.empty() ? "" : ",").append(other.json_);
}

std::string ParametersWriter::resource() const {
    return json_.empty() ? R"({"resourceType":"Parameters"})"
                         : R"({"resourceType":"Parameters","parameter":[)" + json_ + "]}";
}

Response ParametersWriter::response() const {
    Response response;
    response.body = Body(resource());
    return response;
}

}  // namespace annals::core
