// TerminologySource: what a validation knows, for terminology to look things up in.
//
// Layer:   core, inside core/validation and for core/definitions.h.
// Threads: those of the source.

#pragma once

#include "core/terminology/source.h"
#include "core/validation/validate.h"

#include <string_view>

namespace annals::validation {

/// Lifetime: `source` outlives it.
class TerminologySource final : public terminology::Source {
  public:
    explicit TerminologySource(const validation::Source& source) : source_(source) {}

    Result<terminology::Definition> find(std::string_view type, std::string_view url,
                                         std::string_view version) const override {
        return source_.find(type, url, version);
    }

  private:
    const validation::Source& source_;
};

}  // namespace annals::validation
