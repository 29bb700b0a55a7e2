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

    /// A parameter with parts.
    void add_parts(std::string_view name, const ParametersWriter& parts);

    /// Appends all parameters of another.
    void append(const ParametersWriter& other);

    bool empty() const noexcept { return json_.empty(); }

    /// The bytes of all parameters.
    std::size_t size() const noexcept { return json_.size(); }

    /// The JSON array alone.
    std::string list() const { return "[" + json_ + "]"; }

    std::string resource() const;

    /// 200 with resource().
    Response response() const;

  private:
    void begin(std::string_view name);

    std::string json_;
};

}  // namespace annals::core
