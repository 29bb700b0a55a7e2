// ImportLine: what one line of an import is, without the store.
//
// Layer:   core/bulk.
// Spec:    docs/api/import.md, "A line".
// Threads: plain functions and values; parse with the calling thread's parser.

#pragma once

#include "codec/json/document.h"
#include "core/base/resource_types.h"
#include "core/base/result.h"
#include "core/config/config.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals::core {

/// A resource to be written under its id, or an entry of a history.
struct ImportLine {
    std::string entry;  ///< JSON; empty: a resource
    TypeId type;        ///< from here on of a resource
    json::Document resource;
};

/// Reads a line from a file of resources of `type`; empty: of any. `keep_versions`: a resource becomes an entry of a history.
/// Errors: those of parse_submitted(); value (no type of a resource), invalid (another type).
Result<ImportLine> read_import_line(const Config& config, std::string_view line,
                                    std::string_view type, bool keep_versions);

/// The id of a resource that came without one; the same each time the line is read.
std::string id_of_line(std::string_view job, std::size_t input, std::uint64_t line);

}  // namespace annals::core
