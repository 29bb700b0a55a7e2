// ListedCodeSystem: a code system as a list of them has it.
//
// Layer:   core/terminology.
// Threads: plain values and functions.

#pragma once

#include "codec/json/document.h"

#include <string>

namespace annals::terminology {

struct ListedCodeSystem {
    std::string url;
    std::string version;  ///< empty: it says none
    bool has_codes = false;
};

/// Whether a CodeSystem has codes of its own; those that a supplement lists are another's.
inline bool has_codes(json::Value root) {
    return !root["content"].equals("supplement") && root["concept"].size() > 0;
}

}  // namespace annals::terminology
