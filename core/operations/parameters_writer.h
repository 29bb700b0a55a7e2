// ParametersWriter: writes an operation's response, a Parameters resource.
//
// Layer:   core/operations.
// Spec:    FHIR R4 parameters.html.
// Threads: plain values.

#pragma once

#include "core/exchange.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals::core {

/// The body of a Parameters response, parameter by parameter.
class ParametersWriter {
  public:
    /// `value` is JSON, inserted verbatim; `type` as in valueString.
    void add(std::string_view name, std::string_view type, std::string_view value);
    void add_text(std::string_view name, std::string_view type, std::string_view text);
    void add_flag(std::string_view name, bool value);

    /// A whole number that may exceed R4's integers, which end at 2^31: a decimal.
    void add_number(std::string_view name, std::uint64_t value);

    /// Begins a parameter with parts: what is added until end_parts(), which may have parts itself.
    void begin_parts(std::string_view name);
    void end_parts();

    /// Makes room for so many bytes: a text that grows to many MB copies all of it several times.
    void reserve(std::size_t bytes) { json_.reserve(bytes); }

    /// Appends all parameters of another.
    void append(const ParametersWriter& other);

    bool empty() const noexcept { return json_.size() == kBegin.size(); }

    /// The bytes of all parameters.
    std::size_t size() const noexcept { return json_.size() - kBegin.size(); }

    /// The JSON array alone.
    std::string list() const { return "[" + json_.substr(kBegin.size()) + "]"; }

    /// Moves the resource out: nothing can be added or read afterwards.
    std::string resource();

    /// 200 with resource().
    Response response();

  private:
    static constexpr std::string_view kBegin = R"({"resourceType":"Parameters","parameter":[)";

    /// A comma, unless this is the first of a list, and the name.
    void begin(std::string_view name);

    std::string json_{kBegin};
};

}  // namespace annals::core
